//! Processes over a simulated network, and the events that are to come.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;

use super::events::Events;
use super::history::{History, Life, Membership};
use super::{Chance, Kind, Network};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::fault::Fault;
use crate::protocol::group::{Member, Myself, Order};
use crate::protocol::link::Links;
use crate::protocol::requests::{Failure, RequestId};
use crate::protocol::{Action, Stack, Time};

mod circle;
mod ports;
mod program;
mod run;

use circle::Seat;
pub use ports::Letter;

/// The group that everybody joins.
pub const GROUP: u64 = 7;
/// The service that everybody serves.
const SERVICE: u64 = 8;
/// The port at which everybody receives.
const PORT: u64 = 9;
/// Silence after which a peer is taken for lost.
pub const SILENCE: Duration = Duration::from_millis(400);
/// The longest frame of datagrams.
const LARGEST: usize = 1400;
/// How long a call may take at most: both the deadline and silence end it.
pub const CALL_LIMIT: Duration = Duration::from_millis(1500);
/// How long a synchronous send without a deadline may take: behind what its link has to send again, or until silence ends it.
pub const RECEIPT_LIMIT: Duration = Duration::from_secs(5);
/// How long a collective operation may take after all have begun it.
pub const COLLECT_LIMIT: Duration = Duration::from_secs(5);

/// A simulated session.
pub struct World<L: Links, O> {
    /// The time.
    pub now: Time,
    /// What happens at random.
    pub chance: Chance,
    /// The network.
    pub network: Network,
    /// What programs saw.
    pub history: History,
    /// Frames that were carried, and their bytes.
    pub frames: u64,
    /// See [`frames`](Self::frames).
    pub bytes: u64,
    /// Messages of the group that were handed over, at all processes.
    pub delivered: u64,
    /// What collective operations came to, each with the process.
    pub collected: Vec<(Rank, Result<Vec<Bytes>, Failure>)>,
    /// Frames that each process sent.
    pub sent_by: Vec<u64>,
    /// Whether views and losses are printed.
    pub tells: bool,
    size: u32,
    silence: Duration,
    nodes: Vec<Option<Node<L, O>>>,
    events: Events<What>,
    fault: Fault,
    /// Which life of a rank, the second, another is connected to, unless both are in their first.
    connected: HashMap<(Rank, Rank), usize>,
    /// Collective operations under way that circles follow, by the life and its number for it.
    seats: HashMap<(usize, RequestId), Seat>,
    todo: VecDeque<(Rank, usize, Action)>,
    is_busy: bool,
}

struct Node<L: Links, O> {
    stack: Stack<L, O>,
    life: usize,
    timer: Option<Time>,
}

enum What {
    Frame {
        from: Rank,
        to: Rank,
        life: Option<usize>,
        frame: Message,
    },
    Multicast {
        from: Rank,
        frame: Message,
    },
    Together {
        from: Rank,
        to: Rank,
        frame: Message,
    },
    /// A process learns that another hears what it sends to all.
    Hears {
        rank: Rank,
        by: Rank,
    },
    Timer {
        rank: Rank,
        life: usize,
    },
    /// A process calls the next collective operation.
    Turn(Seat),
    Gone {
        rank: Rank,
        by: Rank,
        told: usize,
    },
    Back {
        rank: Rank,
        life: usize,
        by: Rank,
        told: usize,
    },
}

impl<L: Links, O: Order> World<L, O> {
    /// A session of `size` processes.
    #[must_use]
    pub fn new(size: u32, network: Network, chance: Chance) -> Self {
        Self::with_silence(size, network, chance, SILENCE)
    }

    /// The same, with another silence after which a peer is taken for lost.
    #[must_use]
    pub fn with_silence(size: u32, network: Network, chance: Chance, silence: Duration) -> Self {
        Self::with_fault(size, network, chance, silence, Fault::default())
    }

    /// The same, with a fault in each process's protocols.
    #[must_use]
    pub(super) fn with_fault(
        size: u32,
        network: Network,
        chance: Chance,
        silence: Duration,
        fault: Fault,
    ) -> Self {
        let mut world = Self {
            now: Duration::from_secs(1),
            chance,
            network,
            history: History::default(),
            frames: 0,
            bytes: 0,
            delivered: 0,
            collected: Vec::new(),
            sent_by: vec![0; size as usize],
            tells: false,
            size,
            silence,
            nodes: (0..size).map(|_| None).collect(),
            events: Events::default(),
            fault,
            connected: HashMap::new(),
            seats: HashMap::new(),
            todo: VecDeque::new(),
            is_busy: false,
        };
        for rank in 0..size {
            world.start(rank, true);
        }
        world
    }

    /// The ranks that live.
    pub fn living(&self) -> Vec<Rank> {
        (0..self.size)
            .filter(|rank| self.nodes[*rank as usize].is_some())
            .collect()
    }

