//! How fast to send: the window of RFC 5681 and the time-out of RFC 6298.

use std::ops::Range;
use std::time::Duration;

use super::{ACK_DELAY, WINDOW};

/// Pieces that may be under way in any case, but when nothing is heard at all.
pub const LEAST: usize = 2;
const ROUND_TRIP_MIN: Duration = Duration::from_millis(4);
const ROUND_TRIP_FIRST: Duration = Duration::from_millis(40);
const ROUND_TRIP_MAX: Duration = Duration::from_millis(500);
const SAMPLE_MAX: Duration = Duration::from_secs(60);

/// How fast the network seems to be.
#[derive(Debug)]
pub struct Pace {
    window: f64,
    /// Above this the window grows slowly.
    threshold: f64,
    /// Smoothed round trip and its variation, in nanoseconds.
    round_trip: Option<(u64, u64)>,
    pub doublings: u32,
    /// No second shrinking for losses below this number.
    shrunk_at: u64,
}

impl Pace {
    /// With so many pieces under way at first.
    pub fn new(first: usize) -> Self {
        Self {
            window: first as f64,
            threshold: WINDOW as f64,
            round_trip: None,
            doublings: 0,
            shrunk_at: 0,
        }
    }

    /// Pieces that may be under way.
    pub fn window(&self) -> usize {
        (self.window as usize).clamp(1, WINDOW as usize)
    }

    pub fn time_out(&self) -> Duration {
        let base = match self.round_trip {
            None => ROUND_TRIP_FIRST,
            Some((mean, variation)) => Duration::from_nanos(mean + 4 * variation) + ACK_DELAY,
        };
        (base.max(ROUND_TRIP_MIN) * (1 << self.doublings.min(8))).min(ROUND_TRIP_MAX)
    }

    /// RFC 6298, section 2.
    pub fn measured(&mut self, round_trip: Duration) {
        // No peer is taken for slower than a minute, so nothing overflows.
        let sample = round_trip.min(SAMPLE_MAX).as_nanos() as u64;
        self.doublings = 0;
        self.round_trip = Some(match self.round_trip {
            None => (sample, sample / 2),
            Some((mean, variation)) => (
                mean - mean / 8 + sample / 8,
                variation - variation / 4 + sample.abs_diff(mean) / 4,
            ),
        });
    }

    pub fn grow(&mut self, pieces: u32) {
        for _ in 0..pieces {
            self.window += if self.window < self.threshold {
                1.0
            } else {
                1.0 / self.window
            };
        }
        self.window = self.window.min(WINDOW as f64);
    }

    /// No more can be under way than these pieces, however wide the window is: it was not tried beyond them (RFC 7661).
    pub fn bounded(&mut self, pieces: usize) {
        self.window = self.window.min(pieces.max(LEAST) as f64);
    }

    /// Once for all losses of one window.
    pub fn shrink(&mut self, under_way: Range<u64>, is_silent: bool) {
        if under_way.start < self.shrunk_at && !is_silent {
            return;
        }
        self.threshold = (self.window / 2.0).max(LEAST as f64);
        self.window = if is_silent { 1.0 } else { self.threshold };
        self.shrunk_at = under_way.end;
    }
}
