//! Bodies of messages that travel together behind one note.

use bytes::BytesMut;

use super::log::Entry;
use super::notes::Item;
use crate::message::{DecodeError, Message};

/// Longer messages are sent by their sender to everybody: a 1500-byte Ethernet frame less the headers of all layers.
pub const LONG: usize = 1250;

/// Bodies one behind the other. Short ones are copied into one piece: a hundred pieces of a hundred bytes cost every layer below more than the copy.
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

    /// All of them; none are left.
    pub fn take(&mut self) -> Message {
        self.whole.append_bytes(self.short.split().freeze());
        std::mem::take(&mut self.whole)
    }
}

/// Entries as items and one body.
pub fn join<'a>(entries: impl Iterator<Item = &'a Entry>) -> (Vec<Item>, Message) {
    let mut bodies = Bodies::default();
    let items = entries.map(|entry| {
        let length = entry.body.as_ref().map(|body| {
            bodies.add(body);
            body.len() as u32
        });
        Item {
            sender: entry.sender,
            number: entry.number,
            length,
        }
    });
    (items.collect(), bodies.take())
}

/// Items and their bodies as entries.
pub fn split(items: &[Item], mut bodies: Message) -> Result<Vec<Entry>, DecodeError> {
    let entry = |item: &Item| {
        let body = item
            .length
            .map(|length| bodies.split_to(length as usize))
            .transpose()?;
        Ok(Entry {
            sender: item.sender,
            number: item.number,
            body,
        })
    };
    items.iter().map(entry).collect()
}
