//! The state that the job servers of a run-time share.

use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, nanoseconds};
use crate::counters::{Counters, Tally};
use crate::fiber::Fiber;
use crate::histograms::Histograms;
use crate::idle::{Rest, Work};
use crate::idle_parker::IdleWaiters;
use crate::outside::Inbox;
use crate::overflow::OnOverflow;
use crate::policy::Policy;
use crate::ready::Ready;
use crate::run::{OnTurn, Settings, Turn};
use crate::run_id::Registration;
use crate::schedule::{Director, Schedule};
use crate::servers::{Lock, Servers, Word};
use crate::spin_wait::{self, SpinWait};
use crate::stack::{Pool, Stack, StackError};
use crate::timers::{Alarm, Timers};

/// The state that the job servers of a run-time share.
#[doc(hidden)]
pub struct Shared<S: Servers> {
    pub(crate) registration: Registration,
    pub(crate) policy: Policy,
    pub(crate) stack_bytes: usize,
    pub(crate) on_overflow: Option<OnOverflow>,
    /// Function that runs as a fiber whenever all others wait for ever.
    pub(crate) at_rest: Option<fn()>,
    pub(crate) on_turn: Option<OnTurn>,
    pub(crate) on_server: Option<fn()>,
    pub(crate) on_discard: Option<fn(*mut ())>,
    /// The counts of each server.
    pub(crate) tallies: Box<[Tally]>,
    has_real_ticks: bool,
    pub(crate) clock: Clock<S>,
    /// Virtual time that a turn takes whose fiber stays ready.
    turn_ns: u64,
    /// A ready list for each server.
    pub(crate) queues: Vec<Apart<S::Lock<Ready<S>>>>,
    /// Each server's spin wait before it parks, if servers spin.
    spin_waits: Option<Vec<Apart<SpinWait>>>,
    pub(crate) store: S::Lock<Store<S>>,
    pub(crate) director: Option<S::Lock<Director>>,
    pub(crate) histograms: Option<S::Lock<Histograms>>,
    timers: S::Lock<Timers<S>>,
    /// Time of the first alarm, so that no server takes the lock for nothing; `u64::MAX` if there
    /// is none.
    first_alarm_ns: S::Word,
    pub(crate) idle_waiters: S::Lock<IdleWaiters<S>>,
    pub(crate) inbox: Arc<Inbox>,
}

/// A value that one server uses more than the others, on cache lines of its own. Neighbours in
/// memory would slow each other down.
#[repr(align(128))]
pub(crate) struct Apart<T>(T);

impl<T> Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Descriptors and stacks.
pub(crate) struct Store<S: Servers> {
    pub pool: Pool,
    free: Vec<(NonNull<Fiber<S>>, Stack)>,
    /// All descriptors ever made. They are boxed, since queues and handles point at them.
    #[allow(clippy::vec_box)]
    all: Vec<Box<Fiber<S>>>,
}

// SAFETY: descriptors go from server to server through locks. `Fiber` says which part belongs to
// which thread.
unsafe impl<S: Servers> Send for Store<S> {}
// SAFETY: every field is behind a lock, atomic, or never changed. With `One` the value is not
// shared between OS threads at all.
unsafe impl Sync for Shared<crate::servers::Many> {}
unsafe impl Send for Shared<crate::servers::Many> {}

impl<S: Servers> Store<S> {
    pub fn take(&mut self) -> Result<(NonNull<Fiber<S>>, Stack), StackError> {
        if let Some(pair) = self.free.pop() {
            return Ok(pair);
        }
        let stack = self.pool.take()?;
        self.all.push(Box::new(Fiber::new()));
        let fiber = self.all.last().map(|f| NonNull::from(&**f));
        Ok((fiber.expect("pushed just now"), stack))
    }

    pub fn put_back(&mut self, fiber: NonNull<Fiber<S>>, stack: Stack) {
        self.free.push((fiber, stack));
    }

    /// Returns every descriptor.
    pub fn all(&self) -> impl Iterator<Item = &Fiber<S>> {
        self.all.iter().map(|f| &**f)
    }
}

