//! Threads of either kind behind `fiber`'s interface, so that its mutexes and conditions serve
//! both. An upcall on the session's progress thread may wake a fiber.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::task::{Poll, Waker};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use antiphon_fiber::{Detached, Entered, Event, Lock, Many, ManyServers, Threads, Wait};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::hook;
use crate::session::{WaitsFor, upcall};

/// Threads of either kind: the caller is a fiber if it runs on one, else an OS thread.
#[derive(Debug, Clone, Copy)]
pub struct AnyThreads;

/// Identity of a thread of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    System(ThreadId),
    Fiber(Detached<Many>),
}

impl Id {
    /// Returns the caller's identity.
    #[must_use]
    pub fn current() -> Self {
        Self(match ManyServers::is_caller() {
            true => Kind::Fiber(ManyServers::this()),
            false => Kind::System(std::thread::current().id()),
        })
    }
}

/// The place where a thread sleeps until any other thread wakes it.
#[derive(Debug)]
pub struct Parker {
    whose: Id,
    /// Other object than the session for which the thread waits, if there is one.
    wait: Option<Wait>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_woken: bool,
    /// Waker of the fiber that sleeps here.
    waker: Option<Waker>,
}

thread_local! {
    /// The parker that the caller has put into a wait queue, until it parks. The caller does not
    /// switch in between.
    static ENQUEUED: Cell<Option<Arc<Parker>>> = const { Cell::new(None) };
}

// Not inlined: a fiber that moves to another OS thread would otherwise keep that thread-local's old
// address.
#[inline(never)]
fn enqueued(parker: Option<Arc<Parker>>) -> Option<Arc<Parker>> {
    ENQUEUED.replace(parker)
}

