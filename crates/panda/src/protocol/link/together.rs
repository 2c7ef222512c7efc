//! One frame for several peers: what is meant for all of them is sent once, by the platform's multicast, and each takes it as a frame of its own link.
//!
//! A piece has a number in the link of each peer that it goes to, and the frame says them all. So everything else is the links' matter, as ever: each peer acknowledges
//! by itself, a piece that one of them lacks is sent again to that one alone, doubles and what belongs to earlier streams are dropped, and order is kept.
//!
//! A piece goes when it is next in the links of all and the window of each has room: the slowest says how fast, so a multicast is no faster than a network that is
//! congested somewhere bears. Who is slower than the others for [`PATIENCE`] goes on alone for [`APART`] or until it has caught up, and holds up nobody.
//!
//! ```text
//!   peers 1 | kind 1 | for each: rank 4, stream 8, receiver's stream 8, number 8 | piece
//! ```

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::retransmit::{BUNDLE, HEADER, Header, LAST, MORE, Piece};
use super::{Gone, Retransmit, ToAll};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::Time;

/// How long the others wait for one whose window has no room.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long all wait where none has room. They may all be gone, and what waits behind is for others.
const STILLNESS: Duration = Duration::from_millis(100);
/// How long such a one goes on alone.
const APART: Duration = Duration::from_millis(200);
/// Peers of one frame at least and at most; more get as many frames as it takes.
const PEERS_MIN: usize = 2;
const PEERS_MAX: usize = 16;
/// Bytes before those of the peers, and of each.
const HEAD: usize = 2;
const ROW: usize = 28;
/// Frames that are no longer would hold little else.
const FRAME_MIN: usize = 2 * (HEAD + ROW * PEERS_MAX);

/// What goes together, and who hears it.
#[derive(Debug, Default)]
pub struct Together {
    hearers: BTreeSet<Rank>,
    /// In the order in which links have them; numbers follow one another.
    pieces: VecDeque<Shared>,
    last: u64,
    /// Since when the first of them waits, and whether some could take it.
    waits: Option<(bool, Time)>,
    is_trusting: bool,
}

#[derive(Debug)]
struct Shared {
    number: u64,
    piece: Piece,
    to: Arc<[Rank]>,
}

type Table = FxHashMap<Rank, Retransmit>;

impl ToAll<Retransmit> for Together {
    fn add(&mut self, now: Time, message: &Message, to: &[Rank], links: &mut Table) -> Vec<Rank> {
        let is_roomy = |link: &Retransmit| link.largest() >= FRAME_MIN;
        let mut some = to.iter().filter_map(|rank| links.get(rank));
        if self.hearers.len() < PEERS_MIN || !some.next().is_some_and(is_roomy) {
            return Vec::new();
        }
        let mut can = |rank: &Rank| {
            let link = links.get_mut(rank).filter(|_| self.hearers.contains(rank));
            link.is_some_and(|link| link.can_share(now))
        };
        let mut those: Vec<Rank> = to.iter().copied().filter(|rank| can(rank)).collect();
        if those.len() % PEERS_MAX < PEERS_MIN {
            // Of two or more one may be left over, and goes alone.
            those.truncate(those.len() / PEERS_MAX * PEERS_MAX);
        }
        for peers in those.chunks(PEERS_MAX) {
            self.add_for(message.clone(), peers, links);
        }
        those
    }

    fn go_on(&mut self, now: Time, links: &mut Table, gone: &mut Gone) {
        while let Some(first) = self.pieces.front() {
            let number = first.number;
            let awaits = |rank: &Rank| links.get(rank).is_some_and(|link| link.awaits(number));
            let those = first.to.iter().copied().filter(awaits);
            let (ready, late): (Vec<Rank>, Vec<Rank>) =
                those.partition(|rank| links[rank].is_ready(number));
            if !late.is_empty() {
                let could = !ready.is_empty();
                let waits = self.waits.take_if(|(before, _)| *before == could);
                self.waits = Some(waits.unwrap_or((could, now)));
                if self.deadline().is_some_and(|at| now < at) {
                    return;
                }
            }
            self.waits = None;
            let is_shared = ready.len() >= PEERS_MIN;
            let alone = late.iter().chain(ready.iter().filter(|_| !is_shared));
            for rank in alone {
                if let Some(link) = links.get_mut(rank) {
                    link.go_apart(now + APART);
                    gone.stirred.push(*rank);
                }
            }
            let Some(piece) = self.pieces.pop_front() else {
                return;
            };
            if is_shared {
                self.send(now, piece, &ready, links, gone);
            }
        }
        self.waits = None;
    }

