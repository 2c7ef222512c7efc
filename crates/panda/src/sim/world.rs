//! Processes over a simulated network, and the events that are to come.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use super::history::{Call, History, Life, Membership, Place};
use super::{Chance, Kind, Network};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::group::{GroupEvent, Mutant, Myself, Order};
use crate::protocol::link::Links;
use crate::protocol::{Action, Delivery, Stack, Time};

/// The group that everybody joins.
pub const GROUP: u64 = 7;
const SERVICE: u64 = 8;
/// Silence after which a peer is taken for lost.
pub const SILENCE: Duration = Duration::from_millis(400);
/// The longest frame of datagrams.
const LARGEST: usize = 1400;
/// How long a call may take at most: both the deadline and silence end it.
pub const CALL_LIMIT: Duration = Duration::from_millis(1500);

/// A simulated session.
pub struct World<L, O> {
    /// The time.
    pub now: Time,
    /// What happens at random.
    pub chance: Chance,
    /// The network.
    pub network: Network,
    /// What programs saw.
    pub history: History,
    /// Frames that were carried.
    pub frames: u64,
    /// Whether views and losses are printed.
    pub tells: bool,
    size: u32,
    nodes: Vec<Option<Node<L, O>>>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    what: HashMap<u64, What>,
    events: u64,
    mutant: Option<Mutant>,
    /// Which life of a rank another is connected to.
    connected: HashMap<(Rank, Rank), usize>,
    todo: VecDeque<(Rank, usize, Action)>,
    is_busy: bool,
}

