//! The waiting room: threads that wait while another one drives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::Instant;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::WaitsFor;
use crate::protocol::requests::RequestId;
use crate::thread::Parker;

/// The kind of change that a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// The end of a request: the thread is woken for that alone.
    Request(RequestId),
    /// Any other change: the thread looks whenever something has changed.
    Change,
}

/// The waiting room.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Number of waiting threads. Changed with the state locked.
    count: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    for_requests: FxHashMap<RequestId, Arc<Parker>>,
    for_changes: Vec<Arc<Parker>>,
}

/// A thread's stay in the waiting room.
#[derive(Debug)]
pub struct Stay<'a> {
    waiting: &'a Waiting,
    interest: Interest,
    parker: Arc<Parker>,
}

impl Stay<'_> {
    /// Sleeps until another thread wakes it, or a time has passed.
    pub fn sleep(&self, until: Option<Instant>) {
        self.parker.sleep(until);
    }

    /// Does the same as [`sleep`](Self::sleep), and tells reports what the thread waits for.
    pub fn sleep_for(&self, what: WaitsFor, until: Option<Instant>) {
        self.parker.sleep_for(what, until);
    }

    /// Returns whether a sleep would end at once.
    #[cfg(test)]
    pub fn is_woken(&self) -> bool {
        self.parker.is_woken()
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        let mut state = self.waiting.state.lock();
        match self.interest {
            Interest::Request(id) => drop(state.for_requests.remove(&id)),
            Interest::Change => {
                (state.for_changes).retain(|parker| !Arc::ptr_eq(parker, &self.parker))
            }
        }
        self.waiting.count.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Waiting {
    /// Lets the caller into the waiting room. The caller then checks its condition and the driver
    /// once more, and sleeps. Its drop leaves the room.
    pub fn enter(&self, interest: Interest) -> Stay<'_> {
        let parker = Parker::new(None);
        let mut state = self.state.lock();
        match interest {
            Interest::Request(id) => drop(state.for_requests.insert(id, parker.clone())),
            Interest::Change => state.for_changes.push(parker.clone()),
        }
        self.count.fetch_add(1, Ordering::SeqCst);
        drop(state);
        // Pairs with the fence in `somebody_may_wait`: a thread that changes something sees us, or
        // we see the change.
        fence(Ordering::SeqCst);
        Stay {
            waiting: self,
            interest,
            parker,
        }
    }

    /// Returns whether the room is empty. A caller that has just made a sequentially consistent
    /// store, such as a step of the [driver](super::driver), misses no waiter.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Returns whether a thread may wait for the caller's change, made by any kind of store.
    #[inline]
    fn somebody_may_wait(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_empty()
    }

    /// Wakes the thread that waits for the end of a request.
    #[inline]
    pub fn ended(&self, id: RequestId) {
        if self.somebody_may_wait() {
            let parker = self.state.lock().for_requests.get(&id).cloned();
            parker.inspect(|parker| parker.wake());
        }
    }

    /// Wakes the threads that wait for any change.
    #[inline]
    pub fn changed(&self) {
        if self.somebody_may_wait() {
            let parkers = self.state.lock().for_changes.clone();
            parkers.iter().for_each(|parker| parker.wake());
        }
    }

    /// Wakes all, whatever they wait for.
    pub fn wake_all(&self) {
        let state = self.state.lock();
        let parkers: Vec<_> = state.for_requests.values().cloned().collect();
        drop(state);
        parkers.iter().for_each(|parker| parker.wake());
        self.changed();
    }

    /// Wakes an OS thread, which can sleep in the receiving end. Returns false if none waits.
    pub fn wake_thread(&self) -> bool {
        self.wake_first(|parker| !parker.is_fibers())
    }

    /// Wakes a waiter to drive. An OS thread is preferred, since a fiber only looks for a while.
    pub fn wake_driver(&self) -> bool {
        self.wake_thread() || self.wake_first(|_| true)
    }

    fn wake_first(&self, is_such: impl Fn(&Arc<Parker>) -> bool) -> bool {
        let state = self.state.lock();
        let mut all = state.for_changes.iter().chain(state.for_requests.values());
        let parker = all.find(|parker| is_such(parker)).cloned();
        drop(state);
        parker.inspect(|parker| parker.wake()).is_some()
    }
}
