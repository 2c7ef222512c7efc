//! Results of load on a server.

mod latencies;

pub use latencies::Latencies;

use super::Absence;
use super::costs::{is_disturbance, memory_of};
use super::ratio::{Starts, Within, over_starts};
use antiphon_load::{Latency, Measured, Packed};
use antiphon_measure::{Interval, median_interval, supports};
use serde::{Deserialize, Deserializer, Serialize};

/// Share of its time above which the generator may have limited the rate.
const GENERATOR_BUSY: f64 = 0.9;

/// Program that sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Generator {
    /// The laboratory's own.
    Antiphon,
    /// wrk.
    Wrk,
    /// ApacheBench.
    Ab,
    /// siege.
    Siege,
}

impl Generator {
    /// All generators.
    pub const ALL: [Generator; 4] = [
        Generator::Antiphon,
        Generator::Wrk,
        Generator::Ab,
        Generator::Siege,
    ];

    /// Its command, and the word for it in suite files.
    pub fn word(self) -> &'static str {
        match self {
            Generator::Antiphon => "antiphon",
            Generator::Wrk => "wrk",
            Generator::Ab => "ab",
            Generator::Siege => "siege",
        }
    }

    /// Returns the generator's Debian package; empty for our own.
    pub fn package(self) -> &'static str {
        match self {
            Generator::Antiphon => "",
            Generator::Ab => "apache2-utils",
            other => other.word(),
        }
    }
}

/// The load that is put on a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadTask {
    /// Requested path, from the slash on.
    pub path: String,
    /// The body that every answer must have.
    pub body: String,
    /// Connections used at a time.
    pub connections: usize,
    /// Whether a connection is used for many requests.
    pub keep_alive: bool,
    /// Requests due each second; closed loop if neither rate is given.
    pub per_second: Option<f64>,
    /// Requests due as a percentage of the server's rate in a closed loop just before, over as many
    /// connections of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_closed: Option<f64>,
    /// Time for which the server is stopped in the middle, ms.
    pub freeze_ms: Option<u64>,
    /// Generator of the load.
    pub by: Generator,
    /// Whether the generator sleeps during its waits, as others do. On a processor of its own it
    /// otherwise polls.
    ///
    /// Plans of older runs lack this field and default to `true`, so that a resumed run measures
    /// its rest as its beginning.
    #[serde(default = "slept")]
    pub sleeps: bool,
    /// Sending time in a round, s.
    pub seconds: f64,
}

fn slept() -> bool {
    true
}

impl LoadTask {
    /// Checks for an open schedule, whose due times do not depend on the server.
    pub fn is_open(&self) -> bool {
        self.per_second.is_some() || self.percent_of_closed.is_some()
    }

    /// Returns the whole sending time of a round, s, including the closed loop before an open
    /// schedule.
    pub fn sending_seconds(&self) -> f64 {
        match self.percent_of_closed {
            Some(_) => 2.0 * self.seconds,
            None => self.seconds,
        }
    }
}

/// Result of a server under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// The load.
    pub task: LoadTask,
    /// The rounds, in the order of time.
    pub rounds: Vec<LoadRound>,
    /// Rounds of the same server started twice, if it was: the difference between the two is noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<LoadRound>,
    /// Reason why the second start was no longer measured, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_failed: Option<Absence>,
    /// Warm-up, round by round. It stands with the server's first load in a placement; later loads
    /// ran in the same processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_ups: Vec<WarmUp>,
}

