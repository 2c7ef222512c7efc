//! Core-to-core latency in several readings, for records of figures and for `antiphon doctor`.

use super::core_to_core_ns;
use crate::record::Apart;
use std::time::{Duration, Instant};

/// Readings at a time. Beside other programs one reading in thirty is half as long again; two of
/// three hardly ever are.
const READINGS: usize = 3;

/// Between two looks of [`apart_over`]: other threads are to have the processors meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns the median of a few readings of the core-to-core latency, ns.
///
/// The result is `None` if we may not run on both processors, or they had no turn at the same time.
pub fn typical_core_to_core_ns(one: usize, other: usize) -> Option<f64> {
    let read = || core_to_core_ns(one, other);
    // After a failed first reading no others are attempted, because each would wait in vain.
    let first = read()?;
    let more = (1..READINGS).filter_map(|_| read());
    Apart::of(std::iter::once(first).chain(more)).map(|apart| apart.median_ns)
}

/// Measures the distance of two processors over some time; `None` without any reading.
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
