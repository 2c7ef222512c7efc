//! Plain messages, which no protocol must see, on their way from the platform to the program.

use super::{Answer, Delivery, Envelope};
use crate::Rank;
use crate::message::Message;
use crate::protocol::requests::{self, RequestId};

/// The kind and the destination of a plain message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A message for a port, whose sender may want to know when it has been handed over.
    Message {
        /// The port's name as a number.
        port: u64,
        /// The sender's tag.
        tag: u32,
        /// The sender's number for it, if it waits.
        receipt: Option<RequestId>,
    },
    /// A call of a service.
    Call {
        /// The service's name as a number.
        service: u64,
        /// The caller's number for it.
        id: RequestId,
    },
    /// The answer to a request that no protocol knows.
    Answer {
        /// The request.
        id: RequestId,
        /// Kind of the answer.
        kind: Answer,
    },
}

/// The payload of a received message, in place.
#[derive(Debug)]
enum Payload<'a> {
    /// In the platform's memory, and short.
    Bytes(&'a [u8]),
    Message(&'a mut Message),
}

/// A plain message that came, borrowed in place. A taker moves the payload to its last place at
/// once. One more move makes a short call a tenth slower.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Its sender.
    pub from: Rank,
    /// Its kind and destination.
    pub content: Content,
    payload: Payload<'a>,
}

impl Content {
    #[inline]
    fn of(envelope: Envelope) -> Option<Self> {
        let content = match envelope {
            Envelope::Port { port, tag, receipt } => Self::Message { port, tag, receipt },
            Envelope::Call { service, id } => Self::Call { service, id },
            Envelope::Reply { id, kind } => Self::Answer { id, kind },
            Envelope::Receipt { id } => Self::Answer {
                id,
                kind: Answer::Value,
            },
            _ => return None,
        };
        match content {
            Self::Answer { id, .. } if !requests::is_plain(id) => None,
            content => Some(content),
        }
    }
}

impl<'a> Incoming<'a> {
    /// Reads a short frame; returns `None` if it is not plain, or truncated.
    #[inline]
    #[must_use]
    pub fn in_bytes(from: Rank, frame: &'a [u8]) -> Option<Self> {
        let (envelope, rest) = Envelope::split_off(frame).ok()?;
        Some(Self {
            from,
            content: Content::of(envelope)?,
            payload: Payload::Bytes(rest),
        })
    }

    /// Reads a frame and pops the envelope; returns `None` if it is not plain, or truncated.
    #[inline]
    #[must_use]
    pub fn in_frame(from: Rank, frame: &'a mut Message) -> Option<Self> {
        let content = Content::of(Envelope::take_off(frame).ok()?)?;
        Some(Self::with(from, content, frame))
    }

    /// Makes it of a message without its envelope.
    #[inline]
    #[must_use]
    pub fn with(from: Rank, content: Content, payload: &'a mut Message) -> Self {
        Self {
            from,
            content,
            payload: Payload::Message(payload),
        }
    }

    /// Takes the payload, and leaves an empty one.
    #[inline]
    pub fn take_payload(&mut self) -> Message {
        match &mut self.payload {
            Payload::Bytes(bytes) => Message::copy_of(bytes),
            Payload::Message(message) => std::mem::take(message),
        }
    }

    /// Returns its delivery to the program. Answers have none: they end requests.
    #[inline]
    #[must_use]
    pub fn into_delivery(mut self) -> Option<Delivery> {
        let from = self.from;
        Some(match self.content {
            Content::Message { port, tag, receipt } => Delivery::Port {
                from,
                port,
                tag,
                receipt,
                payload: self.take_payload(),
            },
            Content::Call { service, id } => Delivery::Call {
                from,
                service,
                id,
                payload: self.take_payload(),
            },
            Content::Answer { .. } => return None,
        })
    }
}
