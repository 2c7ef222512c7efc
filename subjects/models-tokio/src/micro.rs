//! Loops and synchronization by themselves.

use crate::work::busy;
use crate::{Told, total};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

/// Tasks without synchronization.
pub async fn lone_loops(tasks: usize, iterations: usize) -> Told {
    let mut running = JoinSet::new();
    for own in 0..tasks {
        running.spawn(async move { busy(own as u32, iterations) });
    }
    format!("sum {}", total(running).await).into()
}

/// Two tasks that hand control to each other by semaphores.
pub async fn hand_over(rounds: usize) -> Told {
    let turn = Arc::new([Semaphore::new(1), Semaphore::new(0)]);
    let mut running = JoinSet::new();
    for own in 0..2 {
        let turn = turn.clone();
        running.spawn(async move {
            for _ in 0..rounds {
                let permit = turn[own].acquire().await;
                permit.expect("nobody closes the semaphore").forget();
                turn[1 - own].add_permits(1);
            }
            0
        });
    }
    total(running).await;
    exchanged(rounds)
}

/// Two tasks that give way to each other.
pub async fn give_way(rounds: usize) -> Told {
    let mut running = JoinSet::new();
    for _ in 0..2 {
        running.spawn_local(async move {
            for _ in 0..rounds {
                yield_now().await;
            }
            0
        });
    }
    total(running).await;
    exchanged(rounds)
}

fn exchanged(rounds: usize) -> Told {
    Told {
        answer: format!("rounds {rounds}"),
        operations: 2 * rounds as u64,
        ..Told::default()
    }
}

/// Two tasks with long loops: how often does the processor go from one to the other?
pub async fn share(chunks: usize, work: usize) -> Told {
    let seen = Arc::new((AtomicUsize::new(usize::MAX), AtomicU64::new(0)));
    let mut running = JoinSet::new();
    for own in 0..2 {
        let seen = seen.clone();
        running.spawn(async move {
            let (latest, turns) = &*seen;
            let mut x = own as u32;
            for _ in 0..chunks {
                x = busy(x, work);
                if latest.swap(own, SeqCst) != own {
                    turns.fetch_add(1, SeqCst);
                }
            }
            x
        });
    }
    Told {
        answer: format!("sum {}", total(running).await),
        turns: seen.1.load(SeqCst),
        ..Told::default()
    }
}
