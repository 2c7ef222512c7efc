//! The copy mode: whether long frames go through a ring's stream or are lent.
//!
//! A frame in the stream is copied twice, by two processors at the same time. Each cache line goes
//! from one to the other and back. Between processors that share a cache, that takes a fraction of
//! a single copy, for which the system looks up each page. Between distant processors, or slow
//! caches, it takes several times as much.
//!
//! The program cannot know which it is, and under a virtual machine it changes during a run. So the
//! mode is measured: frames are lent while the stream is slow, and now and then one goes through
//! the stream all the same.

use std::time::Duration;

use super::memory::STREAM;

/// Length up to which a frame may lie in the stream before its receiver takes any of it. The time
/// for it then says nothing about the stream.
pub const ONE_SIDED: usize = STREAM as usize;
/// Time for a KiB beyond which the stream is slow. It is about the time of one copy out of another
/// process's memory, the system's part included.
const SLOW: Duration = Duration::from_nanos(100);
/// Number of slow frames in a row from which others are lent. A single slow one may only have lost
/// its processor.
const IN_A_ROW: u32 = 2;
/// Number of frames that are lent before one goes through the stream again. It begins with
/// `LENT_LEAST`, and doubles up to `LENT_MOST` whenever that one was slow, too.
const LENT_LEAST: u32 = 8;
const LENT_MOST: u32 = 256;

/// The measured speed of the stream to one peer.
#[derive(Debug)]
pub struct CopyMode {
    /// Slow frames in a row.
    slow: u32,
    /// Frames still to lend before the next streamed one.
    lend: u32,
    /// Length of the last row of lent frames.
    lent: u32,
}

impl Default for CopyMode {
    fn default() -> Self {
        Self {
            slow: 0,
            lend: 0,
            lent: LENT_LEAST,
        }
    }
}

impl CopyMode {
    /// Returns whether the next long frame should go through the stream.
    pub fn streams(&mut self) -> bool {
        let streams = self.lend == 0;
        self.lend = self.lend.saturating_sub(1);
        streams
    }

    /// Notes that a frame longer than [`ONE_SIDED`] was put in, in the time `took`. `waited`: some
    /// of it had no room at first. `waits`: some still has none.
    pub fn saw(&mut self, length: usize, waited: bool, waits: bool, took: Duration) {
        match (waited, waits) {
            // The receiver did not take it while it was put in, so nothing was gained.
            (_, true) => self.was_slow(),
            // Its end lies in the stream, and was not waited for.
            (true, false) => self.streamed(length - ONE_SIDED, took),
            // It was taken as fast as it was put in.
            (false, false) => self.streamed(length, took),
        }
    }

    /// Notes that a receiver took so many bytes of a frame while it was put in, and the time for
    /// that.
    fn streamed(&mut self, bytes: usize, took: Duration) {
        if took.as_nanos() * 1024 > SLOW.as_nanos() * bytes as u128 {
            return self.was_slow();
        }
        self.slow = 0;
        self.lent = (self.lent / 2).max(LENT_LEAST);
    }

    fn was_slow(&mut self) {
        self.slow += 1;
        if self.slow >= IN_A_ROW {
            self.lend = self.lent;
            self.lent = (2 * self.lent).min(LENT_MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 64 << 10;
    const NEAR: Duration = Duration::from_micros(3);
    const FAR: Duration = Duration::from_micros(33);

    /// Returns how many of `frames` frames go through a stream that takes `took` for each.
    fn streamed(mode: &mut CopyMode, frames: usize, took: Duration) -> usize {
        let streams = (0..frames).filter(|_| {
            let streams = mode.streams();
            if streams {
                mode.streamed(BYTES, took);
            }
            streams
        });
        streams.count()
    }

    #[test]
    fn between_near_processors_all_frames_go_through_the_stream() {
        assert_eq!(streamed(&mut CopyMode::default(), 1000, NEAR), 1000);
    }

    #[test]
    fn between_far_ones_frames_are_lent_and_the_stream_is_looked_at_now_and_then() {
        let seen = streamed(&mut CopyMode::default(), 1000, FAR);
        assert!((7..12).contains(&seen), "{seen}");
    }

    #[test]
    fn one_slow_frame_among_fast_ones_changes_nothing() {
        let mut mode = CopyMode::default();
        for _ in 0..100 {
            assert!(mode.streams());
            mode.streamed(BYTES, Duration::from_millis(4));
            assert_eq!(streamed(&mut mode, 10, NEAR), 10);
        }
    }

    #[test]
    fn two_slow_frames_among_fast_ones_have_few_others_lent() {
        let mut mode = CopyMode::default();
        for _ in 0..100 {
            (0..IN_A_ROW).for_each(|_| mode.was_slow());
            assert_eq!(streamed(&mut mode, 100, NEAR), 100 - LENT_LEAST as usize);
        }
    }

    #[test]
    fn who_comes_nearer_is_soon_sent_to_through_the_stream_again() {
        let mut mode = CopyMode::default();
        streamed(&mut mode, 1000, FAR);
        streamed(&mut mode, LENT_MOST as usize + 1, NEAR);
        assert_eq!(streamed(&mut mode, 100, NEAR), 100);
    }

    /// Checks that a slow frame counts whether any of it had to wait or not. Bytes left in the
    /// stream at the end were not waited for.
    #[test]
    fn what_a_frame_took_is_of_the_bytes_that_were_taken_meanwhile() {
        let lends = |waited, waits, took| {
            let mut mode = CopyMode::default();
            (0..IN_A_ROW).for_each(|_| mode.saw(BYTES, waited, waits, took));
            !mode.streams()
        };
        // `between` is enough time for all bytes, and too much for those taken if the end still
        // lies there.
        let between = SLOW * (BYTES - ONE_SIDED / 2) as u32 / 1024;
        let all = [NEAR, between, FAR];
        assert_eq!(
            all.map(|took| lends(false, false, took)),
            [false, false, true]
        );
        assert_eq!(
            all.map(|took| lends(true, false, took)),
            [false, true, true]
        );
        assert_eq!(all.map(|took| lends(true, true, took)), [true; 3]);
    }
}
