//! Result of a run.

use crate::{Load, Schedule};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Latencies above this are counted as this, ns: two hours.
const LATENCY_MAX_NS: u64 = 7_200_000_000_000;

/// Significant decimal digits that a latency keeps.
const DIGITS: u8 = 3;

/// A connection that had less than this part of the mean of all was starved.
const STARVED_PART: f64 = 0.1;

/// Limits of a wait beyond which a connection was also starved: part of the sending time, multiple
/// of the median latency, and ns.
///
/// The last is needed because a busy machine lets any server's thread wait for some 0.2 s.
const STARVED_WAIT: f64 = 0.5;
const STARVED_TIMES: f64 = 20.0;
const STARVED_WAIT_LEAST_NS: f64 = 500e6;

/// Multiple of the longest wait of the median connection. If all wait, the server or the machine
/// pauses, and no connection is starved.
const STARVED_TIMES_OTHERS: f64 = 2.0;

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Requests whose answers came whole and right, also after the last request was sent.
    pub answered: u64,
    /// Those answers that came during the sending time.
    pub answered_in_time: u64,
    /// Requests that were sent and had no answer when the run ended.
    pub unanswered: u64,
    /// Requests that were due and not sent when the run ended.
    pub never_sent: u64,
    /// Requests that failed, by the kind of failure.
    pub failures: BTreeMap<String, u64>,
    /// The first failure in words.
    pub first_failure: Option<String>,
    /// Connections that were opened again after the server had closed one in an orderly way.
    pub reconnects: u64,
    /// The longest time that opening one of the first connections took, ns.
    pub longest_connect_ns: u64,
    /// Sending time, ns.
    pub window_ns: u64,
    /// Sending time with the wait for the last answers, ns.
    pub wall_ns: u64,
    /// Processor time of the generator's threads, ns.
    pub own_cpu_ns: u64,
    /// Part of it spent on empty polls, ns; 0 for threads that sleep instead.
    pub empty_polls_ns: u64,
    /// Time that the generator's threads were ready without a processor, ns; 0 if the kernel does
    /// not tell.
    #[serde(default)]
    pub waited_ns: u64,
    /// Whether the threads were to poll without sleep.
    #[serde(default)]
    pub polls: bool,
    /// Number of threads.
    pub threads: usize,
    /// Latencies, each from the time at which its request was due to the last byte of the answer.
    pub latency: Latency,
    /// Delays of sent requests after their due time; empty in the closed loop, where none is due
    /// before.
    pub lag: Latency,
    /// Part of these delays caused by the generator, because a connection was free; empty in the
    /// closed loop.
    #[serde(default)]
    pub own_lag: Latency,
    /// The connections.
    pub connections: Vec<OfConnection>,
    /// Reason for its end.
    pub stopped: Stopped,
}

impl Measured {
    /// Returns the state before any measurement.
    pub(crate) fn nothing() -> Self {
        Self {
            answered: 0,
            answered_in_time: 0,
            unanswered: 0,
            never_sent: 0,
            failures: BTreeMap::new(),
            first_failure: None,
            reconnects: 0,
            longest_connect_ns: 0,
            window_ns: 0,
            wall_ns: 0,
            own_cpu_ns: 0,
            empty_polls_ns: 0,
            waited_ns: 0,
            polls: false,
            threads: 1,
            latency: Latency::default(),
            lag: Latency::default(),
            own_lag: Latency::default(),
            connections: Vec::new(),
            stopped: Stopped::Time,
        }
    }
}

/// Counts of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfConnection {
    /// Right answers.
    pub answered: u64,
    /// The sum of their latencies, ns.
    pub latency_sum_ns: u64,
    /// The longest wait, ns, also one that had no answer.
    pub longest_ns: u64,
}

/// Reason for a run's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Its time was over.
    Time,
    /// It had sent as many requests as it might.
    Requests,
    /// Too many requests failed.
    Failures,
    /// The user ended it.
    Interrupted,
}

