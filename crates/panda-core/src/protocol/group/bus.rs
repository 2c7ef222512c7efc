//! Order by the platform: a broadcast reaches all processes in one order, which is the group's.
//!
//! Every founder follows the group's members from the first broadcast on, so it knows the others
//! when it joins. A later process asks them ([`late`]).

use serde::{Deserialize, Serialize};

use super::{GroupEvent, Myself, Order, Output, Recipients};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::fault::{Fault, Mutant};
use crate::protocol::{Time, wire};

mod late;

use late::{Heard, Late, QuestionId};

/// A process's note on a group.
#[derive(Debug, Serialize, Deserialize)]
pub enum Note {
    Join,
    Leave,
    Data,
    /// A process that came after the session's begin asks for the state of the group.
    Ask {
        asked: QuestionId,
    },
    /// The state at the place of such a question, for the asker; `None` if the sender does not know
    /// it.
    Tell {
        asked: QuestionId,
        standing: Option<Standing>,
    },
}

/// The state of a group at some place of the order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Standing {
    members: Vec<Rank>,
    /// Number of messages and views so far, which is the last one's place.
    place: u64,
    view: u64,
}

/// A group on a platform that is reliable and ordered.
#[derive(Debug)]
pub struct Bus {
    me: Rank,
    wants_in: bool,
    /// State of a late process that does not know the group yet.
    late: Option<Late>,
    standing: Standing,
    fault: Fault,
}

impl Order for Bus {
    const NEEDS_ORDERED: bool = true;

    fn new(myself: Myself) -> Self {
        Self {
            me: myself.rank,
            wants_in: false,
            late: (!myself.is_founder).then(|| Late::new(myself.birth)),
            standing: Standing::default(),
            fault: Fault::default(),
        }
    }

    fn join(&mut self, _now: Time, out: &mut Output) {
        self.wants_in = true;
        let question = self.late.as_mut().and_then(Late::ask);
        let notes = question.into_iter().chain([Note::Join]);
        let frames = notes.map(|note| wire::pack(&note, Message::new()));
        out.broadcasts.extend(frames);
    }

    fn leave(&mut self, _now: Time, out: &mut Output) {
        out.broadcasts
            .push(wire::pack(&Note::Leave, Message::new()));
    }

    fn takes_messages(&self) -> bool {
        self.wants_in
    }

    fn send(&mut self, _now: Time, payload: Message, out: &mut Output) {
        out.broadcasts.push(wire::pack(&Note::Data, payload));
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn is_member(&self) -> bool {
        self.wants_in
    }

    fn is_pristine(&self) -> bool {
        // Views are counted on, so that no number is reused, even after all have left.
        let has_asked = self.late.as_ref().is_some_and(Late::has_asked);
        !self.wants_in && !has_asked && self.standing.view == 0
    }

    fn receive(
        &mut self,
        _now: Time,
        from: Rank,
        message: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let (note, payload) = wire::unpack(message)?;
        let answer = match &mut self.late {
            Some(late) => {
                let is_own = from == self.me;
                let is_question = is_own && matches!(note, Note::Ask { .. });
                let answer = late.hear(from, is_own, note, payload);
                if is_question {
                    out.watch = Some(late.waits_for());
                }
                answer
            }
            None => self.take(from, note, payload, out),
        };
        self.answer(from, answer, out);
        self.settle(out);
        Ok(())
    }

    fn joined(&mut self, rank: Rank) {
        if let Some(late) = &mut self.late {
            late.joined(rank);
        }
    }

    fn lost(&mut self, _now: Time, rank: Rank, is_certain: bool, out: &mut Output) {
        // Only the platform's reports have a place in the order. A process that is silent to one of
        // the others remains a member until then, for all alike.
        match &mut self.late {
            Some(late) if is_certain => late.lost(rank),
            Some(late) => late.is_silent(rank),
            None if is_certain => self.take_loss(rank, out),
            None => {}
        }
        self.settle(out);
    }

    #[cfg(feature = "mutants")]
    fn mutate(&mut self, fault: Fault) {
        self.fault = fault;
    }
}

impl Bus {
    /// Takes a note at its place, and returns the answer to a question.
    fn take(&mut self, from: Rank, note: Note, payload: Message, out: &mut Output) -> Option<Note> {
        let is_in = self.standing.members.contains(&from);
        match note {
            Note::Join if !is_in => {
                self.standing.members.push(from);
                self.changed(vec![from], vec![], out);
            }
            Note::Leave if is_in => self.gone(from, out),
            Note::Data if is_in => {
                self.standing.place += 1;
                if self.is_in() {
                    let place = self.standing.place;
                    out.events.push(GroupEvent::Message {
                        from,
                        place,
                        payload,
                    });
                }
            }
            Note::Ask { asked } if from != self.me => {
                let standing = Some(self.standing.clone());
                return Some(Note::Tell { asked, standing });
            }
            Note::Join | Note::Leave | Note::Data | Note::Ask { .. } | Note::Tell { .. } => {}
        }
        None
    }

