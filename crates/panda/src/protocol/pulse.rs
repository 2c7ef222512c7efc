//! Who still answers: peers that something waits for are asked now and then, and taken for lost when they are silent for too long.
//!
//! Only peers that are watched cost anything, so a session of thousands has no traffic of its own.

use std::time::Duration;

use rustc_hash::FxHashMap;

use super::Time;
use crate::platform::Rank;

/// The peers that are watched.
#[derive(Debug)]
pub struct Pulse {
    silence: Duration,
    watched: FxHashMap<Rank, Watched>,
    looked: Time,
}

#[derive(Debug)]
struct Watched {
    interests: u32,
    heard: Time,
}

/// What a look found.
#[derive(Debug, Default)]
pub struct Findings {
    /// To be asked for a sign of life.
    pub ask: Vec<Rank>,
    /// Silent for too long. Found again after as long, as long as something waits for it.
    pub lost: Vec<Rank>,
}

impl Pulse {
    /// Peers may be silent for so long.
    #[must_use]
    pub fn new(silence: Duration) -> Self {
        Self {
            silence,
            watched: FxHashMap::default(),
            looked: Time::ZERO,
        }
    }

    /// Something waits for a peer.
    pub fn watch(&mut self, rank: Rank, now: Time) {
        if self.watched.is_empty() {
            self.looked = now;
        }
        self.watched
            .entry(rank)
            .or_insert(Watched {
                interests: 0,
                heard: now,
            })
            .interests += 1;
    }

    /// It does no more. The opposite of one [`watch`](Self::watch).
    pub fn unwatch(&mut self, rank: Rank) {
        if let Some(watched) = self.watched.get_mut(&rank) {
            watched.interests -= 1;
            if watched.interests == 0 {
                self.watched.remove(&rank);
            }
        }
    }

    /// A peer gave a sign of life.
    #[inline]
    pub fn heard(&mut self, rank: Rank, now: Time) {
        if let Some(watched) = self.watched.get_mut(&rank) {
            watched.heard = now;
        }
    }

    /// When to look.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (!self.watched.is_empty()).then(|| self.looked + self.interval())
    }

    fn interval(&self) -> Duration {
        self.silence / 4
    }

    /// Looks, if it is time. A process that was itself stopped does not hold that against its peers.
    pub fn tick(&mut self, now: Time) -> Findings {
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
            if silent >= self.silence {
                findings.lost.push(rank);
                watched.heard = now;
            } else if silent >= interval {
                findings.ask.push(rank);
            }
        }
        // In the order of ranks, whatever came before: a history replays from its seed.
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

    fn looks(pulse: &mut Pulse, from: u32, to: u32) -> Vec<Rank> {
        (from..to)
            .flat_map(|quarter| pulse.tick(SECOND / 4 * quarter).lost)
            .collect()
    }

    #[test]
    fn a_silent_peer_is_lost_once_and_one_that_answers_is_not() {
        let mut pulse = Pulse::new(SECOND);
        pulse.watch(1, Time::ZERO);
        pulse.watch(2, Time::ZERO);
        assert!(pulse.tick(SECOND / 4).ask.contains(&1));
        assert!(looks(&mut pulse, 2, 4).is_empty());
        pulse.heard(2, SECOND * 3 / 4);
        assert_eq!(looks(&mut pulse, 4, 7), [1]);
    }

    #[test]
    fn after_a_pause_of_its_own_a_process_waits_once_more() {
        let mut pulse = Pulse::new(SECOND);
        pulse.watch(1, Time::ZERO);
        assert!(pulse.tick(SECOND * 60).lost.is_empty());
        assert_eq!(looks(&mut pulse, 241, 246), [1]);
    }

    #[test]
    fn nobody_is_asked_whom_nothing_waits_for() {
        let mut pulse = Pulse::new(SECOND);
        pulse.watch(1, Time::ZERO);
        pulse.watch(1, Time::ZERO);
        pulse.unwatch(1);
        assert!(pulse.deadline().is_some());
        pulse.unwatch(1);
        assert_eq!(pulse.deadline(), None);
    }
}
