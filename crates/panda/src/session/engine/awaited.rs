//! What a thread waits for.

use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::Answer;
use crate::protocol::requests::{Failure, RequestId};
use crate::session::Arrived;

/// Something that comes to hold. Whoever waits for a message, or for the end of a request, may take it as it comes, so that it lies nowhere in between.
pub trait Awaited {
    /// Whether it holds.
    fn holds(&mut self) -> bool;

    /// Takes a message that came to a port if it is what is waited for, and gives it back else. Asked only if it did not hold before, and nothing that it looks at has
    /// changed since but by what it took.
    fn take(&mut self, _port: u64, arrived: Arrived) -> Option<Arrived> {
        Some(arrived)
    }

    /// The same for a short message, of which only the bytes are there; false if it is not what is waited for.
    fn take_short(&mut self, _port: u64, _from: Rank, _tag: u32, _payload: &[u8]) -> bool {
        false
    }

    /// Takes the answer to a request if it is what is waited for, and gives it back else.
    fn take_answer(
        &mut self,
        _from: Rank,
        _id: RequestId,
        outcome: Result<Message, Failure>,
    ) -> Option<Result<Message, Failure>> {
        Some(outcome)
    }

    /// The same for a short one, of which only the bytes are there; false if it is not what is waited for.
    fn take_short_answer(
        &mut self,
        _from: Rank,
        _id: RequestId,
        _kind: Answer,
        _payload: &[u8],
    ) -> bool {
        false
    }
}

impl<F: FnMut() -> bool> Awaited for F {
    fn holds(&mut self) -> bool {
        self()
    }
}

/// For who drives and waits for nothing that could be handed to it.
pub struct Nobody;

impl Awaited for Nobody {
    fn holds(&mut self) -> bool {
        false
    }
}
