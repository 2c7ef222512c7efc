//! The switch that all processes of a simulation share: the network, the events to come, and the
//! turns.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use antiphon_fiber::{ManyServers, StackError, Threads as _};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};

use super::node::{Incoming, Node, Phase};
use super::{Clock, Fault};
use crate::medium::{Medium, START, Travel};
use crate::{Chance, Network};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;

mod joins;

/// Time after which an ended session looks again whether its peers have taken what it sent.
const LINGER: Duration = Duration::from_millis(5);
/// Number of silences without input to any program, after which none will come. All that protocols
/// do by themselves takes fewer.
const STILL: u32 = 30;
/// Least bytes of a frame that is part of a long message, of which a slow network brings a program
/// nothing until the last one. Protocols' own repeated frames are shorter.
const PART: usize = 512;

/// The starter of processes' programs.
pub trait Starter: Send + Sync {
    /// Gives a process its session, and runs its program.
    ///
    /// # Errors
    ///
    /// There is no memory for a stack.
    fn start(&self, node: &Arc<Node>) -> Result<(), StackError>;
    /// Returns whether there is a program of that name.
    fn knows(&self, program: &OsStr) -> bool;
}

/// An event to come.
pub enum What {
    /// A message reaches its destination.
    Travel(Travel),
    /// A message has come to a process.
    Arrived(Arc<Node>, Travel),
    /// A process's protocols have asked for the time.
    Tick(Arc<Node>),
    /// The time of a fiber's wait has come.
    Wake(Arc<Node>, u64),
    /// A process goes on with its remaining deliveries.
    GoOn(Arc<Node>),
    /// A session has ended, and may leave.
    Linger(Arc<Node>),
    /// A joining process knocks at those that have not heard it, and again some time later.
    Knock(Arc<Node>, Duration),
    /// The others have let a process in, or it no longer waits for them.
    LetIn(Arc<Node>),
    /// A planned fault happens.
    Fault(Fault),
}

impl From<Travel> for What {
    fn from(travel: Travel) -> Self {
        Self::Travel(travel)
    }
}

/// The reason why a simulation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// All processes have ended.
    Ended,
    /// The remaining processes wait for each other.
    Deadlock,
    /// Its time was over.
    Limit,
}

/// The state that the processes share.
pub struct Switch {
    /// The time at which virtual time begins.
    start: Instant,
    /// The OS thread that runs everything.
    thread: ThreadId,
    state: Mutex<State>,
}

struct State {
    medium: Medium<What>,
    nodes: Vec<Arc<Node>>,
    /// Earlier incarnations, in the order in which others followed them.
    past: Vec<Arc<Node>>,
    /// Pairs of which the first has not heard of the second, over datagrams. Messages of the second
    /// to the first are a stranger's.
    strangers: BTreeSet<(Rank, Rank)>,
    /// Clocks of processes that do not show the simulation's time.
    clocks: FxHashMap<Rank, Clock>,
    starter: Option<Arc<dyn Starter>>,
    silence: Duration,
    /// Number of remaining processes.
    left: usize,
    /// Restarts to come.
    restarts: Vec<Rank>,
    /// Number of faults to come.
    faults: usize,
    /// Time when a program last went on.
    stirred: Time,
    /// Time when a part of a long message last came to a process, over a network with a bandwidth.
    moved: Time,
    history: FxHasher,
    /// Time without input to any program after which none will come.
    still: Duration,
    limit: Time,
}

impl Switch {
    pub fn new(
        size: u32,
        network: Network,
        seed: u64,
        silence: Duration,
        limit: Duration,
    ) -> Arc<Self> {
        let delay = Duration::from_micros(network.delay_us + network.jitter_us);
        Arc::new(Self {
            start: Instant::now(),
            thread: std::thread::current().id(),
            state: Mutex::new(State {
                medium: Medium::new(size, network, Chance::new(seed)),
                nodes: Vec::new(),
                past: Vec::new(),
                strangers: BTreeSet::new(),
                clocks: FxHashMap::default(),
                starter: None,
                silence,
                left: 0,
                restarts: Vec::new(),
                faults: 0,
                stirred: START,
                moved: START,
                history: FxHasher::default(),
                still: silence.saturating_mul(STILL).saturating_add(delay * 4),
                limit: START.saturating_add(limit),
            }),
        })
    }

    /// Calls a function on the medium.
    ///
    /// # Panics
    ///
    /// The caller is on another OS thread than the simulation's: its effects would differ from run
    /// to run.
    pub fn medium<R>(&self, act: impl FnOnce(&mut Medium<What>) -> R) -> R {
        assert!(
            std::thread::current().id() == self.thread,
            "a simulated process was used by a thread of the system's: start threads by antiphon_panda::thread::spawn"
        );
        act(&mut self.state.lock().medium)
    }

