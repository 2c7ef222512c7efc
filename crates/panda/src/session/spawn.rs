//! More processes while the session runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
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
use crate::starter::{Keep, Report, Request, SpawnRequest, Started, reach, start_here};

/// How long what a process said when it joined may be under way after its end is known.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// Platforms whose processes have host, directory and environment in common. The latter is the
/// simulation.
const SHARING: [&str; 2] = [Local::NAME, "sim"];

/// A service that nobody gives.
const NOBODYS: &str = "antiphon: a session that has begun";

/// How [`Session::spawn_with`] starts processes. What is not said is as it is for this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpawnOptions {
    /// The host, by its name in the launcher's file of hosts, or its address.
    pub host: Option<String>,
    /// The directory where the processes start. A relative one is below this process's.
    pub directory: Option<PathBuf>,
    /// Variables that differ from this process's environment: those with a value are set, the others
    /// are left out.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// The program's arguments, without the program itself.
    pub arguments: Vec<OsString>,
}

/// One process of a spawn: its rank, or why it is not there.
type Outcome = Result<Rank, Error>;

/// Which of the processes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All of them, or none.
    All,
    /// Each that joins.
    Each,
}

/// What is known of processes that were asked for.
struct Progress {
    program: String,
    wanted: Wanted,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whose answer is awaited, in words, before the processes themselves are.
    asks: Option<String>,
    ranks: Option<Vec<Rank>>,
    /// What concerns all of them.
    fault: Option<Error>,
    /// Those that will not join, and why.
    failed: BTreeMap<Rank, String>,
    /// Those that have ended, although they had joined.
    ended: BTreeSet<Rank>,
    hold: Option<Hold>,
    /// The ranks that are wanted, once that is known.
    kept: Option<Vec<Rank>>,
}

/// What keeps processes that have not all joined.
enum Hold {
    /// The starter, while the connection is open.
    Starter(TcpStream),
    /// This process.
    Here(Started),
}

impl SpawnOptions {
    /// The first option that a process cannot have which shares its host, directory and environment
    /// with this one.
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
    /// Starts a program as `count` more processes, in this process's directory and with its environment, and waits until they have joined and all others know them. Their ranks
    /// follow each other; for the others they are [`population`](Session::population). If one cannot be started, or ends before it has joined, those that were started are ended.
    ///
    /// Over `local` it is one of the session's [`Programs`](crate::platform::local::Programs), and each process is a thread of this one with a session of its own. In a simulation it is one of the
    /// simulation's (`Simulation::program` of `antiphon-panda-sim`).
    ///
    /// Others run on this process's host. Under `antiphon launch` they are its children, on whichever host: their output is marked, their ends count, and they may outlive this process. Otherwise, and
    /// over `mpi`, they are children of this process, write where it writes, and end with it.
    ///
    /// # Errors
    /// The session takes no more processes, or has ended; the program cannot be started, a process did not join; this is an upcall.
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
        let spawned = self.spawn_as(program.as_ref(), count, &options, Wanted::All)?;
        spawned.into_iter().collect()
    }

    /// Starts a program as `count` more processes, as [`spawn`](Self::spawn) does, but with options, and
    /// tells of each process its rank or why it is not there. Processes that have joined stay, whatever
    /// becomes of the others.
    ///
    /// Another host must be one of the launcher's file of hosts (`antiphon launch --hosts`); program and
    /// directory must be there. Over `mpi`, and without a launcher, processes start on this host. Over
    /// `local` and in simulations only arguments can be given.
    ///
    /// # Errors
    /// The session takes no more processes, or has ended; the starter does not answer; this is an upcall.
    #[track_caller]
    pub fn spawn_with(
        &self,
        program: impl AsRef<OsStr>,
        count: u32,
        options: &SpawnOptions,
    ) -> Result<Vec<Result<Rank, Error>>, Error> {
        upcall::must_not_wait()?;
        self.spawn_as(program.as_ref(), count, options, Wanted::Each)
    }

    fn spawn_as(
        &self,
        program: &OsStr,
        count: u32,
        options: &SpawnOptions,
        wanted: Wanted,
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
                Err(Error::NotSpawned { program, rank, why }) if wanted == Wanted::Each => {
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
            state: Mutex::default(),
        });
        let (own, shared) = (core.clone(), progress.clone());
        let (program, options) = (program.to_owned(), options.clone());
        // A thread of its own: what it waits for is none of the session's messages.
        let asker = std::thread::Builder::new().name("panda spawn".into());
        let asked = asker.spawn(move || {
            if let Err(error) = ask(&own, &program, &options, count, &shared) {
                shared.fail(error);
            }
            own.engine.nudge();
        });
        asked.map_err(|source| refused("start a thread", source))?;
        let until = core.engine.now() + FOUNDERS_WAIT;
        core.wait(
            "processes that it spawned",
            || progress.is_decided(core),
            Some(until),
        );
        let settled = progress.settle(core);
        let outcomes = settled.map_err(|error| core.check().err().unwrap_or(error))?;
        self.await_answers(&outcomes, until, |rank| progress.has_ended(rank));
        Ok(outcomes)
    }

    /// Waits until processes have joined that the platform started. Those that do not are taken back, or
    /// all are if all are wanted.
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
            // Otherwise nobody waited any more.
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

    /// Waits until processes answer a call, as each does when its session has begun, even to one of a service that it has not, or are lost. They come here before that, but their
    /// sessions begin when all others have let them in.
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
            // Who has ended since had come all the same.
            let _ = self.call(rank, NOBODYS, Message::new(), Some(left));
        }
    }
}