    fn deadline(&self) -> Option<Time> {
        self.waits.map(|(could, since)| match could {
            true => since + PATIENCE,
            false => since + STILLNESS,
        })
    }

    fn own(me: Rank, mut frame: Message) -> Result<Option<Message>, DecodeError> {
        let [count, kind] = frame.pop()?;
        if !matches!(kind, LAST | MORE | BUNDLE) || usize::from(count) > PEERS_MAX {
            return Err(DecodeError::Value {
                wanted: "frame for several",
                reason: format!("its kind is {kind}, for {count}"),
            });
        }
        let mut own = None;
        for _ in 0..count {
            let (rank, header) = row(&frame.pop()?, kind);
            own = own.or((rank == me).then_some(header));
        }
        Ok(own.map(|header| {
            header.push(&mut frame);
            frame
        }))
    }

    fn hears(&mut self, rank: Rank, does: bool) {
        if does {
            self.hearers.insert(rank);
        } else {
            self.hearers.remove(&rank);
        }
    }

    fn hearers(&self) -> Vec<Rank> {
        self.hearers.iter().copied().collect()
    }

    fn trust(&mut self) {
        self.is_trusting = true;
    }
}

impl Together {
    /// Cuts a message into pieces that fit a frame for so many, or puts a short one into the last piece that waits.
    fn add_for(&mut self, message: Message, peers: &[Rank], links: &mut Table) {
        let Some(largest) = peers.first().map(|rank| links[rank].largest()) else {
            return;
        };
        let room = largest - (HEAD + ROW * peers.len()).max(HEADER);
        if self.join(&message, room, peers, links) {
            return;
        }
        let to: Arc<[Rank]> = peers.into();
        Piece::cut(message, room, |piece| {
            self.last += 1;
            let number = self.last;
            for rank in peers {
                if let Some(link) = links.get_mut(rank) {
                    link.add_shared(number, piece.clone());
                }
            }
            let to = to.clone();
            self.pieces.push_back(Shared { number, piece, to });
        });
    }

    /// Puts a message into the last piece that waits, if it goes to the same peers, none of them has anything behind it, and there is room.
    fn join(&mut self, message: &Message, room: usize, to: &[Rank], links: &mut Table) -> bool {
        let Some(last) = self.pieces.back_mut() else {
            return false;
        };
        let number = last.number;
        let is_last = |rank: &Rank| links.get(rank).is_some_and(|link| link.ends_with(number));
        if *last.to != *to || !last.piece.fits(message, room) || !to.iter().all(is_last) {
            return false;
        }
        last.piece.add(message.clone());
        for rank in to {
            if let Some(link) = links.get_mut(rank) {
                link.join_shared(number, message, room);
            }
        }
        true
    }

    fn send(&mut self, now: Time, piece: Shared, to: &[Rank], links: &mut Table, gone: &mut Gone) {
        let mut head = vec![0, piece.piece.kind];
        for rank in to {
            let Some(link) = links.get_mut(rank) else {
                continue;
            };
            if link.is_deaf() {
                self.hearers.remove(rank);
                gone.deaf.push(*rank);
            }
            let Some((stream, receivers, number)) = link.take_shared(now) else {
                continue;
            };
            if self.is_trusting {
                link.trust_last();
            }
            head[0] += 1;
            head.extend_from_slice(&rank.to_le_bytes());
            for word in [stream, receivers, number] {
                head.extend_from_slice(&word.to_le_bytes());
            }
            match link.has_more() {
                true => gone.stirred.push(*rank),
                false => gone.to.push(*rank),
            }
        }
        let mut frame = piece.piece.body;
        frame.push(&head);
        gone.frames.push(frame);
    }
}

/// A peer's numbers as the header of its link, which acknowledges nothing.
fn row(bytes: &[u8; ROW], kind: u8) -> (Rank, Header) {
    let rank = Rank::from_le_bytes(std::array::from_fn(|i| bytes[i]));
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
    let header = Header {
        kind,
        stream: word(4),
        receivers: word(12),
        number: word(20),
        next: 0,
        above: 0,
    };
    (rank, header)
}

#[cfg(test)]
mod tests;
