//! The core that all parts of a session's interface share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::dispatcher::Dispatcher;
use super::engine::{Ask, Engine};
use super::signal::Children;
use super::upcall;
use crate::error::Error;
use crate::message::Message;
use crate::platform::{JoinError, LaunchInfo, Rank, Secret};
use crate::protocol::link::{Links, longest_of};
use crate::protocol::requests::Failure;

/// A session, whether it goes on or has ended.
///
/// Ports and replies hold it directly. A weak handle would cost two atomic operations between a
/// message and its answer.
pub struct Core {
    pub engine: Arc<dyn Engine>,
    pub dispatcher: Arc<Dispatcher>,
    pub rank: Rank,
    pub founders: u32,
    /// Process that had this one started, if one did.
    pub parent: Option<Rank>,
    /// Silence that this process's launch info set. The launch infos of processes that it starts
    /// take it over.
    silence: Option<Duration>,
    pub starter: Option<String>,
    /// Secret of the session.
    pub secret: Secret,
    /// Processes that this process has started itself.
    pub children: Children,
    /// Length in bytes of the longest message that a program may send.
    longest: usize,
    is_over: AtomicBool,
}

impl Core {
    pub fn new<L: Links>(
        engine: Arc<dyn Engine>,
        dispatcher: Arc<Dispatcher>,
        info: &LaunchInfo,
    ) -> Self {
        Self {
            engine,
            dispatcher,
            rank: info.rank,
            founders: info.size,
            parent: info.parent,
            silence: info.silence,
            starter: info.starter.clone(),
            secret: info.secret,
            children: Children::default(),
            longest: longest_of::<L>(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Ends the session and takes leave of the peers. Waits in other threads fail.
    pub fn end(&self) {
        if !self.is_over.load(Ordering::Acquire) && self.dispatcher.quiescence.leave() {
            // The others still wait for work that this process has sent.
            self.ask(Ask::StopCounting);
        }
        self.is_over.store(true, Ordering::Release);
        self.engine.stop();
        self.dispatcher.drop_upcalls();
    }

    /// Checks that the session goes on.
    ///
    /// # Errors
    ///
    /// [`Error::Over`]: it has ended.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        match self.is_over.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(Error::Over),
        }
    }

    /// Returns launch infos for more processes of the session.
    pub fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        let mut infos = self.engine.allot(count)?;
        for info in &mut infos {
            (info.silence, info.starter) = (self.silence, self.starter.clone());
        }
        Ok(infos)
    }

    /// Does all work at hand without waiting, unless this is an upcall: then the driver does it
    /// already.
    pub fn poll(&self) {
        if !upcall::is_running() {
            self.engine.poll();
        }
    }

    pub fn notify(&self) {
        self.engine.nudge();
    }

    pub fn ask(&self, ask: Ask) {
        self.engine.ask(ask);
    }

    pub fn check_rank(&self, rank: Rank) -> Result<(), Error> {
        let size = self.dispatcher.size();
        if rank < size {
            Ok(())
        } else {
            Err(Error::NoSuchRank { rank, size })
        }
    }

    /// Checks that a message is no longer than the platform takes.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`].
    #[inline]
    pub fn check_length(&self, message: &Message) -> Result<(), Error> {
        self.check_bytes(message.len())
    }

    /// Checks that a message of so many bytes is no longer than the platform takes.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`].
    #[inline]
    pub fn check_bytes(&self, bytes: usize) -> Result<(), Error> {
        match bytes <= self.longest {
            true => Ok(()),
            false => Err(self.too_long(bytes)),
        }
    }

    #[cold]
    fn too_long(&self, length: usize) -> Error {
        Error::TooLong {
            length,
            longest: self.longest,
            platform: self.engine.platform(),
        }
    }

    pub fn lost(&self, rank: Rank, why: String) -> Error {
        Error::Lost {
            rank,
            peer: self.dispatcher.name_of(rank),
            why,
        }
    }

    pub fn failed(&self, failure: Failure, service: &str, after: Option<Duration>) -> Error {
        let peer = |rank| self.dispatcher.name_of(rank);
        match failure {
            Failure::Lost { rank, why } => self.lost(rank, why),
            Failure::TimedOut { rank } => Error::TimedOut {
                rank: Some(rank),
                peer: peer(rank),
                after: after.unwrap_or_default(),
            },
            Failure::NoService { rank } => Error::NoService {
                peer: peer(rank),
                service: service.into(),
            },
            Failure::NoReply { rank } => Error::NoReply {
                peer: peer(rank),
                service: service.into(),
            },
            Failure::Mismatch { rank, why } => Error::Mismatch {
                rank,
                peer: peer(rank),
                why,
            },
            Failure::Panicked { rank, why } => Error::Panicked {
                rank,
                peer: peer(rank),
                why,
            },
        }
    }
}
