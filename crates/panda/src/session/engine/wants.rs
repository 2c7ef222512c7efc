//! Who wants the receiving end, counted in one word: whoever ends a wait is in a hurry.

use std::sync::atomic::{AtomicU64, Ordering};

/// One wait that has ended, in the upper half of the word. The lower half counts those that go on.
const ROUND: u64 = 1 << 32;

/// Threads that drive or want to.
#[derive(Debug, Default)]
pub struct Wants(AtomicU64);

impl Wants {
    /// One more does.
    #[inline]
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// One does no longer.
    #[inline]
    pub fn end(&self) {
        self.0.fetch_add(ROUND - 1, Ordering::SeqCst);
    }

    /// The caller is about to sleep in the waiting room: of it and of one that [ends](Self::end), the later one sees all that the earlier one did before.
    pub fn meet(&self) {
        self.0.fetch_add(0, Ordering::SeqCst);
    }

    /// Whether any does.
    #[inline]
    pub fn are(&self) -> bool {
        self.0.load(Ordering::SeqCst) as u32 != 0
    }

    /// How often one has ended.
    pub fn rounds(&self) -> u32 {
        (self.0.load(Ordering::SeqCst) / ROUND) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_and_the_count_may_run_over() {
        let wants = Wants(AtomicU64::new((ROUND - 1) * ROUND));
        wants.begin();
        wants.begin();
        assert!(wants.are());
        wants.end();
        assert!(wants.are());
        wants.end();
        assert!(!wants.are());
        assert_eq!(wants.rounds(), 1);
    }
}
