//! Requests of this process and how they ended.
//!
//! Where links add nothing, a call or a synchronous message is *plain*: the protocols' lock, their clock and their look-out for the peer would cost more than the
//! rest of it. Such requests stand here instead, and who waits for one has the peer watched once that takes longer than a moment, as for a message.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::core::Core;
use super::engine::{Awaited, Interest};
use crate::error::Error;
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::requests::{self, Failure, RequestId, Requests};

/// How a request ended.
pub enum Ended {
    Reply(Result<Message, Failure>),
    Collected(Result<Vec<Message>, Failure>),
}

pub struct Asked {
    /// Those that wait and that the protocols do not know of.
    plain: Mutex<Requests>,
    /// Those that have ended and whose askers do not know yet. Locked after the others.
    ended: Mutex<FxHashMap<RequestId, Ended>>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            plain: Mutex::new(Requests::plain()),
            ended: Mutex::default(),
        }
    }
}

impl Asked {
    /// Begins a plain request.
    pub fn begin(&self, to: Rank) -> RequestId {
        self.plain.lock().begin(to, None)
    }

    /// An answer to a plain request, for the caller if it waits for that; whether it ended one that another waits for.
    pub fn answered(
        &self,
        from: Rank,
        id: RequestId,
        outcome: Result<Message, Failure>,
        awaited: &mut dyn Awaited,
    ) -> bool {
        let mut plain = self.plain.lock();
        let Some((id, _, outcome)) = plain.answered(from, id, outcome) else {
            return false;
        };
        let Some(ended) = awaited.take_end(id, Ended::Reply(outcome)) else {
            return false;
        };
        // With the lock held: who gives it up finds it here or there.
        self.end(id, ended);
        true
    }

    /// Ends all plain requests to a peer that is lost; which they were.
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

    /// Gives a plain request up; how it ended if it did all the same.
    fn give_up(&self, id: RequestId) -> Option<Ended> {
        self.plain.lock().end(id);
        self.take(id)
    }

    /// A request has ended.
    pub fn end(&self, id: RequestId, ended: Ended) {
        self.ended.lock().insert(id, ended);
    }

    /// How a request ended, once it has; told once.
    pub fn take(&self, id: RequestId) -> Option<Ended> {
        self.ended.lock().remove(&id)
    }
}

impl Core {
    /// Waits for the answer to a request of a peer.
    pub(super) fn reply_of(
        &self,
        (to, id): (Rank, RequestId),
        service: &str,
        within: Option<Duration>,
    ) -> Result<Message, Error> {
        let ended = match requests::is_plain(id) {
            true => self.plain_outcome(to, id, within)?,
            false => self.outcome(id)?,
        };
        match ended {
            Ended::Reply(outcome) => {
                outcome.map_err(|failure| self.failed(failure, service, within))
            }
            Ended::Collected(_) => unreachable!("request numbers are not used twice"),
        }
    }

    /// Waits for the end of a request that the protocols know of.
    pub(super) fn outcome(&self, id: RequestId) -> Result<Ended, Error> {
        let ended = self.taken(id, |awaited| {
            if !awaited.holds() {
                let engine = &self.engine;
                engine.wait(Interest::Request(id), awaited, None);
            }
        });
        ended.ok_or(Error::Over)
    }

    /// Waits for the end of a plain request.
    fn plain_outcome(
        &self,
        to: Rank,
        id: RequestId,
        within: Option<Duration>,
    ) -> Result<Ended, Error> {
        let until = within.and_then(|within| Instant::now().checked_add(within));
        let ended = self.taken(id, |awaited| {
            self.wait_and_watch(to, Interest::Request(id), awaited, until);
        });
        let is_late = || until.is_some_and(|until| Instant::now() >= until);
        match ended.or_else(|| self.desk.asked.give_up(id)) {
            Some(ended) => Ok(ended),
            None if is_late() => Ok(Ended::Reply(Err(Failure::TimedOut { rank: to }))),
            None => Err(Error::Over),
        }
    }

    /// How a request ended, if it did before a wait for that was over.
    fn taken(&self, id: RequestId, wait: impl FnOnce(&mut dyn Awaited)) -> Option<Ended> {
        let mut end = End {
            of: id,
            asked: &self.desk.asked,
            ended: None,
        };
        wait(&mut end);
        end.ended
    }
}

/// The end of a request, as its asker waits for it.
struct End<'a> {
    of: RequestId,
    asked: &'a Asked,
    ended: Option<Ended>,
}

impl Awaited for End<'_> {
    fn holds(&mut self) -> bool {
        // It may be asked again after it has held.
        if self.ended.is_none() {
            self.ended = self.asked.take(self.of);
        }
        self.ended.is_some()
    }

    fn take_end(&mut self, id: RequestId, ended: Ended) -> Option<Ended> {
        match id == self.of && self.ended.is_none() {
            true => self.ended.replace(ended),
            false => Some(ended),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::engine::Nobody;
    use super::*;

    #[test]
    fn a_plain_request_ends_once_by_its_peer_alone() {
        let asked = Asked::default();
        let (one, other) = (asked.begin(1), asked.begin(2));
        assert!(requests::is_plain(one) && one != other);
        let answered = |from, id| asked.answered(from, id, Ok(Message::new()), &mut Nobody);
        assert!(!answered(2, one), "another peer");
        assert!(answered(1, one));
        assert!(!answered(1, one), "it has ended");
        assert!(matches!(asked.take(one), Some(Ended::Reply(Ok(_)))));
        assert!(asked.lost(1, "gone").is_empty());
        assert_eq!(asked.lost(2, "gone"), [other]);
        assert!(matches!(
            asked.give_up(other),
            Some(Ended::Reply(Err(Failure::Lost { rank: 2, .. })))
        ));
        let late = asked.begin(1);
        assert!(asked.give_up(late).is_none());
        assert!(!answered(1, late), "given up");
    }

    #[test]
    fn who_waits_for_an_end_takes_it_as_it_comes_and_no_other() {
        let asked = Asked::default();
        let (one, other) = (asked.begin(1), asked.begin(1));
        let mut end = End {
            of: one,
            asked: &asked,
            ended: None,
        };
        assert!(asked.answered(1, other, Ok(Message::new()), &mut end));
        assert!(!end.holds(), "another's");
        assert!(!asked.answered(1, one, Ok(Message::new()), &mut end));
        assert!(end.holds() && asked.take(one).is_none());
        assert!(asked.take(other).is_some());
    }
}
