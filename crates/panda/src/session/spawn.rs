//! Starting more processes while the session runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use antiphon_runner::said;
use parking_lot::Mutex;

use super::core::Core;
use super::{Session, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::bootstrap::{FOUNDERS_WAIT, read, write};
use crate::platform::{JoinError, LaunchInfo, Local, Mpi, Platform, Rank, mpi};
use crate::starter::{
    Keep, Report, Request, SpawnRequest, Started, is_this_host, reach, start_here,
};

/// How often to check whether processes that need not join have joined.
const LOOK: Duration = Duration::from_secs(1);
/// How long the message of a joining process may still be in flight after its end is known.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// Platforms whose processes share host, directory and environment. The second is the simulation.
const SHARING: [&str; 2] = [Local::NAME, "sim"];

/// The name of a service that no process provides.
const NOBODYS: &str = "antiphon: a session that has begun";

/// Options of [`Session::spawn_with`]. An option that is not set is as in this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpawnOptions {
    /// The host, by its name in the launcher's file of hosts, or its address.
    pub host: Option<String>,
    /// The directory where the processes start. A relative one is below this process's.
    pub directory: Option<PathBuf>,
    /// Variables that differ from this process's environment: those with a value are set, the
    /// others are removed. Of the environment itself only `PATH`, `LD_LIBRARY_PATH`, `LANG`,
    /// `LC_*`, `TZ`, `TERM`, `RUST_*`, `OMP_*` and `ANTIPHON_*` go to another host, because
    /// requests are not encrypted.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The program's arguments, without the program itself.
    pub arguments: Vec<OsString>,
}

/// One process of a spawn: its rank, or why it did not join.
type Outcome = Result<Rank, Error>;

/// Which of the processes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All of them, or none.
    All,
    /// Each that joins.
    Each,
    /// Each that is started, whether it joins or not.
    Started,
}

/// Called for each process that has ended without joining, with the reason.
type OnFailure = Box<dyn Fn(Rank, &str) + Send + Sync>;

/// The state of a spawn.
struct Progress {
    program: String,
    wanted: Wanted,
    on_failure: OnFailure,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The party whose answer is awaited, in words. It comes before the processes themselves.
    asks: Option<String>,
    ranks: Option<Vec<Rank>>,
    /// Whether all processes that can be started are started.
    are_started: bool,
    /// An error that concerns the whole spawn.
    fault: Option<Error>,
    /// Processes that will not join, and why.
    failed: BTreeMap<Rank, String>,
    /// Processes that have ended after they had joined, or that need not join.
    ended: BTreeSet<Rank>,
    hold: Option<Hold>,
    /// The ranks that are kept, once that is decided.
    kept: Option<Vec<Rank>>,
}

/// The owner of processes that have not all joined.
enum Hold {
    /// The starter, while the connection to it is open.
    Starter(TcpStream),
    /// This process.
    Here(Started),
}

impl SpawnOptions {
    /// Returns the first option that a process cannot have if it shares its host, directory and
    /// environment with this one.
    pub(crate) fn differs_from_here(&self) -> Option<&'static str> {
        let said = [
            ("host", self.host.is_some()),
            ("directory", self.directory.is_some()),
            ("environment", !self.environment.is_empty()),
        ];
        said.iter()
            .find(|(_, is_said)| *is_said)
            .map(|(name, _)| *name)
    }
}