impl Core {
    /// Whether a process that has ended had joined: what it said then is still under way.
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
    /// Keeps processes, and takes the others back.
    fn release(self, kept: &[Rank]) {
        match self {
            Self::Starter(mut stream) => {
                if !kept.is_empty() {
                    let _ = write(&mut stream, &Keep(kept.to_vec()));
                }
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            Self::Here(started) => started.kill_all_but(kept),
        }
    }
}

impl Progress {
    /// Holds processes until it is known which are wanted, which may be before.
    fn hold(&self, hold: Hold) {
        let mut state = self.state.lock();
        match &state.kept {
            Some(kept) => hold.release(kept),
            None => state.hold = Some(hold),
        }
    }

    /// Somebody is asked, or nobody any more.
    fn asks(&self, whom: Option<String>) {
        self.state.lock().asks = whom;
    }

    fn fail(&self, error: Error) {
        self.state.lock().fault.get_or_insert(error);
    }

    /// Takes what is said of a process. One that has joined may end when it likes. This may wait.
    fn hear(&self, report: Report, core: &Core) {
        let (rank, why) = match report {
            Report::Failed(rank, why) => (rank, why),
            Report::Ended(rank, ..) if core.hears_of(rank) => {
                self.state.lock().ended.insert(rank);
                return;
            }
            Report::Ended(rank, how, words) => {
                (rank, format!("it {how} and did not join{}", said(&words)))
            }
            Report::Signalled => return,
        };
        self.state.lock().failed.entry(rank).or_insert(why);
    }

    fn has_ended(&self, rank: Rank) -> bool {
        self.state.lock().ended.contains(&rank)
    }

    fn is_decided(&self, core: &Core) -> bool {
        let state = self.state.lock();
        let is_known =
            |rank: &Rank| core.dispatcher.has_joined(*rank) || state.failed.contains_key(rank);
        let are_known = |ranks: &Vec<Rank>| ranks.iter().all(is_known);
        state.fault.is_some()
            || self.wanted == Wanted::All && !state.failed.is_empty()
            || state.ranks.as_ref().is_some_and(are_known)
    }

    /// Whether it is known which processes are wanted.
    fn is_settled(&self) -> bool {
        self.state.lock().kept.is_some()
    }

