//! Signals to processes of the session.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use antiphon_runner::Signaller;
use parking_lot::Mutex;

use super::core::Core;
use super::{Session, upcall};
use crate::error::Error;
use crate::message::Message;
use crate::platform::{Local, Mpi, Platform, Rank};
use crate::starter::{Signal, ask_to_signal};
use crate::thread;

/// Running processes that this one has started itself, with the means to signal them. A signal goes
/// through the process's keeper, which is its parent. So its number cannot have become another
/// process's.
pub type Children = Arc<Mutex<BTreeMap<Rank, Arc<Signaller>>>>;

/// Name of the service by which a process signals its children for others.
const SERVICE: &str = "antiphon: signal a child";
/// Time that a process has to answer whether it has such a child.
const ANSWER: Duration = Duration::from_secs(5);

impl Session {
    /// Sends a signal to a process of the session.
    ///
    /// The signal goes to the process group, with all that the process has started. This process
    /// itself gets it alone. Returns when the signal is sent; its effect shows later.
    ///
    /// The target is a process that the launcher has started, or one that a process of the session
    /// started by [`spawn`](Self::spawn), on any host. Over `mpi`, processes of `mpirun` cannot be
    /// signalled. Over `local` none can: they are threads of one process. In a simulation the
    /// signals KILL, STOP and CONT work as elsewhere.
    ///
    /// # Errors
    ///
    /// [`Error::NotSignalled`]: the process has ended, or cannot be signalled, with the reason.
    /// There is no such rank. The session has ended. Or this is an upcall.
    #[track_caller]
    pub fn signal(&self, rank: Rank, signal: Signal) -> Result<(), Error> {
        upcall::must_not_wait()?;
        let core = self.core();
        core.check()?;
        if let Err(unknown) = core.check_rank(rank) {
            // It may have been started, and not have joined yet.
            let is_sent = core.starts_processes() && self.signal_started(rank, signal).is_ok();
            return if is_sent { Ok(()) } else { Err(unknown) };
        }
        let refused = |why: String| Error::NotSignalled {
            rank,
            peer: core.dispatcher.name_of(rank),
            signal,
            why,
        };
        if let Some(sent) = core.engine.signal(rank, signal) {
            return sent.map_err(refused);
        }
        match core.engine.platform() {
            Local::NAME => Err(refused(
                "processes over local are threads of one process, which a signal reaches as a whole: send a message".into(),
            )),
            _ if rank == core.rank => signal_this_process(signal).map_err(|e| refused(e.to_string())),
            Mpi::NAME if rank < core.founders => Err(refused(
                "mpirun has started it, and passes signals on to all of its processes or none: signal mpirun, or send a message".into(),
            )),
            _ => self.signal_started(rank, signal).map_err(refused),
        }
    }

    /// Signals another process through the one that started it.
    fn signal_started(&self, rank: Rank, signal: Signal) -> Result<(), String> {
        let core = self.keeper.core.clone();
        if core.starter.is_some() {
            let ask = move || {
                let address = core.starter.as_deref().unwrap_or_default();
                let asked = ask_to_signal(address, (core.secret, core.rank), rank, signal);
                asked.unwrap_or_else(|error| {
                    Err(format!(
                        "cannot ask {address}, which starts this session's processes: {error}"
                    ))
                })
            };
            return thread::blocking(ask);
        }
        if core.children.signal(rank, signal) {
            return Ok(());
        }
        // Its parent is one of the others. A process that has never spawned answers at once that it
        // has no such service.
        let others = (0..self.population()).filter(|other| ![core.rank, rank].contains(other));
        for other in others.filter(|other| self.why_lost(*other).is_none()) {
            let Ok(asked) = Message::of(&(rank, signal)) else {
                continue;
            };
            let answer = self.call(other, SERVICE, asked, Some(ANSWER));
            if answer.is_ok_and(|answer| answer.value::<bool>().unwrap_or(false)) {
                return Ok(());
            }
        }
        Err("it has ended, or no process of the session has started it: signal it where it was started".into())
    }

    /// Signals this process's children on request of others, from now on.
    pub(super) fn serve_signals(&self) -> Result<(), Error> {
        if self.core().starter.is_some() {
            return Ok(());
        }
        let children = self.core().children.clone();
        self.serve(SERVICE, move |call| {
            let asked = call.payload.value::<(Rank, Signal)>();
            let is_sent = asked.is_ok_and(|(rank, signal)| children.signal(rank, signal));
            // A bool can be encoded.
            if let Ok(answer) = Message::of(&is_sent) {
                call.reply.send(answer);
            }
        })
    }
}

impl Core {
    /// Whether processes have been started for this one, or can be.
    fn starts_processes(&self) -> bool {
        self.starter.is_some() || !self.children.lock().is_empty()
    }
}

/// What can be done with children.
trait Signals {
    /// Signals a child; returns false if there is none of that rank.
    fn signal(&self, rank: Rank, signal: Signal) -> bool;
}

impl Signals for Children {
    fn signal(&self, rank: Rank, signal: Signal) -> bool {
        let child = self.lock().get(&rank).cloned();
        child
            .as_ref()
            .inspect(|child| child.signal(signal.number()))
            .is_some()
    }
}

/// Sends a signal to this process, whose number stays its own while it runs.
fn signal_this_process(signal: Signal) -> std::io::Result<()> {
    // SAFETY: `kill` and `getpid` take numbers and touch no memory of ours.
    match unsafe { libc::kill(libc::getpid(), signal.number()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
