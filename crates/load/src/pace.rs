//! Due times of requests.

use crate::Schedule;

/// The requests' due times of one thread. All times are ns since the beginning of its run.
#[derive(Debug)]
pub(crate) enum Pace {
    /// A request is due whenever a connection is free.
    Closed { end_ns: u64 },
    /// The run's request `i`, of all threads, is due at `i` times the distance.
    Open {
        distance_ns: f64,
        slots: Slots,
        /// Number of the thread's own requests taken so far.
        next: u64,
        end_ns: u64,
    },
}

/// Requests of an open schedule that belong to a thread.
///
/// They are dealt out to the run's connections in turns, and the connections to its threads. Each
/// thread has the share of its connections, and all threads together send at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    thread: u64,
    threads: u64,
    /// The run's connections.
    connections: u64,
    /// Number of the thread's own connections: number `thread`, and each that comes `threads` after
    /// one.
    own: u64,
}

impl Slots {
    /// Returns the slots of thread `thread`, from 0; each thread has a connection at least.
    pub(crate) fn new(thread: usize, threads: usize, connections: usize) -> Slots {
        Slots {
            thread: thread as u64,
            threads: threads as u64,
            connections: connections as u64,
            own: dealt(connections as u64, thread, threads),
        }
    }

    /// Returns the number of the run's connections that the thread has.
    pub(crate) fn connections(self) -> usize {
        self.own as usize
    }

    /// Returns the number of the run's first requests that the thread has.
    pub(crate) fn of_first(self, requests: u64) -> u64 {
        let (turns, rest) = (requests / self.connections, requests % self.connections);
        turns * self.own + rest.saturating_sub(self.thread).div_ceil(self.threads)
    }

    /// Returns the number in the run of the thread's request `own`, both from 0.
    fn number(self, own: u64) -> u64 {
        let (turn, within) = (own / self.own, own % self.own);
        turn * self.connections + within * self.threads + self.thread
    }
}

/// Returns a thread's part of `all`, dealt out to the threads in turns.
pub(crate) fn dealt(all: u64, thread: usize, threads: usize) -> u64 {
    let (thread, threads) = (thread as u64, threads as u64);
    all / threads + u64::from(thread < all % threads)
}

impl Pace {
    pub(crate) fn new(schedule: Schedule, slots: Slots, end_ns: u64) -> Pace {
        match schedule {
            Schedule::Closed => Pace::Closed { end_ns },
            Schedule::Open { per_second } => Pace::Open {
                distance_ns: 1e9 / per_second,
                slots,
                next: 0,
                end_ns,
            },
        }
    }

    /// Takes the request that is due now, and returns its due time; `None` if none is due yet or
    /// any more.
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

    /// Returns the due time of the next request on an open schedule; `None` at its end, and in the
    /// closed loop.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        match self {
            Pace::Closed { .. } => None,
            Pace::Open {
                distance_ns,
                slots,
                next,
                end_ns,
            } => {
                let due_ns = (slots.number(*next) as f64 * distance_ns) as u64;
                (due_ns < *end_ns).then_some(due_ns)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone() -> Slots {
        Slots::new(0, 1, 10)
    }

    #[test]
    fn threads_together_send_at_equal_distances_and_each_has_its_share() {
        let schedule = Schedule::Open { per_second: 1000.0 };
        for (threads, connections) in [(1, 1), (2, 2), (2, 6), (3, 7), (4, 5), (7, 7)] {
            let end_ns = 10 * connections as u64 * 1_000_000;
            let mut all = Vec::new();
            for thread in 0..threads {
                let slots = Slots::new(thread, threads, connections);
                let mut pace = Pace::new(schedule, slots, end_ns);
                let own: Vec<_> = std::iter::from_fn(|| pace.take(end_ns)).collect();
                assert!(own.is_sorted());
                assert_eq!(
                    own.len() as u64,
                    10 * dealt(connections as u64, thread, threads)
                );
                all.extend(own);
            }
            for requests in [0, 1, 4, 7, 23] {
                let first = |thread| Slots::new(thread, threads, connections).of_first(requests);
                assert_eq!((0..threads).map(first).sum::<u64>(), requests);
                for thread in 0..threads {
                    let slots = Slots::new(thread, threads, connections);
                    let own = slots.of_first(requests);
                    assert!(slots.number(own) >= requests);
                    assert!(own == 0 || slots.number(own - 1) < requests);
                }
            }
            all.sort_unstable();
            let equal: Vec<_> = (0..end_ns).step_by(1_000_000).collect();
            assert_eq!(all, equal, "{threads} threads, {connections} connections");
        }
    }

    #[test]
    fn a_late_generator_owes_every_request_at_its_own_time() {
        let mut pace = Pace::new(Schedule::Open { per_second: 1000.0 }, alone(), 5_000_000);
        assert_eq!(pace.take(0), Some(0));
        assert_eq!(pace.take(999_999), None);
        let owed: Vec<_> = std::iter::from_fn(|| pace.take(100_000_000)).collect();
        assert_eq!(owed, [1_000_000, 2_000_000, 3_000_000, 4_000_000]);
        assert_eq!(pace.next_ns(), None);
    }

    #[test]
    fn the_closed_loop_ends_by_the_clock() {
        let mut pace = Pace::new(Schedule::Closed, alone(), 10);
        assert_eq!(pace.take(9), Some(9));
        assert_eq!(pace.take(10), None);
    }
}
