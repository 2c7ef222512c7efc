//! Storage loops (L4 and its two variants): what second differences of the readings show.

use crate::clock::differences;
use crate::statistics::{median, median_of, quantile};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What one storage loop told. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StorageEstimate {
    /// Allocations done.
    pub completed: u64,
    /// Bytes asked for in each.
    pub object_bytes: u64,
    /// Whether the system refused storage before the loop's limit, and the exception or message.
    pub exhausted: Option<String>,
    /// Median time of one turn of the loop.
    pub typical_ns: f64,
    /// Turns far dearer than the typical one: (index, excess ns), the dearest 500 in order of index.
    pub steps: Vec<(u64, f64)>,
    /// If steps recur at a regular distance: (turns between them, median excess ns): the allocator asking for more, or paging.
    pub growth: Option<(f64, f64)>,
    /// The cost level changed for good at these indexes: (index, median before, median after).
    pub level_changes: Vec<(u64, f64, f64)>,
    /// What this says of the implementation, one sentence each (storage is kept, reclaimed implicitly, reclaimed by deallocation, a collector ran).
    pub verdict: Vec<String>,
}

/// Why a storage loop gives no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StorageError {
    /// There are not two readings.
    #[error(
        "{readings} readings of a storage loop are too few to show one turn; raise its count or the memory limit"
    )]
    TooFew {
        /// How many there are.
        readings: usize,
    },
}

/// How a storage loop ended, as the subject said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageOutcome {
    /// Allocations done.
    pub completed: u64,
    /// Bytes asked for in each.
    pub object_bytes: u64,
    /// The exception or message with which the system refused storage; `None` if the loop ran to its limit.
    pub exhausted: Option<String>,
}

/// Dear turns that are kept.
const MOST_STEPS: usize = 500;
/// Stretches into which a long loop is cut to look for levels.
const STRETCHES: usize = 256;
/// Least ratio of two levels.
const LEVEL_RATIO: f64 = 1.3;
/// Least number of stretches on a level.
const SHORTEST_LEVEL: usize = 6;

impl StorageEstimate {
    /// Analyses the clock readings of a storage loop, ns, one after each turn.
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
        let mut level_changes = levels(&turns);
        let dear = dear_turns(&turns, &level_changes);
        // The first reading is taken after the first allocation, so turn k is allocation k + 1, counted from 0.
        level_changes.iter_mut().for_each(|change| change.0 += 1);
        let growth = growth(&dear);
        let mut estimate = StorageEstimate {
            completed: outcome.completed,
            object_bytes: outcome.object_bytes,
            exhausted: outcome.exhausted,
            typical_ns,
            steps: dearest(dear),
            growth,
            level_changes,
            verdict: Vec::new(),
        };
        estimate.verdict = verdict(&estimate);
        Ok(estimate)
    }

    /// Bytes asked for over the whole loop.
    pub fn total_bytes(&self) -> u64 {
        self.completed.saturating_mul(self.object_bytes)
    }
}

