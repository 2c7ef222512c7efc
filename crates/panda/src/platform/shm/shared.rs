//! The state that the threads of one process share.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, fence};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::crowd::is_crowded;
use super::memory::{Header, Map, NAME, RANKS, RING, SLOTS_AT, Slot, ring_at, state};
use super::peer::{Left, Outgoing};
use super::ring::{Corrupt, Receiver, Sender};
use super::single_copy::{PeerMemory, mark};
use crate::message::{self, Message};
use crate::platform::linger::Linger;
use crate::platform::pool::Pool;
use crate::platform::{Flow, Rank, Secret};

/// Longest space that is reused, in bytes: two MiB and headers. Longer space gains nothing.
const LONGEST_KEPT: usize = (2 << 20) + 256;

pub struct Shared {
    pub file: File,
    pub common: Map,
    pub rank: Rank,
    pub size: u32,
    pub secret: Secret,
    pub bootstrap: String,
    /// Mark by which peers that read this process's memory know it; its address is fixed.
    pub mark: Box<AtomicU64>,
    /// Space of long frames of all senders.
    pub pool: Pool,
    outgoing: Box<[OnceLock<Box<Outgoing>>]>,
    pub woken: AtomicBool,
    /// Number of peers for which something waits.
    pub backlogs: AtomicIsize,
    /// Peers whose counters are wrong, with the reason, for the inbox to report.
    pub faults: Mutex<Vec<(Rank, Corrupt)>>,
    /// Peers that have room again, for the inbox to report.
    pub rooms: Mutex<Vec<Rank>>,
    /// Peers that this process has given up, which the inbox no longer hears.
    pub cut_off: Mutex<Vec<Rank>>,
    /// Whether any of the three holds something.
    pub has_news: AtomicBool,
}

impl Shared {
    pub fn new(file: File, common: Map, info: &crate::platform::LaunchInfo) -> Self {
        Self {
            file,
            common,
            rank: info.rank,
            size: info.size,
            secret: info.secret,
            bootstrap: info.bootstrap.clone(),
            mark: Box::new(AtomicU64::new(mark(info.secret, info.rank))),
            pool: Pool::up_to(LONGEST_KEPT),
            outgoing: (0..RANKS).map(|_| OnceLock::new()).collect(),
            woken: AtomicBool::new(false),
            backlogs: AtomicIsize::new(0),
            faults: Mutex::default(),
            rooms: Mutex::default(),
            cut_off: Mutex::default(),
            has_news: AtomicBool::new(false),
        }
    }

    pub fn header(&self) -> &Header {
        self.common.view(0)
    }

    pub fn slot(&self, rank: Rank) -> &Slot {
        assert!(rank < RANKS);
        self.common
            .view(SLOTS_AT + rank as usize * size_of::<Slot>())
    }

