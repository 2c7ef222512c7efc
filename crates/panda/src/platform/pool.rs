//! A pool of space for long frames. Fresh memory costs a fault a page, which is more than the copy.
//!
//! The space that came back last goes out first, since it lies in the caches. A frame gets space of
//! at most twice its length. So an unread frame holds no more memory than that. Space that is
//! unused for a while goes back to the system: a thread that is about to sleep calls
//! [`Pool::tidy`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::message::Message;

/// Length of a frame below which it gets memory of its own, which costs as little.
const SHORTEST: usize = 4 << 10;
/// Limits on kept spaces and their bytes: one space of 32 MiB or two of 16 MiB, with headers. With
/// frames of 16 KiB, that many spaces are a MiB.
const KEPT: usize = 64;
const MOST: usize = 33 << 20;
/// Bytes that are kept however long they are unused.
const LITTLE: usize = 256 << 10;
/// Time for which more bytes are kept unused.
const WHILE: Duration = Duration::from_secs(1);

/// A pool of spaces of frames that the program no longer uses.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Inner>);

impl Default for Pool {
    fn default() -> Self {
        Self::up_to(MOST)
    }
}

#[derive(Debug)]
struct Inner {
    free: Mutex<Free>,
    /// Longest space that is kept, in bytes.
    longest: usize,
    /// Whether more than `LITTLE` is kept; read before each sleep, without the lock.
    is_much: AtomicBool,
}

#[derive(Debug, Default)]
struct Free {
    /// Kept spaces; the last one came back last.
    spaces: Vec<Vec<u8>>,
    bytes: usize,
    /// Time at which they were first seen unused, if they are since.
    unused: Option<Instant>,
}

/// A frame's bytes, whose space goes back to the pool.
struct Lent {
    bytes: Vec<u8>,
    pool: Pool,
}

impl Pool {
    /// Makes a pool that keeps no space longer than `longest`.
    pub fn up_to(longest: usize) -> Self {
        Self(Arc::new(Inner {
            free: Mutex::default(),
            longest,
            is_much: AtomicBool::new(false),
        }))
    }

    /// Returns empty space for a frame of so many bytes. It has room for them if such space is
    /// kept, otherwise perhaps none.
    pub fn space(&self, length: usize) -> Vec<u8> {
        if length < SHORTEST {
            return Vec::new();
        }
        let mut free = self.0.free.lock();
        let fitting = length..=length.saturating_mul(2);
        let fits = |space: &Vec<u8>| fitting.contains(&space.capacity());
        let Some(at) = free.spaces.iter().rposition(fits) else {
            return Vec::new();
        };
        let space = free.spaces.remove(at);
        free.bytes -= space.capacity();
        self.note(&mut free);
        space
    }

    /// Makes a frame in such space.
    pub fn frame(&self, bytes: Vec<u8>) -> Message {
        if bytes.capacity() < SHORTEST {
            return Message::from(bytes);
        }
        Message::from(Bytes::from_owner(Lent {
            bytes,
            pool: self.clone(),
        }))
    }

    /// Makes a frame with a copy of these bytes.
    pub fn copy_of(&self, bytes: &[u8]) -> Message {
        if bytes.len() < SHORTEST {
            return Message::copy_of(bytes);
        }
        let mut space = self.space(bytes.len());
        space.reserve_exact(bytes.len());
        space.extend_from_slice(bytes);
        self.frame(space)
    }

    /// Gives space back to the system that was unused for a while.
    ///
    /// A thread that is about to sleep, perhaps `until` a time, calls this. Returns until when it
    /// may sleep at most, so that it calls again. The clock is read if `now` is not given and
    /// matters.
    pub fn tidy(&self, now: Option<Instant>, until: Option<Instant>) -> Option<Instant> {
        if !self.0.is_much.load(Relaxed) {
            return until;
        }
        let now = now.unwrap_or_else(Instant::now);
        let mut free = self.0.free.lock();
        let over = *free.unused.get_or_insert(now) + WHILE;
        if now < over {
            return Some(until.map_or(over, |until| until.min(over)));
        }
        let gone = std::mem::take(&mut *free);
        self.note(&mut free);
        // Unmapping takes long, so the lock is not held.
        drop(free);
        drop(gone);
        until
    }

