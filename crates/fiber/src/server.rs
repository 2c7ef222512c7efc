//! A job server: an OS thread that runs fibers, one at a time.

use std::cell::{Cell, OnceCell};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::counters::{Cause, Tally, one_more};
use crate::fiber::Fiber;
use crate::idle::Rest;
use crate::run_id::RunId;
use crate::servers::{HeldLock, Lock, Servers, Word};
use crate::shared::Shared;
use crate::spawn::{Builder, start};
use crate::stack::{Pool, Stack, StackError};
use crate::timers::Alarm;

/// Dispatches between two looks at the clock, at other servers' work and at files, while the server
/// has work of its own.
const DISPATCHES_A_LOOK: u32 = 64;

/// Number of ended fibers, with their stacks, that a server keeps for its next ones.
const MOST_SPARE: usize = 256;

/// A job server. Only its own OS thread touches anything in it.
#[doc(hidden)]
pub struct Server<S: Servers> {
    pub(crate) shared: S::Ref<Shared<S>>,
    pub(crate) number: usize,
    /// Run that it serves.
    pub(crate) run: RunId,
    pub(crate) current: Cell<Option<NonNull<Fiber<S>>>>,
    /// Whether a tick must wait: the run-time is at work, or the fiber may not be switched
    /// anywhere.
    pub(crate) is_busy: Cell<bool>,
    /// Whether a tick waits.
    pub(crate) tick: Cell<bool>,
    /// Polls until the next switch.
    pub(crate) budget: Cell<i64>,
    tally: NonNull<Tally>,
    /// Value of the budget after a switch by count, or a yield.
    full_budget: i64,
    /// Whether a director chooses the fibers.
    pub(crate) is_directed: bool,
    /// Whether the fiber that left is ready; otherwise it waits as `wait` says.
    leaves_ready: Cell<bool>,
    wait: Cell<Parking>,
    /// Fiber to run next, by a named yield.
    named: Cell<Option<NonNull<Fiber<S>>>>,
    /// The running fiber's own word.
    pub(crate) local: Cell<*mut ()>,
    spare: std::cell::RefCell<Vec<(NonNull<Fiber<S>>, Stack)>>,
    /// Budget at the begin of the present turn, in a directed run.
    turn_budget: Cell<i64>,
    /// Whether the server sleeps until there is work.
    pub(crate) is_resting: Cell<bool>,
    /// Whether a time slice has ended since the last look: what waits for something outside must not
    /// wait for many slices of a busy fiber.
    is_look_due: Cell<bool>,
    /// Stack for code that expects the room of an OS thread's, made when it is first needed.
    roomy_stack: OnceCell<Stack>,
}

/// Bytes of a server's roomy stack, as Linux gives the first thread of a process.
const ROOMY_BYTES: usize = 8 << 20;

/// The wait of a fiber that has left its stack. If it has a time an alarm is set; then the lock of
/// the awaited object is released.
#[derive(Clone, Copy)]
struct Parking {
    held: HeldLock,
    until_ns: Option<u64>,
}

impl<S: Servers> Server<S> {
    pub(crate) fn new(shared: S::Ref<Shared<S>>, number: usize) -> Server<S> {
        let budget = shared.policy.budget();
        let is_directed = shared.director.is_some();
        let tally = NonNull::from(&shared.tallies[number]);
        let run = shared.registration.run();
        Server {
            shared,
            run,
            tally,
            number,
            current: Cell::new(None),
            is_busy: Cell::new(true),
            tick: Cell::new(false),
            budget: Cell::new(budget),
            full_budget: budget,
            is_directed,
            leaves_ready: Cell::new(true),
            wait: Cell::new(Parking {
                held: HeldLock::NONE,
                until_ns: None,
            }),
            named: Cell::new(None),
            local: Cell::new(std::ptr::null_mut()),
            spare: std::cell::RefCell::default(),
            turn_budget: Cell::new(i64::MAX),
            is_resting: Cell::new(false),
            is_look_due: Cell::new(false),
            roomy_stack: OnceCell::new(),
        }
    }

