//! Latency series: the distribution from the actual and from the intended start.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Precision of the histogram: one part in a thousand.
const SIGNIFICANT_DIGITS: u8 = 3;
/// Longer samples (146 years) are counted as this long in the percentiles.
const LONGEST_NS: u64 = u64::MAX >> 2;
/// Percentiles that a distribution has, as far as it has samples above them.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
const BUCKETS_PER_OCTAVE: f64 = 12.0;

/// One operation of a latency series, ns of the subject's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencySample {
    /// Intended start.
    pub intended_ns: u64,
    /// Actual start.
    pub actual_ns: u64,
    /// End.
    pub end_ns: u64,
}

/// Percentiles of one distribution, ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of samples.
    pub count: u64,
    /// Smallest sample.
    pub minimum_ns: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// (percentile, value): 50, 90, 99, 99.9, 99.99 as far as the count supports them, and 100.
    pub percentiles: Vec<(f64, u64)>,
    /// Histogram for a plot: (upper edge of the bucket, count), empty buckets left out.
    pub buckets: Vec<(u64, u64)>,
}

/// A latency series as it is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyEstimate {
    /// end − actual start.
    pub from_actual: Distribution,
    /// end − intended start: the latency for a caller on schedule (no coordinated omission).
    /// Without a schedule it is the same as `from_actual`.
    pub from_intended: Distribution,
    /// Whether operations had intended times of their own, rather than each starting after the one
    /// before.
    #[serde(default = "yes")]
    pub scheduled: bool,
    /// Overhead already inside each sample (clock reading and loop), ns; subtract it for the
    /// paper's T_ave − T_ov.
    pub overhead_ns: f64,
}

/// Reason for a latency series without an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum LatencyError {
    /// There are no samples.
    #[error("the latency series is empty; ask for at least one operation")]
    Empty,
}

impl LatencyEstimate {
    /// Computes the distributions of a series. `overhead_ns` is the overhead (clock reading and
    /// loop) inside each sample.
    ///
    /// The operations were intended to start `interval_ns` apart. With 0, each started after the
    /// one before, so that there was no schedule.
    ///
    /// A sample that ends before it starts counts as zero: the clock went back, and the count must
    /// stay whole.
    ///
    /// # Errors
    /// [`LatencyError::Empty`].
    pub fn from_samples(
        samples: &[LatencySample],
        interval_ns: u64,
        overhead_ns: f64,
    ) -> Result<Self, LatencyError> {
        let scheduled = interval_ns > 0;
        if samples.is_empty() {
            return Err(LatencyError::Empty);
        }
        let from = |start: fn(&LatencySample) -> u64| {
            samples
                .iter()
                .map(|s| s.end_ns.saturating_sub(start(s)))
                .collect::<Vec<u64>>()
        };
        let from_actual = Distribution::of(&from(|s| s.actual_ns));
        let from_intended = match scheduled {
            // An operation that started before it was meant to did not wait.
            true => Distribution::of(&from(|s| s.intended_ns.min(s.actual_ns))),
            false => from_actual.clone(),
        };
        Ok(LatencyEstimate {
            from_actual,
            from_intended,
            scheduled,
            overhead_ns: if overhead_ns.is_finite() {
                overhead_ns
            } else {
                0.0
            },
        })
    }

    /// Returns the mean response less the overhead: the paper's T_ave − T_ov, ns.
    pub fn response_ns(&self) -> f64 {
        self.from_actual.mean_ns - self.overhead_ns
    }
}

/// Estimates kept from before the schedule was noted had one, as far as is known.
fn yes() -> bool {
    true
}

impl Distribution {
    /// Computes the distribution of values in ns; all zeros of none.
    pub fn of(values: &[u64]) -> Self {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS)
            .expect("the bounds are within the library's range");
        for value in values {
            histogram.saturating_record((*value).min(LONGEST_NS));
        }
        let count = values.len() as u64;
        let maximum_ns = values.iter().copied().max().unwrap_or(0);
        let mut percentiles: Vec<(f64, u64)> = PERCENTILES
            .iter()
            .filter(|p| supports(**p, count))
            .map(|p| (*p, histogram.value_at_percentile(*p).min(maximum_ns)))
            .collect();
        percentiles.push((100.0, maximum_ns));
        Distribution {
            count,
            minimum_ns: values.iter().copied().min().unwrap_or(0),
            mean_ns: values.iter().map(|v| *v as f64).sum::<f64>() / (count.max(1) as f64),
            percentiles,
            buckets: buckets(&histogram),
        }
    }
}

