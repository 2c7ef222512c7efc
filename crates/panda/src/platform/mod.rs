//! The system layer: platforms, and the parameters that say what each one guarantees.
//!
//! A platform carries frames between the processes of a session. Its associated constants are the
//! *platform parameters* of the paper (section 3.2). They say whether frames arrive, whether a
//! broadcast is ordered, and how long a frame may be. The interface layer is compiled once for each
//! platform, with only the protocols that its parameters call for.
//!
//! To write a platform, implement [`Platform`] and [`Inbox`]. Choose [`Platform::Links`] and
//! [`Platform::Order`] by the parameters; a wrong choice does not compile. Then run the conformance
//! suite (`tests/it/conformance`) on it.

use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::message::{Header, Message};
use crate::protocol::group::Order;
use crate::protocol::link::Links;
use crate::session::Session;
use antiphon_runner::limit_of;

pub(crate) mod acceptor;
mod alarm;
pub mod bootstrap;
mod clock;
mod futex;
pub(crate) mod handshake;
pub mod launch_info;
pub(crate) mod linger;
pub mod local;
pub mod mpi;
mod option;
mod pool;
pub mod registry;
pub mod shm;
pub mod spin_policy;
pub mod tcp;
pub mod udp;
mod waiting;

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
/// Many threads call the methods at once. No method may block, because the thread that drives the
/// protocols calls them too. Two drivers that waited for each other would wait for ever.
pub trait Platform: Sized + Send + Sync + 'static {
    /// Names the platform, as `launch --over` knows it.
    const NAME: &'static str;
    /// States that every frame arrives once, unchanged and in order, until the peer is reported
    /// lost. The order is that of the sender's calls of [`send`](Self::send).
    const RELIABLE: bool;
    /// States that [`BROADCAST`](Self::BROADCAST) reaches all ranks in one order, the sender
    /// included. Losses and arrivals of peers have their place in that order too.
    const ORDERED: bool;
    /// Bounds the length of a frame in any session, in bytes; `usize::MAX` if there is no limit.
    const LARGEST: usize;
    /// Sends a frame to every rank in one order, the caller's own rank included. `None` unless the
    /// platform is [`ORDERED`](Self::ORDERED).
    const BROADCAST: Option<fn(&Self, Message)> = None;
    /// Sends one frame to many processes at once, where [`Event::Hears`] has reported them. `None`
    /// if the platform cannot.
    const MULTICAST: Option<Multicast<Self>> = None;

    /// Provides reliable point-to-point links over this platform.
    ///
    /// [`Through`](crate::protocol::link::Through) suits a reliable platform whose frames have no
    /// limit. Others take [`Retransmit`](crate::protocol::link::Retransmit) or
    /// [`Fragment`](crate::protocol::link::Fragment).
    type Links: Links;
    /// Provides total order over this platform.
    ///
    /// [`Bus`](crate::protocol::group::Bus) suits an ordered and reliable platform. Others take
    /// [`Sequencer`](crate::protocol::group::Sequencer).
    type Order: Order;
    /// The receiving end.
    type Inbox: Inbox;

    /// Joins a session.
    ///
    /// Returns when this process can send to the peers of the first [`LaunchInfo::size`] ranks. A
    /// spawned process can send to all processes that were there, and they to it, unless they did
    /// not answer.
    ///
    /// # Errors
    ///
    /// The error says what is missing and what to do about it. It names peers.
    fn join(info: &LaunchInfo) -> Result<(Self, Self::Inbox), JoinError>;

    /// Opens a session over this joined platform: see [`Session::over`].
    ///
    /// The crate that contains this method's code compiles all protocols for the platform. A
    /// platform that repeats the body compiles them in its own crate, and not anew in each program.
    ///
    /// # Errors
    ///
    /// The system starts no more threads.
    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    /// Returns the length in bytes of the longest frame that this process sends in this session.
    fn largest(&self) -> usize {
        Self::LARGEST
    }

    /// Sends a frame to another rank and returns at once.
    ///
    /// The frame has at most [`largest`](Self::largest) bytes, and `to` is never the caller's own
    /// rank. The platform keeps what does not go out now, and sends it while a thread waits on the
    /// inbox. A frame to a lost or unknown rank is dropped. A platform that is not
    /// [`RELIABLE`](Self::RELIABLE) may drop any frame.
    fn send(&self, to: Rank, frame: Message) -> Flow;

    /// Returns whether the platform keeps unsent bytes that no waiter on the inbox has seen yet.
    fn has_kept(&self) -> bool {
        false
    }

    /// Sends a frame made of a header and the rest, if it need not be put together first.
    ///
    /// Returns `None` if the platform cannot, and has sent nothing. The caller then calls
    /// [`send`](Self::send).
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

    /// Makes the waiting [`receive`](Inbox::receive) return, or else the next one. Several wakes
    /// while no thread waits count as one.
    fn wake(&self);

    /// Takes leave of the session.
    ///
    /// The peers learn that this process has ended its session. Frames sent before still reach
    /// them, unless they take none for the time `patience`. Frames sent later go nowhere. A second
    /// call has no effect. Dropping the platform takes leave too.
    fn leave(&self, patience: Duration);

    /// Returns the bytes kept for a peer that does not take them, including each frame's overhead;
    /// 0 if unknown.
    ///
    /// The session asks only after a send was [`Flow::Congested`], and only on
    /// [`RELIABLE`](Self::RELIABLE) platforms. Over others the links keep waiting data.
    fn untaken(&self, _to: Rank) -> usize {
        0
    }

    /// Returns how far bytes to and from a peer have come.
    ///
    /// The session asks only about a peer that has been silent for some time, before it probes the
    /// peer or takes it for lost. One frame may take longer than a peer may be silent. A platform
    /// that does not know returns the default; its frames should not take long.
    fn transfer(&self, _peer: Rank) -> Transfer {
        Transfer::default()
    }

    /// Gives up a peer for which too much waits, though it may live.
    ///
    /// The platform frees what it keeps for the peer as far as it can. It sends nothing more to the
    /// peer and reports nothing more of it, not even its end. If the platform can, it tells the
    /// peer; otherwise the peer finds this process silent.
    fn cut_off(&self, _rank: Rank) {}

    /// Notes that a peer was silent for too long, though it may still be there. A platform whose
    /// session can only end together with all processes then does not wait for that peer.
    fn gave_up(&self, _rank: Rank) {}

    /// Notes that a process ended that this process had started. The platform tells the bootstrap,
    /// so that processes that join later do not look for it. This call may block.
    fn has_ended(&self, _rank: Rank) {}

    /// Allots ranks for processes that will start while the session runs. Each of them joins with
    /// its launch info, and every process gets [`Event::Joined`].
    ///
    /// # Errors
    ///
    /// The error says why no more processes can join.
    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError>;

    /// Starts a program for each launch info that it has allotted, as more processes of the
    /// platform's own kind. Returns `None` if they are operating-system processes, which any
    /// process can start.
    fn start(
        &self,
        _program: &OsStr,
        _args: &[OsString],
        _allot: &dyn Fn() -> Result<Vec<LaunchInfo>, JoinError>,
    ) -> Option<Result<Vec<Rank>, Error>> {
        None
    }

    /// Ends processes that [`start`](Self::start) has started.
    fn take_back(&self, _started: &[Rank]) {}
}

