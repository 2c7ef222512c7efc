//! What happens as time passes, and what processes do then.

use std::time::Duration;

use super::ports::Parcel;
use super::program::decode;
use super::{GROUP, What, World};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::group::{GroupEvent, Order};
use crate::protocol::link::Links;
use crate::protocol::{Action, Delivery, Envelope, Stack, Time};
use crate::sim::Place;

impl<L: Links, O: Order> World<L, O> {
    /// Lets time pass up to a moment.
    pub fn run_until(&mut self, until: Time) {
        while let Some((at, what)) = self.events.next(until) {
            self.now = at;
            self.happen(what);
        }
        self.now = until;
    }

    /// Lets time pass until something holds, up to a moment; whether it holds.
    pub fn run_till(&mut self, until: Time, holds: impl Fn(&Self) -> bool) -> bool {
        while !holds(self) {
            let Some((at, what)) = self.events.next(until) else {
                self.now = until;
                return false;
            };
            self.now = at;
            self.happen(what);
        }
        true
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Frame {
                from,
                to,
                life,
                frame,
            } => {
                let is_there = self.nodes[to as usize]
                    .as_ref()
                    .is_some_and(|node| life.is_none_or(|life| life == node.life));
                if is_there {
                    self.reads(to, |stack, now| stack.frame(now, from, frame));
                }
            }
            What::Multicast { from, frame } => {
                for rank in self.living() {
                    let frame = frame.clone();
                    self.reads(rank, |stack, now| stack.multicast(now, from, frame));
                }
            }
            What::Together { from, to, frame } => {
                self.reads(to, |stack, now| stack.together(now, from, frame));
            }
            What::Hears { rank, by } => self.act(by, |stack, _| stack.hears(rank, true)),
            What::Timer { rank, life } => {
                let Some(node) = self.nodes[rank as usize]
                    .as_mut()
                    .filter(|node| node.life == life)
                else {
                    return;
                };
                if node.timer == Some(self.now) {
                    node.timer = None;
                    self.act(rank, |stack, now| stack.tick(now));
                }
            }
            What::Turn(seat) => self.turn(seat),
            What::Gone { rank, by, told } => {
                if self.life_of(by) == told {
                    self.act(by, |stack, now| {
                        stack.lost(now, rank, true, "closed its connection")
                    });
                }
            }
            What::Back { by, told, .. } if self.life_of(by) != told => {}
            What::Back { rank, life, by, .. } => {
                self.connected.insert((by, rank), life);
                self.act(by, |stack, _| stack.joined(rank));
            }
        }
    }

    /// Has a process take what came, and notes it if it cannot.
    fn reads(
        &mut self,
        rank: Rank,
        take: impl FnOnce(&mut Stack<L, O>, Time) -> Result<(), DecodeError>,
    ) {
        let mut taken = Ok(());
        self.act(rank, |stack, now| taken = take(stack, now));
        let refused = taken.err().map(|why| (rank, why));
        self.history.refused.extend(refused);
    }

    /// Has a process do something, and does what comes of it.
    pub(super) fn act<R>(&mut self, rank: Rank, act: impl FnOnce(&mut Stack<L, O>, Time) -> R) {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        act(&mut node.stack, self.now);
        node.stack.flush(self.now);
        let life = node.life;
        self.todo.extend(
            std::mem::take(node.stack.actions())
                .into_iter()
                .map(|action| (rank, life, action)),
        );
        let next = node
            .stack
            .deadline()
            .map(|at| at.max(self.now + Duration::from_micros(1)));
        if let Some(at) = next.filter(|at| node.timer.is_none_or(|timer| *at < timer)) {
            node.timer = Some(at);
            self.events.add(at, What::Timer { rank, life });
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
        match action {
            Action::Send(to, frame) => self.carry(rank, to, frame),
            Action::SendRun(to, frames) => {
                frames
                    .into_iter()
                    .for_each(|frame| self.carry(rank, to, frame));
            }
            Action::Multicast(frame) => {
                self.frames += 1;
                let at = self.network.carry_to_all(&mut self.chance, self.now);
                self.events.add(at, What::Multicast { from: rank, frame });
            }
            Action::Together(frame) => self.carry_together(rank, &frame),
            Action::Deaf(peer) => self.ask_whether_hears(peer, rank),
            Action::Complete(id, outcome) => {
                let now = self.now;
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
                        crate::protocol::Answer::Value,
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
            Action::Deliver(Delivery::Group(GROUP, event)) => self.seen(rank, event),
            Action::Lost(peer, why) => {
                let now = self.now;
                if let Some(life) = self.life(rank) {
                    life.losses.push((now, peer));
                }
                if self.tells {
                    eprintln!("{:?}: rank {rank}: {peer} {why}", self.now);
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
            // What is checked of other groups is that they are in nobody's way.
            Action::Deliver(Delivery::Group(..))
            | Action::Full(_)
            | Action::Room(_)
            | Action::Hold { .. } => {}
        }
    }

    fn seen(&mut self, rank: Rank, event: GroupEvent) {
        if self.tells && !matches!(event, GroupEvent::Message { .. }) {
            eprintln!("{:?}: rank {rank}: {event:?}", self.now);
        }
        let Some(member) = self.membership(rank) else {
            return;
        };
        match event {
            GroupEvent::Message { place, payload, .. } => {
                member.places.push(Place::Message {
                    place,
                    id: decode(&payload),
                });
                self.delivered += 1;
            }
            GroupEvent::View {
                number, members, ..
            } => member.places.push(Place::View { number, members }),
            GroupEvent::Left => member.ended = Some(true),
            GroupEvent::Expelled { .. } => member.ended = Some(false),
        }
    }

    /// One frame, which each of those that hear it gets or lacks by itself.
    fn carry_together(&mut self, from: Rank, frame: &Message) {
        self.frames += 1;
        self.bytes += frame.len() as u64;
        self.sent_by[from as usize] += 1;
        for to in self.living() {
            if to == from || self.network.deaf.contains(&to) {
                continue;
            }
            let (network, chance) = (&mut self.network, &mut self.chance);
            for at in network.carry(chance, self.now, from, to, frame) {
                let frame = frame.clone();
                self.events.add(at, What::Together { from, to, frame });
            }
        }
    }

    pub(super) fn carry(&mut self, from: Rank, to: Rank, frame: Message) {
        self.frames += 1;
        self.bytes += frame.len() as u64;
        self.sent_by[from as usize] += 1;
        if to >= self.size {
            return;
        }
        let life = (!self.network.kind.is_lossy()).then(|| self.connected_to(from, to));
        for at in self
            .network
            .carry(&mut self.chance, self.now, from, to, &frame)
        {
            self.events.add(
                at,
                What::Frame {
                    from,
                    to,
                    life,
                    frame: frame.clone(),
                },
            );
        }
    }
}
