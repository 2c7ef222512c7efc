//! The time of a run: how much each item may take, and how much is left.

use super::Task;
use std::time::Instant;

/// An item's time is not shortened below this share of the suite's.
const LEAST_SHARE: f64 = 0.05;

/// Time to start a process and to ask, beside the measurement, s.
const OVERHEAD: f64 = 0.01;

/// Rounds that a load has at least, and its share of starting and warming its server in each, s.
const LOAD_ROUNDS: f64 = 3.0;
const LOAD_START: f64 = 0.3;

pub(super) struct Budget {
    begun: Instant,
    total: Option<f64>,
    /// Part of it that items leave to later work.
    kept: f64,
    /// Whether items take all of the time, even if they ask for less.
    is_filled: bool,
    /// Nominal time of all items that are still to come, s.
    left: f64,
    /// Least duration of items for each second of nominal time, s.
    least: f64,
    /// Running ratio of the items' duration to their share.
    pace: f64,
}

impl Budget {
    pub(super) fn new(total: Option<f64>, nominal: f64) -> Budget {
        Budget {
            begun: Instant::now(),
            total,
            kept: 0.0,
            is_filled: false,
            left: nominal,
            least: 0.0,
            pace: 1.0,
        }
    }

    /// Keeps a part of the time back from the items.
    pub(super) fn keep_back(&mut self, part: f64) {
        self.kept = part;
    }

    /// Sets the least duration of the coming items, s, however short the time is.
    pub(super) fn take_at_least(&mut self, seconds: f64) {
        self.least = seconds / self.left.max(1e-9);
    }

    /// Says that some items go on for as long as there is time.
    pub(super) fn fill(&mut self) {
        self.is_filled = true;
    }

    pub(super) fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// Returns the share of its nominal time that an item may take now: 1, or less if the budget is
    /// short.
    pub(super) fn share(&self) -> f64 {
        let (Some(remaining), Some(total)) = (self.remaining(), self.total) else {
            return 1.0;
        };
        let remaining = (remaining - self.kept * total).max(0.0);
        (remaining / (self.left * self.pace).max(1e-9)).clamp(LEAST_SHARE, 1.0)
    }

    /// Returns the share of an item that has only a part of its nominal time.
    pub(super) fn share_of(&self, part: f64) -> f64 {
        (part * self.share()).max(LEAST_SHARE)
    }

    /// Takes one item's nominal time off, and learns from how long it really took.
    pub(super) fn spent(&mut self, nominal: f64, share: f64, took: f64) {
        self.left = (self.left - nominal).max(0.0);
        if nominal > 0.0 {
            let ratio = (took / (nominal * share)).clamp(0.05, 4.0);
            self.pace = 0.97 * self.pace + 0.03 * ratio;
        }
    }

    /// Returns the part of the remaining time that items of this nominal time may take, s; `None`
    /// without a budget.
    pub(super) fn allowance(&self, nominal: f64) -> Option<f64> {
        Some(self.remaining()? * (nominal / self.left.max(1e-9)).min(1.0))
    }

    /// Returns the remaining time of the whole run, s; `None` without a budget.
    pub(super) fn remaining(&self) -> Option<f64> {
        self.left_of(0.0)
    }

    /// Returns the remaining time with `room` seconds beyond the budget, s.
    pub(super) fn left_of(&self, room: f64) -> Option<f64> {
        let total = self.total? + room;
        Some((total - self.begun.elapsed().as_secs_f64()).max(0.0))
    }

    /// Estimates the time left, s.
    pub(super) fn seconds_left(&self) -> f64 {
        match self.remaining() {
            Some(remaining) if self.is_filled => remaining,
            _ => self.left * (self.pace * self.share()).max(self.least),
        }
    }
}

