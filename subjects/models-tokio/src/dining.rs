//! Dining philosophers.

use crate::work::busy;
use crate::{Told, total};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::{JoinSet, yield_now};

/// A mutex a fork; the last philosopher takes the right fork first.
pub async fn concurrent(philosophers: usize, meals: usize, work: usize) -> Told {
    let forks: Arc<[Mutex<()>]> = (0..philosophers).map(|_| Mutex::new(())).collect();
    let mut running = JoinSet::new();
    for own in 0..philosophers {
        let forks = forks.clone();
        running.spawn(async move {
            let next = (own + 1) % philosophers;
            let (first, second) = (own.min(next), own.max(next));
            let mut x = own as u32;
            for _ in 0..meals {
                x = busy(x, work); // think
                let _first = forks[first].lock().await;
                let _second = forks[second].lock().await;
                x = busy(x, work); // eat
            }
            x
        });
    }
    told(philosophers * meals, total(running).await)
}

/// Yields until both forks are there.
pub async fn cooperative(philosophers: usize, meals: usize, work: usize) -> Told {
    let free: Rc<[Cell<bool>]> = (0..philosophers).map(|_| Cell::new(true)).collect();
    let mut running = JoinSet::new();
    for own in 0..philosophers {
        let free = free.clone();
        running.spawn_local(async move {
            let forks = [&free[own], &free[(own + 1) % philosophers]];
            let mut x = own as u32;
            for _ in 0..meals {
                x = busy(x, work); // think
                while !forks.iter().all(|fork| fork.get()) {
                    yield_now().await;
                }
                forks.iter().for_each(|fork| fork.set(false));
                x = busy(x, work); // eat
                forks.iter().for_each(|fork| fork.set(true));
            }
            x
        });
    }
    told(philosophers * meals, total(running).await)
}

fn told(meals: usize, sum: u32) -> Told {
    format!("meals {meals} sum {sum}").into()
}
