//! The sending and the receipt of notes.

use super::notes::Note;
use super::{Output, Recipients, Sequencer, Status, change};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::{Time, wire};

impl Sequencer {
    pub(super) fn post(&mut self, to: Rank, note: Note, body: Message, out: &mut Output) {
        if to == self.me.rank {
            self.to_self.push_back((note, body));
        } else {
            out.sends
                .push((Recipients::One(to), wire::pack(&note, body)));
        }
    }

    pub(super) fn tell(&mut self, to: Rank, note: Note, out: &mut Output) {
        self.post(to, note, Message::new(), out);
    }

    /// Sends the same note to several.
    pub(super) fn tell_all(
        &mut self,
        ranks: impl IntoIterator<Item = Rank>,
        note: &Note,
        out: &mut Output,
    ) {
        let me = self.me.rank;
        let (own, others): (Vec<Rank>, Vec<Rank>) = ranks.into_iter().partition(|rank| *rank == me);
        if !own.is_empty() {
            self.tell(me, note.clone(), out);
        }
        if !others.is_empty() {
            let message = wire::pack(note, Message::new());
            out.sends.push((Recipients::All(others.into()), message));
        }
    }

    /// Takes a note on this process's view. A note on a later view is kept. A sender in an ended
    /// view is told what it missed.
    pub(super) fn take(
        &mut self,
        now: Time,
        from: Rank,
        note: Note,
        body: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        if let Some(view) = note.view() {
            if view > self.view.number {
                if let Note::Collect { .. } = note {
                    self.ask_for_news(from, out);
                }
                let waits = self.is_inside() || self.status == Status::Joining;
                if waits && !self.early.keep(from, note, body) {
                    out.liar = Some(from);
                }
                return Ok(());
            }
            if view < self.latest() {
                if let Note::Fetch { after, upto, .. } = note {
                    self.send_entries(from, view, after, upto, out);
                    return Ok(());
                }
                self.tell_news(from, &note, out);
                return Ok(());
            }
        }
        self.suspects_heard(from);
        self.act_on(now, from, note, body, out)
    }

    /// Acts on a note that is about this process's view, or about none.
    fn act_on(
        &mut self,
        now: Time,
        from: Rank,
        note: Note,
        body: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        match note {
            Note::Join { member } => self.asked_to_join(now, from, member, out),
            Note::Leave { .. } => self.asked_to_leave(now, from, out),
            Note::Request {
                delivered,
                first,
                lengths,
                ..
            } => return self.requested(from, delivered, first, &lengths, body, out),
            Note::Body { number, .. } => self.body_came(now, from, number, body, out),
            Note::Ordered {
                first,
                stable,
                wants_report,
                items,
                ..
            } => {
                let (places, reported) = ((first, items.as_slice()), (stable, wants_report));
                return self.ordered(now, from, places, reported, body, out);
            }
            Note::Delivered { delivered, .. } => self.has_delivered(from, delivered, out),
            Note::Collect { ballot, .. } => self.collected(now, from, ballot, out),
            Note::State {
                ballot,
                held,
                stays,
                accepted,
                ..
            } => self.state_came(
                now,
                from,
                ballot,
                change::State {
                    held,
                    stays,
                    accepted,
                },
                out,
            ),
            Note::Refuse { promised, .. } => self.refused(now, promised),
            Note::Fetch { after, upto, .. } => self.fetched(from, after, upto, out),
            Note::Entries { first, items, .. } => {
                return self.entries_came(now, from, (first, &items), body, out);
            }
            Note::Propose { ballot, step, .. } => self.proposed(now, from, ballot, step, out),
            Note::Accepted { ballot, .. } => self.was_accepted(now, from, ballot, out),
            Note::Decide { step, .. } => self.stepped(now, from, step, out),
            Note::Life { member } => self.lives(now, from, member, out),
            Note::Full { follows } => self.was_refused(now, from, follows, out),
            Note::Install { view, proposal } => self.decided(now, from, view, proposal, out),
        }
        Ok(())
    }

    /// Notes that a silent member is heard again. The view changes all the same, since something
    /// may be missing.
    fn suspects_heard(&mut self, from: Rank) {
        self.suspects.remove(&from);
    }

    /// Asks for news of a later view that counts this process and is ending. This process does not
    /// know how that view began: its coordinator may have been cut off before it told. Any note on
    /// this process's own view makes the other tell. A process in no view may have been counted in
    /// an earlier life, whose answer the other awaits in vain.
    fn ask_for_news(&mut self, from: Rank, out: &mut Output) {
        let (view, delivered, member) = (self.view.number, self.log.delivered, self.me);
        let note = match view {
            0 => Note::Life { member },
            _ => Note::Delivered { view, delivered },
        };
        self.tell(from, note, out);
    }

    /// Tells a process that the view has ended here, if it does not know.
    fn tell_news(&mut self, to: Rank, note: &Note, out: &mut Output) {
        if to == self.me.rank
            || matches!(
                note,
                Note::State { .. }
                    | Note::Accepted { .. }
                    | Note::Refuse { .. }
                    | Note::Entries { .. }
            )
        {
            return;
        }
        self.tell_decision(to, out);
    }

    /// Tells the last decision that this process knows.
    pub(super) fn tell_decision(&mut self, to: Rank, out: &mut Output) {
        let latest = self.known.as_ref().or(self.begun_by.as_ref()).cloned();
        if let Some(proposal) = latest.filter(|_| to != self.me.rank) {
            self.tell(
                to,
                Note::Install {
                    view: proposal.next.number - 1,
                    proposal,
                },
                out,
            );
        }
    }
}
