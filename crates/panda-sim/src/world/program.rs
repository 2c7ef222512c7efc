//! Programs' actions, and the names in their messages.

use bytes::Bytes;

use super::{CALL_LIMIT, GROUP, SERVICE, World};
use crate::{Call, Membership};
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::Message;
use antiphon_panda_core::protocol::collective::{Operation, Part};
use antiphon_panda_core::protocol::group::{Order, Progress, StateRequest, Ticket};
use antiphon_panda_core::protocol::link::Links;

impl<L: Links, O: Order> World<L, O> {
    /// Makes a process ask to join.
    pub fn join(&mut self, rank: Rank) {
        let progress = Progress::default().with(self.fault);
        let Some(life) = self.life(rank) else { return };
        if life
            .memberships
            .last()
            .is_none_or(|last| last.ended.is_some())
        {
            life.memberships.push(Membership {
                progress,
                ..Membership::default()
            });
            let has_state = self.history.has_state;
            self.act(rank, |stack, now| stack.join_group(now, GROUP, has_state));
        }
    }

    /// Answers a request of the state's transfer. One of five snapshots is refused.
    pub(super) fn follow_state(&mut self, rank: Rank, request: StateRequest) {
        let ballast = self.ballast;
        let Some(member) = self.membership(rank) else {
            return;
        };
        match request {
            StateRequest::Snapshot { to, id, .. } => {
                let mut state = Message::from(vec![0x5a; ballast]);
                state.push(&member.copy.to_le_bytes());
                let snapshot = match id % 5 {
                    0 => Err("does not want to".into()),
                    _ => Ok(state),
                };
                self.act(rank, |stack, now| {
                    stack.give_state(now, GROUP, (to, id), snapshot);
                });
            }
            StateRequest::Install { place, state } => {
                assert_eq!(state.len(), ballast + 8, "a snapshot comes whole");
                let copy = state.look().expect("a snapshot begins with the copy");
                member.install(place, u64::from_le_bytes(copy));
            }
            StateRequest::Missing { .. } => {}
        }
    }

    /// Makes a process ask to leave.
    pub fn leave(&mut self, rank: Rank) {
        if self.is_member(rank) {
            if let Some(member) = self.membership(rank) {
                member.is_leaving = true;
            }
            self.act(rank, |stack, now| {
                stack.group(now, GROUP, |group, now, out| group.leave(now, out))
            });
        }
    }

    /// Makes a process join groups that no other joins, or leave those of them that it is in.
    pub fn in_others(&mut self, rank: Rank, groups: std::ops::Range<u64>, joins: bool) {
        self.act(rank, |stack, now| {
            for group in groups.map(|number| GROUP + 1 + number) {
                stack.group(now, group, |group, now, out| match joins {
                    true => group.join(now, out),
                    false if group.is_member() => group.leave(now, out),
                    false => {}
                });
            }
        });
    }

    /// Makes a member send a message of some length.
    pub fn send(&mut self, rank: Rank, length: usize) {
        let wants = self.is_member(rank)
            && self
                .membership(rank)
                .is_some_and(|member| !member.is_leaving && !member.places.is_empty());
        let is_full = self.nodes[rank as usize].as_mut().is_none_or(|node| {
            node.stack
                .group(self.medium.now, GROUP, |group, _, _| group.is_congested())
        });
        if !wants || is_full {
            return;
        }
        let Some(life) = self.nodes[rank as usize].as_ref().map(|node| node.life) else {
            return;
        };
        let memberships = &mut self.history.lives[life].memberships;
        let which = memberships.len() as u32;
        let member = memberships.last_mut().expect("a member has a membership");
        let (ticket, placed) = Ticket::pair();
        member.sent.push(placed);
        let mut payload = Message::from(vec![0xa5; length]);
        payload.push(&encode((life as u32, which, member.sent.len() as u32)));
        self.act(rank, |stack, now| {
            stack.send_to_group(now, GROUP, payload, Some(ticket));
        });
    }

    /// Makes a process call another.
    pub fn call(&mut self, rank: Rank, to: Rank) {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        let life = &mut self.history.lives[node.life];
        let number = life.calls.len() as u32 + 1;
        let payload = Message::from(encode((node.life as u32, 0, number)).to_vec());
        let deadline = self.medium.now + CALL_LIMIT / 2;
        let id = node
            .stack
            .call(self.medium.now, to, SERVICE, payload, Some(deadline));
        life.calls.insert(
            id,
            Call {
                to,
                number,
                at: self.medium.now,
                ended: None,
            },
        );
        self.act(rank, |_, _| ());
    }

    /// Makes a process take part in a collective operation over a list, at a given place.
    pub fn collect(
        &mut self,
        (ranks, at, root): (&std::sync::Arc<[Rank]>, usize, usize),
        operation: Operation,
        value: Bytes,
    ) {
        let list = ranks.iter().fold(ranks.len() as u64, |hash, rank| {
            hash.wrapping_mul(31).wrapping_add(u64::from(*rank))
        });
        let ranks = ranks.clone();
        self.act(ranks[at], |stack, now| {
            let part = Part {
                id: stack.request_id(),
                list,
                family: list,
                order: list,
                ranks,
                at,
                root,
                operation,
                value: value.into(),
            };
            stack.collect(now, part);
        });
    }
}

pub(super) fn encode((life, membership, number): (u32, u32, u32)) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (i, word) in [life, membership, number].into_iter().enumerate() {
        bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

pub(super) fn decode(payload: &Message) -> (u32, u32, u32) {
    let bytes: [u8; 12] = payload
        .look()
        .expect("every message of a scenario begins with its name");
    let word = |i: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
    (word(0), word(1), word(2))
}
