//! Costs of an operation beside its time: processor time of subject and database, and the memory of
//! both afterwards. Also the disturbance of a measurement by other programs.

use super::ratio::{Starts, Within, slowed_by, times, widened};
use super::{calm, ratio};
use antiphon_measure::{Interval, median_interval};
use serde::{Deserialize, Serialize};

/// Above this part of the processors' time others disturbed a measurement.
const FOREIGN_MUCH: f64 = 0.1;

/// Two steps of the kernel's account of processors, ns: the possible error of two readings.
const STEPS_NS: f64 = 20e6;

/// Ratio of an operation's time to its processor time from which it mostly waits, for a disk or for
/// other threads.
const WAITS: f64 = 4.0;

/// Possible relative error of a processor time ratio between operations that wait.
///
/// A woken thread's use of the processor depends on its sleep, because others use the caches
/// meanwhile. The same statement used 45 µs and 190 µs in runs an hour apart.
const WAITING: f64 = 0.25;

/// Relative difference of memory between starts of a process, assumed where one start cannot show
/// it.
///
/// Among two and three starts the largest held up to 1 % (Ada) and 19 % (Rust) more than the least.
/// V8's heap differs more (docs/explanation/processor-time.md).
const HELD_STARTS: f64 = 0.25;

/// Memory and threads of a process and all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Proportional memory: shared pages count in parts. It is resident memory if the kernel does
    /// not tell.
    pub pss_bytes: u64,
    /// Sum of the processes' largest resident memories: a shared page counts in each process.
    pub peak_bytes: u64,
    /// Processes; 0 in runs that did not count them.
    #[serde(default)]
    pub processes: u64,
    /// Threads.
    pub threads: u64,
}

impl ServerHeld {
    /// Returns the server's largest resident memory, if it is one process.
    ///
    /// PostgreSQL's many processes share most of their memory, which a sum over them counts once
    /// for each.
    pub fn peak_bytes(&self) -> Option<u64> {
        (self.held.processes == 1).then_some(self.held.peak_bytes)
    }
}

/// Costs of a test, round by round, and the memory held after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The rounds, in the order of time.
    pub rounds: Vec<CostRound>,
    /// Memory held at the end of the test, for each start of the subject's process.
    pub held: Vec<HeldAfter>,
    /// Processor time due to a slice, ms, if the subject's file sets it (`slice_ms`); `None` for
    /// the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_ms: Option<u64>,
    /// Whether the processors were kept awake while turns waited; `false` in runs that did not do
    /// so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awake: bool,
    /// Whether its turns had ordinary priority where those of others were in real time. Its
    /// run-time then looks for other work before it waits for a server. It is `false` in runs that
    /// treated all alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordinary: bool,
    /// Use of the processors by others during its turns, for each start; empty in runs that did not
    /// watch them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Foreign>,
}

/// A round, in which compared subjects have a turn each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostRound {
    /// The start of the subject's process, from 0.
    pub start: u32,
    /// Its number in that start, from 0.
    pub round: u32,
    /// Iterations of the test, and as many of its control.
    pub iterations: u64,
    /// Processor time of the subject's processes an operation, test less control, ns.
    pub subject_ns: f64,
    /// Processor time of the database server's processes an operation, ns; `None` without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_ns: Option<f64>,
    /// Elapsed time of an operation, ns, including its control's; 0 in runs that did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wall_ns: f64,
    /// Time of an operation by the subject's own clock, test less control, ns; `None` in runs that
    /// did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    /// Possible error of both times, ns, because the kernel accounts for ended children in steps; 0
    /// if none ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub step_ns: f64,
    /// Relative slowness of the processors against their fast state; 0 in runs that did not keep
    /// it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slowed: f64,
    /// Memory of the subject's processes after it that no file backs; 0 if it was not read.
    ///
    /// Pages of files are left out, because other processes share them: their part of a page
    /// changes when such a process begins or ends.
    /// Virtual machines are not read, because their heaps grow to a limit before any collection.
    #[serde(default, skip_serializing_if = "is_none_held")]
    pub held_bytes: u64,
    /// Growth of held memory since the first round of its start in memory that was reserved by
    /// then, such as a buffer.
    ///
    /// It counts only private mappings of at most 16 MiB that still exist unchanged after the last
    /// round.
    #[serde(default, skip_serializing_if = "is_none_held")]
    pub walked_bytes: u64,
    /// Attempts at the turn, until nothing slowed the processors. Memory grows by the work of all
    /// attempts. It is 1 in runs that took each turn once.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub taken: u32,
}

