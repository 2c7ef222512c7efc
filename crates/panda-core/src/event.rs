//! A platform's reports of frames and peers.

use crate::message::Message;

/// A process's number in its session, from 0. Processes that are spawned later get the next
/// numbers.
pub type Rank = u32;

/// A report of a platform's receiving end.
#[derive(Debug, Clone)]
pub enum Event {
    /// A frame of a process of this session. The platform drops frames of strangers. Frames of a
    /// session's own process may still hold anything.
    Frame {
        /// The sender.
        from: Rank,
        /// The frame without the platform's own headers.
        frame: Message,
    },
    /// A frame that a process of this session multicast to several. This process may be one of
    /// them.
    Multicast {
        /// The sender.
        from: Rank,
        /// The frame.
        frame: Message,
    },
    /// A peer hears this process's multicasts.
    Hears {
        /// The peer.
        rank: Rank,
    },
    /// A peer cannot be reached any more. No event comes from it afterwards unless it joins again.
    Lost {
        /// The peer.
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

/// The platform's knowledge of a peer's loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Whether the process has certainly ended and never acts again. Its system closed its
    /// connection, or its process number is gone. Otherwise it may only be cut off or stopped.
    pub is_certain: bool,
    /// Whether the process has said that it ends its session. Then its end is certain, too.
    pub has_left: bool,
    /// Reason, in words that follow the peer's name: "closed its connection".
    pub reason: String,
}

/// The willingness of a peer to take more now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// More may be sent.
    Free,
    /// The peer is slow: the frame is kept, but a thread that may wait should wait for
    /// [`Event::Room`].
    Congested,
}

/// Progress of bytes to and from a peer. It is compared with an earlier value for the same peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfer {
    /// Bytes that have come from it, of whole frames or not.
    pub came: u64,
    /// Bytes that it has taken, or its system for it.
    pub taken: u64,
    /// Bytes that it has not taken yet.
    pub waiting: u64,
}
