//! Measures the items of a plan, one after the other, in each process start.

mod late;
mod results;
mod unneeded;

use super::attempts::Around;
use super::budget::{Budget, nominal};
use super::measured::Measured;
use super::placement_check::ItemReports;
use super::prepare::Prepared;
use super::process_pool::ProcessPool;
use super::shown::Shown;
use super::work::Claims;
use super::{Event, Item, Laboratory, Options, RunError, Task, contention};
use crate::machine::{self, counters_can_be_read};
use crate::protocol::TestInfo;
use crate::record::{Absence, Identity, Outcome, ResultRecord, WarmUp};
use crate::session::SessionError;
use crate::store::{Raw, Saved, StoreError};
use crate::suite::{Compare, Sizes, Suite};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Part of a limited time that the requested starts leave to further ones, where costs are
/// compared.
const FOR_MORE_STARTS: f64 = 0.25;

/// Part of a row's time for its frames, where costs are compared in a limited time. The time of an
/// operation then comes from its turns, and further starts improve it more.
const PART_OF_FRAMES: f64 = 0.25;

/// Least time of a frame where costs are compared, s: three rounds of turns, and a share of process
/// starts and warm-up.
const LEAST_OF_COSTS: f64 = 0.3;

/// Everything that measuring an item may need.
pub(super) struct Engine<'e, 'l> {
    pub(super) lab: &'e mut Laboratory<'l>,
    pub(super) run: i64,
    pub(super) seed: u64,
    /// Whether the quick sizes are used.
    pub(super) quick: bool,
    pub(super) sizes: Sizes,
    /// Subjects that are measured twice; servers among them are started twice.
    pub(super) twins: Vec<String>,
    pub(super) compare: Compare,
    pub(super) shown: Shown,
    pub(super) items: Vec<Item>,
    /// Tests by subject and name.
    pub(super) tests: HashMap<(String, String), TestInfo>,
    pub(super) processes: ProcessPool,
    /// Share of the time that the system took, by subject and policy.
    pub(super) betas: HashMap<(String, String), f64>,
    pub(super) claims: Claims,
    /// Thread reports of the current item.
    pub(super) reported: ItemReports,
    /// Readings of each item from before the interruption.
    pub(super) stored: Vec<Vec<(u32, Raw)>>,
    results: Vec<Option<ResultRecord>>,
    /// Processes whose last use is the item at a position.
    needed_last: HashMap<usize, Vec<Identity>>,
    /// Whole programs that had their turn.
    pub(super) had_turn: HashSet<usize>,
    starts: u32,
    pub(super) budget: Budget,
    /// Whether the processor's counters count instructions of every frame.
    pub(super) counts_by_processor: bool,
    /// Whether processor time and memory are measured beside frames.
    costs: bool,
    /// The part of a row's time that its frames have.
    part_of_frames: f64,
    /// The tests whose operations mostly wait for a disk.
    pub(super) waits_for_disk: HashSet<String>,
    /// Warm-up of the current item's process.
    pub(super) warm_up: Option<WarmUp>,
    /// Processes that were warmed for a test.
    pub(super) warmed: HashSet<u32>,
    /// Database servers whose clocks are read in turns.
    pub(super) servers: super::costs::Servers,
    /// Speed of the processors.
    pub(super) gauge: super::costs::Gauge,
    /// Probes of the processors in turns.
    pub(super) gauged: Vec<super::costs::Gauged>,
    /// Whether the refusal of higher priorities was reported.
    pub(super) reported_priority: bool,
    /// Whether the refusal of real-time turns was reported.
    pub(super) reported_real_time: bool,
    /// Whether the failure to keep processors awake was reported.
    pub(super) reported_sleep: bool,
    /// Items begun, in all starts.
    begun: usize,
    /// Items to be begun, in all starts.
    all: usize,
    /// Whether the run ends when its time is spent.
    ends_in_time: bool,
    /// Start of the first item.
    pub(super) begun_at: Instant,
    /// Items that the time did not reach for, in all starts.
    late: usize,
}

