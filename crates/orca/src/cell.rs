//! The cell in which a process waits for the outcome of one invocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use antiphon_panda::thread::{Condition, Mutex};
use bytes::Bytes;

use crate::error::Error;

/// The outcome of an invocation.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Its result.
    Done(Bytes),
    /// Nothing was done: the object has moved, so it is to be invoked again.
    Again,
    /// It failed.
    Failed(Error),
}

enum Phase {
    Waiting,
    Blocked,
    Over(Option<Outcome>),
}

/// A cell in which a process waits for the outcome of one invocation.
pub struct Cell {
    phase: Mutex<Phase>,
    changed: Condition,
    /// 0 as long as the invocation has not been tried.
    tried: AtomicU8,
}

impl Cell {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            phase: Mutex::new(Phase::Waiting),
            changed: Condition::new(),
            tried: AtomicU8::new(0),
        })
    }

    /// Returns whether the invocation was tried: it is over, or blocked.
    pub fn is_tried(&self) -> bool {
        self.tried.load(Ordering::Acquire) != 0
    }

    /// Records that the invocation blocks. Returns whether it still does.
    pub fn block(&self) -> bool {
        let mut phase = self.phase.lock();
        let is_new = matches!(*phase, Phase::Waiting);
        if is_new {
            *phase = Phase::Blocked;
            self.tried.store(1, Ordering::Release);
        }
        is_new
    }

    /// Gives the outcome. `resume` runs before the waiting process sees it, if the process was
    /// blocked.
    pub fn complete(&self, outcome: Outcome, resume: impl FnOnce()) {
        let mut phase = self.phase.lock();
        match *phase {
            Phase::Over(_) => return,
            Phase::Blocked => resume(),
            Phase::Waiting => {}
        }
        *phase = Phase::Over(Some(outcome));
        self.tried.store(1, Ordering::Release);
        self.changed.broadcast();
    }

    /// Waits for the outcome, and takes it.
    pub fn wait(&self) -> Outcome {
        let mut phase = self.phase.lock();
        loop {
            if let Phase::Over(outcome) = &mut *phase {
                return outcome.take().unwrap_or(Outcome::Failed(Error::Over));
            }
            self.changed.wait(&mut phase);
        }
    }
}
