//! The system layer: what a platform gives, and what it says about what it gives.
//!
//! A platform carries frames between the processes of a session. Its associated constants are the *platform parameters* of the paper (section 3.2): whether
//! frames arrive, whether a broadcast is ordered, how long a frame may be. The interface layer is compiled once for each platform, with the protocols that
//! the parameters call for and no others.
//!
//! To write a platform: implement [`Platform`] and [`Inbox`], choose [`Platform::Links`] and [`Platform::Order`] by the parameters (a wrong choice does not
//! compile), and run the conformance suite (`tests/it/conformance`) on it.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::message::{Header, Message};
use crate::protocol::group::Order;
use crate::protocol::link::Links;
use crate::session::Session;

pub(crate) mod acceptor;
mod alarm;
pub mod bootstrap;
mod clock;
mod futex;
mod given;
pub(crate) mod handshake;
pub mod launch_info;
pub(crate) mod linger;
pub mod local;
pub mod mpi;
mod option;
pub mod patience;
mod pause;
mod pool;
pub mod registry;
pub mod shm;
pub mod tcp;
pub mod udp;
mod waiting;
pub(crate) mod yields;

pub use antiphon_panda_core::{Event, Flow, Loss, Rank, Transfer};
pub use bootstrap::Bootstrap;
pub use launch_info::{LaunchInfo, LaunchInfoError, Secret};
pub use local::Local;
pub use mpi::Mpi;
pub use registry::{Joinable, Registry, RegistryError};
pub use shm::Shm;
pub use tcp::Tcp;
pub use udp::Udp;

