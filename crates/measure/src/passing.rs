//! Dependence of cost on size: parameters passed by copy or by reference, and the levels of an
//! allocator.

use crate::{Interval, PLACEMENT_FLOOR_NS};
use serde::{Deserialize, Serialize};

/// Passing of composite parameters, as the slope of cost against bytes shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Passing {
    /// Each byte costs: the object is copied.
    ByCopy {
        /// Slope, ns per byte.
        ns_per_byte: f64,
    },
    /// Size makes no difference.
    ByReference,
    /// The sizes are too close, or the intervals too wide, for a decision.
    Undecided,
}

/// Fastest possible copy, bytes a ns; a cost that grows more slowly with size is not copying.
const FASTEST_COPY_BYTES_PER_NS: f64 = 500.0;

/// Decides whether objects of `sizes` bytes are passed by copy or by reference, from the cost of
/// each.
///
/// By copy: the largest costs more than the smallest, beyond both intervals and twice the placement
/// floor. The difference is at least the time of the fastest copy. By reference: the difference is,
/// with both intervals, less than that copy would take.
pub fn by_copy_or_reference(sizes: &[u64], costs: &[Interval]) -> Passing {
    let points = in_order(sizes, costs);
    let (Some((small, cheap)), Some((large, dear))) = (points.first(), points.last()) else {
        return Passing::Undecided;
    };
    let bytes = large.saturating_sub(*small) as f64;
    let fastest_copy = bytes / FASTEST_COPY_BYTES_PER_NS;
    let least = fastest_copy.max(2.0 * PLACEMENT_FLOOR_NS);
    if bytes > 0.0 && dear.low - cheap.high > least {
        return Passing::ByCopy {
            ns_per_byte: slope(&points),
        };
    }
    // A copy of ordinary speed, 100 bytes a ns, must be visible for its absence to mean anything.
    let ordinary_copy = bytes / 100.0;
    if ordinary_copy > 2.0 * PLACEMENT_FLOOR_NS && dear.high - cheap.low < ordinary_copy {
        return Passing::ByReference;
    }
    Passing::Undecided
}

/// A change of an allocator's level between two neighbouring sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AllocatorStep {
    /// Largest size on the old level, bytes.
    pub from_bytes: u64,
    /// Smallest size on the new level, bytes.
    pub to_bytes: u64,
    /// Cost on the old level, ns.
    pub before_ns: f64,
    /// Cost on the new level, ns.
    pub after_ns: f64,
}

/// Least ratio of costs that is a step.
const STEP: f64 = 1.5;

/// Finds the sizes at which the cost of an allocation changes level.
///
/// The intervals of neighbouring sizes are apart there, and the costs differ by half or more. They
/// also differ by more than proportionally to size, which would be the cost of touching the bytes.
///
/// The caller gives all measured sizes. A missing size between two neighbours can hide or feign a
/// step. A caller must not claim a single level if a size is missing.
pub fn allocator_steps(sizes: &[u64], costs: &[Interval]) -> Vec<AllocatorStep> {
    let points = in_order(sizes, costs);
    points
        .windows(2)
        .filter(|pair| is_step(pair[0], pair[1]))
        .map(|pair| AllocatorStep {
            from_bytes: pair[0].0,
            to_bytes: pair[1].0,
            before_ns: pair[0].1.value,
            after_ns: pair[1].1.value,
        })
        .collect()
}

fn is_step((small, before): (u64, Interval), (large, after): (u64, Interval)) -> bool {
    let apart = before.high < after.low || after.high < before.low;
    let (low, high) = (
        before.value.min(after.value).max(PLACEMENT_FLOOR_NS),
        before.value.max(after.value),
    );
    let growth = high / low;
    let proportional = large as f64 / small.max(1) as f64;
    let beyond_size =
        after.value < before.value || growth > 1.2 * proportional || proportional < STEP;
    // A level of whole microseconds can hide in proportional growth; touching a byte does not cost
    // a ns.
    let beyond_touching = after.value - before.value > (large - small) as f64;
    apart && growth >= STEP && (beyond_size || beyond_touching)
}

/// Returns the finite points in order of size, each size once.
fn in_order(sizes: &[u64], costs: &[Interval]) -> Vec<(u64, Interval)> {
    let mut points: Vec<(u64, Interval)> =
        sizes.iter().copied().zip(costs.iter().copied()).collect();
    points.retain(|(_, c)| c.value.is_finite() && c.low.is_finite() && c.high.is_finite());
    points.sort_by_key(|p| p.0);
    points.dedup_by_key(|p| p.0);
    points
}

/// Returns the Theil–Sen slope.
fn slope(points: &[(u64, Interval)]) -> f64 {
    let mut slopes = Vec::new();
    for (i, (x, cost)) in points.iter().enumerate() {
        for (larger, dearer) in &points[i + 1..] {
            slopes.push((dearer.value - cost.value) / (larger - x) as f64);
        }
    }
    crate::statistics::median_of(&slopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(value: f64) -> Interval {
        Interval {
            value,
            low: value - 0.2,
            high: value + 0.2,
        }
    }

    fn costs(sizes: &[u64], cost: impl Fn(f64) -> f64) -> Vec<Interval> {
        sizes.iter().map(|s| around(cost(*s as f64))).collect()
    }

    const SIZES: [u64; 4] = [8, 64, 512, 4096];

    #[test]
    fn a_copy_has_a_slope_and_a_reference_has_none() {
        let Passing::ByCopy { ns_per_byte } =
            by_copy_or_reference(&SIZES, &costs(&SIZES, |b| 2.0 + 0.02 * b))
        else {
            panic!("a copy");
        };
        assert!((ns_per_byte - 0.02).abs() < 1e-9);
        assert_eq!(
            by_copy_or_reference(&SIZES, &costs(&SIZES, |_| 2.0)),
            Passing::ByReference
        );
        assert_eq!(
            by_copy_or_reference(&[8, 4096], &costs(&[8, 4096], |_| 2.0)),
            Passing::ByReference
        );
    }

    #[test]
    fn close_sizes_and_wide_intervals_do_not_tell() {
        assert_eq!(
            by_copy_or_reference(&[8, 16], &costs(&[8, 16], |_| 2.0)),
            Passing::Undecided
        );
        assert_eq!(by_copy_or_reference(&[], &[]), Passing::Undecided);
        let wide = [Interval {
            value: 2.0,
            low: -100.0,
            high: 100.0,
        }; 4];
        assert_eq!(by_copy_or_reference(&SIZES, &wide), Passing::Undecided);
    }

    #[test]
    fn an_allocator_changes_level_where_its_cost_jumps() {
        let sizes = [4, 16, 64, 256, 1024, 4096, 16384, 65536];
        let level = |b: f64| if b <= 1024.0 { 12.0 } else { 90.0 };
        let steps = allocator_steps(&sizes, &costs(&sizes, level));
        assert_eq!(steps.len(), 1);
        assert_eq!((steps[0].from_bytes, steps[0].to_bytes), (1024, 4096));
        assert_eq!((steps[0].before_ns, steps[0].after_ns), (12.0, 90.0));
    }

    #[test]
    fn touching_the_bytes_is_no_step() {
        let sizes = [64, 256, 1024, 4096, 16384];
        assert!(allocator_steps(&sizes, &costs(&sizes, |b| 10.0 + 0.03 * b)).is_empty());
        assert!(allocator_steps(&sizes, &costs(&sizes, |_| 20.0)).is_empty());
        assert!(allocator_steps(&[1], &[around(1.0)]).is_empty());
    }
}
