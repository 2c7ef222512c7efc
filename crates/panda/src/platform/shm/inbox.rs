//! The receiving end of `shm`.

use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::fence;
use std::time::{Duration, Instant};

use super::crowd::own_processors;
use super::memory::{RANKS, state};
use super::ring::{Corrupt, Receiver, Taken};
use super::shared::Shared;
use super::watch::Watch;
use super::{Shm, join};
use crate::platform::spin_policy::{self, Kinds, SpinPolicy, Waits};
use crate::platform::{Event, Inbox, JoinError, Loss, NoTaker, Rank, Taker, futex};

/// Number of frames taken from one peer before the next has its turn.
const TURN: usize = 32;
/// Bytes taken from one peer before they are handed on. They are still in the caches then, and so
/// are the bytes that later reuse their space.
const WARM: usize = 256 << 10;
/// Longest time that a peer takes to read a KiB of this process's memory. An answer to a long frame
/// takes that much longer in any case.
const READING: Duration = Duration::from_nanos(250);
/// Sleep beyond which an alarm ends the sleep. A timer of its own would cost a sleep as much as its
/// wake does, and most waits of a millisecond end long before their time.
const FAR: Duration = Duration::from_micros(500);
/// Number of processes whose end the system reports to each process.
const WATCHED: usize = 32;
/// Sleeps before this process records again on which processors it may run.
const SLEEPS: u32 = 64;

/// The receiving end of a process's part.
pub struct ShmInbox {
    shared: Arc<Shared>,
    incoming: Vec<Incoming>,
    /// Ranks that were met, whether they are there or gone.
    met: Vec<bool>,
    /// Ranks whose end is known.
    ended: Vec<bool>,
    /// Ranks whose end the system reports.
    watched: Vec<bool>,
    /// Rings that have been opened to this process.
    openings: u32,
    /// Later processes that were there when this one joined, and are still to be reported.
    found: Vec<Rank>,
    changes: u32,
    spin_policy: Kinds,
    sleeps: u32,
    watch: Watch,
}

/// The result of a look at a ring, besides events.
struct Look {
    /// Whether nothing more will ever come.
    is_last: bool,
    /// Whether the taker has a frame.
    is_taken: bool,
}

struct Incoming {
    rank: Rank,
    /// The receiver, once the peer has sent something.
    receiver: Option<Receiver>,
    /// The loss of the peer, once it is lost; reported after the last of its frames.
    loss: Option<Loss>,
    /// Whether the last look found nothing more.
    is_empty: bool,
}

impl ShmInbox {
    pub(super) fn new(shared: Arc<Shared>, watch: Watch) -> Self {
        let mut inbox = Self {
            changes: shared.header().changes.load(SeqCst),
            shared,
            incoming: Vec::new(),
            met: vec![false; RANKS as usize],
            ended: vec![false; RANKS as usize],
            watched: vec![false; RANKS as usize],
            openings: 0,
            found: Vec::new(),
            spin_policy: Kinds::default(),
            sleeps: 0,
            watch,
        };
        let (rank, size) = (inbox.shared.rank, inbox.shared.size);
        inbox.met[rank as usize] = true;
        for rank in 0..RANKS {
            match inbox.shared.slot(rank).state.load(SeqCst) {
                // Who was spawned and is gone again was never there for us, unless it has sent us something.
                state::LEFT | state::DEAD if rank >= size && !inbox.shared.has_opened(rank) => {
                    inbox.met[rank as usize] = true;
                }
                state::FREE | state::TAKEN | state::NEVER_CAME => {}
                _ => {
                    inbox.meet(rank);
                    inbox.found.extend((rank >= size).then_some(rank));
                }
            }
        }
        // The first turn finds the processes that are gone already.
        inbox.changes = inbox.changes.wrapping_sub(1);
        inbox.watch_neighbours();
        inbox
    }

    fn meet(&mut self, rank: Rank) {
        if std::mem::replace(&mut self.met[rank as usize], true) {
            return;
        }
        self.shared.connect(rank);
        self.incoming.push(Incoming {
            rank,
            receiver: None,
            loss: None,
            is_empty: false,
        });
    }

