//! How well two runs of a suite agree in what they say of languages: ratios of processor time an operation, of each subject to what it is
//! compared with in the same test (the first subject, or its first variant: the suite's key `compare`), in the one run and in the other.

use crate::record::{
    Apart, Costs, Identity, LoadOutcome, LoadRound, Outcome, ResultRecord, RunRecord, Starts,
    original_of,
};
use crate::suite::{Compare, Suite};
use antiphon_measure::{Interval, RunFigure, run_ratio};

/// Servers whose threads wait so much oftener a request in one run than in another are measured in two states: to be woken costs about as much as to answer.
const WAITED: f64 = 0.2;

/// Two runs should agree within so much.
pub const WANTED: f64 = 0.03;

/// A ratio in two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Of what.
    pub identity: Identity,
    /// The subject that it is compared with.
    pub base: String,
    /// How it was measured.
    pub by: Measured,
    /// The ratio in the first run, and in the second, with their intervals.
    pub ratios: (Interval, Interval),
    /// Of the two subjects those whose slices were not as long in the one run as in the other.
    pub slices: Vec<SlicesDiffer>,
    /// Whether processors were kept awake while turns waited, in the first run and in the second; the same of both where it has no part in the ratio.
    pub awake: (bool, bool),
    /// Whether the subject's turns were ordinary where those of others were in real time, in the first run and in the second.
    pub ordinary: (bool, bool),
    /// Whether the generator polled while it waited, in the first run and in the second.
    pub polled: (bool, bool),
    /// How far apart the processors of server and generator were in the first run, and in the second, where that differs.
    pub moved: Option<(Apart, Apart)>,
    /// Which of the two servers waited more often in the one run than in the other, if one did.
    pub waited: Option<WaitsDiffer>,
}

/// A server whose threads waited more often for a request in one run than in another. What it takes to be woken is part of what a request costs.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitsDiffer {
    /// `name/variant`.
    pub subject: String,
    /// Voluntary context switches a request in the first run, and in the second.
    pub a_request: (f64, f64),
}

impl WaitsDiffer {
    fn of(first: &ResultRecord, second: &ResultRecord) -> Option<WaitsDiffer> {
        let waits = |result: &ResultRecord| Some(result.load()?.told(LoadRound::voluntary)?.value);
        let differ = WaitsDiffer {
            subject: first.identity.subject.clone(),
            a_request: (waits(first)?, waits(second)?),
        };
        (differ.by() > WAITED).then_some(differ)
    }

    /// By how much.
    pub fn by(&self) -> f64 {
        (self.a_request.0 - self.a_request.1).abs()
    }
}

/// A subject whose slices were not as long in the one run as in the other. Its figures differ in kind: long slices hold what its run-time does in bursts, such as
/// collecting what was thrown away, and short ones mostly do not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlicesDiffer {
    /// `name/variant`.
    pub subject: String,
    /// How much of a processor they were to use in the first run, and in the second, ms; `None` where they were as in most subjects.
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

/// How the ratios of two runs agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreed {
    /// They differ by no more than the threshold.
    Closely,
    /// They differ by more, and their intervals overlap: neither run says that the other's ratio is wrong.
    WithinIntervals,
    /// Neither.
    Not,
}

/// How processor time was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Of operations in the subject's own processes.
    InProcess,
    /// Of operations in the subject's own processes that mostly wait, for a disk or for other threads.
    Waiting,
    /// Of operations in the subject's own processes, whose threads the system puts on processors.
    Unplaced,
    /// Of operations that a server has a part in.
    WithServer,
    /// By a whole program's own account.
    Program,
    /// Of a server under load.
    Load,
}

impl Agreement {
    /// How far the second ratio is off the first, as a part of it.
    pub fn difference(&self) -> f64 {
        (self.ratios.1.value / self.ratios.0.value - 1.0).abs()
    }

    /// How the two runs agree, where ratios should differ by no more than the threshold.
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

/// What a run says of a subject beside another.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Of what.
    pub identity: Identity,
    /// The subject that it is compared with.
    pub base: String,
    /// The ratio of processor time an operation.
    pub ratio: Interval,
}

/// All ratios of a run, in the order of its results.
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

/// The ratios that both runs have, in the order of the first.
pub fn agreements(first: &RunRecord, second: &RunRecord) -> Vec<Agreement> {
    beside_base(first)
        .filter_map(|(of, to)| {
            let find = |wanted: &ResultRecord| {
                second
                    .results
                    .iter()
                    .find(|result| result.identity == wanted.identity)
            };
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

/// What the costs of a result say, if it has any.
fn says(result: &ResultRecord, what: fn(&Costs) -> bool) -> bool {
    result.costs.as_ref().is_some_and(what)
}

/// What the starts of a run's processes say of a ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct StartsOf {
    /// Of what.
    pub identity: Identity,
    /// How it was measured.
    pub by: Measured,
    /// One after the other.
    pub starts: Starts,
}

/// What the starts of a run say, ratio by ratio, in the order of its results; nothing of whole programs, of which each round is a start.
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

/// The results that are compared with another, each with that.
fn beside_base(run: &RunRecord) -> impl Iterator<Item = (&ResultRecord, &ResultRecord)> {
    let bases = Bases::of(run);
    let beside = move |of| {
        let base = bases.base(of)?;
        (base.identity != of.identity).then_some((of, base))
    };
    run.results.iter().filter_map(beside)
}

/// What the results of a run are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Bases<'r> {
    run: &'r RunRecord,
    compare: Compare,
}

impl<'r> Bases<'r> {
    /// As the run's suite says, whose text it reads.
    pub fn of(run: &'r RunRecord) -> Self {
        // A suite that cannot be read any more says nothing else than most do.
        let suite = Suite::parse(&run.suite, &run.suite_toml);
        Self::by(run, suite.map(|suite| suite.compare).unwrap_or_default())
    }

    /// The same where it is known what the suite says.
    pub fn by(run: &'r RunRecord, compare: Compare) -> Self {
        Bases { run, compare }
    }

    /// The first result of the same test, argument, policy and placement that uses the same database, which may be the result itself.
    pub fn base(&self, of: &ResultRecord) -> Option<&'r ResultRecord> {
        let same = |result: &&ResultRecord| {
            let (own, other) = (&of.identity, &result.identity);
            own.is_beside(other)
                && server(result) == server(of)
                && self.compare.allows(&own.subject, &other.subject)
                && ratio(of, result).is_some()
        };
        self.run.results.iter().find(same)
    }
}

/// The database server of a result.
fn server(result: &ResultRecord) -> Option<&str> {
    let held = result.costs.as_ref()?.held.first()?;
    Some(held.server.as_ref()?.name.as_str())
}

/// The ratio of two results' processor time an operation, paired within rounds.
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
