//! The envelope before each message of a link: a byte for its kind, and numbers at fixed places,
//! little-endian.

use super::{Answer, GroupId};
use crate::message::{DecodeError, Header, Message};
use crate::protocol::collective::Key;
use crate::protocol::requests::{self, RequestId};

/// The kind and the destination of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// A message for a port.
    Port {
        /// The port's number.
        port: u64,
        /// Its sender's tag.
        tag: u32,
        /// Request that ends when the message has been handed over, if its sender waits for that.
        receipt: Option<RequestId>,
    },
    /// A message for a port has been handed over.
    Receipt {
        /// The request of its sender.
        id: RequestId,
    },
    /// A call of a service.
    Call {
        /// The service's number.
        service: u64,
        /// The request of its sender.
        id: RequestId,
    },
    /// The answer to a call.
    Reply {
        /// The request that it ends.
        id: RequestId,
        /// Outcome of the call.
        kind: Answer,
    },
    /// A message of a group's protocol.
    Group {
        /// The group.
        group: GroupId,
    },
    /// A part of the transfer of a group's state.
    State {
        /// The group.
        group: GroupId,
    },
    /// A step of a collective operation.
    Collective {
        /// The operation.
        key: Key,
    },
    /// A sign of life.
    Heartbeat {
        /// Whether it asks for one.
        asks: bool,
    },
    /// Holds or releases the senders of a port at which much lies unread.
    Hold {
        /// The port's number.
        port: u64,
        /// Whether to send no more.
        is_held: bool,
    },
    /// A message of the detection of quiescence.
    Termination,
}

const PORT: u8 = 0;
const PORT_WITH_RECEIPT: u8 = 1;
const RECEIPT: u8 = 2;
const CALL: u8 = 3;
const REPLY: u8 = 4;
const GROUP: u8 = 5;
const COLLECTIVE: u8 = 6;
const HEARTBEAT: u8 = 7;
const HOLD: u8 = 8;
const COLLECTIVE_OF: u8 = 9;
const TERMINATION: u8 = 10;
const STATE: u8 = 11;

/// Bytes of the longest envelope.
const LONGEST: usize = 21;
/// Bytes of a family, which follows a collective envelope if the list has a family of another
/// number.
const FAMILY: usize = 8;

/// Makes the bytes of a kind and of numbers of 8, 8 and 4 bytes behind it, cut to `length`.
#[inline]
fn header(kind: u8, first: u64, second: u64, third: u32, length: usize) -> Header {
    // Two integers keep it in registers. A read in other pieces than the write's would have to
    // wait.
    let low = u128::from(kind) | u128::from(first) << 8 | u128::from(second) << 72;
    let high = second >> 56 | u64::from(third) << 8;
    Header::new(low, high, length)
}

impl Envelope {
    /// Returns its bytes.
    #[inline]
    pub fn header(&self) -> Header {
        match *self {
            Self::Port { port, tag, receipt } => match receipt {
                None => header(PORT, port, tag.into(), 0, 13),
                Some(id) => {
                    let (low, high) = (id << 32, (id >> 32) as u32);
                    header(PORT_WITH_RECEIPT, port, low | u64::from(tag), high, LONGEST)
                }
            },
            Self::Receipt { id } => header(RECEIPT, id, 0, 0, 9),
            Self::Call { service, id } => header(CALL, service, id, 0, 17),
            Self::Reply { id, kind } => header(REPLY, id, kind as u64, 0, 10),
            Self::Group { group } => header(GROUP, group, 0, 0, 9),
            Self::State { group } => header(STATE, group, 0, 0, 9),
            Self::Collective { key } => {
                let kind = match key.family == key.list {
                    true => COLLECTIVE,
                    false => COLLECTIVE_OF,
                };
                header(kind, key.list, key.number, 0, 17)
            }
            Self::Heartbeat { asks } => header(HEARTBEAT, asks.into(), 0, 0, 2),
            Self::Hold { port, is_held } => header(HOLD, port, is_held.into(), 0, 10),
            Self::Termination => header(TERMINATION, 0, 0, 0, 1),
        }
    }

    /// Pushes it before a message.
    #[inline]
    pub fn push_onto(&self, message: &mut Message) {
        if let Self::Collective { key } = self
            && key.family != key.list
        {
            message.push(&key.family.to_le_bytes());
        }
        message.push(&self.header());
    }

