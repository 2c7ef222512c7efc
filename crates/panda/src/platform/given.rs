//! Giving way, and who had the processor meanwhile.

use std::time::{Duration, Instant};

/// To give way takes no longer than this where nobody else wants the processor.
const UNWANTED: Duration = Duration::from_nanos(2500);

/// What came of giving way.
#[derive(Debug, Clone, Copy)]
pub struct Yielded {
    /// When the processor was had again.
    pub back: Instant,
    /// For so long others had it; nothing if nobody wanted it.
    pub away: Duration,
    /// Of that, for so long threads of this process.
    pub own: Duration,
}

impl Yielded {
    /// Gives way to whoever else wants the processor.
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

    /// For how long other processes had the processor.
    pub fn foreign(self) -> Duration {
        match self.away - self.own {
            foreign if foreign <= UNWANTED => Duration::ZERO,
            foreign => foreign,
        }
    }
}

/// Processor time that the other threads of this process have had. What one has had that runs just now is added when it stops, or a tick comes: so from one moment to the next this grows by
/// the time of those that ran on this processor, and hardly by that of those that compute on another.
fn used_by_other_threads() -> Duration {
    let thread = read(libc::CLOCK_THREAD_CPUTIME_ID);
    read(libc::CLOCK_PROCESS_CPUTIME_ID).saturating_sub(thread)
}

/// By the C library: `rustix` looks for the system's clocks in a page that valgrind does not know.
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the record lives through the call, and is left as it is by one that fails.
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

    /// Whether one of many yields went by most to whom `most` counts.
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
