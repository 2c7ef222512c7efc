//! The cache: tasks look words up, and now and then one of them adds to the count of a word.

use crate::team::{OPERATIONS_A_LOOK, Task, run_tasks, time_is_up};
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::Instant;

const KEYS: usize = 128;

/// Copies share the words: who publishes a map again and again would not copy them each time.
type Map = HashMap<Arc<str>, u64>;

/// A way to protect a map.
trait Cache: Sync {
    fn read(&self, key: &str) -> u64;

    /// Adds one to the count of a word.
    fn write(&self, key: &str);

    fn sum(&self) -> u64;
}

fn add(map: &mut Map, key: &str) {
    if let Some(value) = map.get_mut(key) {
        *value += 1;
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache for Mutex<Map> {
    fn read(&self, key: &str) -> u64 {
        held(self)[key]
    }

    fn write(&self, key: &str) {
        add(&mut held(self), key);
    }

    fn sum(&self) -> u64 {
        held(self).values().sum()
    }
}

impl Cache for RwLock<Map> {
    fn read(&self, key: &str) -> u64 {
        self.read().unwrap_or_else(PoisonError::into_inner)[key]
    }

    fn write(&self, key: &str) {
        add(
            &mut self.write().unwrap_or_else(PoisonError::into_inner),
            key,
        );
    }

    fn sum(&self) -> u64 {
        let map = self.read().unwrap_or_else(PoisonError::into_inner);
        map.values().sum()
    }
}

/// A map that is never changed, only replaced. Where writers do not take turns, the later one of two that copy at once wins, and the update of
/// the other is lost.
struct Copied {
    map: ArcSwap<Map>,
    turn: Option<Mutex<()>>,
}

impl Cache for Copied {
    fn read(&self, key: &str) -> u64 {
        self.map.load()[key]
    }

    fn write(&self, key: &str) {
        let _turn = self.turn.as_ref().map(held);
        let mut next = Map::clone(&self.map.load());
        add(&mut next, key);
        self.map.store(Arc::new(next));
    }

    fn sum(&self) -> u64 {
        self.map.load().values().sum()
    }
}

fn words() -> Vec<String> {
    (0..KEYS).map(|number| format!("key {number}")).collect()
}

fn cache(program: &str, way: &str) -> Result<Box<dyn Cache>, String> {
    let map: Map = words().into_iter().map(|word| (word.into(), 0)).collect();
    let copied = |turn| Copied {
        map: ArcSwap::from_pointee(map.clone()),
        turn,
    };
    Ok(match (program, way) {
        (_, "lock") => Box::new(Mutex::new(map)),
        (_, "rwlock") => Box::new(RwLock::new(map)),
        (_, "copy") => Box::new(copied(Some(Mutex::new(())))),
        ("cache", "weak") => Box::new(copied(None)),
        _ => return Err(format!("there is no program `{program}_{way}`")),
    })
}

/// Reads with some writes.
pub fn run(way: &str, arguments: &[u64]) -> Result<String, String> {
    let &[tasks, writes, time_ms] = arguments else {
        unreachable!("the arguments were counted");
    };
    let (cache, words) = (cache("cache", way)?, words());
    let (done, elapsed) = run_tasks(tasks, time_ms, |task| {
        let mut key = task.number;
        while !time_is_up() {
            for _ in 0..OPERATIONS_A_LOOK {
                key = (key + 7) % KEYS;
                if task.permille() < writes {
                    cache.write(&words[key]);
                    task.updates += 1;
                } else {
                    black_box(cache.read(&words[key]));
                }
            }
            task.operations += OPERATIONS_A_LOOK;
        }
    });
    let sum = |of: fn(&Task) -> u64| done.iter().map(of).sum::<u64>();
    let (operations, updates) = (sum(|task| task.operations), sum(|task| task.updates));
    let kept = cache.sum();
    if kept != updates && way != "weak" {
        return Err(format!("{way} lost updates: {kept} of {updates} are left"));
    }
    Ok(format!(
        "cache, tasks {tasks}, writes {writes}\n@@ run elapsed_ns={} operations={operations} updates={updates} kept={kept}",
        elapsed.as_nanos()
    ))
}

/// The last task writes, each time as soon as it may; the others read without a pause.
pub fn starve(way: &str, arguments: &[u64]) -> Result<String, String> {
    let &[readers, time_ms] = arguments else {
        unreachable!("the arguments were counted");
    };
    let (cache, words) = (cache("starve", way)?, words());
    let (done, elapsed) = run_tasks(readers + 1, time_ms, |task| {
        let mut key = task.number;
        let writes = task.number as u64 == readers;
        // A writer goes on until it has written once, whenever that is.
        while !time_is_up() || (writes && task.updates == 0) {
            key = (key + 7) % KEYS;
            if !writes {
                black_box(cache.read(&words[key]));
                task.operations += 1;
                continue;
            }
            let began = Instant::now();
            cache.write(&words[key]);
            task.longest_wait = task.longest_wait.max(began.elapsed());
            task.updates += 1;
            thread::yield_now();
        }
    });
    let operations: u64 = done.iter().map(|task| task.operations).sum();
    let writer = &done[readers as usize];
    Ok(format!(
        "one writer, readers {readers}\n@@ run elapsed_ns={0} whole_ns={0} operations={operations} updates={1} longest_wait_ns={2}",
        elapsed.as_nanos(),
        writer.updates,
        writer.longest_wait.as_nanos()
    ))
}
