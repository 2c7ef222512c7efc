//! Core-to-core latency in several readings: what is kept beside a figure, and what `antiphon doctor` looks at.

use super::core_to_core_ns;
use crate::record::Apart;
use std::time::{Duration, Instant};

/// How often it is read at a time. Where other programs run, one reading in thirty is half as long again, and two of three hardly ever are.
const READINGS: usize = 3;

/// Between two looks of [`apart_over`]: other threads are to have the processors meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// The median of a few readings of the core-to-core latency, ns. `None` where we may not run on both processors, or they had no turn at the same time.
pub fn typical_core_to_core_ns(one: usize, other: usize) -> Option<f64> {
    let read = || core_to_core_ns(one, other);
    // Where there is none to be had, each attempt waits for it in vain.
    let first = read()?;
    let more = (1..READINGS).filter_map(|_| read());
    Apart::of(std::iter::once(first).chain(more)).map(|apart| apart.median_ns)
}

/// How far apart two processors are over some time. `None` where no reading was to be had.
pub fn apart_over(one: usize, other: usize, time: Duration) -> Option<Apart> {
    let begun = Instant::now();
    let looks = std::iter::from_fn(|| {
        (begun.elapsed() < time).then(|| {
            std::thread::sleep(PAUSE);
            typical_core_to_core_ns(one, other)
        })
    });
    Apart::of(looks.flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_processor_is_at_no_distance_from_itself() {
        assert_eq!(typical_core_to_core_ns(0, 0), None);
        assert_eq!(apart_over(0, 0, Duration::from_millis(20)), None);
    }

    #[test]
    fn who_has_no_time_has_no_reading() {
        assert_eq!(apart_over(0, 1, Duration::ZERO), None);
    }
}
