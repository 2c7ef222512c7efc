//! State of a process in its process group: its place, and the session after a test needed it.

use std::sync::Arc;

use antiphon_panda::{Communicator, Session};

use crate::control_page::ControlPage;
use crate::failure::Failed;
use crate::objects::{Objects, Program};
use crate::panda::Ordered;

/// Function with which a process joins the session.
pub type Join = Box<dyn FnOnce() -> Result<Session, antiphon_panda::Error>>;

/// A process of a process group.
pub struct MemberState {
    /// Its number; the leader's is 0.
    pub rank: usize,
    /// Number of members.
    pub size: usize,
    /// The page that all see.
    pub control_page: Arc<ControlPage>,
    /// Whether the partner has another processor, so that a polling wait delays no one.
    pub is_apart: bool,
    /// Whether the prepared operation has long messages.
    pub are_long: bool,
    join: Option<Join>,
    session: Option<Session>,
    ordered: Option<Ordered>,
    program: Option<Program>,
}

impl MemberState {
    /// Creates a process that has not joined yet: it may still be moved.
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
            program: None,
        }
    }

    /// Returns the number of operations before those of a slice, so that all members are active at
    /// its beginning. One long message is enough, because it keeps all busy.
    pub fn primes(&self) -> u64 {
        if self.are_long { 1 } else { self.size as u64 }
    }

    /// Returns the session, joined at the first call, which all members must make.
    pub fn session(&mut self) -> Result<Session, Failed> {
        if let Some(join) = self.join.take() {
            self.session = Some(join()?);
        }
        let gone = || Failed("the session could not be joined; see the first failure".into());
        self.session.clone().ok_or_else(gone)
    }

    /// Returns the communicator of all members.
    pub fn everyone(&mut self) -> Result<Communicator, Failed> {
        Ok(self.session()?.everyone()?)
    }

    /// Returns the ordered group, joined at the first call, which all members must make.
    pub fn ordered(&mut self) -> Result<Ordered, Failed> {
        if let Some(ordered) = &self.ordered {
            return Ok(ordered.clone());
        }
        let (session, everyone) = (self.session()?, self.everyone()?);
        // The first member orders all messages. It is not the leader, whose own messages would
        // otherwise return without any transfer.
        let is_first = self.rank == 1;
        if !is_first {
            everyone.barrier()?;
        }
        let ordered = Ordered::join(&session)?;
        if is_first {
            everyone.barrier()?;
        }
        // No member sends before all are in.
        everyone.barrier()?;
        Ok(self.ordered.insert(ordered).clone())
    }

    /// Returns the shared objects, of a program that begins at the first call, which all members
    /// must make.
    pub fn objects(&mut self) -> Result<Objects, Failed> {
        if let Some(program) = &self.program {
            return Ok(program.objects());
        }
        let program = Program::begin(self.session()?)?;
        Ok(self.program.insert(program).objects())
    }

    /// Ends the program of shared objects, as long as all members are there. The leader does it.
    pub fn end_objects(&mut self) {
        self.program.take().into_iter().for_each(Program::end);
    }
}
