//! What an operation costs beside its time: processor time of the subject and of its database, and what both hold afterwards; and how much
//! others disturbed a measurement.

use super::ratio::{Starts, Within, slowed_by, times, widened};
use super::{calm, ratio};
use antiphon_measure::{Interval, median_interval};
use serde::{Deserialize, Serialize};

/// Above this part of the processors' time others disturbed a measurement.
const FOREIGN_MUCH: f64 = 0.1;

/// Two steps of the kernel's account of processors, ns: what may be an error of reading it twice.
const STEPS_NS: f64 = 20e6;

/// An operation that takes so many times its processor time mostly waits, for a disk or for other threads.
const WAITS: f64 = 4.0;

/// How far a ratio of processor times of operations that wait may be off, as a part of it. What an operation uses when it was woken depends on how long
/// it slept, since others have used the caches meanwhile: the same statement was seen to use 45 µs and 190 µs in runs an hour apart.
const WAITING: f64 = 0.25;

/// By how much memory may differ from start to start of a process, as a part of it, where one start shows nothing of that. Of two and three starts the
/// largest held up to 1 % (Ada) and 19 % (Rust) more than the least; V8's heap differs more (docs/method.md, section 10).
const HELD_STARTS: f64 = 0.25;

/// Memory and threads of a process and all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Proportional memory: pages that are shared count in parts. Resident memory where the kernel does not tell.
    pub pss_bytes: u64,
    /// The sum of the processes' largest resident memories: pages that several share count in each of them.
    pub peak_bytes: u64,
    /// Processes; 0 in runs that did not count them.
    #[serde(default)]
    pub processes: u64,
    /// Threads.
    pub threads: u64,
}

impl ServerHeld {
    /// The server's largest resident memory, where it is known to be of one process. PostgreSQL's many share most of theirs, and a sum over them
    /// counts that once for each.
    pub fn peak_bytes(&self) -> Option<u64> {
        (self.held.processes == 1).then_some(self.held.peak_bytes)
    }
}

/// What a test cost, round by round, and what was held after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The rounds, in the order of time.
    pub rounds: Vec<CostRound>,
    /// What was held when the test was over, for each start of the subject's process.
    pub held: Vec<HeldAfter>,
    /// How much of a processor a slice was to use, ms, where the subject's file says it (`slice_ms`); `None` where slices are as in most subjects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice_ms: Option<u64>,
    /// Whether the processors were kept awake while turns waited; `false` in runs that did not do so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awake: bool,
    /// Whether its turns were ordinary where those of others were in real time, since its run-time looks for other work before it waits for a server; `false` in runs in
    /// which all were alike.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordinary: bool,
    /// What others used of the processors while its turns lasted, for each start; empty in runs that did not watch them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<Foreign>,
}

/// One round: subjects that are compared have a turn each.
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
    /// The same of the database server's processes; `None` where there is no server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_ns: Option<f64>,
    /// Time on the wall of an operation, ns, its control's included; 0 in runs that did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wall_ns: f64,
    /// Time of an operation by the subject's own clock, test less control, ns; `None` in runs that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
    /// How far either may be off since the kernel tells in steps what children used that have ended, ns; 0 where none ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub step_ns: f64,
    /// By how much the processors were slower meanwhile than when they were fast, as a part of that; 0 in runs that did not keep it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slowed: f64,
    /// Proportional memory of the subject's processes after it; 0 where it was not read, as of virtual machines, whose heaps grow to their limit before
    /// anything is thrown away.
    #[serde(default, skip_serializing_if = "is_none_held")]
    pub held_bytes: u64,
    /// The part of that by which the subject holds more than after the first round of its start in memory that it had reserved by then, such as a buffer that it
    /// goes through: in private mappings of at most 16 MiB that were as they are after the last round.
    #[serde(default, skip_serializing_if = "is_none_held")]
    pub walked_bytes: u64,
    /// How often the subject took its turn in it until nothing slowed the processors: what it held before grew by that of all of them. 1 in runs that took each turn
    /// once.
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
    /// Processor time of subject and server together an operation, ns.
    pub fn both_ns(&self) -> f64 {
        self.subject_ns + self.server_ns.unwrap_or_default()
    }
}

/// What was held after a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldAfter {
    /// The start of the subject's process, from 0.
    pub start: u32,
    /// By the subject.
    pub subject: Held,
    /// By the database server; `None` where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerHeld>,
}

/// What a database server held, which serves all subjects of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerHeld {
    /// What it is called.
    pub name: String,
    /// What it held.
    pub held: Held,
}

/// The median of what starts held, with an interval that holds what another start may hold where there was one. `None` of none.
pub(super) fn memory_of(starts: &[f64]) -> Option<Interval> {
    let held = median_interval(starts)?;
    Some(match held.limits() {
        None => widened(exactly(held.value), HELD_STARTS * held.value),
        Some(_) => held,
    })
}