    /// Parses the envelope at the beginning of bytes, and returns it with the bytes behind it, and
    /// behind the family.
    ///
    /// # Errors
    ///
    /// There is none.
    #[inline]
    pub fn split_off(bytes: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        let [kind] = *chunk(bytes)?;
        let (envelope, length) = match kind {
            PORT => {
                let (port, tag) = port_and_tag(chunk::<13>(bytes)?);
                let receipt = None;
                (Self::Port { port, tag, receipt }, 13)
            }
            PORT_WITH_RECEIPT => {
                let header = chunk::<LONGEST>(bytes)?;
                let (port, tag) = port_and_tag(header);
                let receipt = Some(number(header, 13));
                (Self::Port { port, tag, receipt }, header.len())
            }
            RECEIPT => {
                let id = number(chunk::<9>(bytes)?, 1);
                (Self::Receipt { id }, 9)
            }
            CALL => {
                let (service, id) = two(bytes)?;
                (Self::Call { service, id }, 17)
            }
            REPLY => {
                let header = chunk::<10>(bytes)?;
                let (id, kind) = (number(header, 1), answer(header[9])?);
                (Self::Reply { id, kind }, header.len())
            }
            GROUP => {
                let group = number(chunk::<9>(bytes)?, 1);
                (Self::Group { group }, 9)
            }
            STATE => {
                let group = number(chunk::<9>(bytes)?, 1);
                (Self::State { group }, 9)
            }
            COLLECTIVE | COLLECTIVE_OF => {
                let (list, number) = two(bytes)?;
                let key = Key {
                    family: list,
                    list,
                    number,
                };
                (Self::Collective { key }, 17)
            }
            HEARTBEAT => {
                let asks = chunk::<2>(bytes)?[1] != 0;
                (Self::Heartbeat { asks }, 2)
            }
            HOLD => {
                let header = chunk::<10>(bytes)?;
                let (port, is_held) = (number(header, 1), header[9] != 0);
                (Self::Hold { port, is_held }, header.len())
            }
            TERMINATION => (Self::Termination, 1),
            other => return Err(unknown("envelope", other)),
        };
        Ok((envelope, &bytes[length..]))
    }

    /// Pops it off a message.
    ///
    /// # Errors
    ///
    /// There is none; the message is as it was.
    #[inline]
    pub fn take_off(message: &mut Message) -> Result<Self, DecodeError> {
        let mut space = [0; LONGEST];
        let front = message.front_in(&mut space);
        let (envelope, rest) = Self::split_off(front)?;
        let length = front.len() - rest.len();
        if let Self::Collective { key } = envelope
            && front[0] == COLLECTIVE_OF
        {
            return Self::take_family_off(key, length, message);
        }
        message.advance(length);
        Ok(envelope)
    }

    #[cold]
    fn take_family_off(
        key: Key,
        length: usize,
        message: &mut Message,
    ) -> Result<Self, DecodeError> {
        if message.len() < length + FAMILY {
            return Err(DecodeError::Short {
                want: length + FAMILY,
                have: message.len(),
            });
        }
        message.advance(length);
        let family = u64::from_le_bytes(message.pop()?);
        let key = Key { family, ..key };
        Ok(Self::Collective { key })
    }

    /// Returns whether a message begins with a plain envelope, which only the program must see.
    #[inline]
    pub fn is_plain(message: &Message) -> bool {
        matches!(message.look(), Ok([PORT | PORT_WITH_RECEIPT | CALL]))
            || Self::is_plain_answer(message)
    }

    /// Returns whether it answers a request that no protocol knows.
    #[inline]
    pub fn is_plain_answer(message: &Message) -> bool {
        matches!(message.look(), Ok([RECEIPT | REPLY]))
            && (message.look::<9>()).is_ok_and(|header| requests::is_plain(number(&header, 1)))
    }
}

/// Returns the first bytes in place. Reads from a copy would wait for its writes if they cross the
/// written pieces.
#[inline]
fn chunk<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], DecodeError> {
    let short = || DecodeError::Short {
        want: N,
        have: bytes.len(),
    };
    bytes.first_chunk().ok_or_else(short)
}

/// Returns the two numbers behind the kind.
#[inline]
fn two(bytes: &[u8]) -> Result<(u64, u64), DecodeError> {
    let header = chunk::<17>(bytes)?;
    Ok((number(header, 1), number(header, 9)))
}

#[inline]
fn number(header: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&header[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[inline]
fn port_and_tag(header: &[u8]) -> (u64, u32) {
    let mut tag = [0; 4];
    tag.copy_from_slice(&header[9..13]);
    (number(header, 1), u32::from_le_bytes(tag))
}

#[inline]
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

    const ALL: [Envelope; 13] = [
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
        Envelope::State { group: 12 },
        Envelope::Collective {
            key: Key {
                family: 7,
                list: 7,
                number: 8,
            },
        },
        Envelope::Collective {
            key: Key {
                family: 11,
                list: 7,
                number: 8,
            },
        },
        Envelope::Heartbeat { asks: true },
        Envelope::Heartbeat { asks: false },
        Envelope::Hold {
            port: 10,
            is_held: true,
        },
        Envelope::Termination,
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
        for bytes in [[12; 21], [255; 21], [REPLY; 21]] {
            assert!(Envelope::take_off(&mut Message::copy_of(&bytes)).is_err());
        }
    }
}