/// Reason for an item's missing figure.
pub(super) enum Failure {
    /// There is no figure, and this is its absence.
    Absent(Absence),
    /// The user ended the run before there was one.
    Interrupted,
    /// The run cannot go on.
    Fatal(Box<RunError>),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Fatal(Box::new(error.into()))
    }
}

/// Runs the plan. With `saved`, goes on where that run stopped.
pub(super) fn execute(
    lab: &mut Laboratory<'_>,
    run: i64,
    suite: &Suite,
    options: &Options,
    prepared: Prepared,
    saved: Option<Saved>,
) -> Result<(), RunError> {
    let (before, began) = (machine::taken(), Instant::now());
    let mut engine = Engine::new(lab, run, suite, options, prepared, saved);
    // The laboratory itself has priority for the whole run. It asks hundreds of times a second, and
    // would otherwise queue each time.
    let first = engine.costs.then(super::first::OwnSession::put_first);
    engine.announce();
    for start in 0..engine.starts {
        for position in 0..engine.items.len() {
            if engine.leaves_out(position, start) {
                continue;
            }
            engine.item(position, start)?;
            if engine.costs {
                super::costs::after(&mut engine, position, start)?;
            }
            engine.end_whom_nothing_needs(position, start);
            engine.tell_warnings()?;
        }
        super::costs::tell_how_slow(&mut engine)?;
        engine.processes.end(start);
    }
    if engine.costs {
        super::costs::go_on(&mut engine)?;
        engine.tell_warnings()?;
    }
    drop(first);
    for text in contention::warnings(&machine::taken().since(before), began.elapsed()) {
        engine.warn(&text)?;
    }
    super::work::check(&mut engine)?;
    if options.count_instructions {
        super::instruction_counts::ask(&mut engine, options)?;
    }
    let interrupted = engine.interrupted();
    if !interrupted && engine.tell_left_out() {
        lab.store.finish(run)?;
    }
    lab.observer.event(Event::Ended { run, interrupted });
    Ok(())
}

impl<'e, 'l> Engine<'e, 'l> {
    fn new(
        lab: &'e mut Laboratory<'l>,
        run: i64,
        suite: &Suite,
        options: &Options,
        prepared: Prepared,
        saved: Option<Saved>,
    ) -> Self {
        let sizes = suite.sizes(options.quick);
        let hang_limit = Duration::from_secs_f64(options.hang_limit_s.clamp(0.1, 3600.0));
        let count = prepared.items.len();
        let (stored, record) = match saved {
            Some(saved) => (saved.raw, Some(saved.record)),
            None => (vec![Vec::new(); count], None),
        };
        let mut earlier: HashMap<_, _> = record
            .into_iter()
            .flat_map(|record| record.results)
            .map(|result| (result.identity.clone(), result))
            .collect();
        let results = prepared
            .items
            .iter()
            .map(|item| earlier.remove(&item.identity))
            .collect();
        let mut engine = Engine {
            run,
            seed: options.seed,
            quick: options.quick,
            sizes,
            twins: suite.measured_twice(options.quick),
            compare: suite.compare,
            shown: Shown::of(suite),
            tests: prepared.tests,
            processes: ProcessPool::new(prepared.builds, hang_limit),
            betas: HashMap::new(),
            claims: Claims::default(),
            reported: ItemReports::default(),
            stored,
            results,
            needed_last: unneeded::needed_last(&prepared.items),
            had_turn: HashSet::new(),
            starts: options.starts.unwrap_or(sizes.runs).clamp(1, 1000) as u32,
            budget: Budget::new(None, 0.0),
            counts_by_processor: options.count_instructions && counters_can_be_read(),
            costs: suite.costs,
            part_of_frames: match options.time_budget_s {
                Some(_) if suite.costs => PART_OF_FRAMES,
                _ => 1.0,
            },
            waits_for_disk: suite.waits_for_disk(),
            warm_up: None,
            warmed: HashSet::new(),
            servers: super::costs::Servers::default(),
            gauge: super::costs::Gauge::default(),
            gauged: Vec::new(),
            reported_priority: false,
            reported_real_time: false,
            reported_sleep: false,
            begun: 0,
            all: 0,
            // Rows of a quick run are few, and the suite's own budget only shortens them.
            ends_in_time: options.time_budget_s.is_some() && !options.quick,
            late: 0,
            begun_at: Instant::now(),
            items: prepared.items,
            lab,
        };
        engine.processes.starts_first = engine.costs;
        engine.set_budget(options.time_budget_s.or(sizes.seconds));
        if options.time_budget_s.is_some() && engine.goes_on_for_all_its_time() {
            engine.budget.fill();
        }
        engine.claim_stored();
        engine
    }