/// Reason why the generator was the limit, and not the server: the result is then a bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, thiserror::Error)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Limit {
    /// It worked nearly all of its time.
    #[error("it worked for {:.0} % of its time; give it more threads (--threads)", 100.0 * share)]
    Worked {
        /// The part of its time.
        share: f64,
    },
    /// It was ready and had no processor.
    #[error(
        "it waited for a processor for {:.0} % of its time; give it one of its own (--processor), or end other programs",
        100.0 * share
    )]
    Waited {
        /// The part of its time.
        share: f64,
    },
    /// It sent late although connections were free.
    #[error(
        "it sent {:.1} % of the requests more than {} ms late while a connection was free; ask for a lower rate, or give it a processor of its own (--processor)",
        100.0 * share,
        OWN_LAG_NS / 1_000_000
    )]
    SentLate {
        /// The part of the requests.
        share: f64,
    },
    /// It was to poll all the time and did not.
    #[error(
        "it polled for {:.0} % of its time only, and was to all the time (--busy-poll); give each of its threads a processor of its own",
        100.0 * share
    )]
    PolledLess {
        /// The part of its time.
        share: f64,
    },
}

/// Share of its time above which the generator's own work limits the measurement.
const WORKED_MUCH: f64 = 0.9;

/// The same limit for time without a processor, by which answers wait longer to be read.
const WAITED_MUCH: f64 = 0.1;

/// Delay by the generator itself from which a request is late, ns, and share of late requests that
/// limits the measurement.
const OWN_LAG_NS: u64 = 1_000_000;
const LATE_MANY: f64 = 0.01;

/// Least share of its time that a polling thread uses.
const POLLED_LEAST: f64 = 0.9;

impl Measured {
    /// Returns the right answers a second, among those that came during the sending time.
    pub fn per_second(&self) -> f64 {
        self.answered_in_time as f64 * 1e9 / (self.window_ns as f64).max(1.0)
    }

    /// Returns the open schedule with this percentage of the rate of answers; `None` if no answer
    /// came in time.
    pub fn part(&self, percent: f64) -> Option<Schedule> {
        let per_second = (self.per_second() * percent / 100.0).min(Load::RATE_MAX);
        (per_second > 0.0).then_some(Schedule::Open { per_second })
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Returns the generator's share of its threads' processor time, without empty polls. Near 1
    /// the generator limits the rate.
    pub fn own_share(&self) -> f64 {
        self.share(self.own_cpu_ns.saturating_sub(self.empty_polls_ns))
    }

    /// Returns the share of empty polls in its threads' processor time.
    pub fn empty_polls_share(&self) -> f64 {
        self.share(self.empty_polls_ns)
    }

    /// Returns the share of time without a processor.
    pub fn waited_share(&self) -> f64 {
        self.share(self.waited_ns)
    }

    /// Returns the reasons why the generator was the limit; empty if it was not.
    pub fn limits(&self) -> Vec<Limit> {
        let (worked, waited) = (self.own_share(), self.waited_share());
        let late = self.own_lag.above(OWN_LAG_NS) as f64 / self.own_lag.count().max(1) as f64;
        let polled = self.share(self.own_cpu_ns);
        [
            (worked > WORKED_MUCH).then_some(Limit::Worked { share: worked }),
            (waited > WAITED_MUCH).then_some(Limit::Waited { share: waited }),
            (late > LATE_MANY).then_some(Limit::SentLate { share: late }),
            (self.polls && polled < POLLED_LEAST).then_some(Limit::PolledLess { share: polled }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns a time as a share of its threads' possible processor time.
    fn share(&self, ns: u64) -> f64 {
        ns as f64 / (self.wall_ns as f64 * self.threads as f64).max(1.0)
    }

    /// Returns the starved connections, from 0.
    ///
    /// A starved connection had less than a tenth of the mean of all, or waited once for too long.
    /// That wait exceeds half of the sending time, 20 times the median latency, half a second,
    /// and twice the longest wait of the median connection.
    pub fn starved(&self) -> Vec<usize> {
        let mean = self.answered as f64 / self.connections.len().max(1) as f64;
        let wait_ns = (STARVED_WAIT * self.window_ns as f64)
            .max(STARVED_TIMES * self.latency.at(0.5) as f64)
            .max(STARVED_WAIT_LEAST_NS)
            .max(STARVED_TIMES_OTHERS * self.longest_in_the_middle_ns() as f64);
        let is_starved = |of: &OfConnection| {
            let has_little =
                mean >= 1.0 / STARVED_PART && (of.answered as f64) < STARVED_PART * mean;
            has_little || of.longest_ns as f64 > wait_ns
        };
        let connections = self.connections.iter().enumerate();
        connections
            .filter(|(_, of)| is_starved(of))
            .map(|(number, _)| number)
            .collect()
    }

    /// Returns the median over connections of the longest wait, ns.
    fn longest_in_the_middle_ns(&self) -> u64 {
        let connections = self.connections.iter();
        let mut longest: Vec<u64> = connections.map(|of| of.longest_ns).collect();
        longest.sort_unstable();
        let middle = longest.len().saturating_sub(1) / 2;
        longest.get(middle).copied().unwrap_or(0)
    }

    /// Returns Jain's index of fairness between the connections (R. Jain, D. Chiu, W. Hawe, 1984).
    ///
    /// It is 1 if all had the same number of answers, and 1/n if one had all. It is 1 without
    /// answers.
    pub fn fairness(&self) -> f64 {
        let counts = || self.connections.iter().map(|of| of.answered as f64);
        let squares: f64 = counts().map(|count| count * count).sum();
        match squares > 0.0 {
            true => counts().sum::<f64>().powi(2) / (self.connections.len() as f64 * squares),
            false => 1.0,
        }
    }

    /// Adds the results of another thread of the same run.
    pub(crate) fn join(mut self, other: Measured) -> Measured {
        self.answered += other.answered;
        self.answered_in_time += other.answered_in_time;
        self.unanswered += other.unanswered;
        self.never_sent += other.never_sent;
        for (kind, count) in other.failures {
            *self.failures.entry(kind).or_default() += count;
        }
        self.first_failure = self.first_failure.or(other.first_failure);
        self.reconnects += other.reconnects;
        self.longest_connect_ns = self.longest_connect_ns.max(other.longest_connect_ns);
        self.window_ns = self.window_ns.max(other.window_ns);
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.own_cpu_ns += other.own_cpu_ns;
        self.empty_polls_ns += other.empty_polls_ns;
        self.waited_ns += other.waited_ns;
        self.polls |= other.polls;
        self.threads += other.threads;
        self.latency.join(&other.latency);
        self.lag.join(&other.lag);
        self.own_lag.join(&other.own_lag);
        self.connections.extend(other.connections);
        if self.stopped == Stopped::Time {
            self.stopped = other.stopped;
        }
        self
    }
}

/// A distribution of times, ns, kept to three digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Latency(Histogram<u64>);

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_MAX_NS, DIGITS);
        Latency(histogram.expect("the bounds and digits are ones that a histogram has"))
    }
}

impl Latency {
    pub(crate) fn of(histogram: Histogram<u64>) -> Self {
        Latency(histogram)
    }

    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.0
    }