impl<S: Servers> Shared<S> {
    pub(crate) fn new(settings: &Settings) -> Shared<S> {
        let first_alarm_ns = S::Word::default();
        first_alarm_ns.set(u64::MAX);
        let director = settings.director();
        Shared {
            registration: Registration::new(),
            policy: settings.policy,
            stack_bytes: settings.stack_bytes,
            on_overflow: settings.on_overflow,
            at_rest: settings.at_rest,
            on_turn: settings.on_turn,
            on_server: settings.on_server,
            on_discard: settings.on_discard,
            tallies: (0..settings.servers).map(|_| Tally::default()).collect(),
            clock: Clock::new(director.is_some()),
            turn_ns: nanoseconds(settings.turn_time),
            has_real_ticks: matches!(settings.schedule, Schedule::Fair | Schedule::Recorded),
            queues: (0..settings.servers)
                .map(|n| Apart(S::Lock::new(Ready::new(n))))
                .collect(),
            spin_waits: (S::SEVERAL && spin_wait::have_processors(settings.servers)).then(|| {
                (0..settings.servers)
                    .map(|_| Apart(SpinWait::default()))
                    .collect()
            }),
            store: S::Lock::new(Store {
                pool: Pool::new(settings.stack_bytes),
                free: Vec::new(),
                all: Vec::new(),
            }),
            director: director.map(S::Lock::new),
            histograms: settings
                .keeps_histograms
                .then(|| S::Lock::new(Histograms::new())),
            timers: S::Lock::new(Timers::default()),
            first_alarm_ns,
            idle_waiters: S::Lock::new(IdleWaiters::default()),
            inbox: Inbox::new(settings.servers, settings.at_rest.is_some()),
        }
    }

    /// Returns the time between ticks of a timer, if there is to be one.
    pub(crate) fn tick_every(&self) -> Option<Duration> {
        self.policy.quantum().filter(|_| self.has_real_ticks)
    }