    /// Has the system report the ends of the next processes by rank. A process that learns of an
    /// end tells all, so one watcher is enough for each.
    fn watch_neighbours(&mut self) {
        let shared = &self.shared;
        let (own, own_pid) = (shared.rank, std::process::id());
        let known = shared.header().next_rank.load(Relaxed).min(RANKS);
        let next = (own + 1..known).chain(0..own.min(known));
        let is_there = |rank: &Rank| {
            let slot = shared.slot(*rank);
            // Members in this process are threads.
            slot.state.load(SeqCst) == state::JOINED && slot.pid.load(Relaxed) != own_pid
        };
        for rank in next.filter(is_there).take(WATCHED) {
            if std::mem::replace(&mut self.watched[rank as usize], true) {
                continue;
            }
            let slot = shared.slot(rank);
            let (pid, started) = (slot.pid.load(Relaxed), slot.started.load(Relaxed));
            if !self.watch.add(rank, pid, started) {
                join::note_end(shared, rank);
            }
        }
    }

    /// Opens the rings of peers that have sent something for the first time.
    #[cold]
    fn open_rings(&mut self) {
        self.openings = self.shared.openings();
        for peer in &mut self.incoming {
            if peer.receiver.is_some() || !self.shared.has_opened(peer.rank) {
                continue;
            }
            match self.shared.receiver(peer.rank) {
                Ok(receiver) => peer.receiver = Some(receiver),
                Err(error) => {
                    let reason = JoinError::system::<Shm>("map a ring", error).to_string();
                    peer.loss.get_or_insert(Loss {
                        is_certain: false,
                        has_left: false,
                        reason,
                    });
                }
            }
        }
    }

    /// Looks at the slots, which have changed: processes came or went.
    #[cold]
    fn look_around(&mut self, events: &mut Vec<Event>) {
        self.changes = self.shared.header().changes.load(SeqCst);
        events.extend(self.found.drain(..).map(|rank| Event::Joined {
            rank,
            name: self.shared.name(rank),
        }));
        for rank in 0..self.shared.header().next_rank.load(Relaxed).min(RANKS) {
            let state = self.shared.slot(rank).state.load(SeqCst);
            if state < state::JOINED || rank == self.shared.rank {
                continue;
            }
            if !self.met[rank as usize] {
                events.push(Event::Joined {
                    rank,
                    name: self.shared.name(rank),
                });
                self.meet(rank);
            }
            if self.ended[rank as usize] {
                continue;
            }
            let reason = match state {
                state::LEFT => "left the session",
                state::DEAD => "ended without leaving the session",
                _ => continue,
            };
            self.ended[rank as usize] = true;
            let known = self.incoming.iter_mut().find(|peer| peer.rank == rank);
            if let Some(peer) = known.filter(|peer| peer.loss.is_none()) {
                peer.loss = Some(Loss {
                    is_certain: true,
                    has_left: state == state::LEFT,
                    reason: reason.into(),
                });
            }
        }
        self.watch_neighbours();
        // Peers may have sent something before they were known here.
        self.openings = self.openings.wrapping_sub(1);
    }

    /// Takes what is there; the taker may have the first frame. Returns whether there was anything.
    #[inline]
    fn turn(&mut self, events: &mut Vec<Event>, taker: &mut dyn Taker) -> bool {
        let before = events.len();
        if self.shared.header().changes.load(Relaxed) != self.changes {
            self.look_around(events);
        }
        if self.shared.has_news.load(Relaxed) {
            self.take_news(events);
        }
        if self.shared.backlogs.load(Relaxed) > 0 {
            self.shared.go_on();
        }
        // The rings come after the departures: a peer opens its ring before it leaves.
        if self.shared.openings() != self.openings {
            self.open_rings();
        }
        let (mut is_over, mut is_taken) = (false, false);
        for peer in &mut self.incoming {
            let look = peer.take(&self.shared, events, taker);
            is_over |= look.is_last;
            is_taken |= look.is_taken;
        }
        if is_over {
            self.take_leave(events);
        }
        let is_any = is_taken || events.len() > before;
        // A process may have come since the last look, and one of these frames may refer to it.
        if is_any && self.shared.header().changes.load(Relaxed) != self.changes {
            self.look_around(events);
        }
        is_any
    }

