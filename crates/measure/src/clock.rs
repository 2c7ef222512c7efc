//! Clocks: resolution by first and second differences (equations 5–12), cost of a reading,
//! monotonicity.

use crate::grain;
use crate::statistics::{mean, median, median_of};
use crate::{ClockGap, GapLoop};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Estimate of a clock from a series of readings. All times are in the clock's own unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockEstimate {
    /// Number of analysed readings.
    pub readings: usize,
    /// Resolution τ.
    pub resolution: f64,
    /// Method by which τ was found.
    pub by: ResolutionBy,
    /// Cost of one reading (the loop time of the series): median over stretches between
    /// interruptions.
    pub cost: f64,
    /// Number of moves of the clock from one reading to the next.
    #[serde(default)]
    pub ticks: usize,
    /// Readings that were lower than the one before.
    pub steps_back: usize,
    /// Gaps: first differences far above the ordinary, which are interference and not the clock's.
    pub gaps: usize,
    /// The cross-check of equation 12, where it applies.
    #[serde(default)]
    pub zero_strings: Option<ZeroStrings>,
}

/// Differences that gave the resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionBy {
    /// First differences: the loop is shorter than τ (n = 0 in equation 5).
    FirstDifferences,
    /// Second differences (equations 10 and 11).
    SecondDifferences,
}

/// Reason why a series of readings does not tell the clock's resolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClockError {
    /// Too few readings.
    #[error(
        "{readings} clock readings are too few; take at least {}",
        FEWEST_READINGS
    )]
    TooFew {
        /// Number of readings.
        readings: usize,
    },
    /// The clock did not move.
    #[error(
        "the clock stood still over {readings} readings; take more, so that it ticks at least once"
    )]
    StoodStill {
        /// Number of readings.
        readings: usize,
    },
    /// All differences are equal: every divisor of them could be τ.
    #[error(
        "all readings are {difference} apart, so that the resolution could be any part of it; take more readings, or make the loop a little longer"
    )]
    NoVariation {
        /// The only difference.
        difference: i64,
    },
}

/// Fewer readings have no second differences worth counting.
const FEWEST_READINGS: usize = 8;
/// Share of zero first differences from which the loop counts as shorter than τ.
const ZERO_SHARE: f64 = 0.01;

/// Number of ticks from which τ is reliable. With fewer ticks of a clock coarser than the loop,
/// the true τ may be a part of the observed one.
pub const ENOUGH_TICKS: usize = 20;

impl ClockEstimate {
    /// Checks whether τ is only an upper bound: a clock with many readings a tick moved too
    /// seldom.
    ///
    /// A record from before ticks were counted has none, and gives no bound.
    pub fn is_upper_bound(&self) -> bool {
        self.by == ResolutionBy::FirstDifferences && (1..ENOUGH_TICKS).contains(&self.ticks)
    }

    /// Estimates a clock that mostly stands still, from the readings at which it moved, in order.
    ///
    /// There were `readings` in all, in an even loop from the first of them to the last. A clock
    /// that ticks each 4 ms is read half a million times meanwhile.
    ///
    /// # Errors
    /// [`ClockError`], where the series cannot tell.
    pub fn from_ticks(moved: &[i64], readings: usize) -> Result<Self, ClockError> {
        let first = differences(moved);
        let (Some(start), Some(end)) = (moved.first(), moved.last()) else {
            return Err(ClockError::TooFew { readings });
        };
        let resolution =
            grain::of(&positive(&first), moved).ok_or(ClockError::StoodStill { readings })?;
        Ok(ClockEstimate {
            readings,
            resolution,
            by: ResolutionBy::FirstDifferences,
            cost: end.saturating_sub(*start) as f64 / readings.max(1) as f64,
            ticks: first.len(),
            steps_back: first.iter().filter(|d| **d < 0).count(),
            gaps: first
                .iter()
                .filter(|d| **d as f64 > gap_limit(&first, resolution))
                .count(),
            zero_strings: None,
        })
    }

    /// Estimates a clock from a loop that kept every tick as a gap. The reader's waits for the
    /// processor are no cost.
    ///
    /// # Errors
    /// [`ClockError`], where the loop cannot tell.
    pub fn from_tick_loop(seen: &GapLoop) -> Result<Self, ClockError> {
        let after = |tick: &ClockGap| tick.start_ns.saturating_add(tick.duration_ns);
        let ticks = seen.kept.iter().map(after);
        let moved = std::iter::once(0).chain(ticks);
        let moved: Vec<i64> = moved
            .map(|at| i64::try_from(at).unwrap_or(i64::MAX))
            .collect();
        let readings = usize::try_from(seen.readings).unwrap_or(usize::MAX);
        let ran = seen.elapsed_ns.saturating_sub(seen.wait_ns.unwrap_or(0));
        Ok(ClockEstimate {
            cost: ran as f64 / readings.max(1) as f64,
            ..Self::from_ticks(&moved, readings)?
        })
    }

