//! The speed of sending: the window of RFC 5681 and the time-out of RFC 6298.

use std::ops::Range;
use std::time::Duration;

use super::{ACK_DELAY, WINDOW};

/// Pieces that may be under way in any case, except if nothing is heard at all.
pub const LEAST: usize = 2;
const ROUND_TRIP_MIN: Duration = Duration::from_millis(4);
const ROUND_TRIP_FIRST: Duration = Duration::from_millis(40);
const ROUND_TRIP_MAX: Duration = Duration::from_millis(500);
const SAMPLE_MAX: Duration = Duration::from_secs(60);

/// The estimated speed of the network.
#[derive(Debug)]
pub struct Pace {
    window: f64,
    /// Threshold above which the window grows slowly.
    threshold: f64,
    /// Smoothed round trip and its variation, in nanoseconds.
    round_trip: Option<(u64, u64)>,
    pub doublings: u32,
    /// Number below which losses do not shrink the window again.
    shrunk_at: u64,
}

impl Pace {
    /// Makes a pace with `first` pieces under way at first.
    pub fn new(first: usize) -> Self {
        Self {
            window: first as f64,
            threshold: WINDOW as f64,
            round_trip: None,
            doublings: 0,
            shrunk_at: 0,
        }
    }

    /// Returns how many pieces may be under way.
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

    /// Takes a measured round trip (RFC 6298, section 2).
    pub fn measured(&mut self, round_trip: Duration) {
        // Samples are limited to a minute, so nothing overflows.
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

    /// Limits the window to the pieces that can be under way: it was not tried beyond them (RFC
    /// 7661).
    pub fn bounded(&mut self, pieces: usize) {
        self.window = self.window.min(pieces.max(LEAST) as f64);
    }

    /// Shrinks the window, once for all losses of one window.
    pub fn shrink(&mut self, under_way: Range<u64>, is_silent: bool) {
        if under_way.start < self.shrunk_at && !is_silent {
            return;
        }
        self.threshold = (self.window / 2.0).max(LEAST as f64);
        self.window = if is_silent { 1.0 } else { self.threshold };
        self.shrunk_at = under_way.end;
    }
}
