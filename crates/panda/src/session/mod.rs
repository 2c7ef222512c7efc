//! The interface that programs see. It does not depend on the platform, which is chosen once, when
//! the session begins.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::hook;
use crate::platform::{JoinError, LaunchInfo, Platform, Rank};
use crate::protocol::group::Myself;
use crate::protocol::link::Links;
use core::Core;
use dispatcher::Dispatcher;
use engine::{Engine, Node};
use names::number_of;

mod clock;
mod communicator;
mod core;
pub(crate) mod dispatcher;
pub(crate) mod engine;
mod flow_control;
mod group;
mod learn;
mod lent;
mod mailbox;
mod membership;
mod memory;
mod names;
mod numbers;
mod pending_requests;
mod port;
mod quiescence;
mod rpc;
mod signal;
mod spawn;
pub(crate) mod upcall;
mod watching;

pub use communicator::Communicator;
pub use dispatcher::{Arrived, Probed};
pub(crate) use engine::WaitsFor;
pub use group::Group;
pub use membership::Replica;
pub use port::Port;
pub use quiescence::Quiescence;
pub use rpc::{Call, Reply};
pub use spawn::SpawnOptions;
pub use upcall::{detect_waiting_upcalls, must_not_wait};

/// Default time for which a peer may be silent before it is taken for lost.
pub const SILENCE: Duration = Duration::from_secs(3);

/// A process's part in a session. Clones are the same session; it ends with the last of them.
///
/// Ports, groups and communicators do not keep the session alive. Once it has ended, their
/// operations fail with [`Error::Over`], also those that wait. So upcalls may keep them. An upcall
/// that needs the session itself keeps what [`downgrade`](Session::downgrade) returns. An upcall
/// that keeps a clone keeps the session until [`end`](Session::end).
#[derive(Clone)]
pub struct Session {
    keeper: Arc<Keeper>,
}

/// A reference to a session that does not keep it alive, for instance for upcalls.
#[derive(Clone, Default)]
pub struct WeakSession {
    keeper: Weak<Keeper>,
}

impl fmt::Debug for WeakSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSession").finish_non_exhaustive()
    }
}

/// Owner that ends the session with the last [`Session`], although ports may hold its core for
/// longer.
struct Keeper {
    core: Arc<Core>,
}

/// Peers and frames that the platform's multicast serves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Multicast {
    /// Peers that hear this process's multicasts now. A frame for two or more of them goes to them
    /// together.
    pub to: Vec<Rank>,
    /// Frames sent by multicast until now.
    pub frames: u64,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.core.end();
    }
}

impl WeakSession {
    /// Returns the session.
    ///
    /// # Errors
    ///
    /// [`Error::Over`]: the session has ended.
    pub fn upgrade(&self) -> Result<Session, Error> {
        let keeper = self.keeper.upgrade().ok_or(Error::Over)?;
        Ok(Session { keeper })
    }
}

impl Session {
    /// Joins the session in which `antiphon launch` started this process, over the platform that it
    /// names. A simulated process gets the session that its program was given.
    ///
    /// # Errors
    ///
    /// Environment variables are absent or malformed, or peers did not come.
    pub fn join() -> Result<Self, Error> {
        if let Some(runtime) = hook::runtime() {
            return runtime.session().upgrade();
        }
        let info = LaunchInfo::from_environment().map_err(JoinError::from)?;
        crate::platform::join(&info)
    }

    /// Joins as [`join`](Self::join) does, with a time for which a peer may be silent before it is
    /// taken for lost. The launcher may set another time (`antiphon launch --silence`,
    /// `ANTIPHON_SILENCE`). All processes of a session should set the same one.
    ///
    /// # Errors
    ///
    /// See [`join`](Self::join).
    pub fn join_with_silence(silence: Duration) -> Result<Self, Error> {
        if hook::runtime().is_some() {
            return Self::join();
        }
        let mut info = LaunchInfo::from_environment().map_err(JoinError::from)?;
        info.silence.get_or_insert(silence);
        crate::platform::join(&info)
    }

