//! A founder: a process that the session began with, which MPI knows.

use std::io::Write;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Mpi;
use super::later::{Later, Place};
use super::library::{self, Library};
use super::traffic::{Note, Traffic};
use crate::message::Message;
use crate::platform::spin_policy::{Kinds, Yielded};
use crate::platform::{Event, Flow, JoinError, LaunchInfo, Rank, Transfer, futex, linger};

/// Time for which a wait polls before it sleeps between polls. It polls hard first, as its spin
/// policy says, and then yields between polls.
const SOFT: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_micros(100);
/// Longest sleep between looks at a session that ends.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
/// Number of hard polls of which one also looks for later processes, since that look is a system
/// call.
const FEW: u32 = 8;

/// Time for which a request for more processes waits until founders listen for them. It is less
/// than the wait for the processes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A founder's sending end.
pub struct Founder {
    shared: Arc<Shared>,
}

/// A founder's receiving end.
pub struct FounderInbox {
    shared: Arc<Shared>,
    spin_policy: Kinds,
    polls: u32,
}

/// The part of this process, if it has one.
static TAKEN: Mutex<Weak<Shared>> = Mutex::new(Weak::new());

struct Shared {
    traffic: Mutex<Traffic>,
    later: Later,
    /// Holds 1 when a wait is to end; the futex of that wait.
    woken: AtomicU32,
    rank: Rank,
    size: u32,
}

impl Founder {
    pub fn join(info: &LaunchInfo) -> Result<(Self, FounderInbox), JoinError> {
        let refused = JoinError::refused::<Mpi>;
        let check = |rank, size| match (rank, size) == (info.rank, info.size) {
            true => Ok(()),
            false => Err(refused(format!(
                "Open MPI says that this is rank {rank} of {size}, and the session that it is rank {} of {}: start the program with `antiphon launch --over mpi` or with `mpirun`",
                info.rank, info.size
            ))),
        };
        // The check comes before MPI begins: a process that begins MPI must also end it, together
        // with all others.
        let given = LaunchInfo::of_mpirun();
        check(
            given.as_ref().map_or(0, |given| given.rank),
            given.as_ref().map_or(1, |given| given.size),
        )?;
        let library = Library::begin().map_err(refused)?;
        let (rank, size) = (library.rank, library.size);
        check(rank, size)?;
        let shared = Arc::new(Shared {
            traffic: Mutex::new(Traffic::new(library)),
            later: Later::new(info),
            woken: AtomicU32::new(0),
            rank,
            size,
        });
        *TAKEN.lock() = Arc::downgrade(&shared);
        library::at_exit(leave_at_exit);
        let inbox = FounderInbox {
            shared: Arc::clone(&shared),
            spin_policy: Kinds::default(),
            polls: 0,
        };
        Ok((Self { shared }, inbox))
    }

    pub fn send(&self, to: Rank, frame: Message) -> Flow {
        if to >= self.shared.size {
            return self.shared.later.send(to, frame);
        }
        if to == self.shared.rank {
            return Flow::Free;
        }
        self.shared.traffic.lock().send(to, frame)
    }

    pub fn wake(&self) {
        self.shared.woken.store(1, SeqCst);
        futex::wake(&self.shared.woken, 1);
    }

    pub fn leave(&self, patience: Duration) {
        self.shared.leave(patience);
    }

    pub fn untaken(&self, to: Rank) -> usize {
        match to < self.shared.size {
            true => self.shared.traffic.lock().untaken(to),
            false => self.shared.later.untaken(to),
        }
    }

    pub fn transfer(&self, peer: Rank) -> Transfer {
        match peer < self.shared.size {
            true => self.shared.traffic.lock().transfer(peer),
            false => self.shared.later.transfer(peer),
        }
    }

    pub fn cut_off(&self, rank: Rank) {
        match rank < self.shared.size {
            true => self.shared.traffic.lock().cut_off(rank),
            false => self.shared.later.cut_off(rank),
        }
    }

    pub fn gave_up(&self, rank: Rank) {
        if rank < self.shared.size {
            self.shared.traffic.lock().give_up(rank);
        }
    }

    pub fn allot(&self, count: u32) -> Result<Vec<LaunchInfo>, JoinError> {
        let shared = &self.shared;
        shared.later.allot(count, PATIENCE, || {
            match shared.rank {
                0 => shared.heed(0, Note::Want),
                _ => shared.traffic.lock().note(0, &Note::Want),
            }
            // A thread that waits for messages polls; one that does not is woken in time.
            self.wake();
        })
    }
}

/// Leaves the session of a process that exits with its session still held, for instance by an
/// upcall. To Open MPI it would otherwise have failed.
extern "C" fn leave_at_exit() {
    let taken = TAKEN.lock().upgrade();
    if let Some(shared) = taken {
        shared.leave(linger::PATIENCE);
    }
}