/// A platform's way to send one frame to many processes at once.
pub struct Multicast<P> {
    /// Sends a frame of at most [`largest`](Platform::largest) bytes to all processes that hear it.
    /// Those include all that [`Event::Hears`] reported. Any of them may miss it, or get it twice
    /// or late.
    pub send: fn(&P, Message),
    /// Tells the platform that a reported process does not seem to hear. Nothing more goes to it
    /// this way until it is reported again.
    pub is_deaf: fn(&P, Rank),
}

/// The receiving end of a platform. One thread at a time holds it, not always the same one.
pub trait Inbox: Send {
    /// Notes that a wait begins, and whether this process has sent anything since the last one. A
    /// spin is in a peer's way only after a send. The call comes before the
    /// [receipt](Self::receive) that may wait.
    fn begin_wait(&mut self, _has_sent: bool) {}

    /// Appends what has arrived to `events`: at least one event if any is there.
    ///
    /// If none is there, waits for an event, for [`Platform::wake`], or until `until` (`None`: for
    /// ever). A time in the past makes this a poll that never enters the kernel's scheduler. May
    /// return with nothing. Appends a bounded number of events at a time.
    ///
    /// Returns the time if it has just read the clock, so that its caller need not.
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant>;

    /// Does the same as [`receive`](Self::receive), but may offer a frame to `taker` first.
    ///
    /// Only a short frame that comes alone is offered, before anything is made of it. If `taker`
    /// takes it, this returns without waiting, and the frame is no event.
    fn receive_for(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<Event>,
        _taker: &mut dyn Taker,
    ) -> Option<Instant> {
        self.receive(until, events)
    }
}