    /// Runs fibers until none will ever be ready again.
    pub(crate) fn serve(&self) {
        let mut to_look = DISPATCHES_A_LOOK;
        loop {
            to_look -= 1;
            if to_look == 0 || self.is_look_due.get() {
                to_look = DISPATCHES_A_LOOK;
                self.is_look_due.set(false);
                self.shared.look_around(self.number);
            }
            match self.next() {
                Some(fiber) => self.run(fiber),
                None => match self.shared.rest(self.number, &self.is_resting) {
                    Rest::Over => return,
                    Rest::Ending => self.shared.end_idle_waiters(self.number),
                    Rest::LastWords => self.say_last_words(),
                    Rest::Again => {}
                },
            }
        }
    }

    fn say_last_words(&self) {
        let Some(at_rest) = self.shared.at_rest else {
            return;
        };
        // Without memory for one more stack, the run ends as if there were no last words.
        if start(self, Builder::default(), at_rest).is_err() {
            self.shared.stop();
        }
    }

    /// Returns its counts.
    #[inline]
    pub(crate) fn tally(&self) -> &Tally {
        // SAFETY: the tally is in `shared`, which lives as long as its servers and does not move
        // its tallies.
        unsafe { self.tally.as_ref() }
    }

    #[inline]
    fn next(&self) -> Option<NonNull<Fiber<S>>> {
        if let Some(fiber) = self.named.take() {
            return Some(fiber);
        }
        if self.is_directed {
            return self.directed();
        }
        let own = self.shared.queues[self.number].lock().take();
        if own.is_some() || !S::SEVERAL {
            return own;
        }
        let stolen = self.shared.steal(self.number);
        if stolen.is_some() {
            one_more(&self.tally().steals);
        }
        stolen
    }

    /// Returns the next fiber that the run's director chooses.
    fn directed(&self) -> Option<NonNull<Fiber<S>>> {
        let director = self.shared.director.as_ref()?;
        if self.leaves_ready.get() {
            self.shared.pass_turn(self.number);
        }
        let mut ready = self.shared.queues[self.number].lock();
        let choices = ready.choices();
        if choices == 0 {
            return None;
        }
        let ticks = self.shared.policy.quantum().is_some();
        let (place, polls) = director.lock().turn(choices, ticks);
        if ticks {
            let budget = if polls > 0 {
                i64::from(polls)
            } else {
                i64::MAX
            };
            self.budget.set(budget);
            self.turn_budget.set(budget);
        }
        ready.take_at(place)
    }

    /// Returns whether a directed run switches at a point of the program where it may.
    pub(crate) fn ends_turn_at_point(&self) -> bool {
        let director = self.shared.director.as_ref();
        director.is_some_and(|director| director.lock().ends_turn())
    }

    #[inline]
    fn run(&self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: descriptors live as long as the run-time, and this one was in a queue that this
        // server took it from.
        let it = unsafe { fiber.as_ref() };
        let began_ns = self.shared.note_ready(it);
        if it.is_killed.load(Ordering::Relaxed) {
            return self.discard(fiber);
        }
        // A tick before this was for the previous fiber.
        self.tick.set(false);
        self.current.set(Some(fiber));
        self.local.set(it.local.get());
        // SAFETY: this server took the fiber from a queue, so no other server resumes it.
        let ended = unsafe { it.resume() };
        self.current.set(None);
        self.is_busy.set(true);
        self.shared.note_turn(self.number, it.local.get(), began_ns);
        if let Some(stack) = ended {
            return self.recycle(fiber, stack);
        }
        if self.leaves_ready.get() {
            return self.make_ready(fiber);
        }
        let Parking { held, until_ns } = self.wait.get();
        if let Some(at_ns) = until_ns {
            let parking = it.parking.get();
            self.shared.set_alarm(at_ns, Alarm { fiber, parking });
        }
        // SAFETY: the awaited object lives while the fiber waits, and this thread took the lock in
        // `park`.
        unsafe { held.let_go() };
    }

    /// Ends a killed fiber at its present point.
    #[cold]
    fn discard(&self, fiber: NonNull<Fiber<S>>) {
        // SAFETY: the fiber was in this server's queue, so no server runs it. The caller of `kill`
        // vouched for its stack.
        let it = unsafe { fiber.as_ref() };
        self.shared.inbox.end_wait(it);
        if let Some(stack) = unsafe { it.abandon() } {
            if let Some(on_discard) = self.shared.on_discard {
                on_discard(it.local.get());
            }
            self.recycle(fiber, stack);
        }
    }