    /// Adds a time, ns.
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(1));
    }

    fn join(&mut self, other: &Latency) {
        self.0 += &other.0;
    }

    /// Returns their number.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the time, ns, that this part of all does not exceed; 0 without any.
    pub fn at(&self, part: f64) -> u64 {
        self.0.value_at_quantile(part)
    }

    /// Returns the longest, ns.
    pub fn longest(&self) -> u64 {
        self.0.max()
    }

    /// Returns their mean, ns.
    pub fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// Returns the number of those longer than this, ns.
    pub fn above(&self, ns: u64) -> u64 {
        self.count() - self.0.count_between(0, ns)
    }

    /// Returns the raw histogram: each time that occurred, ns, with its count.
    pub fn pairs(&self) -> Vec<(u64, u64)> {
        let steps = self.0.iter_recorded();
        steps
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .collect()
    }
}

impl From<Vec<(u64, u64)>> for Latency {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        let mut latency = Latency::default();
        for (ns, count) in pairs {
            latency.0.saturating_record_n(ns.max(1), count);
        }
        latency
    }
}

impl From<Latency> for Vec<(u64, u64)> {
    fn from(latency: Latency) -> Self {
        latency.pairs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(answers: &[u64]) -> Measured {
        let connections = answers.iter().map(|answered| OfConnection {
            answered: *answered,
            ..OfConnection::default()
        });
        Measured {
            answered: answers.iter().sum(),
            answered_in_time: answers.iter().sum(),
            window_ns: 1_000_000_000,
            wall_ns: 1_000_000_000,
            own_cpu_ns: 900_000_000,
            connections: connections.collect(),
            ..Measured::nothing()
        }
    }

    #[test]
    fn polls_that_found_nothing_are_no_work() {
        let polled = Measured {
            empty_polls_ns: 600_000_000,
            ..measured(&[1])
        };
        let joined = polled.clone().join(polled);
        assert_eq!(joined.empty_polls_ns, 1_200_000_000);
        assert!((joined.own_share() - 0.3).abs() < 1e-9, "{joined:?}");
        assert!(
            (joined.empty_polls_share() - 0.6).abs() < 1e-9,
            "{joined:?}"
        );
    }

    #[test]
    fn a_generator_that_was_the_limit_is_told_with_why() {
        let mut of = measured(&[1]);
        of.own_cpu_ns = 100_000_000;
        assert_eq!(of.limits(), []);
        // Three others on its processor.
        of.waited_ns = 750_000_000;
        assert_eq!(of.limits(), [Limit::Waited { share: 0.75 }]);
        let reported = of.limits()[0].to_string();
        assert!(
            reported.starts_with("it waited for a processor for 75 %"),
            "{reported}"
        );
        of.waited_ns = 0;
        of.polls = true;
        assert_eq!(of.limits(), [Limit::PolledLess { share: 0.1 }]);
        of.polls = false;
        for ns in [1_000, 2_000_000] {
            of.own_lag.record(ns);
        }
        assert_eq!(of.limits(), [Limit::SentLate { share: 0.5 }]);
        of.own_lag = Latency::default();
        of.own_cpu_ns = 950_000_000;
        assert_eq!(of.limits(), [Limit::Worked { share: 0.95 }]);
    }

    #[test]
    fn a_part_of_nothing_is_no_schedule() {
        let mut closed = measured(&[100, 100]);
        let half = Schedule::Open { per_second: 100.0 };
        assert_eq!(closed.part(50.0), Some(half));
        // All answers came when no more requests were sent.
        closed.answered_in_time = 0;
        assert_eq!(closed.part(50.0), None);
    }

    #[test]
    fn starved_connections_are_named() {
        assert_eq!(
            measured(&[100, 100, 100, 100]).starved(),
            Vec::<usize>::new()
        );
        assert_eq!(measured(&[100, 0, 100, 5]).starved(), [1, 3]);
        let mut waited = measured(&[100, 100]);
        waited.connections[1].longest_ns = 600_000_000;
        assert_eq!(waited.starved(), [1]);
    }

    #[test]
    fn a_thread_that_wakes_late_in_a_short_run_starves_nobody() {
        let mut late = measured(&[100, 100, 100, 40]);
        late.window_ns = 300_000_000;
        late.connections[3].longest_ns = 210_000_000;
        assert_eq!(late.starved(), Vec::<usize>::new());
        late.connections[3].longest_ns = 290_000_000;
        late.answered -= 35;
        late.connections[3].answered = 5;
        assert_eq!(late.starved(), [3]);
    }

    #[test]
    fn a_pause_of_the_server_starves_nobody() {
        let mut paused = measured(&[100, 100, 100, 100]);
        for (connection, ms) in paused.connections.iter_mut().zip([800, 790, 810, 805]) {
            connection.longest_ns = ms * 1_000_000;
        }
        assert_eq!(paused.starved(), Vec::<usize>::new());
        // Unless half of them go on.
        for connection in &mut paused.connections[2..] {
            connection.longest_ns = 1_000_000;
        }
        assert_eq!(paused.starved(), [0, 1]);
    }

    #[test]
    fn fairness_is_jains_index() {
        assert!((measured(&[5, 5, 5, 5]).fairness() - 1.0).abs() < 1e-12);
        assert!((measured(&[8, 0, 0, 0]).fairness() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_histogram_survives_being_written() {
        let mut latency = Latency::default();
        for ns in [1, 17, 40_000, 41_000, 3_000_000_000] {
            latency.record(ns);
        }
        let again = Latency::from(Vec::from(latency.clone()));
        assert_eq!(again.pairs(), latency.pairs());
        assert_eq!(again.count(), 5);
        assert_eq!(again.above(50_000), 1);
    }

    #[test]
    fn threads_join_into_one_run() {
        let joined = measured(&[1, 2]).join(measured(&[3]));
        assert_eq!(
            (joined.answered, joined.connections.len(), joined.threads),
            (6, 3, 2)
        );
        assert!((joined.own_share() - 0.9).abs() < 1e-9);
    }
}
