//! Settings of a run.

use crate::{Error, Expected, Target, cpu};
use std::time::Duration;

/// Times at which requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Each connection sends when it has the answer to its request before.
    Closed,
    /// Requests are due at equal distances, independent of the server.
    Open {
        /// Requests in a second.
        per_second: f64,
    },
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Target of the requests.
    pub target: Target,
    /// Expected form of each answer.
    pub expected: Expected,
    /// Whether bodies must be the expected one, byte by byte; else the status alone is checked.
    pub check_body: bool,
    /// Number of simultaneous connections, 1 to 10 000.
    pub connections: usize,
    /// Whether a connection is used for many requests, or each request opens its own.
    pub keep_alive: bool,
    /// Times at which requests are sent.
    pub schedule: Schedule,
    /// Sending time, at most an hour.
    pub duration: Duration,
    /// Most requests that are sent.
    pub requests_max: u64,
    /// Time after which a missing answer counts as failed, [`Load::TIME_LIMIT_LEAST`] to an hour.
    pub time_limit: Duration,
    /// Longest wait for the last answers after the last request; at most `time_limit`.
    pub drain: Duration,
    /// Number of failures after which the run ends early.
    pub failures_max: u64,
    /// Threads that share the connections and the rate.
    pub threads: usize,
    /// The processor that the threads run on; wherever the system puts them if not given.
    pub processor: Option<usize>,
    /// Whether the threads poll for answers without sleep (busy polling), each on a separate
    /// processor.
    ///
    /// The sender of an answer wakes a sleeping receiver. On one machine the server pays for that,
    /// which it does not if its users are on others.
    pub busy_poll: bool,
    /// Whether the threads have priority over other work of the machine (`nice` -20), if the system
    /// permits it.
    pub first: bool,
}

impl Load {
    /// The highest rate of an open schedule, requests a second.
    pub const RATE_MAX: f64 = 1e7;

    /// The shortest time limit of an answer.
    pub const TIME_LIMIT_LEAST: Duration = Duration::from_millis(1);

    /// The longest time limit of an answer, and the longest time in which requests are sent.
    pub const LONGEST: Duration = Duration::from_secs(3600);

    /// Returns a default load: ten connections for a second, closed loop, keep-alive, one thread,
    /// which sleeps during waits.
    pub fn new(target: Target, expected: Expected) -> Load {
        Load {
            target,
            expected,
            check_body: true,
            connections: 10,
            keep_alive: true,
            schedule: Schedule::Closed,
            duration: Duration::from_secs(1),
            requests_max: 1_000_000_000,
            time_limit: Duration::from_secs(5),
            drain: Duration::from_secs(1),
            failures_max: 1000,
            threads: 1,
            processor: None,
            busy_poll: false,
            first: false,
        }
    }

    /// Checks the settings as [`run`](crate::run) does, before anything is sent. The expected
    /// answer is not checked.
    ///
    /// # Errors
    /// [`Error::Setting`] for the first setting that is out of its range.
    pub fn check(&self) -> Result<(), Error> {
        let fault = |what, is: &dyn std::fmt::Debug, range| Err(Error::setting(what, is, range));
        if !(1..=10_000).contains(&self.connections) {
            return fault("the number of connections", &self.connections, "1 to 10000");
        }
        if !(1..=self.connections.min(64)).contains(&self.threads) {
            return fault(
                "the number of threads",
                &self.threads,
                "1 to 64, and no more than there are connections",
            );
        }
        if self.busy_poll && self.processor.is_some() && self.threads > 1 {
            let range = "1 on a processor on which they poll, since each takes all of it";
            return fault("the number of threads", &self.threads, range);
        }
        if self.duration.is_zero() || self.duration > Load::LONGEST {
            return fault(
                "the duration",
                &self.duration,
                "more than nothing, and at most an hour",
            );
        }
        check_time_limit(self.time_limit)?;
        if self.requests_max == 0 {
            return fault("the number of requests", &self.requests_max, "at least 1");
        }
        match self.schedule {
            Schedule::Open { per_second }
                if !(per_second > 0.0 && per_second <= Load::RATE_MAX) =>
            {
                fault(
                    "the rate",
                    &per_second,
                    "more than 0 and at most 10000000 requests a second",
                )
            }
            _ => self.processor.map_or(Ok(()), cpu::check),
        }
    }
}

/// Checks the time limit of an answer.
///
/// # Errors
/// [`Error::Setting`], if the limit is too long or too short for a wait.
pub(crate) fn check_time_limit(limit: Duration) -> Result<(), Error> {
    match (Load::TIME_LIMIT_LEAST..=Load::LONGEST).contains(&limit) {
        true => Ok(()),
        false => Err(Error::setting(
            "the time limit of an answer",
            limit,
            "at least 1 ms, and at most an hour",
        )),
    }
}
