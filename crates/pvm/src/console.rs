//! A virtual machine that a command founds, for programs that it starts and for those started by
//! hand.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use antiphon_panda::starter::Signal;
use antiphon_panda::{Message, Session, SpawnOptions};
use antiphon_runner::End;
use parking_lot::Mutex;

use crate::machine::{FoundError, Machine, name};
use crate::protocol::{LEGACY, Legacy, SIGNAL, Sink};
use crate::spawn::find;
use crate::tid::Tid;

/// How long a task may take to signal itself.
const SIGNAL_WAIT: std::time::Duration = std::time::Duration::from_secs(5);

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ConsoleError {
    /// The machine could not be made.
    #[error(transparent)]
    Found(#[from] FoundError),
    /// There is no such program.
    #[error(
        "there is no program {}: give its path, or put it into $HOME/pvm3/bin/$PVM_ARCH or a folder of PVM_PATH or PATH",
        .0.display()
    )]
    NoProgram(OsString),
    /// A process was not started, or the session is over.
    #[error(transparent)]
    Session(#[from] antiphon_panda::Error),
    /// A word that is no task id.
    #[error("{0} is no task's id, such as t40002: `ps` lists them")]
    NoTask(String),
    /// A number that the system has no signal for.
    #[error("there is no signal {0}: `kill -l` of a shell lists them")]
    NoSignal(i32),
}

/// A task, for a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownTask {
    /// Its id, such as `t40002`.
    pub tid: String,
    /// Its parent's id; empty if it has none.
    pub parent: String,
    /// The process number; 0 before it has enrolled.
    pub pid: u32,
    /// The program's name; empty if it was started by hand.
    pub name: String,
}

/// The virtual machine of a command.
pub struct Console {
    machine: Machine,
    session: Session,
    ends: Arc<Mutex<BTreeMap<Tid, End>>>,
}

impl Console {
    /// Founds a machine. If it has a name, the user's programs find it. Lines that no task catches
    /// go to `write`, with the task's id.
    ///
    /// # Errors
    /// The user already has a machine of this name, or the system lacks something.
    pub fn found(
        is_found: bool,
        write: impl Fn(&str, &[u8]) + Send + Sync + 'static,
    ) -> Result<Self, ConsoleError> {
        let outlet = Box::new(move |tid: Tid, line: &[u8]| write(&tid.to_string(), line));
        let (machine, session) = Machine::found(is_found.then(name).as_deref(), outlet)?;
        let ends = machine.ends();
        Ok(Self {
            machine,
            session,
            ends,
        })
    }

    /// Starts a program as `count` tasks. Returns their ids, or why one did not start.
    ///
    /// # Errors
    /// There is no such program; none could be started.
    pub fn spawn(
        &self,
        program: &OsStr,
        arguments: &[OsString],
        count: u32,
    ) -> Result<Vec<Result<String, String>>, ConsoleError> {
        let path = find(program).ok_or_else(|| ConsoleError::NoProgram(program.to_owned()))?;
        let legacy = Legacy {
            parent: Tid(0),
            context: 0,
            sink: Sink::Machine,
        };
        let options = SpawnOptions {
            environment: vec![(LEGACY.into(), Some(legacy.to_text().into()))],
            arguments: arguments.to_vec(),
            ..SpawnOptions::default()
        };
        let started = (self.session).start_with(path, count, &options, |_, _| {})?;
        let shown = started.into_iter().map(|outcome| match outcome {
            Ok(rank) => Ok(Tid::of(1, rank).to_string()),
            Err(antiphon_panda::Error::NotSpawned { why, .. }) => Err(why),
            Err(error) => Err(error.to_string()),
        });
        Ok(shown.collect())
    }

    /// Returns the tasks.
    #[must_use]
    pub fn tasks(&self) -> Vec<ShownTask> {
        let infos = self.machine.with_daemon(|daemon| daemon.task_infos());
        let shown = infos.into_iter().map(|info| ShownTask {
            tid: info.tid.to_string(),
            parent: match info.parent {
                Tid(0) => String::new(),
                parent => parent.to_string(),
            },
            pid: info.pid,
            name: info.name,
        });
        shown.collect()
    }

    /// Sends a signal to a task. For a task that has ended nothing happens.
    ///
    /// # Errors
    /// The word is no task id, or the number is no signal.
    pub fn signal(&self, tid: &str, number: i32) -> Result<(), ConsoleError> {
        let signal = Signal::from_number(number).ok_or(ConsoleError::NoSignal(number))?;
        let no_task = || ConsoleError::NoTask(tid.to_owned());
        let hex = tid.strip_prefix('t').unwrap_or(tid);
        let number_of = i32::from_str_radix(hex, 16).ok();
        let rank = number_of
            .and_then(|id| Tid(id).rank())
            .ok_or_else(no_task)?;
        if self.session.signal(rank, signal).is_err()
            && let Ok(number) = Message::of(&number)
        {
            // It was started by hand, so it signals itself.
            let _ = self.session.call(rank, SIGNAL, number, Some(SIGNAL_WAIT));
        }
        Ok(())
    }

    /// Waits until all tasks have ended. If all remaining tasks wait for each other, it ends them.
    pub fn wait(&self) {
        self.machine.wait();
    }

    /// Ends all tasks.
    pub fn end(&self) {
        self.machine.close();
        self.machine.end_tasks();
    }

    /// Returns the exit code of the first task that failed, as a shell shows it; 0 if none has.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let ends = self.ends.lock();
        let codes = ends.values().map(|end| match end {
            End::Exited(code) => *code as u8,
            End::Signalled(number) => 128_u8.saturating_add(*number as u8),
            End::TimedOut { .. } => 1,
        });
        codes.into_iter().find(|code| *code != 0).unwrap_or(0)
    }
}