/// One round of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadRound {
    /// Its number, from 0: the same for all servers of a round.
    pub round: u32,
    /// The epoch that it is of, from 0: in each all servers were started afresh.
    #[serde(default)]
    pub epoch: u32,
    /// Right answers.
    pub answered: u64,
    /// Right answers a second while requests were sent.
    pub per_second: f64,
    /// The closed loop just before, where the schedule is a percentage of its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<ClosedLoop>,
    /// Requests without an answer at its end, including due ones that were never sent.
    pub unanswered: u64,
    /// Processor time of the server's processes, ns.
    pub server_cpu_ns: u64,
    /// Processor time of the generator, ns.
    pub generator_cpu_ns: u64,
    /// Part of the generator's processor time spent on empty polls, ns; `None` if it slept instead.
    ///
    /// Older generators always slept. A server's processor time includes the wake-up of a sleeping
    /// generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_polls_ns: Option<u64>,
    /// The generator's processor time, without such polls, as a part of its time.
    pub generator_share: f64,
    /// Whether a polling generator was the limit for another reason, such as other programs on its
    /// processor; `false` in older runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator_limited: bool,
    /// Share of the processors in use that was neither idle nor used by server or generator.
    pub foreign_share: f64,
    /// The time of that share, ns; `None` in runs that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_ns: Option<f64>,
    /// Core-to-core latency of the server's processor and the generator's, before and after the
    /// round, ns.
    ///
    /// `None` if both are one processor, if it was not measured, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_to_core_ns: Option<[f64; 2]>,
    /// Number of attempts, of which the one with the least foreign share is kept.
    pub attempts: u32,
    /// Latencies at the median, 99 and 99.9 per cent, and the longest, ns.
    ///
    /// `None` if the generator does not tell it or the round has too few requests.
    /// [`LoadOutcome::latencies`] combines all rounds.
    #[serde(default, deserialize_with = "reported")]
    pub p50_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "reported")]
    pub p99_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "reported")]
    pub p999_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "reported")]
    pub longest_ns: Option<u64>,
    /// Raw histogram of all latencies; `None` if the generator does not tell it, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Packed>,
    /// Lateness of sent requests at 99 per cent, ns.
    #[serde(default, deserialize_with = "reported")]
    pub lag_p99_ns: Option<u64>,
    /// Jain's index over the connections; see [`tells_connections`](Self::tells_connections).
    pub fairness: Option<f64>,
    /// Starved connections, from 0; see [`tells_connections`](Self::tells_connections).
    pub starved: Vec<usize>,
    /// Connections that were opened again.
    pub reconnects: u64,
    /// Proportional memory of the server's processes after it, bytes.
    pub pss_bytes: u64,
    /// The sum of their largest resident memories, bytes.
    pub peak_bytes: u64,
    /// Their threads.
    pub threads: u64,
    /// Context switches of the server's threads, without a virtual machine's compilers.
    ///
    /// `None` if one of them ended meanwhile or was unreadable, and in older runs. Switches of
    /// threads that began and ended within the round are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<ContextSwitches>,
    /// Observation of a freeze.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Freeze>,
}

/// Context switches of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSwitches {
    /// Switches for a wait: for a request, for another thread, for a lock.
    pub voluntary: u64,
    /// Switches by preemption, or by yielding.
    pub involuntary: u64,
}

/// A closed loop of which a schedule is a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosedLoop {
    /// Right answers a second.
    pub per_second: f64,
    /// The generator's processor time, without polls that found nothing, as a part of its time.
    pub generator_share: f64,
    /// Whether the generator was the limit, as for the round itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generator_limited: bool,
}

/// Self-test of the generator: the server stood still for a known time, which the histogram must
/// show.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freeze {
    /// Duration of the freeze, ns.
    pub frozen_ns: u64,
    /// The longest latency, ns.
    pub longest_ns: u64,
    /// Latencies longer than half of it.
    pub long: u64,
    /// Expected number of such latencies: requests due in the first half of the freeze.
    pub owed: u64,
}

impl Freeze {
    /// Checks whether the histogram shows the freeze, within a tenth: one latency as long as it,
    /// and all waits it caused.
    pub fn is_seen(&self) -> bool {
        self.longest_ns as f64 >= 0.9 * self.frozen_ns as f64
            && self.long as f64 >= 0.9 * self.owed as f64
    }
}

/// Warm-up of a server after a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// The round.
    pub round: u32,
    /// Its slices.
    pub slices: Vec<WarmSlice>,
    /// Whether the rule held before its time was over.
    pub is_warm: bool,
}

/// A slice of a warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmSlice {
    /// Its end, ns since the first request.
    pub at_ns: u64,
    /// Processor time of the server a request, ns.
    pub cpu_ns: f64,
    /// Right answers a second.
    pub per_second: f64,
    /// Share of its processor time used by a virtual machine's compilers, as far as they are
    /// visible.
    #[serde(default)]
    pub compiling: f64,
}

/// Checks whether a generator was the limit. A generator on the server's processor waits for it by
/// design; only its own work limits it.
pub(crate) fn is_limited(measured: &Measured) -> bool {
    measured.polls && !measured.limits().is_empty()
}

