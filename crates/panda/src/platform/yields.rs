//! Giving way in place of a sleep.
//!
//! Who shares a processor with the sender of what it waits for need not sleep: to give way lets the sender run, and costs neither the sleep nor the wake, about half of a hand-off.
//! But who sleeps is woken as soon as there is something, and may then come before who has the processor; who gave way comes after whoever else wants it, and after work that never sleeps only when
//! that has had its slice. So it is learnt: yields after which there was something go on, those in vain end them for a while, and one that took long ends them for long.

use std::time::{Duration, Instant};

/// A yield that took longer went to somebody's work, which may be the sender's: to wait for that a sleep is as good.
pub const SLOW: Duration = Duration::from_micros(120);
/// So often a wait gives way before it sleeps: whoever runs first of those who share a processor may have to wait as well, for one that runs next. Each costs a system call, a wait that is over by then saves
/// a sleep, a wake and a switch.
pub const OF_A_WAIT: u32 = 3;
/// A wait for an answer gives way for so long, if those are over sooner: whoever is to answer may first have to hear of others, who share its processor or wake on another. It is what a sleep and a wake across
/// processors take, so that it costs no more than twice what was best.
pub const LONG: Duration = Duration::from_micros(25);
/// Waits whose yields brought something, less those for which they did not, of which so many are kept in mind. At first some are taken for granted.
const CREDIT_MAX: u32 = 16;
const CREDIT_FIRST: u32 = 4;
/// Waits without one double each time, up to 2 to this power, where a slow one of milliseconds costs each of them less than a microsecond.
const DOUBLINGS_MAX: u32 = 13;
/// A slow one counts for so many.
const SLOW_DOUBLINGS: u32 = 4;

/// What yields have brought.
#[derive(Debug)]
pub struct Yields {
    credit: u32,
    waits_without: u32,
    doublings: u32,
}

impl Default for Yields {
    fn default() -> Self {
        Self {
            credit: CREDIT_FIRST,
            waits_without: 0,
            doublings: 0,
        }
    }
}

impl Yields {
    /// Whether the next wait should give way before it sleeps.
    pub fn are_due(&mut self) -> bool {
        let are_due = self.waits_without == 0;
        self.waits_without = self.waits_without.saturating_sub(1);
        are_due
    }

    /// The longest of a wait's yields took so long, and there was something after the last or not.
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

    /// Gives way to a thread of this process that the caller has woken, if such shared its processor so far: then more of them have `risen`.
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

    /// Yields in so many waits, each of which goes as `how` says of its number: whether there is something, and how long it takes.
    fn yields(waits: u32, how: impl Fn(u32) -> (bool, Duration)) -> u32 {
        let (mut yields, mut made) = (Yields::default(), 0);
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
        let (mut yields, asked) = (Yields::default(), Cell::new(0));
        for _ in 0..10_000 {
            yields.give_to_woken(|| {
                asked.set(asked.get() + 1);
                0
            });
        }
        let given = asked.get() / 2;
        assert!((1..20).contains(&given), "{given}");
    }

    /// Else each would cost milliseconds, where a sleeper is woken at once.
    #[test]
    fn beside_work_that_never_sleeps_yields_cost_less_than_a_microsecond_a_wait() {
        let waits = 1_000_000;
        let slice = Duration::from_millis(3);
        let made = yields(waits, |_| (true, slice));
        assert!(made * slice < waits * Duration::from_micros(1), "{made}");
    }

    #[test]
    fn what_was_slow_for_a_while_is_forgotten_once_yields_bring_something_again() {
        let mut yields = Yields::default();
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
