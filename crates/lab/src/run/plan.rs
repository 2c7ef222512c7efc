//! The plan: which items a run has, in the order in which they are measured.

use super::selection::{Selection, groups};
use super::tasks::{load_task, program_task, test_task};
use super::{Options, RunError};
use crate::record::{Absence, Identity, LoadTask, original_of};
use crate::session::Listing;
use crate::suite::{Group, Instance, Placed, Row, RowKind, Suite};
use serde::{Deserialize, Serialize};

/// One thing to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The name of its result.
    pub identity: Identity,
    /// The id of its group in the suite.
    pub group: String,
    /// Its label in the suite.
    pub label: String,
    /// Measurement to make.
    pub task: Task,
}

/// Measurement of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// Batches of slices.
    Frame,
    /// A latency series.
    Latency {
        /// Operations.
        count: u64,
        /// Intended distance of their starts, ns.
        interval_ns: u64,
    },
    /// A storage loop in a separate process.
    Series {
        /// Turns at most.
        count: u64,
        /// Limit of the process's memory, MiB.
        memory_limit_mib: Option<u64>,
    },
    /// Readings of a clock.
    Clock {
        /// Readings.
        count: u64,
        /// `ns` or `ticks`.
        unit: String,
    },
    /// A long series of readings of the subject's own clock.
    Interference {
        /// Its length, s.
        seconds: f64,
    },
    /// Frames with one requested delay after the other.
    DelayCurve {
        /// The requested delays, ns.
        points: Vec<u64>,
        /// Time for the whole curve, s.
        seconds: f64,
    },
    /// Whole runs of a program.
    Program {
        /// Its name in its subject.
        program: String,
        /// Its arguments. Programs of a group with the same ones take turns.
        arguments: Vec<String>,
        /// Time after which a run counts as hanging, s.
        limit_s: u64,
        /// Number of rounds; as many as the time permits if not given.
        rounds: Option<u64>,
    },
    /// Load on a server.
    Load(LoadTask),
    /// Nothing can be done, for this reason.
    Absent(Absence),
}

impl Task {
    pub(super) fn absent(reason: impl Into<String>, help: impl Into<String>) -> Task {
        Task::Absent(Absence::new(reason, help))
    }

    /// Returns the phase of a task. Clocks come first, because frames depend on them, then the
    /// system's interference, then all else.
    pub(super) fn phase(&self) -> u8 {
        match self {
            Task::Clock { .. } => 0,
            Task::Interference { .. } => 1,
            _ => 2,
        }
    }

    /// Checks whether it is measured in every process start; all else is measured in the first one.
    pub(super) fn is_repeated(&self) -> bool {
        matches!(self, Task::Frame)
    }
}

/// A subject's abilities, or the reason for their absence.
pub(super) struct Known {
    /// `name/variant`.
    pub(super) id: String,
    /// Its listing, or why there is none: it could not be built or started.
    pub(super) listing: Result<Listing, Absence>,
}

/// Permissions of the machine.
pub(super) struct Permitted {
    /// Permission for FIFO, or the reason against it.
    pub(super) fifo: Result<(), String>,
    /// Processors that may be used.
    pub(super) processors: usize,
}

pub(super) struct Plan {
    pub(super) items: Vec<Item>,
    pub(super) warnings: Vec<String>,
}

/// Makes the plan of a run.
pub(super) fn make(
    suite: &Suite,
    options: &Options,
    selection: &Selection<'_>,
    known: &[Known],
    permitted: &Permitted,
) -> Result<Plan, RunError> {
    let mut planner = Planner {
        options,
        selection,
        known,
        permitted,
        plan: Plan {
            items: Vec::new(),
            warnings: selection.unmatched().to_vec(),
        },
    };
    for group in &suite.groups {
        for row in &group.rows {
            planner.row(group, row);
        }
    }
    let mut plan = planner.plan;
    if let Err(why) = &permitted.fifo
        && plan
            .items
            .iter()
            .any(|item| item.group_runs_fifo(suite, options.quick))
    {
        plan.warnings.push(format!(
            "FIFO scheduling is not permitted, so rows that ask for it are measured under `other`: {why}"
        ));
    }
    super::sequence::arrange(&mut plan.items, suite, options, known);
    match plan.items.is_empty() {
        true => Err(nothing(suite, options, selection)),
        false => Ok(plan),
    }
}

fn nothing(suite: &Suite, options: &Options, selection: &Selection<'_>) -> RunError {
    let why = match options.only.is_empty() {
        true => "no subject lists a test of the suite".to_owned(),
        false => {
            let fits = format!(
                "no test or clock that a subject lists fits {}",
                options.only.join(", ")
            );
            let more = selection.unmatched().iter().cloned();
            std::iter::once(fits)
                .chain(more)
                .collect::<Vec<_>>()
                .join("; ")
        }
    };
    RunError::Nothing {
        why,
        help: format!("the suite's groups are {}", groups(suite)),
    }
}

