//! Storage loops (L4 and its two variants), by the second differences of their readings.

use crate::clock::differences;
use crate::statistics::{median, median_of, quantile};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use verdict::storage_verdict;

#[path = "storage_verdict.rs"]
mod verdict;

/// Result of one storage loop. Times are in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageEstimate {
    /// Allocations done.
    pub completed: u64,
    /// Bytes asked for in each.
    pub object_bytes: u64,
    /// Exception or message if the system refused storage before the loop's limit.
    pub exhausted: Option<String>,
    /// Median time of one turn of the loop.
    pub typical_ns: f64,
    /// Turns far dearer than the typical one: (index, excess ns), the dearest 500 in order of
    /// index.
    pub steps: Vec<(u64, f64)>,
    /// Distance of regularly recurring dear turns: (turns between them, median excess ns). If
    /// storage is kept, they are requests of the allocator for more, or paging.
    pub growth: Option<(f64, f64)>,
    /// The cost level changed for good at these indexes: (index, median before, median after).
    pub level_changes: Vec<(u64, f64, f64)>,
    /// Conclusions about the implementation, one sentence each (storage is kept, reclaimed
    /// implicitly, reclaimed by deallocation, a collector ran).
    pub verdict: Vec<String>,
}

/// Reason for a storage loop without an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StorageError {
    /// There are not two readings.
    #[error(
        "{readings} readings of a storage loop are too few to show one turn; raise its count or the memory limit"
    )]
    TooFew {
        /// Number of readings.
        readings: usize,
    },
}

/// End of a storage loop, as the subject reported it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageOutcome {
    /// Allocations done.
    pub completed: u64,
    /// Bytes asked for in each.
    pub object_bytes: u64,
    /// Exception or message with which the system refused storage; `None` if the loop ran to its
    /// limit.
    pub exhausted: Option<String>,
}

/// Limits of a dear turn, in quartile distances above its level. Growth is detected with the first
/// limit that shows it.
///
/// The dearest turns alone may be the machine's interruptions, and the allocator's steps no longer
/// than half a turn.
const FENCES: [f64; 3] = [10.0, 5.0, 3.0];
/// Least excess of a dear turn, as a part of its level.
const LEAST_EXCESS: f64 = 0.2;
/// Least number of dear turns at one distance for growth.
const FEWEST_PERIODS: usize = 5;
/// Share of dear turns that must recur at one distance, and its least excess over chance.
const RECURRING: f64 = 0.6;
const BEYOND_CHANCE: f64 = 0.35;
/// Readings in a cache line of the array that they are written to: 8 of 8 bytes.
const READINGS_A_LINE: f64 = 8.0;
/// Longest fetch of a cache line from memory, ns; a request to the system for storage takes longer.
const LINE_FETCH_NS: f64 = 250.0;
/// Most dear turns that are kept.
const MOST_STEPS: usize = 500;
/// Stretches into which a long loop is cut to look for levels.
const STRETCHES: usize = 256;
/// Least ratio of two levels.
const LEVEL_RATIO: f64 = 1.3;
/// Least number of stretches on a level.
const SHORTEST_LEVEL: usize = 6;

impl StorageEstimate {
    /// Analyses the clock readings of a storage loop, ns: one before the first turn and one after
    /// each.
    ///
    /// A pair (T, −T) in the second differences is one dear turn; a lone T is a change of level.
    ///
    /// # Errors
    /// [`StorageError::TooFew`].
    pub fn from_readings(readings: &[i64], outcome: StorageOutcome) -> Result<Self, StorageError> {
        if readings.len() < 2 {
            return Err(StorageError::TooFew {
                readings: readings.len(),
            });
        }
        let turns: Vec<f64> = differences(readings)
            .into_iter()
            .map(|d| d.max(0) as f64)
            .collect();
        let typical_ns = median_of(&turns);
        let level_changes = levels(&turns);
        let dear = |fence| dear_turns(&turns, &level_changes, fence);
        let growth = FENCES
            .iter()
            .find_map(|fence| growth(&dear(*fence), turns.len()));
        let steps = dearest(dear(FENCES[0]));
        let mut estimate = StorageEstimate {
            completed: outcome.completed,
            object_bytes: outcome.object_bytes,
            exhausted: outcome.exhausted,
            typical_ns,
            steps,
            growth,
            level_changes,
            verdict: Vec::new(),
        };
        estimate.verdict = verdict::of_loop(&estimate);
        Ok(estimate)
    }

    /// Bytes asked for over the whole loop.
    pub fn total_bytes(&self) -> u64 {
        self.completed.saturating_mul(self.object_bytes)
    }
}

/// Returns the dear turns as (index of the allocation from 0, excess over its level).
///
/// Their second differences rise and fall again, by more than `fence` quartile distances of their
/// level.
fn dear_turns(turns: &[f64], changes: &[(u64, f64, f64)], fence: f64) -> Vec<(u64, f64)> {
    let mut bounds: Vec<usize> = changes.iter().map(|c| c.0 as usize).collect();
    bounds.push(turns.len());
    let mut dear = Vec::new();
    let mut begin = 0;
    for end in bounds {
        let level = &turns[begin.min(end)..end];
        let mut sorted = level.to_vec();
        sorted.sort_by(f64::total_cmp);
        let typical = median(&sorted);
        let spread = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
        let limit = typical + (fence * spread).max(LEAST_EXCESS * typical).max(1.0);
        let far = level.iter().enumerate().filter(|(_, t)| **t > limit);
        dear.extend(far.map(|(k, t)| ((begin + k) as u64, t - typical)));
        begin = end;
    }
    dear
}