impl Session {
    /// Starts a program as `count` more processes, in this process's directory and with its
    /// environment. Waits until they have joined and all others know them. Their ranks follow each
    /// other, and the others see a greater [`population`](Session::population). If one cannot be
    /// started, or ends before it has joined, all that were started are ended.
    ///
    /// Over `local` the program is one of the session's
    /// [`Programs`](crate::platform::local::Programs). Each process is then a thread of this one
    /// with a session of its own. In a simulation it is one of the simulation's
    /// (`Simulation::program` of `antiphon-panda-sim`).
    ///
    /// On other platforms the processes run on this process's host. Under `antiphon launch` they
    /// are its children, on any host: their output is marked, their ends count, and they may
    /// outlive this process. Otherwise, and over `mpi`, they are children of this process, write
    /// where it writes, and end with it.
    ///
    /// # Errors
    /// The session takes no more processes, or has ended; the program cannot be started, or a
    /// process did not join; the caller is an upcall.
    #[track_caller]
    pub fn spawn(
        &self,
        program: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = impl AsRef<OsStr>>,
        count: u32,
    ) -> Result<Vec<Rank>, Error> {
        upcall::must_not_wait()?;
        let arguments = args.into_iter().map(|arg| arg.as_ref().to_owned());
        let options = SpawnOptions {
            arguments: arguments.collect(),
            ..SpawnOptions::default()
        };
        let unheard = Box::new(|_, _: &str| {});
        let spawned = self.spawn_as(program.as_ref(), count, &options, (Wanted::All, unheard))?;
        spawned.into_iter().collect()
    }

    /// Starts a program as `count` more processes, as [`spawn`](Self::spawn) does, but with
    /// options. Returns for each process its rank, or why it did not join. Processes that have
    /// joined stay, even if others fail.
    ///
    /// Another host must be in the launcher's file of hosts (`antiphon launch --hosts`), and must
    /// have the program and the directory. Over `mpi`, and without a launcher, processes start on
    /// this host. Over `local` and in simulations only arguments can be given.
    ///
    /// # Errors
    /// The session takes no more processes, or has ended; the starter does not answer; the caller
    /// is an upcall.
    #[track_caller]
    pub fn spawn_with(
        &self,
        program: impl AsRef<OsStr>,
        count: u32,
        options: &SpawnOptions,
    ) -> Result<Vec<Result<Rank, Error>>, Error> {
        upcall::must_not_wait()?;
        let unheard = Box::new(|_, _: &str| {});
        self.spawn_as(program.as_ref(), count, options, (Wanted::Each, unheard))
    }

    /// Starts a program as `count` more processes, as [`spawn_with`](Self::spawn_with) does, but
    /// returns when they are started. They may join at any time, or never:
    /// [`has_joined`](Self::has_joined) and [`on_peer`](Self::on_peer) report it. Before a process
    /// has joined it can be signalled, but not sent to.
    ///
    /// `on_failure` is called, on a thread of the library, for each process that ends before it has
    /// joined, with the reason. That may be before this returns.
    ///
    /// Over `local` and in simulations a process joins as it starts, so this waits as `spawn_with`
    /// does.
    ///
    /// # Errors
    /// As for [`spawn_with`](Self::spawn_with).
    #[track_caller]
    pub fn start_with(
        &self,
        program: impl AsRef<OsStr>,
        count: u32,
        options: &SpawnOptions,
        on_failure: impl Fn(Rank, &str) + Send + Sync + 'static,
    ) -> Result<Vec<Result<Rank, Error>>, Error> {
        upcall::must_not_wait()?;
        let wanted = (Wanted::Started, Box::new(on_failure) as OnFailure);
        self.spawn_as(program.as_ref(), count, options, wanted)
    }

    /// Returns whether a process has ever joined the session, as far as this one knows.
    #[must_use]
    pub fn has_joined(&self, rank: Rank) -> bool {
        self.core().dispatcher.has_joined(rank)
    }

