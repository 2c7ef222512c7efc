//! What came out of load on a server.

mod latencies;

pub use latencies::Latencies;

use super::Absence;
use super::costs::{is_disturbance, memory_of};
use super::ratio::{Starts, Within, over_starts};
use antiphon_load::{Latency, Measured, Packed};
use antiphon_measure::{Interval, median_interval, supports};
use serde::{Deserialize, Deserializer, Serialize};

/// Above this part of its time the generator may be what limited the rate.
const GENERATOR_BUSY: f64 = 0.9;

/// Who sends requests.
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
    /// All of them.
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

    /// The Debian package that gives it; nothing for our own.
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
    /// What is asked for, from the slash on.
    pub path: String,
    /// The body that every answer must have.
    pub body: String,
    /// Connections used at a time.
    pub connections: usize,
    /// Whether a connection is used for many requests.
    pub keep_alive: bool,
    /// How many requests are due each second; closed loop if neither is given.
    pub per_second: Option<f64>,
    /// The same as a percentage of what the server answered in closed loop just before, over as many connections of the same kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_closed: Option<f64>,
    /// For how long the server is stopped in the middle, ms.
    pub freeze_ms: Option<u64>,
    /// Who sends.
    pub by: Generator,
    /// Whether the generator sleeps while it waits, as others do, also where it has another processor than the server, on which it polls else. In plans of older
    /// runs, which do not say, it does: what is left of such a run is measured as its beginning was.
    #[serde(default = "slept")]
    pub sleeps: bool,
    /// How long requests are sent in a round, s.
    pub seconds: f64,
}

fn slept() -> bool {
    true
}

impl LoadTask {
    /// Whether requests are due at times that do not depend on the server.
    pub fn is_open(&self) -> bool {
        self.per_second.is_some() || self.percent_of_closed.is_some()
    }

    /// How long requests are sent in a round in all, s: those of the closed loop before an open schedule that follows it, too.
    pub fn sending_seconds(&self) -> f64 {
        match self.percent_of_closed {
            Some(_) => 2.0 * self.seconds,
            None => self.seconds,
        }
    }
}

/// What a server did under a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// The load.
    pub task: LoadTask,
    /// The rounds, in the order of time.
    pub rounds: Vec<LoadRound>,
    /// Those of the same server started twice, where it was: what differs between the two is noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<LoadRound>,
    /// Why the second start was measured no more, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_failed: Option<Absence>,
    /// How it became warm, round by round. With the first load of a server in a placement; the others ran in the same processes.
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
    /// Requests without an answer when it ended, those that were due and never sent among them.
    pub unanswered: u64,
    /// Processor time of the server's processes, ns.
    pub server_cpu_ns: u64,
    /// Processor time of the generator, ns.
    pub generator_cpu_ns: u64,
    /// What of it the generator polled for while nothing had come, ns; `None` where it slept then, and in older runs, in which it always did. A server's processor
    /// time holds what it takes to wake a generator that sleeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_polls_ns: Option<u64>,
    /// The generator's processor time, without such polls, as a part of its time.
    pub generator_share: f64,
    /// The part of the processors in use that neither server nor generator had and that was not idle.
    pub foreign_share: f64,
    /// The same as a time, ns; `None` in runs that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_ns: Option<f64>,
    /// The core-to-core latency of the server's processor and the generator's before it and after, ns; `None` where both are one, where it was not measured,
    /// and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_to_core_ns: Option<[f64; 2]>,
    /// How often it was measured; of the attempts that with the least foreign share is kept.
    pub attempts: u32,
    /// Latencies at the median, 99 and 99.9 per cent, and the longest, ns; `None` where the generator does not tell, or the round has too few requests for it. What
    /// all rounds say together is in [`LoadOutcome::latencies`].
    #[serde(default, deserialize_with = "told")]
    pub p50_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "told")]
    pub p99_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "told")]
    pub p999_ns: Option<u64>,
    /// See [`p50_ns`](Self::p50_ns).
    #[serde(default, deserialize_with = "told")]
    pub longest_ns: Option<u64>,
    /// The raw histogram of all latencies; `None` where the generator does not tell, and in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<Packed>,
    /// How late requests were sent at 99 per cent, ns.
    #[serde(default, deserialize_with = "told")]
    pub lag_p99_ns: Option<u64>,
    /// Jain's index over the connections; see [`tells_connections`](Self::tells_connections).
    pub fairness: Option<f64>,
    /// The connections that were starved, from 0; see [`tells_connections`](Self::tells_connections).
    pub starved: Vec<usize>,
    /// Connections that were opened again.
    pub reconnects: u64,
    /// Proportional memory of the server's processes after it, bytes.
    pub pss_bytes: u64,
    /// The sum of their largest resident memories, bytes.
    pub peak_bytes: u64,
    /// Their threads.
    pub threads: u64,
    /// Context switches of those, without a virtual machine's compilers; `None` where one of them ended meanwhile or could not be read, and in older runs. What threads had that
    /// began and ended within the round is in no count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<ContextSwitches>,
    /// What was seen of a freeze.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freeze: Option<Freeze>,
}

