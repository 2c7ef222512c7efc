//! The spin wait of a server without work: before it parks, it waits a moment for its own fibers
//! that other servers make ready.
//!
//! A park and a wake take longer than a hand-over between two fibers on different servers. The
//! server spins for as long as a park costs. So it never costs much more than twice the better
//! choice (Karlin, Li, Manasse and Owicki, *Empirical Studies of Competitive Spinning for a
//! Shared-Memory Multiprocessor*, 1991). It spins more seldom where that found nothing. Only fibers
//! bound to a server come this way: without them no server spins.

use std::hint::spin_loop;
use std::num::NonZero;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// Spin time: about the cost of a park and a wake.
const PATIENCE: Duration = Duration::from_micros(20);
/// Looks between two readings of the clock, which takes as long as some of them.
const LOOKS: u32 = 16;
/// Most rests between two that spin, where spins find nothing.
const MOST_SKIPPED: u32 = 63;

/// No fiber of this server ever came from another server.
const NEVER: u8 = 0;
/// A fiber did, before the server last looked.
const SEEN: u8 = 1;
/// A fiber has come since.
const COME: u8 = 2;

/// A server's spin wait. Everything but `tell` is for the server alone.
#[derive(Default)]
pub(crate) struct SpinWait {
    state: AtomicU8,
    /// Number of rests left without a spin.
    to_skip: AtomicU32,
    /// Number of such rests after the next spin that finds nothing.
    skips_next: AtomicU32,
}

/// Returns whether so many servers have a processor each. Otherwise a spinning server would keep
/// others from theirs.
pub(crate) fn have_processors(servers: usize) -> bool {
    servers <= available_parallelism().map_or(1, NonZero::get)
}

impl SpinWait {
    /// Notes that another server made a fiber of this server ready.
    #[inline]
    pub fn tell(&self) {
        self.state.store(COME, Ordering::Release);
    }

    /// Returns whether a fiber comes within a short time.
    pub fn watch(&self) -> bool {
        let has_come = match self.state.load(Ordering::Acquire) {
            NEVER => return false,
            COME => true,
            _ if self.is_skipped() => return false,
            _ => self.comes_soon(),
        };
        if has_come {
            self.state.store(SEEN, Ordering::Relaxed);
        }
        self.learn(has_come);
        has_come
    }

    fn comes_soon(&self) -> bool {
        let began = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if self.state.load(Ordering::Acquire) == COME {
                    return true;
                }
                spin_loop();
            }
            if began.elapsed() > PATIENCE {
                return false;
            }
        }
    }

    fn is_skipped(&self) -> bool {
        let left = self.to_skip.load(Ordering::Relaxed);
        self.to_skip
            .store(left.saturating_sub(1), Ordering::Relaxed);
        left > 0
    }

    fn learn(&self, has_come: bool) {
        let (skips, next) = match (has_come, self.skips_next.load(Ordering::Relaxed)) {
            (true, _) => (0, 0),
            (false, skips) => (skips, (2 * skips + 1).min(MOST_SKIPPED)),
        };
        self.to_skip.store(skips, Ordering::Relaxed);
        self.skips_next.store(next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rests until the next one that spins; it finds nothing.
    fn skipped(spin_wait: &SpinWait) -> u32 {
        let skipped = spin_wait.to_skip.load(Ordering::Relaxed);
        for _ in 0..=skipped {
            assert!(!spin_wait.watch());
        }
        skipped
    }

    #[test]
    fn it_looks_out_where_fibers_come_and_more_seldom_where_none_do() {
        let spin_wait = SpinWait::default();
        assert!(!spin_wait.watch(), "nobody is bound to this server");
        spin_wait.tell();
        assert!(spin_wait.watch());
        let rests: Vec<u32> = (0..9).map(|_| skipped(&spin_wait)).collect();
        assert_eq!(rests, [0, 0, 1, 3, 7, 15, 31, 63, 63]);
        spin_wait.tell();
        assert!(
            spin_wait.watch(),
            "what has come is seen without looking out"
        );
        assert_eq!(skipped(&spin_wait), 0);
    }

    #[test]
    fn what_comes_while_it_looks_out_is_seen() {
        let spin_wait = SpinWait::default();
        spin_wait.tell();
        assert!(spin_wait.watch());
        std::thread::scope(|scope| {
            scope.spawn(|| spin_wait.tell());
            // If the other thread begins late, this spins again, or finds the fiber there.
            while !spin_wait.watch() {
                std::thread::yield_now();
            }
        });
    }
}