/// A waiting thread's offer to take a frame as it comes.
pub trait Taker {
    /// Takes a frame that a process sent; returns false if it does not want it. The inbox asks only
    /// while no event precedes the frame.
    fn take(&mut self, from: Rank, frame: &[u8]) -> bool;
}

/// A taker that takes no frame.
pub struct NoTaker;

impl Taker for NoTaker {
    fn take(&mut self, _from: Rank, _frame: &[u8]) -> bool {
        false
    }
}

/// Reason why a process could not join a session.
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
    /// Peers ended before they joined.
    #[error(
        "{platform}: {ended} ended before joining, so the session cannot begin: see its output, and whether it joins the session"
    )]
    NeverCame {
        /// The platform's name.
        platform: &'static str,
        /// Their names.
        ended: String,
    },
    /// A system call failed.
    #[error("{platform}: cannot {what}: {}", reason(.source))]
    System {
        /// The platform's name.
        platform: &'static str,
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system starts no more threads.
    #[error("{platform}: cannot start a thread: {source}{}", limit_of(.source))]
    NoThread {
        /// The platform's name.
        platform: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The platform cannot do it; the text says what to do instead.
    #[error("{platform}: {why}")]
    Refused {
        /// The platform's name.
        platform: &'static str,
        /// Why, and what to do.
        why: String,
    },
}

/// Returns why a call failed, with the limit that it met. The system has one number for a read that
/// timed out and for a refused thread, and a word that fits neither.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::WouldBlock => "no answer came in time".into(),
        _ => format!("{error}{}", limit_of(error)),
    }
}

impl JoinError {
    /// Makes the error of a failed system call.
    pub(crate) fn system<P: Platform>(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::System {
            platform: P::NAME,
            what: what.into(),
            source,
        }
    }

    /// Makes the error of something that the platform cannot do; `why` says what to do instead.
    pub(crate) fn refused<P: Platform>(why: impl Into<String>) -> Self {
        Self::Refused {
            platform: P::NAME,
            why: why.into(),
        }
    }

    /// Makes the error of founders that ended before they joined.
    pub(crate) fn never_came<P: Platform>(names: impl IntoIterator<Item = String>) -> Self {
        Self::NeverCame {
            platform: P::NAME,
            ended: names.into_iter().collect::<Vec<_>>().join(", "),
        }
    }

    /// Makes the error of founders that did not come in time.
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

/// Joins over the platform that the launch info names.
///
/// This is the one place where a platform is chosen. Peers may be silent for
/// [`LaunchInfo::silence`], or else for [`SILENCE`](crate::session::SILENCE).
///
/// # Errors
///
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