fn dearest(mut dear: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    if dear.len() > MOST_STEPS {
        dear.sort_by(|a, b| b.1.total_cmp(&a.1));
        dear.truncate(MOST_STEPS);
        dear.sort_by_key(|step| step.0);
    }
    dear
}

/// Returns the distance at which dear turns recur, and their median excess.
///
/// Most of them must recur at one distance, by more than chance, and over half of the loop's
/// `turns`. The machine's interruptions come between and must not hide it.
fn growth(dear: &[(u64, f64)], turns: usize) -> Option<(f64, f64)> {
    let mut distances: Vec<u64> = dear.windows(2).map(|w| w[1].0 - w[0].0).collect();
    distances.retain(|distance| *distance > 1);
    distances.sort_unstable();
    let commonest = distances
        .chunk_by(|a, b| a == b)
        .max_by_key(|same| same.len())?[0];
    // A step in bytes need not hold a whole number of objects; at short distances one turn more or
    // less is chance.
    let tolerance = (commonest / 10).max(u64::from(commonest >= 4));
    let near = commonest - tolerance..=commonest + tolerance;
    let recurs = |at: u64| {
        let next = dear.partition_point(|d| d.0 < at + near.start());
        dear.get(next).is_some_and(|d| d.0 <= at + near.end())
    };
    let members: Vec<f64> = dear.iter().filter(|d| recurs(d.0)).map(|d| d.1).collect();
    let share = members.len() as f64 / dear.len() as f64;
    let density = dear.len() as f64 / turns as f64;
    let by_chance = 1.0 - (1.0 - density).powi(2 * tolerance as i32 + 1);
    let covered = members.len() as f64 * commonest as f64 / turns as f64;
    distances.retain(|distance| near.contains(distance));
    let (period, excess) = (
        median_of(&distances.iter().map(|d| *d as f64).collect::<Vec<_>>()),
        median_of(&members),
    );
    (members.len() >= FEWEST_PERIODS
        && share >= RECURRING
        && share - by_chance >= BEYOND_CHANCE
        && covered >= 0.5
        && !is_of_the_readings(period, excess))
    .then_some((period, excess))
}

/// Checks whether a period is that of the readings themselves. Each eighth reading goes to a new
/// cache line, which is fetched meanwhile.
fn is_of_the_readings(distance: f64, excess: f64) -> bool {
    distance % READINGS_A_LINE == 0.0 && excess < LINE_FETCH_NS
}

/// Changes of level that last: (index, median before, median after), in order.
fn levels(turns: &[f64]) -> Vec<(u64, f64, f64)> {
    let stretch = turns.len().div_ceil(STRETCHES).max(4);
    let medians: Vec<f64> = turns.chunks(stretch).map(median_of).collect();
    let mut cuts = Vec::new();
    cut(&medians, 0, &mut cuts);
    cuts.sort_unstable();
    let mut bounds = vec![0];
    bounds.extend(cuts);
    bounds.push(medians.len());
    bounds
        .windows(3)
        .map(|w| {
            let (before, after) = (
                median_of(&medians[w[0]..w[1]]),
                median_of(&medians[w[1]..w[2]]),
            );
            (
                exact_change(turns, w[1] * stretch, stretch, before, after) as u64,
                before,
                after,
            )
        })
        .filter(|(_, before, after)| is_other_level(*before, *after))
        .collect()
}

/// Cuts at the largest difference in rank between both sides (Pettitt's statistic), while they
/// differ in level. Both sides are then cut in the same way.
fn cut(medians: &[f64], offset: usize, cuts: &mut Vec<usize>) {
    let n = medians.len();
    if n < 2 * SHORTEST_LEVEL {
        return;
    }
    let mut sorted = medians.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |v: f64| {
        let below = sorted.partition_point(|x| *x < v);
        let not_above = sorted.partition_point(|x| *x <= v);
        (below + not_above + 1) as f64 / 2.0
    };
    let mut sum = 0.0;
    let mut best = (0.0, 0);
    for (k, value) in medians.iter().enumerate() {
        sum += rank(*value) - (n + 1) as f64 / 2.0;
        let inside = k + 1 >= SHORTEST_LEVEL && k + 1 + SHORTEST_LEVEL <= n;
        if inside && sum.abs() > best.0 {
            best = (sum.abs(), k + 1);
        }
    }
    let (statistic, at) = (2.0 * best.0, best.1);
    let count = n as f64;
    let chance = 2.0 * (-6.0 * statistic.powi(2) / (count.powi(3) + count.powi(2))).exp();
    if at == 0
        || chance > 0.001
        || !is_other_level(median_of(&medians[..at]), median_of(&medians[at..]))
    {
        return;
    }
    cuts.push(offset + at);
    cut(&medians[..at], offset, cuts);
    cut(&medians[at..], offset + at, cuts);
}

fn is_other_level(before: f64, after: f64) -> bool {
    let (low, high) = (before.min(after).max(1.0), before.max(after));
    high / low >= LEVEL_RATIO
}

/// Returns the turn near a cut from which on most turns are nearer to the new level.
fn exact_change(turns: &[f64], near: usize, stretch: usize, before: f64, after: f64) -> usize {
    let begin = near.saturating_sub(stretch);
    let end = (near + stretch).min(turns.len());
    let is_new = |t: f64| {
        if (t - after).abs() < (t - before).abs() {
            1
        } else {
            -1
        }
    };
    let (mut sum, mut lowest, mut at) = (0, 0, begin);
    for (k, turn) in turns[begin..end].iter().enumerate() {
        sum += is_new(*turn);
        if sum < lowest {
            (lowest, at) = (sum, begin + k + 1);
        }
    }
    at
}

#[cfg(test)]
#[path = "storage_tests.rs"]
mod tests;
