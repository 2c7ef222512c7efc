//! Operations that have ended here, and may not have been begun by a neighbour.
//!
//! What was sent to that neighbour is gone if the link to it begins anew, and who failed an operation since a peer was silent has told it nothing that it got. If the
//! peer lives after all and begins the operation later, it would wait for ever: so whenever touch with it is lost it is told, as soon as it is reached again, that these
//! operations have failed. Where it has ended them itself it does not care.

use std::collections::VecDeque;

use super::{Key, Outcome, Step};
use crate::platform::Rank;
use crate::protocol::requests::Failure;

/// Operations that are remembered; a neighbour is seldom so far behind.
const RECENT_MAX: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(Key, Vec<Rank>)>);

impl Recent {
    pub fn keep(&mut self, key: Key, neighbours: &[Rank]) {
        if neighbours.is_empty() {
            return;
        }
        if self.0.len() == RECENT_MAX {
            self.0.pop_front();
        }
        self.0.push_back((key, neighbours.to_vec()));
    }

    /// Touch with a peer is lost.
    pub fn lost(&self, failure: &Failure, out: &mut Outcome) {
        let rank = failure.rank();
        let near = self.0.iter().filter(|(_, near)| near.contains(&rank));
        out.sends
            .extend(near.map(|(key, _)| (rank, *key, Step::Failed(failure.clone()))));
    }
}
