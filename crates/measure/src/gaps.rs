//! Gaps of a clock that was read for seconds in a tight loop, of which only the gaps were kept.

use crate::clock::{differences, gap_limit};
use crate::{ClockError, ClockEstimate};
use serde::{Deserialize, Serialize};

/// Coarsest resolution at which a clock shows a system's interruptions as gaps: even a short
/// interrupt takes a microsecond. For a coarser clock that is read faster than it ticks, strings of
/// zeros tell more.
const COARSE_NS: f64 = 1000.0;

/// Result of a loop over a clock. All times are in ns (of the clock that was read).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapLoop {
    /// Readings taken.
    pub readings: u64,
    /// The last reading less the first.
    pub elapsed_ns: u64,
    /// Time that the thread was ready but not running meanwhile, by its schedstat; `None` if the
    /// system does not tell.
    pub wait_ns: Option<u64>,
    /// First differences above the limit: all of them.
    pub gaps: u64,
    /// The sum of all those differences.
    pub lost_ns: u64,
    /// The first of the gaps, in order of time.
    pub kept: Vec<ClockGap>,
}

/// One first difference above the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockGap {
    /// The reading before it, since the first one of the loop, ns.
    pub start_ns: u64,
    /// The difference, ns: the interruption and one turn of the loop.
    pub duration_ns: u64,
}

impl GapLoop {
    /// Returns the time of one undisturbed turn of the loop, ns: that of the whole without the
    /// gaps.
    pub(crate) fn turn_ns(&self) -> f64 {
        let turns = self.readings.saturating_sub(1).saturating_sub(self.gaps);
        match turns {
            0 => 0.0,
            turns => self.elapsed_ns.saturating_sub(self.lost_ns) as f64 / turns as f64,
        }
    }
}

/// Returns the first difference above which a clock shows a gap, from a short series of its
/// readings in ns.
///
/// `None` means that the clock is too coarse to show interruptions so;
/// [`crate::Interference::from_readings`] then serves.
///
/// # Errors
/// [`ClockError::TooFew`].
pub fn gap_threshold_ns(readings: &[i64]) -> Result<Option<u64>, ClockError> {
    let (resolution, cost) = match ClockEstimate::from_readings(readings) {
        Ok(clock) => (clock.resolution, clock.cost),
        Err(ClockError::NoVariation { difference }) => (0.0, difference as f64),
        Err(ClockError::StoodStill { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if cost < resolution && resolution > COARSE_NS {
        return Ok(None);
    }
    Ok(Some(
        gap_limit(&differences(readings), resolution).ceil() as u64
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::clock_readings;

    #[test]
    fn the_threshold_is_some_turns_of_the_loop() {
        let fine = clock_readings(20_000, 1.0, 25.0, 1.0, &[], 1);
        let over = gap_threshold_ns(&fine).unwrap().unwrap();
        assert!((150..=300).contains(&over), "{over}");
        // All readings are alike: they do not tell the resolution, but the loop's time.
        let regular: Vec<i64> = (0..1000).map(|i| i * 30).collect();
        assert_eq!(gap_threshold_ns(&regular), Ok(Some(240)));
        // Ticks of 41 ns, as on some processors, are fine enough though the loop is shorter.
        let ticks = clock_readings(20_000, 41.0, 20.0, 0.5, &[], 1);
        assert!(gap_threshold_ns(&ticks).unwrap().is_some());
    }

    #[test]
    fn a_coarse_clock_shows_no_gaps() {
        let coarse = clock_readings(200_000, 1e6, 50.0, 1.0, &[], 1);
        assert_eq!(gap_threshold_ns(&coarse), Ok(None));
        assert_eq!(gap_threshold_ns(&[7; 100]), Ok(None));
        assert_eq!(
            gap_threshold_ns(&[1, 2]),
            Err(ClockError::TooFew { readings: 2 })
        );
    }
}
