//! Threads that wait while another one drives.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::Instant;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::WaitsFor;
use crate::protocol::requests::RequestId;
use crate::thread::Parker;

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// The end of a request: it is woken for that alone.
    Request(RequestId),
    /// Something else: it looks whenever something has changed.
    Change,
}

/// The waiting room.
#[derive(Debug, Default)]
pub struct Waiting {
    /// How many wait. Changed with the state locked.
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
    /// Sleeps until it is woken, or a time has passed.
    pub fn sleep(&self, until: Option<Instant>) {
        self.parker.sleep(until);
    }

    /// The same, and reports can say what for.
    pub fn sleep_for(&self, what: WaitsFor, until: Option<Instant>) {
        self.parker.sleep_for(what, until);
    }

    /// Whether a sleep would end at once.
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
    /// Lets the caller in. It looks once more at what it waits for, and whether anybody drives, and
    /// sleeps. Dropping the stay lets it out.
    pub fn enter(&self, interest: Interest) -> Stay<'_> {
        let parker = Parker::new(None);
        let mut state = self.state.lock();
        match interest {
            Interest::Request(id) => drop(state.for_requests.insert(id, parker.clone())),
            Interest::Change => state.for_changes.push(parker.clone()),
        }
        self.count.fetch_add(1, Ordering::SeqCst);
        drop(state);
        // Pairs with the fence in `somebody_may_wait`: a thread that changes something sees us, or we
        // see the change.
        fence(Ordering::SeqCst);
        Stay {
            waiting: self,
            interest,
            parker,
        }
    }

    /// Whether nobody waits. A thread that asks after a step of the [driver](super::driver) or
    /// another sequentially consistent store misses nobody.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Whether somebody may wait for what the caller has changed, by whatever stores.
    #[inline]
    fn somebody_may_wait(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_empty()
    }

    /// A request has ended.
    #[inline]
    pub fn ended(&self, id: RequestId) {
        if self.somebody_may_wait() {
            let parker = self.state.lock().for_requests.get(&id).cloned();
            parker.inspect(|parker| parker.wake());
        }
    }

    /// Something has changed.
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

    /// Wakes a thread of the system, which can sleep in the receiving end; false if there is none.
    pub fn wake_thread(&self) -> bool {
        self.wake_first(|parker| !parker.is_fibers())
    }

    /// Wakes one to drive, best a thread of the system: a fiber only looks for a while.
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