    fn spawn_as(
        &self,
        program: &OsStr,
        count: u32,
        options: &SpawnOptions,
        (wanted, on_failure): (Wanted, OnFailure),
    ) -> Result<Vec<Outcome>, Error> {
        let core = &self.keeper.core;
        core.check()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let (platform, program_name) = (core.engine.platform(), program.to_string_lossy());
        let option = SHARING
            .contains(&platform)
            .then(|| options.differs_from_here());
        if let Some(option) = option.flatten() {
            let not_spawned = |at| Error::NotSpawned {
                program: program_name.clone().into_owned(),
                rank: self.population() + at,
                why: format!(
                    "over {platform} all processes have one host, directory and environment: leave the option `{option}` out"
                ),
            };
            return Ok((0..count).map(|at| Err(not_spawned(at))).collect());
        }
        if let Some(spawned) = core.engine.spawn(program, &options.arguments, count) {
            return match spawned {
                Ok(ranks) => self.await_spawned(program, ranks, wanted),
                Err(Error::NotSpawned { program, rank, why }) if wanted != Wanted::All => {
                    let not_spawned = |at| Error::NotSpawned {
                        program: program.clone(),
                        rank: rank + at,
                        why: why.clone(),
                    };
                    Ok((0..count).map(|at| Err(not_spawned(at))).collect())
                }
                Err(error) => Err(error),
            };
        }
        self.serve_signals()?;
        let progress = Arc::new(Progress {
            program: program_name.into_owned(),
            wanted,
            on_failure,
            state: Mutex::default(),
        });
        let (own, shared) = (core.clone(), progress.clone());
        let (program, options) = (program.to_owned(), options.clone());
        // This has a thread of its own, because it waits for other things than the session's
        // messages.
        let asker = std::thread::Builder::new().name("panda spawn".into());
        let asked = asker.spawn(move || {
            if let Err(error) = ask(&own, &program, &options, count, &shared) {
                shared.fail(error);
            }
            own.engine.nudge();
        });
        asked.map_err(no_thread)?;
        let until = core.engine.now() + FOUNDERS_WAIT;
        core.wait(
            "processes that it spawned",
            || progress.is_decided(core),
            Some(until),
        );
        let settled = progress.settle(core);
        let outcomes = settled.map_err(|error| core.check().err().unwrap_or(error))?;
        if wanted != Wanted::Started {
            self.await_answers(&outcomes, until, |rank| progress.has_ended(rank));
        }
        Ok(outcomes)
    }

    /// Waits until the processes have joined that the platform started. Those that do not join are
    /// ended. If all are wanted and one fails, all are ended.
    fn await_spawned(
        &self,
        program: &OsStr,
        ranks: Vec<Rank>,
        wanted: Wanted,
    ) -> Result<Vec<Outcome>, Error> {
        let (engine, dispatcher) = (&self.core().engine, &self.core().dispatcher);
        let until = engine.now() + FOUNDERS_WAIT;
        let has_joined = |rank: Rank| dispatcher.has_joined(rank);
        let has_failed = |rank: Rank| !has_joined(rank) && engine.has_failed(&[rank]).is_some();
        let is_decided = || {
            let is_known = |rank: &Rank| has_joined(*rank) || has_failed(*rank);
            ranks.iter().all(is_known)
                || wanted == Wanted::All && ranks.iter().any(|rank| has_failed(*rank))
        };
        self.core()
            .wait("processes that it spawned", is_decided, Some(until));
        let not_spawned = |rank, why| Error::NotSpawned {
            program: program.to_string_lossy().into_owned(),
            rank,
            why,
        };
        let was_ended = || String::from("it was ended and did not join");
        let outcome = |rank: Rank| match has_joined(rank) {
            true => Ok(rank),
            false if has_failed(rank) => Err(not_spawned(rank, was_ended())),
            false => Err(not_spawned(rank, did_not_join())),
        };
        let outcomes: Vec<Outcome> = ranks.iter().copied().map(outcome).collect();
        let is_lacking = |rank: &Rank| !has_joined(*rank);
        let lacking: Vec<Rank> = ranks.iter().copied().filter(is_lacking).collect();
        if !lacking.is_empty() && wanted == Wanted::All {
            let failed = lacking.iter().copied().find(|rank| has_failed(*rank));
            engine.take_back(&ranks);
            // The wait may have ended because the session has.
            self.core().check()?;
            return Err(match failed {
                Some(rank) => not_spawned(rank, was_ended()),
                None => missing(self.core(), &ranks),
            });
        }
        engine.take_back(&lacking);
        self.core().check()?;
        self.await_answers(&outcomes, until, |_| false);
        Ok(outcomes)
    }

