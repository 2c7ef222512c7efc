//! The session's progress thread, which drives while nobody waits, or only fibers do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use antiphon_fiber::ManyServers;
use parking_lot::{Condvar, Mutex};

/// How long it leaves the receiving end to threads that wait, after the last of them had it.
const ASIDE: Duration = Duration::from_millis(1);
/// How long at most while they have it again and again: whenever it looks, it is in their way.
pub const ASIDE_MAX: Duration = Duration::from_millis(4);
/// How long while others send to a group in which this process gives places: all its members wait for that.
const ASIDE_LEADING: Duration = Duration::from_micros(100);

/// How long it stands aside.
#[derive(Debug, Default)]
pub struct Aside {
    time: Duration,
    led: u64,
}

impl Aside {
    /// The next time, whether threads have driven often in the last one, and how many messages of others have come by now that wait for this process.
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

/// Where it stands aside, and how it is called.
#[derive(Debug, Default)]
pub struct ProgressThread {
    is_called: Mutex<bool>,
    changed: Condvar,
    /// Whether it stands aside until it is called, since one thread waits for long. Set and cleared
    /// by the progress thread, with `is_called` locked.
    is_far: AtomicBool,
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl ProgressThread {
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
        // A thread that ends its wait sees that we are far, or we see that it has: each side stores
        // and then loads, sequentially consistent.
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
        // None has come since.
        assert_eq!(aside.next(true, 7), ASIDE_MAX);
        assert_eq!(aside.next(false, 7), ASIDE);
    }
}
