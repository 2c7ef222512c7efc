//! What the program itself does in an operation: it combines values. It may panic, take long, or want something of the session, so no protocol waits for it: it is handed over as a message
//! is, and what came of it comes back as a step of this process to itself.

use std::fmt;

use super::{Key, Step};
use crate::message::{DecodeError, Message};
use crate::platform::Rank;
use crate::protocol::requests::Failure;

/// Combines two contributions into one; associative and commutative.
pub type Combine = Box<dyn Fn(Message, Message) -> Result<Message, Refused> + Send>;

/// Why two contributions were not combined.
#[derive(Debug)]
pub enum Refused {
    /// One of them is none.
    Decode(DecodeError),
    /// What combines them panicked: in words, where it was given and what it said.
    Panicked(String),
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// The values of a subtree, to be combined.
pub struct Combining {
    pub(super) key: Key,
    pub(super) myself: Rank,
    pub(super) combine: Combine,
    pub(super) own: Message,
    /// What came from below, and from whom.
    pub(super) others: Vec<(Rank, Message)>,
}

impl Combining {
    /// Combines them; the step that this process is to take then, and of which operation.
    #[must_use]
    pub fn run(self) -> (Key, Step) {
        let key = self.key;
        let step = self.whole().map_or_else(Step::Failed, Step::Combined);
        (key, step)
    }

    fn whole(self) -> Result<Message, Failure> {
        let mut whole = self.own;
        for (rank, value) in self.others {
            whole = (self.combine)(whole, value).map_err(|refused| match refused {
                Refused::Decode(error) => Failure::Mismatch {
                    rank,
                    why: format!("brought a value that cannot be combined: {error}"),
                },
                Refused::Panicked(why) => Failure::Panicked {
                    rank: self.myself,
                    why,
                },
            })?;
        }
        Ok(whole)
    }
}

impl fmt::Debug for Combining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.others.len() + 1;
        write!(f, "Combining {{ {:?}, {count} values }}", self.key)
    }
}
