//! An Ethernet switch with bad cables. A seed determines the faults of each frame.
//!
//! Each path from one port to another has its own random numbers. So the fate of the tenth frame on
//! a path does not depend on other traffic. The system decides when frames arrive, so a seed
//! repeats the faults and not the run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use antiphon_panda_core::Chance;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// The longest frame of Ethernet, with room to spare.
const FRAME: usize = 2048;
/// Frames that a switch keeps; it drops more.
const KEPT: usize = 8192;
/// Frames taken from one port before the next one's turn.
const TURN: usize = 64;
/// Frames that are recorded for replay.
const OVERHEARD: usize = 1024;

/// The faults, in frames of a thousand, and how late frames are.
#[derive(Debug, Clone, Copy)]
pub struct Weather {
    pub seed: u64,
    pub lost: u64,
    pub doubled: u64,
    /// Followed by an earlier frame of this or another path.
    pub replayed: u64,
    /// Overtaken by others.
    pub late: u64,
    pub late_us: u64,
    /// The delay of each frame, at least and at most.
    pub delay_us: (u64, u64),
}

/// A running switch. It stops when this is dropped.
pub struct Switch {
    /// A bit for each port. Frames pass between ports with equal bits.
    sides: Arc<AtomicU64>,
    /// Ports by which no multicast leaves.
    deaf: Arc<AtomicU64>,
    /// Bytes that hosts sent.
    bytes: Arc<AtomicU64>,
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Switch {
    /// Connects cables; each one's place is its port's number.
    pub fn new(cables: Vec<File>, weather: Weather) -> Self {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(eventfd(0, flags).expect("an event"));
        let sides = Arc::new(AtomicU64::new(0));
        let deaf = Arc::new(AtomicU64::new(0));
        let bytes = Arc::new(AtomicU64::new(0));
        let mut work = Work {
            chances: HashMap::new(),
            cables,
            weather,
            sides: sides.clone(),
            deaf: deaf.clone(),
            bytes: bytes.clone(),
            ports: HashMap::new(),
            due: BinaryHeap::new(),
            count: 0,
            overheard: Vec::new(),
            eavesdropper: Chance::new(!weather.seed),
        };
        let stop = bell.clone();
        let thread = std::thread::spawn(move || while work.turn(&stop) {});
        Self {
            sides,
            deaf,
            bytes,
            bell,
            thread: Some(thread),
        }
    }

    /// Cuts these ports off from the others.
    pub fn split(&self, ports: &[usize]) {
        let side = ports.iter().fold(0, |side, port| side | 1 << port);
        self.sides.store(side, SeqCst);
    }

    /// Lets no IP multicast out by these ports, as a switch does that knows no member behind them.
    /// Multicasts of IPv6 neighbour discovery pass.
    pub fn deafen(&self, ports: &[usize]) {
        let deaf = ports.iter().fold(0, |deaf, port| deaf | 1 << port);
        self.deaf.store(deaf, SeqCst);
    }

    /// Returns how many bytes hosts have sent, including those of lost frames.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(SeqCst)
    }

    /// Connects all ports again.
    pub fn heal(&self) {
        self.sides.store(0, SeqCst);
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        let rung = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take().filter(|_| rung.is_ok()) {
            let _ = thread.join();
        }
    }
}

/// When a frame is due, its number, the port that it leaves by, and its bytes.
type Due = Reverse<(Instant, u64, usize, Vec<u8>)>;

struct Work {
    cables: Vec<File>,
    weather: Weather,
    sides: Arc<AtomicU64>,
    deaf: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
    chances: HashMap<(usize, usize), Chance>,
    /// The port of each card, by its address.
    ports: HashMap<[u8; 6], usize>,
    due: BinaryHeap<Due>,
    count: u64,
    overheard: Vec<(usize, Vec<u8>)>,
    eavesdropper: Chance,
}

