//! The traffic through Open MPI, in both directions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::later::Place;
use super::leaving::{Leaving, Looked};
use super::library::{Library, Receiving, Sending};
use crate::message::Message;
use crate::platform::{Event, Flow, Loss, Rank, Transfer};

/// Tags of pieces. `MORE`: more of the frame follows. `LAST`: the frame ends here. `LEAVE`: the
/// sender leaves. `ASK`: it asks for a sign of life. `ANSWER`: it gives one. `NOTE`: it says
/// something about processes to come.
const MORE: i32 = 1;
const LAST: i32 = 2;
const LEAVE: i32 = 3;
const ASK: i32 = 4;
const ANSWER: i32 = 5;
const NOTE: i32 = 6;

/// Length up to which a frame goes in one piece, copied together if need be. Longer frames go in
/// the pieces that they have, cut at `PIECE`.
const ONE_PIECE_MAX: usize = 16 << 10;
/// Longest piece. MPI reports only whole pieces as sent or come, and a peer may seem silent
/// meanwhile.
const PIECE: usize = 4 << 20;
/// Bytes that MPI is given for a peer at a time. It sends some of each piece in turn, so with many
/// none would end before all do.
const GIVEN: usize = 2 * PIECE;
/// Bytes under way to a peer at which it is congested. They must fall to `LOW` before it no longer
/// is.
const HIGH: usize = 4 << 20;
const LOW: usize = HIGH / 2;
/// Overhead of a piece under way, without Open MPI's own request.
const BESIDES: usize = size_of::<(Rank, usize, Sending)>();
/// Pieces that are taken at a time.
const TURN: usize = 64;

/// A founder's note to another on processes to come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// To rank 0: more processes are wanted.
    Want,
    /// From rank 0: all founders are to open there.
    Open(Place),
    /// From rank 0: why there can be no more processes.
    Refused(String),
}

/// The traffic in both directions.
pub struct Traffic {
    library: Library,
    outgoing: VecDeque<(Rank, usize, Sending)>,
    /// Pieces that MPI is still to be given, behind those that it has.
    waiting: BTreeMap<Rank, VecDeque<(i32, Bytes)>>,
    /// Bytes that MPI was given and has not sent.
    given: BTreeMap<Rank, usize>,
    /// Those bytes and the waiting ones.
    bytes_to: BTreeMap<Rank, usize>,
    /// Bytes that have come from each peer, and bytes that went to it after they had waited.
    came: BTreeMap<Rank, u64>,
    taken: BTreeMap<Rank, u64>,
    congested: BTreeSet<Rank>,
    /// Pieces in the order in which their senders sent them.
    incoming: VecDeque<Receiving>,
    joined: BTreeMap<Rank, Message>,
    notes: Vec<(Rank, Note)>,
    gone: BTreeSet<Rank>,
    /// Peers that this process has given up: what is under way to them cannot be taken back.
    cut_off: BTreeSet<Rank>,
    /// Peers that were silent for too long, as far as the session knew.
    given_up: BTreeSet<Rank>,
    /// Peers from which anything came since this process leaves, until the next look.
    heard: BTreeSet<Rank>,
    /// Whether this process leaves, and whether it has left, after which the library must not be
    /// called.
    is_leaving: bool,
    is_ended: bool,
}

impl Traffic {
    pub fn new(library: Library) -> Self {
        Self {
            library,
            outgoing: VecDeque::new(),
            waiting: BTreeMap::new(),
            given: BTreeMap::new(),
            bytes_to: BTreeMap::new(),
            came: BTreeMap::new(),
            taken: BTreeMap::new(),
            congested: BTreeSet::new(),
            incoming: VecDeque::new(),
            joined: BTreeMap::new(),
            notes: Vec::new(),
            gone: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            given_up: BTreeSet::new(),
            heard: BTreeSet::new(),
            is_leaving: false,
            is_ended: false,
        }
    }

    /// Sends a frame; the rest goes in later turns.
    pub fn send(&mut self, to: Rank, mut frame: Message) -> Flow {
        if self.gone.contains(&to) || self.cut_off.contains(&to) || self.is_leaving {
            return Flow::Free;
        }
        if frame.len() <= ONE_PIECE_MAX {
            self.put(to, LAST, frame.to_bytes());
        } else {
            let lengths: Vec<usize> = frame.slices().flat_map(|s| parts(s.len())).collect();
            let (last, others) = lengths.split_last().expect("a long frame has slices");
            for &length in others {
                let piece = frame.split_to(length).expect("it has these bytes");
                self.put(to, MORE, piece.to_bytes());
            }
            debug_assert_eq!(frame.len(), *last);
            self.put(to, LAST, frame.to_bytes());
        }
        if self.bytes_to.get(&to).is_some_and(|&bytes| bytes > HIGH) {
            self.congested.insert(to);
            return Flow::Congested;
        }
        Flow::Free
    }

