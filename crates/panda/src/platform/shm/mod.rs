//! `shm`: processes of one host, over shared memory.
//!
//! Each ordered pair of processes has a ring (see `ring`), rather than each receiver:
//!
//! - A sender that is killed amid a frame holds up no other process.
//! - Senders never contend.
//! - A faulty sender corrupts only its own ring.
//!
//! Unused rings cost no memory. A receiver spins while there are processors for all awake
//! processes. Otherwise it sleeps on its bell, a futex that senders ring only if it is asleep. The
//! system reports the end of a peer's process at once.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use super::{Flow, JoinError, LaunchInfo, Platform, Rank, linger};
use crate::error::Error;
use crate::message::{Header, Message};
use crate::protocol::group::Sequencer;
use crate::protocol::link::Through;
use crate::session::Session;

mod bootstrap;
mod copy_mode;
mod crowd;
mod inbox;
mod join;
mod memory;
mod peer;
mod ring;
mod shared;
mod single_copy;
mod watch;

pub use bootstrap::Bootstrap;
pub use inbox::ShmInbox;
pub(super) use join::allot_one;

use peer::Outgoing;
use shared::Shared;

/// A process's part of a session over shared memory.
pub struct Shm {
    shared: Arc<Shared>,
}

impl Platform for Shm {
    const NAME: &'static str = "shm";
    const RELIABLE: bool = true;
    const ORDERED: bool = false;
    const LARGEST: usize = usize::MAX;

    type Links = Through;
    type Order = Sequencer;
    type Inbox = ShmInbox;

    fn join(info: &LaunchInfo) -> Result<(Self, ShmInbox), JoinError> {
        let (shared, inbox) = join::join(info)?;
        Ok((Self { shared }, inbox))
    }

    fn open(
        self,
        inbox: Self::Inbox,
        info: &LaunchInfo,
        silence: Duration,
    ) -> Result<Session, Error> {
        Session::with_protocols(self, inbox, info, silence)
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        self.shared.send(to, frame)
    }

    fn send_parts(&self, to: Rank, header: &Header, rest: &Message) -> Option<Flow> {
        self.shared.send_parts(to, header, rest)
    }

    fn untaken(&self, to: Rank) -> usize {
        self.shared.outgoing(to).map_or(0, Outgoing::untaken)
    }

    fn cut_off(&self, rank: Rank) {
        self.shared.cut_off(rank);
    }

    fn wake(&self) {
        self.shared.woken.store(true, SeqCst);
        self.shared.ring(self.shared.rank);
    }

    fn leave(&self, patience: Duration) {
        self.shared.leave(patience);
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        join::allot(&self.shared, count)
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        self.leave(linger::PATIENCE);
    }
}

#[cfg(test)]
mod tests;