struct Planner<'p> {
    options: &'p Options,
    selection: &'p Selection<'p>,
    known: &'p [Known],
    permitted: &'p Permitted,
    plan: Plan,
}

impl Planner<'_> {
    fn row(&mut self, group: &Group, row: &Row) {
        let mut listed = false;
        let mut wanted = false;
        for instance in self.instances(row) {
            if !self.selection.fits(&group.id, &instance.test) {
                continue;
            }
            for placed in row.runs(self.options.quick) {
                wanted = true;
                // The same row for one subject after the other: a change of the machine hits both.
                for index in 0..self.known.len() {
                    listed |= self.item(group, row, &instance, placed, index);
                }
            }
        }
        if wanted && !listed {
            self.plan.warnings.push(format!(
                "no subject lists the row `{}` of group `{}`: it has no figure",
                row.test, group.id
            ));
        }
    }

    /// Returns the row's tests; for `*` every clock that a subject names.
    fn instances(&self, row: &Row) -> Vec<Instance> {
        if row.test != "*" {
            return row.instances(self.options.quick);
        }
        let listings = self
            .known
            .iter()
            .filter_map(|known| known.listing.as_ref().ok());
        let mut clocks: Vec<Instance> = Vec::new();
        for clock in listings.flat_map(|listing| &listing.clocks) {
            if !clocks.iter().any(|known| known.test == clock.name) {
                let values = vec![("clock".to_owned(), clock.name.clone())];
                clocks.push(Instance {
                    test: clock.name.clone(),
                    label: crate::suite::fill(&row.label, &values),
                    values,
                });
            }
        }
        clocks
    }

    /// Plans one test of one subject; whether the subject has it.
    fn item(
        &mut self,
        group: &Group,
        row: &Row,
        instance: &Instance,
        placed: &Placed,
        index: usize,
    ) -> bool {
        let known = &self.known[index];
        let task = match &known.listing {
            Ok(listing) => self.task(row, instance, placed, listing),
            Err(absence) => Some(Task::Absent(absence.clone())),
        };
        let Some(mut task) = task else { return false };
        if !self.selection.in_subject(row, &known.id) {
            return true;
        }
        if let Some(because) = row.excepts(original_of(&known.id).unwrap_or(&known.id), instance) {
            task = Task::Absent(Absence::not_meant(because));
        }
        let tests = known.listing.iter().flat_map(|listing| &listing.tests);
        let mut of_this = tests.filter(|test| test.name == instance.test);
        let takes_arg = of_this.any(|test| test.arg.is_some());
        let mut policy = placed.policy.as_str();
        if policy == "fifo" && self.permitted.fifo.is_err() {
            policy = "other";
        }
        let identity = Identity {
            test: instance.test.clone(),
            arg: row.arg_of(instance).filter(|_| takes_arg),
            subject: known.id.clone(),
            policy: policy.to_owned(),
            placement: placed.placement.clone(),
        };
        // Without permission for FIFO, `fifo.same` and `other.same` are the same.
        if !self.plan.items.iter().any(|item| item.identity == identity) {
            self.plan.items.push(Item {
                identity,
                group: group.id.clone(),
                label: instance.label.clone(),
                task,
            });
        }
        true
    }

    /// Returns the task of a test; `None` if the subject does not have it.
    fn task(
        &self,
        row: &Row,
        instance: &Instance,
        placed: &Placed,
        listing: &Listing,
    ) -> Option<Task> {
        let quick = self.options.quick;
        let task = match &row.kind {
            RowKind::Clock { count } => {
                let clock = listing
                    .clocks
                    .iter()
                    .find(|clock| clock.name == instance.test)?;
                Task::Clock {
                    count: *count,
                    unit: super::readings::unit_word(clock.unit).to_owned(),
                }
            }
            RowKind::Interference {
                seconds,
                quick_seconds,
            } => Task::Interference {
                seconds: if quick { *quick_seconds } else { *seconds },
            },
            RowKind::Program(row) => program_task(row, instance, listing, quick)?,
            RowKind::Load(row) => load_task(row, instance, listing, quick)?,
            kind => {
                let test = listing
                    .tests
                    .iter()
                    .find(|test| test.name == instance.test)?;
                test_task(kind, row, test, quick)
            }
        };
        if placed.placement == "across" && self.permitted.processors < 2 {
            return Some(Task::absent(
                "placement `across` needs two processors, and one may be used here",
                "give this process another processor (taskset, or the machine's settings)",
            ));
        }
        Some(task)
    }
}

impl Item {
    /// Checks whether its row asks for FIFO.
    fn group_runs_fifo(&self, suite: &Suite, quick: bool) -> bool {
        let rows = suite
            .groups
            .iter()
            .filter(|group| group.id == self.group)
            .flat_map(|group| &group.rows);
        rows.flat_map(|row| row.runs(quick))
            .any(|placed| placed.policy == "fifo")
    }
}
