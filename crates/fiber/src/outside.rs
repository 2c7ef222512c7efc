//! Waiting for what happens outside of the run-time: futures, and calls of the system that block. The fiber parks; its server goes on.

use std::future::Future;
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::fiber::{Fiber, Wait};
use crate::fibers::{Entered, Fibers, begin_to_wait, server};
use crate::idle::Idle;
use crate::servers::{Lock, Servers};

/// Where wakers, which may be called on any OS thread and after the run, leave word.
pub(crate) struct Inbox {
    pub idle: Idle,
    /// Fibers that wait for something outside: while there are any, the run is not over.
    waiting: AtomicUsize,
    count: AtomicUsize,
    letters: parking_lot::Mutex<Vec<Arc<Bell>>>,
}

/// The waker of one wait.
pub(crate) struct Bell {
    inbox: Arc<Inbox>,
    has_rung: AtomicBool,
    /// The fiber's descriptor, looked at by servers of its run alone.
    fiber: usize,
}

impl Inbox {
    pub fn new(servers: usize, has_last_words: bool) -> Arc<Inbox> {
        Arc::new(Inbox {
            idle: Idle::new(servers, has_last_words),
            waiting: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            letters: parking_lot::Mutex::default(),
        })
    }

    /// Whether somebody waits for something outside.
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Whether word was left.
    pub fn has_letters(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 0
    }

    fn take(&self) -> Vec<Arc<Bell>> {
        let mut letters = self.letters.lock();
        self.count.store(0, Ordering::SeqCst);
        std::mem::take(&mut *letters)
    }

    /// Hands on what was left: wakes the fibers whose bells rang.
    pub fn deliver<S: Servers>(&self, mut wake: impl FnMut(NonNull<Fiber<S>>)) {
        if !self.has_letters() {
            return;
        }
        for bell in self.take() {
            let Some(fiber) = NonNull::new(bell.fiber as *mut Fiber<S>) else {
                continue;
            };
            // SAFETY: a server of the run calls this, and descriptors live as long as the run. The lock is free once the fiber has left its stack.
            let mut waits_for = unsafe { fiber.as_ref() }.waits_for.lock();
            if waits_for.as_ref().is_some_and(|w| Arc::ptr_eq(w, &bell)) {
                *waits_for = None;
                drop(waits_for);
                wake(fiber);
            }
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        if self.has_rung.swap(true, Ordering::SeqCst) {
            return;
        }
        let inbox = self.inbox.clone();
        let mut letters = inbox.letters.lock();
        letters.push(self);
        inbox.count.store(letters.len(), Ordering::SeqCst);
        drop(letters);
        inbox.idle.announce(true);
    }
}

impl<S: Servers> Fibers<S> {
    /// Waits until a future is ready. Whoever drives it (a reactor, another thread) wakes the fiber.
    #[track_caller]
    pub fn wait_for<F: Future>(future: F) -> F::Output {
        let wait = Wait::on("something outside");
        let mut future = pin!(future);
        loop {
            let bell = Arc::new(Bell {
                inbox: server::<S>().shared.inbox.clone(),
                has_rung: AtomicBool::new(false),
                fiber: server::<S>().running().as_ptr() as usize,
            });
            let waker = Waker::from(bell.clone());
            if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return value;
            }
            park_until_rung::<S>(bell, wait);
        }
    }

    /// Runs a call that blocks, such as a read, on a thread of its own kind, so that the other fibers go on meanwhile.
    #[track_caller]
    pub fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        Self::wait_for(blocking::unblock(call))
    }
}

fn park_until_rung<S: Servers>(bell: Arc<Bell>, wait: Wait) {
    let _entered = Entered::<S>::new();
    let server = server::<S>();
    // SAFETY: the running fiber's own descriptor.
    let it = unsafe { server.running().as_ref() };
    let inbox = bell.inbox.clone();
    inbox.waiting.fetch_add(1, Ordering::SeqCst);
    let mut waits_for = it.waits_for.lock();
    // A bell that rang before the lock was taken may have been delivered to nobody; one that rings later waits for the lock.
    if !bell.has_rung.load(Ordering::SeqCst) {
        *waits_for = Some(bell);
        begin_to_wait(server.running(), wait);
        let kept = <S::Lock<_> as Lock<_>>::keep(waits_for);
        // SAFETY: on a fiber; the lock is in its descriptor. The server is not used afterwards.
        unsafe { server.park(kept, None) };
    }
    inbox.waiting.fetch_sub(1, Ordering::SeqCst);
}
