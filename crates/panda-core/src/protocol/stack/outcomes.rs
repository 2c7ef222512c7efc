//! The outputs of the protocols: ends of requests and of collective operations, and groups'
//! actions.

use super::envelope::Envelope;
use super::{Action, Delivery, GroupId, Stack};
use crate::Rank;
use crate::message::Message;
use crate::protocol::Time;
use crate::protocol::group::transfer::{self, Handed};
use crate::protocol::group::{GroupEvent, Order, Output, Recipients};
use crate::protocol::link::Links;
use crate::protocol::requests::{Ended, Failure, RequestId};
use crate::protocol::{collective, wire};

impl<L: Links, O: Order> Stack<L, O> {
    pub(super) fn begin(&mut self, now: Time, to: Rank, deadline: Option<Time>) -> RequestId {
        if to != self.myself.rank {
            self.watch(to, now);
        }
        self.requests.begin(to, deadline)
    }

    pub(super) fn answered(
        &mut self,
        from: Rank,
        id: RequestId,
        outcome: Result<Message, Failure>,
    ) {
        let ended = self.requests.answered(from, id, outcome);
        self.complete(ended);
    }

    pub(super) fn complete(&mut self, ended: impl IntoIterator<Item = Ended>) {
        for (id, peer, outcome) in ended {
            if peer != self.myself.rank {
                self.unwatch(peer);
            }
            self.actions.push(Action::Complete(id, outcome));
        }
    }

    pub(super) fn collective_outcome(&mut self, now: Time, out: collective::Outcome) {
        for (to, key, step) in out.sends {
            self.post(now, to, &Envelope::Collective { key }, step.encode());
        }
        let work = out.combine.into_iter().map(Delivery::Combine);
        self.actions.extend(work.map(Action::Deliver));
        for (id, watched, outcome) in out.ended {
            watched.iter().for_each(|rank| self.unwatch(*rank));
            self.actions.push(Action::Collected(id, outcome));
        }
        if let Some(liar) = out.liar {
            self.lost(now, liar, false, "sends more than its operations need");
        }
    }

    pub(super) fn termination_output(&mut self, now: Time) {
        let Some(out) = self.termination.take_output() else {
            return;
        };
        for (to, message) in out.sends {
            self.post(now, to, &Envelope::Termination, message);
        }
        let events = out.events.into_iter().map(Delivery::Quiescence);
        self.actions.extend(events.map(Action::Deliver));
        out.watch.iter().for_each(|rank| self.watch(*rank, now));
        out.unwatch.iter().for_each(|rank| self.unwatch(*rank));
    }

    /// Handles an event of a group, which goes to the program, or waits for a state. If a
    /// membership begins, `elders` were members before.
    fn group_event(
        &mut self,
        now: Time,
        id: GroupId,
        event: GroupEvent,
        elders: Option<Vec<Rank>>,
    ) {
        let own = self.myself.rank;
        let Some((ticket, passes)) = self.groups.follow_event(id, &event, own) else {
            return;
        };
        if passes {
            let delivery = Delivery::Group(id, event, ticket);
            self.actions.push(Action::Deliver(delivery));
            return;
        }
        self.transfer(now, id, |transfer, out| match elders {
            Some(elders) => transfer.enter(now, event, elders.into(), out),
            None => transfer.take(now, event, ticket, out),
        });
    }

    pub(super) fn transfer_outcome(&mut self, now: Time, id: GroupId, out: transfer::Outcome) {
        for handed in out.handed {
            let delivery = match handed {
                Handed::Event(event, ticket) => Delivery::Group(id, event, ticket),
                Handed::State(request) => Delivery::State(id, request),
            };
            self.actions.push(Action::Deliver(delivery));
        }
        for (to, note, body) in out.sends {
            let envelope = Envelope::State { group: id };
            self.post(now, to, &envelope, wire::pack(&note, body));
        }
        if out.leaves {
            self.on_group(now, id, |group, now, out| group.leave(now, out));
        }
    }

    pub(super) fn group_output(&mut self, now: Time, id: GroupId, out: Output) {
        let envelope = Envelope::Group { group: id };
        for (recipients, mut message) in out.sends {
            envelope.push_onto(&mut message);
            match recipients {
                Recipients::One(to) => self.give_link(now, to, message),
                Recipients::All(ranks) => self.give_all(now, &ranks, &message),
            }
        }
        for mut frame in out.broadcasts {
            envelope.push_onto(&mut frame);
            self.actions.push(Action::Broadcast(frame));
        }
        let mut entered = out.entered;
        for (at, event) in out.events.into_iter().enumerate() {
            let elders = entered.take_if(|(first, _)| *first == at);
            self.group_event(now, id, event, elders.map(|(_, elders)| elders));
        }
        if let Some(watch) = out.watch {
            watch.iter().for_each(|rank| self.watch(*rank, now));
            let before = self.groups.watches(id, watch);
            before.into_iter().for_each(|rank| self.unwatch(rank));
        }
        if let Some(liar) = out.liar {
            self.lost(now, liar, false, "has others keep more than a group needs");
        }
    }
}
