//! The interface that programs see. Nothing in it depends on the platform, which is chosen once, when the session begins.

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
pub use port::Port;
pub use quiescence::Quiescence;
pub use rpc::{Call, Reply};
pub use spawn::SpawnOptions;
pub use upcall::{detect_waiting_upcalls, must_not_wait};

/// How long a peer may be silent before it is taken for lost, unless the program says otherwise.
pub const SILENCE: Duration = Duration::from_secs(3);

/// A process's part in a session. Clones are the same session; it ends with the last of them.
///
/// Its ports, groups and communicators do not keep it: once it has ended, or when it ends while they wait, their operations fail with [`Error::Over`]. So upcalls may keep
/// those. One that needs the session itself keeps what [`downgrade`](Session::downgrade) gives; one that keeps a clone keeps the session until [`end`](Session::end).
#[derive(Clone)]
pub struct Session {
    keeper: Arc<Keeper>,
}

/// A session, for those that do not keep it from ending, such as upcalls.
#[derive(Clone, Default)]
pub struct WeakSession {
    keeper: Weak<Keeper>,
}

impl fmt::Debug for WeakSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSession").finish_non_exhaustive()
    }
}

/// Ends the session with the last [`Session`], although ports may hold its core for longer.
struct Keeper {
    core: Arc<Core>,
}

/// What goes to several peers at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Multicast {
    /// Peers that were found to hear this process's multicasts, now: what is meant for two of them or more goes to them together.
    pub to: Vec<Rank>,
    /// Frames that went so until now.
    pub frames: u64,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.core.end();
    }
}

impl WeakSession {
    /// The session.
    ///
    /// # Errors
    /// [`Error::Over`]: it has ended.
    pub fn upgrade(&self) -> Result<Session, Error> {
        let keeper = self.keeper.upgrade().ok_or(Error::Over)?;
        Ok(Session { keeper })
    }
}

impl Session {
    /// Joins the session that this process was started in by `antiphon launch`, over the platform that it names. In a simulated process this is the session that its program
    /// was given.
    ///
    /// # Errors
    /// Why it cannot: variables that are absent or malformed, peers that did not come.
    pub fn join() -> Result<Self, Error> {
        if let Some(runtime) = hook::runtime() {
            return runtime.session().upgrade();
        }
        let info = LaunchInfo::from_environment().map_err(JoinError::from)?;
        crate::platform::join(&info)
    }