    /// Returns the name that a process gave itself.
    pub fn name(&self, rank: Rank) -> String {
        let slot = self.slot(rank);
        let words = slot
            .name
            .iter()
            .map(|word| word.load(Relaxed).to_ne_bytes());
        let bytes: Vec<u8> = words.flatten().collect();
        let length = (slot.name_bytes.load(Relaxed) as usize).min(NAME);
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// Allows frames to a peer. Its ring is opened for the first frame.
    pub fn connect(&self, rank: Rank) {
        // A rank is connected once, since it is not given twice.
        let _ = self.outgoing[rank as usize].set(Box::default());
    }

    /// Opens the ring to a peer, for the first frame. The peer finds the ring open before it finds
    /// the frame.
    pub fn open(&self, to: Rank) -> io::Result<Sender> {
        let map = Map::new(self.file.as_fd(), ring_at(self.rank, to), RING)?;
        let openings = &self.slot(to).openings;
        openings.from[self.rank as usize / 64].fetch_or(1 << (self.rank % 64), SeqCst);
        openings.count.fetch_add(1, SeqCst);
        Ok(Sender::new(map))
    }

    /// Returns how many rings to this process have been opened.
    #[inline]
    pub fn openings(&self) -> u32 {
        self.slot(self.rank).openings.count.load(Relaxed)
    }

    /// Returns whether a peer has opened its ring to this process.
    pub fn has_opened(&self, from: Rank) -> bool {
        let word = &self.slot(self.rank).openings.from[from as usize / 64];
        word.load(SeqCst) >> (from % 64) & 1 != 0
    }

    /// Maps the ring from a peer that has opened it.
    pub fn receiver(&self, from: Rank) -> io::Result<Receiver> {
        let slot = self.slot(from);
        let (pid, mark_at) = (slot.pid.load(Relaxed), slot.mark_at.load(Relaxed));
        let peer_memory = PeerMemory::probe(pid, mark_at, mark(self.secret, from));
        let map = Map::new(self.file.as_fd(), ring_at(from, self.rank), RING)?;
        Ok(Receiver::new(map, peer_memory, self.pool.clone()))
    }

    pub fn outgoing(&self, rank: Rank) -> Option<&Outgoing> {
        self.outgoing.get(rank as usize)?.get().map(|way| &**way)
    }

    /// Returns the peers with which this process is connected.
    pub fn connected(&self) -> impl Iterator<Item = (Rank, &Outgoing)> {
        let known = self.header().next_rank.load(Relaxed).min(RANKS);
        (0..known).filter_map(|rank| Some((rank, self.outgoing(rank)?)))
    }

    /// Wakes a process if it sleeps.
    #[inline]
    pub fn ring(&self, rank: Rank) {
        let bell = &self.slot(rank).bell.asleep;
        // Pairs with the fence of a process that goes to sleep. Either it sees what was sent, or
        // this thread sees that it sleeps.
        fence(SeqCst);
        if bell.load(Relaxed) != 0 && bell.swap(0, SeqCst) != 0 {
            super::super::futex::wake(bell, 1);
        }
    }

    /// Tells all processes that slots have changed.
    pub fn announce(&self) {
        let header = self.header();
        header.changes.fetch_add(1, SeqCst);
        super::super::futex::wake(&header.changes, i32::MAX as u32);
        let known = header.next_rank.load(Relaxed).min(RANKS);
        (0..known)
            .filter(|&rank| self.slot(rank).state.load(Acquire) == state::JOINED)
            .for_each(|rank| self.ring(rank));
    }

    pub fn send(&self, to: Rank, frame: Message) -> Flow {
        let Some(outgoing) = self.outgoing(to) else {
            return Flow::Free;
        };
        let may_spin = || !self.is_crowded_with(Some(to));
        let left = outgoing.send(frame, || self.open(to), may_spin, || self.ring(to));
        self.settle(to, outgoing, left)
    }

    /// Sends a frame of two parts, if it fits into a cell that is free.
    pub fn send_parts(&self, to: Rank, header: &message::Header, rest: &Message) -> Option<Flow> {
        let outgoing = self.outgoing(to)?;
        let sent = outgoing.send_parts(header, rest, || self.open(to), || self.ring(to));
        // A fault of the counters is found again, and reported, when the frame is sent as others
        // are.
        sent.ok().flatten()
    }

    /// Sends more of what waits for peers.
    pub fn go_on(&self) {
        for (rank, outgoing) in self.connected() {
            self.go_on_to(rank, outgoing);
        }
    }

    fn go_on_to(&self, rank: Rank, outgoing: &Outgoing) -> Flow {
        let left = outgoing.go_on(|| self.ring(rank));
        self.settle(rank, outgoing, left)
    }

    /// Returns how many KiB of this process's memory peers have yet to read.
    pub fn lent_kib(&self) -> u32 {
        let lent: usize = self.connected().map(|(_, way)| way.lent_bytes()).sum();
        (lent >> 10) as u32
    }

    /// Returns the bytes that wait for peers or are lent to them.
    fn waiting_bytes(&self) -> usize {
        self.connected().map(|(_, way)| way.waiting_bytes()).sum()
    }

    /// Closes the way to a peer that is gone: nothing more is sent to it.
    pub fn close(&self, rank: Rank) {
        if let Some(outgoing) = self.outgoing(rank) {
            self.settle(rank, outgoing, Ok(outgoing.close()));
        }
    }

    /// Gives a peer up: this process sends nothing more to it, and hears nothing more of it.
    pub fn cut_off(&self, rank: Rank) {
        self.close(rank);
        self.cut_off.lock().push(rank);
        self.tell();
    }

    /// Returns whether a spin would keep another process from running.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded_with(None)
    }

    /// Does the same as [`is_crowded`](Self::is_crowded), with a peer that is about to be woken.
    fn is_crowded_with(&self, woken: Option<Rank>) -> bool {
        let own = self.slot(self.rank);
        let processors = std::array::from_fn(|i| own.processors[i].load(Relaxed));
        let peers = self.connected().map(|(rank, _)| self.slot(rank));
        let there = peers.filter(|slot| slot.state.load(Relaxed) == state::JOINED);
        let woken = woken.map(|rank| self.slot(rank));
        is_crowded(processors, there.chain([own]), woken)
    }

    /// Sends what waits and leaves.
    pub fn leave(&self, patience: Duration) {
        let own = &self.slot(self.rank).state;
        if own.load(Relaxed) == state::LEFT {
            return;
        }
        let mut linger = Linger::new(patience, Instant::now());
        while self.backlogs.load(Relaxed) > 0
            && linger.waits(self.waiting_bytes().max(1), Instant::now())
        {
            self.go_on();
            std::thread::sleep(Duration::from_micros(100));
        }
        own.store(state::LEFT, SeqCst);
        self.announce();
    }

    /// Applies the result of a call on the way to a peer.
    pub fn settle(&self, rank: Rank, outgoing: &Outgoing, left: Result<Left, Corrupt>) -> Flow {
        let left = left.unwrap_or_else(|fault| {
            self.faults.lock().push((rank, fault));
            self.tell();
            outgoing.close()
        });
        if left.backlogs != 0 {
            self.backlogs.fetch_add(left.backlogs, Relaxed);
        }
        if left.has_room {
            self.rooms.lock().push(rank);
            self.tell();
        }
        if left.backlogs > 0 {
            // The peer may have made room, and rung, before the driver knew that something waits.
            // So room is looked for once more.
            return self.go_on_to(rank, outgoing);
        }
        left.flow
    }

    fn tell(&self) {
        self.has_news.store(true, Release);
        self.ring(self.rank);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The mark goes before the lent frames do: a peer that reads them later finds no mark
        // behind them.
        self.mark.store(0, SeqCst);
    }
}
