//! What a thread waits for.

use antiphon_fiber::Wait;

use crate::platform::Rank;
use crate::protocol::Incoming;
use crate::protocol::requests::RequestId;

/// Something that comes to hold. Whoever waits for a message, or for the end of a request, may take it as it comes, so that it lies nowhere in between.
pub trait Awaited {
    /// Whether it holds.
    fn holds(&mut self) -> bool;

    /// What it is, for reports of who waits for ever.
    fn what(&self) -> WaitsFor {
        WaitsFor::Change("what upcalls bring about")
    }

    /// Takes a message that came, or the answer to a request, if it is what is waited for; whether
    /// it is. Asked only if that did not hold before, and nothing that it looks at has changed since
    /// but by what it took.
    fn take(&mut self, _incoming: &mut Incoming<'_>) -> bool {
        false
    }
}

impl<F: FnMut() -> bool> Awaited for F {
    fn holds(&mut self) -> bool {
        self()
    }
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// A message at a port, of a sender and with a tag if they are said.
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

/// Something that comes to hold, and what that is in words.
pub struct Until<F>(pub &'static str, pub F);

impl<F: FnMut() -> bool> Awaited for Until<F> {
    fn holds(&mut self) -> bool {
        (self.1)()
    }

    fn what(&self) -> WaitsFor {
        WaitsFor::Change(self.0)
    }
}

/// For who drives and waits for nothing that could be handed to it.
pub struct Nobody;

impl Awaited for Nobody {
    fn holds(&mut self) -> bool {
        false
    }
}