thread_local! {
    /// Whether the caller has woken or started an OS thread, which may need its processor.
    static HAS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Number of OS threads that were woken or started, and have run since.
static RISEN: AtomicU32 = AtomicU32::new(0);

/// Returns whether the caller has woken or started an OS thread since the last call.
// Not inlined, for the reason above.
#[inline(never)]
pub fn has_woken_one() -> bool {
    HAS_WOKEN.take()
}

#[inline(never)]
pub fn note_woken() {
    HAS_WOKEN.set(true);
}

/// Notes that the caller is an OS thread that was just woken or started.
pub fn note_risen() {
    RISEN.fetch_add(1, Relaxed);
}

/// Returns how many threads have run since they were woken or started.
pub fn risen() -> u32 {
    RISEN.load(Relaxed)
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Parker {
    /// Makes a parker of the caller's, for one sleep.
    pub fn new(wait: Option<Wait>) -> Arc<Self> {
        Arc::new(Self {
            whose: Id::current(),
            wait,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Returns whether it is a fiber's parker.
    pub fn is_fibers(&self) -> bool {
        matches!(self.whose.0, Kind::Fiber(_))
    }

    /// Ends the sleep, or keeps it from beginning.
    pub fn wake(&self) {
        let mut state = self.state.lock();
        state.is_woken = true;
        let waker = state.waker.take();
        drop(state);
        match waker {
            Some(waker) => waker.wake(),
            None => {
                if self.changed.notify_one() {
                    note_woken();
                }
            }
        }
    }

    /// Returns whether it was woken.
    #[cfg(test)]
    pub fn is_woken(&self) -> bool {
        self.state.lock().is_woken
    }

    /// Blocks the caller, whose parker it is, until another thread wakes it or `until` has passed.
    /// Other fibers run meanwhile.
    pub fn sleep(&self, until: Option<Instant>) {
        let what = self.wait.map_or(WaitsFor::Time, WaitsFor::Thread);
        self.sleep_for(what, until);
    }

    /// Does the same as [`sleep`](Self::sleep), and tells reports what the caller waits for.
    pub fn sleep_for(&self, what: WaitsFor, until: Option<Instant>) {
        match self.is_fibers() {
            true => upcall::set_aside(|| self.sleep_as_fiber(what, until)),
            false => self.sleep_as_thread(until),
        }
    }

    fn sleep_as_fiber(&self, what: WaitsFor, until: Option<Instant>) {
        let woken = poll_fn(|context| {
            let mut state = self.state.lock();
            if state.is_woken {
                return Poll::Ready(());
            }
            state.waker = Some(context.waker().clone());
            Poll::Pending
        });
        if let Some(runtime) = hook::runtime() {
            return runtime.park(what, std::pin::pin!(woken), until);
        }
        match until {
            None => ManyServers::wait_for(woken),
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                ManyServers::wait_for_until(woken, ManyServers::now() + left);
            }
        }
    }

    fn sleep_as_thread(&self, until: Option<Instant>) {
        let mut state = self.state.lock();
        while !state.is_woken {
            match until {
                None => self.changed.wait(&mut state),
                Some(until) if self.changed.wait_until(&mut state, until).timed_out() => break,
                Some(_) => {}
            }
        }
        note_risen();
    }
}

/// Parkers stand in the queues of mutexes and conditions. A queue keeps its own reference until the
/// thread has been taken from it.
impl Threads for AnyThreads {
    type Lock<V> = Mutex<V>;
    type WaitQueue = VecDeque<Arc<Parker>>;
    type Sleeper = Arc<Parker>;
    type Entered = Option<Entered<Many>>;

    fn enter() -> Self::Entered {
        ManyServers::is_caller().then(ManyServers::enter)
    }

    fn enqueue(queue: &mut Self::WaitQueue, wait: Wait) {
        if wait.on != "a mutex" {
            upcall::should_not_wait(wait.at);
        }
        let parker = Parker::new(Some(wait));
        queue.push_back(parker.clone());
        enqueued(Some(parker));
    }

    fn withdraw(queue: &mut Self::WaitQueue) -> bool {
        let whose = Id::current();
        let place = queue.iter().position(|parker| parker.whose == whose);
        place.and_then(|place| queue.remove(place)).is_some()
    }

    fn waiting(queue: &mut Self::WaitQueue) -> usize {
        queue.len()
    }

    fn dequeue(queue: &mut Self::WaitQueue) -> Option<Arc<Parker>> {
        queue.pop_front()
    }

    fn wake(sleeper: Arc<Parker>) {
        sleeper.wake();
    }

    fn park<V>(guard: MutexGuard<'_, V>) {
        park::<V>(guard, None);
    }

    fn park_until<V>(guard: MutexGuard<'_, V>, until: Duration) {
        park::<V>(guard, START.checked_add(until));
    }

    fn yield_now() {
        match (ManyServers::is_caller(), hook::runtime()) {
            (true, Some(runtime)) => upcall::set_aside(|| runtime.yield_now()),
            (true, None) => upcall::set_aside(ManyServers::yield_now),
            (false, _) => std::thread::yield_now(),
        }
    }

    fn sleep(time: Duration) {
        match (ManyServers::is_caller(), hook::runtime()) {
            (true, Some(runtime)) => upcall::set_aside(|| runtime.sleep(time)),
            (true, None) => upcall::set_aside(|| ManyServers::sleep(time)),
            (false, _) => std::thread::sleep(time),
        }
    }

    fn now() -> Duration {
        // `START` is read first, so that it precedes every other time.
        let start = *START;
        now() - start
    }

    fn note(event: Event) {
        if ManyServers::is_caller() {
            ManyServers::note(event);
        }
    }
}

/// Returns the time by the clock of waits: the machine's, or in a simulation the simulated one.
#[must_use]
pub fn now() -> Instant {
    hook::runtime().map_or_else(Instant::now, |runtime| runtime.now())
}

fn park<V>(guard: <Mutex<V> as Lock<V>>::Guard<'_>, until: Option<Instant>) {
    let parker = enqueued(None);
    drop(guard);
    if let Some(parker) = parker {
        parker.sleep(until);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::thread::{Semaphore, spawn};

    #[test]
    fn who_wakes_a_thread_of_the_system_knows_and_sees_that_it_runs() {
        let shared = Arc::new((Semaphore::new(0), AtomicBool::new(false)));
        let own = shared.clone();
        let sleeper = spawn(move || {
            while !own.1.load(Relaxed) {
                own.0.p();
            }
        });
        assert!(has_woken_one() && !has_woken_one());
        let before = risen();
        // Some of these calls find it asleep.
        while !has_woken_one() {
            std::thread::sleep(Duration::from_millis(1));
            shared.0.v();
        }
        shared.1.store(true, Relaxed);
        shared.0.v();
        sleeper.expect("a thread").join().expect("no panic");
        assert!(risen() > before);
    }
}
