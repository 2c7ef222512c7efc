//! The events of a simulation as time passes, and the processes' reactions.

use super::ports::Parcel;
use super::program::decode;
use super::{GROUP, What, World};
use crate::medium::Travel;
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::Message;
use antiphon_panda_core::protocol::group::{GroupEvent, Order, Ticket};
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::{Action, Delivery, Envelope, Stack, Time};

impl<L: Links, O: Order> World<L, O> {
    /// Lets time pass up to a moment.
    pub fn run_until(&mut self, until: Time) {
        while let Some(what) = self.medium.next(until) {
            self.happen(what);
        }
        self.medium.now = until;
    }

    /// Lets time pass until something holds, up to a moment, and returns whether it holds.
    pub fn run_till(&mut self, until: Time, holds: impl Fn(&Self) -> bool) -> bool {
        while !holds(self) {
            let Some(what) = self.medium.next(until) else {
                self.medium.now = until;
                return false;
            };
            self.happen(what);
        }
        true
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Travel(travel @ Travel::Broadcast { .. }) => {
                for rank in self.living() {
                    self.reads(rank, travel.clone());
                }
            }
            What::Travel(travel) => {
                let to = travel.to().filter(|_| self.medium.finds(&travel));
                if let Some(rank) = to {
                    self.reads(rank, travel);
                }
            }
            What::Timer { rank, life } => {
                let Some(node) = self.nodes[rank as usize]
                    .as_mut()
                    .filter(|node| node.life == life)
                else {
                    return;
                };
                if node.timer.rings(self.medium.now) {
                    self.act(rank, |stack, now| stack.tick(now));
                }
            }
            What::Turn(info) => self.turn(info),
        }
    }

    /// Delivers a message to a process, and records it if the process cannot read it.
    fn reads(&mut self, rank: Rank, travel: Travel) {
        let mut taken = Ok(());
        self.act(rank, |stack, now| taken = travel.reach(stack, now));
        let refused = taken.err().map(|why| (rank, why));
        self.history.refused.extend(refused);
    }

    /// Makes a process act, and carries out the consequences.
    pub(super) fn act<R>(&mut self, rank: Rank, act: impl FnOnce(&mut Stack<L, O>, Time) -> R) {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        let now = self.medium.now;
        act(&mut node.stack, now);
        node.stack.flush(now);
        let life = node.life;
        self.todo.extend(
            std::mem::take(node.stack.actions())
                .into_iter()
                .map(|action| (rank, life, action)),
        );
        if let Some(at) = node.timer.follow(node.stack.deadline(), now) {
            self.medium.add(at, What::Timer { rank, life });
        }
        if !self.is_busy {
            self.is_busy = true;
            while let Some((rank, life, action)) = self.todo.pop_front() {
                if self.nodes[rank as usize]
                    .as_ref()
                    .is_some_and(|node| node.life == life)
                {
                    self.perform(rank, action);
                }
            }
            self.is_busy = false;
        }
    }

    fn perform(&mut self, rank: Rank, action: Action) {
        let Some(own) = self.medium.perform(rank, action) else {
            return;
        };
        match own {
            Action::Complete(id, outcome) => {
                let now = self.medium.now;
                let is_well = outcome.is_ok();
                match self.life(rank).and_then(|life| life.calls.get_mut(&id)) {
                    Some(call) => call.ended = Some((now, is_well)),
                    None => self.receipted(rank, id, is_well, now),
                }
            }
            Action::Deliver(Delivery::Call {
                from, id, payload, ..
            }) => {
                let (caller, _, number) = decode(&payload);
                if let Some(life) = self.life(rank) {
                    life.executed.push((caller as usize, number));
                }
                self.act(rank, |stack, now| {
                    stack.reply(
                        now,
                        from,
                        id,
                        antiphon_panda_core::protocol::Answer::Value,
                        Message::new(),
                    )
                });
            }
            Action::Deliver(Delivery::Combine(work)) => {
                let (key, step) = work.run();
                let envelope = Envelope::Collective { key };
                self.act(rank, |stack, now| {
                    stack.post(now, rank, &envelope, step.encode())
                });
            }
            Action::Deliver(Delivery::Group(GROUP, event, ticket)) => {
                self.seen(rank, event, ticket);
            }
            Action::Deliver(Delivery::State(GROUP, request)) => self.follow_state(rank, request),
            Action::Lost(peer, why) => {
                let now = self.medium.now;
                if let Some(life) = self.life(rank) {
                    life.losses.push((now, peer));
                }
                if self.tells {
                    eprintln!("{:?}: rank {rank}: {peer} {why}", self.medium.now);
                }
            }
            Action::Deliver(Delivery::Port {
                from,
                tag,
                receipt,
                payload,
                ..
            }) => self.take(
                rank,
                Parcel {
                    from,
                    tag,
                    receipt,
                    payload,
                },
            ),
            Action::Collected(id, outcome) => {
                if self.turned(rank, id, &outcome) {
                    return;
                }
                let bytes = |values: Vec<Message>| values.iter().map(Message::to_bytes).collect();
                self.collected.push((rank, outcome.map(bytes)));
            }
            // Other groups are checked only for not disturbing.
            Action::Deliver(Delivery::Group(..) | Delivery::State(..) | Delivery::Peer(_))
            | Action::Back(_)
            | Action::Full(..)
            | Action::Room(_)
            | Action::Hold { .. } => {}
            other => unreachable!("{other:?} is the network's"),
        }
    }

    fn seen(&mut self, rank: Rank, event: GroupEvent, ticket: Option<Ticket>) {
        if self.tells && !matches!(event, GroupEvent::Message { .. }) {
            eprintln!("{:?}: rank {rank}: {event:?}", self.medium.now);
        }
        let Some(member) = self.membership(rank) else {
            return;
        };
        match event {
            GroupEvent::Message { place, payload, .. } => {
                member.see_message(place, decode(&payload));
                if let Some(ticket) = ticket {
                    ticket.delivered(place);
                }
                self.delivered += 1;
            }
            GroupEvent::View {
                number,
                place,
                members,
                ..
            } => member.see_view(number, place, members),
            GroupEvent::Left => member.ended = Some(true),
            GroupEvent::Expelled { .. } => member.ended = Some(false),
        }
    }
}
