use crate::fiber::Wait;
use crate::servers::Lock;
use crate::threads::{Event, Threads};

/// A counting semaphore. V gives its unit to the thread that waits longest.
pub struct Semaphore<K: Threads> {
    state: K::Lock<State<K>>,
}

struct State<K: Threads> {
    value: u64,
    waiting: K::WaitQueue,
}

impl<K: Threads> Semaphore<K> {
    /// Makes a semaphore of that value.
    pub fn new(value: u64) -> Self {
        Semaphore {
            state: K::Lock::new(State {
                value,
                waiting: K::WaitQueue::default(),
            }),
        }
    }

    /// Takes one unit, and waits for it if there is none (P).
    // Always inlined, so that a P that blocks switches in its caller: see `Server::leave`.
    #[track_caller]
    #[inline(always)]
    pub fn p(&self) {
        let _entered = K::enter();
        K::note(Event::P);
        let mut state = self.state.lock();
        if state.value > 0 {
            state.value -= 1;
            return;
        }
        K::note(Event::BlockedP);
        K::enqueue(&mut state.waiting, Wait::on("a semaphore"));
        K::park(state);
    }

    /// Takes one unit if there is one, and returns whether there was.
    pub fn try_p(&self) -> bool {
        let _entered = K::enter();
        K::note(Event::P);
        let mut state = self.state.lock();
        let is_open = state.value > 0;
        state.value -= u64::from(is_open);
        is_open
    }

    /// Adds one unit (V).
    #[inline]
    pub fn v(&self) {
        let _entered = K::enter();
        let mut state = self.state.lock();
        match K::dequeue(&mut state.waiting) {
            None => state.value += 1,
            Some(sleeper) => {
                drop(state);
                K::wake(sleeper);
            }
        }
    }

    /// Returns how many units could be taken now.
    pub fn value(&self) -> u64 {
        let _entered = K::enter();
        self.state.lock().value
    }
}
