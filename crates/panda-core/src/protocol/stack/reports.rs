//! The platform's reports, and their consequences.

use super::envelope::Envelope;
use super::{Action, Delivery, Gone, Stack};
use crate::message::{DecodeError, Message};
use crate::protocol::Time;
use crate::protocol::collective::{self, Step};
use crate::protocol::group::Order;
use crate::protocol::link::{Arrival, Links, ToAll};
use crate::protocol::presence::{PeerEvent, Presence};
use crate::{Rank, Transfer};

impl<L: Links, O: Order> Stack<L, O> {
    /// Takes a frame.
    ///
    /// # Errors
    ///
    /// It is none of these protocols'; it has been dropped.
    pub fn frame(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        self.heard(now, from);
        if L::ADDS_NOTHING {
            let taken = self.message(now, from, frame);
            self.finish(now);
            return taken;
        }
        self.arrived(now, from, frame)
    }

    /// Takes a frame of the platform's multicast that may be lost. It is no sign of life: a process
    /// that overheard it can send it again to all.
    ///
    /// # Errors
    ///
    /// It is none of these protocols'; it has been dropped.
    pub fn multicast(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        match L::ToAll::own(self.myself.rank, frame)? {
            Some(frame) => self.arrived(now, from, frame),
            None => Ok(()),
        }
    }

    fn arrived(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        let mut messages = std::mem::take(&mut self.arrived);
        let (link, frames) = self.link(from);
        let arrival = link.receive(now, frame, frames, &mut messages);
        self.put(from);
        if L::RETRANSMITS && !self.touched.contains(&from) {
            self.touched.push(from);
        }
        match arrival? {
            Arrival::Usual => {}
            Arrival::Anew => {
                let why = "lost touch with this process or was started again";
                self.peer_lost(now, from, false, why);
                self.heard(now, from);
            }
            Arrival::TooLong => self.lost(now, from, false, "sends a message without end"),
        }
        let mut fault = Ok(());
        for message in messages.drain(..) {
            fault = fault.and(self.message(now, from, message));
        }
        self.keep_room(messages);
        self.finish(now);
        fault
    }

    /// Takes a frame of the platform's ordered broadcast.
    ///
    /// # Errors
    ///
    /// It is none of these protocols'; it has been dropped.
    pub fn broadcast(&mut self, now: Time, from: Rank, frame: Message) -> Result<(), DecodeError> {
        let taken = self.message(now, from, frame);
        self.finish(now);
        taken
    }

    /// Notes that a peer is lost.
    pub fn lost(&mut self, now: Time, rank: Rank, is_certain: bool, why: &str) {
        if is_certain {
            self.goes(rank, is_certain, why);
        }
        if self.links.contains_key(&rank) {
            self.stir(rank, |link, _| link.reset());
        }
        self.peer_lost(now, rank, is_certain, why);
        self.finish(now);
    }

    /// Notes that a peer has ended its session, and has said so.
    pub fn left(&mut self, now: Time, rank: Rank, why: &str) {
        // Later reports of its loss are no news.
        self.change_presence(now, rank, |peers| peers.gone(rank, PeerEvent::Left, false));
        self.lost(now, rank, true, why);
    }

    /// Stops listening to a peer that may live.
    pub fn give_up(&mut self, now: Time, rank: Rank, why: &str) {
        self.lost(now, rank, false, why);
        self.change_presence(now, rank, |peers| peers.bar(rank));
    }

    /// Gives a peer up for good, though it may live: nothing more goes to it.
    pub fn cut_off(&mut self, now: Time, rank: Rank, why: &str) {
        self.goes(rank, false, why);
        self.lost(now, rank, false, why);
    }

    fn goes(&mut self, rank: Rank, is_certain: bool, why: &str) {
        let why = why.to_string();
        self.gone.insert(rank, Gone { why, is_certain });
        self.to_all.hears(rank, false);
    }

    /// Notes that a process joined, perhaps in place of a lost one.
    pub fn joined(&mut self, now: Time, rank: Rank) {
        self.gone.remove(&rank);
        self.away.remove(&rank);
        self.to_all.hears(rank, false);
        self.groups.joined(rank, self.myself);
        self.change_presence(now, rank, |peers| peers.joined(rank));
        self.termination.joined(rank);
    }

