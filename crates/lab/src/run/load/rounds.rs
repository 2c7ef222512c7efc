//! Decision after each round: another one, another epoch, or the end.

/// Rounds made unless the run's budget is spent: the fewest that expose a stray one. No epoch
/// begins for fewer.
pub(super) const ROUNDS_LEAST: u32 = 3;

/// Rounds that are made even then.
const ROUNDS_EVER: u32 = 2;

/// Rounds beyond which figures no longer change.
const ROUNDS_MOST: u32 = 1000;

/// Longest epoch, if there is time for another one.
const OF_EPOCH_MOST: u32 = 12;

/// Observed deviation of a ratio of two servers between rounds, as a multiple of that between
/// starts.
const WITHIN_TO_BETWEEN: f64 = 2.0;

/// Next step of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A round of the servers that run.
    Round,
    /// All servers are started afresh, and one round follows.
    Epoch,
    /// The load ends.
    End,
}

/// Time of epochs and rounds so far, s.
#[derive(Default)]
pub(super) struct Time {
    all: f64,
    /// Time of all rounds, and of the last one.
    measured: f64,
    round: f64,
    /// Starting the servers of the present epoch.
    starting: f64,
    rounds: u32,
    rounds_of_epoch: u32,
}

impl Time {
    pub(super) fn started(&mut self, seconds: f64, next: Next) {
        self.all += seconds;
        if next == Next::Epoch {
            self.starting = seconds;
            self.rounds_of_epoch = 0;
        }
    }

    pub(super) fn measured(&mut self, seconds: f64) {
        self.all += seconds;
        self.measured += seconds;
        self.round = seconds;
        self.rounds += 1;
        self.rounds_of_epoch += 1;
    }

    /// Decides the next step, within `seconds` for rounds and the run's allowance for everything.
    ///
    /// The third round does not overdraw the allowance. `of_epoch` is the fewest rounds of an epoch
    /// before another one begins.
    pub(super) fn next(&self, seconds: f64, allowance: Option<f64>, of_epoch: u32) -> Next {
        let is_allowed = |more: f64| allowance.is_none_or(|allowed| self.all + more <= allowed);
        let goes_on = match self.rounds {
            0..ROUNDS_EVER => true,
            ROUNDS_EVER..ROUNDS_LEAST => is_allowed(self.round),
            ROUNDS_MOST.. => false,
            _ => self.measured < seconds && is_allowed(self.round),
        };
        let few = f64::from(ROUNDS_LEAST) * self.round;
        let is_useful = self.measured + few <= seconds && is_allowed(self.starting + few);
        match goes_on {
            false => Next::End,
            true if self.rounds == 0 => Next::Epoch,
            true if self.rounds_of_epoch >= self.worth().max(of_epoch) && is_useful => Next::Epoch,
            true => Next::Round,
        }
    }

    /// Returns the rounds of an epoch that make the most of the time.
    ///
    /// After a time t, with rounds of length r and starts of length s, the variance is (b² +
    /// w²/n) (s + n r) / t. Here b and w are the deviations between and within starts. It is least
    /// at n = w/b √(s/r).
    fn worth(&self) -> u32 {
        let rounds = WITHIN_TO_BETWEEN * (self.starting / self.round.max(1e-9)).sqrt();
        (rounds.round() as u32).clamp(ROUNDS_LEAST, OF_EPOCH_MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rounds of each epoch, with rounds of 1 s and starts of `starting` s.
    fn epochs(starting: f64, seconds: f64, allowance: Option<f64>) -> Vec<u32> {
        let (mut time, mut epochs) = (Time::default(), Vec::new());
        loop {
            let next = time.next(seconds, allowance, 3);
            match next {
                Next::End => return epochs,
                Next::Epoch => epochs.push(0),
                Next::Round => {}
            }
            time.started(if next == Next::Epoch { starting } else { 0.0 }, next);
            time.measured(1.0);
            *epochs.last_mut().unwrap() += 1;
        }
    }

    #[test]
    fn a_budget_that_is_spent_ends_the_rounds_early() {
        assert_eq!(epochs(10.0, 1.0, None), [3]);
        assert_eq!(epochs(10.0, 5.0, None), [5]);
        assert_eq!(epochs(10.0, 1000.0, Some(12.5)), [2]);
        assert_eq!(epochs(10.0, 1000.0, Some(1.0)), [2]);
        assert_eq!(epochs(0.0, 1e6, None).iter().sum::<u32>(), ROUNDS_MOST);
    }

    #[test]
    fn servers_are_started_afresh_as_often_as_that_tells_the_most() {
        assert_eq!(epochs(1.0, 9.0, None), [3, 3, 3]);
        assert_eq!(epochs(10.0, 18.0, None), [6, 6, 6]);
        assert_eq!(epochs(1000.0, 30.0, None), [12, 12, 6]);
        // Not for a round or two, for which the epoch goes on.
        assert_eq!(epochs(10.0, 8.0, None), [8]);
        assert_eq!(epochs(10.0, 1000.0, Some(26.5)), [16]);
        assert_eq!(epochs(10.0, 1000.0, Some(30.5)), [6, 4]);
    }
}
