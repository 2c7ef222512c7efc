//! Agreement of two runs of a suite about languages.
//!
//! Each run gives ratios of processor time an operation: a subject's time against its base in the
//! same test. The base is the first subject or the subject's first variant, as the suite's key
//! `compare` says.

use crate::record::{
    Apart, Costs, Identity, LoadOutcome, LoadRound, Outcome, ResultRecord, RunRecord, Starts,
    original_of,
};
use crate::suite::{Compare, Suite};
use antiphon_measure::{Interval, RunFigure, run_ratio};
use std::collections::HashMap;

/// Difference in waits a request from which a server's threads are in two states. Waking a thread
/// costs about as much as an answer.
const WAITED: f64 = 0.2;

/// Largest difference that two runs should have.
pub const WANTED: f64 = 0.03;

/// A ratio in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Name of the result.
    pub identity: Identity,
    /// The subject that it is compared with.
    pub base: String,
    /// Method of the measurement.
    pub by: Measured,
    /// The ratio in the first run, and in the second, with their intervals.
    pub ratios: (Interval, Interval),
    /// Compared subjects whose slices differ in length between the runs.
    pub slices: Vec<SlicesDiffer>,
    /// Whether processors were kept awake while turns waited, in the first run and in the second.
    /// Both are equal if it has no part in the ratio.
    pub awake: (bool, bool),
    /// Whether the subject's turns had ordinary priority where those of others were in real time,
    /// by run.
    pub ordinary: (bool, bool),
    /// Whether the generator polled during its waits, in the first run and in the second.
    pub polled: (bool, bool),
    /// Core distance of server and generator in the first run and in the second; `None` if it is
    /// the same.
    pub moved: Option<(Apart, Apart)>,
    /// Server that waited more often in one run than in the other, if there is one.
    pub waited: Option<WaitsDiffer>,
}

/// A server whose threads waited more often for a request in one run than in another. The cost of a
/// wake-up is part of a request's cost.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitsDiffer {
    /// `name/variant`.
    pub subject: String,
    /// Voluntary context switches a request in the first run, and in the second.
    pub a_request: (f64, f64),
}

impl WaitsDiffer {
    fn of(first: &ResultRecord, second: &ResultRecord) -> Option<WaitsDiffer> {
        let waits =
            |result: &ResultRecord| Some(result.load()?.reported(LoadRound::voluntary)?.value);
        let differ = WaitsDiffer {
            subject: first.identity.subject.clone(),
            a_request: (waits(first)?, waits(second)?),
        };
        (differ.by() > WAITED).then_some(differ)
    }

    /// Returns the difference of the waits a request.
    pub fn by(&self) -> f64 {
        (self.a_request.0 - self.a_request.1).abs()
    }
}

/// A subject whose slices differed in length between two runs.
///
/// Its figures differ in kind. Long slices include bursts of the run-time, such as garbage
/// collection; short slices mostly do not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlicesDiffer {
    /// `name/variant`.
    pub subject: String,
    /// Processor time due to a slice in the first run and in the second, ms; `None` if it was the
    /// default.
    pub slice_ms: (Option<u64>, Option<u64>),
}

impl SlicesDiffer {
    fn of(first: &ResultRecord, second: &ResultRecord) -> Option<SlicesDiffer> {
        let slice_ms = |result: &ResultRecord| Some(result.costs.as_ref()?.slice_ms);
        let (first_ms, second_ms) = (slice_ms(first)?, slice_ms(second)?);
        let subject = first.identity.subject.as_str();
        (first_ms != second_ms).then(|| SlicesDiffer {
            subject: original_of(subject).unwrap_or(subject).to_owned(),
            slice_ms: (first_ms, second_ms),
        })
    }
}

/// Degree to which the ratios of two runs agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// The ratios differ by at most the threshold.
    Closely,
    /// The ratios differ by more, but their intervals overlap: neither run says that the other's
    /// ratio is wrong.
    WithinIntervals,
    /// Neither.
    Not,
}

