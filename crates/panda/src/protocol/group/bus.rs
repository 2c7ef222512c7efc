//! Order by the platform: a multicast reaches everybody in one order, so that order is the group's.
//!
//! Every process follows who is in the group from the first multicast on, so a member knows the others when it joins.

use serde::{Deserialize, Serialize};

use super::{GroupEvent, Myself, Order, Output};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::{Time, wire};

#[derive(Serialize, Deserialize)]
enum Note {
    Join,
    Leave,
    Data,
}

/// A group on a platform that is reliable and ordered.
#[derive(Debug)]
pub struct Bus {
    me: Rank,
    wants_in: bool,
    members: Vec<Rank>,
    place: u64,
    view: u64,
}

impl Order for Bus {
    const NEEDS_ORDERED: bool = true;

    fn new(myself: Myself) -> Self {
        Self {
            me: myself.rank,
            wants_in: false,
            members: Vec::new(),
            place: 0,
            view: 0,
        }
    }

    fn join(&mut self, _now: Time, out: &mut Output) {
        self.wants_in = true;
        out.multicasts.push(wire::pack(&Note::Join, Message::new()));
    }

    fn leave(&mut self, _now: Time, out: &mut Output) {
        out.multicasts
            .push(wire::pack(&Note::Leave, Message::new()));
    }

    fn send(&mut self, _now: Time, payload: Message, out: &mut Output) {
        out.multicasts.push(wire::pack(&Note::Data, payload));
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn is_member(&self) -> bool {
        self.wants_in
    }

    fn is_pristine(&self) -> bool {
        // Views are counted on, so that none has the number of an earlier one, also when all have left.
        !self.wants_in && self.view == 0
    }

    fn receive(
        &mut self,
        _now: Time,
        from: Rank,
        message: Message,
        out: &mut Output,
    ) -> Result<(), DecodeError> {
        let (note, payload) = wire::unpack(message)?;
        let is_in = self.members.contains(&from);
        match note {
            Note::Join if !is_in => {
                self.members.push(from);
                self.changed(vec![from], vec![], out);
            }
            Note::Leave if is_in => self.gone(from, out),
            Note::Data if is_in => {
                self.place += 1;
                if self.members.contains(&self.me) {
                    out.events.push(GroupEvent::Message {
                        from,
                        place: self.place,
                        payload,
                    });
                }
            }
            Note::Join | Note::Leave | Note::Data => {}
        }
        Ok(())
    }

    fn lost(&mut self, _now: Time, rank: Rank, _is_certain: bool, out: &mut Output) {
        if self.members.contains(&rank) {
            self.gone(rank, out);
        }
    }
}

impl Bus {
    fn gone(&mut self, rank: Rank, out: &mut Output) {
        self.members.retain(|member| *member != rank);
        self.changed(vec![], vec![rank], out);
        if rank == self.me {
            self.wants_in = false;
            out.events.push(GroupEvent::Left);
        }
    }

    fn changed(&mut self, joined: Vec<Rank>, left: Vec<Rank>, out: &mut Output) {
        self.view += 1;
        if self.members.contains(&self.me) {
            let joined = if joined == [self.me] {
                self.members.clone()
            } else {
                joined
            };
            out.events.push(GroupEvent::View {
                number: self.view,
                members: self.members.clone(),
                joined,
                left,
            });
        }
    }
}
