//! Flow control: peers and remote ports to which sends wait.
//!
//! A send waits for a peer for which much is kept here, and for a remote port with much unread.
//! Upcalls and replies never wait. So only memory bounds what is kept for a process that takes
//! nothing, as it bounds unread messages ([`mailbox`](super::mailbox)). A program may set a bound
//! for all peers together. Beyond it, the peer for which most waits is given up.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::memory;
use crate::platform::Rank;

/// Unread bytes of a port at which its senders are held. They are released when the bytes fall to
/// `UNREAD_LOW`.
pub const UNREAD_MAX: usize = 4 << 20;
pub const UNREAD_LOW: usize = UNREAD_MAX / 2;
/// Most held ports that are remembered: no program has as many.
const HELD_MAX: usize = 1 << 16;

/// A peer for which too much waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untaken {
    pub to: Rank,
    /// Bytes that wait for it.
    pub bytes: usize,
    /// Bound on the bytes that wait for all peers together.
    pub most: usize,
}

impl Untaken {
    /// Returns the reason, in words that follow the peer's name.
    pub fn why(&self) -> String {
        format!(
            "does not take the {} bytes that wait for it here: more than the {} that may wait for all together (Session::limit_untaken). Nothing more is sent to it",
            self.bytes, self.most
        )
    }
}

/// The sender's side of flow control.
pub struct FlowControl {
    /// Number of entries in both sets together, so that a send that nothing holds up looks at one
    /// word.
    count: AtomicUsize,
    /// Number of times that a peer was found to have room.
    found: AtomicU64,
    sets: Mutex<Sets>,
    /// Bound on the bytes that wait for all peers together.
    most: AtomicUsize,
    /// Whether more bytes may wait than the bound.
    is_too_much: AtomicBool,
}

#[derive(Default)]
struct Sets {
    /// Full peers, each with the bytes that waited before its last message.
    full: HashMap<Rank, usize>,
    held: HashSet<(Rank, u64)>,
}

impl Default for FlowControl {
    fn default() -> Self {
        Self {
            count: AtomicUsize::new(0),
            found: AtomicU64::new(0),
            sets: Mutex::default(),
            // Half of the memory, as for unread messages.
            most: AtomicUsize::new(memory::usable() / 2),
            is_too_much: AtomicBool::new(false),
        }
    }
}

impl FlowControl {
    fn change(&self, act: impl FnOnce(&mut Sets)) {
        let mut sets = self.sets.lock();
        act(&mut sets);
        let count = sets.full.len() + sets.held.len();
        self.count.store(count, Ordering::Release);
    }

    /// Returns how often a peer was found to have room.
    #[inline]
    pub fn found(&self) -> u64 {
        self.found.load(Ordering::Acquire)
    }