/// Method by which processor time was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Time of operations in the subject's own processes.
    InProcess,
    /// Time of operations in the subject's own processes that mostly wait, for a disk or for other
    /// threads.
    Waiting,
    /// Time of operations in the subject's own processes, whose threads the system places.
    Unplaced,
    /// Time of operations that include a server's part.
    WithServer,
    /// Time by a whole program's own account.
    Program,
    /// Time of a server under load.
    Load,
}

impl Agreement {
    /// Returns the distance of the second ratio from the first, as a fraction of the first.
    pub fn difference(&self) -> f64 {
        (self.ratios.1.value / self.ratios.0.value - 1.0).abs()
    }

    /// Judges the agreement of the two runs: close if the ratios differ by at most the threshold.
    pub fn verdict(&self, threshold: f64) -> Agreed {
        if self.difference() <= threshold {
            Agreed::Closely
        } else if self.ratios.0.overlaps(&self.ratios.1) {
            Agreed::WithinIntervals
        } else {
            Agreed::Not
        }
    }
}

/// Ratio of a subject to its base in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Name of the result.
    pub identity: Identity,
    /// The subject that it is compared with.
    pub base: String,
    /// The ratio of processor time an operation.
    pub ratio: Interval,
}

/// Returns all ratios of a run, in the order of its results.
pub fn compared(run: &RunRecord) -> Vec<Compared> {
    let compared = |(of, to): (&ResultRecord, &ResultRecord)| {
        Some(Compared {
            identity: of.identity.clone(),
            base: to.identity.subject.clone(),
            ratio: ratio(of, to)?.0,
        })
    };
    beside_base(run).filter_map(compared).collect()
}

/// Returns the ratios that both runs have, in the order of the first run.
pub fn agreements(first: &RunRecord, second: &RunRecord) -> Vec<Agreement> {
    let mut again: HashMap<&Identity, &ResultRecord> = HashMap::new();
    for result in &second.results {
        again.entry(&result.identity).or_insert(result);
    }
    beside_base(first)
        .filter_map(|(of, to)| {
            let find = |wanted: &ResultRecord| again.get(&wanted.identity).copied();
            let (ratio, by) = ratio(of, to)?;
            let (of_again, to_again) = (find(of)?, find(to)?);
            let (again, _) = self::ratio(of_again, to_again)?;
            let both = [(of, of_again), (to, to_again)];
            let in_both = |what| (says(of, what), says(of_again, what));
            let polls = |result: &ResultRecord| result.load().is_some_and(LoadOutcome::polls);
            Some(Agreement {
                identity: of.identity.clone(),
                base: to.identity.subject.clone(),
                by,
                ratios: (ratio, again),
                slices: both
                    .into_iter()
                    .filter_map(|(first, second)| SlicesDiffer::of(first, second))
                    .collect(),
                awake: in_both(|costs| costs.awake),
                ordinary: in_both(|costs| costs.ordinary),
                polled: (polls(of), polls(of_again)),
                moved: of.moved_until(of_again),
                waited: both
                    .into_iter()
                    .filter_map(|(first, second)| WaitsDiffer::of(first, second))
                    .max_by(|one, other| one.by().total_cmp(&other.by())),
            })
        })
        .collect()
}

/// Applies a predicate to the costs of a result; false if it has none.
fn says(result: &ResultRecord, what: fn(&Costs) -> bool) -> bool {
    result.costs.as_ref().is_some_and(what)
}

/// Spread of a ratio over the starts of a run's processes.
#[derive(Clone, Debug, PartialEq)]
pub struct StartsOf {
    /// Name of the result.
    pub identity: Identity,
    /// Method of the measurement.
    pub by: Measured,
    /// Ratios of the starts, in order.
    pub starts: Starts,
}

/// Returns the start variance of each ratio of a run, in the order of its results. Whole programs
/// are left out, because each of their rounds is a start.
pub fn starts(run: &RunRecord) -> Vec<StartsOf> {
    let of = |(of, to): (&ResultRecord, &ResultRecord)| {
        let starts = match (&of.outcome, &to.outcome) {
            (Outcome::Load(of), Outcome::Load(to)) => of.starts(to, |round| round.cpu_ns())?,
            _ => {
                let (own, base) = (of.costs.as_ref()?, to.costs.as_ref()?);
                own.starts(base, |round| Some(round.both_ns()))?
            }
        };
        Some(StartsOf {
            identity: of.identity.clone(),
            by: ratio(of, to)?.1,
            starts,
        })
    };
    beside_base(run).filter_map(of).collect()
}