    #[cold]
    fn take_news(&mut self, events: &mut Vec<Event>) {
        self.shared.has_news.store(false, SeqCst);
        let rooms = std::mem::take(&mut *self.shared.rooms.lock());
        events.extend(rooms.into_iter().map(|to| Event::Room { to }));
        for (rank, fault) in std::mem::take(&mut *self.shared.faults.lock()) {
            if let Some(peer) = self.incoming.iter_mut().find(|peer| peer.rank == rank) {
                peer.loss.get_or_insert(fault.into());
            }
        }
        for rank in std::mem::take(&mut *self.shared.cut_off.lock()) {
            self.incoming.retain(|peer| peer.rank != rank);
        }
    }

    /// Reports lost peers whose frames are all taken.
    #[cold]
    fn take_leave(&mut self, events: &mut Vec<Event>) {
        let shared = &self.shared;
        self.incoming.retain_mut(|peer| {
            let Some(loss) = peer.loss.take_if(|_| peer.is_empty) else {
                return true;
            };
            shared.close(peer.rank);
            events.push(Event::Lost {
                rank: peer.rank,
                loss,
            });
            false
        });
    }

    /// Waits until something is there, after a spin if that is in no process's way. Returns whether
    /// the taker took it, and the time if it was read.
    fn wait(
        &mut self,
        now: Instant,
        until: Option<Instant>,
        events: &mut Vec<Event>,
        taker: &mut dyn Taker,
    ) -> (bool, Option<Instant>) {
        let mut waiting = Waiting {
            inbox: self,
            taker,
            has_any: false,
        };
        let shared = &waiting.inbox.shared;
        if shared.is_crowded() {
            let seen = spin_policy::sleep_in_a_crowd(&mut waiting, now, until, events);
            return (waiting.has_any, seen);
        }
        // No answer comes before the peer has read the frame that it answers.
        let reading = match shared.backlogs.load(Relaxed) > 0 {
            true => READING * shared.lent_kib(),
            false => Duration::ZERO,
        };
        let seen = spin_policy::wait(&mut waiting, now, reading, until, events);
        (waiting.has_any, seen)
    }

    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>) {
        let until = self.shared.pool.tidy(now, until);
        self.sleeps += 1;
        if self.sleeps.is_multiple_of(SLEEPS) {
            let slot = self.shared.slot(self.shared.rank);
            for (word, processors) in slot.processors.iter().zip(own_processors()) {
                word.store(processors, Relaxed);
            }
        }
        for peer in &mut self.incoming {
            if peer.receiver.as_mut().is_some_and(Receiver::owes_bell) {
                self.shared.ring(peer.rank);
            }
        }
        let shared = Arc::clone(&self.shared);
        let bell = &shared.slot(shared.rank).bell.asleep;
        bell.store(1, Relaxed);
        // Pairs with the fence in `Shared::ring`.
        fence(SeqCst);
        if !self.has_any(events) && !shared.woken.load(SeqCst) {
            let now = now.unwrap_or_else(Instant::now);
            let left = until.map(|until| until.saturating_duration_since(now));
            match (until, left) {
                (Some(until), Some(left)) if left > FAR => {
                    self.watch.wake_at(until);
                    futex::wait(bell, 1, None);
                    self.watch.is_awake();
                }
                (_, Some(left)) if left.is_zero() => {}
                _ => futex::wait(bell, 1, left),
            }
        }
        bell.store(0, Relaxed);
    }

    /// Returns the rings through which something comes.
    fn rings(&self) -> impl Iterator<Item = &Receiver> {
        self.incoming
            .iter()
            .filter_map(|peer| peer.receiver.as_ref())
    }

    /// Returns whether there is something to take, or something was taken. This is cheaper than a
    /// turn if nothing waits to go out.
    fn has_any(&mut self, events: &mut Vec<Event>) -> bool {
        if self.shared.backlogs.load(Relaxed) > 0 {
            return self.turn(events, &mut NoTaker);
        }
        self.shared.header().changes.load(Relaxed) != self.changes
            || self.shared.has_news.load(Relaxed)
            || self.shared.openings() != self.openings
            || self.rings().any(Receiver::has_any)
    }
}