struct Node<L, O> {
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
    Timer {
        rank: Rank,
        life: usize,
    },
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
    pub fn new(size: u32, network: Network, chance: Chance, mutant: Option<Mutant>) -> Self {
        let mut world = Self {
            now: Duration::from_secs(1),
            chance,
            network,
            history: History::default(),
            frames: 0,
            tells: false,
            size,
            nodes: (0..size).map(|_| None).collect(),
            queue: BinaryHeap::new(),
            what: HashMap::new(),
            events: 0,
            mutant,
            connected: HashMap::new(),
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
            is_over: false,
        });
        let myself = Myself {
            rank,
            size: self.size,
            is_founder,
            birth: life as u64 + 1,
            silence: SILENCE,
        };
        let largest = if self.network.kind == Kind::Datagrams {
            LARGEST
        } else {
            usize::MAX
        };
        let mut stack = Stack::new(myself, largest);
        if let Some(mutant) = self.mutant {
            stack.group(self.now, GROUP, |group: &mut O, _, _| group.mutate(mutant));
        }
        self.nodes[rank as usize] = Some(Node {
            stack,
            life,
            timer: None,
        });
        if self.network.kind == Kind::Datagrams {
            return;
        }
        for by in self.living() {
            if let Some(other) = self.nodes[by as usize].as_ref() {
                self.connected.insert((rank, by), other.life);
            }
            if is_founder {
                self.connected.insert((by, rank), life);
            } else {
                let at = self.network.notice(&mut self.chance, self.now, rank, by);
                let told = self.life_of(by);
                self.at(
                    at,
                    What::Back {
                        rank,
                        life,
                        by,
                        told,
                    },
                );
            }
        }
    }

    /// Ends a process, as kill -9 does.
    pub fn crash(&mut self, rank: Rank) {
        let Some(node) = self.nodes[rank as usize].take() else {
            return;
        };
        self.history.lives[node.life].is_over = true;
        self.network.forget(rank);
        if self.network.kind == Kind::Datagrams {
            return;
        }
        let in_order = self.network.carry_to_all(&mut self.chance, self.now);
        for by in self.living() {
            let at = match self.network.kind {
                Kind::Bus => in_order,
                _ => self.network.notice(&mut self.chance, self.now, rank, by),
            };
            let told = self.life_of(by);
            self.at(at, What::Gone { rank, by, told });
        }
    }

    /// Makes the network whole.
    pub fn heal(&mut self) {
        for (from, to, frame) in self.network.heal() {
            self.carry(from, to, frame);
        }
    }

    /// Has a process ask to join.
    pub fn join(&mut self, rank: Rank) {
        let Some(life) = self.life(rank) else { return };
        if life
            .memberships
            .last()
            .is_none_or(|last| last.ended.is_some())
        {
            life.memberships.push(Membership::default());
            self.act(rank, |stack, now| {
                stack.group(now, GROUP, |group, now, out| group.join(now, out))
            });
        }
    }

    /// Has a process ask to leave.
    pub fn leave(&mut self, rank: Rank) {
        if self.is_member(rank) {
            if let Some(member) = self.membership(rank) {
                member.is_leaving = true;
            }
            self.act(rank, |stack, now| {
                stack.group(now, GROUP, |group, now, out| group.leave(now, out))
            });
        }
    }

    /// Has a member send a message of some length.
    pub fn send(&mut self, rank: Rank, length: usize) {
        let wants = self.is_member(rank)
            && self
                .membership(rank)
                .is_some_and(|m| !m.is_leaving && m.view().is_some());
        let is_full = self.nodes[rank as usize].as_mut().is_none_or(|node| {
            node.stack
                .group(self.now, GROUP, |group, _, _| group.is_congested())
        });
        if !wants || is_full {
            return;
        }
        let Some(life) = self.nodes[rank as usize].as_ref().map(|node| node.life) else {
            return;
        };
        let memberships = &mut self.history.lives[life].memberships;
        let which = memberships.len() as u32;
        let member = memberships.last_mut().expect("a member has a membership");
        member.sent += 1;
        let mut payload = Message::from(vec![0xa5; length]);
        payload.push(&encode((life as u32, which, member.sent)));
        self.act(rank, |stack, now| {
            stack.group(now, GROUP, |group, now, out| group.send(now, payload, out))
        });
    }

    /// Has a process call another.
    pub fn call(&mut self, rank: Rank, to: Rank) {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        let life = &mut self.history.lives[node.life];
        let number = life.calls.len() as u32 + 1;
        let payload = Message::from(encode((node.life as u32, 0, number)).to_vec());
        let deadline = self.now + CALL_LIMIT / 2;
        let id = node
            .stack
            .call(self.now, to, SERVICE, payload, Some(deadline));
        life.calls.insert(
            id,
            Call {
                to,
                number,
                at: self.now,
                ended: None,
            },
        );
        self.act(rank, |_, _| ());
    }

    /// Lets time pass up to a moment.
    pub fn run_until(&mut self, until: Time) {
        while let Some(&Reverse((at, id))) =
            self.queue.peek().filter(|Reverse((at, _))| *at <= until)
        {
            self.queue.pop();
            self.now = at;
            let what = self.what.remove(&id).expect("each event happens once");
            self.happen(what);
        }
        self.now = until;
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Frame {
                from,
                to,
                life,
                frame,
            } => {
                let is_there = self.nodes[to as usize]
                    .as_ref()
                    .is_some_and(|node| life.is_none_or(|life| life == node.life));
                if is_there {
                    self.act(to, |stack, now| {
                        let taken = stack.frame(now, from, frame);
                        assert!(taken.is_ok(), "{taken:?}");
                    });
                }
            }
            What::Multicast { from, frame } => {
                for rank in self.living() {
                    let frame = frame.clone();
                    self.act(rank, |stack, now| {
                        let taken = stack.multicast(now, from, frame);
                        assert!(taken.is_ok(), "{taken:?}");
                    });
                }
            }
            What::Timer { rank, life } => {
                let Some(node) = self.nodes[rank as usize]
                    .as_mut()
                    .filter(|node| node.life == life)
                else {
                    return;
                };
                if node.timer == Some(self.now) {
                    node.timer = None;
                    self.act(rank, |stack, now| stack.tick(now));
                }
            }
            What::Gone { rank, by, told } => {
                if self.life_of(by) == told {
                    self.act(by, |stack, now| {
                        stack.lost(now, rank, true, "closed its connection")
                    });
                }
            }
            What::Back { by, told, .. } if self.life_of(by) != told => {}
            What::Back { rank, life, by, .. } => {
                self.connected.insert((by, rank), life);
                self.act(by, |stack, _| stack.joined(rank));
            }
        }
    }

    /// Has a process do something, and does what comes of it.
    fn act<R>(&mut self, rank: Rank, act: impl FnOnce(&mut Stack<L, O>, Time) -> R) {
        let Some(node) = self.nodes[rank as usize].as_mut() else {
            return;
        };
        act(&mut node.stack, self.now);
        node.stack.flush(self.now);
        let life = node.life;
        self.todo.extend(
            std::mem::take(node.stack.actions())
                .into_iter()
                .map(|action| (rank, life, action)),
        );
        let next = node
            .stack
            .deadline()
            .map(|at| at.max(self.now + Duration::from_micros(1)));
        if let Some(at) = next.filter(|at| node.timer.is_none_or(|timer| *at < timer)) {
            node.timer = Some(at);
            self.at(at, What::Timer { rank, life });
        }
        if !self.is_busy {
            self.is_busy = true;
            while let Some((rank, life, action)) = self.todo.pop_front() {
                if self.nodes[rank as usize]
                    .as_ref()
                    .is_some_and(|node| node.life == life)
                {
                    self.perform(rank, action);
                }
            }
            self.is_busy = false;
        }
    }

    fn perform(&mut self, rank: Rank, action: Action) {
        match action {
            Action::Send(to, frame) => self.carry(rank, to, frame),
            Action::Multicast(frame) => {
                self.frames += 1;
                let at = self.network.carry_to_all(&mut self.chance, self.now);
                self.at(at, What::Multicast { from: rank, frame });
            }
            Action::Complete(id, outcome) => {
                let now = self.now;
                if let Some(call) = self.life(rank).and_then(|life| life.calls.get_mut(&id)) {
                    call.ended = Some((now, outcome.is_ok()));
                }
            }
            Action::Deliver(Delivery::Call {
                from, id, payload, ..
            }) => {
                let (caller, _, number) = decode(&payload);
                if let Some(life) = self.life(rank) {
                    life.executed.push((caller as usize, number));
                }
                self.act(rank, |stack, now| {
                    stack.reply(
                        now,
                        from,
                        id,
                        crate::protocol::Answer::Value,
                        Message::new(),
                    )
                });
            }
            Action::Deliver(Delivery::Group(_, event)) => self.seen(rank, event),
            Action::Lost(peer, why) => {
                if self.tells {
                    eprintln!("{:?}: rank {rank}: {peer} {why}", self.now);
                }
            }
            Action::Deliver(Delivery::Port { .. })
            | Action::Collected(..)
            | Action::Full(_)
            | Action::Room(_) => {}
        }
    }

    fn seen(&mut self, rank: Rank, event: GroupEvent) {
        if self.tells && !matches!(event, GroupEvent::Message { .. }) {
            eprintln!("{:?}: rank {rank}: {event:?}", self.now);
        }
        let Some(member) = self.membership(rank) else {
            return;
        };
        match event {
            GroupEvent::Message { place, payload, .. } => member.places.push(Place::Message {
                place,
                id: decode(&payload),
            }),
            GroupEvent::View {
                number, members, ..
            } => member.places.push(Place::View { number, members }),
            GroupEvent::Left => member.ended = Some(true),
            GroupEvent::Expelled { .. } => member.ended = Some(false),
        }
    }

    fn carry(&mut self, from: Rank, to: Rank, frame: Message) {
        self.frames += 1;
        if to >= self.size {
            return;
        }
        let life = (self.network.kind != Kind::Datagrams).then(|| {
            self.connected
                .get(&(from, to))
                .copied()
                .unwrap_or(usize::MAX)
        });
        for at in self
            .network
            .carry(&mut self.chance, self.now, from, to, &frame)
        {
            self.at(
                at,
                What::Frame {
                    from,
                    to,
                    life,
                    frame: frame.clone(),
                },
            );
        }
    }

    fn at(&mut self, at: Time, what: What) {
        self.events += 1;
        self.what.insert(self.events, what);
        self.queue.push(Reverse((at, self.events)));
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
        // Births are numbers of lives, counted from 1, and below them 16 bits of memberships.
        let lives = |rank: Rank, birth: u64| self.life_of(rank) as u64 == (birth >> 16) - 1;
        let living = view
            .members
            .iter()
            .filter(|member| lives(member.rank, member.birth))
            .count();
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

    fn life(&mut self, rank: Rank) -> Option<&mut Life> {
        let life = self.nodes[rank as usize].as_ref()?.life;
        Some(&mut self.history.lives[life])
    }

    fn membership(&mut self, rank: Rank) -> Option<&mut Membership> {
        self.life(rank)?.memberships.last_mut()
    }

    /// Whether the last membership of a process has ended, or it never began one.
    pub fn is_outside(&mut self, rank: Rank) -> bool {
        self.membership(rank)
            .is_none_or(|member| member.ended.is_some())
    }
}

fn encode((life, membership, number): (u32, u32, u32)) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (i, word) in [life, membership, number].into_iter().enumerate() {
        bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn decode(payload: &Message) -> (u32, u32, u32) {
    let bytes: [u8; 12] = payload
        .look()
        .expect("every message of a scenario begins with its name");
    let word = |i: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
    (word(0), word(1), word(2))
}
