//! The links of the stack: the way of each message, and the links' requests.

use super::envelope::Envelope;
use super::{Action, Stack};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::group::Order;
use crate::protocol::link::{Gone, LONGEST, Links, ToAll};

/// Bytes waiting in a link at which senders are asked to wait. They go on when the bytes fall to
/// `ROOM`.
const FULL: usize = 4 << 20;
const ROOM: usize = FULL / 2;
/// Longest list of messages whose memory is kept for reuse.
const KEPT_ROOM_MAX: usize = 64;

impl<L: Links, O: Order> Stack<L, O> {
    /// Sends a message, also to this process itself.
    pub fn post(&mut self, now: Time, to: Rank, envelope: &Envelope, mut message: Message) {
        envelope.push_onto(&mut message);
        if to == self.myself.rank {
            self.to_self.push(message);
        } else {
            self.give_link(now, to, message);
        }
    }

    pub(super) fn give_link(&mut self, now: Time, to: Rank, message: Message) {
        if self.gone.contains_key(&to) {
            return;
        }
        if L::ADDS_NOTHING {
            return self.actions.push(Action::Send(to, message));
        }
        if message.len() > LONGEST {
            return self.refuse(now, to, message.len());
        }
        let length = message.len();
        let (link, frames) = self.link(to);
        link.send(now, message, frames);
        let (standing, waits) = (Standing::of(link), link.waits());
        self.has_kept |= waits && length > self.largest;
        self.note_full(to, length, standing.backlog);
        self.put(to);
        self.follow(to, standing);
    }

    /// Gives a peer up for which a message is too long: it would take this process for a liar.
    /// Requests that wait for it end.
    #[cold]
    fn refuse(&mut self, now: Time, to: Rank, length: usize) {
        let why = format!(
            "was to be sent a message of {length} bytes, of which this platform takes {LONGEST}: send it in parts"
        );
        self.lost(now, to, false, &why);
    }

    /// Sends a message to several peers: at once to those that can take it so.
    pub(super) fn give_all(&mut self, now: Time, ranks: &[Rank], message: &Message) {
        for rank in ranks.iter().filter(|_| L::RETRANSMITS) {
            self.link(*rank);
        }
        let multicast = match message.len() > LONGEST {
            true => Vec::new(),
            false => self.to_all.add(now, message, ranks, &mut self.links),
        };
        for to in ranks.iter().filter(|rank| !multicast.contains(rank)) {
            self.give_link(now, *to, message.clone());
        }
        for &to in &multicast {
            self.note_full(to, message.len(), self.untaken(to));
        }
        self.flush_multicast(now);
    }

    /// Sends shared messages, as far as the peers' links can take them.
    pub(super) fn flush_multicast(&mut self, now: Time) {
        if self.to_all.is_empty() {
            return;
        }
        let mut gone = Gone::default();
        self.to_all.go_on(now, &mut self.links, &mut gone);
        self.multicasts += gone.frames.len() as u64;
        self.actions
            .extend(gone.frames.into_iter().map(Action::Multicast));
        self.actions.extend(gone.deaf.into_iter().map(Action::Deaf));
        for rank in gone.stirred {
            self.stir(rank, |link, frames| link.tick(now, frames));
        }
        for rank in gone.to {
            self.stir(rank, |_, _| ());
        }
    }

    /// Calls a function on a link that may send, and follows its effects.
    pub(super) fn stir(&mut self, rank: Rank, act: impl FnOnce(&mut L, &mut Vec<Message>)) {
        let (link, frames) = self.link(rank);
        act(link, frames);
        let standing = Standing::of(link);
        self.put(rank);
        self.follow(rank, standing);
    }

    /// Notes it if much waits for a peer that was just given a message of some length.
    fn note_full(&mut self, to: Rank, length: usize, backlog: usize) {
        if backlog > FULL {
            self.full.insert(to);
            let before = backlog.saturating_sub(length);
            self.actions.push(Action::Full(to, before));
        }
    }

    /// Returns the bytes that wait in a peer's link, with each piece's overhead.
    #[must_use]
    pub fn untaken(&self, to: Rank) -> usize {
        self.links.get(&to).map_or(0, Links::backlog)
    }

    /// Returns the link to a peer, and the list for frames to [send](Self::put).
    pub(super) fn link(&mut self, rank: Rank) -> (&mut L, &mut Vec<Message>) {
        let (largest, birth) = (self.largest, self.myself.birth);
        let fault = self.fault;
        let link = self.links.entry(rank);
        let link = link.or_insert_with(|| L::new(largest, birth).with(fault));
        (link, &mut self.frames)
    }

    /// Sends the frames that a link gave out, if there are any.
    pub(super) fn put(&mut self, to: Rank) {
        if self.frames.len() > 1 {
            let run = std::mem::take(&mut self.frames);
            self.actions.push(Action::SendRun(to, run));
        } else if let Some(frame) = self.frames.pop() {
            self.actions.push(Action::Send(to, frame));
        }
    }

    /// Keeps the memory of an emptied list of messages, unless it grew long.
    pub(super) fn keep_room(&mut self, arrived: Vec<Message>) {
        if arrived.capacity() <= KEPT_ROOM_MAX {
            self.arrived = arrived;
        }
    }

    /// Follows a link's deadline and backlog; links without them cost nothing.
    fn follow(&mut self, rank: Rank, standing: Standing) {
        if !L::RETRANSMITS {
            return;
        }
        self.timers.set(rank, standing.deadline);
        if !self.full.is_empty() && standing.backlog < ROOM && self.full.remove(&rank) {
            self.actions.push(Action::Room(rank));
        }
    }
}

/// The state of a link after an event.
#[derive(Debug, Clone, Copy)]
struct Standing {
    deadline: Option<Time>,
    /// Bytes that wait in it.
    backlog: usize,
}

impl Standing {
    fn of<L: Links>(link: &L) -> Self {
        Self {
            deadline: link.deadline(),
            backlog: link.backlog(),
        }
    }
}