/// Returns the suite's time for a task in one process start, s.
pub(super) fn nominal(task: &Task, seconds_per_row: f64) -> f64 {
    OVERHEAD
        + match task {
            Task::Frame | Task::Program { .. } => seconds_per_row,
            Task::Load(task) => {
                seconds_per_row.max(LOAD_ROUNDS * (task.sending_seconds() + LOAD_START))
            }
            Task::Latency { count, interval_ns } => {
                *count as f64 * (*interval_ns as f64).max(1e4) / 1e9
            }
            // The duration of a turn with its output is estimated as 2 µs, because it is not known
            // before.
            Task::Series { count, .. } | Task::Clock { count, .. } => *count as f64 * 2e-6,
            Task::Interference { seconds } | Task::DelayCurve { seconds, .. } => *seconds,
            Task::Absent(_) => 0.0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn without_a_budget_every_item_has_its_whole_time() {
        assert_eq!(Budget::new(None, 1e9).share(), 1.0);
    }

    #[test]
    fn a_budget_too_small_shortens_all_that_is_left_alike() {
        let budget = Budget::new(Some(1000.0), 4000.0);
        assert!((budget.share() - 0.25).abs() < 0.01);
        assert!((budget.seconds_left() - 1000.0).abs() < 50.0);
        assert!((budget.share_of(0.5) - 0.125).abs() < 0.01);
        assert_eq!(budget.share_of(0.1), LEAST_SHARE);
    }

    #[test]
    fn what_is_kept_back_is_left_when_all_items_are_done() {
        let mut budget = Budget::new(Some(1000.0), 4000.0);
        budget.keep_back(0.25);
        assert!((budget.share() - 0.1875).abs() < 0.01);
        assert!(budget.remaining().is_some_and(|left| left > 990.0));
        let mut without = Budget::new(None, 10.0);
        without.keep_back(0.25);
        assert_eq!(without.share(), 1.0);
    }

    #[test]
    fn nobody_is_promised_less_than_the_items_take_at_least() {
        let mut budget = Budget::new(Some(10.0), 400.0);
        budget.take_at_least(40.0);
        assert!((budget.seconds_left() - 40.0).abs() < 0.1);
        budget.spent(200.0, 0.1, 20.0);
        assert!((budget.seconds_left() - 20.0).abs() < 0.1);
        let mut enough = Budget::new(None, 400.0);
        enough.take_at_least(40.0);
        assert_eq!(enough.seconds_left(), 400.0);
    }

    #[test]
    fn items_that_end_early_leave_their_time_to_the_others() {
        let mut budget = Budget::new(Some(1000.0), 4000.0);
        for _ in 0..2000 {
            budget.spent(1.0, 1.0, 0.1);
        }
        assert!(budget.share() > 0.9);
    }

    #[test]
    fn what_is_left_is_allowed_by_nominal_time() {
        let budget = Budget::new(Some(100.0), 40.0);
        let allowed = budget.allowance(10.0).unwrap();
        assert!((allowed - 25.0).abs() < 0.1, "{allowed}");
        assert!(budget.allowance(4000.0).unwrap() <= 100.0);
        assert_eq!(Budget::new(None, 40.0).allowance(10.0), None);
    }

    #[test]
    fn who_comes_late_has_used_what_lies_beyond_the_time() {
        let mut budget = Budget::new(Some(80.0), 40.0);
        assert!(budget.left_of(20.0).is_some_and(|left| left > 99.0));
        let Some(begun) = Instant::now().checked_sub(Duration::from_secs(95)) else {
            return; // The machine was started a minute ago.
        };
        budget.begun = begun;
        assert_eq!(budget.remaining(), Some(0.0));
        assert!(budget.left_of(20.0).is_some_and(|left| left <= 5.0));
        assert_eq!(Budget::new(None, 1.0).left_of(20.0), None);
    }

    #[test]
    fn a_budget_that_is_filled_is_told_whole() {
        let mut budget = Budget::new(Some(1000.0), 40.0);
        assert!(budget.seconds_left() < 41.0);
        budget.fill();
        assert!(budget.seconds_left() > 990.0);
        let mut without = Budget::new(None, 40.0);
        without.fill();
        assert!((without.seconds_left() - 40.0).abs() < 1.0);
    }

    #[test]
    fn a_spent_budget_still_gives_each_item_a_little() {
        assert_eq!(Budget::new(Some(0.0), 10.0).share(), LEAST_SHARE);
    }
}
