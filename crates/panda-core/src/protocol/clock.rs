//! The offset between the clocks of two processes, from exchanges between them.
//!
//! One process asks the other for its clock. It reads its own clock before it asks (t₁) and after
//! the answer has come (t₂). The other reads its clock in between (τ). So the other clock is ahead
//! by at least τ − t₂ and at most τ − t₁, however long the messages took:
//!
//! ```text
//!   other               τ
//!                    ↗     ↘
//!   this          t₁         t₂
//! ```
//!
//! The middle of that interval is off by at most half the round trip. So the exchange with the
//! shortest round trip counts (F. Cristian, *Probabilistic clock synchronization*, Distributed
//! Computing 3, 1989; D. L. Mills, RFC 5905).

use super::Time;

/// The offset of another process's clock from this one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// Nanoseconds that the other clock is ahead; negative if it is behind.
    pub offset_ns: i64,
    /// Nanoseconds by which `offset_ns` may be wrong, either way. No error is larger while the
    /// exchange lasts.
    pub uncertainty_ns: u64,
    /// This process's clock in the middle of the exchange.
    pub measured_at: Time,
}

/// One exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// This process's clock before it asked.
    pub asked: Time,
    /// The other's clock when it answered.
    pub answered: Time,
    /// This process's clock when the answer had come.
    pub came: Time,
}

impl Exchange {
    /// Returns the offset that the exchange shows.
    #[must_use]
    pub fn offset(&self) -> ClockOffset {
        let round_trip = self.came.saturating_sub(self.asked);
        // Half the trip is rounded up, so that the interval includes both ends.
        let half_ns = round_trip.as_nanos().div_ceil(2);
        let middle = self.asked + round_trip / 2;
        let offset_ns = nanos(self.answered) - nanos(middle);
        ClockOffset {
            offset_ns,
            uncertainty_ns: half_ns as u64,
            measured_at: middle,
        }
    }
}

/// The best of several exchanges.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measurement {
    best: Option<ClockOffset>,
}

impl Measurement {
    /// Takes one more exchange.
    pub fn add(&mut self, exchange: &Exchange) {
        let offset = exchange.offset();
        let is_better = |best: ClockOffset| offset.uncertainty_ns < best.uncertainty_ns;
        if self.best.is_none_or(is_better) {
            self.best = Some(offset);
        }
    }

    /// Returns the offset by the exchange with the shortest round trip, if there was any.
    #[must_use]
    pub fn offset(&self) -> Option<ClockOffset> {
        self.best
    }
}

fn nanos(time: Time) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the second clock's reading when the first shows `at_ns`. The second is ahead or
    /// behind, and faster or slower.
    fn other(at_ns: u64, ahead_ns: i64, drift_ppm: i64) -> u64 {
        let at = i128::from(at_ns);
        let drifted = at + at * i128::from(drift_ppm) / 1_000_000;
        u64::try_from(drifted + i128::from(ahead_ns)).expect("it is after the beginning")
    }

    proptest! {
        #[test]
        fn the_true_offset_lies_in_the_interval_whatever_the_messages_take(
            ahead_ns in -1_000_000_000..1_000_000_000_i64,
            drift_ppm in -200..200_i64,
            begin_ns in 2_000_000_000..1_000_000_000_000_u64,
            ways in prop::collection::vec((0..5_000_000_u64, 0..5_000_000_u64), 1..12),
        ) {
            let mut measurement = Measurement::default();
            let (mut at, mut shortest, mut truths) = (begin_ns, u64::MAX, Vec::new());
            for (there, back) in ways {
                let exchange = Exchange {
                    asked: Time::from_nanos(at),
                    answered: Time::from_nanos(other(at + there, ahead_ns, drift_ppm)),
                    came: Time::from_nanos(at + there + back),
                };
                let truth = other(at + there, ahead_ns, drift_ppm) as i64 - (at + there) as i64;
                truths.push((exchange.offset(), truth));
                measurement.add(&exchange);
                shortest = shortest.min(there + back);
                at += there + back + 1000;
            }
            let best = measurement.offset().expect("there were exchanges");
            prop_assert_eq!(best.uncertainty_ns, shortest.div_ceil(2));
            for (offset, truth) in truths {
                let error = (offset.offset_ns - truth).unsigned_abs();
                prop_assert!(error <= offset.uncertainty_ns, "{offset:?}: {truth}");
            }
        }
    }

    #[test]
    fn without_an_exchange_nothing_is_known() {
        assert_eq!(Measurement::default().offset(), None);
    }

    #[test]
    fn a_clock_that_is_behind_has_a_negative_offset() {
        let exchange = Exchange {
            asked: Time::from_nanos(1000),
            answered: Time::from_nanos(600),
            came: Time::from_nanos(1201),
        };
        let offset = exchange.offset();
        assert_eq!((offset.offset_ns, offset.uncertainty_ns), (-500, 101));
        assert_eq!(offset.measured_at, Time::from_nanos(1100));
    }
}
