//! A row of waits that do not spin, since spins were in somebody's way.
//!
//! Whether they still would be is seen by the next spin alone. On one processor, where waits take microseconds, it costs as much as a dozen of them, so a thousand may pass before it. Among many on few processors waits take longer, and a thousand of them are
//! longer than such a crowd may last: so a row ends after a few milliseconds as well, if it was not too short for one spin to be little beside it.

use std::time::{Duration, Instant};

/// As many waits as there will ever be.
const ALL: u32 = u32::MAX;
/// So many waits pass between looks at the clock, and at least before a time ends a row.
const BETWEEN_LOOKS: u32 = 128;
/// A spin after each row of so long takes about one part in a hundred.
pub const LONGEST: Duration = Duration::from_millis(6);

/// The waits that are left without a spin.
#[derive(Debug)]
pub struct Pause {
    left: u32,
    /// When the row ends though waits are left, if it is long enough for that.
    ends: Option<Instant>,
    longest: Duration,
}

impl Pause {
    /// None yet; rows last no longer than this once they have been long enough.
    pub fn none(longest: Duration) -> Self {
        Self {
            left: 0,
            ends: None,
            longest,
        }
    }

    /// One without an end.
    pub fn for_ever() -> Self {
        Self {
            left: ALL,
            ..Self::none(LONGEST)
        }
    }

    /// So many waits are to pass.
    pub fn begin(&mut self, waits: u32) {
        self.left = waits;
        self.ends = (waits > BETWEEN_LOOKS).then(|| Instant::now() + self.longest);
    }

    /// How many are left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Whether a wait that spins comes after it.
    pub fn has_end(&self) -> bool {
        self.left < ALL
    }

    /// One wait of it begins.
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

    /// Waits that pass of a row of so many.
    fn passed(mut pause: Pause, waits: u32) -> u32 {
        pause.begin(waits);
        let mut passed = 0;
        while pause.left() > 0 {
            pause.pass();
            passed += 1;
        }
        passed
    }

    #[test]
    fn a_row_ends_with_its_waits_or_its_time_but_is_not_too_short() {
        let day = Duration::from_secs(86_400);
        assert_eq!(passed(Pause::none(day), 1024), 1024);
        assert_eq!(passed(Pause::none(Duration::ZERO), 1024), BETWEEN_LOOKS);
        assert_eq!(
            passed(Pause::none(Duration::ZERO), BETWEEN_LOOKS),
            BETWEEN_LOOKS
        );
        assert_eq!(passed(Pause::none(Duration::ZERO), 3), 3);
    }

    #[test]
    fn one_without_an_end_stays() {
        let mut pause = Pause::for_ever();
        (0..10_000).for_each(|_| pause.pass());
        assert!(!pause.has_end());
        assert_eq!(pause.left(), ALL);
    }
}
