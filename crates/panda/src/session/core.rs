//! What all parts of a session's interface work on.

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

/// A session, whether it goes on or has ended. Ports and replies hold it directly: to ask each time whether it is still there, as with a weak handle, would cost a
/// message two atomic operations between its coming and the answer.
pub struct Core {
    pub engine: Arc<dyn Engine>,
    pub dispatcher: Arc<Dispatcher>,
    pub rank: Rank,
    pub founders: u32,
    /// The process that had this one started, where one did.
    pub parent: Option<Rank>,
    /// What the launch infos of those that this process starts have of its own.
    silence: Option<Duration>,
    pub starter: Option<String>,
    /// The session's.
    pub secret: Secret,
    /// Those that this process has started itself.
    pub children: Children,
    /// Bytes of the longest message that a program may send.
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

    /// Takes leave of the peers. What waits in other threads fails.
    pub fn end(&self) {
        if !self.is_over.load(Ordering::Acquire) && self.dispatcher.quiescence.leave() {
            // Work that it has sent is still waited for.
            self.ask(Ask::StopCounting);
        }
        self.is_over.store(true, Ordering::Release);
        self.engine.stop();
        self.dispatcher.drop_upcalls();
    }

    /// That the session goes on.
    ///
    /// # Errors
    /// [`Error::Over`]: it has ended.
    #[inline]
    pub fn check(&self) -> Result<(), Error> {
        match self.is_over.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(Error::Over),
        }
    }

    /// Launch infos for more processes of the session.
    pub fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        let mut infos = self.engine.allot(count)?;
        for info in &mut infos {
            (info.silence, info.starter) = (self.silence, self.starter.clone());
        }
        Ok(infos)
    }

    /// Does what there is to do without waiting, unless this is an upcall: then it is being done.
    pub fn poll(&self) {
        if !upcall::is_running() {
            self.engine.poll();
        }
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

    /// That a message is no longer than the platform takes.
    ///
    /// # Errors
    /// [`Error::TooLong`].
    #[inline]
    pub fn check_length(&self, message: &Message) -> Result<(), Error> {
        self.check_bytes(message.len())
    }

    /// The same of so many bytes.
    ///
    /// # Errors
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