    fn recycle(&self, fiber: NonNull<Fiber<S>>, stack: Stack) {
        one_more(&self.tally().ends);
        let mut spare = self.spare.borrow_mut();
        if spare.len() < MOST_SPARE {
            spare.push((fiber, stack));
        } else {
            drop(spare);
            self.shared.store.lock().put_back(fiber, stack);
        }
    }

    /// Takes a descriptor with a stack for a new fiber.
    pub(crate) fn take_spare(&self) -> Result<(NonNull<Fiber<S>>, Stack), StackError> {
        if let Some(pair) = self.spare.borrow_mut().pop() {
            return Ok(pair);
        }
        self.shared.store.lock().take()
    }

    /// Appends a fiber to the ready list of its server.
    #[inline]
    pub(crate) fn make_ready(&self, fiber: NonNull<Fiber<S>>) {
        self.shared.make_ready(fiber, self.number);
    }

    /// Leaves the running fiber, which stays ready.
    ///
    /// # Safety
    ///
    /// The caller is a fiber of this server, and must not use `self` afterwards, since the fiber
    /// may go on elsewhere.
    #[inline(always)]
    pub(crate) unsafe fn reschedule(&self, cause: Cause) {
        let count = match cause {
            Cause::Yield => &self.tally().yields,
            Cause::Budget => &self.tally().budgets,
            Cause::Tick => &self.tally().ticks,
        };
        one_more(count);
        if cause == Cause::Tick {
            self.is_look_due.set(true);
        }
        if cause == Cause::Tick && self.is_directed {
            self.note_tick();
        }
        // As in SR, a yield is the same routine as a switch by count, and begins the count anew.
        self.budget.set(self.full_budget);
        self.leaves_ready.set(true);
        // SAFETY: by this function's contract a fiber of this server calls it.
        unsafe { self.leave() };
    }

    /// Records a tick, so that a replay has it after as many polls.
    fn note_tick(&self) {
        if let Some(director) = &self.shared.director {
            let polls = self.turn_budget.get().saturating_sub(self.budget.get());
            director
                .lock()
                .ticked(u32::try_from(polls).unwrap_or(u32::MAX).max(1));
        }
    }

    /// Leaves the running fiber until it is woken.
    ///
    /// # Safety
    ///
    /// As for [`Server::reschedule`]. The held lock lives until the fiber goes on.
    #[inline(always)]
    pub(crate) unsafe fn park(&self, held: HeldLock, until_ns: Option<u64>) {
        one_more(&self.tally().blocks);
        self.leaves_ready.set(false);
        self.wait.set(Parking { held, until_ns });
        // SAFETY: by this function's contract a fiber of this server calls it.
        unsafe { self.leave() };
    }

    // Inlined, with all functions that lead here: a processor predicts returns by its calls, which
    // a switch in a called function spoils.
    #[inline(always)]
    unsafe fn leave(&self) {
        let fiber = self
            .current
            .get()
            .expect("only a fiber can leave its processor");
        // SAFETY: it is the caller's own descriptor, and the caller runs on it.
        unsafe { fiber.as_ref().suspend() };
    }

    /// Runs this fiber next; it must not be in any queue.
    pub(crate) fn name_next(&self, fiber: NonNull<Fiber<S>>) {
        if let Some(before) = self.named.replace(Some(fiber)) {
            self.make_ready(before);
        }
    }

    /// Returns the server's roomy stack, which is mapped at the first call.
    pub(crate) fn roomy_stack(&self) -> Result<&Stack, StackError> {
        if let Some(stack) = self.roomy_stack.get() {
            return Ok(stack);
        }
        let mut pool = Pool::with_slabs(ROOMY_BYTES, 1);
        let stack = pool.take()?;
        // The stack lives as long as the process: foreign code may have kept addresses in it.
        pool.leak();
        Ok(self.roomy_stack.get_or_init(|| stack))
    }

    /// Returns the roomy stack if it was ever used. Async-signal-safe.
    pub(crate) fn used_roomy_stack(&self) -> Option<&Stack> {
        self.roomy_stack.get()
    }

    /// Returns the running fiber.
    #[inline]
    pub(crate) fn running(&self) -> NonNull<Fiber<S>> {
        self.current
            .get()
            .expect("the run-time is entered by fibers")
    }
}
