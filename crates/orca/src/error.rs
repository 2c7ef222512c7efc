//! Errors, in words that name the object, the operation and the machine.

use std::fmt;
use std::sync::Arc;

use antiphon_panda::{DecodeError, Rank};
use serde::{Deserialize, Serialize};

/// An error of an operation on a shared object, of a fork or of a program. Its `Debug` is its
/// `Display`, since a `main` that returns an error prints the former.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The object's only copy was on a machine that is lost.
    #[error("object {object} is lost: its only copy was on machine {machine}, which is gone")]
    ObjectLost {
        /// The object.
        object: String,
        /// The machine.
        machine: Rank,
    },
    /// The operation panicked, so the state of its object is undefined.
    #[error("operation {operation} of object {object} failed: {why}")]
    Failed {
        /// The object.
        object: String,
        /// The operation.
        operation: String,
        /// The message of the panic.
        why: String,
    },
    /// An operation on the object failed before.
    #[error("object {object} is broken by an operation that failed: {why}")]
    Broken {
        /// The object.
        object: String,
        /// The operation, and the message of its panic.
        why: String,
    },
    /// All processes of the program wait for each other.
    #[error("{0}")]
    Deadlock(Arc<Deadlock>),
    /// The program was ended by [`Orca::finish`](crate::Orca::finish).
    #[error("the program was ended while this process was at work")]
    Finished,
    /// An object whose operations do input or output can only have one copy.
    #[error("object {object} cannot be replicated: its operation {operation} is marked #[io]")]
    NotReplicable {
        /// The object.
        object: String,
        /// The operation.
        operation: String,
    },
    /// There is no such machine in the program.
    #[error("there is no machine {0} in this program, or it is gone")]
    NoMachine(Rank),
    /// This executable does not know the object type.
    #[error("this executable has no object type {0:?}: all machines run the same one")]
    NoType(String),
    /// This executable does not know the process.
    #[error("this executable has no process {0:?}: all machines run the same one")]
    NoProcess(String),
    /// An array cannot be divided so.
    #[error("{0}")]
    Layout(String),
    /// This machine runs another executable than the program's first one.
    #[error(
        "this machine runs another executable than the others of the program: start the same one everywhere"
    )]
    OtherExecutable,
    /// A process ended by a panic or an error of its own.
    #[error("process {process} on machine {machine} failed: {why}")]
    ProcessFailed {
        /// The process.
        process: String,
        /// Its machine.
        machine: Rank,
        /// Its own message.
        why: String,
    },
    /// The handle is no longer valid here: the program on this machine is over.
    #[error("the program is over on this machine")]
    Over,
    /// An error of panda.
    #[error(transparent)]
    Panda(Arc<antiphon_panda::Error>),
    /// A value is not what was expected, or cannot be encoded.
    #[error("{0}")]
    Decode(String),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<antiphon_panda::Error> for Error {
    fn from(error: antiphon_panda::Error) -> Self {
        Self::Panda(Arc::new(error))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error.to_string())
    }
}

/// A process that waits in a deadlock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockedProcess {
    /// Its machine.
    pub machine: Rank,
    /// Its name and number.
    pub process: String,
    /// The object, as type and number.
    pub object: String,
    /// The operation.
    pub operation: String,
    /// The guards that are false.
    pub guard: String,
}

/// A deadlock: what each process waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// The processes, by machine.
    pub blocked: Vec<BlockedProcess>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.blocked.len() {
            1 => write!(f, "deadlock: the only process waits for ever")?,
            count => write!(f, "deadlock: all {count} processes wait for each other")?,
        }
        for it in &self.blocked {
            write!(
                f,
                "\n  machine {}: process {} waits in {} of {} for {}",
                it.machine, it.process, it.operation, it.object, it.guard
            )?;
        }
        Ok(())
    }
}
