//! The failure detector: awaited peers are asked now and then, and taken for lost after too long a
//! silence.
//!
//! Only watched peers cost anything, so a session of thousands has no traffic of its own.
//!
//! A message may take longer than a silence. Meanwhile no frame comes from its sender, and
//! questions to its receiver lie behind it. So before a peer is asked, or taken for lost, the
//! detector looks whether bytes move between the two. That is as good as an answer.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::Time;
use crate::{Rank, Transfer};

/// Bytes that may wait for a peer and be only this process's questions. Its system takes them even
/// while the peer is stopped, so their receipt proves nothing.
const QUESTIONS: u64 = 4 << 10;

/// The watched peers.
#[derive(Debug)]
pub struct FailureDetector {
    silence: Duration,
    watched: FxHashMap<Rank, Watched>,
    looked: Time,
}

#[derive(Debug)]
struct Watched {
    interests: u32,
    heard: Time,
    /// Transfer at the last look that found silence.
    transfer: Option<Transfer>,
}

impl Watched {
    /// Returns whether bytes have moved between the two since the last call.
    fn goes_on(&mut self, now: Transfer) -> bool {
        self.transfer.replace(now).is_some_and(|before| {
            let waited = before.waiting > QUESTIONS;
            now.came != before.came || (waited && now.taken != before.taken)
        })
    }
}

/// The result of a look.
#[derive(Debug, Default)]
pub struct Findings {
    /// Peers to ask for a sign of life.
    pub ask: Vec<Rank>,
    /// Peers that were silent for too long. A peer is found again after as long, while something
    /// waits for it.
    pub lost: Vec<Rank>,
}

impl FailureDetector {
    /// Makes a detector with the time that peers may be silent.
    #[must_use]
    pub fn new(silence: Duration) -> Self {
        Self {
            silence,
            watched: FxHashMap::default(),
            looked: Time::ZERO,
        }
    }

    /// Watches a peer, since something waits for it.
    pub fn watch(&mut self, rank: Rank, now: Time) {
        if self.watched.is_empty() {
            self.looked = now;
        }
        self.watched
            .entry(rank)
            .or_insert(Watched {
                interests: 0,
                heard: now,
                transfer: None,
            })
            .interests += 1;
    }

    /// Ends one [`watch`](Self::watch) of a peer.
    pub fn unwatch(&mut self, rank: Rank) {
        if let Some(watched) = self.watched.get_mut(&rank) {
            watched.interests -= 1;
            if watched.interests == 0 {
                self.watched.remove(&rank);
            }
        }
    }

    /// Notes a peer's sign of life.
    #[inline]
    pub fn heard(&mut self, rank: Rank, now: Time) {
        if let Some(watched) = self.watched.get_mut(&rank) {
            watched.heard = now;
        }
    }

    /// Returns when to look.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (!self.watched.is_empty()).then(|| self.looked + self.interval())
    }

    fn interval(&self) -> Duration {
        self.silence / 4
    }

    /// Looks, if it is time, and asks `transfer` about silent peers. A process that was itself
    /// stopped does not hold that against its peers.
    pub fn tick(&mut self, now: Time, mut transfer: impl FnMut(Rank) -> Transfer) -> Findings {
        let mut findings = Findings::default();
        if self.deadline().is_none_or(|at| at > now) {
            return findings;
        }
        let interval = self.interval();
        let late = now.saturating_sub(self.looked + interval);
        let pause = if late > interval {
            late
        } else {
            Duration::ZERO
        };
        for (&rank, watched) in &mut self.watched {
            watched.heard = (watched.heard + pause).min(now);
            let silent = now.saturating_sub(watched.heard);
            if silent < interval {
                continue;
            }
            if watched.goes_on(transfer(rank)) {
                watched.heard = now;
            } else if silent >= self.silence {
                findings.lost.push(rank);
                watched.heard = now;
            } else {
                findings.ask.push(rank);
            }
        }
        // The order of ranks is fixed, so that a history replays from its seed.
        findings.ask.sort_unstable();
        findings.lost.sort_unstable();
        self.looked = now;
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn looks(detector: &mut FailureDetector, from: u32, to: u32) -> Vec<Rank> {
        looks_at(detector, from, to, |_| Transfer::default())
    }

    /// The same where bytes are so far at a look.
    fn looks_at(
        detector: &mut FailureDetector,
        from: u32,
        to: u32,
        transfer: impl Fn(u64) -> Transfer,
    ) -> Vec<Rank> {
        let look = |quarter: u32| {
            let findings = detector.tick(SECOND / 4 * quarter, |_| transfer(quarter.into()));
            findings.lost
        };
        (from..to).flat_map(look).collect()
    }

    #[test]
    fn a_silent_peer_is_lost_once_and_one_that_answers_is_not() {
        let mut detector = FailureDetector::new(SECOND);
        detector.watch(1, Time::ZERO);
        detector.watch(2, Time::ZERO);
        let nothing = |_| Transfer::default();
        assert!(detector.tick(SECOND / 4, nothing).ask.contains(&1));
        assert!(looks(&mut detector, 2, 4).is_empty());
        detector.heard(2, SECOND * 3 / 4);
        assert_eq!(looks(&mut detector, 4, 7), [1]);
    }

    #[test]
    fn after_a_pause_of_its_own_a_process_waits_once_more() {
        let mut detector = FailureDetector::new(SECOND);
        detector.watch(1, Time::ZERO);
        let nothing = |_| Transfer::default();
        assert!(detector.tick(SECOND * 60, nothing).lost.is_empty());
        assert_eq!(looks(&mut detector, 241, 246), [1]);
    }

    #[test]
    fn a_peer_is_there_while_bytes_of_it_come_and_is_lost_when_none_do() {
        let mut detector = FailureDetector::new(SECOND);
        detector.watch(1, Time::ZERO);
        let come = |look: u64| Transfer {
            came: look.min(40),
            ..Transfer::default()
        };
        assert!(looks_at(&mut detector, 1, 44, come).is_empty());
        assert_eq!(looks_at(&mut detector, 44, 46, come), [1]);
    }

    #[test]
    fn a_peer_is_there_while_it_takes_what_waited_and_not_for_taking_questions() {
        let mut detector = FailureDetector::new(SECOND);
        detector.watch(1, Time::ZERO);
        let takes = |look: u64| Transfer {
            came: 0,
            taken: look,
            waiting: if look < 40 { 1 << 20 } else { 10 },
        };
        // What it took at the look at 40 had waited at that before.
        assert!(looks_at(&mut detector, 1, 44, takes).is_empty());
        assert_eq!(looks_at(&mut detector, 44, 46, takes), [1]);
        let stuck = |_| Transfer {
            waiting: 1 << 20,
            ..Transfer::default()
        };
        assert_eq!(looks_at(&mut detector, 46, 52, stuck), [1]);
    }

    #[test]
    fn nobody_is_asked_whom_nothing_waits_for() {
        let mut detector = FailureDetector::new(SECOND);
        detector.watch(1, Time::ZERO);
        detector.watch(1, Time::ZERO);
        detector.unwatch(1);
        assert!(detector.deadline().is_some());
        detector.unwatch(1);
        assert_eq!(detector.deadline(), None);
    }
}
