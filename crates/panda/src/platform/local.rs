//! `local`: threads of one process. A frame is passed by its pointers; a multicast is ordered by a lock.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use super::{Event, Flow, Inbox, JoinError, Loss, Platform, Rank, Seat, seat::Secret};
use crate::message::Message;
use crate::protocol::group::Bus;
use crate::protocol::link::Through;

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
    const SURVIVES: bool = true;
    type Links = Through;
    type Order = Bus;
    type Inbox = LocalInbox;

    fn join(_seat: &Seat) -> Result<(Self, LocalInbox), JoinError> {
        let why = "its processes are threads of one program, which begins them with Local::session; launch programs over shm or tcp".into();
        Err(JoinError::Refused {
            platform: Self::NAME,
            why,
        })
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

    fn multicast(&self, frame: Message) -> Flow {
        let _order = self.hub.order.lock();
        let ranks = 0..self.hub.queues.len() as Rank;
        ranks
            .map(|to| {
                self.hub.put(
                    to,
                    Event::Frame {
                        from: self.rank,
                        frame: frame.clone(),
                    },
                    self.rank,
                )
            })
            .fold(Flow::Free, Flow::and)
    }

    fn wake(&self) {
        let queue = &self.hub.queues[self.rank as usize];
        queue.state.lock().is_woken = true;
        queue.changed.notify_one();
    }

    fn allot(&self, _count: u32) -> Result<Vec<Seat>, JoinError> {
        Err(JoinError::Refused {
            platform: Self::NAME,
            why: "a session of threads has its size from the beginning".into(),
        })
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _order = self.hub.order.lock();
        let own = &self.hub.queues[self.rank as usize];
        {
            let mut state = own.state.lock();
            state.is_gone = true;
            state.events.clear();
        }
        for to in (0..self.hub.queues.len() as Rank).filter(|to| *to != self.rank) {
            let loss = Loss {
                is_certain: true,
                reason: "ended its session".into(),
            };
            self.hub.put(
                to,
                Event::Lost {
                    rank: self.rank,
                    loss,
                },
                self.rank,
            );
        }
    }
}

impl Inbox for LocalInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) {
        let queue = &self.hub.queues[self.rank as usize];
        let mut state = queue.state.lock();
        while state.events.is_empty() && !state.is_woken {
            match until {
                None => queue.changed.wait(&mut state),
                Some(until) if Instant::now() >= until => return,
                Some(until) => drop(queue.changed.wait_until(&mut state, until)),
            }
        }
        state.is_woken = false;
        let count = state.events.len().min(BATCH);
        events.extend(state.events.drain(..count));
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
    }
}
