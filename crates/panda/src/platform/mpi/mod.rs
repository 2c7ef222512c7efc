//! `mpi`: clusters, through Open MPI, which knows their networks. Loaded at run time ([`library`]).
//!
//! MPI is called by one thread at a time and makes progress only in calls, so who waits polls: first hard, where that is in nobody's way, then ever more gently. It ends all processes when one of them
//! dies, and processes cannot be added. A session ends when all have left it; where one is stopped or cut off, so that it never will, who waits for that says so and ends it ([`leaving`]).

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::patience::Patience;
use super::{Event, Flow, Inbox, JoinError, Platform, Rank, Seat, Transfer, farewell, futex};
use crate::message::Message;
use crate::protocol::group::Sequencer;
use crate::protocol::link::Fragment;

mod leaving;
mod library;
mod traffic;

use library::Library;
use traffic::Traffic;

/// How long a wait polls in all before it sleeps between polls. First as hard as its patience says, then giving way to who else can run.
const SOFT: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_micros(100);

/// A process's seat in a session over Open MPI.
pub struct Mpi {
    shared: Arc<Shared>,
}

/// The receiving end of a process's seat.
pub struct MpiInbox {
    shared: Arc<Shared>,
    patience: Patience,
}

/// The seat that this process has.
static TAKEN: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

struct Shared {
    traffic: Mutex<Traffic>,
    /// 1 when a wait is to end; slept on.
    woken: AtomicU32,
    rank: Rank,
    size: u32,
}

impl Platform for Mpi {
    const NAME: &'static str = "mpi";
    const RELIABLE: bool = true;
    const ORDERED: bool = false;
    /// MPI counts bytes in 31 bits.
    const LARGEST: usize = 1 << 30;

    type Links = Fragment;
    type Order = Sequencer;
    type Inbox = MpiInbox;

    /// The seat's rank and size are MPI's own if the seat says nothing else ([`Seat::from_environment`]).
    fn join(seat: &Seat) -> Result<(Self, MpiInbox), JoinError> {
        let check = |rank, size| match (rank, size) == (seat.rank, seat.size) {
            true => Ok(()),
            false => Err(refused(format!(
                "Open MPI says that this is rank {rank} of {size}, and the session that it is rank {} of {}: start the program with `antiphon launch --over mpi` or with `mpirun`",
                seat.rank, seat.size
            ))),
        };
        // Before it is begun: who begins MPI must also end it, together with all the others.
        let given = Seat::of_mpirun();
        check(
            given.as_ref().map_or(0, |given| given.rank),
            given.as_ref().map_or(1, |given| given.size),
        )?;
        let library = Library::begin().map_err(refused)?;
        let (rank, size) = (library.rank, library.size);
        check(rank, size)?;
        let shared = Arc::new(Shared {
            traffic: Mutex::new(Traffic::new(library)),
            woken: AtomicU32::new(0),
            rank,
            size,
        });
        *TAKEN.lock() = Arc::downgrade(&shared);
        library::at_exit(leave_at_exit);
        let inbox = MpiInbox {
            shared: Arc::clone(&shared),
            patience: Patience::default(),
        };
        Ok((Self { shared }, inbox))
    }

    fn send(&self, to: Rank, frame: Message) -> Flow {
        if to >= self.shared.size || to == self.shared.rank {
            return Flow::Free;
        }
        self.shared.traffic.lock().send(to, frame)
    }

    fn wake(&self) {
        self.shared.woken.store(1, SeqCst);
        futex::wake(&self.shared.woken, 1);
    }

    fn leave(&self, patience: Duration) {
        self.shared.leave(patience);
    }

    fn untaken(&self, to: Rank) -> usize {
        self.shared.traffic.lock().untaken(to)
    }

    fn transfer(&self, peer: Rank) -> Transfer {
        self.shared.traffic.lock().transfer(peer)
    }

    fn cut_off(&self, rank: Rank) {
        self.shared.traffic.lock().cut_off(rank);
    }

    fn gave_up(&self, rank: Rank) {
        self.shared.traffic.lock().give_up(rank);
    }

    fn allot(&self, _count: u32) -> Result<Vec<Seat>, JoinError> {
        Err(refused(
            "processes cannot be added to a session over Open MPI: start it with more of them, or use tcp".into(),
        ))
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        self.leave(farewell::PATIENCE);
    }
}

/// A process that ends with its session still held, by an upcall for instance, leaves it all the same; for Open MPI it would be one that failed.
extern "C" fn leave_at_exit() {
    let taken = TAKEN.lock().upgrade();
    if let Some(shared) = taken {
        shared.leave(farewell::PATIENCE);
    }
}

impl Shared {
    /// Waits for the others to leave as well, as MPI does: only then may it be ended. Where one of them never will it ends all.
    fn leave(&self, patience: Duration) {
        let said = self
            .traffic
            .lock()
            .say_farewell(self.rank, self.size, patience);
        let Some(mut leaving) = said else {
            return;
        };
        let mut pause = Duration::from_micros(1);
        loop {
            let mut traffic = self.traffic.lock();
            if traffic.is_over(self.rank, self.size) {
                return traffic.end();
            }
            if let Some(lost) = traffic.look_after(&mut leaving) {
                eprintln!(
                    "antiphon: rank {lost} is lost: it does not answer. Over mpi no process can leave a session without the others, so this ends all of them"
                );
                return traffic.abort();
            }
            drop(traffic);
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

impl Inbox for MpiInbox {
    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let began = Instant::now();
        let now = match self.poll(until, events) {
            Ok(now) => return Some(now),
            Err(now) => now,
        };
        let hard = self.patience.spin();
        let (mut now, mut has_spun) = (now, !hard.is_zero());
        loop {
            match now - began {
                waited if waited < hard => std::hint::spin_loop(),
                waited if waited < SOFT => {
                    std::thread::yield_now();
                    // Whoever shares the processor may be who is waited for.
                    if std::mem::take(&mut has_spun) {
                        self.patience.gave_way(now.elapsed());
                    }
                }
                _ => {
                    let left = until.map_or(PAUSE, |until| (until - now).min(PAUSE));
                    futex::wait(&self.shared.woken, 0, Some(left));
                }
            }
            now = match self.poll(until, events) {
                Ok(ended) => {
                    if has_spun {
                        self.patience.found();
                    }
                    return Some(ended);
                }
                Err(now) => now,
            };
        }
    }
}

impl MpiInbox {
    /// Has Open MPI go on, and takes what is there. The time, in `Ok` if the wait is over.
    fn poll(&self, until: Option<Instant>, events: &mut Vec<Event>) -> Result<Instant, Instant> {
        let before = events.len();
        self.shared.traffic.lock().turn(events);
        let now = Instant::now();
        let is_over = events.len() > before
            || self.shared.woken.swap(0, SeqCst) != 0
            || until.is_some_and(|until| until <= now);
        if is_over { Ok(now) } else { Err(now) }
    }
}

fn refused(why: String) -> JoinError {
    JoinError::Refused {
        platform: Mpi::NAME,
        why,
    }
}