    /// Returns when [`tick`](Self::tick), or [`tick_with`](Self::tick_with), is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let mut first = self.timers.first().map(|(at, _)| at);
        let mut consider = |at: Option<Time>| {
            if at.is_some_and(|at| first.is_none_or(|first| at < first)) {
                first = at;
            }
        };
        consider(self.groups.deadline());
        consider(self.to_all.deadline());
        consider(self.requests.deadline());
        consider(self.collectives.deadline());
        consider(self.detector.deadline());
        first
    }

    /// Does what is due, over a platform that cannot count bytes on their way.
    pub fn tick(&mut self, now: Time) {
        self.tick_with(now, |_| Transfer::default());
    }

    /// Does what is due. A silent peer may still exchange bytes, which `transfer` counts.
    pub fn tick_with(&mut self, now: Time, transfer: impl FnMut(Rank) -> Transfer) {
        while let Some((_, rank)) = self.timers.first().filter(|(at, _)| *at <= now) {
            self.stir(rank, |link, frames| link.tick(now, frames));
        }
        self.flush_multicast(now);
        let ended = self.requests.tick(now);
        self.complete(ended);
        let mut out = collective::Outcome::default();
        self.collectives.tick(now, &mut out);
        self.collective_outcome(now, out);
        let findings = self.detector.tick(now, transfer);
        for rank in findings.ask {
            self.post(
                now,
                rank,
                &Envelope::Heartbeat { asks: true },
                Message::new(),
            );
        }
        for rank in findings.lost {
            let known = self.gone.get(&rank).map(|gone| gone.why.clone());
            let why =
                known.unwrap_or_else(|| format!("has not answered for {:?}", self.myself.silence));
            self.lost(now, rank, false, &why);
        }
        for id in self.groups.take_due(now) {
            self.on_group(now, id, |group, now, out| group.tick(now, out));
            self.transfer(now, id, |transfer, out| transfer.tick(now, out));
        }
        self.finish(now);
    }

    /// Sends what groups and links held back, after all simultaneous input was taken.
    pub fn flush(&mut self, now: Time) {
        while let Some(id) = self.groups.next_touched() {
            self.flush_group(now, id);
        }
        self.termination_output(now);
        self.finish(now);
        self.flush_links(now);
    }

    fn flush_links(&mut self, now: Time) {
        if self.touched.is_empty() {
            return;
        }
        let touched = std::mem::take(&mut self.touched);
        for &rank in &touched {
            self.stir(rank, |link, frames| link.flush(now, frames));
        }
        self.flush_multicast(now);
        // The list's memory is reused.
        self.touched = touched;
        self.touched.clear();
    }

    /// States whether there are frames that no protocol must see.
    pub const HAS_PLAIN: bool = L::ADDS_NOTHING;

    /// Returns whether a frame is for the program alone. It is then read as
    /// [`Incoming`](super::Incoming) instead of by [`frame`](Self::frame). Only its sign of life is
    /// reported here.
    #[inline]
    #[must_use]
    pub fn is_plain(frame: &Message) -> bool {
        Self::HAS_PLAIN && Envelope::is_plain(frame)
    }

    /// Returns whether it ends a request that no protocol knows. [`frame`](Self::frame) would drop
    /// it.
    #[inline]
    pub fn is_plain_answer(frame: &Message) -> bool {
        Self::HAS_PLAIN && Envelope::is_plain_answer(frame)
    }

    /// Notes a peer's sign of life outside of [`frame`](Self::frame).
    #[inline]
    pub fn heard(&mut self, now: Time, from: Rank) {
        self.detector.heard(from, now);
        if self.awaits_return() && self.away.remove(&from) {
            self.actions.push(Action::Back(from));
            self.change_presence(now, from, |peers| peers.back(from));
            self.termination.joined(from);
        }
    }

    /// Returns whether a peer is lost that may be heard of again. Then [`heard`](Self::heard) must
    /// also be called for plain frames.
    #[inline]
    pub fn awaits_return(&self) -> bool {
        !self.away.is_empty()
    }

    pub(super) fn message(
        &mut self,
        now: Time,
        from: Rank,
        mut payload: Message,
    ) -> Result<(), DecodeError> {
        match Envelope::take_off(&mut payload)? {
            Envelope::Port { port, tag, receipt } => {
                self.actions.push(Action::Deliver(Delivery::Port {
                    from,
                    port,
                    tag,
                    receipt,
                    payload,
                }));
            }
            Envelope::Receipt { id } => self.answered(from, id, Ok(payload)),
            Envelope::Call { service, id } => self.actions.push(Action::Deliver(Delivery::Call {
                from,
                service,
                id,
                payload,
            })),
            Envelope::Reply { id, kind } => self.answered(from, id, kind.outcome(from, payload)),
            Envelope::Group { group } => return self.group_message(now, group, from, payload),
            Envelope::State { group } => return self.state_message(now, group, from, payload),
            Envelope::Collective { key } => {
                let step = Step::decode(payload)?;
                let mut out = collective::Outcome::default();
                self.collectives.take(from, key, step, &mut out);
                self.collective_outcome(now, out);
            }
            Envelope::Heartbeat { asks: true } => self.post(
                now,
                from,
                &Envelope::Heartbeat { asks: false },
                Message::new(),
            ),
            Envelope::Heartbeat { asks: false } => {}
            Envelope::Termination => return self.termination.receive(from, payload),
            Envelope::Hold { port, is_held } => self.actions.push(Action::Hold {
                rank: from,
                port,
                is_held,
            }),
        }
        Ok(())
    }

    pub(super) fn peer_lost(&mut self, now: Time, rank: Rank, is_certain: bool, why: &str) {
        self.actions.push(Action::Lost(rank, why.to_string()));
        let may_return = !self.gone.contains_key(&rank);
        match may_return {
            true => self.away.insert(rank),
            false => self.away.remove(&rank),
        };
        let how = PeerEvent::Lost { why: why.into() };
        self.change_presence(now, rank, |peers| peers.gone(rank, how, may_return));
        let ended = self.requests.lost(rank, why);
        self.complete(ended);
        let mut out = collective::Outcome::default();
        self.collectives.lost(rank, is_certain, why, &mut out);
        self.collective_outcome(now, out);
        self.termination.lost(rank);
        if is_certain {
            self.groups.ended(rank);
        }
        for id in self.groups.ids() {
            self.on_group(now, id, |group, now, out| {
                group.lost(now, rank, is_certain, out)
            });
            self.transfer(now, id, |transfer, out| transfer.lost(now, rank, out));
        }
    }

    /// Notes a change of a peer, tells the program if it follows the peer, and updates the watch on
    /// it.
    fn change_presence(&mut self, now: Time, rank: Rank, note: impl FnOnce(&mut Presence)) {
        let was_watched = self.presence.is_watched(rank);
        note(&mut self.presence);
        match (was_watched, self.presence.is_watched(rank)) {
            (false, true) => self.detector.watch(rank, now),
            (true, false) => self.detector.unwatch(rank),
            _ => {}
        }
        self.tell_news();
    }

    pub(super) fn tell_news(&mut self) {
        let news = self.presence.news().map(Delivery::Peer);
        self.actions.extend(news.map(Action::Deliver));
    }

    /// Reports gone peers that are watched anew, and takes messages to this process itself.
    #[inline]
    pub(super) fn finish(&mut self, now: Time) {
        if !(self.regone.is_empty() && self.to_self.is_empty()) {
            self.finish_all(now);
        }
    }

    fn finish_all(&mut self, now: Time) {
        loop {
            if let Some(rank) = self.regone.pop_first() {
                if let Some(Gone { why, is_certain }) = self.gone.get(&rank).cloned() {
                    self.peer_lost(now, rank, is_certain, &why);
                }
            } else if self.to_self.is_empty() {
                return;
            } else {
                for message in std::mem::take(&mut self.to_self) {
                    let taken = self.message(now, self.myself.rank, message);
                    debug_assert!(taken.is_ok(), "a message to oneself is well formed");
                }
            }
        }
    }
}
