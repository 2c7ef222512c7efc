//! Whether long frames should go through a ring's stream or be lent.
//!
//! A frame in the stream is copied twice, by two processors at the same time, and each line of it goes from the one to the other and back. Between processors that share a cache that
//! takes a fraction of what one copy takes for which the system looks up each page; between processors that are far from each other, or whose caches are slow to part with a line, it takes
//! several times as much. Nobody says which they are, and under a virtual machine that changes while it runs. So it is measured: frames are lent while the stream is slow, and now and then one goes there all the same.

use std::time::Duration;

use super::memory::STREAM;

/// A frame up to this long may lie in the stream before its receiver has begun to take it: what that took says nothing of the two.
pub const ONE_SIDED: usize = STREAM as usize;
/// The stream is slow if a KiB takes longer in it: about what one copy out of another process's memory takes, the system's part included.
const SLOW: Duration = Duration::from_nanos(100);
/// Frames in a row that were slow until others are lent: who lost its processor amid one has seen nothing of the stream.
const IN_A_ROW: u32 = 2;
/// Frames that are lent before one goes through the stream again: at first so many, and twice as many whenever that one was slow, too, up to the second number.
const LENT_LEAST: u32 = 8;
const LENT_MOST: u32 = 256;

/// What frames in the stream to one peer have taken.
#[derive(Debug)]
pub struct Pace {
    /// Slow ones in a row.
    slow: u32,
    /// Frames to lend before the next.
    lend: u32,
    /// How many of them there were the last time.
    lent: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            slow: 0,
            lend: 0,
            lent: LENT_LEAST,
        }
    }
}

impl Pace {
    /// Whether the next long frame should go through the stream.
    pub fn streams(&mut self) -> bool {
        let streams = self.lend == 0;
        self.lend = self.lend.saturating_sub(1);
        streams
    }

    /// A frame was put in, longer than [`ONE_SIDED`]. Whether some of it had no room at first, and at last, and how long that took.
    pub fn saw(&mut self, length: usize, waited: bool, waits: bool, took: Duration) {
        match (waited, waits) {
            // Its receiver did not take it while it was put in, so nothing was gained.
            (_, true) => self.was_slow(),
            // The end of it lies in the stream, and was not waited for.
            (true, false) => self.streamed(length - ONE_SIDED, took),
            // It was taken as fast as it was put in.
            (false, false) => self.streamed(length, took),
        }
    }

    /// A receiver has taken so many bytes of a frame in so long, while it was put in.
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

    /// How many of so many frames go through a stream that takes so long for each.
    fn streamed(pace: &mut Pace, frames: usize, took: Duration) -> usize {
        let streams = (0..frames).filter(|_| {
            let streams = pace.streams();
            if streams {
                pace.streamed(BYTES, took);
            }
            streams
        });
        streams.count()
    }

    #[test]
    fn between_near_processors_all_frames_go_through_the_stream() {
        assert_eq!(streamed(&mut Pace::default(), 1000, NEAR), 1000);
    }

    #[test]
    fn between_far_ones_frames_are_lent_and_the_stream_is_looked_at_now_and_then() {
        let seen = streamed(&mut Pace::default(), 1000, FAR);
        assert!((7..12).contains(&seen), "{seen}");
    }

    #[test]
    fn one_slow_frame_among_fast_ones_changes_nothing() {
        let mut pace = Pace::default();
        for _ in 0..100 {
            assert!(pace.streams());
            pace.streamed(BYTES, Duration::from_millis(4));
            assert_eq!(streamed(&mut pace, 10, NEAR), 10);
        }
    }

    #[test]
    fn two_slow_frames_among_fast_ones_have_few_others_lent() {
        let mut pace = Pace::default();
        for _ in 0..100 {
            (0..IN_A_ROW).for_each(|_| pace.was_slow());
            assert_eq!(streamed(&mut pace, 100, NEAR), 100 - LENT_LEAST as usize);
        }
    }

    #[test]
    fn who_comes_nearer_is_soon_sent_to_through_the_stream_again() {
        let mut pace = Pace::default();
        streamed(&mut pace, 1000, FAR);
        streamed(&mut pace, LENT_MOST as usize + 1, NEAR);
        assert_eq!(streamed(&mut pace, 100, NEAR), 100);
    }

    /// A frame that was slow as it was taken says so, whether any of it had to wait or not; what lay in the stream at last was not waited for.
    #[test]
    fn what_a_frame_took_is_of_the_bytes_that_were_taken_meanwhile() {
        let lends = |waited, waits, took| {
            let mut pace = Pace::default();
            (0..IN_A_ROW).for_each(|_| pace.saw(BYTES, waited, waits, took));
            !pace.streams()
        };
        // Enough for all bytes, and too much for those that were taken where the end still lies there.
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
