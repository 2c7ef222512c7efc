//! Requests that wait for a peer: synchronous sends and remote procedure calls.
//!
//! Links deliver once or report the peer lost. So a call runs at most once, without numbers of its
//! own. An answer to an ended request is dropped.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::Time;
use crate::Rank;
use crate::message::Message;

/// A request of this process.
pub type RequestId = u64;

/// Least number of bits that count the requests of one life of a process. A life with more requests
/// in each millisecond might use the next one's numbers.
const COUNT_BITS: u32 = 20;

/// Returns the number before the first of a process of this birth. No two lives of a rank use the
/// same numbers: an earlier life's request may be answered when the later one is there.
#[must_use]
pub fn before_first(birth: u64) -> RequestId {
    birth.wrapping_shl(COUNT_BITS) & (PLAIN - 1)
}

/// Base of the numbers of requests that the stack of protocols does not know.
const PLAIN: RequestId = 1 << 63;

/// Returns the number of the nth plain request.
#[inline]
#[must_use]
pub fn plain(nth: u64) -> RequestId {
    PLAIN + nth
}

/// Returns whether a request is plain.
#[inline]
#[must_use]
pub fn is_plain(id: RequestId) -> bool {
    id > PLAIN
}

/// Reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The peer is lost. The requested action may or may not have been done.
    Lost {
        /// The peer.
        rank: Rank,
        /// Reason, in words that follow its name.
        why: String,
    },
    /// The deadline passed. The requested action may still be done.
    TimedOut {
        /// The peer.
        rank: Rank,
    },
    /// The called service is not registered.
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
        /// Reason, in words that follow its name.
        why: String,
    },
    /// The function with which the peer, or this process, combines values panicked.
    Panicked {
        /// The process.
        rank: Rank,
        /// Its place in the program, and the text of the panic.
        why: String,
    },
}

impl Failure {
    /// Returns the peer.
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

/// The waiting requests.
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
    /// Makes the requests of a process of this birth.
    #[must_use]
    pub fn of(birth: u64) -> Self {
        let last = before_first(birth);
        Self {
            last,
            ..Self::default()
        }
    }

    /// Begins a new request.
    #[inline]
    pub fn begin(&mut self, peer: Rank, deadline: Option<Time>) -> RequestId {
        self.last += 1;
        self.note(self.last, peer, deadline);
        self.last
    }

    /// Notes a new request that has its number already.
    #[inline]
    pub fn note(&mut self, id: RequestId, peer: Rank, deadline: Option<Time>) {
        self.pending.insert(id, Pending { peer, deadline });
        self.deadlines.extend(deadline.map(|at| (at, id)));
    }

    /// Ends a request by an answer; returns `None` if it has ended or was to another peer.
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

    /// Returns when [`tick`](Self::tick) is next needed.
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

    /// Ends a request, if it has not ended, and returns its peer.
    #[inline]
    pub fn end(&mut self, id: RequestId) -> Option<Rank> {
        let pending = self.pending.remove(&id)?;
        self.forget(id, pending.deadline);
        Some(pending.peer)
    }

    /// Forgets the deadline of an ended request.
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
