//! How many rounds are made in the time that there is.

/// Rounds that are made unless the run's budget is spent: the fewest that tell a stray one from the others.
pub(super) const ROUNDS_LEAST: u32 = 3;

/// Rounds that are made even then.
const ROUNDS_EVER: u32 = 2;

/// Rounds after which more would not change what is read from them.
const ROUNDS_MOST: u32 = 100;

/// What epochs and rounds took so far, s.
#[derive(Default)]
pub(super) struct Time {
    all: f64,
    epoch: f64,
    round: f64,
}

impl Time {
    pub(super) fn started(&mut self, seconds: f64, all: bool) {
        self.all += seconds;
        if all {
            self.epoch = seconds;
        }
    }

    pub(super) fn measured(&mut self, seconds: f64) {
        self.all += seconds;
        self.round = seconds;
    }

    /// What there will be after another round, before which servers may have to be started.
    fn after_next(&self, starts: bool) -> f64 {
        self.all + self.round + if starts { self.epoch } else { 0.0 }
    }
}

/// Whether another round is made after these. What a budget allows is not overdrawn for the third one, nor are servers started for a few rounds.
pub(super) fn wants_round(
    round: u32,
    of_epoch: u32,
    time: &Time,
    seconds: f64,
    allowance: Option<f64>,
) -> bool {
    let starts = round.is_multiple_of(of_epoch);
    let next = time.after_next(starts);
    let useful = if starts { next + time.round } else { next };
    let is_allowed = allowance.is_none_or(|allowance| useful <= allowance);
    match round {
        0..ROUNDS_EVER => true,
        ROUNDS_EVER..ROUNDS_LEAST => is_allowed,
        _ => round < ROUNDS_MOST && time.all < seconds && next - time.round < seconds && is_allowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many rounds of 1 s there are, in epochs of five that take so long to start, s.
    fn rounds(starting: f64, seconds: f64, allowance: Option<f64>) -> u32 {
        let mut time = Time::default();
        let mut round = 0;
        while wants_round(round, 5, &time, seconds, allowance) {
            if round % 5 == 0 {
                time.started(starting, true);
            }
            time.measured(1.0);
            round += 1;
        }
        round
    }

    #[test]
    fn a_budget_that_is_spent_ends_the_rounds_early() {
        assert_eq!(rounds(0.0, 1000.0, None), 100);
        assert_eq!(rounds(10.0, 3.0, None), 3);
        assert_eq!(rounds(10.0, 14.0, None), 4);
        assert_eq!(rounds(10.0, 1000.0, Some(12.5)), 2);
        assert_eq!(rounds(10.0, 1000.0, Some(1.0)), 2);
        // Servers are not started again where the time is only enough for that.
        assert_eq!(rounds(10.0, 1000.0, Some(25.5)), 5);
        assert_eq!(rounds(10.0, 1000.0, Some(28.0)), 8);
    }
}
