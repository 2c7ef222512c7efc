//! The simulated network and its effects on frames.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::num::NonZeroU64;
use std::time::Duration;

use super::Chance;
use antiphon_panda_core::message::Message;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::{Rank, Transfer};

/// The simulated platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Frames are lost, doubled and reordered; no process is told of crashes.
    Datagrams,
    /// Like datagrams, but a frame can go to all at once, and some processes do not hear that.
    Multicast,
    /// Frames arrive once and in order, or late if the network is split. A crash closes
    /// connections, which peers notice.
    Streams,
    /// Like streams, and broadcasts have one order.
    Bus,
}

impl Kind {
    /// Returns whether frames may be lost, and peers are not told of crashes.
    #[must_use]
    pub fn is_lossy(self) -> bool {
        matches!(self, Self::Datagrams | Self::Multicast)
    }

    /// Returns the length of the longest frame in bytes.
    #[must_use]
    pub fn largest(self) -> usize {
        match self.is_lossy() {
            true => 1400,
            false => usize::MAX,
        }
    }
}

/// The network's faults.
#[derive(Debug, Clone)]
pub struct Network {
    /// The platform.
    pub kind: Kind,
    /// Frames lost, of a thousand.
    pub loss: u64,
    /// Frames that arrive twice, of a thousand.
    pub double: u64,
    /// Least delay, in microseconds.
    pub delay_us: u64,
    /// Most additional delay, in microseconds.
    pub jitter_us: u64,
    /// Part of the network of each rank. Ranks of different parts do not reach each other.
    parts: HashMap<Rank, u8>,
    /// Arrival time of the last frame from one rank to another.
    last: HashMap<(Rank, Rank), Time>,
    last_broadcast: Time,
    held: Vec<(Rank, Rank, Message)>,
    lost: u64,
    /// Ranks that do not hear frames for all.
    pub deaf: BTreeSet<Rank>,
    /// Bytes a second that a process sends; `None` if a frame of any length takes no time to send.
    bandwidth: Option<NonZeroU64>,
    /// Time when all frames of each process so far have left it.
    departed: HashMap<Rank, Time>,
    /// Bytes from each process to another one, or to all, on streams.
    lines: HashMap<(Rank, Option<Rank>), Line>,
}

/// The bytes from a process to another one, if a send takes time.
#[derive(Debug, Clone, Default)]
struct Line {
    /// Bytes of frames that have completely left.
    gone: u64,
    /// Frames that have not: begin and end of each one's departure, and its bytes.
    under_way: VecDeque<(Time, Time, u64)>,
}

impl Line {
    /// Returns the bytes that have left by now, and those that have not.
    fn at(&mut self, now: Time) -> (u64, u64) {
        let have_left = self.under_way.iter().take_while(|(_, end, _)| *end <= now);
        let count = have_left.count();
        self.gone += (self.under_way.drain(..count).map(|(.., bytes)| bytes)).sum::<u64>();
        let all: u64 = self.under_way.iter().map(|(.., bytes)| bytes).sum();
        let part = self.under_way.front().map_or(0, |&(begin, end, bytes)| {
            let (over, whole) = (now.saturating_sub(begin), end.saturating_sub(begin));
            (u128::from(bytes) * over.as_nanos() / whole.as_nanos().max(1)) as u64
        });
        (self.gone + part, all - part)
    }
}

impl Network {
    /// Makes a network without splits.
    #[must_use]
    pub fn new(kind: Kind, loss: u64, double: u64, delay_us: u64, jitter_us: u64) -> Self {
        Self {
            kind,
            loss,
            double,
            delay_us,
            jitter_us,
            parts: HashMap::new(),
            last: HashMap::new(),
            last_broadcast: Time::ZERO,
            held: Vec::new(),
            lost: 0,
            deaf: BTreeSet::new(),
            bandwidth: None,
            departed: HashMap::new(),
            lines: HashMap::new(),
        }
    }

    /// Limits each process to so many bytes a second.
    ///
    /// A frame takes time by its length, and waits for the process's earlier frames to any
    /// destination. The delay comes on top. Frames to one process from several meet no such limit,
    /// and waiting frames are never dropped. A process is not lost to another while bytes leave
    /// either for the other. While they leave for a third it may be.
    ///
    /// # Panics
    ///
    /// `bytes_per_second` is 0.
    #[must_use]
    pub fn bandwidth(mut self, bytes_per_second: u64) -> Self {
        let bytes = NonZeroU64::new(bytes_per_second);
        self.bandwidth = Some(bytes.expect("a network with a bandwidth carries something"));
        self
    }

    /// Returns when a frame has left its sender, behind the sender's earlier frames.
    pub(super) fn depart(
        &mut self,
        now: Time,
        from: Rank,
        to: Option<Rank>,
        frame: &Message,
    ) -> Time {
        let Some(bandwidth) = self.bandwidth else {
            return now;
        };
        let nanoseconds = frame.len() as u128 * 1_000_000_000 / u128::from(bandwidth.get());
        let takes = Duration::from_nanos(nanoseconds.try_into().unwrap_or(u64::MAX));
        let departed = self.departed.entry(from).or_default();
        let begins = now.max(*departed);
        *departed = begins.saturating_add(takes);
        if !self.kind.is_lossy() {
            let line = self.lines.entry((from, to)).or_default();
            line.at(now);
            line.under_way
                .push_back((begins, *departed, frame.len() as u64));
        }
        *departed
    }