    /// Starts a process.
    pub fn start(&mut self, rank: Rank, is_founder: bool) {
        let life = self.history.lives.len();
        self.history.lives.push(Life {
            rank,
            memberships: Vec::new(),
            calls: Default::default(),
            executed: Vec::new(),
            posted: Vec::new(),
            taken: Vec::new(),
            losses: Vec::new(),
            is_over: false,
        });
        let myself = Myself {
            rank,
            size: self.size,
            is_founder,
            birth: life as u64 + 1,
            silence: self.silence,
        };
        let largest = if self.network.kind.is_lossy() {
            LARGEST
        } else {
            usize::MAX
        };
        let stack = Stack::new(myself, largest).with(self.fault, self.now, GROUP);
        self.nodes[rank as usize] = Some(Node {
            stack,
            life,
            timer: None,
        });
        if self.network.kind == Kind::Multicast {
            self.meet(rank);
        }
        if self.network.kind.is_lossy() || is_founder {
            return;
        }
        for by in self.living() {
            if let Some(other) = self.nodes[by as usize].as_ref() {
                self.connected.insert((rank, by), other.life);
            }
            let at = self.network.notice(&mut self.chance, self.now, rank, by);
            let told = self.life_of(by);
            let back = What::Back {
                rank,
                life,
                by,
                told,
            };
            self.events.add(at, back);
        }
        self.finds_dead(rank, life);
    }

    /// Who starts later finds nobody where a process has crashed, as a connection is refused there.
    fn finds_dead(&mut self, by: Rank, told: usize) {
        let at = self.now + Duration::from_micros(self.network.delay_us);
        for rank in (0..self.size).filter(|rank| self.nodes[*rank as usize].is_none()) {
            self.events.add(at, What::Gone { rank, by, told });
        }
    }

    /// A process and the others find out, some time, who hears whom.
    fn meet(&mut self, rank: Rank) {
        for by in self.living().into_iter().filter(|by| *by != rank) {
            self.ask_whether_hears(rank, by);
            self.ask_whether_hears(by, rank);
        }
    }

    /// A process asks, by what it sends to all, whether another hears it. What it learns may be out of date by then.
    fn ask_whether_hears(&mut self, rank: Rank, by: Rank) {
        if !self.network.deaf.contains(&rank) {
            let late = Duration::from_micros(self.chance.below(100_000));
            self.events.add(self.now + late, What::Hears { rank, by });
        }
    }

    /// Ends a process, as kill -9 does.
    pub fn crash(&mut self, rank: Rank) {
        let Some(node) = self.nodes[rank as usize].take() else {
            return;
        };
        self.history.lives[node.life].is_over = true;
        self.network.forget(rank);
        if self.network.kind.is_lossy() {
            return;
        }
        let in_order = self.network.carry_to_all(&mut self.chance, self.now);
        for by in self.living() {
            let at = match self.network.kind {
                Kind::Bus => in_order,
                _ => self.network.notice(&mut self.chance, self.now, rank, by),
            };
            let told = self.life_of(by);
            self.events.add(at, What::Gone { rank, by, told });
        }
    }

    /// Makes the network whole.
    pub fn heal(&mut self) {
        for (from, to, frame) in self.network.heal() {
            self.carry(from, to, frame);
        }
    }

    /// Whether a majority of the last view that was decided still lives. A view may be decided and its members crash before any of them was told.
    pub fn has_majority(&mut self) -> bool {
        let now = self.now;
        let views = self.nodes.iter_mut().flatten().filter_map(|node| {
            node.stack
                .group(now, GROUP, |group, _, _| group.last_decided().cloned())
        });
        let Some(view) = views.max_by_key(|view| view.number) else {
            return true;
        };
        // Here a process's birth is the number of its life, counted from 1.
        let lives = |member: &&Member| self.life_of(member.rank) as u64 == member.life() - 1;
        let living = view.members.iter().filter(lives).count();
        living * 2 > view.members.len()
    }

    /// What a process's group protocol holds, for those who look for a fault.
    pub fn inside(&mut self, rank: Rank) -> String
    where
        O: std::fmt::Debug,
    {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return String::new();
        };
        node.stack
            .group(self.now, GROUP, |group, _, _| format!("{group:?}"))
    }

    fn is_member(&mut self, rank: Rank) -> bool {
        self.nodes[rank as usize].as_mut().is_some_and(|node| {
            node.stack
                .group(self.now, GROUP, |group, _, _| group.is_member())
        })
    }

    /// Which life a rank is in; none that there is if it is dead.
    fn life_of(&self, rank: Rank) -> usize {
        self.nodes[rank as usize]
            .as_ref()
            .map_or(usize::MAX, |node| node.life)
    }

    /// Which life of a rank another is connected to, on streams.
    fn connected_to(&self, from: Rank, to: Rank) -> usize {
        let known = self.connected.get(&(from, to)).copied();
        // Founders' lives have the numbers of their ranks.
        known.unwrap_or(to as usize)
    }

    fn life(&mut self, rank: Rank) -> Option<&mut Life> {
        let life = self.nodes[rank as usize].as_ref()?.life;
        Some(&mut self.history.lives[life])
    }

    fn membership(&mut self, rank: Rank) -> Option<&mut Membership> {
        self.life(rank)?.memberships.last_mut()
    }

    /// Members of the view that a process is in; none if it is dead, no members before its first view.
    pub fn view_size(&self, rank: Rank) -> Option<usize> {
        let node = self.nodes[rank as usize].as_ref()?;
        let member = self.history.lives[node.life].memberships.last();
        let size = member.and_then(Membership::view);
        Some(size.map_or(0, |(_, members)| members.len()))
    }

    /// Whether the last membership of a process has ended, or it never began one.
    pub fn is_outside(&mut self, rank: Rank) -> bool {
        self.membership(rank)
            .is_none_or(|member| member.ended.is_some())
    }
}
