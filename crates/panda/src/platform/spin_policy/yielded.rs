//! Yields, and the threads that had the processor meanwhile.

use std::time::{Duration, Instant};

/// Longest time of a yield if no other thread wants the processor.
const UNWANTED: Duration = Duration::from_nanos(2500);

/// The result of a yield.
#[derive(Debug, Clone, Copy)]
pub struct Yielded {
    /// Time at which the caller had the processor again.
    pub back: Instant,
    /// Time for which others had it; zero if none wanted it.
    pub away: Duration,
    /// Part of that time for which threads of this process had it.
    pub own: Duration,
}

impl Yielded {
    /// Yields to any thread that wants the processor.
    pub fn way() -> Self {
        let used = used_by_other_threads();
        let given = Instant::now();
        std::thread::yield_now();
        let back = Instant::now();
        let away = back - given;
        if away <= UNWANTED {
            return Self {
                back,
                away: Duration::ZERO,
                own: Duration::ZERO,
            };
        }
        let own = used_by_other_threads().saturating_sub(used);
        Self {
            back,
            away,
            own: own.min(away),
        }
    }

    /// Returns for how long other processes had the processor.
    pub fn foreign(self) -> Duration {
        match self.away - self.own {
            foreign if foreign <= UNWANTED => Duration::ZERO,
            foreign => foreign,
        }
    }
}

/// Returns the processor time that the other threads of this process have had.
///
/// The time of a running thread is added when it stops, or at a tick. So over a short while this
/// grows by the time of the threads that ran on this processor, and hardly by that of threads on
/// others.
fn used_by_other_threads() -> Duration {
    let thread = read(libc::CLOCK_THREAD_CPUTIME_ID);
    read(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(thread)
}

/// Reads a clock by the C library: `rustix` reads a page of the kernel that valgrind does not know.
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a live, writable record during the call, and a failed call leaves it
    // unchanged.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    /// Keeps this thread, and those that it starts, on one processor.
    fn pin() {
        let all = sched_getaffinity(None).expect("the processors of this thread");
        let first = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu));
        let mut one = CpuSet::new();
        one.set(first.expect("a processor"));
        sched_setaffinity(None, &one).expect("to stay on one processor");
    }

    /// Returns whether one of many yields went mostly to the threads that `most` counts.
    fn goes(most: impl Fn(Yielded) -> Duration) -> bool {
        let spin = |began: Instant| while began.elapsed() < Duration::from_millis(1) {};
        (0..200).any(|_| {
            spin(Instant::now());
            let given = Yielded::way();
            most(given) > given.away / 2
        })
    }

    struct Killed(Child);

    impl Drop for Killed {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn own_threads_are_told_from_other_processes() {
        pin();
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let own = std::thread::spawn(move || while !until.load(Relaxed) {});
        let goes_to_own = goes(|given| given.own);
        is_over.store(true, Relaxed);
        own.join().expect("a thread that only spins");
        assert!(goes_to_own);

        let loops = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn()
            .expect("a shell");
        let _other = Killed(loops);
        assert!(goes(Yielded::foreign));
    }
}
