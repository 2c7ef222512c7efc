//! The medium between simulated processes: the network, its clock, the living processes, and
//! messages under way.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use super::events::Events;
use super::{Chance, Kind, Network};
use antiphon_panda_core::Rank;
use antiphon_panda_core::message::{DecodeError, Message};
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::{Action, Stack, Time};

/// Time at which a simulation begins; it is not zero, so that there are times before it.
pub const START: Time = Duration::from_secs(1);
/// Number of times that a leaving process says so over datagrams: one of them may arrive.
const LEAVES: usize = 3;

/// The end of a process, as others find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It has ended its session, and says so.
    Left,
    /// It has crashed, and its system says so.
    Crashed,
}

/// A thing under way to processes.
#[derive(Debug, Clone)]
pub enum Travel {
    Frame {
        from: Rank,
        to: Rank,
        /// Life to which it is connected, on a stream.
        life: Option<usize>,
        frame: Message,
    },
    /// A frame for all, in one order.
    Broadcast { from: Rank, frame: Message },
    /// A frame for several, as it comes to one of them.
    Multicast {
        from: Rank,
        to: Rank,
        frame: Message,
    },
    /// A process learns that another hears its frames for all.
    Hears { rank: Rank, by: Rank },
    /// A process's life `reported` learns that another has ended.
    Gone {
        rank: Rank,
        by: Rank,
        reported: usize,
        ending: Ending,
    },
    /// A process's life `reported` learns that another lives again.
    Back {
        rank: Rank,
        life: usize,
        by: Rank,
        reported: usize,
    },
}

impl Travel {
    /// Returns its destination; `None` if it is for all.
    pub fn to(&self) -> Option<Rank> {
        match self {
            Self::Frame { to, .. } | Self::Multicast { to, .. } => Some(*to),
            Self::Hears { by, .. } | Self::Gone { by, .. } | Self::Back { by, .. } => Some(*by),
            Self::Broadcast { .. } => None,
        }
    }

    /// Returns the bytes of the frame, if it is one.
    pub fn frame_bytes(&self) -> usize {
        match self {
            Self::Frame { frame, .. }
            | Self::Broadcast { frame, .. }
            | Self::Multicast { frame, .. } => frame.len(),
            Self::Hears { .. } | Self::Gone { .. } | Self::Back { .. } => 0,
        }
    }

    /// Delivers it to a process's protocols.
    ///
    /// # Errors
    ///
    /// They cannot read it.
    pub fn reach<L: Links, O: Order>(
        self,
        stack: &mut Stack<L, O>,
        now: Time,
    ) -> Result<(), DecodeError> {
        match self {
            Self::Frame { from, frame, .. } => return stack.frame(now, from, frame),
            Self::Broadcast { from, frame } => return stack.broadcast(now, from, frame),
            Self::Multicast { from, frame, .. } => return stack.multicast(now, from, frame),
            Self::Hears { rank, .. } => stack.hears(rank, true),
            Self::Gone { rank, ending, .. } => match ending {
                Ending::Left => stack.left(now, rank, "ended its session"),
                Ending::Crashed => stack.lost(now, rank, true, "closed its connection"),
            },
            Self::Back { rank, .. } => stack.joined(now, rank),
        }
        Ok(())
    }
}

impl Hash for Travel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        self.to().hash(state);
        match self {
            Self::Frame { from, frame, .. }
            | Self::Broadcast { from, frame }
            | Self::Multicast { from, frame, .. } => {
                from.hash(state);
                // The digest does not depend on the pieces.
                frame.slices().for_each(|piece| state.write(piece));
            }
            Self::Hears { rank, .. } | Self::Gone { rank, .. } | Self::Back { rank, .. } => {
                rank.hash(state);
            }
        }
    }
}

