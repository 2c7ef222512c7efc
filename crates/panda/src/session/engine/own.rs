//! The session's own thread, which drives while nobody waits, or only fibers do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_fiber::ManyServers;
use parking_lot::{Condvar, Mutex};

use crate::platform::fence;

/// How long it leaves the receiving end to threads that wait, after the last of them had it.
pub const ASIDE: Duration = Duration::from_millis(1);
/// How long at most while they have it again and again: whenever it looks, it is in their way.
pub const ASIDE_MAX: Duration = Duration::from_millis(4);

/// Where it stands aside, and how it is called.
#[derive(Debug, Default)]
pub struct Own {
    /// Whether it has the receiving end.
    pub drives: AtomicBool,
    is_called: Mutex<bool>,
    changed: Condvar,
    /// Whether it stands aside until it is called, since one thread waits for long.
    is_far: AtomicBool,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl Own {
    /// Keeps the thread's handle.
    pub fn began(&self, handle: JoinHandle<()>) {
        *self.handle.lock() = Some(handle);
    }

    /// Stands aside for so long. True if it was called.
    pub fn stand_aside(&self, time: Duration) -> bool {
        let mut is_called = self.is_called.lock();
        if !*is_called {
            self.changed.wait_for(&mut is_called, time);
        }
        std::mem::take(&mut *is_called)
    }

    /// Stands aside until it is called, or a thread has ended its wait, for so long at most; not at all if nobody `waits` any more. True if it was called.
    pub fn stand_far(&self, waits: impl Fn() -> bool, at_most: Duration) -> bool {
        let mut is_called = self.is_called.lock();
        self.is_far.store(true, Ordering::SeqCst);
        fence::heavy();
        // Who ends its wait sees that we are far, or we see that it has.
        if !*is_called && waits() {
            self.changed.wait_for(&mut is_called, at_most);
        }
        self.is_far.store(false, Ordering::SeqCst);
        std::mem::take(&mut *is_called)
    }

    /// Whether it stands aside until it is called.
    #[cfg(test)]
    pub fn is_far(&self) -> bool {
        self.is_far.load(Ordering::SeqCst)
    }

    /// Calls it to drive.
    pub fn call(&self) {
        *self.is_called.lock() = true;
        self.changed.notify_one();
    }

    /// A thread has ended its wait: whether it is needed soon is to be looked at again.
    #[inline]
    pub fn rouse(&self) {
        if self.is_far.load(Ordering::SeqCst) {
            drop(self.is_called.lock());
            self.changed.notify_one();
        }
    }

    /// Waits for its end, unless the caller is it.
    pub fn join(&self) {
        let handle = self.handle.lock().take();
        let Some(handle) = handle.filter(|own| own.thread().id() != std::thread::current().id())
        else {
            return;
        };
        // What it still delivers may need a mutex that another fiber holds.
        let _ = match ManyServers::is_caller() {
            true => ManyServers::blocking(move || handle.join()),
            false => handle.join(),
        };
    }
}
