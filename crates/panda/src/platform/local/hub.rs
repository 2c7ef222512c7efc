//! The state that the threads of a session share: a queue for each of them, and the order of
//! broadcasts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex, RwLock};

use super::programs::Programs;
use crate::message::Message;
use crate::platform::{Event, Flow, Loss, Rank};
use crate::session::WeakSession;

/// Number of waiting frames from which senders are asked to wait.
pub const FULL: usize = 1024;
/// Most ranks of a session, later ones included.
const RANKS: usize = 65_536;

/// The sessions of this process by their bootstraps, for threads that come later.
static HUBS: Mutex<BTreeMap<String, Weak<Hub>>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
pub struct Hub {
    /// Name by which launch infos find the hub.
    pub bootstrap: String,
    founders: Vec<Arc<Queue>>,
    /// Queues of ranks that were allotted later, from the rank after the last founder's. They are
    /// apart so that founders find each other without a lock.
    later: RwLock<Vec<Arc<Queue>>>,
    /// Queues of the ranks that are here. Locked while something goes into all queues, and while a
    /// thread comes or goes.
    here: Mutex<BTreeMap<Rank, Arc<Queue>>>,
    /// Programs that threads start by name, and the sessions of those that run.
    pub programs: Programs,
    pub started: Mutex<BTreeMap<Rank, WeakSession>>,
}

#[derive(Debug)]
pub struct Queue {
    pub state: Mutex<State>,
    pub changed: Condvar,
    /// Whether there is an event, or the thread was woken, for looks without the lock.
    pub is_ready: AtomicBool,
    /// Number of times that something was taken.
    pub taken: AtomicU32,
}

#[derive(Debug)]
pub struct State {
    pub events: VecDeque<Event>,
    pub is_woken: bool,
    pub stage: Stage,
    /// Ranks that are to learn when there is room.
    pub reported_full: BTreeSet<Rank>,
}

/// State of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It has been allotted a rank and has not come.
    Awaited,
    Here,
    Gone,
}

/// Reason why a thread cannot come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoPlace {
    /// All threads have gone.
    Over,
    /// The thread has been here, or the rank was not allotted.
    Taken,
}

impl Queue {
    fn new(stage: Stage) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                events: VecDeque::new(),
                is_woken: false,
                stage,
                reported_full: BTreeSet::new(),
            }),
            changed: Condvar::new(),
            is_ready: AtomicBool::new(false),
            taken: AtomicU32::new(0),
        })
    }

    fn stage(&self) -> Stage {
        self.state.lock().stage
    }

    /// Puts an event in. If the queue is full the sender is to wait, and learns when there is room,
    /// unless it `waits_not`.
    fn put(&self, event: Event, from: Rank, waits_not: bool) -> Flow {
        let mut state = self.state.lock();
        if state.stage != Stage::Here {
            return Flow::Free;
        }
        state.events.push_back(event);
        self.is_ready.store(true, Relaxed);
        let is_full = state.events.len() >= FULL && !waits_not;
        if is_full {
            state.reported_full.insert(from);
        }
        drop(state);
        self.changed.notify_one();
        match is_full {
            true => Flow::Congested,
            false => Flow::Free,
        }
    }
}

impl Hub {
    /// Makes the hub of `size` threads, which can start these programs.
    pub fn new(size: u32, programs: Programs) -> Arc<Self> {
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        let number = SESSIONS.fetch_add(1, Relaxed);
        let founders: Vec<_> = (0..size).map(|_| Queue::new(Stage::Here)).collect();
        let hub = Arc::new(Self {
            bootstrap: format!("session {number} of process {}", std::process::id()),
            here: Mutex::new((0..).zip(founders.iter().cloned()).collect()),
            founders,
            later: RwLock::default(),
            programs,
            started: Mutex::default(),
        });
        let known = (hub.bootstrap.clone(), Arc::downgrade(&hub));
        HUBS.lock().insert(known.0, known.1);
        hub
    }

    /// Returns the hub that a launch info names, if its session is one of this process and goes on.
    pub fn find(bootstrap: &str) -> Option<Arc<Self>> {
        HUBS.lock().get(bootstrap)?.upgrade()
    }

    /// Returns how often all of them have taken something, with wrap-around.
    pub fn taken(&self) -> u32 {
        let later = self.later.read();
        let queues = self.founders.iter().chain(later.iter());
        let taken = queues.map(|queue| queue.taken.load(Relaxed));
        taken.fold(0, u32::wrapping_add)
    }

