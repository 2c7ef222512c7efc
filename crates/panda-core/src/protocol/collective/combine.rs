//! The program's work in an operation: it combines values. It may panic, take long, or use the
//! session, so no protocol waits for it. It is handed over as a message is, and the result comes
//! back as a step of this process to itself.

use std::fmt;

use super::array::Merging;
use super::{Key, Step};
use crate::Rank;
use crate::message::{DecodeError, Message};
use crate::protocol::requests::Failure;

/// Combines two contributions into one; associative and commutative.
pub type Combine = Box<dyn Fn(Message, Message) -> Result<Message, Refused> + Send>;

/// Reason why two contributions were not combined.
#[derive(Debug)]
pub enum Refused {
    /// A contribution does not decode.
    Decode(DecodeError),
    /// The program's function panicked: the text gives its place and the panic.
    Panicked(String),
    /// The caller of the operation no longer waits.
    Over,
}

impl Refused {
    /// Returns the operation's failure.
    pub(super) fn failure(self, myself: Rank, from: Rank) -> Failure {
        match self {
            Self::Decode(error) => Failure::Mismatch {
                rank: from,
                why: format!("brought a value that cannot be combined: {error}"),
            },
            Self::Panicked(why) => Failure::Panicked { rank: myself, why },
            Self::Over => Failure::Lost {
                rank: myself,
                why: "ended its session amid the operation".into(),
            },
        }
    }
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// Values to be combined.
pub struct Combining {
    pub(super) key: Key,
    pub(super) myself: Rank,
    pub(super) work: Work,
}

pub(super) enum Work {
    /// The values of a subtree.
    Subtree {
        combine: Combine,
        own: Message,
        /// Contributions from below, with their senders.
        others: Vec<(Rank, Message)>,
    },
    /// Numbers of an array.
    Array(Merging),
}

impl Combining {
    /// Combines the values, and returns the next step of this process and its operation.
    #[must_use]
    pub fn run(self) -> (Key, Step) {
        let whole = match self.work {
            Work::Subtree {
                combine,
                own,
                others,
            } => whole(self.myself, &combine, own, others),
            Work::Array(merging) => merging.run(self.myself),
        };
        (self.key, whole.map_or_else(Step::Failed, Step::Combined))
    }
}

fn whole(
    myself: Rank,
    combine: &Combine,
    own: Message,
    others: Vec<(Rank, Message)>,
) -> Result<Message, Failure> {
    let mut whole = own;
    for (rank, value) in others {
        whole = combine(whole, value).map_err(|refused| refused.failure(myself, rank))?;
    }
    Ok(whole)
}

impl fmt::Debug for Combining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Combining {{ {:?} }}", self.key)
    }
}
