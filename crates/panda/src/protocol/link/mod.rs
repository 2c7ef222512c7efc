//! Links: whole messages to one peer, each once and in order, whatever the platform does to frames.
//!
//! Three kinds, one for each combination of platform parameters that differs: [`Through`] adds nothing, [`Fragment`] cuts and joins, [`Retransmit`] also
//! numbers, acknowledges and sends again. A platform names the one that it needs as a type, so the others are not compiled into its path.

use super::Time;
use crate::message::{DecodeError, Message};

mod fragment;
pub(crate) mod retransmit;

pub use fragment::Fragment;
pub use retransmit::Retransmit;

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

    /// A link over frames of at most `largest` bytes. `birth` is greater than that of any earlier process of this rank.
    fn new(largest: usize, birth: u64) -> Self;

    /// Sends a message.
    fn send(&mut self, now: Time, message: Message, frames: &mut Vec<Message>);

    /// Takes a frame of the peer.
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

    /// When [`tick`](Self::tick) is next needed.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Does what is due.
    fn tick(&mut self, _now: Time, _frames: &mut Vec<Message>) {}

    /// The peer is taken for lost: what was under way is forgotten, here and, when the peer is heard of again, there.
    fn reset(&mut self);

    /// Bytes that wait to be sent or acknowledged.
    fn backlog(&self) -> usize {
        0
    }
}

/// What a frame told besides messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing.
    Usual,
    /// The peer began anew, having lost us or having been restarted: what was under way in either direction is gone. Messages of this frame belong to the new beginning.
    Anew,
}

/// Nothing added: the platform is reliable and takes frames of any length.
#[derive(Debug)]
pub struct Through;

impl Links for Through {
    const RETRANSMITS: bool = false;
    const FRAGMENTS: bool = false;

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