    /// Sets how many bytes may wait for all peers together.
    pub fn limit(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Notes that `bytes` wait for a peer, not counting its last message, which may have any
    /// length.
    ///
    /// This does nothing if room was found since [`found`](Self::found) returned `found`: it may
    /// have been this peer's. If it was not, the next send reports the peer again.
    pub fn found_full(&self, rank: Rank, found: u64, bytes: usize) {
        self.change(|sets| {
            if self.found() == found {
                sets.full.insert(rank, bytes);
            }
            if sets.waiting() > self.most.load(Ordering::Relaxed) {
                self.is_too_much.store(true, Ordering::Release);
            }
        });
    }

    /// Returns whether more bytes may wait than the bound.
    #[inline]
    pub fn is_too_much(&self) -> bool {
        self.is_too_much.load(Ordering::Acquire)
    }

    /// Returns the peer for which most bytes wait, if all together exceed the bound. For each peer,
    /// fewer bytes may wait than when it was found full.
    pub fn foremost(&self, untaken: impl Fn(Rank) -> usize) -> Option<Untaken> {
        let mut sets = self.sets.lock();
        self.is_too_much.store(false, Ordering::Release);
        for (rank, bytes) in &mut sets.full {
            *bytes = untaken(*rank).min(*bytes);
        }
        let most = self.most.load(Ordering::Relaxed);
        if sets.waiting() <= most {
            return None;
        }
        let (&to, &bytes) = sets.full.iter().max_by_key(|(_, bytes)| **bytes)?;
        Some(Untaken { to, bytes, most })
    }

    /// Notes that a peer has room.
    pub fn found_room(&self, rank: Rank) {
        self.change(|sets| {
            self.found.fetch_add(1, Ordering::AcqRel);
            sets.full.remove(&rank);
        });
    }

    /// Notes that a peer holds the senders of one of its ports, or releases them.
    pub fn held(&self, rank: Rank, port: u64, is_held: bool) {
        self.change(|sets| {
            match is_held && sets.held.len() < HELD_MAX {
                true => sets.held.insert((rank, port)),
                false => sets.held.remove(&(rank, port)),
            };
        });
    }

    /// Notes that a peer is lost: no send waits for its room.
    pub fn lost(&self, rank: Rank) {
        self.change(|sets| {
            self.found.fetch_add(1, Ordering::AcqRel);
            sets.full.remove(&rank);
            sets.held.retain(|(holder, _)| *holder != rank);
        });
    }

    /// Returns whether the way to a peer is free.
    #[inline]
    pub fn is_free(&self, rank: Rank) -> bool {
        self.count.load(Ordering::Acquire) == 0 || !self.sets.lock().full.contains_key(&rank)
    }

    /// Returns whether a send to a peer's port goes on at once.
    #[inline]
    pub fn takes_more(&self, rank: Rank, port: u64) -> bool {
        self.count.load(Ordering::Acquire) == 0 || {
            let sets = self.sets.lock();
            !sets.full.contains_key(&rank) && !sets.held.contains(&(rank, port))
        }
    }
}

impl Sets {
    /// Returns the bytes that wait for all peers.
    fn waiting(&self) -> usize {
        self.full
            .values()
            .fold(0, |all, own| all.saturating_add(*own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_not_full_whose_room_was_found_meanwhile() {
        let flow_control = FlowControl::default();
        let before = flow_control.found();
        flow_control.found_room(1);
        flow_control.found_full(1, before, 0);
        assert!(flow_control.is_free(1));
        flow_control.found_full(1, flow_control.found(), 0);
        assert!(!flow_control.is_free(1) && flow_control.is_free(2));
        flow_control.found_room(1);
        assert!(flow_control.takes_more(1, 7));
    }

    #[test]
    fn who_takes_least_is_given_up_when_too_much_waits_for_all() {
        let flow_control = FlowControl::default();
        flow_control.limit(100);
        flow_control.found_full(1, flow_control.found(), 60);
        assert!(!flow_control.is_too_much());
        flow_control.found_full(2, flow_control.found(), 50);
        assert!(flow_control.is_too_much());
        // The first peer has taken some bytes since.
        let untaken = |rank| if rank == 1 { 40 } else { 70 };
        assert_eq!(flow_control.foremost(untaken), None);
        assert!(!flow_control.is_too_much());
        flow_control.found_full(2, flow_control.found(), 61);
        let foremost = flow_control.foremost(untaken).expect("101 bytes wait");
        assert_eq!((foremost.to, foremost.bytes, foremost.most), (2, 61, 100));
        flow_control.lost(2);
        assert_eq!(flow_control.foremost(untaken), None);
    }

    #[test]
    fn who_is_lost_holds_nobody() {
        let flow_control = FlowControl::default();
        flow_control.held(1, 7, true);
        assert!(!flow_control.takes_more(1, 7));
        assert!(
            flow_control.takes_more(1, 8)
                && flow_control.takes_more(2, 7)
                && flow_control.is_free(1)
        );
        flow_control.lost(1);
        assert!(flow_control.takes_more(1, 7));
    }
}