/// The space between processes. `W` is the type of all events in time.
pub struct Medium<W> {
    /// Present time.
    pub now: Time,
    /// Source of chance.
    pub chance: Chance,
    /// The network.
    pub network: Network,
    /// Frames that were sent, and their bytes.
    pub frames: u64,
    /// See [`frames`](Self::frames).
    pub bytes: u64,
    /// Number of frames that each process sent.
    pub sent_by: Vec<u64>,
    events: Events<W>,
    /// Life of each rank; `None` if it is dead.
    lives: Vec<Option<usize>>,
    /// Life of the second rank to which the first is connected, unless both are in their first.
    connected: HashMap<(Rank, Rank), usize>,
}

impl<W: From<Travel>> Medium<W> {
    /// Makes a medium between `size` ranks, of which none lives yet.
    pub fn new(size: u32, network: Network, chance: Chance) -> Self {
        Self {
            now: START,
            chance,
            network,
            frames: 0,
            bytes: 0,
            sent_by: vec![0; size as usize],
            events: Events::default(),
            lives: vec![None; size as usize],
            connected: HashMap::new(),
        }
    }

    /// Adds an event at a time.
    pub fn add(&mut self, at: Time, what: W) {
        self.events.add(at, what);
    }

    fn send(&mut self, at: Time, travel: Travel) {
        self.events.add(at, travel.into());
    }

    /// Takes the next event up to a moment, and moves the time there.
    pub fn next(&mut self, until: Time) -> Option<W> {
        let (at, what) = self.events.next(until)?;
        self.now = at;
        Some(what)
    }

    /// Returns whether no event is to come.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the ranks that live.
    pub fn living(&self) -> Vec<Rank> {
        let lives = self.lives.iter().zip(0..);
        lives
            .filter_map(|(life, rank)| life.map(|_| rank))
            .collect()
    }

    /// Returns whether a rank lives.
    pub fn lives(&self, rank: Rank) -> bool {
        self.lives[rank as usize].is_some()
    }

    /// Returns the life of a rank; if it is dead, a life that does not exist.
    pub fn life_of(&self, rank: Rank) -> usize {
        self.lives[rank as usize].unwrap_or(usize::MAX)
    }

    /// Returns the life of a rank to which another is connected, on streams.
    pub fn connected_to(&self, from: Rank, to: Rank) -> usize {
        let known = self.connected.get(&(from, to)).copied();
        // Founders' lives have the numbers of their ranks.
        known.unwrap_or(to as usize)
    }

    /// Starts a process. Returns when the last of the others learns of it, if it comes later and
    /// the platform tells them.
    pub fn start(&mut self, rank: Rank, life: usize, is_founder: bool) -> Time {
        let room = self.lives.len().max(rank as usize + 1);
        self.lives.resize(room, None);
        self.sent_by.resize(room, 0);
        self.lives[rank as usize] = Some(life);
        if self.network.kind == Kind::Multicast {
            self.meet(rank);
        }
        let mut known = self.now;
        if self.network.kind.is_lossy() || is_founder {
            return known;
        }
        let noticed = self.notice(rank);
        for (by, at) in noticed {
            self.connected.insert((rank, by), self.life_of(by));
            self.tell_life(at, (rank, by));
            known = known.max(at);
        }
        self.finds_living(rank, known);
        self.finds_dead(rank, known);
        known
    }

    /// Sends one process's knock to another, over datagrams.
    pub fn knock(&mut self, rank: Rank, by: Rank) {
        let (network, chance) = (&mut self.network, &mut self.chance);
        let words = network.carry(chance, self.now, rank, by, &Message::new());
        if let Some(at) = words.into_iter().min() {
            self.tell_life(at, (rank, by));
        }
    }

    /// Tells a later process on a bus which processes live, from its place in the order on.
    fn finds_living(&mut self, by: Rank, known: Time) {
        let is_bus = self.network.kind == Kind::Bus;
        let others = self.living().into_iter().filter(|rank| *rank != by);
        for rank in others.filter(|_| is_bus) {
            self.tell_life(known, (rank, by));
        }
    }

