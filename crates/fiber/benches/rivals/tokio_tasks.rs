//! Tokio's tasks and semaphores.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

use super::{Costs, cost, wall_cost};

const N: u64 = 200_000;

pub fn current_thread() -> Costs {
    run(&Builder::new_current_thread().build().unwrap(), 1, cost)
}

pub fn workers(number: usize) -> Costs {
    let runtime = Builder::new_multi_thread()
        .worker_threads(number)
        .build()
        .unwrap();
    run(&runtime, number as u64, wall_cost)
}

fn run(runtime: &Runtime, pairs: u64, time: impl Fn(u64, &mut dyn FnMut()) -> f64) -> Costs {
    [
        time(2 * N * pairs, &mut || all(runtime, 2 * pairs, |_| yields())),
        time(2 * N * pairs, &mut || hand_overs(runtime, pairs)),
        time(N * pairs, &mut || all(runtime, pairs, |_| uncontended())),
        time(N * pairs, &mut || all(runtime, pairs, |_| lives())),
    ]
}

fn all<F>(runtime: &Runtime, tasks: u64, task: impl Fn(u64) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let handles: Vec<_> = (0..tasks).map(|n| runtime.spawn(task(n))).collect();
    runtime.block_on(async {
        for handle in handles {
            handle.await.unwrap();
        }
    });
}

async fn yields() {
    for _ in 0..N {
        yield_now().await;
    }
}

fn hand_overs(runtime: &Runtime, pairs: u64) {
    let turns: Vec<_> = (0..pairs)
        .map(|_| Arc::new([Semaphore::new(1), Semaphore::new(0)]))
        .collect();
    all(runtime, 2 * pairs, |n| {
        let turns = turns[(n / 2) as usize].clone();
        let me = (n % 2) as usize;
        async move {
            for _ in 0..N {
                turns[me].acquire().await.unwrap().forget();
                turns[1 - me].add_permits(1);
            }
        }
    });
}

async fn uncontended() {
    let s = Semaphore::new(1);
    for _ in 0..N {
        s.acquire().await.unwrap().forget();
        s.add_permits(1);
    }
}

async fn lives() {
    for _ in 0..N {
        tokio::spawn(async {}).await.unwrap();
    }
}
