//! Processes of the subjects: one for each subject, policy and placement in each process start.
//!
//! A process is started at its first use, started again after a failure, and given up after three
//! failures in a row. One process runs at a time, and the others rest. Only at the end, when
//! nothing is measured any more, do those of a start run side by side.

use super::suspend::Suspended;
use super::{analysis, conditions};
use crate::build::Built;
use crate::machine::{FIFO_PRIORITY, chosen_processors};
use crate::record::{Absence, Identity};
use crate::services::Services;
use crate::session::{Launch, Session, SessionError};
use crate::side_by_side::side_by_side;
use antiphon_measure::{ClockFacts, Placement};
use antiphon_runner::{Limits, Policy};
use antiphon_service::Kind;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

/// Failures in a row after which a subject's process is not started again.
const FAILURES: u32 = 3;

/// Readings from which a process's clock facts are taken.
const CLOCK_READINGS: u64 = 20_000;

/// The processors that subjects run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Processors {
    /// The main thread's.
    main: u32,
    /// The partners' under `across`; the main one again where there is no other.
    partner: u32,
}

impl Processors {
    /// Chooses the processors of this machine.
    pub(crate) fn choose() -> Processors {
        let (main, partner) = chosen_processors();
        Processors {
            main: main as u32,
            partner: partner as u32,
        }
    }

    /// Returns the placement of this name.
    pub(crate) fn placement(self, name: &str) -> Placement {
        match name {
            "same" => Placement::Same {
                processor: self.main,
            },
            "across" => Placement::Across {
                main: self.main,
                partner: self.partner,
            },
            _ => Placement::Free,
        }
    }
}

/// Returns the scheduling policy of this name.
fn policy(name: &str) -> Policy {
    match name {
        "fifo" => Policy::Fifo {
            priority: FIFO_PRIORITY,
        },
        _ => Policy::Other,
    }
}

/// Returns a subject's launch under a policy and placement.
pub(crate) fn launch(built: &Built, policy_name: &str, placement: Placement) -> Launch {
    let mut launch = Launch::new(&built.record.id, built.run.clone(), &built.folder);
    launch.env.clone_from(&built.environment);
    launch.policy = policy(policy_name);
    launch.placement = placement;
    launch
}

/// Returns the launch of a build's program with its arguments. An error has the path of the missing
/// program.
pub(crate) fn program_launch(
    built: &Built,
    policy_name: &str,
    placement: Placement,
    program: &str,
    arguments: &[String],
) -> Result<Launch, PathBuf> {
    let mut launch = launch(built, policy_name, placement);
    for word in &mut launch.argv {
        *word = word.replace("{program}", program);
    }
    launch.argv.extend(arguments.iter().cloned());
    let path = launch.argv.first().filter(|first| first.contains('/'));
    match path.map(|first| launch.cwd.join(first)) {
        Some(path) if !path.exists() => Err(path),
        _ => Ok(launch),
    }
}

/// A process: whose, under which policy and placement, and which start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    subject: String,
    policy: String,
    placement: String,
    start: u32,
}

/// State of one process.
#[derive(Default)]
struct PooledProcess {
    live: Option<Live>,
    failures: u32,
    /// Reason why it was given up.
    given_up: Option<String>,
}

/// A process that waits for requests.
pub(super) struct Live {
    pub(super) session: Session<'static>,
    /// The facts of its clock.
    pub(super) clock: ClockFacts,
    /// While it is not in its turn.
    resting: Option<Suspended>,
}

impl Live {
    /// Ends it. The way does not matter to any figure, and the drop kills the rest.
    pub(super) fn end(mut self) {
        conditions::make_ordinary(self.session.process());
        self.resting = None;
        let _ = self.session.quit();
    }
}

/// All processes of a run.
pub(super) struct ProcessPool {
    /// Builds by subject and policy.
    pub(super) builds: HashMap<(String, String), Built>,
    pub(super) processors: Processors,
    /// Time beyond an answer's expected duration.
    pub(super) hang_limit: Duration,
    /// Whether a process has priority during its start. It has in suites whose turns have priority,
    /// too.
    pub(super) starts_first: bool,
    processes: HashMap<Key, PooledProcess>,
    /// Process in its turn; all others rest.
    in_turn: Option<Key>,
    /// Subjects that count context switches themselves.
    counting: HashSet<String>,
    /// After the processes that use them, which are ended first.
    pub(super) services: Services,
    /// Subjects' own output that is not yet reported.
    own_output: Vec<(String, String)>,
    /// Subjects with a process that runs outside its turn, and unreported warnings about them.
    restless: HashSet<String>,
    warnings: Vec<String>,
}

