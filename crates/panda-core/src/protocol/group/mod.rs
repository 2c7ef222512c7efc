//! Groups: all members deliver the same messages in the same order, and see members come and go at the same points of it.
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
mod sequencer;

pub use bus::Bus;
pub use sequencer::Sequencer;

/// One membership of one process: who leaves and joins again is another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Member {
    /// The process.
    pub rank: Rank,
    /// Greater than that of any earlier membership of this rank: the birth of its process, and below it a count of that process's memberships.
    pub birth: u64,
}

impl Member {
    /// Bits of a birth that count the memberships of one process.
    pub const COUNT_BITS: u32 = 16;

    /// The birth of its process, which tells the lives of a rank apart.
    #[must_use]
    pub fn life(self) -> u64 {
        self.birth >> Self::COUNT_BITS
    }
}

/// Who is in a group, oldest member first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct View {
    /// Views are numbered from 1.
    pub number: u64,
    /// The members. The first one orders.
    pub members: Vec<Member>,
}

impl View {
    /// The members' ranks, oldest first.
    pub fn ranks(&self) -> impl Iterator<Item = Rank> + '_ {
        self.members.iter().map(|member| member.rank)
    }

    /// Whether a rank is in it.
    #[must_use]
    pub fn has(&self, rank: Rank) -> bool {
        self.ranks().any(|r| r == rank)
    }
}

/// What a member is told, at the same point of the order as every other member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupEvent {
    /// A message.
    Message {
        /// Its sender.
        from: Rank,
        /// Its place in the order, the same at all members; grows by one.
        place: u64,
        /// What was sent.
        payload: Message,
    },
    /// Members came or went. The first event of a new member.
    View {
        /// The view's number.
        number: u64,
        /// Its members, oldest first.
        members: Vec<Rank>,
        /// Those that were not in the view before.
        joined: Vec<Rank>,
        /// Those that were in the view before.
        left: Vec<Rank>,
    },
    /// The member has left, as it asked. The last event.
    Left,
    /// The others went on without this member, or a majority could not be reached. Messages that it sent may not have been delivered. The last event.
    Expelled {
        /// In words.
        why: String,
    },
}

/// Who runs a protocol, and its times.
#[derive(Debug, Clone, Copy)]
pub struct Myself {
    /// The rank.
    pub rank: Rank,
    /// How many processes the session began with.
    pub size: u32,
    /// Whether this is the process that took this rank when the session began; not one that was spawned later or restarted.
    pub is_founder: bool,
    /// Greater than that of any earlier process of this rank; below 2⁴³.
    pub birth: u64,
    /// How long a peer may be silent before it is taken for lost.
    pub silence: Duration,
}

/// What a group's protocol wants done, in this order.
#[derive(Debug, Default)]
pub struct Output {
    /// Messages for links.
    pub sends: Vec<(Recipients, Message)>,
    /// Frames for the platform's ordered broadcast.
    pub broadcasts: Vec<Message>,
    /// Upcalls.
    pub events: Vec<GroupEvent>,
    /// Peers to watch from now on, instead of those named before.
    pub watch: Option<Vec<Rank>>,
    /// A peer that has this process keep more than any correct one does.
    pub liar: Option<Rank>,
}

/// To whom a message goes.
#[derive(Debug, Clone)]
pub enum Recipients {
    /// One.
    One(Rank),
    /// Several; never the sender.
    All(Arc<[Rank]>),
}

/// How a platform's groups are ordered: one group, as one process sees it.
pub trait Order: Send + 'static {
    /// Whether it relies on a platform that orders.
    const NEEDS_ORDERED: bool;

    /// A group of which this process is no member yet.
    fn new(myself: Myself) -> Self;
    /// Asks to become a member; [`GroupEvent::View`] says when.
    fn join(&mut self, now: Time, out: &mut Output);
    /// Asks to leave once all that was sent is delivered; [`GroupEvent::Left`] says when.
    fn leave(&mut self, now: Time, out: &mut Output);
    /// Sends a message to all members. Only for members.
    fn send(&mut self, now: Time, payload: Message, out: &mut Output);
    /// Whether a thread that may wait should wait before it sends more.
    fn is_congested(&self) -> bool;
    /// Whether this process has asked to be a member and is not told otherwise yet.
    fn is_member(&self) -> bool;
    /// Whether others' messages wait until this process has given them their places.
    fn leads(&self) -> bool {
        false
    }
    /// Whether it is as a [`new`](Self::new) one would be: nothing has been asked for, promised, accepted, learnt or begun that others may rely on.
    fn is_pristine(&self) -> bool;
    /// Takes a message of a peer's link, or a frame of the platform's broadcast.
    ///
    /// # Errors
    /// It is none of this protocol's; nothing has changed.
    fn receive(
        &mut self,
        now: Time,
        from: Rank,
        message: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError>;
    /// What to answer to a message of a group that this process does not follow, since it follows so many already that it is not in: nothing, unless its sender waits for an answer.
    fn refusal(_message: &Message, _follows: usize) -> Option<Message> {
        None
    }
    /// Where the platform orders, and this process came when the session had begun: another one is there, or comes, at this place of the order.
    fn joined(&mut self, _rank: Rank) {}
    /// A peer is lost, or its link began anew: messages under way may be gone.
    fn lost(&mut self, now: Time, rank: Rank, is_certain: bool, out: &mut Output);
    /// All that came in at once has been taken: sends what was held back to go together.
    fn flush(&mut self, _now: Time, _out: &mut Output) {}
    /// When [`tick`](Self::tick) is next needed.
    fn deadline(&self) -> Option<Time> {
        None
    }
    /// Does what is due.
    fn tick(&mut self, _now: Time, _out: &mut Output) {}
    /// The last view that this process knows to be decided, whether it is in it or not.
    fn last_decided(&self) -> Option<&View> {
        None
    }
    /// Breaks the protocol in one of its steps, to see whether the simulator notices.
    #[cfg(feature = "mutants")]
    fn mutate(&mut self, _fault: Fault) {}
}
