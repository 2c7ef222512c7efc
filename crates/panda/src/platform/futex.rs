//! Sleeps on a word that processes share (futex(2)).

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::futex::{Flags, Timespec, wait as futex_wait, wake as futex_wake};

/// Sleeps while the word holds `value`, for `at_most` (`None`: for ever). May return early.
pub fn wait(word: &AtomicU32, value: u32, at_most: Option<Duration>) {
    let timeout = at_most.and_then(|left| Timespec::try_from(left).ok());
    // Every result ends the sleep. The futex is not private, since other processes wake this one.
    let _ = futex_wait(word, Flags::empty(), value, timeout.as_ref());
}

/// Wakes up to `count` sleepers.
pub fn wake(word: &AtomicU32, count: u32) {
    let _ = futex_wake(word, Flags::empty(), count);
}