/// A way to carry frames between processes.
///
/// Methods are called from many threads at once. None of them may block: the thread that drives the protocols calls them too, and two drivers that wait for each
/// other would wait for ever.
pub trait Platform: Sized + Send + Sync + 'static {
    /// The platform's name, as `launch --over` knows it.
    const NAME: &'static str;
    /// Every frame arrives once, unchanged, and in the order of its sender's calls of [`send`](Self::send), until the peer is reported lost.
    const RELIABLE: bool;
    /// [`BROADCAST`](Self::BROADCAST) reaches all ranks, the sender's own included, in one order at all of them; losses and arrivals of peers stand in that order as well.
    const ORDERED: bool;
    /// Bytes of the longest frame in any session; `usize::MAX` if there is no limit.
    const LARGEST: usize;
    /// Sends a frame to every rank, the caller's own included, in one order. `None` unless the platform is
    /// [`ORDERED`](Self::ORDERED).
    const BROADCAST: Option<fn(&Self, Message)> = None;
    /// How one frame reaches many processes at once, wherever [`Event::Hears`] says so; `None` where it cannot.
    const MULTICAST: Option<Multicast<Self>> = None;

    /// Reliable point-to-point links over this platform: [`Through`](crate::protocol::link::Through) if it is reliable and frames have no limit, else
    /// [`Retransmit`](crate::protocol::link::Retransmit) or [`Fragment`](crate::protocol::link::Fragment).
    type Links: Links;
    /// Total order over this platform: [`Bus`](crate::protocol::group::Bus) if it is ordered and reliable, else [`Sequencer`](crate::protocol::group::Sequencer).
    type Order: Order;
    /// The receiving end.
    type Inbox: Inbox;

    /// Joins a session. Returns when the peers of the first [`LaunchInfo::size`] ranks can be sent to. A process that was spawned can send to all that were there, and
    /// they to it, unless they did not answer.
    ///
    /// # Errors
    /// What is missing and what to do about it; peers by name.
    fn join(info: &LaunchInfo) -> Result<(Self, Self::Inbox), JoinError>;

    /// Opens a session over what was joined: see [`Session::over`]. All protocols are compiled for the platform where this is. A platform that has these words itself has
    /// them compiled with it, and not anew with each program.
    ///
    /// # Errors
    /// The system starts no more threads.
    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    /// Bytes of the longest frame that this process sends in this session.
    fn largest(&self) -> usize {
        Self::LARGEST
    }

    /// Sends a frame of at most [`largest`](Self::largest) bytes to another rank (never to the caller's own) and returns at once. What does not go out now is kept and
    /// goes out while the inbox is waited on. To a rank that is lost or unknown: does nothing. A platform that is not [`RELIABLE`](Self::RELIABLE) may drop the frame.
    fn send(&self, to: Rank, frame: Message) -> Flow;

    /// Whether something did not go out that nobody who waits on the inbox has seen yet.
    fn has_kept(&self) -> bool {
        false
    }

    /// Sends a frame that consists of a header and what follows it, where that can be done without putting it together first. `None` where it cannot, and nothing was sent:
    /// [`send`](Self::send) it.
    fn send_parts(&self, _to: Rank, _header: &Header, _rest: &Message) -> Option<Flow> {
        None
    }

    /// Sends several frames to one rank, in their order.
    fn send_run(&self, to: Rank, frames: Vec<Message>) -> Flow {
        let sent = frames.into_iter().map(|frame| self.send(to, frame));
        sent.fold(Flow::Free, |flow, now| match now {
            Flow::Free => flow,
            Flow::Congested => Flow::Congested,
        })
    }

    /// Makes a [`receive`](Inbox::receive) that waits, or else the next one, return. Wakes given while nobody waits count as one.
    fn wake(&self);

    /// Takes leave: the peers learn that this process has ended its session, and what they were sent before still reaches them, unless they take nothing of it for so
    /// long. What is sent later goes nowhere. It has no effect again; a platform that is dropped has done it.
    fn leave(&self, patience: Duration);

    /// Bytes that are kept for a peer because it does not take them, with what each frame takes besides. Asked where a send was [`Flow::Congested`], and only of platforms that are
    /// [`RELIABLE`](Self::RELIABLE): over others the links keep what waits. 0 where it is not known.
    fn untaken(&self, _to: Rank) -> usize {
        0
    }

    /// How far bytes to and from a peer are. Asked only of one that nothing was heard of for some time, before it is asked for a sign of life or taken for lost: a frame may take longer
    /// than a peer may be silent. Nothing where it is not known; then a frame should not take long.
    fn transfer(&self, _peer: Rank) -> Transfer {
        Transfer::default()
    }

    /// So much waits for a peer that it is given up, though it may live: what is kept for it is let go of as far as that can be, nothing more goes to it, and nothing of it is told any more, its end
    /// included. It learns of that where the platform can tell it, and else finds this process silent.
    fn cut_off(&self, _rank: Rank) {}

    /// A peer that may still be there was silent for too long. Where a session can only end together with all its processes that one is not waited for then.
    fn gave_up(&self, _rank: Rank) {}

    /// A process has ended that this one had started. The platform tells it to the bootstrap, so that
    /// processes that join later do not look for it. This may wait.
    fn has_ended(&self, _rank: Rank) {}

    /// Allots ranks for processes that will be started while the session runs; each of them joins with its launch info, and everybody gets [`Event::Joined`].
    ///
    /// # Errors
    /// Why no more processes can join.
    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError>;

    /// Starts a program for each launch info that it has allotted, as more processes of the platform's own kind. `None` where they are the system's, which anybody can start.
    fn start(
        &self,
        _program: &OsStr,
        _args: &[OsString],
        _allot: &dyn Fn() -> Result<Vec<LaunchInfo>, JoinError>,
    ) -> Option<Result<Vec<Rank>, Error>> {
        None
    }

    /// Ends processes that it has [started](Self::start).
    fn take_back(&self, _started: &[Rank]) {}
}

/// How a platform sends one frame to many processes at once.
pub struct Multicast<P> {
    /// Sends a frame of at most [`largest`](Platform::largest) bytes to all that hear it, at least to those that
    /// [`Event::Hears`] reported. Any of them may lack it, or get it twice or late.
    pub send: fn(&P, Message),
    /// Tells the platform that a process does not seem to hear, though it was reported to. Nothing more goes to it so
    /// until it is reported again.
    pub is_deaf: fn(&P, Rank),
}

