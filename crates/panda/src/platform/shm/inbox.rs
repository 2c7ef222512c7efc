//! The receiving end.

use std::io;
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
use crate::platform::patience::{self, Kinds, Patience, Waits};
use crate::platform::{Event, Inbox, JoinError, Loss, NoTaker, Rank, Taker, futex};

/// Frames that are taken from one peer before the next has its turn.
const TURN: usize = 32;
/// Bytes that are taken from one peer before they are handed on: they lie in the caches still, and so will those that come into their space after them.
const WARM: usize = 256 << 10;
/// What a peer takes at most to read a KiB of this process's memory: an answer to a long frame takes that much longer in any case.
const READING: Duration = Duration::from_nanos(250);
/// Sleeps longer than this are left to an alarm to end.
const FAR: Duration = Duration::from_millis(20);
/// Sleeps before this process says again where it may run.
const SLEEPS: u32 = 64;

/// The receiving end of a process's part.
pub struct ShmInbox {
    shared: Arc<Shared>,
    incoming: Vec<Incoming>,
    /// Ranks that were met, there or gone.
    met: Vec<bool>,
    /// Later processes that were there when this one joined, and that it has not told of.
    found: Vec<Rank>,
    changes: u32,
    patience: Kinds,
    sleeps: u32,
    watch: Watch,
}

/// What a look at a ring found besides events.
struct Look {
    /// That was the last there will ever be.
    is_last: bool,
    /// The taker has a frame.
    is_taken: bool,
}

struct Incoming {
    rank: Rank,
    receiver: Receiver,
    /// How the peer was lost, once it is; told after the last of its frames.
    loss: Option<Loss>,
    /// Nothing more was there at the last look.
    is_empty: bool,
}

impl ShmInbox {
    pub(super) fn new(shared: Arc<Shared>, watch: Watch) -> io::Result<Self> {
        let mut inbox = Self {
            changes: shared.header().changes.load(SeqCst),
            shared,
            incoming: Vec::new(),
            met: vec![false; RANKS as usize],
            found: Vec::new(),
            patience: Kinds::default(),
            sleeps: 0,
            watch,
        };
        let (rank, size) = (inbox.shared.rank, inbox.shared.size);
        inbox.met[rank as usize] = true;
        for rank in 0..RANKS {
            match inbox.shared.slot(rank).state.load(SeqCst) {
                // Who was spawned and is gone again was never there for us.
                state::LEFT | state::DEAD if rank >= size => inbox.met[rank as usize] = true,
                state::FREE | state::TAKEN => {}
                _ => {
                    inbox.meet(rank)?;
                    inbox.found.extend((rank >= size).then_some(rank));
                }
            }
        }
        // Those that are gone already are found in the first turn.
        inbox.changes = inbox.changes.wrapping_sub(1);
        Ok(inbox)
    }

    fn meet(&mut self, rank: Rank) -> io::Result<()> {
        if std::mem::replace(&mut self.met[rank as usize], true) {
            return Ok(());
        }
        let slot = self.shared.slot(rank);
        let receiver = self.shared.connect(rank)?;
        let (pid, started) = (slot.pid.load(Relaxed), slot.started.load(Relaxed));
        if pid != std::process::id() && !self.watch.add(rank, pid, started) {
            join::note_end(&self.shared, rank);
        }
        self.incoming.push(Incoming {
            rank,
            receiver,
            loss: None,
            is_empty: false,
        });
        Ok(())
    }

    /// Slots have changed: who came, who went.
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
                if let Err(error) = self.meet(rank) {
                    let reason = JoinError::system::<Shm>("map a ring", error).to_string();
                    events.push(lost(rank, false, reason));
                }
            }
            let reason = match state {
                state::LEFT => "left the session",
                state::DEAD => "ended without leaving the session",
                _ => continue,
            };
            let known = self.incoming.iter_mut().find(|peer| peer.rank == rank);
            if let Some(peer) = known.filter(|peer| peer.loss.is_none()) {
                peer.loss = Some(Loss {
                    is_certain: true,
                    has_left: state == state::LEFT,
                    reason: reason.into(),
                });
            }
        }
    }

    /// Takes what is there, of which the taker may have the first frame. True if that was something.
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
        // Somebody may have come since we looked, of whom one of these frames tells.
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

    /// Those that are lost and whose frames are all taken.
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

    /// Waits until something is there, spinning first where that is in nobody's way; whether it was taken, and the time then, if it was read.
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
            let seen = patience::sleep_in_a_crowd(&mut waiting, now, until, events);
            return (waiting.has_any, seen);
        }
        // No answer comes before the peer has read what it answers.
        let reading = match shared.backlogs.load(Relaxed) > 0 {
            true => READING * shared.lent_kib(),
            false => Duration::ZERO,
        };
        let seen = patience::wait(&mut waiting, now, reading, until, events);
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
            if peer.receiver.owes_bell() {
                self.shared.ring(peer.rank);
            }
        }
        let shared = Arc::clone(&self.shared);
        let bell = &shared.slot(shared.rank).bell.asleep;
        bell.store(1, Relaxed);
        // Pairs with the fence of who rings.
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

    /// Whether there is something to take, or was and is taken. Cheaper than a turn where nothing waits to go out.
    fn has_any(&mut self, events: &mut Vec<Event>) -> bool {
        if self.shared.backlogs.load(Relaxed) > 0 {
            return self.turn(events, &mut NoTaker);
        }
        self.shared.header().changes.load(Relaxed) != self.changes
            || self.shared.has_news.load(Relaxed)
            || self.incoming.iter().any(|peer| peer.receiver.has_any())
    }
}

/// An inbox that is waited on for a taker.
struct Waiting<'a> {
    inbox: &'a mut ShmInbox,
    taker: &'a mut dyn Taker,
    /// Something was taken.
    has_any: bool,
}

impl Waits for Waiting<'_> {
    const LOOKS: u32 = 32;

    fn patience(&mut self) -> &mut Patience {
        self.inbox.patience.of_this_wait()
    }

    fn progress(&self) -> u64 {
        let rings = &self.inbox.incoming;
        let positions = rings.iter().map(|peer| peer.receiver.position());
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
        self.is_empty = false;
        let before = events.len();
        let (from, mut is_taken, mut bytes) = (self.rank, false, 0);
        for _ in 0..TURN {
            if bytes >= WARM {
                break;
            }
            let is_first = events.is_empty();
            match self
                .receiver
                .take_or(|frame| is_first && taker.take(from, frame))
            {
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
        // Whoever waits for what has come goes on at once: the rest is told when nothing comes.
        if (!is_any || self.receiver.owes_much()) && self.receiver.tell() {
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

fn lost(rank: Rank, is_certain: bool, reason: String) -> Event {
    Event::Lost {
        rank,
        loss: Loss {
            is_certain,
            has_left: false,
            reason,
        },
    }
}

impl Inbox for ShmInbox {
    fn begin_wait(&mut self, has_sent: bool) {
        self.patience.begin(has_sent);
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
        // What else there is stays there.
        if self.shared.woken.load(Relaxed) {
            self.shared.woken.store(false, SeqCst);
        }
        seen
    }
}