    /// Adds results from before an interruption to the check of equal work.
    fn claim_stored(&mut self) {
        let mut claims = std::mem::take(&mut self.claims);
        for (position, item) in self.items.iter().enumerate() {
            for (_, raw) in &self.stored[position] {
                if let Raw::Batch { batch, .. } = raw {
                    claims.note(self.test(item), item, position, batch);
                }
            }
        }
        self.claims = claims;
    }

    fn set_budget(&mut self, total: Option<f64>) {
        let (mut seconds, mut least) = (0.0, 0.0);
        for start in 0..self.starts {
            for position in 0..self.items.len() {
                if self.is_due(position, start) {
                    self.all += 1;
                    let task = &self.items[position].task;
                    seconds += nominal(task, self.part(task) * self.sizes.seconds_per_row);
                    if self.costs && *task == Task::Frame {
                        seconds += super::costs::nominal(self, position);
                        least += LEAST_OF_COSTS;
                    }
                }
            }
        }
        self.budget = Budget::new(total, seconds);
        self.budget.take_at_least(least);
        if self.costs {
            // Further starts show more of the difference between starts than longer ones do.
            self.budget.keep_back(FOR_MORE_STARTS);
        }
    }

    /// Returns the part of a row's time that a task has.
    fn part(&self, task: &Task) -> f64 {
        match task {
            Task::Frame => self.part_of_frames,
            _ => 1.0,
        }
    }

    /// Checks whether time beyond the suite's brings more rounds and starts.
    fn goes_on_for_all_its_time(&self) -> bool {
        let is_load = |item: &Item| matches!(item.task, Task::Load(_));
        self.costs || self.items.iter().any(is_load)
    }

    /// Starts that each item was asked to have.
    pub(super) fn starts(&self) -> u32 {
        self.starts
    }

    fn announce(&mut self) {
        let repeated = self.items.iter().filter(|item| item.task.is_repeated());
        let measurements = self.items.len() + (self.starts as usize - 1) * repeated.count();
        self.tell(Event::Planned {
            run: self.run,
            items: self.items.len(),
            starts: self.starts,
            measurements,
            measured: measurements - self.all,
            seconds: self.budget.seconds_left(),
        });
        for result in self.results.iter().flatten() {
            if let Outcome::Interference(interference) = &result.outcome {
                let identity = &result.identity;
                let whose = (identity.subject.clone(), identity.policy.clone());
                self.betas.insert(whose, interference.beta);
            }
        }
    }

    fn item(&mut self, position: usize, start: u32) -> Result<(), RunError> {
        if self.interrupted() || !self.is_due(position, start) {
            return Ok(());
        }
        if let Task::Program { .. } = &self.items[position].task {
            self.processes.rest();
            return super::programs::take_turns(self, position);
        }
        if let Task::Load(_) = &self.items[position].task {
            self.processes.rest();
            return super::load::take_turns(self, position);
        }
        // An item that failed in an earlier start of this run would fail again.
        let item = self.items[position].clone();
        let failed_before = start > 0
            && self.results[position]
                .as_ref()
                .is_some_and(|result| result.outcome.is_absent());
        self.tell_started(&item);
        let begun = Instant::now();
        let share = self.budget.share();
        let part = self.part(&item.task);
        if !failed_before {
            let share = self.budget.share_of(part);
            match super::attempts::measure(self, position, start, share) {
                Ok((measured, around)) => self.keep(position, start, measured, around)?,
                Err(Failure::Absent(absence)) => {
                    let measured = Measured::Other(absence.into());
                    self.keep(position, start, measured, Around::default())?
                }
                Err(Failure::Interrupted) => {}
                Err(Failure::Fatal(error)) => return Err(*error),
            }
        }
        let nominal = nominal(&item.task, part * self.sizes.seconds_per_row);
        self.budget
            .spent(nominal, share, begun.elapsed().as_secs_f64());
        self.tell_own_output();
        Ok(())
    }

