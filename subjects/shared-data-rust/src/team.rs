//! Tasks that start at a barrier and work until time is up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at whether time is up a task does so many operations.
pub const OPERATIONS_A_LOOK: u64 = 64;

static TIME_IS_UP: AtomicBool = AtomicBool::new(false);

/// Whether tasks are to end.
pub fn time_is_up() -> bool {
    TIME_IS_UP.load(Ordering::Relaxed)
}

/// What a task did.
#[derive(Default)]
pub struct Task {
    pub number: usize,
    pub operations: u64,
    pub updates: u64,
    pub longest_wait: Duration,
    random: u64,
}

impl Task {
    /// A pseudo-random number below 1000 (xorshift), by which operations become reads or writes.
    pub fn permille(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 32) * 1000) >> 32
    }
}

/// Processor time of all tasks so far.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What tasks did in a time, and how long it was from just before their start until it was up.
pub fn run_tasks(
    count: u64,
    time_ms: u64,
    work: impl Fn(&mut Task) + Sync,
) -> (Vec<Task>, Duration) {
    let start = Barrier::new(count as usize + 1);
    let (ready, all_ready) = mpsc::channel();
    let (work, start) = (&work, &start);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let ready = ready.clone();
                scope.spawn(move || {
                    let mut task = Task {
                        number: number as usize,
                        random: 88_172_645_463_325_252
                            + number.wrapping_mul(0x9E37_79B9_7F4A_7C15) / 2,
                        ..Task::default()
                    };
                    ready.send(()).expect("the main thread waits");
                    start.wait();
                    work(&mut task);
                    task
                })
            })
            .collect();
        for _ in &threads {
            all_ready.recv().expect("each task says so");
        }
        // Before the start: after it tasks work already, while this thread may have to wait for a processor.
        let (began, used) = (Instant::now(), processor_time());
        start.wait();
        thread::sleep(Duration::from_millis(time_ms));
        let elapsed = began.elapsed(); // what a task does after this is less than one look's
        TIME_IS_UP.store(true, Ordering::SeqCst);
        let tasks = threads.into_iter().map(|thread| thread.join());
        let tasks = tasks.map(|task| task.expect("no task panics")).collect();
        println!("@@ run cpu_ns={}", (processor_time() - used).as_nanos());
        (tasks, elapsed)
    })
}