    /// Tells a later process which processes have crashed, as a refused connection does. On a bus
    /// that has a place in the order, as with the others.
    fn finds_dead(&mut self, by: Rank, known: Time) {
        let at = match self.network.kind {
            Kind::Bus => known,
            _ => self.now + Duration::from_micros(self.network.delay_us),
        };
        for rank in 0..self.lives.len() as Rank {
            if self.lives[rank as usize].is_none() {
                self.tell(at, (rank, by), Ending::Crashed);
            }
        }
    }

    /// Tells a process at a time that another lives.
    fn tell_life(&mut self, at: Time, (rank, by): (Rank, Rank)) {
        let (life, reported) = (self.life_of(rank), self.life_of(by));
        let back = Travel::Back {
            rank,
            life,
            by,
            reported,
        };
        self.send(at, back);
    }

    /// Tells a process at a time that another has ended.
    fn tell(&mut self, at: Time, (rank, by): (Rank, Rank), ending: Ending) {
        let reported = self.life_of(by);
        let gone = Travel::Gone {
            rank,
            by,
            reported,
            ending,
        };
        self.send(at, gone);
    }

    /// Lets a process and the others find out, at some time, which ones hear which.
    fn meet(&mut self, rank: Rank) {
        for by in self.living().into_iter().filter(|by| *by != rank) {
            self.ask_whether_hears(rank, by);
            self.ask_whether_hears(by, rank);
        }
    }

    /// Lets a process ask, by a frame for all, whether another hears it. The answer may be out of
    /// date when it comes.
    fn ask_whether_hears(&mut self, rank: Rank, by: Rank) {
        if !self.network.deaf.contains(&rank) {
            let late = Duration::from_micros(self.chance.below(100_000));
            self.send(self.now + late, Travel::Hears { rank, by });
        }
    }

    /// Ends a process, as by kill -9. Frames held for it and by it are gone. Peers with broken
    /// connections find out.
    pub fn crash(&mut self, rank: Rank) {
        self.network.forget(rank);
        if self.bury(rank) && !self.network.kind.is_lossy() {
            self.tell_end(rank, Ending::Crashed);
        }
    }

    /// Ends a process that says so: over datagrams, which may be lost, several times.
    pub fn leave(&mut self, rank: Rank) {
        self.network.forget(rank);
        match self.bury(rank) {
            false => {}
            true if self.network.kind.is_lossy() => self.linger(rank),
            true => self.tell_end(rank, Ending::Left),
        }
    }

    fn linger(&mut self, rank: Rank) {
        let word = Message::new();
        // The word leaves behind earlier frames.
        let departed = self.network.depart(self.now, rank, None, &word);
        for by in self.living() {
            let (network, chance) = (&mut self.network, &mut self.chance);
            let words = (0..LEAVES).map(|_| network.carry(chance, departed, rank, by, &word));
            // Words after the first to arrive are no news.
            if let Some(at) = words.flatten().min() {
                self.tell(at, (rank, by), Ending::Left);
            }
        }
    }

    /// Marks a process dead, and returns whether it lived.
    fn bury(&mut self, rank: Rank) -> bool {
        self.lives[rank as usize].take().is_some()
    }

    /// Closes the connections of a process.
    fn tell_end(&mut self, rank: Rank, ending: Ending) {
        for (by, at) in self.notice(rank) {
            self.tell(at, (rank, by), ending);
        }
    }

    /// Returns when living processes notice that a process has come or ended. On a bus all notice
    /// at once, in one order with broadcasts.
    fn notice(&mut self, rank: Rank) -> Vec<(Rank, Time)> {
        let (living, now) = (self.living(), self.now);
        let (network, chance) = (&mut self.network, &mut self.chance);
        if network.kind == Kind::Bus {
            let at = network.notice_by_all(chance, now, rank, &living);
            return living.into_iter().map(|by| (by, at)).collect();
        }
        let each = living.into_iter();
        let notice = |by| (by, network.notice(chance, now, rank, by));
        each.map(notice).collect()
    }

    /// Makes the network whole.
    pub fn heal(&mut self) {
        for (from, to, frame) in self.network.heal() {
            self.carry(from, to, frame);
        }
    }