fn once() -> u32 {
    1
}

fn is_once(taken: &u32) -> bool {
    *taken == 1
}

fn is_none_held(bytes: &u64) -> bool {
    *bytes == 0
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl CostRound {
    /// Returns the processor time of subject and server together per operation, ns.
    pub fn both_ns(&self) -> f64 {
        self.subject_ns + self.server_ns.unwrap_or_default()
    }
}

/// Memory held after a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldAfter {
    /// The start of the subject's process, from 0.
    pub start: u32,
    /// Memory of the subject.
    pub subject: Held,
    /// Memory of the database server; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerHeld>,
}

/// Memory of a database server, which serves all subjects of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerHeld {
    /// Name of the server.
    pub name: String,
    /// Memory that it held.
    pub held: Held,
}

/// Returns the median over starts of memory, with an interval; `None` of no starts. A single start
/// gets an interval that covers the likely difference of other starts.
pub(super) fn memory_of(starts: &[f64]) -> Option<Interval> {
    let held = median_interval(starts)?;
    Some(match held.limits() {
        None => widened(exactly(held.value), HELD_STARTS * held.value),
        Some(_) => held,
    })
}

impl Costs {
    /// Returns the median of a figure over the rounds in which nothing slowed the processors.
    ///
    /// The interval is wider if too few rounds were calm. `None` if no round has the figure.
    pub fn median(&self, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Interval> {
        Some(widened(self.calm_median(of)?, self.step_ns()))
    }

    /// Returns the time of an operation, ns, as [`median`](Self::median).
    ///
    /// It is taken by the subject's own clock, in slices of milliseconds that follow others of the
    /// same test. `None` in runs that did not keep it.
    pub fn time(&self) -> Option<Interval> {
        self.calm_median(|round| round.time_ns)
    }

    fn calm_median(&self, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Interval> {
        let figure = |round: &CostRound| Some((round.start, round.slowed, of(round)?));
        let (rounds, slowed) = calm::rounds(self.rounds.iter().filter_map(figure).collect());
        let values: Vec<f64> = rounds.into_iter().map(|(_, value)| value).collect();
        Some(slowed_by(median_interval(&values)?, slowed))
    }

    /// Returns the largest error by steps of the kernel's account, ns.
    fn step_ns(&self) -> f64 {
        self.rounds
            .iter()
            .map(|round| round.step_ns)
            .fold(0.0, f64::max)
    }

    /// Checks whether others disturbed most of its starts' turns.
    pub fn was_disturbed(&self) -> bool {
        mostly_disturbed(&self.foreign)
    }

    /// Returns the number of its rounds without a slowed processor.
    pub fn calm_rounds(&self) -> usize {
        let calm = self
            .rounds
            .iter()
            .filter(|round| round.slowed <= calm::CALM);
        calm.count()
    }

    /// Checks whether an operation mostly waits for something other than a processor.
    ///
    /// It compares elapsed and processor time, each of the test less its control. Runs that did not
    /// keep the first use the elapsed time of the whole test.
    pub fn waits(&self) -> bool {
        let median = |of: fn(&CostRound) -> f64| {
            let values: Vec<f64> = self.rounds.iter().map(of).collect();
            median_interval(&values).map_or(0.0, |median| median.value)
        };
        let lasted_ns = |round: &CostRound| round.time_ns.unwrap_or(round.wall_ns);
        median(lasted_ns) > WAITS * median(CostRound::both_ns)
    }

    /// Returns the ratio of a figure to another subject's, over calm rounds that both have.
    ///
    /// It is the ratio of the medians of all starts. The interval covers the difference between
    /// starts, including the part that few starts cannot show. It is wider if either side waits or
    /// too few rounds were calm.
    pub fn ratio(&self, to: &Costs, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Interval> {
        let (rounds, slowed) = self.ratios(to, &of);
        let interval = ratio::over_starts(&rounds, Within::Median)?;
        let part = |costs: &Costs| {
            let value = costs.median(&of).map_or(0.0, |median| median.value);
            if value > 0.0 {
                costs.step_ns() / value
            } else {
                0.0
            }
        };
        let waiting = match self.waits() || to.waits() {
            true => WAITING,
            false => 0.0,
        };
        let steps = Steps {
            of: part(self),
            to: part(to),
        };
        Some(steps.widen(times(interval, (1.0 + waiting) * (1.0 + slowed))))
    }

    /// Returns the ratio of each start; `None` if no round has it.
    pub fn starts(&self, to: &Costs, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Starts> {
        let (rounds, _) = self.ratios(to, &of);
        (!rounds.is_empty()).then(|| Starts::of(&rounds, Within::Median))
    }

    /// Ratios within rounds that count, each with its start, and by how much those were slowed.
    fn ratios(
        &self,
        to: &Costs,
        of: &impl Fn(&CostRound) -> Option<f64>,
    ) -> (Vec<(u32, f64)>, f64) {
        let ratio = |round: &CostRound| {
            let same =
                |other: &&CostRound| (other.start, other.round) == (round.start, round.round);
            let base = to.rounds.iter().find(same)?;
            let base = (base.slowed, of(base)?);
            let ratio = of(round)? / base.1;
            (base.1 > 0.0).then_some((round.start, round.slowed.max(base.0), ratio))
        };
        calm::rounds(self.rounds.iter().filter_map(ratio).collect())
    }

    /// Returns the median over the starts of a number held, without limits for one start. `None` if
    /// nothing was read.
    pub fn held(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Option<Interval> {
        median_interval(&self.each_held(of))
    }

    fn each_held(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Vec<f64> {
        let values = self.held.iter().filter_map(|held| Some(of(held)? as f64));
        values.collect()
    }

    /// Returns the median over the starts of memory, with an interval that covers other starts even
    /// for a single one.
    pub fn memory(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Option<Interval> {
        memory_of(&self.each_held(of))
    }

    /// Returns the median over the starts of threads. A count from one start is taken as exact.
    pub fn threads(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Option<Interval> {
        let held = self.held(of)?;
        Some(match held.limits() {
            None => exactly(held.value),
            Some(_) => held,
        })
    }
}

fn exactly(value: f64) -> Interval {
    Interval {
        value,
        low: value,
        high: value,
    }
}

/// Possible relative errors of both sides of a ratio by the kernel's steps.
struct Steps {
    of: f64,
    to: f64,
}

impl Steps {
    /// Widens a ratio to its extremes, with each side anywhere in its steps. The upper limit is
    /// infinite if the base may be 0.
    fn widen(self, ratio: Interval) -> Interval {
        let least = (1.0 - self.of).max(0.0) / (1.0 + self.to);
        let most = match self.to < 1.0 {
            true => (1.0 + self.of) / (1.0 - self.to),
            false => f64::INFINITY,
        };
        Interval {
            low: ratio.low * if ratio.low > 0.0 { least } else { 1.0 },
            high: ratio.high * most,
            ..ratio
        }
    }
}

/// Use of the processors by others during a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Foreign {
    /// Share of the used processors' time that others had, or for which a quota stopped them. Idle
    /// time, and that of the laboratory and its children, does not count.
    pub share: f64,
    /// The time of that share, ns, in the kernel's steps of 10 ms.
    pub foreign_ns: f64,
    /// Time for which a container's processor quota stopped the measurement, ns; 0 in runs that did
    /// not read it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_ns: f64,
    /// Number of attempts, of which the least disturbed is kept. For a program it is one more than
    /// its repeated runs.
    pub attempts: u32,
}

impl Foreign {
    /// Checks whether others disturbed it: by more than a tenth of the time and more than a
    /// possible error of reading.
    pub fn was_disturbed(&self) -> bool {
        is_disturbance(self.share, self.foreign_ns)
    }
}

/// Checks whether others disturbed more than half of several measurements.
pub fn mostly_disturbed(all: &[Foreign]) -> bool {
    2 * all.iter().filter(|of| of.was_disturbed()).count() > all.len()
}

/// Checks whether use by others disturbs, given as share of the processors' time and in ns.
pub(super) fn is_disturbance(share: f64, foreign_ns: f64) -> bool {
    share > FOREIGN_MUCH && foreign_ns > STEPS_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ratio from equal rounds of one start.
    fn of_one_start(value: f64, rounds: u32) -> Interval {
        let rounds: Vec<(u32, f64)> = (0..rounds).map(|_| (0, value)).collect();
        ratio::over_starts(&rounds, Within::Median).unwrap()
    }

    fn costs(of: &[(u32, u32, f64)]) -> Costs {
        let round = |(start, round, subject_ns): &(u32, u32, f64)| CostRound {
            start: *start,
            round: *round,
            iterations: 1,
            subject_ns: *subject_ns,
            server_ns: None,
            wall_ns: 0.0,
            time_ns: None,
            step_ns: 0.0,
            slowed: 0.0,
            held_bytes: 0,
            walked_bytes: 0,
            taken: 1,
        };
        Costs {
            rounds: of.iter().map(round).collect(),
            ..Costs::default()
        }
    }

    #[test]
    fn rounds_of_a_slowed_processor_do_not_count() {
        // Its neighbour in the core costs the one more than the other.
        let with = |slow: f64, slowed: &dyn Fn(u32) -> f64| {
            let mut costs = costs(&[]);
            for round in 0..30 {
                let slowed = slowed(round);
                let subject_ns = if slowed > 0.0 { slow } else { 10.0 };
                costs.rounds.push(CostRound {
                    round,
                    slowed,
                    ..self::costs(&[(0, 0, subject_ns)]).rounds[0]
                });
            }
            costs
        };
        let of = |round: &CostRound| Some(round.subject_ns);
        let mostly = |round: u32| if round.is_multiple_of(3) { 0.0 } else { 0.5 };
        let ratio = with(14.0, &mostly).ratio(&with(11.0, &mostly), of).unwrap();
        assert_eq!(ratio, of_one_start(1.0, 10));
        assert_eq!(with(14.0, &mostly).median(of).unwrap().value, 10.0);
        // Every round of it is slowed, so the ratio may be off by as much.
        let always = |_: u32| 0.5;
        let ratio = with(14.0, &always).ratio(&with(7.0, &always), of).unwrap();
        assert_eq!(ratio.value, 2.0);
        assert!(ratio.low < 1.34 && ratio.high > 3.0, "{ratio:?}");
    }

    #[test]
    fn the_time_is_that_of_calm_rounds_and_unknown_where_it_was_not_kept() {
        let mut costs = costs(&[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]);
        assert_eq!(costs.time(), None);
        for (round, time_ns) in costs.rounds.iter_mut().zip([30.0, 31.0, 29.0, 90.0]) {
            round.time_ns = Some(time_ns);
            // The kernel's steps are in processor time alone.
            round.step_ns = 1e6;
        }
        costs.rounds[3].slowed = 0.5;
        let time = costs.time().unwrap();
        assert_eq!((time.low, time.value, time.high), (29.0, 30.0, 31.0));
    }

    #[test]
    fn limits_of_a_share_are_above_nothing() {
        // The processors are slowed sixfold, the operation waits, and the kernel's steps are as
        // large as the operation.
        let mut costs = costs(&[(0, 0, 10.0), (0, 1, 11.0)]);
        for round in &mut costs.rounds {
            (round.slowed, round.wall_ns, round.step_ns) = (5.0, 100.0, 10.0);
        }
        let of = |round: &CostRound| Some(round.subject_ns);
        let ratio = costs.ratio(&costs, of).unwrap();
        assert!(ratio.low >= 0.0 && ratio.low < 0.1, "{ratio:?}");
        assert!(ratio.high > 7.0, "{ratio:?}");
        let median = costs.median(of).unwrap();
        assert_eq!((median.low, median.high), (0.0, 11.0 * 6.0 + 10.0));
        // A cost measured below zero is shown as such.
        costs.rounds[0].subject_ns = -1.0;
        assert!(costs.median(of).unwrap().low < -1.0);
    }

    #[test]
    fn ratios_pair_rounds_of_one_start() {
        // The second start's processes, and its second round, were slower for both.
        let of = costs(&[(0, 0, 20.0), (1, 0, 40.0), (1, 1, 400.0)]);
        let to = costs(&[(0, 0, 10.0), (1, 0, 20.0), (1, 1, 200.0), (1, 2, 1.0)]);
        let starts = of.starts(&to, |round| Some(round.subject_ns)).unwrap();
        assert_eq!(starts.medians, [2.0, 2.0]);
        let ratio = of.ratio(&to, |round| Some(round.subject_ns)).unwrap();
        assert!(ratio.value == 2.0 && ratio.half_width() < 0.08, "{ratio:?}");
        assert_eq!(of.ratio(&to, |round| round.server_ns), None);
    }

    #[test]
    fn ratios_of_what_waits_are_less_certain() {
        let with_wall = |wall_ns: f64| {
            let mut costs = costs(&[(0, 0, 10.0), (0, 1, 10.0)]);
            costs
                .rounds
                .iter_mut()
                .for_each(|round| round.wall_ns = wall_ns);
            costs
        };
        let (busy, waiting) = (with_wall(30.0), with_wall(50.0));
        assert!(!busy.waits() && waiting.waits());
        // A control that takes long is no wait.
        let mut beside_control = with_wall(210.0);
        for round in &mut beside_control.rounds {
            round.time_ns = Some(10.0);
        }
        assert!(!beside_control.waits());
        let of = |round: &CostRound| Some(round.subject_ns);
        let ratio = busy.ratio(&busy, of).unwrap();
        assert_eq!(ratio, of_one_start(1.0, 2));
        let ratio = busy.ratio(&waiting, of).unwrap();
        assert_eq!(ratio, times(of_one_start(1.0, 2), 1.0 + WAITING));
    }

    #[test]
    fn one_start_does_not_show_how_far_memory_differs() {
        let held = |bytes: &[u64]| {
            let after = |(start, bytes): (usize, &u64)| HeldAfter {
                start: start as u32,
                subject: Held {
                    pss_bytes: *bytes,
                    ..Held::default()
                },
                server: None,
            };
            let mut costs = costs(&[]);
            costs.held = bytes.iter().enumerate().map(after).collect();
            costs.memory(|held| Some(held.subject.pss_bytes))
        };
        assert_eq!(held(&[1000]), Some(widened(exactly(1000.0), 250.0)));
        let two = held(&[1000, 1200]).unwrap();
        assert_eq!((two.low, two.high), (1000.0, 1200.0));
        assert_eq!(held(&[]), None);
    }

    #[test]
    fn threads_are_counted_and_other_numbers_of_one_start_have_no_limits() {
        let mut costs = costs(&[]);
        costs.held = vec![HeldAfter {
            start: 0,
            subject: Held {
                threads: 7,
                peak_bytes: 1000,
                ..Held::default()
            },
            server: None,
        }];
        let threads = costs.threads(|held| Some(held.subject.threads));
        assert_eq!(threads, Some(exactly(7.0)));
        let peak = costs.held(|held| Some(held.subject.peak_bytes)).unwrap();
        assert_eq!((peak.value, peak.limits()), (1000.0, None));
    }

    #[test]
    fn a_server_of_several_processes_has_no_largest_memory() {
        let peak = |processes| {
            let held = Held {
                peak_bytes: 9,
                processes,
                ..Held::default()
            };
            let name = "a server".to_owned();
            ServerHeld { name, held }.peak_bytes()
        };
        // Of a run that did not count them it is not known.
        assert_eq!((peak(1), peak(7), peak(0)), (Some(9), None, None));
    }

    #[test]
    fn steps_of_the_kernels_account_do_not_disturb() {
        let foreign = |share: f64, foreign_ns: f64| Foreign {
            share,
            foreign_ns,
            stopped_ns: 0.0,
            attempts: 1,
        };
        assert!(!foreign(0.2, 10e6).was_disturbed());
        assert!(!foreign(0.05, 500e6).was_disturbed());
        assert!(foreign(0.2, 30e6).was_disturbed());
    }
}
