//! The log of one member: the entries of the order that some member may still lack.

use std::collections::VecDeque;

use super::order::{HISTORY_BYTES, HISTORY_MAX};
use crate::Rank;
use crate::message::Message;

/// A message with its place.
#[derive(Debug, Clone)]
pub struct Entry {
    pub sender: Rank,
    pub number: u64,
    /// Body; `None` while the sender's own copy is under way.
    pub body: Option<Message>,
}

/// Places from `first` on; those up to `delivered` have been handed over.
#[derive(Debug)]
pub struct Log {
    first: u64,
    entries: VecDeque<Entry>,
    pub delivered: u64,
    bytes: usize,
}

impl Log {
    /// Makes an empty log after a place.
    pub fn after(place: u64) -> Self {
        Self {
            first: place + 1,
            entries: VecDeque::new(),
            delivered: place,
            bytes: 0,
        }
    }

    /// Returns the last place.
    pub fn end(&self) -> u64 {
        self.first + self.entries.len() as u64 - 1
    }

    /// Returns the number of kept entries, and the bytes of their bodies.
    pub fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.bytes)
    }

    /// Returns whether there is more here than any correct first member allows. A change of view
    /// may add to a full history, and the history may end with a message of any length.
    pub fn is_overfull(&self) -> bool {
        let longest = || self.entries.iter().map(length).max().unwrap_or(0);
        let most = 2 * HISTORY_BYTES;
        self.entries.len() > 2 * HISTORY_MAX || self.bytes > most && self.bytes - longest() > most
    }

    pub fn push(&mut self, entry: Entry) {
        self.bytes += length(&entry);
        self.entries.push_back(entry);
    }

    /// Returns the entry after the last delivered one.
    pub fn next_mut(&mut self) -> Option<&mut Entry> {
        let at = self.delivered + 1 - self.first;
        self.entries.get_mut(at as usize)
    }

    /// Returns the last place up to which no entry or body is missing.
    pub fn held(&self) -> u64 {
        let from = (self.delivered + 1 - self.first) as usize;
        let whole = self
            .entries
            .iter()
            .skip(from)
            .take_while(|entry| entry.body.is_some());
        self.delivered + whole.count() as u64
    }

    /// Gives a body to an entry that waits for it.
    pub fn supply(&mut self, sender: Rank, number: u64, body: &Message) -> bool {
        let from = (self.delivered + 1 - self.first) as usize;
        let waits = self
            .entries
            .iter_mut()
            .skip(from)
            .find(|e| e.sender == sender && e.number == number && e.body.is_none());
        let Some(entry) = waits else { return false };
        entry.body = Some(body.clone());
        self.bytes += body.len();
        true
    }

    /// Returns the entries after one place up to another, as far as they are here without a gap.
    pub fn range(&self, after: u64, upto: u64) -> impl Iterator<Item = &Entry> {
        let skip = after.saturating_add(1).saturating_sub(self.first) as usize;
        let upto = upto.min(self.held());
        let count = upto.saturating_sub(after.max(self.first - 1)) as usize;
        self.entries.iter().skip(skip).take(count)
    }

    /// Forgets delivered entries up to a place.
    pub fn trim(&mut self, upto: u64) {
        while self.first <= upto.min(self.delivered) {
            let Some(entry) = self.entries.pop_front() else {
                return;
            };
            self.bytes -= length(&entry);
            self.first += 1;
        }
    }

    /// Forgets entries that are not delivered.
    pub fn cut_off(&mut self) {
        self.cut_after(self.delivered);
    }

    /// Forgets the entries after a place, which is not before the last delivered one.
    pub fn cut_after(&mut self, place: u64) {
        let keep = (place.max(self.delivered) + 1 - self.first) as usize;
        if keep >= self.entries.len() {
            return;
        }
        for entry in self.entries.drain(keep..) {
            self.bytes -= length(&entry);
        }
    }
}

fn length(entry: &Entry) -> usize {
    entry.body.as_ref().map_or(0, Message::len)
}
