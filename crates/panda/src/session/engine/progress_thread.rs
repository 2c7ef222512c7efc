//! The session's progress thread, which drives while no thread waits, or only fibers do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_fiber::ManyServers;
use parking_lot::{Condvar, Mutex};

/// Time for which it leaves the receiving end to waiting threads, after the last of them had it.
const ASIDE: Duration = Duration::from_millis(1);
/// Longest such time, while threads have the receiving end again and again: each look is in their
/// way.
pub const ASIDE_MAX: Duration = Duration::from_millis(4);
/// Such a time while others send to a group in which this process gives places. All its members
/// wait for those.
const ASIDE_LEADING: Duration = Duration::from_micros(100);

/// The state from which the thread computes how long to stand aside.
#[derive(Debug, Default)]
pub struct Aside {
    time: Duration,
    led: u64,
}

impl Aside {
    /// Returns how long to stand aside next. `is_often` says whether threads drove often in the
    /// last time. `led` counts other members' messages so far that wait for this process.
    pub fn next(&mut self, is_often: bool, led: u64) -> Duration {
        self.time = match is_often {
            true => ASIDE_MAX.min(self.time * 2),
            false => ASIDE,
        };
        match std::mem::replace(&mut self.led, led) == led {
            true => self.time,
            false => ASIDE_LEADING,
        }
    }
}

/// The place where the progress thread stands aside, and the means to call it.
#[derive(Debug, Default)]
pub struct ProgressThread {
    is_called: Mutex<bool>,
    changed: Condvar,
    /// Whether it stands aside until called, since a thread waits for long. The progress thread
    /// sets and clears it with `is_called` locked.
    is_far: AtomicBool,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl ProgressThread {
    /// Keeps the thread's handle.
    pub fn began(&self, handle: JoinHandle<()>) {
        *self.handle.lock() = Some(handle);
    }

    /// Stands aside for a time. Returns true if the thread was called.
    pub fn stand_aside(&self, time: Duration) -> bool {
        let mut is_called = self.is_called.lock();
        if !*is_called {
            self.changed.wait_for(&mut is_called, time);
        }
        std::mem::take(&mut *is_called)
    }

    /// Stands aside until it is called, a thread has ended its wait, or `at_most` has passed.
    ///
    /// It does not stand aside if no thread `waits` any more. Returns true if the thread was
    /// called.
    pub fn stand_far(&self, waits: impl Fn() -> bool, at_most: Duration) -> bool {
        let mut is_called = self.is_called.lock();
        self.is_far.store(true, Ordering::SeqCst);
        // A thread that ends its wait sees `is_far`, or this thread sees that the wait has ended.
        // Each side stores and then loads, sequentially consistent.
        if !*is_called && waits() {
            self.changed.wait_for(&mut is_called, at_most);
        }
        self.is_far.store(false, Ordering::SeqCst);
        std::mem::take(&mut *is_called)
    }

    /// Returns whether it stands aside until it is called.
    #[cfg(test)]
    pub fn is_far(&self) -> bool {
        self.is_far.load(Ordering::SeqCst)
    }

    /// Calls the thread to drive.
    pub fn call(&self) {
        *self.is_called.lock() = true;
        self.changed.notify_one();
    }

    /// Has the thread look again whether it is needed soon, after a thread has ended its wait.
    #[inline]
    pub fn rouse(&self) {
        if self.is_far.load(Ordering::SeqCst) {
            drop(self.is_called.lock());
            self.changed.notify_one();
        }
    }

    /// Waits for the thread's end, unless the caller is that thread.
    pub fn join(&self) {
        let handle = self.handle.lock().take();
        let Some(handle) = handle.filter(|own| own.thread().id() != std::thread::current().id())
        else {
            return;
        };
        // The thread's last deliveries may need a mutex that another fiber holds.
        let _ = match ManyServers::is_caller() {
            true => ManyServers::blocking(move || handle.join()),
            false => handle.join(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_aside_for_longer_where_others_drive_and_looks_soon_where_members_wait_for_places()
    {
        let mut aside = Aside::default();
        assert_eq!(aside.next(false, 0), ASIDE);
        assert_eq!(
            [(); 3].map(|()| aside.next(true, 0)),
            [2, 4, 4].map(Duration::from_millis)
        );
        assert_eq!(aside.next(true, 3), ASIDE_LEADING);
        assert_eq!(aside.next(true, 7), ASIDE_LEADING);
        // No message of others has come since.
        assert_eq!(aside.next(true, 7), ASIDE_MAX);
        assert_eq!(aside.next(false, 7), ASIDE);
    }
}
