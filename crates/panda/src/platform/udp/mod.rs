//! `udp`: datagrams. They may be lost, doubled or overtaken; the interface layer makes up for it.
//!
//! Each datagram is sealed with the session's secret (see `wire`), so strangers are neither heard
//! nor answered. Processes get their ranks and learn addresses at a bootstrap; later ones knock at
//! each process that is there. Frames for several processes go to a multicast group where that
//! works (see `multicast`).

use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use super::{Flow, JoinError, LaunchInfo, Multicast, Platform, Rank, linger};
use crate::error::Error;
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Retransmit;
use crate::session::Session;

mod batch;
mod bootstrap;
mod faults;
mod inbox;
mod join;
mod multicast;
mod peer;
mod segments;
mod shared;
mod wire;

pub use bootstrap::Bootstrap;
pub use faults::{Faults, FaultsError};
pub use inbox::UdpInbox;
pub(super) use join::allot_one;

use shared::Shared;
use wire::Note;

/// Number of times that a process says that it leaves: one of them may arrive.
const LEAVES: u32 = 3;

/// A process's part of a session over UDP.
pub struct Udp {
    shared: Arc<Shared>,
    has_left: Once,
}

impl Udp {
    fn multicast(&self, frame: Message) {
        self.shared.multicast(&frame);
    }

    fn is_deaf(&self, rank: Rank) {
        if let Some(multicast) = &self.shared.multicast {
            multicast.probing.lock().is_deaf(Instant::now(), rank);
        }
    }
}

impl Platform for Udp {
    const NAME: &'static str = "udp";
    const RELIABLE: bool = false;
    const ORDERED: bool = false;
    const LARGEST: usize = wire::ON_HOST - wire::HEADER;
    const MULTICAST: Option<Multicast<Self>> = Some(Multicast {
        send: Self::multicast,
        is_deaf: Self::is_deaf,
    });

    type Links = Retransmit;
    type Order = Sequencer;
    type Inbox = UdpInbox;

    fn join(info: &LaunchInfo) -> Result<(Self, UdpInbox), JoinError> {
        let (shared, inbox) = join::join(info)?;
        let has_left = Once::new();
        Ok((Self { shared, has_left }, inbox))
    }

    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    fn largest(&self) -> usize {
        self.shared.segments.length - wire::HEADER
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        self.shared.send_frame(to, &frame);
        Flow::Free
    }

    fn send_run(&self, to: Rank, frames: Vec<Message>) -> Flow {
        self.shared.send_run(to, &frames);
        Flow::Free
    }

    fn wake(&self) {
        self.shared.wake();
    }

    fn leave(&self, _patience: Duration) {
        self.has_left.call_once(|| {
            for _ in 0..LEAVES {
                let birth = self.shared.birth;
                self.shared.note_to_all(&Note::Leaving { birth });
            }
        });
    }

    fn has_ended(&self, rank: Rank) {
        let birth = |peer: &peer::Peer| peer.place.birth;
        let birth = self.shared.peers.read().get(&rank).map(birth);
        if let Some(birth) = birth {
            for _ in 0..LEAVES {
                let ended = Note::Ended { rank, birth };
                self.shared.note(wire::BOOTSTRAP, &ended);
            }
        }
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        join::allot(&self.shared, count)
    }
}

impl Drop for Udp {
    fn drop(&mut self) {
        self.leave(linger::PATIENCE);
    }
}

#[cfg(test)]
mod tests;
