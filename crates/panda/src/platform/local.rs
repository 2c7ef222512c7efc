//! `local`: threads of one process. A frame is passed by its pointers; a multicast is ordered by a lock.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::patience::{self, Patience, Waits};
use super::{Event, Flow, Inbox, JoinError, Loss, Platform, Rank, Seat, farewell, seat::Secret};
use crate::error::Error;
use crate::message::Message;
use crate::protocol::group::Bus;
use crate::protocol::link::Through;
use crate::session::{SILENCE, Session};

/// Frames that wait before senders are asked to.
const FULL: usize = 1024;
const BATCH: usize = 256;

/// One thread's end.
#[derive(Debug)]
pub struct Local {
    rank: Rank,
    hub: Arc<Hub>,
}

/// Its receiving end.
#[derive(Debug)]
pub struct LocalInbox {
    rank: Rank,
    hub: Arc<Hub>,
    patience: Patience,
}

#[derive(Debug)]
struct Hub {
    queues: Vec<Queue>,
    /// Held while something is put into all queues.
    order: Mutex<()>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// There is an event, or it was woken: for those that look without the lock.
    is_ready: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    is_woken: bool,
    is_gone: bool,
    /// Who is to be told that there is room.
    told_full: BTreeSet<Rank>,
}

impl Local {
    /// The sessions of `size` parts of this process, rank by rank, for instance one for each thread.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub fn sessions(size: u32) -> Result<Vec<Session>, Error> {
        let ends = Self::session(size).into_iter();
        ends.map(|(seat, local, inbox)| Session::over(local, inbox, &seat, SILENCE))
            .collect()
    }

    /// The seats and ends of a session of `size` threads, which may be more than one of the system's.
    #[must_use]
    pub fn session(size: u32) -> Vec<(Seat, Self, LocalInbox)> {
        let hub = Arc::new(Hub {
            queues: (0..size).map(|_| Queue::default()).collect(),
            order: Mutex::new(()),
        });
        let seat = |rank| Seat {
            platform: Self::NAME.into(),
            rank,
            size,
            name: format!("thread {rank}"),
            meeting: String::new(),
            address: None,
            silence: None,
            parent: None,
            starter: None,
            secret: Secret([0; 16]),
        };
        (0..size)
            .map(|rank| {
                (
                    seat(rank),
                    Self {
                        rank,
                        hub: hub.clone(),
                    },
                    LocalInbox {
                        rank,
                        hub: hub.clone(),
                        patience: Patience::default(),
                    },
                )
            })
            .collect()
    }
}

impl Hub {
    fn put(&self, to: Rank, event: Event, from: Rank) -> Flow {
        let Some(queue) = self.queues.get(to as usize) else {
            return Flow::Free;
        };
        let mut state = queue.state.lock();
        if state.is_gone {
            return Flow::Free;
        }
        state.events.push_back(event);
        queue.is_ready.store(true, Relaxed);
        let is_full = state.events.len() >= FULL && from != to;
        if is_full {
            state.told_full.insert(from);
        }
        drop(state);
        queue.changed.notify_one();
        if is_full { Flow::Congested } else { Flow::Free }
    }
}

impl Platform for Local {
    const NAME: &'static str = "local";
    const RELIABLE: bool = true;
    const ORDERED: bool = true;
    const LARGEST: usize = usize::MAX;
    type Links = Through;
    type Order = Bus;
    type Inbox = LocalInbox;

    fn join(_seat: &Seat) -> Result<(Self, LocalInbox), JoinError> {
        Err(JoinError::refused::<Self>(
            "its processes are threads of one program, which begins them with Local::session; launch programs over shm or tcp",
        ))
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        self.hub.put(
            to,
            Event::Frame {
                from: self.rank,
                frame,
            },
            self.rank,
        )
    }

    fn multicast(&self, frame: Message) {
        let _order = self.hub.order.lock();
        let from = self.rank;
        for to in 0..self.hub.queues.len() as Rank {
            let frame = frame.clone();
            self.hub.put(to, Event::Frame { from, frame }, from);
        }
    }

    fn wake(&self) {
        let queue = &self.hub.queues[self.rank as usize];
        let mut state = queue.state.lock();
        state.is_woken = true;
        queue.is_ready.store(true, Relaxed);
        drop(state);
        queue.changed.notify_one();
    }

    fn leave(&self, _patience: Duration) {
        let _order = self.hub.order.lock();
        let own = &self.hub.queues[self.rank as usize];
        {
            let mut state = own.state.lock();
            if std::mem::replace(&mut state.is_gone, true) {
                return;
            }
            state.events.clear();
        }
        for to in (0..self.hub.queues.len() as Rank).filter(|to| *to != self.rank) {
            let loss = Loss {
                is_certain: true,
                reason: "ended its session".into(),
            };
            let (rank, from) = (self.rank, self.rank);
            self.hub.put(to, Event::Lost { rank, loss }, from);
        }
    }

    fn allot(&self, _count: u32) -> Result<Vec<Seat>, JoinError> {
        Err(JoinError::refused::<Self>(
            "a session of threads has its size from the beginning: start more threads (`thread::spawn`), or launch the program over shm or tcp",
        ))
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.leave(farewell::PATIENCE);
    }
}

impl LocalInbox {
    fn queue(&self) -> &Queue {
        &self.hub.queues[self.rank as usize]
    }

    /// Takes what is there. True if there was anything, or it was woken.
    fn take(&self, events: &mut Vec<Event>) -> bool {
        let queue = self.queue();
        let mut state = queue.state.lock();
        let was_woken = std::mem::take(&mut state.is_woken);
        let count = state.events.len().min(BATCH);
        events.extend(state.events.drain(..count));
        queue.is_ready.store(!state.events.is_empty(), Relaxed);
        let has_room = state.events.len() < FULL / 2;
        let told = if has_room {
            std::mem::take(&mut state.told_full)
        } else {
            BTreeSet::new()
        };
        drop(state);
        for to in told {
            self.hub.put(to, Event::Room { to: self.rank }, to);
        }
        count > 0 || was_woken
    }
}

impl Waits for LocalInbox {
    const LOOKS: u32 = 32;

    fn patience(&mut self) -> &mut Patience {
        &mut self.patience
    }

    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        // Without the lock, which senders need.
        self.queue().is_ready.load(Relaxed) && self.take(events)
    }

    fn sleep(&mut self, _now: Option<Instant>, until: Option<Instant>, _events: &mut Vec<Event>) {
        let queue = self.queue();
        let mut state = queue.state.lock();
        while state.events.is_empty() && !state.is_woken {
            match until {
                None => queue.changed.wait(&mut state),
                Some(until) if Instant::now() >= until => return,
                Some(until) => drop(queue.changed.wait_until(&mut state, until)),
            }
        }
    }
}

impl Inbox for LocalInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let now = Instant::now();
        if self.take(events) || until.is_some_and(|until| until <= now) {
            return Some(now);
        }
        let before = events.len();
        let seen = patience::wait(self, now, Duration::ZERO, until, events);
        if events.len() == before {
            self.take(events);
        }
        seen
    }
}
