//! Links: whole messages to one peer, each once and in order, whatever the platform does to frames.
//!
//! There are three kinds, for the combinations of platform parameters. [`Through`] adds nothing.
//! [`Fragment`] cuts and joins. [`Retransmit`] also numbers, acknowledges and sends again. A
//! platform names its kind as a type, so the others are not compiled into its path.

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

/// Longest message that is cut into frames and joined again. Of a longer or endless one nothing is
/// kept.
pub const LONGEST: usize = u32::MAX as usize;

/// Most bytes that may go along with a program's message: headers of all protocols, and sometimes a
/// group's history. When one member has others catch up, 32 MiB of shorter messages may precede a
/// long one, with the data on each.
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
/// `frames` collects the frames to give to the platform for the peer, in order. `messages` collects
/// complete messages.
pub trait Links: Send + Sized + 'static {
    /// States that it makes up for frames that are lost, doubled or out of order.
    const RETRANSMITS: bool;
    /// States that it cuts messages that are longer than a frame.
    const FRAGMENTS: bool;
    /// States that a message is a frame as it is. Then the stack bypasses its links, which have
    /// nothing to do or to remember.
    const ADDS_NOTHING: bool = !Self::RETRANSMITS && !Self::FRAGMENTS;
    /// Way to send a message to several peers.
    type ToAll: ToAll<Self>;

    /// Makes a link over frames of at most `largest` bytes. `birth` is greater than that of any
    /// earlier process of this rank.
    fn new(largest: usize, birth: u64) -> Self;

    /// Sends a message.
    fn send(&mut self, now: Time, message: Message, frames: &mut Vec<Message>);

    /// Takes a frame of the peer. [`flush`](Self::flush) follows, after all frames that came at
    /// once.
    ///
    /// # Errors
    ///
    /// The frame is none of this protocol's; nothing has changed.
    fn receive(
        &mut self,
        now: Time,
        frame: Message,
        frames: &mut Vec<Message>,
        messages: &mut Vec<Message>,
    ) -> Result<Arrival, DecodeError>;

    /// Sends and acknowledges after all simultaneous frames were taken.
    fn flush(&mut self, _now: Time, _frames: &mut Vec<Message>) {}

    /// Returns when [`tick`](Self::tick) is next needed.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Does what is due.
    fn tick(&mut self, _now: Time, _frames: &mut Vec<Message>) {}

    /// Forgets what was under way, since the peer is taken for lost. The peer forgets it when it is
    /// heard of again.
    fn reset(&mut self);

    /// Returns whether anything waits until the peer has taken what is under way.
    fn waits(&self) -> bool {
        false
    }

    /// Returns the bytes that wait to be sent or acknowledged.
    fn backlog(&self) -> usize {
        0
    }

    /// Injects a fault.
    #[doc(hidden)]
    #[must_use]
    fn with(self, _fault: Fault) -> Self {
        self
    }
}

/// A way to send a message to several peers: to each by its link alone ([`Apart`]), or in shared
/// frames that each takes as one of its own link ([`Multicast`]).
pub trait ToAll<L>: Default + Debug + Send + 'static {
    /// Puts a message into the links of the peers that it can reach together, and returns those.
    /// The caller uses the others' links.
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

    /// Returns whether nothing waits to go.
    fn is_empty(&self) -> bool {
        true
    }

    /// Returns when [`go_on`](Self::go_on) is next needed although no link has changed.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Returns a shared frame's part for one peer, as a frame of the sender's link; `None` if it
    /// has none.
    ///
    /// # Errors
    ///
    /// It is no such frame.
    fn own(_me: Rank, _frame: Message) -> Result<Option<Message>, DecodeError> {
        Ok(None)
    }

    /// Notes whether a peer hears this process's multicasts.
    fn hears(&mut self, _rank: Rank, _does: bool) {}

    /// Returns the peers that do.
    fn hearers(&self) -> Vec<Rank> {
        Vec::new()
    }

    /// Injects a fault.
    #[cfg(feature = "mutants")]
    fn mutate(&mut self, _fault: Fault) {}
}

/// Frames that went to several peers, and the links that changed.
#[derive(Debug, Default)]
pub struct Gone {
    /// Frames for the platform's multicast.
    pub frames: Vec<Message>,
    /// Peers whose links have something under way now.
    pub to: Vec<Rank>,
    /// Peers whose links have work of their own.
    pub stirred: Vec<Rank>,
    /// Peers that were reported to hear multicasts, and do not.
    pub deaf: Vec<Rank>,
}

/// A way that sends to each peer alone.
#[derive(Debug, Default)]
pub struct Apart;

impl<L> ToAll<L> for Apart {}

/// A frame's news besides messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing.
    Usual,
    /// The peer sends a message that is [too long](LONGEST), which no correct one does.
    TooLong,
    /// The peer began anew: it had lost this process or was restarted. What was under way in either
    /// direction is gone. Messages of this frame belong to the new beginning.
    Anew,
}

/// A link that adds nothing: the platform is reliable and takes frames of any length.
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
