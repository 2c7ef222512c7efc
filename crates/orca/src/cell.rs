//! The cell in which a process waits for the outcome of one invocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

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

struct State {
    phase: Phase,
    /// Whether the process is called to drive the session.
    is_called: bool,
}

/// The values of [`Cell::tried`].
const BLOCKED: u8 = 1;
const OVER: u8 = 2;

/// A cell in which a process waits for the outcome of one invocation.
pub struct Cell {
    state: Mutex<State>,
    changed: Condition,
    /// 0 as long as the invocation has not been tried; then whether it is blocked or over.
    tried: AtomicU8,
    /// Whether its process drives the session while it waits.
    drives: AtomicBool,
}

impl Cell {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                phase: Phase::Waiting,
                is_called: false,
            }),
            changed: Condition::new(),
            tried: AtomicU8::new(0),
            drives: AtomicBool::new(false),
        })
    }

    /// Returns whether the invocation was tried: it is over, or blocked.
    pub fn is_tried(&self) -> bool {
        self.tried.load(Ordering::Acquire) != 0
    }

    /// Returns whether the outcome is there.
    pub fn is_over(&self) -> bool {
        // Pairs with `complete`: either this load sees its store, or it sees who drives.
        self.tried.load(Ordering::SeqCst) == OVER
    }

    /// Records that the invocation blocks. Returns whether it still does.
    pub fn block(&self) -> bool {
        let mut state = self.state.lock();
        let is_new = matches!(state.phase, Phase::Waiting);
        if is_new {
            state.phase = Phase::Blocked;
            self.tried.store(BLOCKED, Ordering::Release);
        }
        is_new
    }

    /// Gives the outcome. `resume` runs before the waiting process sees it, if the process was
    /// blocked. Returns whether that process drives the session, so that a change by any other
    /// thread than the driver's must be announced.
    pub fn complete(&self, outcome: Outcome, resume: impl FnOnce()) -> bool {
        let mut state = self.state.lock();
        match state.phase {
            Phase::Over(_) => return false,
            Phase::Blocked => resume(),
            Phase::Waiting => {}
        }
        state.phase = Phase::Over(Some(outcome));
        self.tried.store(OVER, Ordering::SeqCst);
        self.changed.broadcast();
        self.drives.load(Ordering::SeqCst)
    }

    /// Records whether the process drives the session while it waits.
    pub fn set_drives(&self, drives: bool) {
        self.drives.store(drives, Ordering::SeqCst);
    }

    /// Calls the process to drive the session.
    pub fn call(&self) {
        self.state.lock().is_called = true;
        self.changed.broadcast();
    }

    /// Sleeps until the outcome is there, or the process is called to drive.
    pub fn sleep(&self) {
        let mut state = self.state.lock();
        while !matches!(state.phase, Phase::Over(_)) && !state.is_called {
            self.changed.wait(&mut state);
        }
        state.is_called = false;
    }

    /// Waits for the outcome without driving the session, and takes it.
    pub fn wait(&self) -> Outcome {
        let mut state = self.state.lock();
        loop {
            if let Phase::Over(outcome) = &mut state.phase {
                return outcome.take().unwrap_or(Outcome::Failed(Error::Over));
            }
            self.changed.wait(&mut state);
        }
    }
}
