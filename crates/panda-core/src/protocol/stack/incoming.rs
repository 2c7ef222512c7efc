//! Plain messages, which no protocol has to know of, on their way from the platform to the program.

use super::{Answer, Delivery, Envelope};
use crate::Rank;
use crate::message::Message;
use crate::protocol::requests::{self, RequestId};

/// What a plain message is, and for whom.
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
    /// The answer to a request that no protocol knows of.
    Answer {
        /// The request.
        id: RequestId,
        /// How it was answered.
        kind: Answer,
    },
}

/// The payload of a message that came, where it lies.
#[derive(Debug)]
enum Payload<'a> {
    /// In the platform's memory, and short.
    Bytes(&'a [u8]),
    Message(&'a mut Message),
}

/// A plain message that came, borrowed from where it lies. Whoever takes its payload moves that to
/// its last place at once: a short call takes a tenth longer if it is moved once more.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// Its sender.
    pub from: Rank,
    /// What it is, and for whom.
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
    /// Reads a short frame; nothing if it is not plain, or is cut.
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

    /// Reads a frame and takes the envelope off; nothing if it is not plain, or is cut.
    #[inline]
    #[must_use]
    pub fn in_frame(from: Rank, frame: &'a mut Message) -> Option<Self> {
        let content = Content::of(Envelope::take_off(frame).ok()?)?;
        Some(Self::with(from, content, frame))
    }

    /// A message whose envelope has been taken off.
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

    /// What it brings the program. Answers bring nothing: they end requests.
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
