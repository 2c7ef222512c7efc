//! Shared frames for several peers: a message for all of them is sent once, by the platform's
//! multicast. Each peer takes it as a frame of its own link.
//!
//! A piece has a number in the link of each of its peers, and the frame holds them all. So the
//! links do all else as usual. Each peer acknowledges by itself. A piece that one peer lacks is
//! sent again to that one alone. Doubles and pieces of earlier streams are dropped, and order is
//! kept.
//!
//! A piece goes when it is next in all links and the window of each has room. So the slowest peer
//! sets the speed, and a multicast is no faster than a congested network bears. A peer that is
//! slower than the others for [`PATIENCE`] goes on alone for [`APART`] or until it has caught up,
//! and holds up no other. Each list of peers has a queue of its own, so messages to other peers do
//! not wait for it.
//!
//! ```text
//!   peers 1 | kind 1 | for each: rank 4, stream 8, receiver's stream 8, number 7 | piece
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::retransmit::{BUNDLE, HEADER, Header, LAST, MORE, NUMBER, Piece, word};
use super::{Gone, Retransmit, ToAll};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::Time;
use crate::protocol::fault::{Fault, Mutant};
use queue::Queue;

/// Time for which a peer goes on alone after the others waited for it in vain.
const APART: Duration = Duration::from_millis(200);
/// Least and largest number of peers of one frame; more peers get several frames.
const PEERS_MIN: usize = 2;
const PEERS_MAX: usize = 16;
/// Bytes before the peers' rows, and bytes of a row.
const HEAD: usize = 2;
const ROW: usize = 20 + NUMBER;
/// Frame length up to which a shared frame would hold little else.
const FRAME_MIN: usize = 2 * (HEAD + ROW * PEERS_MAX);

/// Shared messages, and the peers that hear them.
#[derive(Debug, Default)]
pub struct Multicast {
    hearers: BTreeSet<Rank>,
    /// Queues, one for each list of peers with waiting messages.
    queues: Vec<Queue>,
    /// Last number that a shared piece was given.
    last: u64,
    fault: Fault,
}

type Table = FxHashMap<Rank, Retransmit>;

impl ToAll<Retransmit> for Multicast {
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
            // Of two or more peers one may be left over, and goes alone.
            those.truncate(those.len() / PEERS_MAX * PEERS_MAX);
        }
        for peers in those.chunks(PEERS_MAX) {
            self.add_for(message.clone(), peers, links);
        }
        those
    }

    fn go_on(&mut self, now: Time, links: &mut Table, gone: &mut Gone) {
        // A piece that goes releases pieces behind it in some links, which may be in another queue.
        while self.go_once(now, links, gone) {}
        self.queues.retain(|queue| !queue.is_empty());
    }

    fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    fn deadline(&self) -> Option<Time> {
        self.queues.iter().filter_map(Queue::deadline).min()
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

    #[cfg(feature = "mutants")]
    fn mutate(&mut self, fault: Fault) {
        self.fault = fault;
    }
}

impl Multicast {
    /// Cuts a message into pieces that fit a frame for so many peers. A short one may go into the
    /// last waiting piece for the same peers.
    fn add_for(&mut self, message: Message, peers: &[Rank], links: &mut Table) {
        let Some(largest) = peers.first().map(|rank| links[rank].largest()) else {
            return;
        };
        let room = largest - (HEAD + ROW * peers.len()).max(HEADER);
        let Self { queues, last, .. } = self;
        let queue = queue_to(peers, queues);
        if let Some(number) = queue.join(&message, room, links) {
            return each(peers, links, |link| {
                link.join_shared(number, &message, room);
            });
        }
        Piece::cut(message, room, |piece| {
            *last += 1;
            each(peers, links, |link| link.add_shared(*last, piece.clone()));
            queue.add(*last, piece);
        });
    }

    /// Sends what can go, and returns whether anything went for which other pieces may have waited.
    fn go_once(&mut self, now: Time, links: &mut Table, gone: &mut Gone) -> bool {
        let mut has_gone = false;
        for place in 0..self.queues.len() {
            while let Some(leaves) = self.queues[place].next(now, links) {
                each(&leaves.alone, links, |link| link.go_apart(now + APART));
                gone.stirred.extend(leaves.alone);
                if !leaves.multicast.is_empty() {
                    self.send(now, leaves.piece, &leaves.multicast, links, gone);
                }
                has_gone = true;
            }
        }
        has_gone
    }

    fn send(&mut self, now: Time, piece: Piece, to: &[Rank], links: &mut Table, gone: &mut Gone) {
        let mut head = vec![0, piece.kind];
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
            if self.fault.is(Mutant::TrustsMulticast) {
                link.trust_last();
            }
            head[0] += 1;
            head.extend_from_slice(&rank.to_le_bytes());
            head.extend_from_slice(&stream.to_le_bytes());
            head.extend_from_slice(&receivers.to_le_bytes());
            head.extend_from_slice(&number.to_le_bytes()[..NUMBER]);
            match link.has_more() {
                true => gone.stirred.push(*rank),
                false => gone.to.push(*rank),
            }
        }
        let mut frame = piece.body;
        frame.push(&head);
        gone.frames.push(frame);
    }
}

fn queue_to<'a>(to: &[Rank], queues: &'a mut Vec<Queue>) -> &'a mut Queue {
    let place = queues.iter().position(|queue| *queue.to == *to);
    let place = place.unwrap_or_else(|| {
        queues.push(Queue::new(to));
        queues.len() - 1
    });
    &mut queues[place]
}

/// Applies a function to the links of some peers.
fn each(peers: &[Rank], links: &mut Table, mut to: impl FnMut(&mut Retransmit)) {
    for rank in peers {
        if let Some(link) = links.get_mut(rank) {
            to(link);
        }
    }
}

/// Parses a peer's row as a header of its link, which acknowledges nothing.
fn row(bytes: &[u8; ROW], kind: u8) -> (Rank, Header) {
    let rank = Rank::from_le_bytes(std::array::from_fn(|i| bytes[i]));
    let header = Header {
        kind,
        stream: word::<8>(&bytes[4..]),
        receivers: word::<8>(&bytes[12..]),
        number: word::<NUMBER>(&bytes[20..]),
        next: 0,
        above: 0,
    };
    (rank, header)
}

mod queue;
#[cfg(test)]
mod tests;
