//! Messages that peers make this process keep for later, and bounds on those of a correct peer.
//!
//! A member has only so many messages under way without a place. The first member gives only so
//! many places that are not known to be delivered everywhere. So a late process keeps at most both
//! together for a correct peer. Each of them may end with one message of any length.

use std::collections::{HashMap, VecDeque};

use super::notes::{Item, Note};
use super::order::{HISTORY_BYTES, HISTORY_MAX};
use super::sending::{UNORDERED_BYTES, UNORDERED_MAX};
use crate::Rank;
use crate::message::Message;

/// Messages that a correct member may be ahead of a late one.
pub const AHEAD: usize = HISTORY_MAX + UNORDERED_MAX;
/// Notes of a view that has not begun here: one for each of these messages, and one for each place.
const EARLY_MAX: usize = 2 * AHEAD;
/// Bytes of them without the two longest.
const BYTES_MAX: usize = HISTORY_BYTES + UNORDERED_BYTES;

/// The amounts that are kept of each peer, at most `MOST` messages.
#[derive(Debug, Default)]
pub struct Quota<const MOST: usize> {
    of: HashMap<Rank, Usage>,
}

#[derive(Debug, Default)]
struct Usage {
    count: usize,
    bytes: usize,
    /// Lengths of the two longest messages so far, the longest first.
    longest: [usize; 2],
}

impl Usage {
    fn add(&mut self, length: usize) {
        self.count += 1;
        self.bytes += length;
        let [first, second] = self.longest;
        self.longest = [first.max(length), second.max(first.min(length))];
    }

    fn is_too_much(&self, most: usize) -> bool {
        let rest = self.bytes.saturating_sub(self.longest.iter().sum());
        self.count > most || rest > BYTES_MAX
    }
}

impl<const MOST: usize> Quota<MOST> {
    /// Counts one more message of a peer; returns false if no correct peer has so many.
    pub fn keep(&mut self, rank: Rank, length: usize) -> bool {
        let usage = self.of.entry(rank).or_default();
        usage.add(length);
        !usage.is_too_much(MOST)
    }

    /// Counts one message less.
    fn give(&mut self, rank: Rank, length: usize) {
        if let Some(usage) = self.of.get_mut(&rank) {
            usage.count -= 1;
            usage.bytes -= length;
            if usage.count == 0 {
                self.of.remove(&rank);
            }
        }
    }
}

/// Long messages that came before their places, by sender and number.
#[derive(Debug, Default)]
pub struct Spread {
    bodies: HashMap<(Rank, u64), Message>,
    quota: Quota<AHEAD>,
}

impl Spread {
    /// Keeps a body. Returns false and drops it if no correct sender has so many kept.
    pub fn keep(&mut self, from: Rank, number: u64, body: Message) -> bool {
        drop(self.take(from, number));
        let may = self.quota.keep(from, body.len());
        match may {
            true => drop(self.bodies.insert((from, number), body)),
            false => self.quota.give(from, body.len()),
        }
        may
    }

    /// Takes a body whose place has come.
    pub fn take(&mut self, from: Rank, number: u64) -> Option<Message> {
        let body = self.bodies.remove(&(from, number))?;
        self.quota.give(from, body.len());
        Some(body)
    }
}

/// Notes of views that have not begun here.
#[derive(Debug, Default)]
pub struct Early {
    pub notes: VecDeque<(Rank, Note, Message)>,
    quota: Quota<EARLY_MAX>,
}

impl Early {
    /// Keeps a note. Returns false and drops it if no correct peer has so many kept.
    pub fn keep(&mut self, from: Rank, note: Note, body: Message) -> bool {
        if let Note::Collect { view, .. } = note {
            self.drop_collect(from, view);
        }
        let length = body.len() + bytes_of(&note);
        let may = self.quota.keep(from, length);
        match may {
            true => self.notes.push_back((from, note, body)),
            false => self.quota.give(from, length),
        }
        may
    }

    /// Drops an earlier `Collect` of the peer. A coordinator that collects again has given its
    /// earlier attempt up, and may do so without end.
    fn drop_collect(&mut self, from: Rank, view: u64) {
        let same = |(rank, note, _): &(Rank, Note, Message)| {
            *rank == from && matches!(note, Note::Collect { view: of, .. } if *of == view)
        };
        let at = self.notes.iter().position(same);
        if let Some((_, note, body)) = at.and_then(|at| self.notes.remove(at)) {
            self.quota.give(from, body.len() + bytes_of(&note));
        }
    }
}

/// Returns the memory of a note's lists. Lists of members are left out, since they are no longer
/// than their frame.
fn bytes_of(note: &Note) -> usize {
    match note {
        Note::Request { lengths, .. } => size_of_val(lengths.as_slice()),
        Note::Ordered { items, .. } | Note::Entries { items, .. } => {
            items.len() * size_of::<Item>()
        }
        Note::Propose { step, .. } | Note::Decide { step, .. } => {
            size_of_val(step.left.as_slice()) + size_of_val(step.joined.as_slice())
        }
        _ => 0,
    }
}
