//! Who wants the receiving end: those who had to ask for it, counted in one word, and who has it without, whose turn it is. Whoever ends a wait is in a hurry.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// One wait that has ended, in the upper half of the word. The lower half counts those that go on.
const ROUND: u64 = 1 << 32;

/// Threads that drive or want to.
#[derive(Debug, Default)]
pub struct Handoff {
    asked: AtomicU64,
    /// Odd while a thread has the receiving end that had not to ask for it. Only who has the receiving end changes it, so that no locked instruction is needed.
    turns: AtomicU32,
}

impl Handoff {
    /// The caller has got the receiving end, and had not to ask.
    #[inline]
    pub fn begin_turn(&self) {
        self.turn(true);
    }

    /// It is about to let go of it.
    #[inline]
    pub fn end_turn(&self) {
        self.turn(false);
    }

    #[inline]
    fn turn(&self, is_begun: bool) {
        let before = self.turns.load(Ordering::Relaxed);
        debug_assert_eq!(is_turn(before), !is_begun);
        self.turns.store(before.wrapping_add(1), Ordering::Release);
    }

    /// One more does.
    #[inline]
    pub fn begin(&self) {
        self.asked.fetch_add(1, Ordering::SeqCst);
    }

    /// One does no longer.
    #[inline]
    pub fn end(&self) {
        self.asked.fetch_add(ROUND - 1, Ordering::SeqCst);
    }

    /// The caller is about to sleep in the waiting room: of it and of one that [ends](Self::end), the later one sees all that the earlier one did before.
    pub fn meet(&self) {
        self.asked.fetch_add(0, Ordering::SeqCst);
    }

    /// Whether any does.
    #[inline]
    pub fn are(&self) -> bool {
        self.asked.load(Ordering::SeqCst) as u32 != 0 || is_turn(self.turns.load(Ordering::SeqCst))
    }

    /// How often one has ended.
    pub fn rounds(&self) -> u32 {
        let asked = (self.asked.load(Ordering::SeqCst) / ROUND) as u32;
        asked.wrapping_add(self.turns.load(Ordering::SeqCst) / 2)
    }
}

fn is_turn(turns: u32) -> bool {
    !turns.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_and_the_count_may_run_over() {
        let handoff = Handoff {
            asked: AtomicU64::new((ROUND - 1) * ROUND),
            turns: AtomicU32::default(),
        };
        handoff.begin();
        handoff.begin();
        assert!(handoff.are());
        handoff.end();
        assert!(handoff.are());
        handoff.end();
        assert!(!handoff.are());
        assert_eq!(handoff.rounds(), 1);
    }

    #[test]
    fn a_turn_is_a_round_and_somebody_wants_while_it_lasts() {
        let handoff = Handoff::default();
        handoff.begin_turn();
        assert!(handoff.are());
        assert_eq!(handoff.rounds(), 0);
        handoff.end_turn();
        assert!(!handoff.are());
        assert_eq!(handoff.rounds(), 1);
    }
}
