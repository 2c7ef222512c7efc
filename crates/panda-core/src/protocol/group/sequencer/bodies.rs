//! Bodies of messages that travel together behind one note.

use bytes::BytesMut;

use super::log::Entry;
use super::notes::Item;
use super::order::HISTORY_MAX;
use crate::message::{DecodeError, Message};

/// Length from which a sender sends its messages to all itself: a 1500-byte Ethernet frame without
/// the headers of all layers.
pub const LONG: usize = 1250;

/// Message bodies one behind the other. Short ones are copied into one piece. A hundred pieces of a
/// hundred bytes would cost every layer below more than the copy.
#[derive(Debug, Default)]
pub struct Bodies {
    whole: Message,
    short: BytesMut,
}

impl Bodies {
    pub fn add(&mut self, body: &Message) {
        if body.len() > LONG {
            self.whole.append_bytes(self.short.split().freeze());
            self.whole.append(body.clone());
        } else {
            body.slices()
                .for_each(|slice| self.short.extend_from_slice(slice));
        }
    }

    pub fn len(&self) -> usize {
        self.whole.len() + self.short.len()
    }

    /// Takes all of them.
    pub fn take(&mut self) -> Message {
        self.whole.append_bytes(self.short.split().freeze());
        std::mem::take(&mut self.whole)
    }
}

/// Joins entries into items and one body.
pub fn join<'a>(entries: impl Iterator<Item = &'a Entry>) -> (Vec<Item>, Message) {
    let mut bodies = Bodies::default();
    let items = entries.map(|entry| {
        let length = entry.body.as_ref().map(|body| {
            bodies.add(body);
            body.len() as u64
        });
        Item {
            sender: entry.sender,
            number: entry.number,
            length,
        }
    });
    (items.collect(), bodies.take())
}

/// Most entries in one note: more than any history holds.
const ENTRIES_MAX: usize = 4 * HISTORY_MAX;

/// Splits items and their joined body into entries.
pub fn split(items: &[Item], mut bodies: Message) -> Result<Vec<Entry>, DecodeError> {
    if items.len() > ENTRIES_MAX {
        return Err(refused(format!("they are {}", items.len())));
    }
    let entry = |item: &Item| {
        let body = item.length.map(|length| split_off(&mut bodies, length));
        let body = body.transpose()?;
        Ok(Entry {
            sender: item.sender,
            number: item.number,
            body,
        })
    };
    let entries = items.iter().map(entry).collect::<Result<_, _>>()?;
    whole(&bodies).map(|()| entries)
}

/// Splits the first body off.
pub fn split_off(bodies: &mut Message, length: u64) -> Result<Message, DecodeError> {
    bodies.split_to(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Checks that no bytes are left. They would be kept as long as one of the other bodies.
pub fn whole(rest: &Message) -> Result<(), DecodeError> {
    match rest.len() {
        0 => Ok(()),
        left => Err(refused(format!("{left} bytes are left"))),
    }
}

#[cold]
fn refused(reason: String) -> DecodeError {
    DecodeError::Value {
        wanted: "bodies of a group's messages",
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_more_than_4_gib_comes_out_as_it_went_in() {
        let piece = bytes::Bytes::from(vec![7; 1 << 20]);
        let mut long = Message::new();
        (0..5 << 10).for_each(|_| long.append_bytes(piece.clone()));
        let entry = |number, body| Entry {
            sender: 1,
            number,
            body: Some(body),
        };
        let entries = [entry(1, long), entry(2, Message::from(b"next".as_slice()))];
        let (items, bodies) = join(entries.iter());
        let again = split(&items, bodies).unwrap();
        let body = |at: usize| again[at].body.as_ref().unwrap();
        assert_eq!(body(0).len(), 5 << 30);
        assert_eq!(body(1).to_bytes(), b"next".as_slice());
    }

    #[test]
    fn what_no_length_accounts_for_is_refused() {
        let item = Item {
            sender: 1,
            number: 1,
            length: Some(3),
        };
        assert!(split(&[item], Message::from(b"four".as_slice())).is_err());
    }
}
