//! `mpi`: clusters, through Open MPI, which knows their networks. Loaded at run time (`library`).
//!
//! MPI is called by one thread at a time and makes progress only in calls, so who waits polls: first hard, where that is in nobody's way, then ever more gently. It ends all processes when one of them
//! dies. A session ends when all that it began with have left it; where one is stopped or cut off, so that it never will, who waits for that says so and ends it (`leaving`).
//!
//! Open MPI's own way to more processes is not robust (ARCHITECTURE.md), so those that are spawned are none of MPI's: they, and what they and the others say to each other, go over [`tcp`](super::tcp),
//! of which nothing is there before the first is asked for (`later`).

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
    /// Of one that the session began with.
    Founder(Founder),
    /// Of one that was spawned.
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

    /// The launch info's rank and size are MPI's own if it says nothing else ([`LaunchInfo::from_environment`]).
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

/// Whether a variable is one by which `mpirun` tells a process which of its own it is: a process that such a one starts is none of them.
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
