//! Pending requests of this process, and how they ended.
//!
//! Where links add nothing, a call or a synchronous message is *plain*: it bypasses the protocols.
//! Their lock, their clock and their watch on the peer would cost more than the rest of it. Plain
//! requests are kept here instead. A thread that waits for one has the peer watched once the wait
//! is longer than a moment, as for a message. A thread that takes the receiving end before it asks
//! is not even noted here: the answer comes to no other thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::core::Core;
use super::engine::{Awaited, Interest, Request, WaitsFor};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::requests::{self, Failure, RequestId, Requests};
use crate::protocol::{Content, Incoming};

/// How a request ended.
pub enum Ended {
    Reply(Result<Message, Failure>),
    Collected(Result<Vec<Message>, Failure>),
}

#[derive(Default)]
pub struct PendingRequests {
    /// The number of the last plain request.
    begun: AtomicU64,
    /// Plain requests that wait, except those of a driver that takes its answer itself.
    plain: Mutex<Requests>,
    /// Requests that have ended and whose askers do not know yet. Locked after the others.
    ended: Mutex<FxHashMap<RequestId, Ended>>,
}

impl PendingRequests {
    /// Makes the requests of a process of this birth.
    pub fn of(birth: u64) -> Self {
        Self {
            begun: requests::before_first(birth).into(),
            ..Self::default()
        }
    }

    /// Returns the number of a new plain request, which is not noted yet.
    pub fn number(&self) -> RequestId {
        requests::plain(self.begun.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Begins a plain request.
    pub fn begin(&self, to: Rank) -> RequestId {
        let id = self.number();
        self.note(to, id);
        id
    }

    /// Notes that a plain request waits, whichever thread gets its answer.
    pub fn note(&self, to: Rank, id: RequestId) {
        self.plain.lock().note(id, to, None);
    }

    /// Takes an answer to a plain request, or offers it to the caller. Returns whether it ended a
    /// request that another thread waits for.
    pub fn answered(&self, incoming: &mut Incoming<'_>, awaited: &mut dyn Awaited) -> bool {
        let Content::Answer { id, kind } = incoming.content else {
            return false;
        };
        if awaited.take(incoming) {
            return false;
        }
        let from = incoming.from;
        let outcome = kind.outcome(from, incoming.take_payload());
        let mut plain = self.plain.lock();
        let Some((id, _, outcome)) = plain.answered(from, id, outcome) else {
            return false;
        };
        // The lock is still held: a thread that gives the request up finds it here or there.
        self.end(id, Ended::Reply(outcome));
        true
    }

    /// Ends all plain requests to a lost peer, and returns them.
    pub fn lost(&self, rank: Rank, why: &str) -> Vec<RequestId> {
        let mut plain = self.plain.lock();
        let ended = plain.lost(rank, why).into_iter();
        ended
            .map(|(id, _, outcome)| {
                self.end(id, Ended::Reply(outcome));
                id
            })
            .collect()
    }

    /// Gives a plain request up. Returns how it ended if it did all the same.
    fn give_up(&self, id: RequestId) -> Option<Ended> {
        self.plain.lock().end(id);
        self.take(id)
    }

    /// Records how a request ended.
    pub fn end(&self, id: RequestId, ended: Ended) {
        self.ended.lock().insert(id, ended);
    }

    /// Takes how a request ended, once it has. It is returned once.
    pub fn take(&self, id: RequestId) -> Option<Ended> {
        self.ended.lock().remove(&id)
    }
}

impl Core {
    /// Sends a request to a peer, and waits for the answer.
    pub(super) fn ask_peer(
        &self,
        to: Rank,
        (request, payload): (Request, Message),
        service: &str,
        within: Option<Duration>,
    ) -> Result<Message, Error> {
        let mut end = End::from(to, &self.dispatcher.pending);
        // A time beyond the clock's range means for ever.
        let until = within.and_then(|within| self.engine.now().checked_add(within));
        self.engine.request_for(request, payload, within, &mut end);
        if end.ended.is_none() {
            match requests::is_plain(end.of) {
                true => self.wait_for_answer(&mut end, until),
                false => self.wait_for_end(&mut end),
            }
        }
        match end.ended {
            Some(Ended::Reply(outcome)) => {
                outcome.map_err(|failure| self.failed(failure, service, within))
            }
            Some(Ended::Collected(_)) => unreachable!("request numbers are not used twice"),
            None => Err(Error::Over),
        }
    }

    /// Waits for the end of a request that the protocols keep.
    pub(super) fn outcome(&self, id: RequestId) -> Result<Ended, Error> {
        let mut end = End::from(self.rank, &self.dispatcher.pending);
        end.of = id;
        self.wait_for_end(&mut end);
        end.ended.ok_or(Error::Over)
    }

    fn wait_for_end(&self, end: &mut End<'_>) {
        if !end.holds() {
            let engine = &self.engine;
            engine.wait(Interest::Request(end.of), end, None);
        }
    }

    /// Waits for the answer to a plain request that was noted.
    fn wait_for_answer(&self, end: &mut End<'_>, until: Option<Instant>) {
        let (to, id) = (end.peer, end.of);
        self.wait_and_watch(to, Interest::Request(id), end, until);
        // A waiter that takes the answer itself leaves the note behind.
        let ended = self.dispatcher.pending.give_up(id);
        if end.ended.is_none() {
            let is_late = until.is_some_and(|until| self.engine.now() >= until);
            let late = is_late.then(|| Ended::Reply(Err(Failure::TimedOut { rank: to })));
            end.ended = ended.or(late);
        }
    }
}

/// The end of a request, as its asker waits for it.
pub struct End<'a> {
    of: RequestId,
    /// Peer to which the request goes.
    pub peer: Rank,
    pending: &'a PendingRequests,
    ended: Option<Ended>,
}

impl<'a> End<'a> {
    /// Makes the end of a request that is yet to be sent.
    pub fn from(peer: Rank, pending: &'a PendingRequests) -> Self {
        Self {
            of: 0,
            peer,
            pending,
            ended: None,
        }
    }

