//! What the program itself does in an operation: it combines values. It may panic, take long, or want something of the session, so no protocol waits for it: it is handed over as a message
//! is, and what came of it comes back as a step of this process to itself.

use std::fmt;

use super::array::Merging;
use super::{Key, Step};
use crate::Rank;
use crate::message::{DecodeError, Message};
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
    /// Who asked for it does not wait for it any more.
    Over,
}

impl Refused {
    /// What that means for the operation.
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

/// Values that are to be combined.
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
        /// What came from below, and from whom.
        others: Vec<(Rank, Message)>,
    },
    /// Numbers of an array.
    Array(Merging),
}

impl Combining {
    /// Combines them; the step that this process is to take then, and of which operation.
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