    /// Keeps the processes that are wanted and have joined, and takes the others back.
    fn settle(&self, core: &Core) -> Result<Vec<Outcome>, Error> {
        let mut state = self.state.lock();
        let ranks = state.ranks.take().unwrap_or_default();
        let has_joined =
            |rank: &Rank| core.dispatcher.has_joined(*rank) && !state.failed.contains_key(rank);
        let joined: Vec<Rank> = ranks.iter().copied().filter(has_joined).collect();
        let is_good = !ranks.is_empty()
            && state.fault.is_none()
            && (self.wanted == Wanted::Each || joined.len() == ranks.len());
        let kept = if is_good { joined } else { Vec::new() };
        state.kept = Some(kept.clone());
        if let Some(hold) = state.hold.take() {
            hold.release(&kept);
        }
        if let Some(error) = state.fault.take() {
            return Err(error);
        }
        // Nobody has been started yet: somebody was asked who has not answered.
        if let Some(whom) = state.asks.take() {
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

/// A process of which nothing was heard.
fn did_not_join() -> String {
    let waited_s = FOUNDERS_WAIT.as_secs();
    format!("it did not join within {waited_s} s: see its output, and whether it joins the session")
}

/// Who was asked to start processes and said nothing.
fn no_answer(platform: &'static str, whom: &str) -> Error {
    let waited_s = FOUNDERS_WAIT.as_secs();
    let why = format!(
        "waited {waited_s} s for {whom}, which did not answer: see whether `antiphon launch` still runs, and its host can be reached"
    );
    JoinError::Refused { platform, why }.into()
}

/// Those that did not come in time.
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

pub(super) fn refused(what: &str, source: std::io::Error) -> Error {
    let error = JoinError::System {
        platform: "spawn",
        what: what.into(),
        source,
    };
    error.into()
}

/// Has processes started, and hears of them while they join.
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
    let request = request(core, program, options, &infos)?;
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
    let sent = Request::Spawn(request).send(info.secret, &mut stream);
    sent.map_err(failed)?;
    progress.asks(None);
    let hold = stream.try_clone().map_err(failed)?;
    progress.hold(Hold::Starter(hold));
    core.engine.nudge();
    // Until the one that waits has what it wants, and closes the connection.
    let hung_up = loop {
        let report = match read::<Report>(&mut stream) {
            Ok(report) => report,
            Err(error) => break error,
        };
        let (own, shared) = (core.clone(), progress.clone());
        // A thread each: whether a process that has ended had joined may take a moment to be known.
        let hears = move || {
            shared.hear(report, &own);
            own.engine.nudge();
        };
        let thread = std::thread::Builder::new().name("panda spawn".into());
        thread
            .spawn(hears)
            .map_err(|source| refused("start a thread", source))?;
    };
    match progress.is_settled() {
        true => Ok(()),
        false => Err(refused(&format!("hear more of {starter}"), hung_up)),
    }
}

/// Starts processes as this one's children, where nobody else starts them.
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
    // A relative path means ours, wherever the process is started.
    let program = match Path::new(program).components().count() {
        0 | 1 => program.to_owned(),
        _ => std::path::absolute(program).map_err(failed)?.into(),
    };
    let directory = match &options.directory {
        Some(directory) => std::path::absolute(directory),
        None => std::env::current_dir(),
    };
    // Whoever starts the process knows all of the launch info, and nobody else must: the secret is part of it.
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

    /// What is said when the time is over, while somebody is asked or nobody is.
    fn said(asks: Option<&str>, ranks: Option<Vec<Rank>>) -> String {
        let (info, local, inbox) = Local::session(1).remove(0);
        let session = Session::over(local, inbox, &info, crate::session::SILENCE).unwrap();
        let progress = Progress {
            program: "worker".into(),
            wanted: Wanted::All,
            state: Mutex::default(),
        };
        progress.asks(asks.map(str::to_owned));
        progress.state.lock().ranks = ranks;
        let said = progress.settle(session.core()).unwrap_err().to_string();
        assert!(said.starts_with(Local::NAME), "{said}");
        said
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
