//! To whom sends wait: peers for which much waits here, and ports over there at which much has come that nobody has asked for.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::platform::Rank;

/// Bytes that lie unread at a port before those who send more are held, and to which they must fall before they are let go.
pub const UNREAD_MAX: usize = 4 << 20;
pub const UNREAD_LOW: usize = UNREAD_MAX / 2;
/// Ports whose holding is remembered: no program has as many.
const HELD_MAX: usize = 1 << 16;

/// The sender's side.
#[derive(Default)]
pub struct Rooms {
    /// Of both sets together, so that a send that nothing holds up looks at one word.
    count: AtomicUsize,
    /// How often a peer was found to have room.
    found: AtomicU64,
    sets: Mutex<Sets>,
}

#[derive(Default)]
struct Sets {
    full: HashSet<Rank>,
    held: HashSet<(Rank, u64)>,
}

impl Rooms {
    fn change(&self, act: impl FnOnce(&mut Sets)) {
        let mut sets = self.sets.lock();
        act(&mut sets);
        let count = sets.full.len() + sets.held.len();
        self.count.store(count, Ordering::Release);
    }

    /// How often a peer was found to have room.
    #[inline]
    pub fn found(&self) -> u64 {
        self.found.load(Ordering::Acquire)
    }

    /// Much was found to wait for a peer, unless room was found since [`found`](Self::found) was so many: then that may have been this peer's, and if not it is said again
    /// after the next send.
    pub fn found_full(&self, rank: Rank, found: u64) {
        self.change(|sets| {
            if self.found() == found {
                sets.full.insert(rank);
            }
        });
    }

    /// A peer was found to have room.
    pub fn found_room(&self, rank: Rank) {
        self.change(|sets| {
            self.found.fetch_add(1, Ordering::AcqRel);
            sets.full.remove(&rank);
        });
    }

    /// A peer holds those who send to one of its ports, or lets them go.
    pub fn held(&self, rank: Rank, port: u64, is_held: bool) {
        self.change(|sets| {
            match is_held && sets.held.len() < HELD_MAX {
                true => sets.held.insert((rank, port)),
                false => sets.held.remove(&(rank, port)),
            };
        });
    }

    /// A peer is lost: nothing waits for its room.
    pub fn lost(&self, rank: Rank) {
        self.change(|sets| {
            self.found.fetch_add(1, Ordering::AcqRel);
            sets.full.remove(&rank);
            sets.held.retain(|(holder, _)| *holder != rank);
        });
    }

    /// Whether the way to a peer is free.
    #[inline]
    pub fn is_free(&self, rank: Rank) -> bool {
        self.count.load(Ordering::Acquire) == 0 || !self.sets.lock().full.contains(&rank)
    }

    /// Whether a send to a peer's port goes on at once.
    #[inline]
    pub fn takes_more(&self, rank: Rank, port: u64) -> bool {
        self.count.load(Ordering::Acquire) == 0 || {
            let sets = self.sets.lock();
            !sets.full.contains(&rank) && !sets.held.contains(&(rank, port))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_not_full_whose_room_was_found_meanwhile() {
        let rooms = Rooms::default();
        let before = rooms.found();
        rooms.found_room(1);
        rooms.found_full(1, before);
        assert!(rooms.is_free(1));
        rooms.found_full(1, rooms.found());
        assert!(!rooms.is_free(1) && rooms.is_free(2));
        rooms.found_room(1);
        assert!(rooms.takes_more(1, 7));
    }

    #[test]
    fn who_is_lost_holds_nobody() {
        let rooms = Rooms::default();
        rooms.held(1, 7, true);
        assert!(!rooms.takes_more(1, 7));
        assert!(rooms.takes_more(1, 8) && rooms.takes_more(2, 7) && rooms.is_free(1));
        rooms.lost(1);
        assert!(rooms.takes_more(1, 7));
    }
}