    /// Returns how many threads the session began with.
    pub fn size(&self) -> u32 {
        self.founders.len() as u32
    }

    /// Returns how many ranks have been given.
    pub fn population(&self) -> u32 {
        self.size() + self.later.read().len() as u32
    }

    /// Returns a thread's queue.
    pub fn queue(&self, rank: Rank) -> Option<Arc<Queue>> {
        let rank = rank as usize;
        match self.founders.get(rank) {
            Some(queue) => Some(queue.clone()),
            None => (self.later.read()).get(rank - self.founders.len()).cloned(),
        }
    }

    /// Allots `count` ranks and returns the first; or returns how many there are, if that would be
    /// too many.
    pub fn allot(&self, count: u32) -> Result<Rank, usize> {
        let mut later = self.later.write();
        let given = self.founders.len() + later.len();
        if RANKS.saturating_sub(given) < count as usize {
            return Err(given);
        }
        later.extend((0..count).map(|_| Queue::new(Stage::Awaited)));
        Ok(given as Rank)
    }

    /// Brings a thread with an allotted rank in, and returns its queue. All threads learn of it at
    /// the same place of the order. The new one learns there which later ranks have come and which
    /// threads have gone.
    pub fn come(&self, rank: Rank) -> Result<Arc<Queue>, NoPlace> {
        let mut here = self.here.lock();
        let awaited = self.queue(rank);
        let awaited = awaited.filter(|queue| queue.stage() == Stage::Awaited);
        let own = awaited.ok_or(NoPlace::Taken)?;
        if here.is_empty() {
            return Err(NoPlace::Over);
        }
        let others = self.others(rank);
        let reported = others
            .iter()
            .filter_map(|(other, queue)| match queue.stage() {
                Stage::Awaited => None,
                Stage::Here => (*other >= self.size()).then(|| joined(*other)),
                Stage::Gone => Some(lost(*other)),
            });
        let reported: VecDeque<Event> = reported.collect();
        let mut state = own.state.lock();
        (state.events, state.stage) = (reported, Stage::Here);
        own.is_ready.store(true, Relaxed);
        drop(state);
        for (other, queue) in &*here {
            queue.put(joined(rank), *other, true);
        }
        here.insert(rank, own.clone());
        Ok(own)
    }

    /// Takes a thread out, with all that waits for it.
    pub fn go(&self, rank: Rank, own: &Queue) {
        let mut here = self.here.lock();
        if here.remove(&rank).is_none() {
            return;
        }
        self.started.lock().remove(&rank);
        let mut state = own.state.lock();
        state.stage = Stage::Gone;
        state.events.clear();
        drop(state);
        for queue in here.values() {
            queue.put(lost(rank), rank, true);
        }
    }

    /// Returns all queues but one, by rank.
    fn others(&self, rank: Rank) -> Vec<(Rank, Arc<Queue>)> {
        let later = self.later.read();
        let all = self.founders.iter().chain(later.iter()).cloned();
        (0..).zip(all).filter(|(other, _)| *other != rank).collect()
    }

    /// Puts a frame into all queues, in one order with all such frames.
    pub fn put_to_all(&self, from: Rank, frame: &Message) {
        for (to, queue) in &*self.here.lock() {
            let frame = frame.clone();
            queue.put(Event::Frame { from, frame }, from, from == *to);
        }
    }

    /// Puts an event into one queue. Returns whether the sender is to wait.
    pub fn put(&self, to: Rank, event: Event, from: Rank) -> Flow {
        match self.founders.get(to as usize) {
            Some(queue) => queue.put(event, from, from == to),
            None => (self.queue(to)).map_or(Flow::Free, |queue| queue.put(event, from, from == to)),
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        HUBS.lock().remove(&self.bootstrap);
    }
}

/// Returns a thread's name.
pub fn name_of(rank: Rank) -> String {
    format!("thread {rank}")
}

fn joined(rank: Rank) -> Event {
    let name = name_of(rank);
    Event::Joined { rank, name }
}

fn lost(rank: Rank) -> Event {
    let loss = Loss {
        is_certain: true,
        has_left: true,
        reason: "ended its session".into(),
    };
    Event::Lost { rank, loss }
}