    /// Takes what has come, and progresses what goes out.
    pub fn turn(&mut self, events: &mut Vec<Event>) {
        if self.is_ended {
            return;
        }
        self.look_after_outgoing(events);
        for _ in 0..TURN {
            match self.library.receive() {
                Some(receiving) => self.incoming.push_back(receiving),
                None => break,
            }
        }
        // A piece is handed on when all earlier pieces of its sender are there.
        let mut waiting = BTreeSet::new();
        let mut at = 0;
        while let Some(receiving) = self.incoming.get_mut(at) {
            let source = receiving.source;
            let taken = if waiting.contains(&source) {
                None
            } else {
                self.library.take(receiving)
            };
            let Some(bytes) = taken else {
                waiting.insert(source);
                at += 1;
                continue;
            };
            if let Some(receiving) = self.incoming.remove(at) {
                self.arrived(source, receiving.tag, bytes, events);
            }
        }
    }

    /// Sends a note on processes to come.
    pub fn note(&mut self, to: Rank, note: &Note) {
        if !self.is_ended
            && let Ok(bytes) = postcard::to_stdvec(note)
        {
            self.put(to, NOTE, bytes.into());
        }
    }

    /// Takes the notes on processes to come.
    pub fn take_notes(&mut self) -> Vec<(Rank, Note)> {
        std::mem::take(&mut self.notes)
    }

    /// Returns the bytes under way to a peer, with their overhead.
    pub fn untaken(&self, to: Rank) -> usize {
        self.bytes_to.get(&to).copied().unwrap_or(0)
    }

    /// Returns how far bytes to and from a peer have come, counted in pieces.
    pub fn transfer(&self, peer: Rank) -> Transfer {
        let counted = |counts: &BTreeMap<Rank, u64>| counts.get(&peer).copied().unwrap_or(0);
        Transfer {
            came: counted(&self.came),
            taken: counted(&self.taken),
            waiting: self.untaken(peer) as u64,
        }
    }

    /// Gives a peer up, though it may live. Nothing more goes to it but the messages of leaving,
    /// and nothing of it is reported.
    pub fn cut_off(&mut self, rank: Rank) {
        self.cut_off.insert(rank);
        self.joined.remove(&rank);
        for (_, piece) in self.waiting.remove(&rank).unwrap_or_default() {
            self.forget(rank, piece.len() + BESIDES);
        }
    }

    /// Notes that a peer was silent for too long.
    pub fn give_up(&mut self, rank: Rank) {
        self.given_up.insert(rank);
    }

    /// Tells the others that nothing more comes from here. Returns the state of the leave, or
    /// `None` if they have been told.
    pub fn linger(&mut self, rank: Rank, size: u32, silence: Duration) -> Option<Leaving> {
        if self.is_leaving {
            return None;
        }
        let others = (0..size).filter(|&to| to != rank);
        others
            .clone()
            .for_each(|to| self.put(to, LEAVE, Bytes::new()));
        self.is_leaving = true;
        let left = others.filter(|other| !self.gone.contains(other)).collect();
        Some(Leaving::new(silence, left, &self.given_up))
    }

    /// Asks the peers that have not left for signs of life. Returns one that does not answer.
    pub fn look_after(&mut self, leaving: &mut Leaving) -> Option<Rank> {
        for rank in std::mem::take(&mut self.heard) {
            leaving.heard(rank, self.gone.contains(&rank));
        }
        let Looked { ask, lost } = leaving.look(|peer| self.transfer(peer));
        for rank in ask {
            self.put(rank, ASK, Bytes::new());
        }
        lost
    }

    /// Returns whether all that was sent is out and all the others have left.
    pub fn is_over(&self, rank: Rank, size: u32) -> bool {
        let mut others = (0..size).filter(|&other| other != rank);
        self.outgoing.is_empty()
            && self.waiting.is_empty()
            && others.all(|other| self.gone.contains(&other))
    }

    /// Returns whether MPI has ended here.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Ends MPI at once, at all processes.
    pub fn abort(&mut self) {
        self.library.abort();
    }

    /// Ends MPI.
    pub fn end(&mut self) {
        self.is_ended = true;
        self.library.finalize();
    }

    /// Sends a piece behind those that wait.
    fn put(&mut self, to: Rank, tag: i32, piece: Bytes) {
        let length = piece.len() + BESIDES;
        if self.waiting.contains_key(&to) || !self.takes(to, length) {
            *self.bytes_to.entry(to).or_default() += length;
            self.waiting.entry(to).or_default().push_back((tag, piece));
        } else if self.give(to, tag, piece) {
            *self.bytes_to.entry(to).or_default() += length;
        }
    }