    /// Returns the time, as protocols count it.
    pub fn time(&self) -> Time {
        self.medium(|medium| medium.now)
    }

    /// Gives processes clocks of their own.
    pub fn set_clocks(&self, clocks: FxHashMap<Rank, Clock>) {
        self.state.lock().clocks = clocks;
    }

    /// Returns the time by a process's clock.
    pub fn clock_of(&self, rank: Rank) -> Time {
        let now = self.time();
        let clock = self.state.lock().clocks.get(&rank).copied();
        clock.map_or(now, |clock| clock.at(now))
    }

    /// Returns the time, as programs see it.
    pub fn instant(&self) -> Instant {
        self.start + (self.time() - START)
    }

    /// Converts a program's time to that of protocols.
    pub fn time_of(&self, moment: Instant) -> Time {
        START + moment.saturating_duration_since(self.start)
    }

    /// Sets the starter of programs.
    pub fn cast(&self, starter: Arc<dyn Starter>) {
        self.state.lock().starter = Some(starter);
    }

    /// Begins a process.
    pub fn begin(&self, node: Arc<Node>) {
        let mut state = self.state.lock();
        let rank = node.rank;
        state.nodes.push(node);
        state.left += 1;
        state.medium.start(rank, rank as usize, true);
    }

    /// Plans a fault at a time after the beginning.
    pub fn plan(&self, at: Duration, fault: Fault) {
        let mut state = self.state.lock();
        state.faults += 1;
        if let Fault::Restart(rank) = fault {
            state.restarts.push(rank);
        }
        state.medium.add(START + at, What::Fault(fault));
    }

    /// Returns a process.
    pub fn node(&self, rank: Rank) -> Arc<Node> {
        self.state.lock().nodes[rank as usize].clone()
    }

    pub fn nodes(&self) -> Vec<Arc<Node>> {
        self.state.lock().nodes.clone()
    }

    /// Returns how many ranks there are.
    pub fn population(&self) -> u32 {
        self.state.lock().nodes.len() as u32
    }

    /// Returns whether there is a program of that name.
    pub fn knows(&self, program: &OsStr) -> bool {
        let starter = self.state.lock().starter.clone();
        starter.is_some_and(|starter| starter.knows(program))
    }

    /// Returns the earlier incarnations.
    pub fn past(&self) -> Vec<Arc<Node>> {
        self.state.lock().past.clone()
    }

    /// Notes that a program goes on.
    pub fn stirred(&self) {
        let mut state = self.state.lock();
        state.stirred = state.medium.now;
    }

    /// Notes that a message has come to a process.
    fn moved(&self, travel: &Travel) {
        if travel.frame_bytes() >= PART {
            let mut state = self.state.lock();
            if state.medium.network.has_bandwidth() {
                state.moved = state.medium.now;
            }
        }
    }

    /// Runs the simulation, as the fiber whose turn it is when no other can go on.
    pub fn run(&self) -> Halt {
        ManyServers::set_priority(i32::MIN);
        let mut look_at = START;
        loop {
            ManyServers::yield_now();
            let (what, before, now) = {
                let mut state = self.state.lock();
                if state.left == 0 && !state.awaits_restart() {
                    return Halt::Ended;
                }
                let (limit, before) = (state.limit, state.medium.now);
                (state.medium.next(limit), before, state.medium.now)
            };
            let Some(what) = what else {
                return match self.medium(|medium| medium.is_empty()) {
                    true => Halt::Deadlock,
                    false => Halt::Limit,
                };
            };
            if now >= look_at {
                if self.is_stuck(before, now) {
                    return Halt::Deadlock;
                }
                look_at = now + self.state.lock().still / 4;
            }
            self.note(&what);
            self.happen(what);
        }
    }

    /// Returns whether nothing will come to any program, as far as known. No event came between
    /// `before` and `now`.
    fn is_stuck(&self, before: Time, now: Time) -> bool {
        let state = self.state.lock();
        let moved = state.stirred.max(state.moved);
        // A message that has just left its sender is still to come.
        let is_sending = state.medium.network.is_sending(before);
        let is_still = now.saturating_sub(moved) > state.still && !is_sending;
        let nodes = state.nodes.clone();
        is_still && state.faults == 0 && {
            drop(state);
            !nodes.iter().any(|node| node.has_time())
        }
    }

    fn happen(&self, what: What) {
        match what {
            What::Travel(travel) => self.arrive(travel),
            What::Knock(node, pause) => self.knock(&node, pause),
            What::LetIn(node) => self.let_in(&node),
            What::Fault(fault) => {
                self.state.lock().faults -= 1;
                self.suffer(fault);
            }
            What::Arrived(ref node, _)
            | What::Tick(ref node)
            | What::Wake(ref node, _)
            | What::GoOn(ref node)
            | What::Linger(ref node) => {
                let node = node.clone();
                if let Some(what) = node.meets(what) {
                    self.reach(&node, what);
                }
            }
        }
    }

