//! A queue of pieces for the same peers, and the times that fast peers wait for slow ones.

use std::collections::VecDeque;
use std::time::Duration;

use super::{PEERS_MIN, Table};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::link::Retransmit;
use crate::protocol::link::retransmit::Piece;

/// Time that the others wait for a peer whose window has no room.
pub const PATIENCE: Duration = Duration::from_millis(20);
/// Time that all wait if none has room. They may all be gone, and hold up messages to some of them
/// and to others.
pub const STILLNESS: Duration = Duration::from_millis(100);

/// Pieces in the order of these peers' links, between pieces for other peers.
#[derive(Debug)]
pub struct Queue {
    pub to: Box<[Rank]>,
    /// Pieces with their numbers among all shared ones.
    pieces: VecDeque<(u64, Piece)>,
    /// Reason why the first of them has not gone.
    waits: Option<Waits>,
}

/// The peer for which a piece waits.
#[derive(Debug)]
enum Waits {
    /// In this peer's link pieces for other peers stand before it; those do not wait for ever
    /// either.
    Behind(Rank),
    /// This peer's link has no room since a time. `could`: others could take the piece.
    Late {
        rank: Rank,
        could: bool,
        since: Time,
    },
}

/// The states of the links for a piece.
#[derive(Debug, Default)]
struct Standing {
    ready: Vec<Rank>,
    behind: Vec<Rank>,
    late: Vec<Rank>,
}

/// A piece that goes out.
#[derive(Debug)]
pub struct Leaves {
    pub piece: Piece,
    /// Peers that get it together.
    pub multicast: Vec<Rank>,
    /// Peers that get it alone.
    pub alone: Vec<Rank>,
}

impl Queue {
    pub fn new(to: &[Rank]) -> Self {
        Self {
            to: to.into(),
            pieces: VecDeque::new(),
            waits: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub fn add(&mut self, number: u64, piece: Piece) {
        self.pieces.push_back((number, piece));
    }

    /// Puts a message into the last piece, if there is room and no link has anything behind that
    /// piece. Returns the piece's number.
    pub fn join(&mut self, message: &Message, room: usize, links: &Table) -> Option<u64> {
        let (number, piece) = self.pieces.back_mut()?;
        let is_last = |rank: &Rank| links.get(rank).is_some_and(|link| link.ends_with(*number));
        if !piece.fits(message, room) || !self.to.iter().all(is_last) {
            return None;
        }
        piece.add(message.clone());
        Some(*number)
    }

    /// Returns the first piece, if it goes now; the links have not taken it yet.
    pub fn next(&mut self, now: Time, links: &Table) -> Option<Leaves> {
        let &(number, _) = self.pieces.front()?;
        let before = self.waits.take();
        if let Some(waits) = &before
            && waits.is_unchanged(now, number, links)
        {
            self.waits = before;
            return None;
        }
        let standing = Standing::of(&self.to, number, links);
        self.waits = standing.waits(now, before);
        if self.waits.is_some() {
            return None;
        }
        let (_, piece) = self.pieces.pop_front()?;
        let Standing { ready, late, .. } = standing;
        let (multicast, alone) = match ready.len() < PEERS_MIN {
            true => (Vec::new(), [late, ready].concat()),
            false => (ready, late),
        };
        Some(Leaves {
            piece,
            multicast,
            alone,
        })
    }

    /// Returns when the first piece waits no longer.
    pub fn deadline(&self) -> Option<Time> {
        self.waits.as_ref()?.until()
    }
}

impl Waits {
    fn until(&self) -> Option<Time> {
        match *self {
            Self::Behind(_) => None,
            Self::Late { could, since, .. } => Some(match could {
                true => since + PATIENCE,
                false => since + STILLNESS,
            }),
        }
    }

    /// Returns whether nothing can have changed for a piece, by one look at one link: there may be
    /// many queues.
    fn is_unchanged(&self, now: Time, number: u64, links: &Table) -> bool {
        let holds = |rank, holds: fn(&Retransmit, u64) -> bool| {
            links.get(rank).is_some_and(|link| holds(link, number))
        };
        match self {
            Self::Behind(rank) => holds(rank, Retransmit::has_before),
            Self::Late { could: false, .. } => false,
            Self::Late { rank, .. } => {
                self.until().is_some_and(|until| now < until) && holds(rank, Retransmit::is_late)
            }
        }
    }
}

impl Standing {
    /// Sorts the links by their state. A link that lost the piece, since it began anew or goes
    /// alone, is left out.
    fn of(to: &[Rank], number: u64, links: &Table) -> Self {
        let mut standing = Self::default();
        for &rank in to {
            let Some(link) = links.get(&rank).filter(|link| link.awaits(number)) else {
                continue;
            };
            let those = if link.has_before(number) {
                &mut standing.behind
            } else if link.is_late(number) {
                &mut standing.late
            } else {
                &mut standing.ready
            };
            those.push(rank);
        }
        standing
    }

    /// Returns the peer for which the piece waits on, if it waited like this `before`.
    fn waits(&self, now: Time, before: Option<Waits>) -> Option<Waits> {
        if let Some(&rank) = self.behind.first() {
            return Some(Waits::Behind(rank));
        }
        let &rank = self.late.first()?;
        let could = !self.ready.is_empty();
        let since = match before {
            Some(Waits::Late {
                could: as_now,
                since,
                ..
            }) if as_now == could => since,
            _ => now,
        };
        let waits = Waits::Late { rank, could, since };
        waits
            .until()
            .is_some_and(|until| now < until)
            .then_some(waits)
    }
}