impl ProcessPool {
    pub(super) fn new(
        builds: HashMap<(String, String), Built>,
        hang_limit: Duration,
    ) -> ProcessPool {
        ProcessPool {
            builds,
            processors: Processors::choose(),
            hang_limit,
            starts_first: false,
            processes: HashMap::new(),
            in_turn: None,
            counting: HashSet::new(),
            services: Services::default(),
            own_output: Vec::new(),
            restless: HashSet::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the process for an item, started if necessary. It is in its turn from here on, and
    /// all others rest.
    pub(super) fn live(&mut self, identity: &Identity, start: u32) -> Result<&mut Live, Absence> {
        let key = key(identity, start);
        if self.in_turn.as_ref() != Some(&key) {
            self.rest();
            self.in_turn = Some(key.clone());
        }
        let process = self.processes.entry(key.clone()).or_default();
        if let Some(live) = &mut process.live {
            live.resting = None;
        }
        if let Some(why) = &process.given_up {
            return Err(given_up(identity, why));
        }
        if process.live.is_none() {
            match self.begin(identity, Limits::default()) {
                Ok(live) => {
                    self.place_server(identity);
                    if live.session.hello().counts_switches {
                        self.counting.insert(identity.subject.clone());
                    }
                    self.processes.entry(key.clone()).or_default().live = Some(live);
                }
                Err(error) => return Err(self.failed(identity, start, &error)),
            }
        }
        let live = self
            .processes
            .get_mut(&key)
            .and_then(|process| process.live.as_mut());
        live.ok_or_else(|| given_up(identity, "it could not be started"))
    }

    /// Ends the present turn: no process runs until another item wants it.
    pub(super) fn rest(&mut self) {
        let Some(key) = self.in_turn.take() else {
            return;
        };
        if let Some(process) = self.processes.get_mut(&key)
            && let Some(live) = &mut process.live
        {
            let resting = Suspended::of(live.session.process());
            if let Some(restless) = &resting.restless
                && self.restless.insert(key.subject.clone())
            {
                self.warnings.push(format!("{}: {restless}", key.subject));
            }
            live.resting = Some(resting);
        }
    }

    /// Puts the database server of an item, if there is one, where its placement wants it.
    pub(super) fn place_server(&self, identity: &Identity) {
        if let Some((_, server)) = self.server(identity) {
            conditions::place(server, self.processors.placement(&identity.placement));
        }
    }

    /// Returns the process for an item, if there is one.
    pub(super) fn process(&self, identity: &Identity, start: u32) -> Option<u32> {
        let process = self.processes.get(&key(identity, start))?;
        Some(process.live.as_ref()?.session.process())
    }

    /// Checks whether the subject of an item compiles at run time.
    pub(super) fn warms(&self, identity: &Identity) -> bool {
        let build = (identity.subject.clone(), identity.policy.clone());
        self.builds.get(&build).is_some_and(|built| built.warms)
    }

    /// Returns the processor time due to an item's slices, ms, if its subject sets it.
    pub(super) fn slice_ms(&self, identity: &Identity) -> Option<u64> {
        let build = (identity.subject.clone(), identity.policy.clone());
        self.builds.get(&build)?.slice_ms
    }

    /// Checks whether the subject of an item waits for a server, with a run-time that looks for
    /// other work before a wait.
    pub(super) fn looks_for_work(&self, identity: &Identity) -> bool {
        let build = (identity.subject.clone(), identity.policy.clone());
        let looks = self
            .builds
            .get(&build)
            .is_some_and(|built| built.looks_for_work);
        looks && self.server(identity).is_some()
    }

    /// Returns the process of a subject's database server, if one was started.
    pub(super) fn server(&self, identity: &Identity) -> Option<(Kind, u32)> {
        let kind = self.kind(&identity.subject, &identity.policy)?;
        Some((kind, self.services.process(kind)?))
    }

    /// Starts a separate process for one item, under limits.
    pub(super) fn begin(&self, identity: &Identity, limits: Limits) -> Result<Live, SessionError> {
        let build = (identity.subject.clone(), identity.policy.clone());
        let Some(built) = self.builds.get(&build) else {
            return Err(SessionError::Over {
                subject: identity.subject.clone(),
                cause: format!(
                    "there is no build of it for the policy `{}`",
                    identity.policy
                ),
            });
        };
        let placement = self.processors.placement(&identity.placement);
        let mut launch = launch(built, &identity.policy, placement);
        launch.env.extend(self.services.environment(built)?);
        launch.limits = limits;
        launch.start_limit = launch.start_limit.min(self.hang_limit);
        // Nothing is measured until it is ready, so it may have priority. On a busy machine a
        // virtual machine otherwise takes seconds.
        let first = |process| {
            self.starts_first
                .then(|| conditions::Raised::of(vec![process]))
        };
        let mut session = Session::start_under(&launch, first)?;
        let clock = session.hello().clock.clone();
        let readings = session.clock(&clock, CLOCK_READINGS, self.hang_limit);
        let clock = match readings {
            Ok(readings) => analysis::clock_facts(&readings.answer),
            Err(error) if error.lives_on() => analysis::UNKNOWN_CLOCK,
            Err(error) => return Err(error),
        };
        Ok(Live {
            session,
            clock,
            resting: None,
        })
    }

    /// Notes that an item went well: failures before it no longer count.
    pub(super) fn went_well(&mut self, identity: &Identity, start: u32) {
        let process = self.processes.entry(key(identity, start)).or_default();
        process.failures = 0;
        if let Some(live) = &mut process.live {
            let lines = live.session.take_own_output();
            let subject = &identity.subject;
            self.own_output
                .extend(lines.into_iter().map(|line| (subject.clone(), line)));
        }
    }

    /// Notes that a process failed at an item, and gives the item's absence.
    pub(super) fn failed(
        &mut self,
        identity: &Identity,
        start: u32,
        error: &SessionError,
    ) -> Absence {
        if let Some(absent) = self.without_server(identity) {
            return absent;
        }
        let absent = Absence::of_session(error);
        if error.lives_on() {
            return absent;
        }
        let process = self.processes.entry(key(identity, start)).or_default();
        if let Some(live) = process.live.take() {
            conditions::make_ordinary(live.session.process());
        }
        process.failures += 1;
        if process.failures >= FAILURES {
            process.given_up = Some(error.reason());
        }
        absent
    }

    /// Returns the absence of an item whose database server ended during use, which is not its
    /// subject's failure.
    ///
    /// All subjects of that server are ended, because they have lost their connections. They start
    /// again with the next server.
    fn without_server(&mut self, identity: &Identity) -> Option<Absence> {
        let kind = self.kind(&identity.subject, &identity.policy)?;
        let source = self.services.lost(kind)?;
        let its = |key: &&Key| self.kind(&key.subject, &key.policy) == Some(kind);
        let its: Vec<Key> = self.processes.keys().filter(its).cloned().collect();
        for key in its {
            if let Some(live) = self
                .processes
                .get_mut(&key)
                .and_then(|process| process.live.take())
            {
                conditions::make_ordinary(live.session.process());
            }
        }
        Some(Absence::of_session(&SessionError::NoService {
            subject: identity.subject.clone(),
            source,
        }))
    }

    /// Returns the database of a subject.
    fn kind(&self, subject: &str, policy: &str) -> Option<Kind> {
        let build = (subject.to_owned(), policy.to_owned());
        self.builds.get(&build)?.service
    }

    /// Checks whether a started subject counts context switches itself. Other processes may then
    /// work for it.
    pub(super) fn counts_switches(&self, subject: &str) -> bool {
        self.counting.contains(subject)
    }

    /// Takes the subjects' own output, with their names.
    pub(super) fn take_own_output(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.own_output)
    }

    /// Takes warnings about the processes, once for each subject.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        self.warnings.extend(self.services.take_warnings());
        std::mem::take(&mut self.warnings)
    }

