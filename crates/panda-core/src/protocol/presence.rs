//! The presence of peers, as a program that follows them is told.
//!
//! The events of one peer alternate, whatever protocols and platforms find out, and how often:
//!
//! ```text
//!              Joined                        Left, Lost
//!   unknown ───────────▶ here ─────────────────────────────▶ away
//!                         ▲                                   │
//!                         └───────────────────────────────────┘
//!                          Joined: as another process, or the
//!                          same one is heard of again
//! ```
//!
//! Founders begin here, all others unknown. Nothing is kept of a peer that is as it began.

use std::collections::BTreeMap;

use crate::Rank;

/// An event of a peer, for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerEvent {
    /// The peer is there: it has joined, or it was lost and is heard of again.
    Joined,
    /// The peer has ended its session.
    Left,
    /// The peer is lost for another reason.
    Lost {
        /// How that is known, in words that follow the peer's name.
        why: String,
    },
}

/// An event of a peer, for a registered upcall.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerNews {
    /// The number of the upcall.
    pub follower: u64,
    /// The peer.
    pub rank: Rank,
    /// The event.
    pub event: PeerEvent,
}

/// The state of a peer that is not as it began.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Here,
    Away {
        how: PeerEvent,
        /// Whether the same process may be heard of again.
        may_return: bool,
    },
}

/// All peers of a process.
#[derive(Debug)]
pub struct Presence {
    own: Rank,
    founders: u32,
    states: BTreeMap<Rank, State>,
    /// Number of the current upcall; 0 if the program follows no peers.
    follower: u64,
    news: Vec<PeerNews>,
}

impl Presence {
    /// Returns the peers of a process whose session began with `founders` processes.
    #[must_use]
    pub fn new(own: Rank, founders: u32) -> Self {
        Self {
            own,
            founders,
            states: BTreeMap::new(),
            follower: 0,
            news: Vec::new(),
        }
    }

    /// Directs news to an upcall from now on, beginning with all that is known. Upcalls are
    /// numbered from 1; the last one counts.
    pub fn follow(&mut self, follower: u64) {
        if follower <= self.follower {
            return;
        }
        self.follower = follower;
        let later = self.states.range(self.founders..).map(|(rank, _)| *rank);
        let known = (0..self.founders).chain(later);
        let others: Vec<Rank> = known.filter(|rank| *rank != self.own).collect();
        for rank in others {
            self.tell(rank, PeerEvent::Joined);
            if let Some(State::Away { how, .. }) = self.states.get(&rank) {
                let how = how.clone();
                self.tell(rank, how);
            }
        }
    }

    /// Returns whether an upcall is told.
    #[must_use]
    pub fn is_followed(&self) -> bool {
        self.follower != 0
    }

    /// Notes that a process has joined.
    pub fn joined(&mut self, rank: Rank) {
        if rank != self.own && !self.is_here(rank) {
            self.comes(rank);
        }
    }

    /// Notes that a silent peer is heard of again.
    pub fn back(&mut self, rank: Rank) {
        let state = self.states.get(&rank);
        if matches!(state, Some(State::Away { may_return, .. }) if *may_return) {
            self.comes(rank);
        }
    }

    /// Notes that a peer is away. If that was known, nothing new is reported.
    pub fn gone(&mut self, rank: Rank, how: PeerEvent, may_return: bool) {
        if rank == self.own {
            return;
        }
        match self.states.get_mut(&rank) {
            Some(State::Away {
                may_return: may, ..
            }) => *may &= may_return,
            state => {
                if state.is_none() && rank >= self.founders {
                    self.tell(rank, PeerEvent::Joined);
                }
                self.tell(rank, how.clone());
                self.states.insert(rank, State::Away { how, may_return });
            }
        }
    }

    /// Notes that a peer is not heard any more, though it may live.
    pub fn bar(&mut self, rank: Rank) {
        if let Some(State::Away { may_return, .. }) = self.states.get_mut(&rank) {
            *may_return = false;
        }
    }

    /// Returns whether a peer's silence or end is to be noticed.
    #[must_use]
    pub fn is_watched(&self, rank: Rank) -> bool {
        let is_gone = || {
            let state = self.states.get(&rank);
            matches!(state, Some(State::Away { may_return, .. }) if !may_return)
        };
        let is_known = || self.states.contains_key(&rank) || rank < self.founders;
        self.is_followed() && rank != self.own && is_known() && !is_gone()
    }

    /// Returns the peers that [are watched](Self::is_watched).
    pub fn watched(&self) -> impl Iterator<Item = Rank> {
        let later = self.states.range(self.founders..).map(|(rank, _)| *rank);
        let known = (0..self.founders).chain(later);
        known.filter(|rank| self.is_watched(*rank))
    }