    /// Returns the counts of all servers so far.
    pub(crate) fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.tallies.iter().for_each(|t| t.add_to(&mut counters));
        counters
    }

    /// Ends the run: a server could not begin.
    pub(crate) fn stop(&self) {
        self.inbox.idle.stop();
    }

    /// Appends a fiber to a ready list: its home's, or that of the server `here`.
    #[inline]
    pub(crate) fn make_ready(&self, fiber: NonNull<Fiber<S>>, here: usize) {
        // SAFETY: descriptors live as long as the run-time; this one is in no queue, so it is the
        // caller's.
        let it = unsafe { fiber.as_ref() };
        let queue = if S::SEVERAL {
            it.home.get().unwrap_or(here)
        } else {
            0
        };
        if self.histograms.is_some() {
            it.ready_ns.set(self.clock.now_ns());
        }
        let mut ready = self.queues[queue].lock();
        ready.push(fiber);
        let length = ready.length();
        drop(ready);
        if S::SEVERAL
            && queue != here
            && let Some(spin_waits) = &self.spin_waits
        {
            spin_waits[queue].tell();
        }
        // A single ready fiber of a busy server is most often about to run there. To wake another
        // processor for it costs more than it gains. A nap of idle servers bounds its wait
        // otherwise.
        if S::SEVERAL && (queue != here || length > 1) {
            self.inbox.idle.announce(queue != here);
        }
    }

    /// Wakes a fiber, if it is still in that parking state.
    #[inline]
    pub(crate) fn wake(&self, fiber: NonNull<Fiber<S>>, parking: u64, here: usize) {
        // SAFETY: descriptors live as long as the run-time.
        let it = unsafe { fiber.as_ref() };
        if parking & 1 == 1 && it.parking.replace(parking, parking.wrapping_add(1)) {
            self.make_ready(fiber, here);
        }
    }

    pub(crate) fn set_alarm(&self, at_ns: u64, alarm: Alarm<S>) {
        let mut timers = self.timers.lock();
        let first = timers.set(at_ns, alarm);
        self.first_alarm_ns.set(first);
        drop(timers);
        if S::SEVERAL && first == at_ns {
            self.inbox.idle.announce(false);
        }
    }

    /// Lets virtual time pass for a turn whose fiber stays ready. Otherwise fibers that wait busily
    /// for a time would stop the clock for ever.
    pub(crate) fn pass_turn(&self, here: usize) {
        if self.turn_ns == 0 {
            return;
        }
        let now_ns = self.clock.now_ns().saturating_add(self.turn_ns);
        self.clock.reach(now_ns);
        if self.first_alarm_ns.get() <= now_ns {
            self.look_around(here);
        }
    }

    /// Wakes the fibers whose time has come, and those whose outside event has come.
    pub(crate) fn look_around(&self, here: usize) {
        self.inbox
            .deliver(|fiber, parking| self.wake(fiber, parking, here));
        if self.first_alarm_ns.get() == u64::MAX {
            return;
        }
        let now_ns = self.clock.now_ns();
        loop {
            let mut timers = self.timers.lock();
            let due = timers.take_due(now_ns);
            self.first_alarm_ns.set(timers.first_ns());
            drop(timers);
            match due {
                Some(alarm) => self.wake(alarm.fiber, alarm.parking, here),
                None => return,
            }
        }
    }

    /// Takes a fiber from another server's list.
    pub(crate) fn steal(&self, here: usize) -> Option<NonNull<Fiber<S>>> {
        let servers = self.queues.len();
        (1..servers).find_map(|n| self.queues[(here + n) % servers].lock().steal())
    }

    /// Returns the time of the first alarm of a fiber that still waits for it. Stale alarms would
    /// keep the run from its end.
    pub(crate) fn first_alarm(&self) -> u64 {
        if self.first_alarm_ns.get() == u64::MAX {
            return u64::MAX;
        }
        let mut timers = self.timers.lock();
        let first_ns = timers.first_live_ns();
        self.first_alarm_ns.set(first_ns);
        first_ns
    }

    /// Waits for work, or finds that there never will be any. Sets `is_resting` meanwhile.
    pub(crate) fn rest(&self, here: usize, is_resting: &Cell<bool>) -> Rest {
        if let Some(spin_waits) = &self.spin_waits
            && spin_waits[here].watch()
        {
            return Rest::Again;
        }
        if self.wake_idle_waiter(here) {
            return Rest::Again;
        }
        let first_ns = self.first_alarm();
        let alarm = if first_ns == u64::MAX {
            None
        } else {
            Some(first_ns)
        };
        is_resting.set(true);
        let rest = match alarm {
            None => self.inbox.idle.wait(None, || self.work(here, first_ns)),
            Some(at_ns) => match self.clock.reach(at_ns) {
                Some(at) => self.inbox.idle.wait(Some(at), || self.work(here, first_ns)),
                // Virtual time does not wait; outside events have a time of their own.
                None => Rest::Again,
            },
        };
        is_resting.set(false);
        self.look_around(here);
        rest
    }

    /// Returns the work that a server finds when it looks around, and knows of the first alarm.
    pub(crate) fn work(&self, here: usize, first_alarm_ns: u64) -> Work {
        if self.first_alarm_ns.get() != first_alarm_ns || self.inbox.has_letters() {
            return Work::Mine;
        }
        let mut found = match self.inbox.has_waiting() {
            true => Work::Outside,
            false if self.idle_waiters.lock().are_waiting() => Work::IdleWaiters,
            false => Work::None,
        };
        for (number, queue) in self.queues.iter().enumerate() {
            let ready = queue.lock();
            if ready.length() > 0 && (number == here || ready.has_movable()) {
                return Work::Mine;
            }
            if ready.length() > 0 {
                found = Work::Others;
            }
        }
        found
    }

    /// Makes a fiber ready that is to park for a server. Returns false if there is none, or nothing
    /// to wait for.
    fn wake_idle_waiter(&self, here: usize) -> bool {
        // Events that have come already are taken first.
        if !self.inbox.has_waiting() || self.inbox.has_letters() {
            return false;
        }
        let waiter = self.idle_waiters.lock().take();
        waiter
            .inspect(|&(fiber, parking)| self.wake(fiber, parking, here))
            .is_some()
    }

    /// Tells the fibers that wait for idle servers that they need not.
    pub(crate) fn end_idle_waiters(&self, here: usize) {
        let waiting = self.idle_waiters.lock().end();
        for (fiber, parking) in waiting {
            self.wake(fiber, parking, here);
        }
    }

    /// Records how long a fiber was ready before it runs, and returns the time if distributions are
    /// kept.
    #[inline]
    pub(crate) fn note_ready(&self, fiber: &Fiber<S>) -> Option<u64> {
        if self.histograms.is_none() && self.on_turn.is_none() {
            return None;
        }
        let now_ns = self.clock.now_ns();
        if let Some(histograms) = &self.histograms {
            let waited_ns = now_ns.saturating_sub(fiber.ready_ns.get());
            histograms.lock().ready(waited_ns);
        }
        Some(now_ns)
    }

    /// Records how long a fiber ran that began at that time.
    #[inline]
    pub(crate) fn note_turn(&self, server: usize, local: *mut (), began_ns: Option<u64>) {
        let Some(began_ns) = began_ns else { return };
        let now_ns = self.clock.now_ns();
        if let Some(histograms) = &self.histograms {
            histograms.lock().turn(now_ns.saturating_sub(began_ns));
        }
        if let Some(on_turn) = self.on_turn {
            on_turn(&Turn {
                server,
                local,
                began_ns,
                ended_ns: now_ns,
            });
        }
    }
}