    /// Notes that the request was sent.
    pub fn begins(&mut self, id: RequestId) {
        self.of = id;
    }

    /// Returns whether the answer has come.
    pub fn has_come(&self) -> bool {
        self.ended.is_some()
    }
}

impl Awaited for End<'_> {
    fn holds(&mut self) -> bool {
        // `holds` may be called again after it has returned true.
        if self.ended.is_none() {
            self.ended = self.pending.take(self.of);
        }
        self.ended.is_some()
    }

    fn what(&self) -> WaitsFor {
        WaitsFor::Request(self.of)
    }

    fn take(&mut self, incoming: &mut Incoming<'_>) -> bool {
        let Content::Answer { id, kind } = incoming.content else {
            return false;
        };
        let from = incoming.from;
        let is_it = id == self.of && from == self.peer && self.ended.is_none();
        if is_it {
            let outcome = kind.outcome(from, incoming.take_payload());
            self.ended = Some(Ended::Reply(outcome));
        }
        is_it
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::Nobody;
    use super::*;
    use crate::protocol::Answer;

    /// Returns whether an empty answer ends a request that another thread waits for.
    fn answered(
        asked: &PendingRequests,
        from: Rank,
        id: RequestId,
        awaited: &mut dyn Awaited,
    ) -> bool {
        let (kind, mut payload) = (Answer::Value, Message::new());
        let content = Content::Answer { id, kind };
        asked.answered(&mut Incoming::with(from, content, &mut payload), awaited)
    }

    #[test]
    fn a_plain_request_ends_once_by_its_peer_alone() {
        let pending = PendingRequests::default();
        let (one, other) = (pending.begin(1), pending.begin(2));
        assert!(requests::is_plain(one) && one != other);
        let answered = |from, id| answered(&pending, from, id, &mut Nobody);
        assert!(!answered(2, one), "another peer");
        assert!(answered(1, one));
        assert!(!answered(1, one), "it has ended");
        assert!(matches!(pending.take(one), Some(Ended::Reply(Ok(_)))));
        assert!(pending.lost(1, "gone").is_empty());
        assert_eq!(pending.lost(2, "gone"), [other]);
        assert!(matches!(
            pending.give_up(other),
            Some(Ended::Reply(Err(Failure::Lost { rank: 2, .. })))
        ));
        let late = pending.begin(1);
        assert!(pending.give_up(late).is_none());
        assert!(!answered(1, late), "given up");
    }

    #[test]
    fn who_waits_for_an_end_takes_it_as_it_comes_and_no_other() {
        let pending = PendingRequests::default();
        let (one, other) = (pending.begin(1), pending.begin(1));
        let mut end = End::from(1, &pending);
        end.begins(one);
        assert!(answered(&pending, 1, other, &mut end));
        assert!(!end.holds(), "another's");
        assert!(!answered(&pending, 1, one, &mut end));
        assert!(end.holds() && pending.take(one).is_none());
        assert!(pending.take(other).is_some());
    }
}