impl Shared {
    /// Lets Open MPI progress, and takes what is there.
    fn turn(self: &Arc<Self>, events: &mut Vec<Event>) {
        let mut traffic = self.traffic.lock();
        traffic.turn(events);
        let notes = traffic.take_notes();
        drop(traffic);
        for (from, note) in notes {
            self.heed(from, note);
        }
    }

    /// Handles a founder's note, this one's included, on processes to come.
    fn heed(self: &Arc<Self>, from: Rank, note: Note) {
        match note {
            Note::Want => match self.later.place() {
                Ok(place) => {
                    let mut traffic = self.traffic.lock();
                    let open = Note::Open(place.clone());
                    (0..self.size)
                        .filter(|to| *to != self.rank)
                        .for_each(|to| traffic.note(to, &open));
                    drop(traffic);
                    self.open(place);
                }
                Err(why) if from == self.rank => self.later.refuse(why),
                Err(why) => self.traffic.lock().note(from, &Note::Refused(why)),
            },
            Note::Open(place) => self.open(place),
            Note::Refused(why) => self.later.refuse(why),
        }
    }

    /// Opens this process to later processes, on a thread of its own: other founders must do the
    /// same before that is over.
    fn open(self: &Arc<Self>, place: Place) {
        let shared = self.clone();
        let opens = move || shared.later.open(&place);
        let thread = std::thread::Builder::new().name("panda opens".into());
        if let Err(error) = thread.spawn(opens) {
            let why = format!("cannot start a thread for processes that come later: {error}");
            self.later.refuse(why);
        }
    }

    /// Waits for the other founders to leave as well, as MPI does: only then may it end. If a
    /// founder never will, this ends them all.
    fn leave(self: &Arc<Self>, patience: Duration) {
        self.later.leave(patience);
        let said = self.traffic.lock().linger(self.rank, self.size, patience);
        let Some(mut leaving) = said else {
            return self.await_end();
        };
        let mut pause = Duration::from_micros(1);
        loop {
            // Frames that still come are thrown away.
            self.turn(&mut Vec::new());
            let mut traffic = self.traffic.lock();
            if traffic.is_over(self.rank, self.size) {
                return traffic.end();
            }
            if let Some(lost) = traffic.look_after(&mut leaving) {
                // A closed standard error is no reason to stay.
                let _ = writeln!(
                    std::io::stderr(),
                    "antiphon: rank {lost} is lost: it does not answer. Over mpi no process can leave a session without the others, so this ends all of them"
                );
                return traffic.abort();
            }
            drop(traffic);
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits until the thread that leaves has ended MPI. A process that exits before has failed, to
    /// Open MPI.
    fn await_end(&self) {
        while !self.traffic.lock().is_ended() {
            std::thread::sleep(LONGEST_PAUSE);
        }
    }
}

impl FounderInbox {
    pub fn begin_wait(&mut self, has_sent: bool) {
        self.spin_policy.begin(has_sent);
    }

    pub fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        let began = Instant::now();
        let now = match self.poll(until, events) {
            Ok(now) => return Some(now),
            Err(now) => now,
        };
        let hard = self.spin_policy.of_this_wait().spin();
        let (mut now, mut has_spun) = (now, !hard.is_zero());
        loop {
            match now - began {
                waited if waited < hard => std::hint::spin_loop(),
                waited if waited < SOFT => {
                    // A thread that shares the processor may be the awaited one.
                    if std::mem::take(&mut has_spun) {
                        let given = Yielded::way();
                        self.spin_policy
                            .of_this_wait()
                            .gave_way(given.away, given.foreign());
                    } else {
                        std::thread::yield_now();
                    }
                }
                _ => {
                    let left = until.map_or(PAUSE, |until| (until - now).min(PAUSE));
                    let before = events.len();
                    self.shared.later.poll(Some(now), events);
                    if events.len() > before {
                        return Some(now);
                    }
                    futex::wait(&self.shared.woken, 0, Some(left));
                }
            }
            now = match self.poll(until, events) {
                Ok(ended) => {
                    if has_spun {
                        self.spin_policy.of_this_wait().found();
                    }
                    return Some(ended);
                }
                Err(now) => now,
            };
        }
    }

    /// Lets Open MPI progress, and takes what is there. Returns the time, in `Ok` if the wait is
    /// over.
    fn poll(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<Event>,
    ) -> Result<Instant, Instant> {
        let before = events.len();
        self.shared.turn(events);
        self.polls = self.polls.wrapping_add(1);
        let now = Instant::now();
        let is_last = until.is_some_and(|until| until <= now);
        if self.polls.is_multiple_of(FEW) || is_last {
            self.shared.later.poll(None, events);
        }
        let is_over = events.len() > before || self.shared.woken.swap(0, SeqCst) != 0 || is_last;
        if is_over { Ok(now) } else { Err(now) }
    }
}