    /// Takes the news in order.
    pub fn news(&mut self) -> std::vec::Drain<'_, PeerNews> {
        self.news.drain(..)
    }

    fn is_here(&self, rank: Rank) -> bool {
        match self.states.get(&rank) {
            Some(state) => *state == State::Here,
            None => rank < self.founders,
        }
    }

    fn comes(&mut self, rank: Rank) {
        match rank < self.founders {
            true => self.states.remove(&rank),
            false => self.states.insert(rank, State::Here),
        };
        self.tell(rank, PeerEvent::Joined);
    }

    fn tell(&mut self, rank: Rank, event: PeerEvent) {
        if self.is_followed() {
            let follower = self.follower;
            self.news.push(PeerNews {
                follower,
                rank,
                event,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: Rank = 0;
    const FOUNDERS: u32 = 3;

    fn lost(why: &str) -> PeerEvent {
        PeerEvent::Lost { why: why.into() }
    }

    fn reported(presence: &mut Presence) -> Vec<(Rank, PeerEvent)> {
        let news = presence.news().map(|news| (news.rank, news.event));
        news.collect()
    }

    #[test]
    fn a_follower_is_first_told_of_all_that_is_known() {
        let mut presence = Presence::new(OWN, FOUNDERS);
        presence.joined(5);
        presence.gone(1, PeerEvent::Left, false);
        presence.gone(4, lost("was never met"), true);
        assert_eq!(reported(&mut presence), [], "nobody follows");
        assert_eq!(presence.watched().count(), 0);
        presence.follow(1);
        let all = [
            (1, PeerEvent::Joined),
            (1, PeerEvent::Left),
            (2, PeerEvent::Joined),
            (4, PeerEvent::Joined),
            (4, lost("was never met")),
            (5, PeerEvent::Joined),
        ];
        assert_eq!(reported(&mut presence), all);
        assert_eq!(presence.watched().collect::<Vec<_>>(), [2, 4, 5]);
        // An earlier one that comes too late is not told.
        presence.follow(1);
        assert_eq!(reported(&mut presence), []);
        presence.follow(2);
        assert!(presence.news().all(|news| news.follower == 2));
    }

    #[test]
    fn each_loss_is_told_once_and_a_return_too() {
        let mut presence = Presence::new(OWN, FOUNDERS);
        presence.follow(1);
        let _ = reported(&mut presence);
        presence.gone(1, lost("is silent"), true);
        presence.gone(1, lost("is silent still"), true);
        assert!(presence.is_watched(1), "it may be heard of");
        presence.back(1);
        presence.back(1);
        presence.joined(1);
        presence.gone(1, lost("is silent"), true);
        // Its end says nothing new, and nothing comes of it any more.
        presence.gone(1, PeerEvent::Left, false);
        assert!(!presence.is_watched(1));
        presence.back(1);
        let events = [lost("is silent"), PeerEvent::Joined, lost("is silent")];
        assert_eq!(reported(&mut presence), events.map(|event| (1, event)));
        // Another process in its place.
        presence.joined(1);
        presence.joined(OWN);
        presence.gone(OWN, PeerEvent::Left, false);
        assert_eq!(reported(&mut presence), [(1, PeerEvent::Joined)]);
        assert!(presence.is_watched(1) && !presence.is_watched(OWN));
    }

    #[test]
    fn who_is_barred_is_not_back_before_another_joins() {
        let mut presence = Presence::new(OWN, FOUNDERS);
        presence.follow(1);
        presence.gone(2, lost("sends too much"), true);
        presence.bar(2);
        let _ = reported(&mut presence);
        presence.back(2);
        assert_eq!(reported(&mut presence), []);
        assert!(!presence.is_watched(2));
        presence.joined(2);
        assert_eq!(reported(&mut presence), [(2, PeerEvent::Joined)]);
    }

    proptest! {
        /// Checks that the events of a peer alternate, and that the last one gives its state. That
        /// holds whatever happens, and whenever the program registers.
        #[test]
        fn events_alternate(
            steps in proptest::collection::vec((0..5_u8, 0..6_u32), 0..80),
            registers in 0..80_usize,
        ) {
            let mut presence = Presence::new(OWN, FOUNDERS);
            let mut events: BTreeMap<Rank, Vec<PeerEvent>> = BTreeMap::new();
            for (at, (step, rank)) in steps.iter().enumerate() {
                if at == registers {
                    presence.follow(1);
                }
                match step {
                    0 => presence.joined(*rank),
                    1 => presence.back(*rank),
                    2 => presence.gone(*rank, PeerEvent::Left, false),
                    3 => presence.gone(*rank, lost("is silent"), true),
                    _ => presence.bar(*rank),
                }
                for news in presence.news() {
                    events.entry(news.rank).or_default().push(news.event);
                }
            }
            for (rank, events) in &events {
                for (at, event) in events.iter().enumerate() {
                    prop_assert_eq!(*event == PeerEvent::Joined, at % 2 == 0, "{:?}", events);
                }
                let is_here = events.last() == Some(&PeerEvent::Joined);
                prop_assert_eq!(is_here, presence.is_here(*rank));
            }
            prop_assert!(!events.contains_key(&OWN));
        }
    }
}
