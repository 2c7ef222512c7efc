//! When requests are due.

use crate::Schedule;

/// The requests' due times of one thread. All times are ns since the beginning of its run.
#[derive(Debug)]
pub(crate) enum Pace {
    /// A request is due whenever a connection is free.
    Closed { end_ns: u64 },
    /// Request `i` is due at `i` times the distance.
    Open {
        distance_ns: f64,
        next: u64,
        end_ns: u64,
    },
}

impl Pace {
    pub(crate) fn new(schedule: Schedule, share: f64, end_ns: u64) -> Pace {
        match schedule {
            Schedule::Closed => Pace::Closed { end_ns },
            Schedule::Open { per_second } => Pace::Open {
                distance_ns: 1e9 / (per_second * share),
                next: 0,
                end_ns,
            },
        }
    }

    /// Takes the request that is due now, and gives the time at which it was due; `None` if none is due yet or any more.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u64> {
        if let Pace::Closed { end_ns } = self {
            return (now_ns < *end_ns).then_some(now_ns);
        }
        let due_ns = self.next_ns().filter(|due_ns| *due_ns <= now_ns)?;
        if let Pace::Open { next, .. } = self {
            *next += 1;
        }
        Some(due_ns)
    }

    /// When the next request is due on an open schedule; `None` where there is none left, and in the closed loop.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        match self {
            Pace::Closed { .. } => None,
            Pace::Open {
                distance_ns,
                next,
                end_ns,
            } => {
                let due_ns = (*next as f64 * distance_ns) as u64;
                (due_ns < *end_ns).then_some(due_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_generator_owes_every_request_at_its_own_time() {
        let mut pace = Pace::new(Schedule::Open { per_second: 1000.0 }, 1.0, 5_000_000);
        assert_eq!(pace.take(0), Some(0));
        assert_eq!(pace.take(999_999), None);
        let owed: Vec<_> = std::iter::from_fn(|| pace.take(100_000_000)).collect();
        assert_eq!(owed, [1_000_000, 2_000_000, 3_000_000, 4_000_000]);
        assert_eq!(pace.next_ns(), None);
    }

    #[test]
    fn the_closed_loop_ends_by_the_clock() {
        let mut pace = Pace::new(Schedule::Closed, 1.0, 10);
        assert_eq!(pace.take(9), Some(9));
        assert_eq!(pace.take(10), None);
    }
}
