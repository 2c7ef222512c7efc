//! Requests of tasks to their virtual machine, and the exchanges between tasks besides messages.

use std::ffi::c_int;

use antiphon_panda::Rank;
use serde::{Deserialize, Serialize};

use crate::buffer::Encoding;
use crate::tid::Tid;

/// The service of the machine, at the process of rank 0.
pub const MACHINE: &str = "pvm: machine";
/// The service by which a task signals itself for others.
pub const SIGNAL: &str = "pvm: signal";
/// The service that returns whether a task waits, and how many messages it has received.
pub const WAITING: &str = "pvm: waiting";
/// The port of the messages between tasks.
pub const MESSAGES: &str = "pvm: messages";
/// The port where tasks announce that they have left the machine, and the machine sends [`News`].
pub const LEAVING: &str = "pvm: leaving";
/// The port of lines that children write.
pub const OUTPUT: &str = "pvm: output";
/// The context of messages within a group's operation.
pub const GROUP_CONTEXT: c_int = -2;

/// A task as the machine knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    pub tid: Tid,
    /// 0: it has none.
    pub parent: Tid,
    /// The name that `pvm_spawn` got; empty if the task was started by hand.
    pub name: String,
    pub pid: u32,
}

/// A host of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    pub tid: Tid,
    pub name: String,
}

/// A message in the mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    pub encoding: c_int,
    pub tag: c_int,
    pub content: Vec<u8>,
}

impl Letter {
    /// Returns its encoding; XDR if it is unknown.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        Encoding::of_signature(self.encoding).unwrap_or(Encoding::Xdr)
    }
}

/// Mailbox entries of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    pub name: String,
    /// For each its index, its owner (0 if that has ended), and its flags.
    pub entries: Vec<(c_int, Tid, c_int)>,
}

/// A request of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Enrols.
    Enrol {
        pid: u32,
        host: String,
        parent: Tid,
    },
    /// Leaves the machine.
    Leave,
    /// Reports that a program was started on a host as processes of these ranks, which are
    /// siblings.
    Spawned {
        name: String,
        ranks: Vec<Rank>,
        parent: Tid,
        host: Tid,
    },
    /// Reports processes that ended without having enrolled, and that the machine has not started
    /// itself.
    NeverBegan(Rank),
    /// Waits until a started task has enrolled or ended. The answer is whether it is enrolled.
    Begun(Rank),
    /// Asks whether a task is enrolled (1), was once (0), or has yet to begin (2). If it ends
    /// without having enrolled, the caller gets a message at the port [`LEAVING`].
    Expect(Rank),
    /// Asks for the tasks that were started together with this one.
    Siblings,
    Tasks,
    Hosts,
    /// Adds a host where tasks can be started.
    AddHost(String),
    /// Removes a host.
    DeleteHost(String),
    /// Subscribes to messages about hosts.
    WatchHosts,
    NewContext,
    FreeContext(c_int),
    Join(String),
    LeaveGroup(String),
    /// Asks for the members of a group, by their instances.
    Members(String),
    /// Waits until this many members have asked; -1: all members.
    Barrier(String, c_int),
    /// Waits until this many members have asked. After that no task can join.
    Freeze(String, c_int),
    Put {
        name: String,
        flags: c_int,
        /// The requested index, if any.
        index: Option<c_int>,
        /// Whether it may replace an entry of the same owner.
        replaces: bool,
        letter: Letter,
    },
    Get {
        name: String,
        index: c_int,
        flags: c_int,
    },
    Remove {
        name: String,
        index: c_int,
    },
    /// Asks for all mailbox entries.
    Classes,
    /// Ends the machine and all of its tasks.
    Halt,
}

/// A message from the machine to a task at the port [`LEAVING`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum News {
    /// A task has ended without having enrolled.
    NeverBegan(Rank),
    HostAdded(Tid),
    HostDeleted(Tid),
}

/// An answer of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The number of the task's host, and whether another program has started the session. In that
    /// case the machine learns of children only from their spawners, and does not get their output.
    Enrolled {
        host: u32,
        is_guest: bool,
    },
    Number(c_int),
    /// A negative code.
    Refused(c_int),
    Tasks(Vec<TaskInfo>),
    Hosts(Vec<HostInfo>),
    /// Instances and their tasks.
    Members(Vec<(c_int, Tid)>),
    Letter(Letter),
    Classes(Vec<Class>),
}

/// The destination of a process's lines, as its spawner chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sink {
    /// The machine.
    Machine,
    /// A task that catches them.
    Task(Rank),
}

/// The data that a child inherits from its spawner, in its environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Legacy {
    /// 0: its spawner is hidden.
    pub parent: Tid,
    /// The context in which its spawner sends.
    pub context: c_int,
    pub sink: Sink,
}

/// The variable with the host's name, for tasks on an added host.
pub const HOST: &str = "ANTIPHON_PVM_HOST";

/// The variable that holds the legacy.
pub const LEGACY: &str = "ANTIPHON_PVM_TASK";

impl Legacy {
    /// Returns the variable's value.
    #[must_use]
    pub fn to_text(self) -> String {
        let sink = match self.sink {
            Sink::Machine => String::new(),
            Sink::Task(rank) => rank.to_string(),
        };
        format!("{},{},{sink}", self.parent.0, self.context)
    }

    /// Reads the legacy from a value, if it is one.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        let legacy = Self {
            parent: Tid(parts.next()?.parse().ok()?),
            context: parts.next()?.parse().ok()?,
            sink: match parts.next()? {
                "" => Sink::Machine,
                rank => Sink::Task(rank.parse().ok()?),
            },
        };
        parts.next().is_none().then_some(legacy)
    }
}

/// The output of a process, for the task that catches it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    Begin,
    Line(Vec<u8>),
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legacy_survives_the_environment() {
        for sink in [Sink::Machine, Sink::Task(7)] {
            let legacy = Legacy {
                parent: Tid::of(1, 3),
                context: 0x4_0001,
                sink,
            };
            assert_eq!(Legacy::from_text(&legacy.to_text()), Some(legacy));
        }
        for bad in ["", "1,2", "1,2,3,4", "1,x,"] {
            assert_eq!(Legacy::from_text(bad), None, "{bad}");
        }
    }
}
