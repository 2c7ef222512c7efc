//! Processes over a simulated network, driven by a scenario.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::history::{History, Life, Membership};
use super::medium::{Medium, Timer, Travel};
use super::{Chance, Network};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::fault::Fault;
use antiphon_panda_core::protocol::group::{Member, Myself, Order};
use antiphon_panda_core::protocol::link::Links;
use antiphon_panda_core::protocol::requests::{Failure, RequestId};
use antiphon_panda_core::protocol::{Action, Stack};

mod communicator;
mod numbers;
mod ports;
mod program;
mod run;

use communicator::Slot;
pub use ports::Letter;

/// The group that all processes join.
pub const GROUP: u64 = 7;
/// The service that all processes serve.
const SERVICE: u64 = 8;
/// The port at which all processes receive.
const PORT: u64 = 9;
/// Silence after which a peer is taken for lost.
pub const SILENCE: Duration = Duration::from_millis(400);
/// Longest time of a call: both the deadline and silence end it.
pub const CALL_LIMIT: Duration = Duration::from_millis(1500);
/// Longest time of a synchronous send without a deadline: behind its link's repeated frames, or
/// until silence ends it.
pub const RECEIPT_LIMIT: Duration = Duration::from_secs(5);
/// Longest time of a collective operation after all have begun it.
pub const COLLECT_LIMIT: Duration = Duration::from_secs(5);

/// A simulated session.
pub struct World<L: Links, O> {
    /// Medium between the processes.
    pub medium: Medium<What>,
    /// Events that programs saw.
    pub history: History,
    /// Messages of the group that were handed over, at all processes.
    pub delivered: u64,
    /// Results of collective operations, each with its process.
    pub collected: Vec<(Rank, Result<Vec<Bytes>, Failure>)>,
    /// Whether views and losses are printed.
    pub tells: bool,
    /// Bytes of a snapshot besides the copy.
    pub ballast: usize,
    size: u32,
    silence: Duration,
    nodes: Vec<Option<Node<L, O>>>,
    fault: Fault,
    /// Running collective operations of communicators, by the life and its number for it.
    slots: HashMap<(usize, RequestId), Slot>,
    /// Arrays of operations that have them.
    arrays: HashMap<(usize, RequestId), Arc<numbers::Held>>,
    todo: VecDeque<(Rank, usize, Action)>,
    is_busy: bool,
}

struct Node<L: Links, O> {
    stack: Stack<L, O>,
    life: usize,
    timer: Timer,
}

/// An event to come.
pub enum What {
    Travel(Travel),
    Timer {
        rank: Rank,
        life: usize,
    },
    /// A process calls the next collective operation.
    Turn(Slot),
}

impl From<Travel> for What {
    fn from(travel: Travel) -> Self {
        Self::Travel(travel)
    }
}

impl<L: Links, O: Order> World<L, O> {
    /// Makes a session of `size` processes.
    #[must_use]
    pub fn new(size: u32, network: Network, chance: Chance) -> Self {
        Self::with_silence(size, network, chance, SILENCE)
    }

    /// Does the same as [`new`](Self::new), with another silence after which a peer is taken for
    /// lost.
    #[must_use]
    pub fn with_silence(size: u32, network: Network, chance: Chance, silence: Duration) -> Self {
        Self::with_fault(size, network, chance, silence, Fault::default())
    }

    /// Does the same, with a fault in each process's protocols.
    #[must_use]
    pub(super) fn with_fault(
        size: u32,
        network: Network,
        chance: Chance,
        silence: Duration,
        fault: Fault,
    ) -> Self {
        let mut world = Self {
            medium: Medium::new(size, network, chance),
            history: History::default(),
            delivered: 0,
            collected: Vec::new(),
            tells: false,
            ballast: 0,
            size,
            silence,
            nodes: (0..size).map(|_| None).collect(),
            fault,
            slots: HashMap::new(),
            arrays: HashMap::new(),
            todo: VecDeque::new(),
            is_busy: false,
        };
        for rank in 0..size {
            world.start(rank, true);
        }
        world
    }

    /// Returns the ranks that live.
    pub fn living(&self) -> Vec<Rank> {
        self.medium.living()
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
        let largest = self.medium.network.kind.largest();
        let stack = Stack::new(myself, largest).with(self.fault, self.medium.now, GROUP);
        self.nodes[rank as usize] = Some(Node {
            stack,
            life,
            timer: Timer::default(),
        });
        self.medium.start(rank, life, is_founder);
    }

    /// Ends a process, as kill -9 does.
    pub fn crash(&mut self, rank: Rank) {
        let Some(node) = self.nodes[rank as usize].take() else {
            return;
        };
        self.history.lives[node.life].is_over = true;
        self.medium.crash(rank);
    }

    /// Returns whether a majority of the last decided view still lives. A view may be decided and
    /// its members crash before any was told.
    pub fn has_majority(&mut self) -> bool {
        let now = self.medium.now;
        let views = self.nodes.iter_mut().flatten().filter_map(|node| {
            node.stack
                .group(now, GROUP, |group, _, _| group.last_decided().cloned())
        });
        let Some(view) = views.max_by_key(|view| view.number) else {
            return true;
        };
        // Here a process's birth is the number of its life, counted from 1.
        let lives = |member: &&Member| self.medium.life_of(member.rank) as u64 == member.life() - 1;
        let living = view.members.iter().filter(lives).count();
        living * 2 > view.members.len()
    }

    /// Formats the state of a process's group protocol, for a search for faults.
    pub fn inside(&mut self, rank: Rank) -> String
    where
        O: std::fmt::Debug,
    {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return String::new();
        };
        node.stack
            .group(self.medium.now, GROUP, |group, _, _| format!("{group:?}"))
    }

    fn is_member(&mut self, rank: Rank) -> bool {
        self.nodes[rank as usize].as_mut().is_some_and(|node| {
            node.stack
                .group(self.medium.now, GROUP, |group, _, _| group.is_member())
        })
    }

    fn life(&mut self, rank: Rank) -> Option<&mut Life> {
        let life = self.nodes[rank as usize].as_ref()?.life;
        Some(&mut self.history.lives[life])
    }

    fn membership(&mut self, rank: Rank) -> Option<&mut Membership> {
        self.life(rank)?.memberships.last_mut()
    }

    /// Returns the number of members of a process's view: `None` if it is dead, 0 before its first
    /// view.
    pub fn view_size(&self, rank: Rank) -> Option<usize> {
        let node = self.nodes[rank as usize].as_ref()?;
        let member = self.history.lives[node.life].memberships.last();
        let size = member.and_then(Membership::view);
        Some(size.map_or(0, |(_, members)| members.len()))
    }

    /// Returns whether the last membership of a process has ended, or it never began one.
    pub fn is_outside(&mut self, rank: Rank) -> bool {
        self.membership(rank)
            .is_none_or(|member| member.ended.is_some())
    }
}