    /// Returns the progress of bytes between a process and a peer, as a platform with streams knows
    /// it. A process's system takes what comes, whatever the process does.
    pub(super) fn transfer(&mut self, now: Time, own: Rank, peer: Rank) -> Transfer {
        let mut along = |from, to| {
            let lines = [Some(to), None].map(|to| {
                let line = self.lines.get_mut(&(from, to));
                line.map_or((0, 0), |line| line.at(now))
            });
            (lines[0].0 + lines[1].0, lines[0].1 + lines[1].1)
        };
        let (came, _) = along(peer, own);
        let (taken, waiting) = along(own, peer);
        Transfer {
            came,
            taken,
            waiting,
        }
    }

    /// Returns whether a send takes time.
    pub(super) fn has_bandwidth(&self) -> bool {
        self.bandwidth.is_some()
    }

    /// Returns whether a frame has not left its sender.
    pub(super) fn is_sending(&self, now: Time) -> bool {
        self.departed.values().any(|departed| *departed > now)
    }

    /// Returns whether frames from one rank to another wait until the network is whole.
    pub(super) fn is_held(&self, from: Rank, to: Rank) -> bool {
        !self.kind.is_lossy() && self.part(from) != self.part(to)
    }

    /// Puts ranks into a part of their own.
    pub fn split(&mut self, part: u8, ranks: &[Rank]) {
        for &rank in ranks {
            self.parts.insert(rank, part);
        }
    }

    /// Puts a rank into another one's part.
    pub(super) fn put_beside(&mut self, rank: Rank, other: Rank) {
        let part = self.part(other);
        self.parts.insert(rank, part);
    }

    /// Makes the network whole, and returns the frames that streams held back, in order.
    pub fn heal(&mut self) -> Vec<(Rank, Rank, Message)> {
        self.parts.clear();
        std::mem::take(&mut self.held)
    }

    /// Returns the number of parts besides the default one.
    pub(super) fn parts(&self) -> u8 {
        self.parts.values().copied().max().unwrap_or(0)
    }

    /// Returns how many frames were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns whether frames of a process wait for the network to be whole.
    pub(crate) fn holds(&self, rank: Rank) -> bool {
        self.held.iter().any(|(from, ..)| *from == rank)
    }

    fn part(&self, rank: Rank) -> u8 {
        self.parts.get(&rank).copied().unwrap_or(0)
    }

    /// Returns when a frame that leaves its sender now arrives: never, once or twice.
    pub fn carry(
        &mut self,
        chance: &mut Chance,
        now: Time,
        from: Rank,
        to: Rank,
        frame: &Message,
    ) -> Vec<Time> {
        let is_cut = self.part(from) != self.part(to);
        let delay = |chance: &mut Chance| {
            Duration::from_micros(self.delay_us + chance.below(self.jitter_us + 1))
        };
        if !self.kind.is_lossy() {
            if is_cut {
                self.held.push((from, to, frame.clone()));
                return Vec::new();
            }
            let at =
                (now + delay(chance)).max(self.last.get(&(from, to)).copied().unwrap_or_default());
            self.last.insert((from, to), at);
            return vec![at];
        }
        let copies = if is_cut || chance.happens(self.loss) {
            0
        } else {
            1 + usize::from(chance.happens(self.double))
        };
        self.lost += u64::from(copies == 0);
        (0..copies).map(|_| now + delay(chance)).collect()
    }

    /// Returns when a broadcast arrives, at all processes.
    pub fn carry_to_all(&mut self, chance: &mut Chance, now: Time) -> Time {
        let delay = Duration::from_micros(self.delay_us + chance.below(self.jitter_us + 1));
        self.last_broadcast = self.last_broadcast.max(now + delay);
        self.last_broadcast
    }

    /// Returns when all notice the begin or end of a process on a bus: after all its earlier
    /// frames.
    pub fn notice_by_all(
        &mut self,
        chance: &mut Chance,
        now: Time,
        who: Rank,
        all: &[Rank],
    ) -> Time {
        let sent = self.last.iter().filter(|((from, _), _)| *from == who);
        let last = sent.map(|(_, at)| *at).max().unwrap_or_default();
        let at = self.carry_to_all(chance, now).max(last);
        self.last_broadcast = at;
        self.last.extend(all.iter().map(|by| ((who, *by), at)));
        at
    }

    /// Returns when a process notices the begin or end of another: after all its earlier frames.
    pub fn notice(&mut self, chance: &mut Chance, now: Time, who: Rank, by: Rank) -> Time {
        let delay = Duration::from_micros(self.delay_us + chance.below(self.jitter_us + 1));
        let at = (now + delay)
            .max(self.last.get(&(who, by)).copied().unwrap_or_default() + Duration::from_micros(1));
        self.last.insert((who, by), at);
        at
    }

    /// Forgets frames held for and by a crashed process.
    pub fn forget(&mut self, rank: Rank) {
        self.held
            .retain(|(from, to, _)| *from != rank && *to != rank);
    }
}
