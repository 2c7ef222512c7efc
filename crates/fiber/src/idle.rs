//! Servers without work: they park, and the last one to do so knows that the run is over.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// How long an idle server sleeps while others are at work, before it looks at their lists by itself.
const NAP: Duration = Duration::from_millis(1);

/// The servers' waiting room.
pub(crate) struct Idle {
    servers: usize,
    /// Whether the last one to wait has something to do first.
    has_last_words: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// As in `state`, to be read without the lock.
    waiting: AtomicUsize,
}

/// What an idle server sees when it looks around once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing is ready.
    None,
    /// Something that it may do, or an alarm that it did not know.
    Mine,
    /// Something that only another server may do.
    Others,
    /// Nothing is ready, but somebody waits for something outside.
    Outside,
}

/// How a wait for work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There may be work.
    Again,
    /// All wait for ever; the caller has to say the last words.
    LastWords,
    /// The run is over.
    Over,
}

#[derive(Default)]
struct State {
    waiting: usize,
    is_over: bool,
}

impl Idle {
    pub fn new(servers: usize, has_last_words: bool) -> Idle {
        Idle {
            servers,
            has_last_words,
            state: Mutex::default(),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Wakes a waiting server, if there is one: there is work, or an earlier alarm. Work that only one server may do wakes all.
    #[inline]
    pub fn announce(&self, is_for_one: bool) {
        // Pairs with the fence in `wait`: either we see the waiting server, or it sees the work.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake(is_for_one);
        }
    }

    #[cold]
    fn wake(&self, is_for_one: bool) {
        drop(self.state.lock());
        if is_for_one {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }

    /// The run is over, whatever others wait for.
    pub fn stop(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits for work or for an alarm's time. The run is over when all servers wait, nobody is ready, and there is no alarm.
    pub fn wait(&self, alarm: Option<Instant>, work: impl Fn() -> Work) -> Rest {
        let mut state = self.state.lock();
        let mut has_last_words = false;
        state.waiting += 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let nap = || {
            let nap = Instant::now() + NAP;
            alarm.map_or(nap, |at| at.min(nap))
        };
        match work() {
            _ if state.is_over => {}
            Work::Mine => {}
            Work::Others => {
                // Whoever may do it is perhaps asleep: a wake-up goes to any server.
                self.changed.notify_all();
                self.changed.wait_until(&mut state, nap());
            }
            Work::None | Work::Outside if state.waiting < self.servers => {
                self.changed.wait_until(&mut state, nap());
            }
            Work::None | Work::Outside if alarm.is_some() => {
                self.changed
                    .wait_until(&mut state, alarm.unwrap_or_else(nap));
            }
            Work::Outside => self.changed.wait(&mut state),
            Work::None if self.has_last_words => has_last_words = true,
            Work::None => {
                state.is_over = true;
                self.changed.notify_all();
            }
        }
        state.waiting -= 1;
        self.waiting.store(state.waiting, Ordering::Relaxed);
        match state.is_over {
            true => Rest::Over,
            false if has_last_words => Rest::LastWords,
            false => Rest::Again,
        }
    }
}