    /// Returns whether a message for one process finds it: in the life that it is for, or in any if
    /// it is for none.
    pub fn finds(&mut self, travel: &Travel) -> bool {
        match travel {
            Travel::Frame { to, life, .. } => {
                let own = self.lives[*to as usize];
                own.is_some() && life.is_none_or(|life| Some(life) == own)
            }
            Travel::Multicast { to, .. } => self.lives[*to as usize].is_some(),
            Travel::Hears { by, .. } => self.lives[*by as usize].is_some(),
            Travel::Gone { by, reported, .. } => self.life_of(*by) == *reported,
            Travel::Back {
                rank,
                life,
                by,
                reported,
            } => {
                let is_same = self.life_of(*by) == *reported;
                if is_same {
                    self.connected.insert((*by, *rank), *life);
                }
                is_same
            }
            Travel::Broadcast { .. } => false,
        }
    }

    /// Performs an action of a process's protocols on the network, and returns it if it is for the
    /// process itself.
    pub fn perform(&mut self, rank: Rank, action: Action) -> Option<Action> {
        match action {
            Action::Send(to, frame) => self.carry(rank, to, frame),
            Action::SendRun(to, frames) => {
                (frames.into_iter()).for_each(|frame| self.carry(rank, to, frame));
            }
            Action::Broadcast(frame) => {
                self.frames += 1;
                let departed = self.network.depart(self.now, rank, None, &frame);
                let at = self.network.carry_to_all(&mut self.chance, departed);
                self.send(at, Travel::Broadcast { from: rank, frame });
            }
            Action::Multicast(frame) => self.carry_multicast(rank, &frame),
            Action::Deaf(peer) => self.ask_whether_hears(peer, rank),
            own => return Some(own),
        }
        None
    }

    fn count(&mut self, from: Rank, frame: &Message) {
        self.frames += 1;
        self.bytes += frame.len() as u64;
        self.sent_by[from as usize] += 1;
    }

    /// Carries one frame, which each hearing process gets or misses by itself.
    fn carry_multicast(&mut self, from: Rank, frame: &Message) {
        self.count(from, frame);
        let departed = self.network.depart(self.now, from, None, frame);
        for to in self.living() {
            if to == from || self.network.deaf.contains(&to) {
                continue;
            }
            let (network, chance) = (&mut self.network, &mut self.chance);
            for at in network.carry(chance, departed, from, to, frame) {
                let frame = frame.clone();
                self.send(at, Travel::Multicast { from, to, frame });
            }
        }
    }

    fn carry(&mut self, from: Rank, to: Rank, frame: Message) {
        self.count(from, &frame);
        if to as usize >= self.lives.len() {
            return;
        }
        let life = (!self.network.kind.is_lossy()).then(|| self.connected_to(from, to));
        let (network, chance) = (&mut self.network, &mut self.chance);
        let departed = match network.is_held(from, to) {
            true => self.now,
            false => network.depart(self.now, from, Some(to), &frame),
        };
        for at in network.carry(chance, departed, from, to, &frame) {
            let frame = frame.clone();
            let travel = Travel::Frame {
                from,
                to,
                life,
                frame,
            };
            self.send(at, travel);
        }
    }
}

/// The time of the next tick of a process's protocols.
#[derive(Debug, Default)]
pub struct Timer(Option<Time>);

impl Timer {
    /// Follows the protocols' deadline. Returns a time to ring, if that is sooner than before.
    pub fn follow(&mut self, deadline: Option<Time>, now: Time) -> Option<Time> {
        let next = deadline.map(|at| at.max(now + Duration::from_micros(1)));
        let sooner = next.filter(|at| self.0.is_none_or(|set| *at < set));
        self.0 = sooner.or(self.0);
        sooner
    }

    /// Returns whether a ring is still meant now.
    pub fn rings(&mut self, now: Time) -> bool {
        let rings = self.0.is_some_and(|set| set <= now);
        if rings {
            self.0 = None;
        }
        rings
    }
}
