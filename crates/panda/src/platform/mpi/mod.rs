//! `mpi`: clusters, through Open MPI, which knows their networks. The library is loaded at run time
//! (`library`).
//!
//! One thread at a time calls MPI, which makes progress only in calls. So a waiting thread polls:
//! hard at first, where that is in no thread's way, and then ever more gently.
//!
//! Open MPI ends all processes when one of them dies. A session ends when all founders have left
//! it. If one is stopped or cut off, it never will; a process that waits for it then reports that
//! and ends them all (`leaving`).
//!
//! Open MPI's own way to more processes is not robust (`docs/explanation/panda-transports.md`). So
//! spawned processes are none of MPI's. All traffic with them goes over [`tcp`](super::tcp), which
//! begins with the first request for one (`later`).

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use super::tcp::{Tcp, TcpInbox};
use super::{Event, Flow, Inbox, JoinError, LaunchInfo, Platform, Rank, Transfer, linger};
use crate::error::Error;
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Fragment;
use crate::session::Session;

mod founder;
mod later;
mod leaving;
mod library;
mod traffic;

use founder::{Founder, FounderInbox};

/// A process's part of a session over Open MPI.
pub struct Mpi(Side);

enum Side {
    /// The part of a founder.
    Founder(Founder),
    /// The part of a spawned process.
    Later(Tcp),
}

/// The receiving end of a process's part.
pub struct MpiInbox(End);

enum End {
    Founder(Box<FounderInbox>),
    Later(Box<TcpInbox>),
}

impl Platform for Mpi {
    const NAME: &'static str = "mpi";
    const RELIABLE: bool = true;
    const ORDERED: bool = false;
    /// MPI counts bytes in 31 bits.
    const LARGEST: usize = 1 << 30;

    type Links = Fragment;
    type Order = Sequencer;
    type Inbox = MpiInbox;

    /// The launch info's rank and size are MPI's own if it gives no others
    /// ([`LaunchInfo::from_environment`]).
    fn join(info: &LaunchInfo) -> Result<(Self, MpiInbox), JoinError> {
        if info.rank < info.size {
            let (founder, inbox) = Founder::join(info)?;
            let mpi = Self(Side::Founder(founder));
            return Ok((mpi, MpiInbox(End::Founder(Box::new(inbox)))));
        }
        let (tcp, inbox) = Tcp::join(info)?;
        let mpi = Self(Side::Later(tcp));
        Ok((mpi, MpiInbox(End::Later(inbox.into()))))
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
        match &self.0 {
            Side::Founder(founder) => founder.send(to, frame),
            Side::Later(tcp) => tcp.send(to, frame),
        }
    }

    fn wake(&self) {
        match &self.0 {
            Side::Founder(founder) => founder.wake(),
            Side::Later(tcp) => tcp.wake(),
        }
    }

    fn leave(&self, patience: Duration) {
        match &self.0 {
            Side::Founder(founder) => founder.leave(patience),
            Side::Later(tcp) => tcp.leave(patience),
        }
    }

    fn untaken(&self, to: Rank) -> usize {
        match &self.0 {
            Side::Founder(founder) => founder.untaken(to),
            Side::Later(tcp) => tcp.untaken(to),
        }
    }

    fn transfer(&self, peer: Rank) -> Transfer {
        match &self.0 {
            Side::Founder(founder) => founder.transfer(peer),
            Side::Later(tcp) => tcp.transfer(peer),
        }
    }

    fn cut_off(&self, rank: Rank) {
        match &self.0 {
            Side::Founder(founder) => founder.cut_off(rank),
            Side::Later(tcp) => tcp.cut_off(rank),
        }
    }

    fn gave_up(&self, rank: Rank) {
        if let Side::Founder(founder) = &self.0 {
            founder.gave_up(rank);
        }
    }

    fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        match &self.0 {
            Side::Founder(founder) => founder.allot(count),
            Side::Later(tcp) => tcp.allot(count),
        }
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        self.leave(linger::PATIENCE);
    }
}

impl Inbox for MpiInbox {
    fn begin_wait(&mut self, has_sent: bool) {
        match &mut self.0 {
            End::Founder(inbox) => inbox.begin_wait(has_sent),
            End::Later(inbox) => inbox.begin_wait(has_sent),
        }
    }

    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        match &mut self.0 {
            End::Founder(inbox) => inbox.receive(until, events),
            End::Later(inbox) => inbox.receive(until, events),
        }
    }
}

/// Returns whether `mpirun` uses a variable to tell a process its place. A process that such a
/// process starts is not `mpirun`'s, and must not inherit it.
pub fn is_of_mpirun(variable: &OsStr) -> bool {
    const BEGINNINGS: [&str; 4] = [
        "OMPI_COMM_WORLD_",
        "OMPI_MCA_ess",
        "OMPI_MCA_orte_",
        "PMIX_",
    ];
    let name = variable.as_encoded_bytes();
    let mut beginnings = BEGINNINGS.iter();
    beginnings.any(|beginning| name.starts_with(beginning.as_bytes()))
}
