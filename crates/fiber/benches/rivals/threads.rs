//! The operating system's threads, with our semaphores over them.

use std::sync::Arc;

use antiphon_fiber::{OsThreads, Semaphore};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{Costs, cost};

const N: u64 = 10_000;

/// All on the processor that the caller is on.
pub fn run() -> Costs {
    let before = sched_getaffinity(None).unwrap();
    let mut own = CpuSet::new();
    own.set(rustix::thread::sched_getcpu());
    sched_setaffinity(None, &own).unwrap();
    let costs = [yields(), hand_over(), uncontended(), lives()];
    sched_setaffinity(None, &before).unwrap();
    costs
}

/// Nanoseconds an operation of the process's time.
fn process_cost(operations: u64, work: impl FnOnce()) -> f64 {
    let spent = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
    };
    let before = spent();
    work();
    (spent() - before) / operations as f64
}

fn yields() -> f64 {
    process_cost(2 * N, || {
        let other = std::thread::spawn(|| (0..N).for_each(|_| std::thread::yield_now()));
        (0..N).for_each(|_| std::thread::yield_now());
        other.join().unwrap();
    })
}

fn hand_over() -> f64 {
    let turns = Arc::new([
        Semaphore::<OsThreads>::new(1),
        Semaphore::<OsThreads>::new(0),
    ]);
    let theirs = turns.clone();
    let pass = |turns: &[Semaphore<OsThreads>; 2], me: usize| {
        for _ in 0..N {
            turns[me].p();
            turns[1 - me].v();
        }
    };
    process_cost(2 * N, || {
        let other = std::thread::spawn(move || pass(&theirs, 1));
        pass(&turns, 0);
        other.join().unwrap();
    })
}

fn uncontended() -> f64 {
    let s = Semaphore::<OsThreads>::new(1);
    cost(N, &mut || {
        for _ in 0..N {
            s.p();
            s.v();
        }
    })
}

fn lives() -> f64 {
    process_cost(N, || {
        (0..N).for_each(|_| std::thread::spawn(|| ()).join().unwrap())
    })
}
