//! More processes while the session runs.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::core::Core;
use super::{Session, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::bootstrap::{FOUNDERS_WAIT, read, write};
use crate::platform::{JoinError, LaunchInfo, Mpi, Platform, Rank, mpi};
use crate::starter::{Keep, Report, SpawnRequest, Started, reach, start_here};

/// How long what a process said when it joined may be under way after its end is known.
const UNDER_WAY: Duration = Duration::from_secs(1);

/// A service that nobody gives.
const NOBODYS: &str = "antiphon: a session that has begun";

/// What is known of processes that were asked for.
#[derive(Default)]
struct Progress {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whose answer is awaited, in words, before the processes themselves are.
    asks: Option<String>,
    ranks: Option<Vec<Rank>>,
    fault: Option<Error>,
    hold: Option<Hold>,
    /// Those that have ended, although they had joined.
    ended: BTreeSet<Rank>,
    /// Whether they are wanted, once that is known.
    are_kept: Option<bool>,
}

/// What keeps processes that have not all joined.
enum Hold {
    /// The starter, while the connection is open.
    Starter(TcpStream),
    /// This process.
    Here(Started),
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
        self.core().check()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let program = program.as_ref().to_owned();
        let args: Vec<OsString> = args
            .into_iter()
            .map(|arg| arg.as_ref().to_owned())
            .collect();
        if let Some(spawned) = self.core().engine.spawn(&program, &args, count) {
            return self.await_spawned(&program, spawned?);
        }
        let progress = Arc::new(Progress::default());
        let (core, told) = (self.keeper.core.clone(), progress.clone());
        // A thread of its own: what it waits for is none of the session's messages.
        let asker = std::thread::Builder::new().name("panda spawn".into());
        let asked = asker.spawn(move || {
            if let Err(error) = ask(&core, &program, args, count, &told) {
                told.fail(error);
            }
            core.engine.nudge();
        });
        asked.map_err(|source| refused("start a thread", source))?;
        let until = self.core().engine.now() + FOUNDERS_WAIT;
        self.core().wait(
            "processes that it spawned",
            || progress.is_decided(self.core()),
            Some(until),
        );
        let settled = progress.settle(self.core());
        let ranks = settled.map_err(|error| self.core().check().err().unwrap_or(error))?;
        self.await_answers(&ranks, until, |rank| progress.has_ended(rank));
        Ok(ranks)
    }

    /// Waits until processes have joined that the platform started; if one does not, all are taken back.
    fn await_spawned(&self, program: &OsStr, ranks: Vec<Rank>) -> Result<Vec<Rank>, Error> {
        let (engine, dispatcher) = (&self.core().engine, &self.core().dispatcher);
        let until = engine.now() + FOUNDERS_WAIT;
        let have_joined = || ranks.iter().all(|rank| dispatcher.has_joined(*rank));
        self.core().wait(
            "processes that it spawned",
            || have_joined() || engine.has_failed(&ranks).is_some(),
            Some(until),
        );
        if !have_joined() {
            let failed = engine.has_failed(&ranks);
            engine.take_back(&ranks);
            // Then nobody waited any more.
            self.core().check()?;
            return Err(match failed {
                None => missing(self.core(), &ranks),
                Some(rank) => Error::NotSpawned {
                    program: program.to_string_lossy().into_owned(),
                    rank,
                    why: "it was ended and did not join".into(),
                },
            });
        }
        self.await_answers(&ranks, until, |_| false);
        Ok(ranks)
    }

    /// Waits until processes answer a call, as each does when its session has begun, even to one of a service that it has not, or are lost. They come here before that, but their
    /// sessions begin when all others have let them in.
    fn await_answers(&self, ranks: &[Rank], until: Instant, has_ended: impl Fn(Rank) -> bool) {
        for &rank in ranks.iter().filter(|rank| !has_ended(**rank)) {
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
    /// Keeps the processes, or takes them back.
    fn release(self, are_kept: bool) {
        match self {
            Self::Starter(mut stream) => {
                if are_kept {
                    let _ = write(&mut stream, &Keep);
                }
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            Self::Here(started) if !are_kept => started.kill(),
            Self::Here(_) => {}
        }
    }
}

impl Progress {
    /// Holds processes until it is known whether they are wanted, which may be before.
    fn hold(&self, hold: Hold) {
        let mut state = self.state.lock();
        match state.are_kept {
            Some(are_kept) => hold.release(are_kept),
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

    /// Takes what is said of a process. One that has joined may end when it likes.
    fn hear(&self, told: Report, program: &OsStr, core: &Arc<Core>) {
        let program = program.to_string_lossy().into_owned();
        let (rank, why) = match told {
            Report::Failed(rank, why) => (rank, why),
            Report::Ended(rank, _) if core.hears_of(rank) => {
                self.state.lock().ended.insert(rank);
                return;
            }
            Report::Ended(rank, how) => (rank, format!("it {how} and did not join")),
        };
        self.fail(Error::NotSpawned { program, rank, why });
    }

    fn has_ended(&self, rank: Rank) -> bool {
        self.state.lock().ended.contains(&rank)
    }

    fn is_decided(&self, core: &Core) -> bool {
        let state = self.state.lock();
        let have_joined = |ranks: &Vec<Rank>| {
            let dispatcher = &core.dispatcher;
            ranks.iter().all(|rank| dispatcher.has_joined(*rank))
        };
        state.fault.is_some() || state.ranks.as_ref().is_some_and(have_joined)
    }

    /// Whether it is known if the processes are wanted.
    fn is_settled(&self) -> bool {
        self.state.lock().are_kept.is_some()
    }

    /// Keeps the processes if all have joined, else takes them back.
    fn settle(&self, core: &Core) -> Result<Vec<Rank>, Error> {
        let is_decided = self.is_decided(core);
        let mut state = self.state.lock();
        let fault = state.fault.take();
        let is_good = is_decided && fault.is_none();
        state.are_kept = Some(is_good);
        if let Some(hold) = state.hold.take() {
            hold.release(is_good);
        }
        let ranks = state.ranks.take().unwrap_or_default();
        match fault {
            Some(error) => Err(error),
            None if is_good => Ok(ranks),
            None => Err(match state.asks.take() {
                Some(whom) => no_answer(core.engine.platform(), &whom),
                None => missing(core, &ranks),
            }),
        }
    }
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

fn refused(what: &str, source: std::io::Error) -> Error {
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
    args: Vec<OsString>,
    count: u32,
    progress: &Arc<Progress>,
) -> Result<(), Error> {
    progress.asks(Some("the session's bootstrap".into()));
    let infos = core.allot(count)?;
    progress.asks(None);
    let order = order(core, program, args, &infos)?;
    progress.state.lock().ranks = Some(order.ranks.clone());
    let own = (infos.first()).and_then(|info| info.starter.as_deref().map(|at| (at, info)));
    let Some((address, info)) = own else {
        let (core, heard, program) = (core.clone(), progress.clone(), program.to_owned());
        let start = |rank, on_end| {
            let mut infos = infos.iter();
            let info = infos.find(|info| info.rank == rank).expect("it is ordered");
            Ok(start_here(rank, order.program(info), on_end)?)
        };
        let started = order.carry_out(start, &move |told| {
            let ended = match told {
                Report::Ended(rank, _) => Some(rank),
                Report::Failed(..) => None,
            };
            heard.hear(told, &program, &core);
            ended.inspect(|rank| core.engine.has_ended(*rank));
            core.engine.nudge();
        });
        progress.hold(Hold::Here(started));
        return Ok(());
    };
    let starter = format!("{address}, which starts this session's processes");
    let failed = |source| refused(&format!("ask {starter}"), source);
    progress.asks(Some(starter.clone()));
    let mut stream = reach(address, info).map_err(failed)?;
    let sent = order.send(info.secret, &mut stream);
    sent.map_err(failed)?;
    progress.asks(None);
    let hold = stream.try_clone().map_err(failed)?;
    progress.hold(Hold::Starter(hold));
    core.engine.nudge();
    // Until the one that waits has what it wants, and closes the connection.
    let hung_up = loop {
        match read::<Report>(&mut stream) {
            Ok(told) => progress.hear(told, program, core),
            Err(error) => break error,
        }
        core.engine.nudge();
    };
    match progress.is_settled() {
        true => Ok(()),
        false => Err(refused(&format!("hear more of {starter}"), hung_up)),
    }
}

fn order(
    core: &Core,
    program: &OsStr,
    args: Vec<OsString>,
    infos: &[LaunchInfo],
) -> Result<SpawnRequest, Error> {
    let failed = |source| refused("find this process's directory", source);
    // A relative path means ours, wherever the process is started.
    let program = match Path::new(program).components().count() {
        0 | 1 => program.to_owned(),
        _ => std::path::absolute(program).map_err(failed)?.into(),
    };
    // Whoever starts the process knows all of the launch info, and nobody else must: the secret is part of it.
    let own = infos
        .first()
        .map(LaunchInfo::to_environment)
        .unwrap_or_default();
    let is_launch_infos = |name: &OsStr| own.iter().any(|(own, _)| name == *own);
    let is_mpiruns = |name: &OsStr| core.engine.platform() == Mpi::NAME && mpi::is_of_mpirun(name);
    Ok(SpawnRequest {
        program,
        args,
        directory: std::env::current_dir().map_err(failed)?,
        environment: std::env::vars_os()
            .filter(|(name, _)| !is_launch_infos(name) && !is_mpiruns(name))
            .collect(),
        ranks: infos.iter().map(|info| info.rank).collect(),
        parent: core.rank,
        address: infos.first().and_then(|info| info.address),
        starter: core.starter.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Local;

    /// What is said when the time is over, while somebody is asked or nobody is.
    fn said(asks: Option<&str>, ranks: Option<Vec<Rank>>) -> String {
        let (info, local, inbox) = Local::session(1).remove(0);
        let session = Session::over(local, inbox, &info, crate::session::SILENCE).unwrap();
        let progress = Progress::default();
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
