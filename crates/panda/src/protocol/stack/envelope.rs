//! What stands before each message of a link: a byte that says which kind it is, and numbers at fixed places, least significant byte first.

use super::{Answer, GroupId};
use crate::message::{DecodeError, Message};
use crate::protocol::collective::Key;
use crate::protocol::requests::{self, RequestId};

/// What a message is, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// A message for a port, whose sender may want to know when it has been handed over.
    Port {
        port: u64,
        tag: u32,
        receipt: Option<RequestId>,
    },
    Receipt {
        id: RequestId,
    },
    Call {
        service: u64,
        id: RequestId,
    },
    Reply {
        id: RequestId,
        kind: Answer,
    },
    Group {
        group: GroupId,
    },
    Collective {
        key: Key,
    },
    Pulse {
        asks: bool,
    },
    /// Much has come to a port that nobody has asked for: send no more to it; or that is over.
    Hold {
        port: u64,
        is_held: bool,
    },
}

const PORT: u8 = 0;
const PORT_WITH_RECEIPT: u8 = 1;
const RECEIPT: u8 = 2;
const CALL: u8 = 3;
const REPLY: u8 = 4;
const GROUP: u8 = 5;
const COLLECTIVE: u8 = 6;
const PULSE: u8 = 7;
const HOLD: u8 = 8;

impl Envelope {
    /// Puts it before a message.
    #[inline]
    pub fn push_onto(&self, message: &mut Message) {
        match *self {
            Self::Port { port, tag, receipt } => {
                let kind = match receipt {
                    Some(id) => {
                        message.push(&id.to_le_bytes());
                        PORT_WITH_RECEIPT
                    }
                    None => PORT,
                };
                let mut header = [kind; 13];
                header[1..9].copy_from_slice(&port.to_le_bytes());
                header[9..].copy_from_slice(&tag.to_le_bytes());
                message.push(&header);
            }
            Self::Receipt { id } => message.push(&one(RECEIPT, id)),
            Self::Call { service, id } => message.push(&two(CALL, service, id)),
            Self::Reply { id, kind } => {
                message.push(&[kind as u8]);
                message.push(&one(REPLY, id));
            }
            Self::Group { group } => message.push(&one(GROUP, group)),
            Self::Collective { key } => message.push(&two(COLLECTIVE, key.list, key.number)),
            Self::Pulse { asks } => message.push(&[PULSE, asks.into()]),
            Self::Hold { port, is_held } => {
                message.push(&[is_held.into()]);
                message.push(&one(HOLD, port));
            }
        }
    }

    /// Whether a message begins with one that the program alone has to know of.
    #[inline]
    pub fn is_plain(message: &Message) -> bool {
        matches!(message.look(), Ok([PORT | PORT_WITH_RECEIPT | CALL]))
            || Self::is_plain_answer(message)
    }

    /// Whether it answers a request that no protocol knows of.
    #[inline]
    pub fn is_plain_answer(message: &Message) -> bool {
        matches!(message.look(), Ok([RECEIPT | REPLY]))
            && (message.look::<9>()).is_ok_and(|header| requests::is_plain(number(&header, 1)))
    }