/// Context switches of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextSwitches {
    /// To wait: for a request, for another thread, for a lock.
    pub voluntary: u64,
    /// By preemption, or by yielding.
    pub involuntary: u64,
}

/// A closed loop of which a schedule is a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClosedLoop {
    /// Right answers a second.
    pub per_second: f64,
    /// The generator's processor time, without polls that found nothing, as a part of its time.
    pub generator_share: f64,
}

/// The generator's self-test: the server stood still for a known time, and the histogram must show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Freeze {
    /// How long it stood, ns.
    pub frozen_ns: u64,
    /// The longest latency, ns.
    pub longest_ns: u64,
    /// Latencies longer than half of it.
    pub long: u64,
    /// How many of those there must be: requests that were due in its first half.
    pub owed: u64,
}

impl Freeze {
    /// Whether the histogram shows it: a latency as long as the freeze, and the waits of those that were due in it, within a tenth.
    pub fn is_seen(&self) -> bool {
        self.longest_ns as f64 >= 0.9 * self.frozen_ns as f64
            && self.long as f64 >= 0.9 * self.owed as f64
    }
}

/// How a server became warm after a start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WarmUp {
    /// The round.
    pub round: u32,
    /// Its slices.
    pub slices: Vec<WarmSlice>,
    /// Whether the rule held before the time for it was over.
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
    /// The part of its processor time that compilers of a virtual machine had, as far as they can be told.
    #[serde(default)]
    pub compiling: f64,
}

impl LoadRound {
    /// What the laboratory's own generator measured.
    pub(crate) fn of(measured: &Measured) -> LoadRound {
        LoadRound {
            answered: measured.answered,
            per_second: measured.per_second(),
            unanswered: measured.unanswered + measured.never_sent,
            generator_cpu_ns: measured.own_cpu_ns,
            generator_share: measured.own_share(),
            lag_p99_ns: at(&measured.lag, 99.0),
            fairness: Some(measured.fairness()),
            starved: measured.starved(),
            reconnects: measured.reconnects,
            ..LoadRound::default().with_latency(&measured.latency)
        }
    }

    /// The same with these latencies.
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

    /// Processor time of the server a request, ns.
    pub fn cpu_ns(&self) -> f64 {
        self.a_request(self.server_cpu_ns)
    }

    /// Voluntary context switches of the server a request: how often its threads waited. `None` where they are not known.
    pub fn voluntary(&self) -> Option<f64> {
        Some(self.a_request(self.switches?.voluntary))
    }

    /// Its involuntary ones.
    pub fn involuntary(&self) -> Option<f64> {
        Some(self.a_request(self.switches?.involuntary))
    }

    /// What a right answer has of all.
    fn a_request(&self, all: u64) -> f64 {
        all as f64 / (self.answered as f64).max(1.0)
    }

    /// Whether the generator told of single connections: who does not know the longest wait does not know whose it was.
    pub fn tells_connections(&self) -> bool {
        self.longest_ns.is_some()
    }

    /// Whether connections were starved.
    pub fn starves(&self) -> bool {
        !self.starved.is_empty()
    }

    /// Whether the generator may be what limited the rate, or that of the closed loop of which it is a part.
    pub fn generator_was_busy(&self) -> bool {
        let closed = self.closed.map_or(0.0, |closed| closed.generator_share);
        self.generator_share.max(closed) > GENERATOR_BUSY
    }