/// The receiving end of a platform. One thread at a time holds it, not always the same one.
pub trait Inbox: Send {
    /// A wait begins, after this process has sent something since the last one, or not: whether a spin is in a peer's way depends on that. Said before the
    /// [receipt](Self::receive) that may wait.
    fn begin_wait(&mut self, _has_sent: bool) {}

    /// Appends what has arrived to `events`, at least one event if any is there. If none is, waits until one is, or [`Platform::wake`] is called, or `until` has passed
    /// (`None`: for ever); a time in the past makes it a poll that never enters the kernel's scheduler. May return with nothing. Appends a bounded number at a time.
    ///
    /// Returns the time, if it had to read the clock a moment ago: its caller then need not.
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant>;

    /// The same. A frame that comes alone and is short may be offered to who waits for it before anything is made of it; if it is taken, this returns without waiting,
    /// and the frame is no event.
    fn receive_for(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<Event>,
        _taker: &mut dyn Taker,
    ) -> Option<Instant> {
        self.receive(until, events)
    }
}

/// Who may take a frame as it comes.
pub trait Taker {
    /// Takes a frame that a process sent; false if it does not want it. Asked only while no event is before it.
    fn take(&mut self, from: Rank, frame: &[u8]) -> bool;
}

/// Takes no frame.
pub struct NoTaker;

impl Taker for NoTaker {
    fn take(&mut self, _from: Rank, _frame: &[u8]) -> bool {
        false
    }
}

/// Why a process could not join a session.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The environment holds no launch info.
    #[error(transparent)]
    LaunchInfo(#[from] LaunchInfoError),
    /// No running session was found that could be joined by hand.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Peers did not come in time.
    #[error(
        "{platform}: waited {waited_s} s for {missing}, who did not join: see whether they were started, and their output"
    )]
    Missing {
        /// The platform's name.
        platform: &'static str,
        /// How long, in seconds.
        waited_s: u64,
        /// Their names.
        missing: String,
    },
    /// A system call failed.
    #[error("{platform}: cannot {what}: {source}")]
    System {
        /// The platform's name.
        platform: &'static str,
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The platform cannot do it, in words with the mend.
    #[error("{platform}: {why}")]
    Refused {
        /// The platform's name.
        platform: &'static str,
        /// Why, and what to do.
        why: String,
    },
}

impl JoinError {
    /// A failed system call.
    pub(crate) fn system<P: Platform>(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::System {
            platform: P::NAME,
            what: what.into(),
            source,
        }
    }

    /// What the platform cannot do, in words with the mend.
    pub(crate) fn refused<P: Platform>(why: impl Into<String>) -> Self {
        Self::Refused {
            platform: P::NAME,
            why: why.into(),
        }
    }

    /// Founders that did not come in time.
    pub(crate) fn missing<P: Platform>(
        waited: Duration,
        names: impl IntoIterator<Item = String>,
    ) -> Self {
        Self::Missing {
            platform: P::NAME,
            waited_s: waited.as_secs(),
            missing: names.into_iter().collect::<Vec<_>>().join(", "),
        }
    }
}

/// Joins over the platform that the launch info names: the one place where a platform is chosen. Peers may be silent for [`LaunchInfo::silence`], or else for
/// [`SILENCE`](crate::session::SILENCE).
///
/// # Errors
/// There is no such platform, or it could not be joined.
pub fn join(info: &LaunchInfo) -> Result<Session, Error> {
    match info.platform.as_str() {
        Shm::NAME => join_over::<Shm>(info),
        Tcp::NAME => join_over::<Tcp>(info),
        Udp::NAME => join_over::<Udp>(info),
        Mpi::NAME => join_over::<Mpi>(info),
        Local::NAME => join_over::<Local>(info),
        other => Err(JoinError::Refused {
            platform: "panda",
            why: format!("there is no platform {other:?}: give one of shm, tcp, udp, mpi, or local with what Session::allot gives"),
        }
        .into()),
    }
}

fn join_over<P: Platform>(info: &LaunchInfo) -> Result<Session, Error> {
    let (platform, inbox) = P::join(info)?;
    let silence = info.silence.unwrap_or(crate::session::SILENCE);
    Session::over(platform, inbox, info, silence)
}