    /// Keeps space, in place of the space that has been there longest.
    fn keep(&self, mut space: Vec<u8>) {
        if space.capacity() > self.0.longest {
            return;
        }
        space.clear();
        let mut free = self.0.free.lock();
        free.bytes += space.capacity();
        free.spaces.push(space);
        let mut surplus = 0;
        while free.bytes > MOST || free.spaces.len() - surplus > KEPT {
            free.bytes -= free.spaces[surplus].capacity();
            surplus += 1;
        }
        let gone: Vec<_> = free.spaces.drain(..surplus).collect();
        self.note(&mut free);
        drop(free);
        drop(gone);
    }

    /// Notes that the kept space was used and has changed.
    fn note(&self, free: &mut Free) {
        free.unused = None;
        self.0.is_much.store(free.bytes > LITTLE, Relaxed);
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.pool.keep(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(pool: &Pool, length: usize) {
        drop(frame(pool, length));
    }

    fn frame(pool: &Pool, length: usize) -> Message {
        let mut space = pool.space(length);
        space.reserve_exact(length);
        space.resize(length, 7);
        pool.frame(space)
    }

    fn kept(pool: &Pool) -> (usize, usize) {
        let free = pool.0.free.lock();
        let bytes = free.spaces.iter().map(Vec::capacity).sum();
        assert_eq!(free.bytes, bytes);
        (free.spaces.len(), bytes)
    }

    #[test]
    fn what_came_back_last_goes_out_first() {
        let pool = Pool::default();
        let two = [frame(&pool, 10_000), frame(&pool, 10_000)];
        let at = |frame: &Message| frame.slices().next().map(<[u8]>::as_ptr);
        let [first, last] = [at(&two[0]), at(&two[1])];
        two.into_iter().for_each(drop);
        let again = frame(&pool, 9000);
        assert_eq!((at(&again), kept(&pool).0), (last, 1));
        assert_eq!(at(&frame(&pool, 9000)), first);
    }

    /// Checks that a few unread bytes do not hold a long frame's space, each after a long frame
    /// that was read.
    #[test]
    fn who_stays_unread_holds_at_most_twice_its_length() {
        let pool = Pool::default();
        for length in [1, 300, 5000, 16 << 10, 1 << 20] {
            used(&pool, 2 << 20);
            let space = pool.space(length);
            assert!(space.capacity() <= 2 * length, "{length}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_in_number_and_in_bytes() {
        let pool = Pool::default();
        let hold = |length: usize, count: usize| {
            let frames: Vec<_> = (0..count).map(|_| frame(&pool, length)).collect();
            drop(frames);
            kept(&pool)
        };
        assert_eq!(hold(10_000, 100), (KEPT, KEPT * 10_000));
        // The newest spaces stay.
        assert_eq!(hold(16 << 20, 3), (2, 32 << 20));
        assert_eq!(hold(MOST + 1, 1), (2, 32 << 20));
        assert_eq!(hold(SHORTEST - 1, 1), (2, 32 << 20));
        let pool = Pool::up_to(1 << 20);
        used(&pool, 1 << 20);
        used(&pool, (1 << 20) + 1);
        assert_eq!(kept(&pool), (1, 1 << 20));
    }

    #[test]
    fn what_nobody_uses_for_a_while_is_given_back() {
        let (pool, now) = (Pool::default(), Instant::now());
        let tidy = |now| pool.tidy(Some(now), None);
        used(&pool, LITTLE);
        assert_eq!((tidy(now), tidy(now + WHILE)), (None, None));
        assert_eq!(kept(&pool).0, 1, "so little stays");
        used(&pool, 1 << 20);
        assert_eq!(tidy(now), Some(now + WHILE));
        assert_eq!(pool.tidy(Some(now), Some(now)), Some(now));
        used(&pool, 1 << 20);
        let later = now + WHILE / 2;
        assert_eq!(tidy(later), Some(later + WHILE), "it was used");
        assert_eq!(tidy(now + WHILE), Some(later + WHILE));
        assert_eq!(kept(&pool).0, 2);
        assert_eq!(tidy(later + WHILE), None);
        assert_eq!(kept(&pool), (0, 0));
    }
}
