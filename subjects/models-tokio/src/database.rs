//! Readers and writers. A write changes both halves of the database and yields between; a reader that sees halves that differ has seen a
//! torn write.

use crate::work::busy;
use crate::{Told, total};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use tokio::sync::RwLock;
use tokio::task::{JoinSet, yield_now};

/// The data, in two halves.
#[derive(Default)]
struct Database {
    halves: [AtomicI32; 2],
    torn: AtomicUsize,
}

impl Database {
    async fn read(&self, x: u32, work: usize) -> u32 {
        let first = self.halves[0].load(Relaxed);
        let x = busy(x, work);
        yield_now().await;
        if self.halves[1].load(Relaxed) != first {
            self.torn.fetch_add(1, Relaxed);
        }
        x
    }

    async fn write(&self, x: u32, work: usize) -> u32 {
        self.halves[0].fetch_add(1, Relaxed);
        let x = busy(x, work);
        yield_now().await;
        self.halves[1].fetch_add(1, Relaxed);
        x
    }

    fn told(&self, reads: usize, sum: u32) -> Told {
        let writes = self.halves[1].load(Relaxed);
        let torn = self.torn.load(Relaxed);
        format!("reads {reads} writes {writes} torn {torn} sum {sum}").into()
    }
}

/// The library's lock for readers and writers.
pub async fn concurrent([readers, writers, rounds, work]: [usize; 4]) -> Told {
    let database = Arc::new((RwLock::new(()), Database::default()));
    let mut running = JoinSet::new();
    for own in 0..readers + writers {
        let shared = database.clone();
        running.spawn(async move {
            let (lock, database) = &*shared;
            let mut x = own as u32;
            for _ in 0..rounds {
                x = busy(x, work);
                if own < readers {
                    let _entered = lock.read().await;
                    x = database.read(x, work).await;
                } else {
                    let _entered = lock.write().await;
                    x = database.write(x, work).await;
                }
            }
            x
        });
    }
    let sum = total(running).await;
    database.1.told(readers * rounds, sum)
}

/// Who is in the database, and which writers wait.
#[derive(Default)]
struct Gate {
    reading: Cell<usize>,
    writing: Cell<usize>,
    waiting: Cell<usize>,
}

fn more(count: &Cell<usize>) {
    count.set(count.get() + 1);
}

fn less(count: &Cell<usize>) {
    count.set(count.get() - 1);
}

impl Gate {
    async fn enter_reader(&self) {
        while self.writing.get() > 0 || self.waiting.get() > 0 {
            yield_now().await;
        }
        more(&self.reading);
    }

    async fn enter_writer(&self) {
        more(&self.waiting);
        while self.reading.get() > 0 || self.writing.get() > 0 {
            yield_now().await;
        }
        less(&self.waiting);
        more(&self.writing);
    }
}

/// Each yields until it may enter.
pub async fn cooperative([readers, writers, rounds, work]: [usize; 4]) -> Told {
    let shared = Rc::new((Gate::default(), Database::default()));
    let mut running = JoinSet::new();
    for own in 0..readers + writers {
        let shared = shared.clone();
        running.spawn_local(async move {
            let (gate, database) = &*shared;
            let mut x = own as u32;
            for _ in 0..rounds {
                x = busy(x, work);
                if own < readers {
                    gate.enter_reader().await;
                    x = database.read(x, work).await;
                    less(&gate.reading);
                } else {
                    gate.enter_writer().await;
                    x = database.write(x, work).await;
                    less(&gate.writing);
                }
            }
            x
        });
    }
    let sum = total(running).await;
    shared.1.told(readers * rounds, sum)
}
