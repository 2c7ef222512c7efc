//! Space of long frames, used again: fresh memory costs a fault a page, which is more than the copy.
//!
//! What came back last goes out first, since it lies in the caches. A frame gets space of at most twice its length, so that one that stays unread holds no more memory than
//! that, whatever the space held before. What nobody has used for a while goes back to the system: who is about to sleep asks for that ([`Pool::tidy`]).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::message::Message;

/// Shorter frames are given memory of their own, which costs as little.
const SHORTEST: usize = 4 << 10;
/// Spaces that are kept, and bytes in them: one of 32 MiB or two of 16 MiB, with headers. Of frames of 16 KiB so many are a MiB.
const KEPT: usize = 64;
const MOST: usize = 33 << 20;
/// Bytes that are kept however long nobody uses them.
const LITTLE: usize = 256 << 10;
/// So long more than those are kept when nobody uses them.
const WHILE: Duration = Duration::from_secs(1);

/// Spaces of frames that the program is done with.
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
    /// The longest space that is kept, in bytes.
    longest: usize,
    /// More than a little is kept: looked at before each sleep, without the lock.
    is_much: AtomicBool,
}

#[derive(Debug, Default)]
struct Free {
    /// Those that came back last stand last.
    spaces: Vec<Vec<u8>>,
    bytes: usize,
    /// When it was first seen that nobody uses them, if nobody has since.
    unused: Option<Instant>,
}

/// A frame's bytes, whose space goes back.
struct Lent {
    bytes: Vec<u8>,
    pool: Pool,
}

impl Pool {
    /// One that keeps no longer space than this.
    pub fn up_to(longest: usize) -> Self {
        Self(Arc::new(Inner {
            free: Mutex::default(),
            longest,
            is_much: AtomicBool::new(false),
        }))
    }

    /// Empty space for a frame of so many bytes: with room for them, if such space is kept, else perhaps with none.
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

    /// A frame in such space.
    pub fn frame(&self, bytes: Vec<u8>) -> Message {
        if bytes.capacity() < SHORTEST {
            return Message::from(bytes);
        }
        Message::from(Bytes::from_owner(Lent {
            bytes,
            pool: self.clone(),
        }))
    }

    /// A frame with a copy of these bytes.
    pub fn copy_of(&self, bytes: &[u8]) -> Message {
        if bytes.len() < SHORTEST {
            return Message::copy_of(bytes);
        }
        let mut space = self.space(bytes.len());
        space.reserve_exact(bytes.len());
        space.extend_from_slice(bytes);
        self.frame(space)
    }

    /// Gives back to the system what nobody has used for a while. For who is about to sleep, perhaps `until` a time: until when at most, so that it asks again.
    /// The clock is read if the time `now` is not said and matters.
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
        // Unmapping takes long: not with the lock held.
        drop(free);
        drop(gone);
        until
    }

    /// Keeps space, in the place of what has lain there longest.
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

    /// What is kept was used, and has changed.
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

    /// Else a few bytes that are left unread, each after a long frame that is read, would hold a long frame's space each.
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
        // The newest stay.
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
