//! Messages to ports, and their outcomes.

use super::program::{decode, encode};
use super::{PORT, World};
use crate::{Posted, Taken};
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::Message;
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::requests::RequestId;
use antiphon_panda_core::protocol::{Envelope, Time};

/// A message of a port before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Letter {
    /// Destination.
    pub to: Rank,
    /// Its tag.
    pub tag: u32,
    /// Its length, without its name.
    pub length: usize,
    /// Whether the sender waits for a receipt.
    pub is_synchronous: bool,
}

/// A message that was handed over for a port.
pub(super) struct Parcel {
    pub from: Rank,
    pub tag: u32,
    pub receipt: Option<RequestId>,
    pub payload: Message,
}

impl<L: Links, O: Order> World<L, O> {
    /// Makes a process send to another's port.
    pub fn post(&mut self, rank: Rank, letter: Letter) {
        let Letter {
            to, tag, length, ..
        } = letter;
        let life = self.reaches(rank, to);
        let now = self.medium.now;
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        let posted = &mut self.history.lives[node.life].posted;
        let number = posted.len() as u32 + 1;
        let mut payload = Message::from(vec![0xa5; length]);
        payload.push(&encode((node.life as u32, tag, number)));
        let receipt = if letter.is_synchronous {
            Some((node.stack).send_synchronously(now, to, PORT, tag, payload, None))
        } else {
            node.stack.send(now, to, PORT, tag, payload);
            None
        };
        posted.push(Posted {
            to,
            life,
            tag,
            length,
            at: now,
            receipt,
            ended: None,
        });
        self.act(rank, |_, _| ());
    }

    /// Returns the life of a rank that another's message reaches, if it is sent now.
    pub(super) fn reaches(&self, from: Rank, to: Rank) -> usize {
        match self.medium.network.kind.is_lossy() || from == to {
            true => self.medium.life_of(to),
            false => self.medium.connected_to(from, to),
        }
    }

    /// Hands a message over to a process, which only then sends a receipt.
    pub(super) fn take(&mut self, rank: Rank, parcel: Parcel) {
        let now = self.medium.now;
        let Parcel {
            from,
            tag,
            receipt,
            mut payload,
        } = parcel;
        let (sender, _, number) = decode(&payload);
        payload.advance(12);
        if let Some(life) = self.life(rank) {
            life.taken.push(Taken {
                id: (sender as usize, number),
                from,
                tag,
                length: payload.len(),
                at: now,
            });
        }
        if let Some(id) = receipt {
            self.act(rank, |stack, now| {
                stack.post(now, from, &Envelope::Receipt { id }, Message::new())
            });
        }
    }

    /// Notes the end of a synchronous send, if the request was one.
    pub(super) fn receipted(&mut self, rank: Rank, id: RequestId, is_well: bool, at: Time) {
        let Some(life) = self.life(rank) else { return };
        if let Some(posted) = (life.posted.iter_mut().rev()).find(|it| it.receipt == Some(id)) {
            posted.ended = Some((at, is_well));
        }
    }
}