    /// The same, with a time for which a peer may be silent before it is taken for lost. Whoever launches the program may say another (`antiphon launch --silence`,
    /// `ANTIPHON_SILENCE`). Processes of a session should say the same.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub fn join_with_silence(silence: Duration) -> Result<Self, Error> {
        if hook::runtime().is_some() {
            return Self::join();
        }
        let mut info = LaunchInfo::from_environment().map_err(JoinError::from)?;
        info.silence.get_or_insert(silence);
        crate::platform::join(&info)
    }

    /// Joins a running session of this user as one more process, which somebody has started by hand: the
    /// session of a name, or the only one that can be joined. `antiphon launch --joinable NAME` and
    /// [`Registry::announce`](crate::platform::Registry::announce) let a session be joined so.
    ///
    /// The process has no parent, and ends when it likes. Its host is that of the launcher. Nobody can
    /// [signal](Self::signal) it but itself.
    ///
    /// # Errors
    /// There is no such session, or there are several, which are named; it cannot be joined.
    pub fn join_existing(name: Option<&str>) -> Result<Self, Error> {
        crate::platform::join(&LaunchInfo::of_running_session(name)?)
    }

    /// A session over a platform that has been joined. `silence` is how long a peer may be silent before it is taken for lost.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub fn over<P: Platform>(
        platform: P,
        inbox: P::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Self, Error> {
        platform.open(inbox, info, silence)
    }

    /// The same, for [`Platform::open`]: compiles the protocols for a platform.
    ///
    /// # Errors
    /// As there.
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
        for rank in 0..info.size.max(info.rank + 1) {
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
        let failed = |source| JoinError::System {
            platform: P::NAME,
            what: "start the session's thread".into(),
            source,
        };
        let engine = Node::begin(platform, inbox, myself, dispatcher.clone()).map_err(failed)?;
        Ok(Self::with::<P::Links>(engine, dispatcher, info))
    }

    /// A session over an engine whose links are `L`.
    pub(crate) fn with<L: Links>(
        engine: Arc<dyn Engine>,
        dispatcher: Arc<Dispatcher>,
        info: &LaunchInfo,
    ) -> Self {
        let core = Arc::new(Core::new::<L>(engine, dispatcher, info));
        let keeper = Arc::new(Keeper { core });
        Self { keeper }
    }

    /// The same session, for those that do not keep it from ending.
    #[must_use]
    pub fn downgrade(&self) -> WeakSession {
        WeakSession {
            keeper: Arc::downgrade(&self.keeper),
        }
    }

    /// Takes leave although upcalls may keep clones: drops all upcalls, and with them what they keep.
    pub fn end(self) {
        self.core().dispatcher.drop_upcalls();
    }

    /// Ends the session now, whoever keeps clones of it: for handles that cannot be dropped while another thread waits by them. What waits fails with [`Error::Over`].
    pub fn end_for_all(&self) {
        self.core().end();
    }

    /// That the session goes on.
    ///
    /// # Errors
    /// [`Error::Over`]: it has ended.
    pub fn check(&self) -> Result<(), Error> {
        self.core().check()
    }

    /// This process's rank.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.core().rank
    }

    /// How many processes the session began with; their ranks are below it.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.core().founders
    }

    /// How many processes there have been, those that were spawned included.
    #[must_use]
    pub fn population(&self) -> u32 {
        self.core().dispatcher.size()
    }

    /// The process that had this one started, by [`spawn`](Self::spawn) or with launch info that it was [allotted](Self::allot); none of those that the session began with has one.
    #[must_use]
    pub fn parent(&self) -> Option<Rank> {
        self.core().parent
    }

    /// A process's name.
    #[must_use]
    pub fn name_of(&self, rank: Rank) -> String {
        self.core().dispatcher.name_of(rank)
    }

    /// The platform's name.
    #[must_use]
    pub fn platform(&self) -> &'static str {
        self.core().engine.platform()
    }

    /// What goes by the platform's multicast, if it has one: nothing on most.
    #[must_use]
    pub fn multicast(&self) -> Multicast {
        self.core().engine.multicast()
    }

    /// Sets how many bytes other processes may leave unread at this process's ports, all together and with what each message takes besides its payload. Half of the memory that the process may use, if
    /// nothing is said. Senders that may wait are held long before ([`Port::send`](Port::send)), at 4 MiB a port: this is for those that may not, or do not. Beyond it the process of which most lies
    /// unread is taken for lost, as far as this one is concerned: what waits for it ends with [`Error::Lost`], which names it, the port and the bytes, and so do all later receipts from it and the next
    /// one from anybody; messages that it sends to ports are not heard any more. What lies here of it can be received before, until room is needed for others.
    pub fn limit_unread(&self, bytes: usize) {
        self.core().dispatcher.mailbox.limit(bytes);
    }

    /// Sets how many bytes may wait here for other processes because those take nothing, all together and with what each message takes besides its payload. Half of the memory that the process may use,
    /// if nothing is said. Threads that send wait long before, at some MiB for a peer ([`Port::send`](Port::send)): this is for what upcalls send, for answers and for groups, which wait for nobody.
    /// Beyond it the process for which most waits is taken for lost, as far as this one is concerned, and what waited is let go of: what waits for it ends with [`Error::Lost`], which names it and
    /// the bytes. Over `udp` it can be heard of again; over other platforms the two have no more to do with each other, though it may live. The message that was sent last does not count, and what waits
    /// for one peer counts from 4 MiB on (`tcp`: 1 MiB). Nothing is bounded over `local` and in simulations.
    pub fn limit_untaken(&self, bytes: usize) {
        self.core().dispatcher.flow_control.limit(bytes);
    }

    /// Launch infos for processes that the program starts: each of them joins with [`LaunchInfo::to_environment`] in its environment. Over `local` they are for threads, each of which joins with one by
    /// [`platform::join`](crate::platform::join).
    ///
    /// # Errors
    /// Why there can be no more; or this is an upcall, as over some platforms another process must be asked.
    #[track_caller]
    pub fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, Error> {
        upcall::must_not_wait()?;
        Ok(self.core().allot(count)?)
    }

    /// Runs what has come without waiting: for programs that compute for long and want upcalls on this thread.
    pub fn poll(&self) {
        self.core().poll();
    }

    /// Waits until something holds that upcalls bring about, or a time has passed by [`thread::now`](crate::thread::now); whether it holds. This thread drives the session meanwhile, so upcalls run on
    /// it and nobody is woken. `holds` is looked at often and must not wait; what it reads must be safe to read while upcalls run on another thread.
    ///
    /// # Errors
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

    fn core(&self) -> &Core {
        &self.keeper.core
    }
}