/// Returns the results that have another result as base, each with its base.
fn beside_base(run: &RunRecord) -> impl Iterator<Item = (&ResultRecord, &ResultRecord)> {
    let bases = Bases::of(run);
    let beside = move |of| {
        let base = bases.base(of)?;
        (base.identity != of.identity).then_some((of, base))
    };
    run.results.iter().filter_map(beside)
}

/// Index of a run's results, to find the base of each.
#[derive(Clone, Debug)]
pub struct Bases<'r> {
    /// The results of each operation under each policy and placement, in the order of the run.
    beside: HashMap<Operation<'r>, Vec<&'r ResultRecord>>,
    compare: Compare,
}

/// Test, argument, policy and placement.
type Operation<'r> = (&'r str, Option<u64>, &'r str, &'r str);

fn operation(identity: &Identity) -> Operation<'_> {
    let Identity {
        test,
        arg,
        policy,
        placement,
        ..
    } = identity;
    (test, *arg, policy, placement)
}

impl<'r> Bases<'r> {
    /// Builds the index by the text of the run's suite.
    pub fn of(run: &'r RunRecord) -> Self {
        // A suite that cannot be read any more says nothing else than most do.
        let suite = Suite::parse(&run.suite, &run.suite_toml);
        Self::by(run, suite.map(|suite| suite.compare).unwrap_or_default())
    }

    /// Builds the index for a known `compare` key.
    pub fn by(run: &'r RunRecord, compare: Compare) -> Self {
        let mut beside: HashMap<Operation<'r>, Vec<&'r ResultRecord>> = HashMap::new();
        for result in &run.results {
            let operation = operation(&result.identity);
            beside.entry(operation).or_default().push(result);
        }
        Bases { beside, compare }
    }

    /// Returns the first comparable result of the same test, argument, policy, placement and
    /// database. It may be the result itself.
    pub fn base(&self, of: &ResultRecord) -> Option<&'r ResultRecord> {
        let same = |result: &&ResultRecord| {
            let (own, other) = (&of.identity, &result.identity);
            server(result) == server(of)
                && self.compare.allows(&own.subject, &other.subject)
                && ratio(of, result).is_some()
        };
        let beside = self.beside.get(&operation(&of.identity))?;
        beside.iter().copied().find(same)
    }
}

/// Returns the database server of a result.
fn server(result: &ResultRecord) -> Option<&str> {
    let held = result.costs.as_ref()?.held.first()?;
    Some(held.server.as_ref()?.name.as_str())
}

/// Returns the ratio of two results' processor time an operation, paired within rounds.
fn ratio(of: &ResultRecord, to: &ResultRecord) -> Option<(Interval, Measured)> {
    let (ratio, by) = match (&of.outcome, &to.outcome) {
        (Outcome::Program { runs: of, .. }, Outcome::Program { runs: to, .. }) => {
            let ratio = run_ratio(of, to, &RunFigure::CpuPerOperation)?;
            (ratio, Measured::Program)
        }
        (Outcome::Load(of), Outcome::Load(to)) => {
            (of.ratio(to, |round| round.cpu_ns())?, Measured::Load)
        }
        _ => {
            let ratio = of
                .costs
                .as_ref()?
                .ratio(to.costs.as_ref()?, |round| Some(round.both_ns()))?;
            let waits = |result: &ResultRecord| result.costs.as_ref().is_some_and(Costs::waits);
            let by = match server(of) {
                Some(_) => Measured::WithServer,
                None if waits(of) || waits(to) => Measured::Waiting,
                None if of.identity.placement == "free" => Measured::Unplaced,
                None => Measured::InProcess,
            };
            (ratio, by)
        }
    };
    (ratio.value > 0.0).then_some((ratio, by))
}