    /// Delivers a message to its destination.
    fn arrive(&self, travel: Travel) {
        let to = {
            let mut state = self.state.lock();
            match travel {
                Travel::Broadcast { .. } => state.medium.living(),
                _ if !state.admits(&travel) => Vec::new(),
                _ if state.medium.finds(&travel) => travel.to().into_iter().collect(),
                _ => Vec::new(),
            }
        };
        for rank in to {
            let node = self.node(rank);
            self.happen(What::Arrived(node, travel.clone()));
        }
    }

    /// Handles an event for a running process.
    fn reach(&self, node: &Arc<Node>, what: What) {
        let Some(machine) = node.machine() else {
            return;
        };
        match what {
            What::Arrived(_, travel) => {
                self.moved(&travel);
                machine.take(Incoming::Travel(travel));
            }
            What::Tick(_) => machine.take(Incoming::Tick),
            What::Wake(_, number) => node.wake(number),
            What::GoOn(_) => machine.go_on(),
            What::Linger(_) if machine.has_lingered() => {
                self.state.lock().medium.leave(node.rank);
                self.bury(node, Phase::Over);
            }
            What::Linger(_) => {
                let again = self.time() + LINGER;
                self.medium(|medium| medium.add(again, What::Linger(node.clone())));
            }
            What::Travel(_) | What::Fault(_) | What::Knock(..) | What::LetIn(_) => {
                unreachable!("no process's protocols'")
            }
        }
    }

    fn suffer(&self, fault: Fault) {
        let node = |rank| self.nodes().get(rank as usize).cloned();
        match fault {
            Fault::Crash(rank) => node(rank).iter().for_each(|node| self.crash(node)),
            Fault::Restart(rank) => self.restart(rank),
            Fault::Stop(rank) => node(rank).iter().for_each(|node| node.stop()),
            Fault::Continue(rank) => {
                let kept = node(rank).map_or_else(Vec::new, |node| node.go_on());
                kept.into_iter().for_each(|what| self.happen(what));
            }
            Fault::Partition(ranks) => self.medium(|medium| {
                let part = medium.network.parts().saturating_add(1);
                medium.network.split(part, &ranks);
            }),
            Fault::Heal => self.medium(Medium::heal),
        }
    }

    /// Crashes a process.
    pub fn crash(&self, node: &Node) {
        self.medium(|medium| medium.crash(node.rank));
        self.bury(node, Phase::Crashed);
        // The system tells a process of the end of one that it has started.
        if let Some(parent) = node
            .parent()
            .and_then(|rank| self.nodes().get(rank as usize).cloned())
        {
            self.medium(|medium| medium.add(medium.now, What::GoOn(parent)));
        }
    }

    fn bury(&self, node: &Node, phase: Phase) {
        if node.end(phase) {
            self.state.lock().left -= 1;
        }
    }

    /// Ends all remaining processes.
    pub fn end(&self) {
        for node in self.nodes() {
            self.bury(&node, Phase::Over);
        }
    }

    /// Adds an event to the history.
    fn note(&self, what: &What) {
        let mut state = self.state.lock();
        let now = state.medium.now;
        let history = &mut state.history;
        now.hash(history);
        match what {
            What::Travel(travel) => travel.hash(history),
            What::Arrived(node, travel) => (node.rank, travel).hash(history),
            What::Tick(node)
            | What::GoOn(node)
            | What::Linger(node)
            | What::Knock(node, _)
            | What::LetIn(node) => node.rank.hash(history),
            What::Wake(node, number) => (node.rank, number).hash(history),
            What::Fault(fault) => fault.hash(history),
        }
    }

    /// Returns the counts: frames sent, their bytes, frames lost, and a digest of all events.
    pub fn counts(&self) -> Counts {
        let state = self.state.lock();
        Counts {
            frames: state.medium.frames,
            bytes: state.medium.bytes,
            lost: state.medium.network.lost(),
            digest: state.history.finish(),
            time: state.stirred.saturating_sub(START),
        }
    }

    /// Forgets the events to come and the processes, which refer to each other by this.
    pub fn forget(&self) {
        let mut state = self.state.lock();
        let medium = Medium::new(0, state.medium.network.clone(), Chance::new(0));
        let before = std::mem::replace(&mut state.medium, medium);
        let nodes = std::mem::take(&mut state.nodes);
        let past = std::mem::take(&mut state.past);
        let starter = state.starter.take();
        drop(state);
        drop((before, nodes, past, starter));
    }
}

/// The counts of a simulation.
pub struct Counts {
    pub frames: u64,
    pub bytes: u64,
    pub lost: u64,
    pub digest: u64,
    pub time: Duration,
}
