//! The yield policy: yielding in place of a sleep.
//!
//! A thread that shares a processor with the sender need not sleep. A yield lets the sender run and
//! saves the sleep and the wake, about half of a hand-off. But a sleeper is woken as soon as there
//! is something, and may run at once. A yielding thread runs after every other thread that wants
//! the processor, and after a full slice of work that never sleeps.
//!
//! So the policy learns. Yields that found something go on. Vain ones end them for a while. One
//! that took long ends them for long.

use std::time::{Duration, Instant};

/// Time of a yield beyond which it went to another thread's work. That may be the sender's, but a
/// sleep waits for it as well.
pub const SLOW: Duration = Duration::from_micros(120);
/// Number of yields before a wait sleeps. The first thread to run may have to wait itself, for one
/// that runs next. Each yield costs a system call; a wait that ends by then saves a sleep, a wake
/// and a switch.
pub const OF_A_WAIT: u32 = 3;
/// Time for which a wait for an answer yields, if its `OF_A_WAIT` yields take less. The answering
/// peer may first have to hear from others. It is the time of a sleep and a wake across processors,
/// so the wait costs at most twice the best choice.
pub const LONG: Duration = Duration::from_micros(25);
/// Largest and first credit: waits whose yields found something, less those whose yields did not.
const CREDIT_MAX: u32 = 16;
const CREDIT_FIRST: u32 = 4;
/// Exponent of the longest row of waits without yields, which doubles each time. By then a slow
/// yield of milliseconds costs each wait less than a microsecond.
const DOUBLINGS_MAX: u32 = 13;
/// Number of doublings for a slow yield.
const SLOW_DOUBLINGS: u32 = 4;

/// The experience with yields.
#[derive(Debug)]
pub struct YieldPolicy {
    credit: u32,
    waits_without: u32,
    doublings: u32,
}

impl Default for YieldPolicy {
    fn default() -> Self {
        Self {
            credit: CREDIT_FIRST,
            waits_without: 0,
            doublings: 0,
        }
    }
}

impl YieldPolicy {
    /// Returns whether the next wait should yield before it sleeps.
    pub fn are_due(&mut self) -> bool {
        let are_due = self.waits_without == 0;
        self.waits_without = self.waits_without.saturating_sub(1);
        are_due
    }

    /// Learns from a wait: its longest yield took `took`, and after the last one something was
    /// there or not.
    pub fn learn(&mut self, is_there: bool, took: Duration) {
        if took > SLOW {
            self.stop(SLOW_DOUBLINGS);
        } else if is_there {
            self.credit = (self.credit + 1).min(CREDIT_MAX);
            if self.credit == CREDIT_MAX {
                self.doublings = 0;
            }
        } else {
            match self.credit.checked_sub(1) {
                Some(left) => self.credit = left,
                None => self.stop(1),
            }
        }
    }

    /// Yields to a thread of this process that the caller has woken, if such threads shared its
    /// processor so far. In that case `risen` grows.
    pub fn give_to_woken(&mut self, risen: impl Fn() -> u32) {
        if self.are_due() {
            let (before, began) = (risen(), Instant::now());
            std::thread::yield_now();
            self.learn(risen() != before, began.elapsed());
        }
    }

    fn stop(&mut self, doublings: u32) {
        self.credit = 0;
        self.doublings = (self.doublings + doublings).min(DOUBLINGS_MAX);
        self.waits_without = 1 << self.doublings;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const QUICK: Duration = Duration::from_micros(2);

    /// Returns how many of `waits` waits yield. `how` gives, by a wait's number, whether something
    /// is there and how long a yield takes.
    fn yields(waits: u32, how: impl Fn(u32) -> (bool, Duration)) -> u32 {
        let (mut yields, mut made) = (YieldPolicy::default(), 0);
        for _ in 0..waits {
            if yields.are_due() {
                let (is_there, took) = how(made);
                yields.learn(is_there, took);
                made += 1;
            }
        }
        made
    }

    #[test]
    fn yields_that_bring_something_go_on() {
        assert_eq!(yields(10_000, |_| (true, QUICK)), 10_000);
        assert_eq!(yields(10_000, |number| (number % 4 != 0, QUICK)), 10_000);
    }

    #[test]
    fn yields_in_vain_become_rare() {
        let made = yields(10_000, |_| (false, QUICK));
        assert!(made < 20, "{made}");
    }

    #[test]
    fn who_is_woken_and_runs_elsewhere_is_seldom_given_way_to() {
        let (mut yields, asked) = (YieldPolicy::default(), Cell::new(0));
        for _ in 0..10_000 {
            yields.give_to_woken(|| {
                asked.set(asked.get() + 1);
                0
            });
        }
        let given = asked.get() / 2;
        assert!((1..20).contains(&given), "{given}");
    }

    /// Without the policy each wait would cost milliseconds, where a sleeper is woken at once.
    #[test]
    fn beside_work_that_never_sleeps_yields_cost_less_than_a_microsecond_a_wait() {
        let waits = 1_000_000;
        let slice = Duration::from_millis(3);
        let made = yields(waits, |_| (true, slice));
        assert!(made * slice < waits * Duration::from_micros(1), "{made}");
    }

    #[test]
    fn what_was_slow_for_a_while_is_forgotten_once_yields_bring_something_again() {
        let mut yields = YieldPolicy::default();
        for _ in 0..4 {
            yields.learn(true, SLOW + QUICK);
        }
        while !yields.are_due() {}
        (0..CREDIT_MAX).for_each(|_| yields.learn(true, QUICK));
        yields.learn(true, SLOW + QUICK);
        let without = (0..).take_while(|_| !yields.are_due());
        assert_eq!(without.count(), 1 << SLOW_DOUBLINGS);
    }
}