    /// Whether others disturbed it, by the same rule as [`Foreign::was_disturbed`](super::Foreign::was_disturbed). Older runs did not keep for how long, and are
    /// taken at their share alone.
    pub fn was_disturbed(&self) -> bool {
        is_disturbance(self.foreign_share, self.foreign_ns.unwrap_or(f64::INFINITY))
    }
}

impl LoadOutcome {
    /// Whether the generator polled while it waited.
    pub fn polls(&self) -> bool {
        self.rounds
            .iter()
            .any(|round| round.empty_polls_ns.is_some())
    }

    /// The median over the rounds of a figure, with its interval; `None` without rounds.
    pub fn median(&self, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        median_interval(&self.rounds.iter().map(of).collect::<Vec<_>>())
    }

    /// The ratio of a figure to another server's by the rounds that both have: that of what stands for all epochs. The interval holds the
    /// difference from start to start, also what few starts cannot show of it.
    pub fn ratio(&self, to: &LoadOutcome, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        over_starts(&ratios(&self.rounds, &to.rounds, of), Within::Centre)
    }

    /// What each start, which is an epoch, says of that ratio; `None` where no round has it.
    pub fn starts(&self, to: &LoadOutcome, of: impl Fn(&LoadRound) -> f64) -> Option<Starts> {
        let rounds = ratios(&self.rounds, &to.rounds, of);
        (!rounds.is_empty()).then(|| Starts::of(&rounds, Within::Centre))
    }

    /// The same of the server to itself, where it was started twice: how far from 1 a ratio may be by chance. The interval is that of the rounds
    /// alone, since what starts differ by is just what is looked for.
    pub fn ratio_to_itself(&self, of: impl Fn(&LoadRound) -> f64) -> Option<Interval> {
        let ratios = ratios(&self.again, &self.rounds, of).into_iter();
        median_interval(&ratios.map(|(_, ratio)| ratio).collect::<Vec<_>>())
    }

    /// The rounds of all starts, also of the second one of a server that was started twice.
    pub fn all_rounds(&self) -> impl Iterator<Item = &LoadRound> {
        self.rounds.iter().chain(&self.again)
    }

    /// The median over the rounds of a figure that not all generators tell; `None` where none was told.
    pub fn told(&self, of: impl Fn(&LoadRound) -> Option<f64>) -> Option<Interval> {
        median_interval(&self.rounds.iter().filter_map(of).collect::<Vec<_>>())
    }

    /// How far apart the processors of server and generator were, ns, before and after each round.
    pub fn distances(&self) -> impl Iterator<Item = f64> {
        let about = self.rounds.iter().filter_map(|round| round.core_to_core_ns);
        about.flatten()
    }

    /// What the server held when its last round was over, bytes: the median over its starts, also of one that was started twice, with the interval of what
    /// another start may hold. `None` without rounds.
    pub fn memory(&self) -> Option<Interval> {
        let held = |rounds: &[LoadRound]| -> Vec<f64> {
            let starts = rounds.chunk_by(|a, b| a.epoch == b.epoch);
            let last = starts.filter_map(|rounds| rounds.last());
            last.map(|round| round.pss_bytes as f64).collect()
        };
        memory_of(&[held(&self.rounds), held(&self.again)].concat())
    }

    /// How many rounds fit a condition.
    pub fn count(&self, fits: impl Fn(&LoadRound) -> bool) -> usize {
        self.rounds.iter().filter(|round| fits(round)).count()
    }
}

/// A percentile of latencies, ns; `None` of too few.
fn at(latency: &Latency, percentile: f64) -> Option<u64> {
    let is_known = supports(percentile, latency.count());
    some(latency.at(percentile / 100.0)).filter(|_| is_known)
}

/// A time that was measured is never 0.
fn some(ns: u64) -> Option<u64> {
    (ns > 0).then_some(ns)
}

/// Older runs have 0 for what the generator did not tell.
fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::deserialize(deserializer)?.and_then(some))
}

/// Ratios of a figure within rounds, each with its epoch; none of what was not told, which is not a number.
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
        // Older runs tell the share alone.
        assert!(round(None).was_disturbed());
    }
}