/// Turns whose second differences rise and fall again: (index of the allocation, excess over its level).
fn dear_turns(turns: &[f64], changes: &[(u64, f64, f64)]) -> Vec<(u64, f64)> {
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
        let limit = (3.0 * typical)
            .max(typical + 10.0 * spread)
            .max(typical + 1.0);
        let far = level.iter().enumerate().filter(|(_, t)| **t > limit);
        dear.extend(far.map(|(k, t)| ((begin + k + 1) as u64, t - typical)));
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

/// The distance at which dear turns recur, if most of them do so at one distance.
fn growth(dear: &[(u64, f64)]) -> Option<(f64, f64)> {
    let distances: Vec<f64> = dear.windows(2).map(|w| (w[1].0 - w[0].0) as f64).collect();
    if distances.len() < 4 {
        return None;
    }
    let typical = median_of(&distances);
    let regular = distances
        .iter()
        .filter(|d| (**d - typical).abs() <= (0.1 * typical).max(1.0))
        .count();
    let excess: Vec<f64> = dear.iter().map(|d| d.1).collect();
    (typical > 1.0 && regular * 10 >= distances.len() * 6).then(|| (typical, median_of(&excess)))
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

/// Cuts where the two sides differ most in rank (Pettitt's statistic), while they differ in level, and looks into both sides.
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

/// The turn near a cut from which on most turns are nearer to the new level.
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

fn verdict(estimate: &StorageEstimate) -> Vec<String> {
    let mut verdict = Vec::new();
    let mib = estimate.total_bytes() as f64 / f64::from(1 << 20);
    verdict.push(match &estimate.exhausted {
        Some(text) => format!(
            "storage ran out ({text}) after {} allocations, {mib:.1} MiB",
            estimate.completed
        ),
        None => format!(
            "{} allocations, {mib:.1} MiB in all, were granted",
            estimate.completed
        ),
    });
    if let Some((distance, excess)) = estimate.growth {
        let kib = distance * estimate.object_bytes as f64 / 1024.0;
        verdict.push(format!(
            "each {distance:.0} allocations ({kib:.0} KiB) one is {:.1} µs dearer: the allocator asks the system for more, or a page is touched first",
            excess / 1e3
        ));
    }
    for (index, before, after) in estimate.level_changes.iter().take(5) {
        let mib = *index as f64 * estimate.object_bytes as f64 / f64::from(1 << 20);
        verdict.push(format!("from allocation {index} on ({mib:.1} MiB) one costs {after:.0} ns instead of {before:.0} ns"));
    }
    verdict
}

/// What the three loops together say of an implementation: all pointers kept (L4), two pointers only, and two pointers with
/// explicit deallocation (`Unchecked_Deallocation`, `free`). One sentence each.
pub fn storage_verdict(
    kept: &StorageEstimate,
    two_pointers: &StorageEstimate,
    deallocated: &StorageEstimate,
) -> Vec<String> {
    if kept.exhausted.is_none() {
        return vec![format!(
            "the loop that keeps its storage was granted all {} allocations, so that nothing can be said of reclaiming; lower the memory limit or raise the count",
            kept.completed
        )];
    }
    let limit = kept.total_bytes();
    let reclaimed = |other: &StorageEstimate| {
        other.exhausted.is_none() && other.total_bytes() > limit + limit / 10
    };
    let same_point = |other: &StorageEstimate| {
        other.exhausted.is_some() && other.total_bytes().abs_diff(limit) <= limit / 10
    };
    let mut sentences = Vec::new();
    sentences.push(if reclaimed(two_pointers) {
        "storage that no pointer reaches is reclaimed implicitly: the loop with two pointers was granted more than the limit".to_owned()
    } else if same_point(two_pointers) {
        "storage that no pointer reaches is kept: the loop with two pointers ran out where the one that keeps all did, so there is no collector".to_owned()
    } else {
        undecided("two pointers", two_pointers, kept)
    });
    if reclaimed(two_pointers) && !two_pointers.steps.is_empty() {
        let dearest = two_pointers.steps.iter().map(|s| s.1).fold(0.0, f64::max);
        sentences.push(format!(
            "reclaiming shows as {} dear turns of up to {:.1} µs: a collector that runs at times of its own",
            two_pointers.steps.len(),
            dearest / 1e3
        ));
    }
    sentences.push(if reclaimed(deallocated) {
        "explicit deallocation reclaims storage: the loop that deallocates was granted more than the limit".to_owned()
    } else if same_point(deallocated) {
        "explicit deallocation does not reclaim storage: the loop that deallocates ran out where the one that keeps all did".to_owned()
    } else {
        undecided("deallocation", deallocated, kept)
    });
    sentences
}

fn undecided(name: &str, other: &StorageEstimate, kept: &StorageEstimate) -> String {
    let end = if other.exhausted.is_some() {
        "ran out"
    } else {
        "ended"
    };
    format!(
        "the loop with {name} {end} after {} allocations, and the one that keeps all ran out after {}: that does not decide whether storage is reclaimed",
        other.completed, kept.completed
    )
}

#[cfg(test)]
#[path = "storage_tests.rs"]
mod tests;
