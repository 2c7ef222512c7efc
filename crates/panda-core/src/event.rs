//! What a platform reports of frames and peers.

use crate::message::Message;

/// A process's number in its session, from 0. Processes that are spawned later get the next numbers.
pub type Rank = u32;

/// What the receiving end of a platform reports.
#[derive(Debug, Clone)]
pub enum Event {
    /// A frame of a process of this session. Frames of strangers are dropped by the platform; frames of a session's own process may still hold anything.
    Frame {
        /// The sender.
        from: Rank,
        /// What it sent, without the platform's own headers.
        frame: Message,
    },
    /// A frame that a process of this session multicast to several, of which this one may be one.
    Multicast {
        /// The sender.
        from: Rank,
        /// What it sent.
        frame: Message,
    },
    /// A peer gets what this process multicasts.
    Hears {
        /// The peer.
        rank: Rank,
    },
    /// A peer cannot be reached any more. Nothing comes from it after this unless it joins again.
    Lost {
        /// Who.
        rank: Rank,
        /// How that is known.
        loss: Loss,
    },
    /// A process joined after the session had begun, or joined again after it was lost.
    Joined {
        /// Its rank.
        rank: Rank,
        /// Its name, for messages to people.
        name: String,
    },
    /// A peer that was [`Flow::Congested`] has room again.
    Room {
        /// The peer.
        to: Rank,
    },
}

/// How a platform knows that a peer is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The process is known to have ended (its connection was closed by its system, its process number is gone): it will never act again. Otherwise it may only be
    /// cut off or stopped.
    pub is_certain: bool,
    /// The process has said that it ends its session. Then its end is certain, too.
    pub has_left: bool,
    /// In words, to follow the peer's name: "closed its connection".
    pub reason: String,
}

/// Whether more should be sent to a peer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    Free,
    /// The peer is slow: the frame is kept, but a thread that may wait should wait for [`Event::Room`].
    Congested,
}

/// How far bytes to and from a peer are. It is compared with what was said before of the same peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfer {
    /// Bytes that have come from it, of whole frames or not.
    pub came: u64,
    /// Bytes that it has taken, or its system for it.
    pub taken: u64,
    /// Bytes that it has not taken yet.
    pub waiting: u64,
}