    /// Analyses successive readings taken in a tight loop, in the clock's own unit.
    ///
    /// # Errors
    /// [`ClockError`], where the series cannot tell.
    pub fn from_readings(readings: &[i64]) -> Result<Self, ClockError> {
        if readings.len() < FEWEST_READINGS {
            return Err(ClockError::TooFew {
                readings: readings.len(),
            });
        }
        let first = differences(readings);
        let forward = first.iter().filter(|d| **d >= 0).count();
        if first.iter().all(|d| *d <= 0) {
            return Err(ClockError::StoodStill {
                readings: readings.len(),
            });
        }
        let zeros = first.iter().filter(|d| **d == 0).count();
        let by = if zeros as f64 >= ZERO_SHARE * forward as f64 && zeros > 0 {
            ResolutionBy::FirstDifferences
        } else {
            ResolutionBy::SecondDifferences
        };
        let resolution = match by {
            ResolutionBy::FirstDifferences => grain::of(&positive(&first), readings),
            ResolutionBy::SecondDifferences => grain::of(&second_differences(&first), readings),
        };
        let resolution = resolution.ok_or_else(|| ClockError::NoVariation {
            difference: first.iter().copied().max().unwrap_or(0),
        })?;
        let limit = gap_limit(&first, resolution);
        let is_gap = |d: &i64| *d as f64 > limit;
        let mut estimate = ClockEstimate {
            readings: readings.len(),
            resolution,
            by,
            cost: cost(&first, resolution, limit),
            ticks: first.len() - zeros,
            steps_back: first.len() - forward,
            gaps: first.iter().filter(|d| is_gap(d)).count(),
            zero_strings: None,
        };
        estimate.zero_strings = zero_strings(readings, &estimate);
        Ok(estimate)
    }
}

/// Returns first differences without overflow.
pub(crate) fn differences(readings: &[i64]) -> Vec<i64> {
    readings
        .windows(2)
        .map(|w| w[1].saturating_sub(w[0]))
        .collect()
}

fn positive(first: &[i64]) -> Vec<i64> {
    first.iter().copied().filter(|d| *d > 0).collect()
}

/// Returns the sizes of the non-zero second differences, without those at interruptions and steps
/// back.
fn second_differences(first: &[i64]) -> Vec<i64> {
    let limit = gap_limit(first, 0.0);
    let ordinary = |d: i64| d >= 0 && d as f64 <= limit;
    first
        .windows(2)
        .filter(|w| ordinary(w[0]) && ordinary(w[1]) && w[0] != w[1])
        .map(|w| (w[1] - w[0]).abs())
        .collect()
}

/// Returns the limit above which first differences are interruptions: eight times the ordinary, and
/// more than a tick beyond.
pub(crate) fn gap_limit(first: &[i64], resolution: f64) -> f64 {
    let mut sorted: Vec<f64> = first
        .iter()
        .filter(|d| **d >= 0)
        .map(|d| *d as f64)
        .collect();
    sorted.sort_by(f64::total_cmp);
    8.0 * median(&sorted) + 1.5 * resolution
}

/// Returns the loop time: the median over stretches without interruption that are long enough to
/// average their ticks out.
fn cost(first: &[i64], resolution: f64, limit: f64) -> f64 {
    let ordinary = |d: &i64| *d >= 0 && *d as f64 <= limit;
    let kept: Vec<f64> = first
        .iter()
        .filter(|d| ordinary(d))
        .map(|d| *d as f64)
        .collect();
    let overall = mean(&kept);
    // A stretch has some hundred ticks, and a sixty-fourth of the series. A mean over few ticks is
    // itself a multiple of a part of a tick.
    let ticks = (100.0 * resolution / overall.max(1e-9)).min(1e9) as usize;
    let stretch = ticks
        .max(kept.len() / 64)
        .clamp(16, (kept.len() / 8).max(16));
    let means: Vec<f64> = first
        .split(|d| !ordinary(d))
        .flat_map(|part| part.chunks_exact(stretch))
        .map(|chunk| chunk.iter().map(|d| *d as f64).sum::<f64>() / stretch as f64)
        .collect();
    let typical = median_of(&means);
    // Most stretches of a coarse clock have no tick at all.
    if means.len() < 3 || typical == 0.0 {
        overall
    } else {
        typical
    }
}

/// Strings of zeros in the second differences, against equation 12.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ZeroStrings {
    /// Mean length of the strings seen between pairs of (τ, −τ).
    pub observed: f64,
    /// L₀ by equation 12, from the loop time and τ.
    pub predicted: f64,
}

impl ZeroStrings {
    /// Checks that both agree within one, or a tenth.
    pub fn agree(&self) -> bool {
        (self.observed - self.predicted).abs() <= (0.1 * self.predicted).max(1.0)
    }
}

/// Makes the cross-check of equation 12; `None` if it does not apply.
///
/// It does not apply if the loop time varies by more than τ. Close to a multiple of τ, the
/// strings are longer than the series can show, and it does not apply either.
pub fn zero_strings(readings: &[i64], clock: &ClockEstimate) -> Option<ZeroStrings> {
    let first = differences(readings);
    let tau = clock.resolution;
    let part = (clock.cost / tau).fract();
    let predicted = 1.0 / part.min(1.0 - part) - 2.0;
    if !predicted.is_finite() || predicted * 10.0 > first.len() as f64 {
        return None;
    }
    let (mut strings, mut zeros, mut irregular) = (0_usize, 0_usize, 0_usize);
    let mut within = false;
    for pair in first.windows(2) {
        let ticks = (pair[1].saturating_sub(pair[0]) as f64 / tau).round();
        if ticks.abs() > 1.0 {
            irregular += 1;
        }
        if ticks == 0.0 {
            zeros += 1;
            within = true;
        } else if within {
            strings += 1;
            within = false;
        }
    }
    if strings == 0 || irregular * 20 > first.len() {
        return None;
    }
    // Each carry is one pair (τ, −τ) and so ends one string, of length zero where two pairs touch.
    let pairs = first.len().saturating_sub(1).saturating_sub(zeros) as f64 / 2.0;
    Some(ZeroStrings {
        observed: zeros as f64 / pairs.max(1.0),
        predicted: predicted.max(0.0),
    })
}
