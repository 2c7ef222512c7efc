//! A row of waits that do not spin, since spins were in another process's way.
//!
//! Only the next spin shows whether they still would be. On one processor, where waits take
//! microseconds, a spin costs as much as a dozen waits. So a thousand waits may pass before it. In
//! a crowd on few processors waits take longer, and a thousand of them may outlast the crowd. So a
//! row also ends after a few milliseconds, unless it is so short that a spin beside it costs much.

use std::time::{Duration, Instant};

/// Number of waits that stands for a row without an end.
const ALL: u32 = u32::MAX;
/// Number of waits between readings of the clock, and the least number before a time ends a row.
const BETWEEN_LOOKS: u32 = 128;
/// Longest row in time. One spin after each such row takes about a hundredth of it.
pub const LONGEST: Duration = Duration::from_millis(6);

/// The rest of a row of waits without a spin.
#[derive(Debug)]
pub struct Backoff {
    left: u32,
    /// Time at which the row ends though waits are left, if it is long enough for that.
    ends: Option<Instant>,
    longest: Duration,
}

impl Backoff {
    /// Makes an empty row; later rows last no longer than `longest` once they are long enough.
    pub fn none(longest: Duration) -> Self {
        Self {
            left: 0,
            ends: None,
            longest,
        }
    }

    /// Makes a row without an end.
    pub fn for_ever() -> Self {
        Self {
            left: ALL,
            ..Self::none(LONGEST)
        }
    }

    /// Begins a row of `waits` waits.
    pub fn begin(&mut self, waits: u32) {
        self.left = waits;
        self.ends = (waits > BETWEEN_LOOKS).then(|| Instant::now() + self.longest);
    }

    /// Returns how many waits are left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Returns whether a wait that spins comes after it.
    pub fn has_end(&self) -> bool {
        self.left < ALL
    }

    /// Counts one wait of the row.
    pub fn pass(&mut self) {
        if !self.has_end() {
            return;
        }
        self.left -= 1;
        if self.left.is_multiple_of(BETWEEN_LOOKS)
            && self.ends.is_some_and(|ends| Instant::now() >= ends)
        {
            self.left = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many waits of a row pass.
    fn passed(mut backoff: Backoff, waits: u32) -> u32 {
        backoff.begin(waits);
        let mut passed = 0;
        while backoff.left() > 0 {
            backoff.pass();
            passed += 1;
        }
        passed
    }

    #[test]
    fn a_row_ends_with_its_waits_or_its_time_but_is_not_too_short() {
        let day = Duration::from_secs(86_400);
        assert_eq!(passed(Backoff::none(day), 1024), 1024);
        assert_eq!(passed(Backoff::none(Duration::ZERO), 1024), BETWEEN_LOOKS);
        assert_eq!(
            passed(Backoff::none(Duration::ZERO), BETWEEN_LOOKS),
            BETWEEN_LOOKS
        );
        assert_eq!(passed(Backoff::none(Duration::ZERO), 3), 3);
    }

    #[test]
    fn one_without_an_end_stays() {
        let mut backoff = Backoff::for_ever();
        (0..10_000).for_each(|_| backoff.pass());
        assert!(!backoff.has_end());
        assert_eq!(backoff.left(), ALL);
    }
}