impl Work {
    /// Waits for frames and for time. Returns false when the switch is to stop.
    fn turn(&mut self, stop: &OwnedFd) -> bool {
        let next = self.due.peek().map(|Reverse((at, ..))| *at);
        let left = next.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = vec![PollFd::new(stop, PollFlags::IN)];
        let cables = self.cables.iter();
        fds.extend(cables.map(|cable| PollFd::new(cable, PollFlags::IN)));
        // A signal only makes this return early.
        let _ = poll(&mut fds, left.as_ref());
        if !fds[0].revents().is_empty() {
            return false;
        }
        let ready: Vec<usize> = (0..self.cables.len())
            .filter(|port| !fds[port + 1].revents().is_empty())
            .collect();
        for port in ready {
            self.take(port);
        }
        self.give();
        true
    }

    fn take(&mut self, from: usize) {
        let mut space = [0; FRAME];
        for _ in 0..TURN {
            let Ok(length) = self.cables[from].read(&mut space) else {
                return;
            };
            self.bytes.fetch_add(length as u64, SeqCst);
            let frame = &space[..length];
            let (Some(to), Some(source)) = (frame.first_chunk::<6>(), frame.get(6..12)) else {
                continue;
            };
            self.ports.insert(source.try_into().expect("six"), from);
            // Broadcasts, multicasts and frames to unknown cards go to all ports.
            let known = self.ports.get(to).filter(|_| to[0] & 1 == 0);
            let ports = known.map_or(0..self.cables.len(), |&port| port..port + 1);
            for to in ports.filter(|&to| to != from) {
                self.carry(from, to, frame);
                self.overhear(to, frame);
            }
        }
    }

    fn carry(&mut self, from: usize, to: usize, frame: &[u8]) {
        let sides = self.sides.load(SeqCst);
        if (sides >> from ^ sides >> to) & 1 == 1 || self.due.len() >= KEPT {
            return;
        }
        if is_multicast(frame) && self.deaf.load(SeqCst) >> to & 1 == 1 {
            return;
        }
        let weather = self.weather;
        let own = weather.seed ^ (from as u64) << 32 ^ (to as u64) << 40;
        let chance = self
            .chances
            .entry((from, to))
            .or_insert_with(|| Chance::new(own));
        if chance.happens(weather.lost) {
            return;
        }
        for _ in 0..1 + u32::from(chance.happens(weather.doubled)) {
            let (least, most) = weather.delay_us;
            let mut us = chance.between(least, most);
            if chance.happens(weather.late) {
                us += chance.between(0, weather.late_us);
            }
            let at = Instant::now() + Duration::from_micros(us);
            self.count += 1;
            self.due.push(Reverse((at, self.count, to, frame.to_vec())));
        }
    }

    fn overhear(&mut self, to: usize, frame: &[u8]) {
        if self.weather.replayed == 0 {
            return;
        }
        let own = (to, frame.to_vec());
        if self.overheard.len() < OVERHEARD {
            self.overheard.push(own);
        } else {
            let at = self.eavesdropper.below(OVERHEARD as u64) as usize;
            self.overheard[at] = own;
        }
        if self.eavesdropper.happens(self.weather.replayed) {
            let at = self.eavesdropper.below(self.overheard.len() as u64) as usize;
            let (to, frame) = self.overheard[at].clone();
            self.count += 1;
            self.due
                .push(Reverse((Instant::now(), self.count, to, frame)));
        }
    }

    fn give(&mut self) {
        let now = Instant::now();
        while self.due.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            if let Some(Reverse((_, _, to, frame))) = self.due.pop() {
                // If the card's queue is full the frame is lost, as with a real card.
                let _ = self.cables[to].write(&frame);
            }
        }
    }
}

/// Returns whether a frame is an IP multicast (RFC 1112). Over IPv6 (RFC 2464) it must be to a
/// group that hosts choose themselves (RFC 3307).
fn is_multicast(frame: &[u8]) -> bool {
    matches!(
        frame,
        [0x01, 0x00, 0x5e, ..] | [0x33, 0x33, 0x80..=0xfe, ..]
    )
}