    /// Waits until each process answers a call or is lost. A session answers as soon as it has
    /// begun, even for a service that it does not have. The processes are known here before that,
    /// but their sessions begin once all others have let them in.
    fn await_answers(
        &self,
        outcomes: &[Outcome],
        until: Instant,
        has_ended: impl Fn(Rank) -> bool,
    ) {
        for &rank in outcomes.iter().flatten() {
            if has_ended(rank) {
                continue;
            }
            let left = until.saturating_duration_since(self.core().engine.now());
            // A process that has ended since had joined all the same.
            let _ = self.call(rank, NOBODYS, Message::new(), Some(left));
        }
    }
}

impl Core {
    /// Returns whether a process that has ended had joined. Its message about that may still be in
    /// flight.
    fn hears_of(&self, rank: Rank) -> bool {
        let until = Instant::now() + UNDER_WAY;
        while self.check().is_ok() {
            let has_joined = self.dispatcher.has_joined(rank);
            if has_joined || Instant::now() >= until {
                return has_joined;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }
}

impl Hold {
    /// Keeps some processes, and ends the others. No further reports about them come, unless they
    /// need not join.
    fn release(self, kept: &[Rank], wanted: Wanted) {
        match self {
            Self::Starter(mut stream) => {
                if !kept.is_empty() {
                    let _ = write(&mut stream, &Keep(kept.to_vec()));
                }
                if kept.is_empty() || wanted != Wanted::Started {
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                }
            }
            Self::Here(started) => started.kill_all_but(kept),
        }
    }
}

impl Progress {
    /// Holds the processes until it is decided which are kept. If that is decided already, releases
    /// them at once.
    fn hold(&self, hold: Hold) {
        let mut state = self.state.lock();
        match &state.kept {
            Some(kept) => hold.release(kept, self.wanted),
            None => state.hold = Some(hold),
        }
    }

    /// Sets the party whose answer is awaited, or `None`.
    fn asks(&self, whom: Option<String>) {
        self.state.lock().asks = whom;
    }

    fn fail(&self, error: Error) {
        self.state.lock().fault.get_or_insert(error);
    }

    /// Handles a report about a process. A process that has joined may end at any time. Only a
    /// report of an end may wait.
    fn hear(&self, report: Report, core: &Core) {
        match report {
            Report::Failed(rank, why) => {
                self.state.lock().failed.entry(rank).or_insert(why);
            }
            Report::Ended(rank, ..) if core.hears_of(rank) => {
                self.state.lock().ended.insert(rank);
            }
            Report::Ended(rank, how, words) => {
                let why = format!("it {how} and did not join{}", said(&words));
                if self.wanted == Wanted::Started {
                    self.state.lock().ended.insert(rank);
                    (self.on_failure)(rank, &why);
                } else {
                    self.state.lock().failed.entry(rank).or_insert(why);
                }
            }
            Report::AllStarted => self.state.lock().are_started = true,
            Report::Signalled => {}
        }
    }

    fn has_ended(&self, rank: Rank) -> bool {
        self.state.lock().ended.contains(&rank)
    }

    fn is_decided(&self, core: &Core) -> bool {
        let state = self.state.lock();
        let is_known =
            |rank: &Rank| core.dispatcher.has_joined(*rank) || state.failed.contains_key(rank);
        let are_known = |ranks: &Vec<Rank>| ranks.iter().all(is_known);
        let is_enough = match self.wanted {
            Wanted::All => !state.failed.is_empty() || state.ranks.as_ref().is_some_and(are_known),
            Wanted::Each => state.ranks.as_ref().is_some_and(are_known),
            Wanted::Started => state.are_started,
        };
        state.fault.is_some() || is_enough
    }

    /// Returns whether it is decided which processes are kept.
    fn is_settled(&self) -> bool {
        self.state.lock().kept.is_some()
    }

    /// Returns whether no further report can come about processes that need not join.
    fn has_heard_all(&self, core: &Core) -> bool {
        let state = self.state.lock();
        let is_known =
            |rank: &Rank| core.dispatcher.has_joined(*rank) || state.ended.contains(rank);
        let kept = state.kept.as_ref();
        kept.is_some_and(|kept| kept.iter().all(is_known)) || core.check().is_err()
    }

    /// Keeps the wanted processes, and ends the others.
    fn settle(&self, core: &Core) -> Result<Vec<Outcome>, Error> {
        let mut state = self.state.lock();
        let ranks = state.ranks.take().unwrap_or_default();
        let is_there = |rank: &Rank| {
            let has_joined = || core.dispatcher.has_joined(*rank);
            (self.wanted == Wanted::Started || has_joined()) && !state.failed.contains_key(rank)
        };
        let there: Vec<Rank> = ranks.iter().copied().filter(is_there).collect();
        let are_enough = match self.wanted {
            Wanted::All => there.len() == ranks.len(),
            Wanted::Each => true,
            Wanted::Started => state.are_started,
        };
        let is_good = !ranks.is_empty() && state.fault.is_none() && are_enough;
        let kept = if is_good { there } else { Vec::new() };
        state.kept = Some(kept.clone());
        if let Some(hold) = state.hold.take() {
            hold.release(&kept, self.wanted);
        }
        if let Some(error) = state.fault.take() {
            return Err(error);
        }
        // No process has been started yet: the party that was asked has not answered.
        let asks = state.asks.take().filter(|_| kept.is_empty());
        if let Some(whom) = asks {
            return Err(no_answer(core.engine.platform(), &whom));
        }
        let not_spawned = |rank: Rank, why: String| Error::NotSpawned {
            program: self.program.clone(),
            rank,
            why,
        };
        if self.wanted == Wanted::All && !is_good {
            let first = state.failed.pop_first();
            return Err(match first {
                Some((rank, why)) => not_spawned(rank, why),
                None => missing(core, &ranks),
            });
        }
        let outcome = |rank: Rank| match kept.contains(&rank) {
            true => Ok(rank),
            false => {
                let why = state.failed.remove(&rank).unwrap_or_else(did_not_join);
                Err(not_spawned(rank, why))
            }
        };
        Ok(ranks.into_iter().map(outcome).collect())
    }
}

/// The reason for a process without any report.
fn did_not_join() -> String {
    let waited_s = FOUNDERS_WAIT.as_secs();
    format!("it did not join within {waited_s} s: see its output, and whether it joins the session")
}

/// The error for a party that was asked to start processes and did not answer.
fn no_answer(platform: &'static str, whom: &str) -> Error {
    let waited_s = FOUNDERS_WAIT.as_secs();
    let why = format!(
        "waited {waited_s} s for {whom}, which did not answer: see whether `antiphon launch` still runs, and its host can be reached"
    );
    JoinError::Refused { platform, why }.into()
}

/// The error for processes that did not join in time.
fn missing(core: &Core, ranks: &[Rank]) -> Error {
    let dispatcher = &core.dispatcher;
    let late = ranks.iter().filter(|rank| !dispatcher.has_joined(**rank));
    let late: Vec<String> = late.map(|rank| format!("rank {rank}")).collect();
    let error = JoinError::Missing {
        platform: core.engine.platform(),
        waited_s: FOUNDERS_WAIT.as_secs(),
        missing: late.join(", "),
    };
    error.into()
}

fn no_thread(source: std::io::Error) -> Error {
    let platform = "spawn";
    JoinError::NoThread { platform, source }.into()
}

pub(super) fn refused(what: &str, source: std::io::Error) -> Error {
    let error = JoinError::System {
        platform: "spawn",
        what: what.into(),
        source,
    };
    error.into()
}

/// Asks for processes to be started, and handles reports while they join.
fn ask(
    core: &Arc<Core>,
    program: &OsStr,
    options: &SpawnOptions,
    count: u32,
    progress: &Arc<Progress>,
) -> Result<(), Error> {
    progress.asks(Some("the session's bootstrap".into()));
    let infos = core.allot(count)?;
    progress.asks(None);
    let mut request = request(core, program, options, &infos)?;
    progress.state.lock().ranks = Some(request.ranks.clone());
    let own = (infos.first()).and_then(|info| info.starter.as_deref().map(|at| (at, info)));
    let Some((address, info)) = own else {
        start_children(core, request, &infos, progress);
        return Ok(());
    };
    let starter = format!("{address}, which starts this session's processes");
    let failed = |source| refused(&format!("ask {starter}"), source);
    progress.asks(Some(starter.clone()));
    let mut stream = reach(address, (info.secret, core.rank)).map_err(failed)?;
    if !is_near(&stream).map_err(failed)? || options.host.as_deref().is_some_and(is_elsewhere) {
        let is_named = |name: &OsStr| options.environment.iter().any(|(named, _)| named == name);
        let environment = &mut request.environment;
        environment.retain(|(name, _)| is_named(name) || may_leave_the_host(name));
    }
    let sent = Request::Spawn(request).send(info.secret, &mut stream);
    sent.map_err(failed)?;
    progress.asks(None);
    let hold = stream.try_clone().map_err(failed)?;
    progress.hold(Hold::Starter(hold));
    core.engine.nudge();
    // Loops until the waiting thread has its result and closes the connection. For processes that
    // need not join, loops until each has joined or ended.
    let hung_up = loop {
        if progress.wanted == Wanted::Started && !has_more(&stream, || progress.has_heard_all(core))
        {
            return Ok(());
        }
        let report = match read::<Report>(&mut stream) {
            Ok(report) => report,
            Err(error) => break error,
        };
        let may_wait = matches!(report, Report::Ended(..));
        let (own, shared) = (core.clone(), progress.clone());
        let hears = move || {
            shared.hear(report, &own);
            own.engine.nudge();
        };
        if !may_wait {
            hears();
            continue;
        }
        // Each report of an end gets a thread, because it may take a moment to know whether the
        // process had joined.
        let thread = std::thread::Builder::new().name("panda spawn".into());
        thread.spawn(hears).map_err(no_thread)?;
    };
    match progress.is_settled() {
        true => Ok(()),
        false => Err(refused(&format!("hear more of {starter}"), hung_up)),
    }
}

/// Waits until there is something to read, or the connection is closed. Returns false if nothing
/// more is wanted.
fn has_more(stream: &TcpStream, is_done: impl Fn() -> bool) -> bool {
    let _ = stream.set_read_timeout(Some(LOOK));
    while !is_done() {
        let is_late = |error: std::io::Error| {
            matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
        };
        if !stream.peek(&mut [0]).is_err_and(is_late) {
            return stream.set_read_timeout(None).is_ok();
        }
    }
    false
}

/// Returns whether the other end of a connection is on this host.
fn is_near(stream: &TcpStream) -> std::io::Result<bool> {
    Ok(stream.local_addr()?.ip() == stream.peer_addr()?.ip())
}

fn is_elsewhere(host: &str) -> bool {
    !is_this_host(host)
}

/// Variables that programs need on any host, and that hold no secrets. Anyone on the network
/// between two hosts can read them.
const LEAVE: [&str; 5] = ["PATH", "LD_LIBRARY_PATH", "LANG", "TZ", "TERM"];
/// Prefixes of further such variables.
const LEAVE_ALL: [&str; 4] = ["LC_", "RUST_", "OMP_", "ANTIPHON_"];

fn may_leave_the_host(name: &OsStr) -> bool {
    let begins = |begin: &&str| name.as_encoded_bytes().starts_with(begin.as_bytes());
    LEAVE.iter().any(|leaves| name == *leaves) || LEAVE_ALL.iter().any(begins)
}

/// Starts processes as children of this one, where no starter exists.
fn start_children(
    core: &Arc<Core>,
    request: SpawnRequest,
    infos: &[LaunchInfo],
    progress: &Arc<Progress>,
) {
    let start = |rank, on_end| {
        request.stays_here(core.engine.platform())?;
        let mut infos = infos.iter();
        let info = infos
            .find(|info| info.rank == rank)
            .expect("it was allotted");
        let begins = |child| drop(core.children.lock().insert(rank, child));
        start_here(&request, info, begins, on_end)
    };
    let (own, shared) = (core.clone(), progress.clone());
    let started = request.carry_out(start, &move |report| {
        let ended = match report {
            Report::Ended(rank, ..) => Some(rank),
            _ => None,
        };
        if let Some(rank) = ended {
            own.children.lock().remove(&rank);
        }
        shared.hear(report, &own);
        own.engine.nudge();
        if let Some(rank) = ended {
            own.engine.has_ended(rank);
        }
    });
    progress.hear(Report::AllStarted, core);
    progress.hold(Hold::Here(started));
    core.engine.nudge();
}

fn request(
    core: &Core,
    program: &OsStr,
    options: &SpawnOptions,
    infos: &[LaunchInfo],
) -> Result<SpawnRequest, Error> {
    let failed = |source| refused("find this process's directory", source);
    // A relative path is relative to this process, wherever the new process starts.
    let program = match Path::new(program).components().count() {
        0 | 1 => program.to_owned(),
        _ => std::path::absolute(program).map_err(failed)?.into(),
    };
    let directory = match &options.directory {
        Some(directory) => std::path::absolute(directory),
        None => std::env::current_dir(),
    };
    // Only the process that starts another one gets its launch info, because the secret is part of
    // it.
    let own = infos
        .first()
        .map(LaunchInfo::to_environment)
        .unwrap_or_default();
    let is_launch_infos = |name: &OsStr| own.iter().any(|(own, _)| name == *own);
    let is_mpiruns = |name: &OsStr| core.engine.platform() == Mpi::NAME && mpi::is_of_mpirun(name);
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os()
        .filter(|(name, _)| !is_mpiruns(name))
        .collect();
    for (name, value) in &options.environment {
        match value {
            Some(value) => drop(environment.insert(name.clone(), value.clone())),
            None => drop(environment.remove(name)),
        }
    }
    environment.retain(|name, _| !is_launch_infos(name));
    Ok(SpawnRequest {
        program,
        args: options.arguments.clone(),
        directory: directory.map_err(failed)?,
        environment: environment.into_iter().collect(),
        ranks: infos.iter().map(|info| info.rank).collect(),
        parent: core.rank,
        host: options.host.clone(),
        address: infos.first().and_then(|info| info.address),
        starter: core.starter.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error of a timeout, while a party is asked or none is.
    fn said(asks: Option<&str>, ranks: Option<Vec<Rank>>) -> String {
        let (info, local, inbox) = Local::session(1).remove(0);
        let session = Session::over(local, inbox, &info, crate::session::SILENCE).unwrap();
        let progress = Progress {
            program: "worker".into(),
            wanted: Wanted::All,
            on_failure: Box::new(|_, _| {}),
            state: Mutex::default(),
        };
        progress.asks(asks.map(str::to_owned));
        progress.state.lock().ranks = ranks;
        let said = progress.settle(session.core()).unwrap_err().to_string();
        assert!(said.starts_with(Local::NAME), "{said}");
        said
    }

    #[test]
    fn only_listed_variables_leave_the_host() {
        for name in ["PATH", "LANG", "LC_ALL", "RUST_BACKTRACE", "ANTIPHON_SSH"] {
            assert!(may_leave_the_host(OsStr::new(name)), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "PATHS", "HOME", ""] {
            assert!(!may_leave_the_host(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn who_was_asked_and_did_not_answer_is_named_and_else_who_did_not_join() {
        let bootstrap = said(Some("the session's bootstrap"), None);
        assert!(
            bootstrap.contains("60 s for the session's bootstrap, which did not answer"),
            "{bootstrap}"
        );
        let starter = said(Some("127.0.0.1:9, which starts"), Some(vec![1, 2]));
        assert!(
            starter.contains("60 s for 127.0.0.1:9, which starts"),
            "{starter}"
        );
        let late = said(None, Some(vec![1, 2]));
        assert!(
            late.contains("60 s for rank 1, rank 2, who did not join"),
            "{late}"
        );
    }
}
