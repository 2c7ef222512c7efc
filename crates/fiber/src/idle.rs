//! Servers without work: they park, and the last one to do so knows that the run is over.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long an idle server sleeps while others are at work, before it looks at their lists by itself.
const NAP: Duration = Duration::from_millis(1);

/// The servers' waiting room.
pub(crate) struct Idle {
    servers: usize,
    state: Mutex<State>,
    changed: Condvar,
    /// As in `state`, to be read without the lock.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct State {
    waiting: usize,
    is_over: bool,
}

impl Idle {
    pub fn new(servers: usize) -> Idle {
        Idle {
            servers,
            state: Mutex::default(),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Wakes a waiting server, if there is one: there is work, or an earlier alarm.
    #[inline]
    pub fn announce(&self) {
        // Pairs with the fence in `wait`: either we see the waiting server, or it sees the work.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        drop(self.state.lock());
        self.changed.notify_one();
    }

    /// The run is over, whatever others wait for.
    pub fn stop(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits for work or for an alarm's time; whether the run is over, which is when all servers wait and there is no alarm.
    pub fn wait(&self, alarm: Option<Instant>, has_work: impl Fn() -> bool) -> bool {
        let mut state = self.state.lock();
        state.waiting += 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !state.is_over && !has_work() {
            if state.waiting < self.servers {
                let nap = Instant::now() + NAP;
                self.changed
                    .wait_until(&mut state, alarm.map_or(nap, |at| at.min(nap)));
            } else if let Some(at) = alarm {
                self.changed.wait_until(&mut state, at);
            } else {
                state.is_over = true;
                self.changed.notify_all();
            }
        }
        state.waiting -= 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        state.is_over
    }
}
