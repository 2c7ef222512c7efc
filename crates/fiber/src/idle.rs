//! Idle servers: they park, and the last one to park knows that the run is over.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::task::Waker;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Time for which an idle server sleeps while others are at work, before it looks at their lists by
/// itself.
const NAP: Duration = Duration::from_millis(1);

/// The servers' waiting room.
pub(crate) struct Idle {
    servers: usize,
    /// Whether the last server to wait must run the last words first.
    has_last_words: bool,
    state: Mutex<State>,
    changed: Condvar,
    /// Copy of `state.waiting`, to be read without the lock.
    waiting: AtomicUsize,
}

/// The work that an idle server finds when it looks around once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing is ready.
    None,
    /// Work that it may do, or an alarm that it did not know.
    Mine,
    /// Work that only another server may do.
    Others,
    /// Nothing is ready, but a fiber waits for something outside.
    Outside,
    /// Nothing is ready, and only fibers that wait for idle servers wait.
    IdleWaiters,
}

/// The end of a wait for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// There may be work.
    Again,
    /// All fibers wait for ever; the caller must tell those that wait for idle servers.
    Ending,
    /// All fibers wait for ever; the caller must run the last words.
    LastWords,
    /// The run is over.
    Over,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// Waiting servers that sleep elsewhere, with their wakers there.
    elsewhere: Vec<(usize, Waker)>,
    is_over: bool,
}

impl State {
    fn wake_elsewhere(&self) {
        self.elsewhere
            .iter()
            .for_each(|(_, waker)| waker.wake_by_ref());
    }
}

/// A server's stay elsewhere, which ends when this drops.
pub(crate) struct Elsewhere<'a> {
    idle: &'a Idle,
    server: usize,
}

impl Drop for Elsewhere<'_> {
    fn drop(&mut self) {
        let mut state = self.idle.state.lock();
        state.elsewhere.retain(|(server, _)| *server != self.server);
        self.idle.set_waiting(&mut state, |waiting| waiting - 1);
    }
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

    /// Wakes a waiting server, if there is one: there is work, or an earlier alarm. Work that only
    /// one server may do wakes all.
    #[inline]
    pub fn announce(&self, is_for_one: bool) {
        // Pairs with the fence in `set_waiting`: this thread sees the waiting server, or that one
        // sees the work.
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.wake(is_for_one);
        }
    }

    #[cold]
    fn wake(&self, is_for_one: bool) {
        let state = self.state.lock();
        if is_for_one {
            self.changed.notify_all();
            state.wake_elsewhere();
        } else if state.waiting > state.elsewhere.len() {
            self.changed.notify_one();
        } else if let Some((_, waker)) = state.elsewhere.first() {
            waker.wake_by_ref();
        }
    }

    fn set_waiting(&self, state: &mut State, change: impl FnOnce(usize) -> usize) {
        state.waiting = change(state.waiting);
        self.waiting.store(state.waiting, Ordering::Relaxed);
        // Pairs with the fence in `announce`.
        fence(Ordering::SeqCst);
    }

    /// Lets a server wait elsewhere, if there is nothing that it may do but something to wait for.
    /// A thread that brings work wakes it there.
    pub fn go_elsewhere(
        &self,
        server: usize,
        waker: &Waker,
        work: impl Fn() -> Work,
    ) -> Option<Elsewhere<'_>> {
        let mut state = self.state.lock();
        state.elsewhere.push((server, waker.clone()));
        self.set_waiting(&mut state, |waiting| waiting + 1);
        let (found, is_over) = (work(), state.is_over);
        drop(state);
        let elsewhere = Elsewhere { idle: self, server };
        if found == Work::Others {
            self.changed.notify_all();
        }
        let is_rest = matches!(found, Work::Others | Work::Outside);
        // Otherwise `elsewhere` drops here, which ends the stay.
        (!is_over && is_rest).then_some(elsewhere)
    }

    /// Ends the run, whatever others wait for.
    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.wake_elsewhere();
        self.changed.notify_all();
    }

    /// Waits for work or for an alarm's time. The run is over when all servers wait, no fiber is
    /// ready, and there is no alarm.
    pub fn wait(&self, alarm: Option<Instant>, work: impl Fn() -> Work) -> Rest {
        let mut state = self.state.lock();
        let (mut is_ending, mut has_last_words) = (false, false);
        self.set_waiting(&mut state, |waiting| waiting + 1);
        let nap = || {
            let nap = Instant::now() + NAP;
            alarm.map_or(nap, |at| at.min(nap))
        };
        match work() {
            _ if state.is_over => {}
            Work::Mine => {}
            Work::Others => {
                // The server that may do it perhaps sleeps, since a wake-up goes to any server.
                self.changed.notify_all();
                self.changed.wait_until(&mut state, nap());
            }
            _ if state.waiting < self.servers => {
                self.changed.wait_until(&mut state, nap());
            }
            _ if alarm.is_some() => {
                self.changed
                    .wait_until(&mut state, alarm.unwrap_or_else(nap));
            }
            Work::Outside => self.changed.wait(&mut state),
            // A fiber parks for a server though no fiber waits for anything outside any more.
            _ if !state.elsewhere.is_empty() => {
                state.wake_elsewhere();
                self.changed.wait_until(&mut state, nap());
            }
            Work::IdleWaiters => is_ending = true,
            Work::None if self.has_last_words => has_last_words = true,
            Work::None => {
                state.is_over = true;
                self.changed.notify_all();
            }
        }
        self.set_waiting(&mut state, |waiting| waiting - 1);
        match state.is_over {
            true => Rest::Over,
            false if is_ending => Rest::Ending,
            false if has_last_words => Rest::LastWords,
            false => Rest::Again,
        }
    }
}