    /// Reports the beginning of an item.
    pub(super) fn tell_started(&mut self, item: &Item) {
        self.tell(Event::Started {
            item,
            position: self.begun,
            of: self.all,
            seconds_left: self.budget.seconds_left(),
        });
        self.begun += 1;
    }

    /// Reports the beginning of an unplanned item.
    pub(super) fn tell_started_again(&mut self, item: &Item) {
        self.all += 1;
        self.tell_started(item);
    }

    /// Measures an item once.
    pub(super) fn measure(
        &mut self,
        position: usize,
        start: u32,
        share: f64,
    ) -> Result<Measured, Failure> {
        let task = self.items[position].task.clone();
        self.reported = ItemReports::default();
        let other = |outcome: Result<Outcome, Failure>| outcome.map(Measured::Other);
        match task {
            Task::Frame => {
                let estimate = super::frames::measure(self, position, start, share)?;
                Ok(Measured::Frame(Box::new(estimate)))
            }
            Task::DelayCurve { points, seconds } => other(super::delays::measure(
                self,
                position,
                &points,
                seconds * share,
            )),
            Task::Clock { count, unit } => {
                other(super::readings::clock(self, position, count, &unit))
            }
            Task::Interference { seconds } => other(super::readings::interference(
                self,
                position,
                seconds * share,
            )),
            Task::Latency { count, interval_ns } => {
                other(super::readings::latency(self, position, count, interval_ns))
            }
            Task::Series {
                count,
                memory_limit_mib,
            } => other(super::readings::series(
                self,
                position,
                count,
                memory_limit_mib,
            )),
            Task::Absent(absence) => Ok(Measured::Other(absence.into())),
            Task::Program { .. } | Task::Load(_) => {
                unreachable!("whole programs and servers take turns, all at once")
            }
        }
    }

    /// Returns the subject's description of the item's test.
    pub(super) fn test(&self, item: &Item) -> Option<&TestInfo> {
        let name = (item.identity.subject.clone(), item.identity.test.clone());
        self.tests.get(&name)
    }

    /// Handles the answer of a request: notes the state of the process, and turns an error into the
    /// item's absence.
    pub(super) fn took<T>(
        &mut self,
        position: usize,
        start: u32,
        answer: Result<T, SessionError>,
    ) -> Result<T, Failure> {
        let identity = &self.items[position].identity;
        match answer {
            Ok(value) => {
                self.processes.went_well(identity, start);
                Ok(value)
            }
            Err(error) => Err(Failure::Absent(
                self.processes.failed(identity, start, &error),
            )),
        }
    }

    /// Returns an item's absence from the error of its separate process.
    pub(super) fn own_failed(error: &SessionError) -> Failure {
        Failure::Absent(Absence::of_session(error))
    }

    pub(super) fn interrupted(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }

    pub(super) fn tell(&mut self, event: Event<'_>) {
        self.lab.observer.event(event);
    }

    /// Reports a refusal and stores it, because later readers of the figures must know it, too.
    pub(super) fn warn(&mut self, text: &str) -> Result<(), RunError> {
        self.lab.store.warn(self.run, text)?;
        self.tell(Event::Warning(text));
        Ok(())
    }

    /// Reports subjects that could not be stopped.
    fn tell_warnings(&mut self) -> Result<(), RunError> {
        let warnings = self.processes.take_warnings();
        warnings.iter().try_for_each(|text| self.warn(text))
    }

    fn tell_own_output(&mut self) {
        for (subject, line) in self.processes.take_own_output() {
            self.tell(Event::OwnOutput {
                subject: &subject,
                line: &line,
            });
        }
    }
}
