//! The state that the threads of one process share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Instant;

use parking_lot::RwLock;
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::multicast::Multicast;
use super::peer::{Peer, WAYS_MAX};
use super::segments::{self, Segments};
use super::wire::{self, BOOTSTRAP, EVERYBODY, Keys, Note};
use crate::message::Message;
use crate::platform::pool::Pool;
use crate::platform::waiting::Bell;
use crate::platform::{Rank, Secret};

pub struct Shared {
    pub socket: UdpSocket,
    pub rank: Rank,
    pub size: u32,
    /// Birth of this process: greater than that of any earlier process of this rank.
    pub birth: u64,
    pub secret: Secret,
    pub keys: Keys,
    /// Bootstrap as the launch info names it, and its address.
    pub bootstrap: String,
    pub bootstrap_at: SocketAddr,
    /// Whether the system cuts runs of datagrams apart.
    pub segments: Segments,
    /// This host's address, as the others reach it.
    pub own: IpAddr,
    pub peers: RwLock<BTreeMap<Rank, Peer>>,
    /// Births of processes that have left. Their earlier datagrams may be overheard and sent again.
    pub left: RwLock<BTreeMap<Rank, u64>>,
    /// The session's multicast group, where there is one.
    pub multicast: Option<Multicast>,
    /// Bell that wakes the inbox.
    pub bell: Bell,
    /// Memory of received long frames.
    pub pool: Pool,
    /// Whether a sleeper sleeps in `socket`, and a datagram to itself wakes it. Then nothing else
    /// is waited for, and such datagrams were seen to arrive.
    pub wakes_itself: bool,
    /// The socket's own address.
    pub here: SocketAddr,
}

/// Flags of sends. They do not go by the C library, whose call would be a cancellation point, which
/// costs locked instructions.
pub const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

thread_local! {
    /// Space in which datagrams are put together.
    static SPACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `act` on that space, or on another one if the thread is about to end and its space is gone.
fn in_space(act: impl FnOnce(&mut Vec<u8>)) {
    let mut act = Some(act);
    let mut run = |space: &mut Vec<u8>| act.take().into_iter().for_each(|act| act(space));
    if SPACE
        .try_with(|space| run(&mut space.borrow_mut()))
        .is_err()
    {
        run(&mut Vec::new());
    }
}

impl Shared {
    /// Wakes the thread that sleeps in the inbox.
    pub fn wake(&self) {
        match self.wakes_itself {
            true => self.bell.ring_by(|| self.put(&[], self.here)),
            false => self.bell.ring(),
        }
    }

    pub fn send_frame(&self, to: Rank, frame: &Message) {
        let peers = self.peers.read();
        let Some(peer) = peers.get(&to) else { return };
        in_space(|datagram| {
            datagram.clear();
            wire::frame(&self.keys, self.rank, to, frame.slices(), datagram);
            let is_put = peers.len() <= WAYS_MAX && peer.put(datagram, self.own);
            if !is_put {
                self.put(datagram, peer.place.address);
            }
        });
    }

    /// Sends several frames at once, as far as they have the length of segments.
    pub fn send_run(&self, to: Rank, frames: &[Message]) {
        let peers = self.peers.read();
        let Some(Peer { place, .. }) = peers.get(&to) else {
            return;
        };
        in_space(|run| {
            run.clear();
            for frame in frames {
                wire::frame(&self.keys, self.rank, to, frame.slices(), run);
                let is_end =
                    run.len() % self.segments.length != 0 || run.len() == self.segments.run();
                if is_end || !self.segments.are() {
                    self.put(run, place.address);
                    run.clear();
                }
            }
            if !run.is_empty() {
                self.put(run, place.address);
            }
        });
    }

    /// Sends a frame to all processes that hear the group.
    pub fn multicast(&self, frame: &Message) {
        let Some(multicast) = &self.multicast else {
            return;
        };
        in_space(|datagram| {
            datagram.clear();
            wire::frame(&self.keys, self.rank, EVERYBODY, frame.slices(), datagram);
            self.put(datagram, multicast.group);
        });
    }

    /// Probes which processes hear the group, if it is time to.
    pub fn probe(&self, now: Instant) {
        let Some(multicast) = &self.multicast else {
            return;
        };
        let mut probing = multicast.probing.lock();
        if probing.due().is_none_or(|due| now < due) {
            return;
        }
        if probing.is_due(now, self.peers.read().keys().copied()) {
            let birth = self.birth;
            let probe = self.sealed(EVERYBODY, &Note::Probe { birth });
            self.put(&probe, multicast.group);
        }
    }

    fn sealed(&self, to: Rank, note: &Note) -> Vec<u8> {
        wire::note(&self.keys, (self.rank, self.here), to, note)
    }

    pub fn note(&self, to: Rank, note: &Note) {
        let address = match to {
            BOOTSTRAP => Some(self.bootstrap_at),
            _ => self.peers.read().get(&to).map(|peer| peer.place.address),
        };
        if let Some(address) = address {
            self.put(&self.sealed(to, note), address);
        }
    }

    pub fn note_to_all(&self, note: &Note) {
        let ranks: Vec<Rank> = self.peers.read().keys().copied().collect();
        let others = ranks.into_iter().filter(|&rank| rank != self.rank);
        others.for_each(|rank| self.note(rank, note));
        self.note(BOOTSTRAP, note);
    }

    /// Sends a datagram, or a run of [`Segments::length`] bytes each, of which the last may be
    /// shorter. A datagram that cannot go out now is lost, as the platform allows.
    fn put(&self, datagrams: &[u8], to: SocketAddr) {
        let is_refused = self.try_put(datagrams, to).is_err_and(segments::is_refusal);
        if is_refused && self.segments.are() {
            self.segments.end(&self.socket);
            for datagram in datagrams.chunks(self.segments.length) {
                let _ = self.try_put(datagram, to);
            }
        }
    }

    fn try_put(&self, datagrams: &[u8], to: SocketAddr) -> Result<usize, Errno> {
        rustix::net::sendto(&self.socket, datagrams, FLAGS, &to)
    }
}
