//! What a process has while its process group lives: its place, and the session once a test needed it.

use std::sync::Arc;

use antiphon_panda::{Communicator, Session};

use crate::control_page::ControlPage;
use crate::failure::Failed;
use crate::panda::Ordered;

/// How a process joins the session.
pub type Join = Box<dyn FnOnce() -> Result<Session, antiphon_panda::Error>>;

/// A process of a process group.
pub struct MemberState {
    /// Its number; the leader's is 0.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// The page that all see.
    pub control_page: Arc<ControlPage>,
    /// Whether another processor runs the partner, so that waiting for it in a loop holds nobody up.
    pub is_apart: bool,
    /// Whether the messages of what is prepared are long.
    pub are_long: bool,
    join: Option<Join>,
    session: Option<Session>,
    ordered: Option<Ordered>,
}

impl MemberState {
    /// A process that has not joined yet: it may still be moved.
    pub fn new(rank: usize, size: usize, control_page: Arc<ControlPage>, join: Join) -> Self {
        Self {
            rank,
            size,
            control_page,
            is_apart: false,
            are_long: false,
            join: Some(join),
            session: None,
            ordered: None,
        }
    }

    /// Operations before those of a slice, so that all are under way when it begins: of long messages, each of which keeps all at work, one is enough.
    pub fn primes(&self) -> u64 {
        if self.are_long { 1 } else { self.size as u64 }
    }

    /// The session, joined at the first call, which all members must make.
    pub fn session(&mut self) -> Result<Session, Failed> {
        if let Some(join) = self.join.take() {
            self.session = Some(join()?);
        }
        let gone = || Failed("the session could not be joined; see the first failure".into());
        self.session.clone().ok_or_else(gone)
    }

    /// All members.
    pub fn everyone(&mut self) -> Result<Communicator, Failed> {
        Ok(self.session()?.everyone()?)
    }

    /// The ordered group, joined at the first call, which all members must make.
    pub fn ordered(&mut self) -> Result<Ordered, Failed> {
        if let Some(ordered) = &self.ordered {
            return Ok(ordered.clone());
        }
        let (session, everyone) = (self.session()?, self.everyone()?);
        // Whoever is first gives messages their places: not the leader, whose own would otherwise come back without having been anywhere.
        let is_first = self.rank == 1;
        if !is_first {
            everyone.barrier()?;
        }
        let ordered = Ordered::join(&session)?;
        if is_first {
            everyone.barrier()?;
        }
        // Nobody sends before all are in.
        everyone.barrier()?;
        Ok(self.ordered.insert(ordered).clone())
    }
}