/// An inbox that waits for a taker.
struct Waiting<'a> {
    inbox: &'a mut ShmInbox,
    taker: &'a mut dyn Taker,
    /// Whether something was taken.
    has_any: bool,
}

impl Waits for Waiting<'_> {
    const LOOKS: u32 = 32;

    fn spin_policy(&mut self) -> &mut SpinPolicy {
        self.inbox.spin_policy.of_this_wait()
    }

    fn progress(&self) -> u64 {
        let positions = self.inbox.rings().map(Receiver::position);
        positions.fold(0, u64::wrapping_add)
    }

    #[inline]
    fn look(&mut self, events: &mut Vec<Event>) -> bool {
        self.has_any = self.inbox.turn(events, self.taker);
        self.has_any || self.inbox.shared.woken.load(Relaxed)
    }

    fn sleep(&mut self, now: Option<Instant>, until: Option<Instant>, events: &mut Vec<Event>) {
        self.inbox.sleep(now, until, events);
    }
}

impl Incoming {
    /// Takes what is there, up to a number, or the first frame alone if the taker wants it.
    #[inline]
    fn take(&mut self, shared: &Shared, events: &mut Vec<Event>, taker: &mut dyn Taker) -> Look {
        let Some(receiver) = &mut self.receiver else {
            self.is_empty = true;
            return Look {
                is_last: self.loss.is_some(),
                is_taken: false,
            };
        };
        self.is_empty = false;
        let before = events.len();
        let (from, mut is_taken, mut bytes) = (self.rank, false, 0);
        for _ in 0..TURN {
            if bytes >= WARM {
                break;
            }
            let is_first = events.is_empty();
            match receiver.take_or(|frame| is_first && taker.take(from, frame)) {
                Ok(Taken::Frame(frame)) => {
                    bytes += frame.len();
                    events.push(Event::Frame { from, frame });
                }
                Ok(Taken::Already) => {
                    is_taken = true;
                    break;
                }
                Ok(Taken::Nothing) => {
                    self.is_empty = true;
                    break;
                }
                Err(fault) => {
                    self.is_empty = true;
                    self.loss.get_or_insert(fault.into());
                    return Look {
                        is_last: true,
                        is_taken,
                    };
                }
            }
        }
        let is_any = is_taken || events.len() > before;
        // A thread that waits for the arrivals goes on at once. The sender learns of the rest when
        // nothing comes.
        if (!is_any || receiver.owes_much()) && receiver.tell() {
            shared.ring(self.rank);
        }
        Look {
            is_last: self.loss.is_some() && self.is_empty,
            is_taken,
        }
    }
}

impl From<Corrupt> for Loss {
    fn from(Corrupt(what): Corrupt) -> Self {
        Self {
            is_certain: false,
            has_left: false,
            reason: format!("wrote nonsense into shared memory: {what}"),
        }
    }
}

impl Inbox for ShmInbox {
    fn begin_wait(&mut self, has_sent: bool) {
        self.spin_policy.begin(has_sent);
    }

    fn receive(&mut self, until: Option<Instant>, events: &mut Vec<Event>) -> Option<Instant> {
        self.receive_for(until, events, &mut NoTaker)
    }

    fn receive_for(
        &mut self,
        until: Option<Instant>,
        events: &mut Vec<Event>,
        taker: &mut dyn Taker,
    ) -> Option<Instant> {
        if self.turn(events, taker) {
            return None;
        }
        let now = Instant::now();
        let mut seen = Some(now);
        if !self.shared.woken.load(Acquire) && until.is_none_or(|until| now < until) {
            let has_any;
            (has_any, seen) = self.wait(now, until, events, taker);
            if !has_any {
                self.turn(events, taker);
            }
        }
        // What else there is stays in the rings.
        if self.shared.woken.load(Relaxed) {
            self.shared.woken.store(false, SeqCst);
        }
        seen
    }
}