    fn take_loss(&mut self, rank: Rank, out: &mut Output) {
        if self.standing.members.contains(&rank) {
            self.gone(rank, out);
        }
    }

    fn answer(&self, to: Rank, answer: Option<Note>, out: &mut Output) {
        let frame = answer.map(|note| wire::pack(&note, Message::new()));
        let to = |frame| (Recipients::One(to), frame);
        out.sends.extend(frame.map(to));
    }

    /// Goes on from the place of this process's question, once it knows the group's state there. If
    /// all processes that may know are silent, it is not let in.
    fn settle(&mut self, out: &mut Output) {
        let Some(late) = &mut self.late else {
            return;
        };
        let Some((standing, since)) = late.settle() else {
            if let Some(silent) = late.give_up() {
                self.is_not_let_in(&silent, out);
            }
            return;
        };
        (self.late, self.standing) = (None, standing);
        out.watch = Some(Vec::new());
        let forgets = self.fault.is(Mutant::ForgetsSince);
        for heard in since.into_iter().filter(|_| !forgets) {
            match heard {
                Heard::Lost(rank) => self.take_loss(rank, out),
                Heard::Note(from, note, payload) => {
                    let answer = self.take(from, note, payload, out);
                    self.answer(from, answer, out);
                }
            }
        }
    }

    /// Withdraws: the others have taken this process's join at its place.
    fn is_not_let_in(&mut self, silent: &[Rank], out: &mut Output) {
        self.wants_in = false;
        out.watch = Some(Vec::new());
        let leave = wire::pack(&Note::Leave, Message::new());
        out.broadcasts.push(leave);
        let silent: Vec<String> = silent.iter().map(|rank| format!("rank {rank}")).collect();
        let why = format!(
            "{} did not answer, and nobody else knows who is in it",
            silent.join(", ")
        );
        out.events.push(GroupEvent::Expelled { why });
    }

    /// Returns whether this process is a member.
    fn is_in(&self) -> bool {
        self.standing.members.contains(&self.me)
    }

    fn gone(&mut self, rank: Rank, out: &mut Output) {
        self.standing.members.retain(|member| *member != rank);
        self.changed(vec![], vec![rank], out);
        if rank == self.me {
            self.wants_in = false;
            out.events.push(GroupEvent::Left);
        }
    }

    fn changed(&mut self, joined: Vec<Rank>, left: Vec<Rank>, out: &mut Output) {
        self.standing.view += 1;
        self.standing.place += 1;
        if self.is_in() {
            let members = self.standing.members.clone();
            let joined = match joined == [self.me] {
                true => {
                    let elders = members.iter().filter(|rank| **rank != self.me);
                    out.entered = Some((out.events.len(), elders.copied().collect()));
                    members.clone()
                }
                false => joined,
            };
            out.events.push(GroupEvent::View {
                number: self.standing.view,
                place: self.standing.place,
                members,
                joined,
                left,
            });
        }
    }
}