/// Checks that this many samples tell a percentile: from 1/(1 − p) on, so that at least one is
/// above it.
pub fn supports(percentile: f64, count: u64) -> bool {
    // A single value has a median. The subtraction allows for 99.9, which is no binary fraction.
    count > 0 && (percentile <= 50.0 || count as f64 * (100.0 - percentile) >= 100.0 - 1e-6)
}

/// Returns buckets for a plot: twelve to a factor of two, so that no distribution needs more than
/// some hundreds.
fn buckets(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for recorded in histogram.iter_recorded() {
        let value = recorded.value_iterated_to();
        let step = ((value.max(1) as f64).log2() * BUCKETS_PER_OCTAVE).ceil();
        let edge = (step / BUCKETS_PER_OCTAVE).exp2().round() as u64;
        *buckets.entry(edge.max(value)).or_insert(0) += recorded.count_at_value();
    }
    buckets.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(intended_ns: u64, actual_ns: u64, end_ns: u64) -> LatencySample {
        LatencySample {
            intended_ns,
            actual_ns,
            end_ns,
        }
    }

    #[test]
    fn a_percentile_is_told_from_where_a_sample_is_above_it() {
        for (percentile, fewest) in [
            (50.0, 1),
            (90.0, 10),
            (95.0, 20),
            (99.0, 100),
            (99.9, 1000),
            (99.99, 10_000),
        ] {
            assert!(supports(percentile, fewest), "{percentile}");
            assert!(!supports(percentile, fewest - 1), "{percentile}");
        }
        assert!(!supports(100.0, u64::MAX));
    }

    #[test]
    fn a_stall_is_seen_from_the_intended_start_only() {
        // One operation stalls for 10 ms. The ten that were intended to start meanwhile run late,
        // each in 1 µs.
        let mut samples = vec![sample(0, 0, 10_000_000)];
        samples.extend((1..=10).map(|i| {
            let start = 10_000_000 + i * 1000;
            sample(i * 1_000_000, start, start + 1000)
        }));
        let estimate = LatencyEstimate::from_samples(&samples, 1_000_000, 50.0).unwrap();
        let median = |d: &Distribution| d.percentiles[0].1;
        assert!(median(&estimate.from_actual) <= 1001);
        assert!(median(&estimate.from_intended) > 4_000_000);
        assert_eq!(
            estimate.from_actual.percentiles.last(),
            Some(&(100.0, 10_000_000))
        );
    }

    #[test]
    fn without_a_schedule_nothing_is_late() {
        let samples = [sample(0, 500, 700), sample(0, 900, 1000)];
        let estimate = LatencyEstimate::from_samples(&samples, 0, 0.0).unwrap();
        assert!(!estimate.scheduled);
        assert_eq!(estimate.from_intended, estimate.from_actual);
    }

    #[test]
    fn percentiles_stop_where_the_count_does() {
        let percentiles = |n: u64| Distribution::of(&(1..=n).collect::<Vec<_>>()).percentiles;
        let named: Vec<f64> = percentiles(150).iter().map(|p| p.0).collect();
        assert_eq!(named, [50.0, 90.0, 99.0, 100.0]);
        let all = percentiles(20_000);
        assert_eq!(all.len(), 6);
        let at = |p: f64| all.iter().find(|x| x.0 == p).unwrap().1 as f64;
        assert!((at(99.0) / 19_800.0 - 1.0).abs() < 0.002);
        assert!((at(99.99) / 19_998.0 - 1.0).abs() < 0.002);
    }

    #[test]
    fn buckets_keep_every_sample() {
        let values: Vec<u64> = (0..5000).map(|i| i * i).collect();
        let distribution = Distribution::of(&values);
        assert_eq!(distribution.buckets.iter().map(|b| b.1).sum::<u64>(), 5000);
        assert!(distribution.buckets.is_sorted_by(|a, b| a.0 < b.0));
        assert!(distribution.buckets.len() < 400);
    }

    #[test]
    fn a_clock_that_goes_back_and_the_largest_numbers_are_taken() {
        let samples = [sample(9, 5, 1), sample(0, 0, u64::MAX)];
        let estimate = LatencyEstimate::from_samples(&samples, 1, f64::NAN).unwrap();
        assert_eq!(estimate.from_actual.minimum_ns, 0);
        assert_eq!(
            estimate.from_actual.percentiles.last(),
            Some(&(100.0, u64::MAX))
        );
        assert_eq!(
            LatencyEstimate::from_samples(&[], 1, 0.0),
            Err(LatencyError::Empty)
        );
    }
}