    /// Ends all processes of a start.
    pub(super) fn end(&mut self, start: u32) {
        let of_start = |key: &&Key| key.start == start;
        let keys = self.processes.keys().filter(of_start).cloned().collect();
        self.end_all(keys);
    }

    /// Ends the processes of these items in a start.
    pub(super) fn end_of(&mut self, items: &[Identity], start: u32) {
        self.end_all(items.iter().map(|item| key(item, start)).collect());
    }

    /// Ends processes side by side: each mostly waits.
    fn end_all(&mut self, keys: Vec<Key>) {
        let processes = keys.iter().filter_map(|key| self.processes.remove(key));
        let live: Vec<Live> = processes.filter_map(|process| process.live).collect();
        side_by_side(live, Live::end);
    }
}

fn key(identity: &Identity, start: u32) -> Key {
    Key {
        subject: identity.subject.clone(),
        policy: identity.policy.clone(),
        placement: identity.placement.clone(),
        start,
    }
}

fn given_up(identity: &Identity, why: &str) -> Absence {
    let reason = format!(
        "{} under {}.{} was given up after {FAILURES} failures in a row; the last: {why}",
        identity.subject, identity.policy, identity.placement
    );
    Absence::new(
        reason,
        "mend the tests that failed before this one, and measure again",
    )
}
