//! Waiting for outcomes. Of the processes that wait on a machine, one drives the session, and the
//! others sleep.
//!
//! If all slept, the session would be left to panda's progress thread, which looks every
//! millisecond while processes have driven until now. If all drove, each message would wake all of
//! them.

use std::sync::Arc;

use crate::cell::{Cell, Outcome};
use crate::machine::Machine;

/// The processes of a machine that wait for outcomes.
#[derive(Default)]
pub struct Waiters {
    has_driver: bool,
    /// Those that sleep. A process that is called to drive is no longer among them.
    asleep: Vec<Arc<Cell>>,
}

impl Waiters {
    /// Lets a process drive if no other one does, or lets it sleep. Returns whether it drives.
    fn enter(&mut self, cell: &Arc<Cell>) -> bool {
        if self.has_driver {
            self.asleep.push(cell.clone());
            return false;
        }
        self.has_driver = true;
        true
    }

    /// Removes a process that has slept. Returns false if it was called to drive.
    fn leave(&mut self, cell: &Arc<Cell>) -> bool {
        let at = self.asleep.iter().position(|it| Arc::ptr_eq(it, cell));
        at.map(|at| self.asleep.swap_remove(at)).is_some()
    }

    /// Returns the process that drives next. It takes over from a driver that goes on.
    fn next(&mut self) -> Option<Arc<Cell>> {
        let next = self.asleep.pop();
        self.has_driver = next.is_some();
        next
    }
}

impl Machine {
    /// Waits for an outcome, and takes it. The process drives the session meanwhile, unless another
    /// one of this machine does.
    pub fn await_outcome(&self, cell: &Arc<Cell>) -> Outcome {
        if cell.is_over() {
            return cell.wait();
        }
        let mut drives = self.waiters.lock().enter(cell);
        if !drives {
            cell.sleep();
            drives = !self.waiters.lock().leave(cell);
        }
        if drives {
            cell.set_drives(true);
            // Without a session to drive, the process waits as others do.
            let _ = self.session.wait_until(|| cell.is_over(), None);
            self.let_next_drive();
        }
        cell.wait()
    }

    fn let_next_drive(&self) {
        let next = self.waiters.lock().next();
        next.inspect(|cell| cell.call());
    }
}
