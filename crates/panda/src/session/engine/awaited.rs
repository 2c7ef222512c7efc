//! Conditions that a thread waits for.

use antiphon_fiber::Wait;

use crate::platform::Rank;
use crate::protocol::Incoming;
use crate::protocol::requests::RequestId;

/// A condition that comes to hold. A thread that waits for a message, or for the end of a request,
/// may take it as it comes. Then it is stored nowhere in between.
pub trait Awaited {
    /// Returns whether the condition holds.
    fn holds(&mut self) -> bool;

    /// Returns what the thread waits for, for reports of threads that wait for ever.
    fn what(&self) -> WaitsFor {
        WaitsFor::Change("what upcalls bring about")
    }

    /// Takes a message, or the answer to a request, if the thread waits for it. Returns whether it
    /// did.
    ///
    /// The driver asks only if the condition did not hold before. Since then nothing has changed
    /// the condition's state but earlier calls of this method.
    fn take(&mut self, _incoming: &mut Incoming<'_>) -> bool {
        false
    }
}

impl<F: FnMut() -> bool> Awaited for F {
    fn holds(&mut self) -> bool {
        self()
    }
}

/// The thing that a thread waits for, as reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A message at a port, from a given sender and with a given tag if there are any.
    Message {
        /// The port's number.
        port: u64,
        /// The sender.
        from: Option<Rank>,
        /// The tag.
        tag: Option<u32>,
    },
    /// A message at a port that the program's predicate accepts.
    Accepted {
        /// The port's number.
        port: u64,
    },
    /// The end of a request.
    Request(RequestId),
    /// Something else that the session brings about, in words.
    Change(&'static str),
    /// Another thread of this process.
    Thread(Wait),
    /// A time to pass.
    Time,
}

/// A condition with its description for reports.
pub struct Until<F>(pub &'static str, pub F);

impl<F: FnMut() -> bool> Awaited for Until<F> {
    fn holds(&mut self) -> bool {
        (self.1)()
    }

    fn what(&self) -> WaitsFor {
        WaitsFor::Change(self.0)
    }
}

/// A condition of a driver that waits for nothing that could be handed to it.
pub struct Nobody;

impl Awaited for Nobody {
    fn holds(&mut self) -> bool {
        false
    }
}
