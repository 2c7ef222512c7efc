//! Equality of work, proved by checksums.

use crate::{Finding, FindingKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;
/// Steps of the chain in one iteration of the reference.
const STEPS: u128 = 16;

/// Returns the reference frame's result after this many iterations: the chain x ← a x + c (mod
/// 2⁶⁴) from x = 1.
///
/// It jumps ahead by repeated squaring of the affine map.
pub fn reference_checksum(iterations: u64) -> u64 {
    let mut steps = u128::from(iterations) * STEPS;
    let (mut multiplier, mut increment) = (MULTIPLIER, INCREMENT);
    let mut x = 1_u64;
    while steps > 0 {
        if steps & 1 == 1 {
            x = x.wrapping_mul(multiplier).wrapping_add(increment);
        }
        increment = increment.wrapping_mul(multiplier).wrapping_add(increment);
        multiplier = multiplier.wrapping_mul(multiplier);
        steps >>= 1;
    }
    x
}

/// Result of one test for a number of iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSample {
    /// The key of the work that is claimed.
    pub work: String,
    /// Subject and test that claim it, as text.
    pub claimed_by: String,
    /// Iterations of the test frame.
    pub iterations: u64,
    /// The argument, if the test takes one.
    pub arg: Option<u64>,
    /// Result of the frame.
    pub checksum: u64,
}

/// Claimants of each checksum.
type Returned<'a> = BTreeMap<u64, Vec<&'a str>>;

/// Compares the checksums of tests that claim equal work, for equal iterations and argument. Each
/// group that differs gives one finding of kind [`FindingKind::UnequalWork`].
pub fn unequal_work(samples: &[WorkSample]) -> Vec<Finding> {
    let mut groups: BTreeMap<(&str, u64, Option<u64>), Returned> = BTreeMap::new();
    for sample in samples {
        let claimants = groups
            .entry((&sample.work, sample.iterations, sample.arg))
            .or_default()
            .entry(sample.checksum)
            .or_default();
        if !claimants.contains(&sample.claimed_by.as_str()) {
            claimants.push(&sample.claimed_by);
        }
    }
    groups
        .into_iter()
        .filter(|(_, sums)| sums.len() > 1)
        .map(|((work, iterations, _), sums)| {
            let each: Vec<String> = sums
                .iter()
                .map(|(sum, who)| format!("{} returned {sum}", who.join(", ")))
                .collect();
            Finding {
                kind: FindingKind::UnequalWork,
                text: format!(
                    "the work {work} is not equal: for {iterations} iterations {}",
                    each.join("; ")
                ),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jump_gives_what_the_steps_give() {
        let mut x = 1_u64;
        for iteration in 0..50 {
            assert_eq!(reference_checksum(iteration), x);
            for _ in 0..16 {
                x = x.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
            }
        }
    }

    #[test]
    fn unequal_work_names_who_returned_what() {
        let sample = |who: &str, iterations, checksum| WorkSample {
            work: "sum".into(),
            claimed_by: who.into(),
            iterations,
            arg: None,
            checksum,
        };
        let equal = [
            sample("ada/O2", 8, 5),
            sample("c/O2", 8, 5),
            sample("c/O2", 16, 9),
        ];
        assert!(unequal_work(&equal).is_empty());
        let found = unequal_work(&[sample("ada/O2", 8, 5), sample("c/O2", 8, 6)]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].text.contains("ada/O2 returned 5")
                && found[0].text.contains("c/O2 returned 6")
        );
    }
}