impl LoadRound {
    /// Creates a round from a measurement of the laboratory's own generator.
    pub(crate) fn of(measured: &Measured) -> LoadRound {
        LoadRound {
            answered: measured.answered,
            per_second: measured.per_second(),
            unanswered: measured.unanswered + measured.never_sent,
            generator_cpu_ns: measured.own_cpu_ns,
            generator_share: measured.own_share(),
            generator_limited: is_limited(measured),
            lag_p99_ns: at(&measured.lag, 99.0),
            fairness: Some(measured.fairness()),
            starved: measured.starved(),
            reconnects: measured.reconnects,
            ..LoadRound::default().with_latency(&measured.latency)
        }
    }

    /// Sets the latencies of the round.
    fn with_latency(self, latency: &Latency) -> LoadRound {
        LoadRound {
            p50_ns: at(latency, 50.0),
            p99_ns: at(latency, 99.0),
            p999_ns: at(latency, 99.9),
            longest_ns: some(latency.longest()),
            latencies: latency.packed(),
            ..self
        }
    }

    /// Returns the server's processor time per request, ns.
    pub fn cpu_ns(&self) -> f64 {
        self.a_request(self.server_cpu_ns)
    }

    /// Returns the server's voluntary context switches per request, which is the number of waits of
    /// its threads. `None` if they are not known.
    pub fn voluntary(&self) -> Option<f64> {
        Some(self.a_request(self.switches?.voluntary))
    }

    /// Its involuntary ones.
    pub fn involuntary(&self) -> Option<f64> {
        Some(self.a_request(self.switches?.involuntary))
    }

    /// Divides a total by the number of right answers.
    fn a_request(&self, all: u64) -> f64 {
        all as f64 / (self.answered as f64).max(1.0)
    }

    /// Checks whether the generator told of single connections. One that does not tell the longest
    /// wait does not know its connection.
    pub fn tells_connections(&self) -> bool {
        self.longest_ns.is_some()
    }

    /// Checks whether connections were starved.
    pub fn starves(&self) -> bool {
        !self.starved.is_empty()
    }

    /// Checks whether the generator may have limited the rate, or that of the closed loop before
    /// it.
    pub fn generator_was_busy(&self) -> bool {
        let share = |closed: ClosedLoop| closed.generator_share;
        let limited = |closed: ClosedLoop| closed.generator_limited;
        self.generator_share.max(self.closed.map_or(0.0, share)) > GENERATOR_BUSY
            || self.generator_limited
            || self.closed.is_some_and(limited)
    }

    /// Checks whether others disturbed it, by the same rule as
    /// [`Foreign::was_disturbed`](super::Foreign::was_disturbed). Older runs did not keep the time,
    /// and are judged by their share alone.
    pub fn was_disturbed(&self) -> bool {
        is_disturbance(self.foreign_share, self.foreign_ns.unwrap_or(f64::INFINITY))
    }
}

impl LoadOutcome {
    /// Checks whether the generator polled during its waits.
    pub fn polls(&self) -> bool {
        self.rounds
            .iter()
            .any(|round| round.empty_polls_ns.is_some())
    }

    /// Returns the median of a figure over the rounds, with its interval; `None` without rounds.
    pub fn median(&self, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        median_interval(&self.rounds.iter().map(of).collect::<Vec<_>>())
    }

    /// Returns the ratio of a figure to another server's, over the rounds that both have.
    ///
    /// Each epoch gives one ratio, and their centre is the result. The interval covers the
    /// difference between starts, including the part that few starts cannot show.
    pub fn ratio(&self, to: &LoadOutcome, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        over_starts(&ratios(&self.rounds, &to.rounds, of), Within::Centre)
    }

    /// Returns the ratio of each start, which is an epoch; `None` if no round has it.
    pub fn starts(&self, to: &LoadOutcome, of: impl Fn(&LoadRound) -> f64) -> Option<Starts> {
        let rounds = ratios(&self.rounds, &to.rounds, of);
        (!rounds.is_empty()).then(|| Starts::of(&rounds, Within::Centre))
    }

    /// Returns the ratio of a server to itself, if it was started twice: the distance from 1 that
    /// chance makes.
    ///
    /// The interval is that of the rounds alone, because the difference between starts is the
    /// quantity in question.
    pub fn ratio_to_itself(&self, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        let ratios = ratios(&self.again, &self.rounds, of).into_iter();
        median_interval(&ratios.map(|(_, ratio)| ratio).collect::<Vec<_>>())
    }