    /// Joins a running session of this user as one more process, started by hand.
    ///
    /// `name` chooses the session; `None` means the only one that can be joined. `antiphon launch
    /// --joinable NAME` and [`Registry::announce`](crate::platform::Registry::announce) make a
    /// session joinable.
    ///
    /// The process has no parent, and ends when it likes. Its host is that of the launcher. Only
    /// the process itself can [signal](Self::signal) it.
    ///
    /// # Errors
    ///
    /// There is no such session, there are several (the error names them), or it cannot be joined.
    pub fn join_existing(name: Option<&str>) -> Result<Self, Error> {
        crate::platform::join(&LaunchInfo::of_running_session(name)?)
    }

    /// Makes a session over a platform that has been joined. `silence` is how long a peer may be
    /// silent before it is taken for lost.
    ///
    /// # Errors
    ///
    /// The system starts no more threads.
    pub fn over<P: Platform>(
        platform: P,
        inbox: P::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Self, Error> {
        platform.open(inbox, info, silence)
    }

    /// Does the work of [`Platform::open`]: compiles the protocols for a platform.
    ///
    /// # Errors
    ///
    /// See [`Platform::open`].
    pub fn with_protocols<P: Platform>(
        platform: P,
        inbox: P::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Self, Error> {
        let since_epoch = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let birth = since_epoch.as_millis() as u64 & ((1 << 43) - 1);
        let dispatcher = Arc::new(Dispatcher::of(birth));
        // Of others that came later the platform tells.
        for rank in 0..info.size {
            dispatcher.joined(rank, format!("rank {rank}"));
        }
        dispatcher.joined(info.rank, info.name.clone());
        let myself = Myself {
            rank: info.rank,
            size: info.size,
            is_founder: info.rank < info.size,
            birth,
            silence,
        };
        let failed = |source| JoinError::NoThread {
            platform: P::NAME,
            source,
        };
        let engine = Node::begin(platform, inbox, myself, dispatcher.clone()).map_err(failed)?;
        Ok(Self::with::<P::Links>(engine, dispatcher, info))
    }

    /// Makes a session over an engine whose links are `L`.
    pub(crate) fn with<L: Links>(
        engine: Arc<dyn Engine>,
        dispatcher: Arc<Dispatcher>,
        info: &LaunchInfo,
    ) -> Self {
        let core = Arc::new(Core::new::<L>(engine, dispatcher, info));
        let keeper = Arc::new(Keeper { core });
        Self { keeper }
    }

    /// Returns a reference to the same session that does not keep it alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakSession {
        WeakSession {
            keeper: Arc::downgrade(&self.keeper),
        }
    }

    /// Ends the session although upcalls may keep clones: drops all upcalls and what they keep.
    pub fn end(self) {
        self.core().dispatcher.drop_upcalls();
    }

    /// Ends the session now, also for all clones. Handles that cannot be dropped while another
    /// thread waits on them need this. Waits fail with [`Error::Over`].
    pub fn end_for_all(&self) {
        self.core().end();
    }

    /// Checks that the session goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Over`]: it has ended.
    pub fn check(&self) -> Result<(), Error> {
        self.core().check()
    }

    /// Returns this process's rank.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.core().rank
    }