impl Costs {
    /// The median of a figure over the rounds in which nothing slowed the processors, with its interval, which is wider where too few were not
    /// slowed; `None` where no round has it.
    pub fn median(&self, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Interval> {
        Some(widened(self.calm_median(of)?, self.step_ns()))
    }

    /// Time of an operation, ns, as [`median`](Self::median): by the subject's own clock, in slices that last for milliseconds and follow others of the same test. `None`
    /// in runs that did not keep it.
    pub fn time(&self) -> Option<Interval> {
        self.calm_median(|round| round.time_ns)
    }

    fn calm_median(&self, of: impl Fn(&CostRound) -> Option<f64>) -> Option<Interval> {
        let figure = |round: &CostRound| Some((round.start, round.slowed, of(round)?));
        let (rounds, slowed) = calm::rounds(self.rounds.iter().filter_map(figure).collect());
        let values: Vec<f64> = rounds.into_iter().map(|(_, value)| value).collect();
        Some(slowed_by(median_interval(&values)?, slowed))
    }

    /// The largest error by steps of the kernel's account, ns.
    fn step_ns(&self) -> f64 {
        self.rounds
            .iter()
            .map(|round| round.step_ns)
            .fold(0.0, f64::max)
    }

    /// Whether others disturbed most of its starts' turns.
    pub fn was_disturbed(&self) -> bool {
        mostly_disturbed(&self.foreign)
    }

    /// How many of its rounds met no slowed processor.
    pub fn calm_rounds(&self) -> usize {
        let calm = self
            .rounds
            .iter()
            .filter(|round| round.slowed <= calm::CALM);
        calm.count()
    }

    /// Whether an operation mostly waits for something else than a processor: test less control by the clock, and by processor time. Runs that did not keep the first
    /// have the time of the whole test for it.
    pub fn waits(&self) -> bool {
        let median = |of: fn(&CostRound) -> f64| {
            let values: Vec<f64> = self.rounds.iter().map(of).collect();
            median_interval(&values).map_or(0.0, |median| median.value)
        };
        let lasted_ns = |round: &CostRound| round.time_ns.unwrap_or(round.wall_ns);
        median(lasted_ns) > WAITS * median(CostRound::both_ns)
    }

    /// The ratio of a figure to another subject's by the rounds that both have, of those in which nothing slowed the processors: that of the
    /// medians of all starts. The interval holds the difference from start to start, also what few starts cannot show of it, and is wider where either waits, and where
    /// too few rounds were not slowed.
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

    /// What each start says of that ratio; `None` where no round has it.
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

    /// The median over the starts of a number held; of one start it has no limits. `None` if nothing was read.
    pub fn held(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Option<Interval> {
        median_interval(&self.each_held(of))
    }

    fn each_held(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Vec<f64> {
        let values = self.held.iter().filter_map(|held| Some(of(held)? as f64));
        values.collect()
    }

    /// The same of memory, with an interval that holds what another start may hold where there was one.
    pub fn memory(&self, of: impl Fn(&HeldAfter) -> Option<u64>) -> Option<Interval> {
        memory_of(&self.each_held(of))
    }

    /// The same of threads: a count is what it is, also where one start was counted.
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

/// What the kernel's steps may make of both sides of a ratio, as parts of them.
struct Steps {
    of: f64,
    to: f64,
}

impl Steps {
    /// The farthest that the ratio may be with both sides anywhere in their steps; without an upper limit where its base may be nothing.
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

/// What others used of the processors while something was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Foreign {
    /// The part of the time of the processors in use that neither the laboratory, nor what it started, had and that was not idle.
    pub share: f64,
    /// The same as a time, ns. The kernel tells it in steps of 10 ms.
    pub foreign_ns: f64,
    /// How often it was measured; of the attempts that with the least share is kept. Of a program, one more than its runs that were made again.
    pub attempts: u32,
}

impl Foreign {
    /// Whether others disturbed it: by more than a tenth of the time, and more than an error of reading may be.
    pub fn was_disturbed(&self) -> bool {
        is_disturbance(self.share, self.foreign_ns)
    }
}

/// Whether others disturbed more than half of several measurements.
pub fn mostly_disturbed(all: &[Foreign]) -> bool {
    2 * all.iter().filter(|of| of.was_disturbed()).count() > all.len()
}

/// Whether what others had of the processors, as a part of their time and in ns, disturbs.
pub(super) fn is_disturbance(share: f64, foreign_ns: f64) -> bool {
    share > FOREIGN_MUCH && foreign_ns > STEPS_NS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What rounds of one start that agree say of a ratio.
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
        // Where it was never left alone, the ratio is of a slowed one, and may be off by as much.
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
        // Slowed to six times its time, of what waits, with steps of the kernel's account as large as the operation.
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
        // What was measured below nothing is shown.
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
            attempts: 1,
        };
        assert!(!foreign(0.2, 10e6).was_disturbed());
        assert!(!foreign(0.05, 500e6).was_disturbed());
        assert!(foreign(0.2, 30e6).was_disturbed());
    }
}
