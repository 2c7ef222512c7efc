//! Moments at which the interval is examined. They are fixed in advance (32, 64, 128 … blocks and
//! the end).
//!
//! Every interval, also the reported one, is so wide that all looks together keep the confidence. A
//! stop at a lucky look therefore gains nothing.

use crate::statistics::sidak;

/// Blocks at the first look.
const FIRST: usize = 32;

/// The looks of one plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Looks {
    planned: u32,
    next: usize,
}

impl Looks {
    /// Plans the looks that fit into `blocks`, and the last one when they are spent.
    pub(crate) fn within(blocks: usize) -> Self {
        let mut planned = 1;
        let mut at = FIRST;
        while at < blocks && planned < 24 {
            planned += 1;
            at *= 2;
        }
        Looks {
            planned,
            next: FIRST,
        }
    }

    /// Returns the number of blocks until the next look.
    pub(crate) fn until_next(&self, blocks: usize) -> usize {
        self.next.saturating_sub(blocks).max(1)
    }

    /// Checks whether this is a look; the next one is then twice as far.
    pub(crate) fn arrive(&mut self, blocks: usize) -> bool {
        if blocks < self.next {
            return false;
        }
        while self.next <= blocks {
            self.next *= 2;
        }
        true
    }

    /// Returns the level of each single interval.
    pub(crate) fn level(&self, confidence: f64) -> f64 {
        sidak(confidence, self.planned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_double() {
        let mut looks = Looks::within(200);
        assert_eq!(looks.planned, 4); // 32, 64, 128, and the end
        assert_eq!(looks.until_next(0), 32);
        assert!(!looks.arrive(31));
        assert!(looks.arrive(32));
        assert_eq!(looks.until_next(32), 32);
        assert!(!looks.arrive(63));
        assert!(looks.arrive(140));
        assert_eq!(looks.until_next(140), 116);
    }

    #[test]
    fn one_look_costs_nothing() {
        assert!((Looks::within(5).level(0.95) - 0.95).abs() < 1e-12);
        assert!(Looks::within(400).level(0.95) > 0.98);
    }
}