    /// Returns the rounds of all starts, including the second one of a server that was started
    /// twice.
    pub fn all_rounds(&self) -> impl Iterator<Item = &LoadRound> {
        self.rounds.iter().chain(&self.again)
    }

    /// Returns the median over the rounds of a figure that not all generators tell; `None` without
    /// any.
    pub fn reported(&self, of: impl Fn(&LoadRound) -> Option<f64>) -> Option<Interval> {
        median_interval(&self.rounds.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// Returns the core distances of server and generator, ns, before and after each round.
    pub fn distances(&self) -> impl Iterator<Item = f64> {
        let about = self.rounds.iter().filter_map(|round| round.core_to_core_ns);
        about.flatten()
    }

    /// Returns the memory that the server held after its last round, bytes; `None` without rounds.
    ///
    /// It is the median over all starts, second ones included. Its interval covers the likely
    /// difference of other starts.
    pub fn memory(&self) -> Option<Interval> {
        let held = |rounds: &[LoadRound]| -> Vec<f64> {
            let starts = rounds.chunk_by(|a, b| a.epoch == b.epoch);
            let last = starts.filter_map(|rounds| rounds.last());
            last.map(|round| round.pss_bytes as f64).collect()
        };
        memory_of(&[held(&self.rounds), held(&self.again)].concat())
    }

    /// Counts the rounds that fit a condition.
    pub fn count(&self, fits: impl Fn(&LoadRound) -> bool) -> usize {
        self.rounds.iter().filter(|round| fits(round)).count()
    }
}

/// Returns a percentile of latencies, ns; `None` of too few.
fn at(latency: &Latency, percentile: f64) -> Option<u64> {
    let is_known = supports(percentile, latency.count());
    some(latency.at(percentile / 100.0)).filter(|_| is_known)
}

/// Returns a measured time, which is never 0.
fn some(ns: u64) -> Option<u64> {
    (ns > 0).then_some(ns)
}

/// Reads a field in which older runs have 0 if the generator did not tell it.
fn reported<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.and_then(some))
}

/// Returns ratios of a figure within rounds, each with its epoch. Untold figures, which are no
/// numbers, give none.
fn ratios(
    rounds: &[LoadRound],
    to: &[LoadRound],
    of: impl Fn(&LoadRound) -> f64,
) -> Vec<(u32, f64)> {
    let ratio = |round: &LoadRound| {
        let other = to.iter().find(|other| other.round == round.round)?;
        let (own, base) = (of(round), of(other));
        (own.is_finite() && base > 0.0).then(|| (round.epoch, own / base))
    };
    rounds.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_an_older_run_is_measured_by_a_generator_that_sleeps() {
        let plan = r#"{"path":"/","body":"","connections":1,"keep_alive":true,"per_second":null,"freeze_ms":null,"by":"antiphon","seconds":1.0}"#;
        let task: LoadTask = serde_json::from_str(plan).unwrap();
        assert!(task.sleeps);
        let written = |sleeps| {
            serde_json::to_string(&LoadTask {
                sleeps,
                ..task.clone()
            })
            .unwrap()
        };
        for sleeps in [false, true] {
            let read: LoadTask = serde_json::from_str(&written(sleeps)).unwrap();
            assert_eq!(read.sleeps, sleeps);
        }
    }

    #[test]
    fn what_older_runs_have_as_zero_was_not_told() {
        let mut round = serde_json::to_value(LoadRound::default()).unwrap();
        for (name, value) in [
            ("p50_ns", 0),
            ("p99_ns", 7),
            ("longest_ns", 0),
            ("fairness", 1),
        ] {
            round[name] = value.into();
        }
        let round: LoadRound = serde_json::from_value(round).unwrap();
        assert_eq!((round.p50_ns, round.p99_ns), (None, Some(7)));
        assert!(!round.tells_connections());
        let again: LoadRound =
            serde_json::from_str(&serde_json::to_string(&round).unwrap()).unwrap();
        assert_eq!(again, round);
    }

    #[test]
    fn steps_of_the_kernels_account_do_not_disturb_a_moment() {
        let round = |foreign_ns| LoadRound {
            foreign_share: 0.11,
            foreign_ns,
            ..LoadRound::default()
        };
        // Of 0.1 s on one processor.
        assert!(!round(Some(11e6)).was_disturbed());
        assert!(round(Some(33e6)).was_disturbed());
        // Older runs have only the share.
        assert!(round(None).was_disturbed());
    }
}