    /// Takes it off a message.
    ///
    /// # Errors
    /// There is none; the message is as it was.
    #[inline]
    pub fn take_off(message: &mut Message) -> Result<Self, DecodeError> {
        let [kind] = message.look()?;
        Ok(match kind {
            PORT => {
                let (port, tag) = port_and_tag(&message.pop::<13>()?);
                Self::Port {
                    port,
                    tag,
                    receipt: None,
                }
            }
            PORT_WITH_RECEIPT => {
                let header = message.pop::<21>()?;
                let (port, tag) = port_and_tag(&header);
                Self::Port {
                    port,
                    tag,
                    receipt: Some(number(&header, 13)),
                }
            }
            RECEIPT => Self::Receipt {
                id: number(&message.pop::<9>()?, 1),
            },
            CALL => {
                let header = message.pop::<17>()?;
                Self::Call {
                    service: number(&header, 1),
                    id: number(&header, 9),
                }
            }
            REPLY => {
                let header = message.look::<10>()?;
                let kind = answer(header[9])?;
                message.advance(header.len());
                Self::Reply {
                    id: number(&header, 1),
                    kind,
                }
            }
            GROUP => Self::Group {
                group: number(&message.pop::<9>()?, 1),
            },
            COLLECTIVE => {
                let header = message.pop::<17>()?;
                Self::Collective {
                    key: Key {
                        list: number(&header, 1),
                        number: number(&header, 9),
                    },
                }
            }
            PULSE => Self::Pulse {
                asks: message.pop::<2>()?[1] != 0,
            },
            HOLD => {
                let header = message.pop::<10>()?;
                Self::Hold {
                    port: number(&header, 1),
                    is_held: header[9] != 0,
                }
            }
            other => return Err(unknown("envelope", other)),
        })
    }
}

/// A kind and a number.
fn one(kind: u8, first: u64) -> [u8; 9] {
    let mut header = [kind; 9];
    header[1..].copy_from_slice(&first.to_le_bytes());
    header
}

/// A kind and two numbers.
fn two(kind: u8, first: u64, second: u64) -> [u8; 17] {
    let mut header = [kind; 17];
    header[1..9].copy_from_slice(&first.to_le_bytes());
    header[9..].copy_from_slice(&second.to_le_bytes());
    header
}

fn number(header: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[at..at + 8]);
    u64::from_le_bytes(bytes)
}

fn port_and_tag(header: &[u8]) -> (u64, u32) {
    let mut tag = [0; 4];
    tag.copy_from_slice(&header[9..13]);
    (number(header, 1), u32::from_le_bytes(tag))
}

fn answer(byte: u8) -> Result<Answer, DecodeError> {
    [Answer::Value, Answer::NoService, Answer::NoReply]
        .into_iter()
        .find(|answer| *answer as u8 == byte)
        .ok_or_else(|| unknown("answer", byte))
}

#[cold]
fn unknown(wanted: &'static str, byte: u8) -> DecodeError {
    DecodeError::Value {
        wanted,
        reason: format!("its first byte is {byte}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Envelope; 10] = [
        Envelope::Port {
            port: u64::MAX - 1,
            tag: 0x0102_0304,
            receipt: None,
        },
        Envelope::Port {
            port: 1,
            tag: u32::MAX,
            receipt: Some(9),
        },
        Envelope::Receipt { id: 1 << 40 },
        Envelope::Call { service: 2, id: 3 },
        Envelope::Reply {
            id: 5,
            kind: Answer::NoReply,
        },
        Envelope::Group { group: 6 },
        Envelope::Collective {
            key: Key { list: 7, number: 8 },
        },
        Envelope::Pulse { asks: true },
        Envelope::Pulse { asks: false },
        Envelope::Hold {
            port: 10,
            is_held: true,
        },
    ];

    #[test]
    fn each_is_taken_off_as_it_was_pushed_and_one_that_is_cut_is_left() {
        for envelope in ALL {
            let mut message = Message::from(b"rest".as_slice());
            envelope.push_onto(&mut message);
            let bytes = message.to_bytes();
            assert_eq!(Envelope::take_off(&mut message), Ok(envelope));
            assert_eq!(message.to_bytes(), b"rest".as_slice());
            for cut in 0..bytes.len() - 4 {
                let mut short = Message::from(bytes.slice(..cut));
                assert!(Envelope::take_off(&mut short).is_err());
                assert_eq!(short.to_bytes(), bytes.slice(..cut));
            }
        }
    }

    #[test]
    fn unknown_kinds_are_refused() {
        for bytes in [[9; 21], [255; 21], [REPLY; 21]] {
            assert!(Envelope::take_off(&mut Message::copy_of(&bytes)).is_err());
        }
    }
}
