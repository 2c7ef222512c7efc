//! Alarms, which end long sleeps without a timer each. To set a timer and take it back costs a
//! tenth of a hand-off between two processes.
//!
//! A sleeper writes down the end of its sleep. Another thread, such as one that waits anyway for
//! peers' ends, is told only if it would wake later than that. When it wakes it looks again. Most
//! deadlines move away, so the thread is told once in a while and not at each sleep.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

const NEVER: u64 = u64::MAX;

/// One sleeper's alarm. Times are nanoseconds since `base`.
#[derive(Debug)]
pub struct Alarm {
    base: Instant,
    wanted: AtomicU64,
    /// Time at which the thread wakes by itself.
    armed: AtomicU64,
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            base: Instant::now(),
            wanted: AtomicU64::new(NEVER),
            armed: AtomicU64::new(NEVER),
        }
    }
}

impl Alarm {
    /// Sets the time of the alarm. Returns true if the thread must be told, since it would wake too
    /// late.
    pub fn set(&self, until: Instant) -> bool {
        let wanted = until.saturating_duration_since(self.base).as_nanos() as u64;
        self.wanted.store(wanted, SeqCst);
        self.armed.load(SeqCst) > wanted
    }

    /// Ends the sleep: no alarm is wanted.
    pub fn clear(&self) {
        self.wanted.store(NEVER, Relaxed);
    }

    /// Rings if it is time. Returns how long to wait before the next turn.
    pub fn turn(&self, ring: impl Fn()) -> Option<Duration> {
        loop {
            self.armed.store(NEVER, SeqCst);
            let wanted = self.wanted.load(SeqCst);
            let now = self.base.elapsed().as_nanos() as u64;
            if wanted <= now {
                // The same sleep is not rung again. A new sleep that has just begun loses its alarm
                // once, but is woken by this ring.
                let _ = self.wanted.compare_exchange(wanted, NEVER, SeqCst, Relaxed);
                ring();
                continue;
            }
            self.armed.store(wanted, SeqCst);
            // This thread sees a sooner alarm here, or the thread that sets it sees when this one
            // wakes.
            if self.wanted.load(SeqCst) >= wanted {
                return (wanted != NEVER).then(|| Duration::from_nanos(wanted - now));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_thread_is_told_of_sooner_deadlines_only_and_rings_when_one_has_passed() {
        let alarm = Alarm::default();
        let rung = Cell::new(0);
        let turn = || alarm.turn(|| rung.set(rung.get() + 1));
        assert_eq!(turn(), None);
        let hour = Duration::from_secs(3600);
        let late = alarm.base + 2 * hour;
        assert!(alarm.set(late), "it waits for ever");
        assert!(turn().is_some_and(|left| left > hour && left <= 2 * hour));
        assert!(!alarm.set(late + hour), "it looks again sooner than that");
        assert!(alarm.set(alarm.base + hour));
        alarm.clear();
        assert_eq!((turn(), rung.get()), (None, 0));
        assert!(alarm.set(alarm.base), "that is now");
        assert_eq!((turn(), rung.get()), (None, 1));
    }
}
