//! Events of a machine, for timelines.

use std::sync::Arc;
use std::time::Instant;

use antiphon_panda::{Rank, thread};
use serde::{Deserialize, Serialize};

use crate::entry::{Entry, Ticket};
use crate::machine::Machine;

/// A part of a program's timeline on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The machine.
    pub machine: Rank,
    /// What happened.
    pub kind: EventKind,
    /// The process, or the operation and its object.
    pub name: String,
    /// Its beginning.
    pub began: Instant,
    /// Its end.
    pub ended: Instant,
    /// The machine and number of the invocation: the same for the invocation and for each of its
    /// executions.
    pub invocation: Option<(Rank, u64)>,
}

/// The kind of an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// A process ran. It is reported at its end, on its own thread.
    Process,
    /// A process invoked an operation that may block, on a copy here. The event is reported on the
    /// thread of the process.
    Invocation,
    /// A process had another machine execute an operation. It is reported as an invocation is.
    Call,
    /// A process had all machines write their copies. It is reported as an invocation is.
    Write,
    /// This machine executed an operation of another one, or a write at its place in the order.
    Execution,
    /// An object moved. All machines report it.
    Move,
}

/// A function that takes the events of a machine, on the threads where they happen.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;

impl Machine {
    /// Returns the time if somebody observes this machine.
    pub fn observed(&self) -> Option<Instant> {
        self.observer.as_ref().map(|_| thread::now())
    }

    /// Reports an event that began at this time.
    pub fn observe(
        &self,
        began: Option<Instant>,
        kind: EventKind,
        invocation: Option<Ticket>,
        name: impl FnOnce() -> String,
    ) {
        if let (Some(observer), Some(began)) = (&self.observer, began) {
            observer(Event {
                machine: self.rank,
                kind,
                name: name(),
                began,
                ended: thread::now(),
                invocation,
            });
        }
    }
}

/// Returns an operation and its object in words.
pub fn operation_of(entry: &Entry, operation: usize) -> String {
    let name = &entry.object_type.operations()[operation].name;
    format!("{}.{name}", entry.name())
}
