//! Requests that wait for a peer: synchronous sends and remote procedure calls.
//!
//! Links deliver once or report the peer lost, so a call is executed at most once without any numbers of its own; an answer to a request that has ended is dropped.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Time;
use crate::Rank;
use crate::message::Message;

/// A request of this process.
pub type RequestId = u64;

/// Bits of a number that count the requests of one life of a process, at least: a life that made more in each millisecond might take the next one's.
const COUNT_BITS: u32 = 20;

/// The number before the first of a process of this birth. No two lives of a rank use the same ones: what the earlier one asked may be answered when the later one is there.
#[must_use]
pub fn before_first(birth: u64) -> RequestId {
    birth.wrapping_shl(COUNT_BITS) & (PLAIN - 1)
}

/// The numbers above are of requests that the stack of protocols does not know of.
const PLAIN: RequestId = 1 << 63;

/// The number of the nth of those.
#[inline]
#[must_use]
pub fn plain(nth: u64) -> RequestId {
    PLAIN + nth
}

/// Whether a request is one of those.
#[inline]
#[must_use]
pub fn is_plain(id: RequestId) -> bool {
    id > PLAIN
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The peer is lost; what was asked may or may not have been done.
    Lost {
        /// The peer.
        rank: Rank,
        /// In words, to follow its name.
        why: String,
    },
    /// The deadline passed; what was asked may still be done.
    TimedOut {
        /// The peer.
        rank: Rank,
    },
    /// Nobody has registered what was called.
    NoService {
        /// The peer.
        rank: Rank,
    },
    /// The peer dropped the call without a reply.
    NoReply {
        /// The peer.
        rank: Rank,
    },
    /// The peer takes part in a collective operation in another way than this process.
    Mismatch {
        /// The peer.
        rank: Rank,
        /// In words, to follow its name.
        why: String,
    },
    /// What the peer, or this process, combines values with panicked.
    Panicked {
        /// The process.
        rank: Rank,
        /// In words: where it was given, and what it said.
        why: String,
    },
}

impl Failure {
    /// The peer.
    #[inline]
    #[must_use]
    pub fn rank(&self) -> Rank {
        match self {
            Self::Lost { rank, .. }
            | Self::TimedOut { rank }
            | Self::NoService { rank }
            | Self::NoReply { rank }
            | Self::Mismatch { rank, .. }
            | Self::Panicked { rank, .. } => *rank,
        }
    }
}

/// The requests that wait.
#[derive(Debug, Default)]
pub struct Requests {
    last: RequestId,
    pending: FxHashMap<RequestId, Pending>,
    deadlines: BTreeSet<(Time, RequestId)>,
}

#[derive(Debug)]
struct Pending {
    peer: Rank,
    deadline: Option<Time>,
}

/// How a request ended, with the peer that it waited for.
pub type Ended = (RequestId, Rank, Result<Message, Failure>);

impl Requests {
    /// Those of a process of this birth.
    #[must_use]
    pub fn of(birth: u64) -> Self {
        let last = before_first(birth);
        Self {
            last,
            ..Self::default()
        }
    }

    /// A new request.
    #[inline]
    pub fn begin(&mut self, peer: Rank, deadline: Option<Time>) -> RequestId {
        self.last += 1;
        self.note(self.last, peer, deadline);
        self.last
    }

    /// A new request that has its number already.
    #[inline]
    pub fn note(&mut self, id: RequestId, peer: Rank, deadline: Option<Time>) {
        self.pending.insert(id, Pending { peer, deadline });
        self.deadlines.extend(deadline.map(|at| (at, id)));
    }

    /// An answer; none if the request has ended or was for somebody else.
    pub fn answered(
        &mut self,
        from: Rank,
        id: RequestId,
        outcome: Result<Message, Failure>,
    ) -> Option<Ended> {
        let Entry::Occupied(pending) = self.pending.entry(id) else {
            return None;
        };
        if pending.get().peer != from {
            return None;
        }
        let pending = pending.remove();
        self.forget(id, pending.deadline);
        Some((id, from, outcome))
    }

    /// Ends all requests to a peer.
    pub fn lost(&mut self, rank: Rank, why: &str) -> Vec<Ended> {
        let mut ids: Vec<RequestId> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.peer == rank)
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        let failure = || Failure::Lost {
            rank,
            why: why.to_string(),
        };
        ids.into_iter()
            .filter_map(|id| self.end(id).map(|peer| (id, peer, Err(failure()))))
            .collect()
    }

    /// When [`tick`](Self::tick) is next needed.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Ends the requests whose time has passed.
    pub fn tick(&mut self, now: Time) -> Vec<Ended> {
        let mut ended = Vec::new();
        while let Some(&(at, id)) = self.deadlines.first().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            ended.extend(
                self.end(id)
                    .map(|rank| (id, rank, Err(Failure::TimedOut { rank }))),
            );
        }
        ended
    }

    /// Ends a request, if it has not ended; whom it waited for.
    #[inline]
    pub fn end(&mut self, id: RequestId) -> Option<Rank> {
        let pending = self.pending.remove(&id)?;
        self.forget(id, pending.deadline);
        Some(pending.peer)
    }

    /// A request that has ended has no deadline.
    fn forget(&mut self, id: RequestId, deadline: Option<Time>) {
        if let Some(at) = deadline {
            self.deadlines.remove(&(at, id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_to_an_earlier_life_answers_nothing_of_a_later_one() {
        let births = [1, 2, 1_795_000_000_000, 1_795_000_000_001, (1 << 43) - 1];
        let mut seen = BTreeSet::new();
        for birth in births {
            let mut requests = Requests::of(birth);
            for _ in 0..1000 {
                let id = requests.begin(3, None);
                assert!(!is_plain(id) && is_plain(plain(id)), "{id}");
                assert!(seen.insert(id), "{birth}: {id} was another life's");
            }
            let (old, new) = (before_first(birth) + 1, before_first(birth + 1) + 1);
            assert!(requests.answered(3, new, Ok(Message::new())).is_none());
            assert!(requests.answered(3, old, Ok(Message::new())).is_some());
        }
    }
}
