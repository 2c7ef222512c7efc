//! A thread that ends sleeps at their time, for sleepers that have no timer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use super::alarm::Alarm;

/// One sleeper's clock.
#[derive(Debug)]
pub struct Clock {
    alarm: Arc<Alarm>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    /// Starts the thread. `ring` is called on it when the time of [`wake_at`](Self::wake_at) has
    /// come.
    pub fn new(name: &str, ring: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (alarm, is_over) = (Arc::<Alarm>::default(), Arc::<AtomicBool>::default());
        let (set, ends) = (Arc::clone(&alarm), Arc::clone(&is_over));
        let run = move || {
            while !ends.load(SeqCst) {
                match set.turn(&ring) {
                    Some(left) => thread::park_timeout(left),
                    None => thread::park(),
                }
            }
        };
        let thread = thread::Builder::new().name(name.into());
        let thread = thread.stack_size(64 << 10).spawn(run)?;
        Ok(Self {
            alarm,
            is_over,
            thread: Some(thread),
        })
    }

    /// Rings at that time, unless [`is_awake`](Self::is_awake) is called before. A second ring must
    /// do no harm.
    pub fn wake_at(&self, until: Instant) {
        if self.alarm.set(until)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }

    /// Cancels the ring: the sleeper is awake.
    pub fn is_awake(&self) {
        self.alarm.clear();
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