    /// Returns how many processes the session began with; their ranks are below that number.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.core().founders
    }

    /// Returns how many processes there have been, including spawned ones.
    #[must_use]
    pub fn population(&self) -> u32 {
        self.core().dispatcher.size()
    }

    /// Returns the process that had this one started, by [`spawn`](Self::spawn) or by
    /// [`allot`](Self::allot). Processes that the session began with have none.
    #[must_use]
    pub fn parent(&self) -> Option<Rank> {
        self.core().parent
    }

    /// Returns a process's name.
    #[must_use]
    pub fn name_of(&self, rank: Rank) -> String {
        self.core().dispatcher.name_of(rank)
    }

    /// Returns the platform's name.
    #[must_use]
    pub fn platform(&self) -> &'static str {
        self.core().engine.platform()
    }

    /// Returns the peers and frames of the platform's multicast; on most platforms there are none.
    #[must_use]
    pub fn multicast(&self) -> Multicast {
        self.core().engine.multicast()
    }

    /// Sets how many bytes other processes may leave unread at all of this process's ports
    /// together.
    ///
    /// Each message counts with its overhead besides its payload. The default is half of the memory
    /// that the process may use. Senders that may wait are held long before, at 4 MiB a port
    /// ([`Port::send`](Port::send)). So this limit is for senders that may not wait, or do not.
    ///
    /// Beyond the limit, this process takes the process with the most unread bytes for lost. Waits
    /// for that process end with [`Error::Lost`], which names it, the port and the bytes. So do all
    /// later receipts from it, and the next receipt from any process. Later messages from it to
    /// ports are refused. Its unread messages can still be received, until their room is needed for
    /// others.
    pub fn limit_unread(&self, bytes: usize) {
        self.core().dispatcher.mailbox.limit(bytes);
    }

    /// Sets how many bytes may wait here for other processes because those take nothing.
    ///
    /// Each message counts with its overhead besides its payload. The default is half of the memory
    /// that the process may use. Threads that send wait long before, at some MiB a peer
    /// ([`Port::send`](Port::send)). So this limit is for messages of upcalls, replies and groups,
    /// which wait for no peer.
    ///
    /// Beyond the limit, this process takes the process for which most waits for lost, and frees
    /// what waited. Waits for that process end with [`Error::Lost`], which names it and the bytes.
    /// Over `udp` it can be heard of again. Over other platforms the two have no more to do with
    /// each other, though it may live.
    ///
    /// The message sent last does not count, and what waits for one peer counts from 4 MiB on
    /// (`tcp`: 1 MiB). Nothing is bounded over `local` and in simulations.
    pub fn limit_untaken(&self, bytes: usize) {
        self.core().dispatcher.flow_control.limit(bytes);
    }

    /// Returns launch infos for processes that the program starts.
    ///
    /// Each of them joins with [`LaunchInfo::to_environment`] in its environment. Over `local` they
    /// are for threads, and each joins by [`platform::join`](crate::platform::join).
    ///
    /// # Errors
    ///
    /// No more processes can join, with the reason. Or this is an upcall, since some platforms must
    /// ask another process.
    #[track_caller]
    pub fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, Error> {
        upcall::must_not_wait()?;
        Ok(self.core().allot(count)?)
    }

    /// Takes and runs what has come, without waiting. Programs that compute for long call it to run
    /// upcalls on this thread.
    pub fn poll(&self) {
        self.core().poll();
    }

    /// Waits until a condition holds that upcalls bring about, or until a time by
    /// [`thread::now`](crate::thread::now). Returns whether the condition holds.
    ///
    /// This thread drives the session meanwhile. So upcalls run on it, and no thread need be woken.
    /// `holds` is called often and must not block. What it reads must be safe to read while upcalls
    /// run on another thread.
    ///
    /// # Errors
    ///
    /// This is an upcall.
    #[track_caller]
    pub fn wait_until(
        &self,
        mut holds: impl FnMut() -> bool,
        until: Option<Instant>,
    ) -> Result<bool, Error> {
        upcall::must_not_wait()?;
        if holds() {
            return Ok(true);
        }
        let what = "what upcalls bring about";
        Ok(self.core().wait(what, holds, until))
    }

    /// Has threads in [`wait_until`](Self::wait_until) look at their conditions again. A thread of
    /// the program calls it after it has brought about such a condition itself. Upcalls need not.
    pub fn notify(&self) {
        self.core().notify();
    }

    fn core(&self) -> &Core {
        &self.keeper.core
    }
}