    /// Returns whether MPI may be given so many more bytes for a peer.
    fn takes(&self, to: Rank, length: usize) -> bool {
        let given = self.given.get(&to).copied().unwrap_or(0);
        given == 0 || given + length <= GIVEN
    }

    /// Gives MPI a piece. Returns whether it is still under way.
    fn give(&mut self, to: Rank, tag: i32, piece: Bytes) -> bool {
        let length = piece.len() + BESIDES;
        let Some(mut sending) = self.library.send(to, tag, piece) else {
            return false; // Open MPI says why, and ends the session
        };
        let is_under_way = !self.library.is_sent(&mut sending);
        if is_under_way {
            *self.given.entry(to).or_default() += length;
            self.outgoing.push_back((to, length, sending));
        }
        is_under_way
    }

    /// Forgets bytes that wait for a peer.
    fn forget(&mut self, to: Rank, length: usize) {
        if let Some(bytes) = self.bytes_to.get_mut(&to) {
            *bytes -= length;
        }
    }

    /// Notes that waiting bytes have gone to a peer.
    fn note_taken(&mut self, to: Rank, length: usize) {
        self.forget(to, length);
        *self.taken.entry(to).or_default() += length as u64;
    }

    fn look_after_outgoing(&mut self, events: &mut Vec<Event>) {
        let (library, given) = (&mut self.library, &mut self.given);
        let mut sent = Vec::new();
        self.outgoing.retain_mut(|(to, length, sending)| {
            let is_sent = library.is_sent(sending);
            if is_sent && let Some(bytes) = given.get_mut(to) {
                *bytes -= *length;
                sent.push((*to, *length));
            }
            !is_sent
        });
        for (to, length) in sent {
            self.note_taken(to, length);
        }
        if !self.waiting.is_empty() {
            self.give_waiting();
        }
        let bytes_to = &self.bytes_to;
        let is_free = |to: &Rank| bytes_to.get(to).is_none_or(|&bytes| bytes <= LOW);
        let room: Vec<Rank> = self.congested.iter().copied().filter(is_free).collect();
        for to in room {
            self.congested.remove(&to);
            events.push(Event::Room { to });
        }
    }

    /// Gives MPI what waits, as far as it may have it.
    fn give_waiting(&mut self) {
        let all = std::mem::take(&mut self.waiting);
        for (to, mut pieces) in all {
            while let Some((_, piece)) = pieces.front()
                && self.takes(to, piece.len() + BESIDES)
                && let Some((tag, piece)) = pieces.pop_front()
            {
                let length = piece.len() + BESIDES;
                if !self.give(to, tag, piece) {
                    self.note_taken(to, length);
                }
            }
            if !pieces.is_empty() {
                self.waiting.insert(to, pieces);
            }
        }
    }

    fn arrived(&mut self, from: Rank, tag: i32, bytes: Vec<u8>, events: &mut Vec<Event>) {
        *self.came.entry(from).or_default() += 1 + bytes.len() as u64;
        if self.is_leaving {
            self.heard.insert(from);
        }
        match tag {
            ASK => self.put(from, ANSWER, Bytes::new()),
            ANSWER => {}
            NOTE => {
                // The note is of a process of this session.
                let note = postcard::from_bytes(&bytes).ok();
                self.notes.extend(note.map(|note| (from, note)));
            }
            MORE | LAST if self.cut_off.contains(&from) => {}
            MORE => self
                .joined
                .entry(from)
                .or_default()
                .append_bytes(bytes.into()),
            LAST => {
                let mut frame = self.joined.remove(&from).unwrap_or_default();
                frame.append_bytes(bytes.into());
                events.push(Event::Frame { from, frame });
            }
            _ => {
                self.gone.insert(from);
                if self.cut_off.contains(&from) {
                    return;
                }
                let loss = Loss {
                    is_certain: true,
                    has_left: true,
                    reason: "left the session".into(),
                };
                events.push(Event::Lost { rank: from, loss });
            }
        }
    }
}

/// Returns the lengths of the pieces into which a slice is cut.
fn parts(length: usize) -> impl Iterator<Item = usize> {
    let begins = (0..length).step_by(PIECE);
    begins.map(move |at| PIECE.min(length - at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_cut_into_pieces_of_which_none_is_too_long() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let parts: Vec<usize> = parts(length).collect();
            assert_eq!(parts.iter().sum::<usize>(), length);
            assert!(parts.iter().all(|part| (1..=PIECE).contains(part)));
        }
    }
}
