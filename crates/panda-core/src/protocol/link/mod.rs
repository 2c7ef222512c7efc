//! Links: whole messages to one peer, each once and in order, whatever the platform does to frames.
//!
//! Three kinds, one for each combination of platform parameters that differs: [`Through`] adds nothing, [`Fragment`] cuts and joins, [`Retransmit`] also
//! numbers, acknowledges and sends again. A platform names the one that it needs as a type, so the others are not compiled into its path.

use std::fmt::Debug;

use rustc_hash::FxHashMap;

use super::Time;
use super::fault::Fault;
use crate::Rank;
use crate::message::{DecodeError, Message};

mod fragment;
mod multicast;
pub(crate) mod retransmit;

pub use fragment::Fragment;
pub use multicast::Multicast;
pub use retransmit::Retransmit;

/// The longest message that is cut into frames and put together again: of a longer one, or one without end, nothing is kept.
pub const LONGEST: usize = u32::MAX as usize;

/// What may go along with a program's message in the longest one of a link: headers of all protocols, and before a group's long message, where one member has others catch up, a whole history of
/// shorter ones (32 MiB) and what is said of each.
const BESIDES_MAX: usize = 64 << 20;

/// Bytes of the longest message that a program may send over such links.
#[must_use]
pub const fn longest_of<L: Links>() -> usize {
    match L::FRAGMENTS {
        true => LONGEST - BESIDES_MAX,
        false => usize::MAX,
    }
}

/// One peer's link.
///
/// `frames` collects what must be given to the platform for the peer, in this order; `messages` what has arrived whole.
pub trait Links: Send + Sized + 'static {
    /// Whether it makes up for frames that are lost, doubled or out of order.
    const RETRANSMITS: bool;
    /// Whether it cuts messages that are longer than a frame.
    const FRAGMENTS: bool;
    /// Whether a message is a frame as it is: then the stack goes past its links, which have nothing to do or to remember.
    const ADDS_NOTHING: bool = !Self::RETRANSMITS && !Self::FRAGMENTS;
    /// How what is meant for several peers goes to them.
    type ToAll: ToAll<Self>;

    /// A link over frames of at most `largest` bytes. `birth` is greater than that of any earlier process of this rank.
    fn new(largest: usize, birth: u64) -> Self;

    /// Sends a message.
    fn send(&mut self, now: Time, message: Message, frames: &mut Vec<Message>);

    /// Takes a frame of the peer. [`flush`](Self::flush) follows, after several that came at once.
    ///
    /// # Errors
    /// The frame is none of this protocol's; nothing has changed.
    fn receive(
        &mut self,
        now: Time,
        frame: Message,
        frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError>;

    /// All that came at once has been taken: sends what that lets go, and acknowledges it.
    fn flush(&mut self, _now: Time, _frames: &mut Vec<Message>) {}

    /// When [`tick`](Self::tick) is next needed.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Does what is due.
    fn tick(&mut self, _now: Time, _frames: &mut Vec<Message>) {}

    /// The peer is taken for lost: what was under way is forgotten, here and, when the peer is heard of again, there.
    fn reset(&mut self);

    /// Whether something waits until the peer has taken what is under way.
    fn waits(&self) -> bool {
        false
    }

    /// Bytes that wait to be sent or acknowledged.
    fn backlog(&self) -> usize {
        0
    }

    /// The same with a fault put in.
    #[doc(hidden)]
    #[must_use]
    fn with(self, _fault: Fault) -> Self {
        self
    }
}

/// How a message goes to several peers: to each by its link alone ([`Apart`]), or in frames that all of them get and each takes as one of its own link ([`Multicast`]).
pub trait ToAll<L>: Default + Debug + Send + 'static {
    /// Puts a message into the links, which are there, of those peers that it can go to together, and says who they are. The others' links are the caller's matter.
    fn add(
        &mut self,
        _now: Time,
        _message: &Message,
        _to: &[Rank],
        _links: &mut FxHashMap<Rank, L>,
    ) -> Vec<Rank> {
        Vec::new()
    }

    /// Sends what can go now.
    fn go_on(&mut self, _now: Time, _links: &mut FxHashMap<Rank, L>, _gone: &mut Gone) {}

    /// Whether nothing waits to go.
    fn is_empty(&self) -> bool {
        true
    }

    /// When [`go_on`](Self::go_on) is next needed although no link has changed.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// What a frame for several brings to one of them, as a frame of the sender's link; nothing if it is not for that one.
    ///
    /// # Errors
    /// It is no such frame.
    fn own(_me: Rank, _frame: Message) -> Result<Option<Message>, DecodeError> {
        Ok(None)
    }

    /// A peer gets the platform's multicasts from this process, or does not.
    fn hears(&mut self, _rank: Rank, _does: bool) {}

    /// Who does.
    fn hearers(&self) -> Vec<Rank> {
        Vec::new()
    }

    /// Puts a fault in.
    #[cfg(feature = "mutants")]
    fn mutate(&mut self, _fault: Fault) {}
}

/// What went out to several peers, and to whose links something happened.
#[derive(Debug, Default)]
pub struct Gone {
    /// Frames for the platform's multicast.
    pub frames: Vec<Message>,
    /// Peers whose links have something under way now.
    pub to: Vec<Rank>,
    /// Peers whose links have something to do by themselves.
    pub stirred: Vec<Rank>,
    /// Peers that were said to hear multicasts, and do not.
    pub deaf: Vec<Rank>,
}

/// To each alone.
#[derive(Debug, Default)]
pub struct Apart;

impl<L> ToAll<L> for Apart {}

/// What a frame told besides messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing.
    Usual,
    /// The peer sends a message that is [too long](LONGEST): no correct one does.
    TooLong,
    /// The peer began anew, having lost us or having been restarted: what was under way in either direction is gone. Messages of this frame belong to the new beginning.
    Anew,
}

/// Nothing added: the platform is reliable and takes frames of any length.
#[derive(Debug)]
pub struct Through;

impl Links for Through {
    const RETRANSMITS: bool = false;
    const FRAGMENTS: bool = false;
    type ToAll = Apart;

    fn new(_largest: usize, _birth: u64) -> Self {
        Self
    }

    #[inline]
    fn send(&mut self, _now: Time, message: Message, frames: &mut Vec<Message>) {
        frames.push(message);
    }

    #[inline]
    fn receive(
        &mut self,
        _now: Time,
        frame: Message,
        _frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError> {
        messages.push(frame);
        Ok(Arrival::Usual)
    }

    fn reset(&mut self) {}
}
