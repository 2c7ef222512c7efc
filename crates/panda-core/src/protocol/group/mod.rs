//! Groups: all members deliver the same messages in the same order, and see members come and go at
//! the same points of it.
//!
//! [`Bus`] relies on a platform that orders. [`Sequencer`] orders over one that does not.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Time;
#[cfg(feature = "mutants")]
use super::fault::Fault;
use crate::Rank;
use crate::message::{DecodeError, Message};

mod bus;
mod progress;
mod sequencer;
pub(super) mod transfer;

pub use bus::Bus;
pub use progress::{Placed, Progress, Ticket};
pub use sequencer::Sequencer;
pub use transfer::{StateRequest, TransferId};

/// One membership of one process. A process that leaves and joins again is another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Member {
    /// The process.
    pub rank: Rank,
    /// Birth of the membership, greater than any earlier one of this rank. It holds the birth of
    /// its process, and below that a count of the process's memberships.
    pub birth: u64,
}

impl Member {
    /// Bits of a birth that count the memberships of one process.
    pub const COUNT_BITS: u32 = 16;

    /// Returns the birth of its process, which tells the lives of a rank apart.
    #[must_use]
    pub fn life(self) -> u64 {
        self.birth >> Self::COUNT_BITS
    }
}

/// The members of a group, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct View {
    /// Number of the view, from 1.
    pub number: u64,
    /// The members. The first one orders.
    pub members: Vec<Member>,
}

impl View {
    /// Returns the members' ranks, oldest first.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + '_ {
        self.members.iter().map(|member| member.rank)
    }

    /// Returns whether a rank is in it.
    #[must_use]
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks().any(|r| r == rank)
    }
}

/// An event of a group, which each member gets at the same point of the order.
///
/// Messages and views have places in one order: an event has the same place at all members that are
/// told of it, and the next event has the next place. A member that is expelled may have been told
/// of events behind the place up to which the others went on with it. Those places are void.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupEvent {
    /// A message.
    Message {
        /// Its sender.
        from: Rank,
        /// Its place in the order.
        place: u64,
        /// The payload.
        payload: Message,
    },
    /// Members came or went. This is the first event of a new member.
    View {
        /// The view's number.
        number: u64,
        /// Its place in the order.
        place: u64,
        /// Its members, oldest first.
        members: Vec<Rank>,
        /// Those that were not in the view before.
        joined: Vec<Rank>,
        /// Those that were in the view before.
        left: Vec<Rank>,
    },
    /// The member has left, as it asked. This is the last event.
    Left,
    /// The others went on without this member, or a majority could not be reached. Messages that it
    /// sent may not have been delivered. This is the last event.
    Expelled {
        /// The reason.
        why: String,
    },
}

impl GroupEvent {
    /// Returns its place in the order; `None` for the last event of a membership.
    #[must_use]
    pub fn place(&self) -> Option<u64> {
        match self {
            Self::Message { place, .. } | Self::View { place, .. } => Some(*place),
            Self::Left | Self::Expelled { .. } => None,
        }
    }

    /// Returns whether it ends the membership.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.place().is_none()
    }
}

/// The identity of a protocol's process, and its times.
#[derive(Debug, Clone, Copy)]
pub struct Myself {
    /// Its rank.
    pub rank: Rank,
    /// Number of processes that the session began with.
    pub size: u32,
    /// Whether this process took its rank when the session began, and was not spawned later or
    /// restarted.
    pub is_founder: bool,
    /// Birth, greater than that of any earlier process of this rank, and below 2⁴³.
    pub birth: u64,
    /// Time that a peer may be silent before it is taken for lost.
    pub silence: Duration,
}

/// The actions that a group's protocol asks for, in this order.
#[derive(Debug, Default)]
pub struct Output {
    /// Messages for links.
    pub sends: Vec<(Recipients, Message)>,
    /// Frames for the platform's ordered broadcast.
    pub broadcasts: Vec<Message>,
    /// Events for the upcall.
    pub events: Vec<GroupEvent>,
    /// Begin of a membership: the index of its first event, and the earlier members, oldest first.
    pub entered: Option<(usize, Vec<Rank>)>,
    /// Peers to watch from now on, instead of those named before.
    pub watch: Option<Vec<Rank>>,
    /// A peer that makes this process keep more than any correct one does.
    pub liar: Option<Rank>,
}

/// The receivers of a message.
#[derive(Debug, Clone)]
pub enum Recipients {
    /// One.
    One(Rank),
    /// Several; never the sender.
    All(Arc<[Rank]>),
}

/// The order of a platform's groups: one group, as one process sees it.
pub trait Order: Send + 'static {
    /// States that it relies on a platform that orders.
    const NEEDS_ORDERED: bool;

    /// Makes a group of which this process is no member yet.
    fn new(myself: Myself) -> Self;
    /// Asks to become a member; [`GroupEvent::View`] says when.
    fn join(&mut self, now: Time, out: &mut Output);
    /// Asks to leave once all that was sent is delivered; [`GroupEvent::Left`] says when.
    fn leave(&mut self, now: Time, out: &mut Output);
    /// Returns whether a message sent now is delivered, unless the membership ends before.
    fn takes_messages(&self) -> bool;
    /// Sends a message to all members. Called only if it [takes messages](Self::takes_messages).
    fn send(&mut self, now: Time, payload: Message, out: &mut Output);
    /// Returns whether a thread that may wait should wait before it sends more.
    fn is_congested(&self) -> bool;
    /// Returns whether this process has asked to be a member and not been told otherwise yet.
    fn is_member(&self) -> bool;
    /// Returns whether others' messages wait until this process has given them their places.
    fn leads(&self) -> bool {
        false
    }
    /// Returns whether it is as a [`new`](Self::new) one. Then nothing has been asked, promised,
    /// accepted, learnt or begun on which others may rely.
    fn is_pristine(&self) -> bool;
    /// Takes a message of a peer's link, or a frame of the platform's broadcast.
    ///
    /// # Errors
    ///
    /// It is none of this protocol's; nothing has changed.
    fn receive(
        &mut self,
        now: Time,
        from: Rank,
        message: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError>;
    /// Returns the answer to a message of a group that this process does not follow, because it
    /// follows too many others already. It is `None` unless the sender waits for an answer.
    fn refusal(_message: &Message, _follows: usize) -> Option<Message> {
        None
    }
    /// Notes that another process is there, or comes, at this place of the order. Called if the
    /// platform orders, and this process came after the session's begin.
    fn joined(&mut self, _rank: Rank) {}
    /// Notes that a peer is lost, or its link began anew: messages under way may be gone.
    fn lost(&mut self, now: Time, rank: Rank, is_certain: bool, out: &mut Output);
    /// Sends what was held back to go together, after all simultaneous input was taken.
    fn flush(&mut self, _now: Time, _out: &mut Output) {}
    /// Returns when [`tick`](Self::tick) is next needed.
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// Does what is due.
    fn tick(&mut self, _now: Time, _out: &mut Output) {}
    /// Returns the last view that this process knows to be decided, whether it is in it or not.
    fn last_decided(&self) -> Option<&View> {
        None
    }
    /// Injects a fault into one step of the protocol, to see whether the simulator notices.
    #[cfg(feature = "mutants")]
    fn mutate(&mut self, _fault: Fault) {}
}
