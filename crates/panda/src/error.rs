//! Errors of a session, in words that name the peer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::message::DecodeError;
use crate::platform::{JoinError, Rank};
use crate::starter::Signal;
use antiphon_panda_core::number::Reduction;

/// Reason why an operation failed. Its `Debug` prints the message for people, because a `main` that
/// returns the error prints that.
#[derive(thiserror::Error)]
pub enum Error {
    /// A peer is lost. The requested action may or may not have been done.
    #[error("{peer} is lost: it {why}")]
    Lost {
        /// Its rank.
        rank: Rank,
        /// Its name.
        peer: String,
        /// How that is known.
        why: String,
    },
    /// No answer came in the time that the caller gave. The requested action may still be done.
    #[error("{peer} did not answer within {after:?}")]
    TimedOut {
        /// Its rank; `None` if any process would have done.
        rank: Option<Rank>,
        /// Its name.
        peer: String,
        /// The time that the caller gave.
        after: Duration,
    },
    /// The called service is not registered there.
    #[error(
        "{peer} has no service {service:?}: register it there before the first call, for instance before a barrier"
    )]
    NoService {
        /// Its name.
        peer: String,
        /// The service.
        service: String,
    },
    /// The service dropped the call.
    #[error("{peer} ended the call of {service:?} without a reply")]
    NoReply {
        /// Its name.
        peer: String,
        /// The service.
        service: String,
    },
    /// The group went on without this process, or could not go on.
    #[error("this process was expelled from group {group:?}: {why}")]
    Expelled {
        /// The group.
        group: String,
        /// Why.
        why: String,
    },
    /// No member of the group gave the state for which this process joined. The process is not in
    /// the group.
    #[error("no member of group {group:?} gives its state: {why}. Join it as its members do")]
    NoState {
        /// The group.
        group: String,
        /// Why, of each member that was asked.
        why: String,
    },
    /// This process is in the group already, or joins it. A process is in a group once.
    #[error(
        "this process is in group {0:?}, or joins it already: use that membership, or leave first"
    )]
    AlreadyMember(String),
    /// Only members may do this.
    #[error("this process is not a member of group {0:?}: join it first")]
    NotMember(String),
    /// A name cannot be told from another one that this process uses.
    #[error(transparent)]
    SameNumber(#[from] SameNumber),
    /// There is no such rank.
    #[error("there is no rank {rank} in a session of {size}")]
    NoSuchRank {
        /// The rank that was given.
        rank: Rank,
        /// Number of ranks that there are.
        size: u32,
    },
    /// This process, or the root, is not in the list of a collective operation.
    #[error("rank {0} does not take part in this collective operation")]
    NotInCommunicator(Rank),
    /// A process is twice in the list of a collective operation.
    #[error("rank {0} is twice in this list of processes: name each once")]
    TwiceInCommunicator(Rank),
    /// Processes do not take part in the same collective operation.
    #[error(
        "{peer} {why}: all processes of a communicator must call the same operations, in the same order"
    )]
    Mismatch {
        /// Its rank.
        rank: Rank,
        /// Its name.
        peer: String,
        /// What it did.
        why: String,
    },
    /// The program's function of a collective operation panicked, or its result is too long for a
    /// message.
    #[error("{peer} could not combine values: the closure {why}")]
    Panicked {
        /// Its rank.
        rank: Rank,
        /// Its name.
        peer: String,
        /// Its place in the program, and the text of the panic.
        why: String,
    },
    /// Numbers of this type do not have this reduction. Nothing was sent.
    #[error("there is no reduction \"{}\" of numbers of type {of}: bits are of integers", by.name())]
    NoSuchReduction {
        /// The reduction that was asked for.
        by: Reduction,
        /// The name of the type.
        of: &'static str,
    },
    /// A message is longer than the platform takes. Nothing was sent.
    #[error(
        "a message of {length} bytes is too long: over {platform} one has at most {longest}. Send it in parts"
    )]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// Length in bytes of the longest message.
        longest: usize,
        /// The platform's name.
        platform: &'static str,
    },
    /// An upcall tried to wait.
    #[error("an upcall must not wait: at {0}. Start a thread, or answer later")]
    InUpcall(String),
    /// The port has an upcall, which takes all its messages: none can be found there.
    #[error(
        "port {0:?} has an upcall, which takes its messages: have the upcall keep them, or receive at another port"
    )]
    HasUpcall(String),
    /// A process that was to be spawned is not there.
    #[error("cannot spawn {program:?} as rank {rank}: {why}")]
    NotSpawned {
        /// The program.
        program: String,
        /// The rank that it was to have.
        rank: Rank,
        /// Why not, or how it ended.
        why: String,
    },
    /// A process was not sent a signal.
    #[error("cannot send {signal} to {peer}: {why}")]
    NotSignalled {
        /// Its rank.
        rank: Rank,
        /// Its name.
        peer: String,
        /// The signal.
        signal: Signal,
        /// Why not.
        why: String,
    },
    /// This process has ended its session.
    #[error(
        "this process's session is over: keep the Session while its ports, groups and communicators are used"
    )]
    Over,
    /// A message does not decode as the expected type.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The session could not be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
}

/// The kind of thing that a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Named {
    /// Ports.
    Port,
    /// Services.
    Service,
    /// Groups.
    Group,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Port => "port",
            Self::Service => "service",
            Self::Group => "group",
        })
    }
}

/// Two names of one process that have the same number between processes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} {name:?} cannot be told from {what} {other:?}, which this process uses as well: both names are the same number between processes, so change one of them"
)]
pub struct SameNumber {
    /// What they name.
    pub what: Named,
    /// The name that was refused.
    pub name: Arc<str>,
    /// The earlier name.
    pub other: Arc<str>,
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
