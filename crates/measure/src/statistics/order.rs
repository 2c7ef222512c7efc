//! Medians, quantiles, and intervals of a median by order statistics.

use crate::Interval;
use statrs::function::beta::beta_reg;

/// Returns the arithmetic mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns a quantile of sorted values by linear interpolation; 0 without values.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let part = place - below as f64;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    // Between infinite values there is nothing to interpolate.
    match part == 0.0 || low == high || low.is_infinite() {
        true => low,
        false => low + (high - low) * part,
    }
}

/// Returns the median of sorted values; 0 without values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.5)
}

/// Returns the median of values in any order; 0 without values.
pub(crate) fn median_of(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}

/// Values in order, and how many independent ones they are worth.
pub(crate) struct Ranked {
    sorted: Vec<f64>,
    effective: f64,
}

impl Ranked {
    /// Ranks values that are given in order of time.
    ///
    /// Neighbours in time that tend to lie on the same side of the median say less than independent
    /// ones. With lag-1 correlation ρ of the sides, n values are worth n (1 − ρ) / (1 + ρ).
    pub(crate) fn new(in_time: &[f64]) -> Self {
        let mut sorted = in_time.to_vec();
        sorted.sort_by(f64::total_cmp);
        let effective = effective_count(in_time, median(&sorted));
        Ranked { sorted, effective }
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.sorted)
    }

    /// Returns the percentile interval of the ideal bootstrap of the median.
    ///
    /// The median of a resample lies at or below the k-th of n values with probability I(k/n; m,
    /// m), m = (n + 1) / 2. The bootstrap distribution is therefore exact, without resampling and
    /// without a seed.
    pub(crate) fn bootstrap(&self, level: f64) -> Interval {
        let n = self.sorted.len();
        if n < 2 {
            return self.range();
        }
        let m = f64::midpoint(self.effective, 1.0);
        let tail = (1.0 - level) / 2.0;
        let below = |p: f64| (1..n).find_by_bisection(|k| beta_reg(m, m, k as f64 / n as f64) >= p);
        Interval {
            value: self.median(),
            low: self.sorted[below(tail) - 1],
            high: self.sorted[below(1.0 - tail) - 1],
        }
    }

    /// Returns the sign-test interval: order statistics that hold the true median with at least
    /// `level`, for any distribution.
    ///
    /// It is the whole range if there are too few values for that; [`at_least`] says how much the
    /// range is worth.
    pub(crate) fn sign(&self, level: f64) -> Interval {
        let tail = (1.0 - level) / 2.0;
        let worth = self.effective.floor().max(1.0);
        let outside = |below: f64| beta_reg(worth - below, below + 1.0, 0.5);
        let most = (worth / 2.0).floor() as usize;
        let count = (0..most).find_by_bisection(|k| outside(k as f64) > tail);
        let n = self.sorted.len();
        if n == 0 || count == 0 {
            return self.range();
        }
        let rank = (count as f64 * n as f64 / worth).floor() as usize;
        let rank = rank.clamp(1, n.div_ceil(2));
        Interval {
            value: self.median(),
            low: self.sorted[rank - 1],
            high: self.sorted[n - rank],
        }
    }

    fn range(&self) -> Interval {
        Interval {
            value: self.median(),
            low: self.sorted.first().copied().unwrap_or(0.0),
            high: self.sorted.last().copied().unwrap_or(0.0),
        }
    }
}

/// Returns the probability with which the range of n values holds the true median.
pub(crate) fn at_least(n: usize) -> f64 {
    1.0 - 0.5_f64.powi(n.min(1000) as i32 - 1).min(1.0)
}

/// Returns the number of independent values that a series with these sides of its median is worth.
fn effective_count(in_time: &[f64], centre: f64) -> f64 {
    let n = in_time.len() as f64;
    if in_time.len() < 10 {
        return n;
    }
    let side = |v: &f64| match v.total_cmp(&centre) {
        _ if *v == centre => 0.0,
        std::cmp::Ordering::Less => -1.0,
        _ => 1.0,
    };
    let power: f64 = in_time.iter().map(|v| side(v) * side(v)).sum();
    let lagged: f64 = in_time.windows(2).map(|w| side(&w[0]) * side(&w[1])).sum();
    if power == 0.0 {
        return n;
    }
    let correlation = lagged / power;
    if correlation < 2.0 / n.sqrt() {
        return n;
    }
    (n * (1.0 - correlation) / (1.0 + correlation)).clamp(6.0, n)
}

/// Bisection over a range of integers.
trait FindByBisection {
    /// Returns the first integer for which `holds`, or the end of the range; `holds` must not
    /// become false again.
    fn find_by_bisection(self, holds: impl Fn(usize) -> bool) -> usize;
}

impl FindByBisection for std::ops::Range<usize> {
    fn find_by_bisection(self, holds: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (self.start, self.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 1 … n in an order without correlation of neighbours.
    fn shuffled(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7919) % n + 1) as f64).collect()
    }

    #[test]
    fn sign_interval_has_the_ranks_of_the_tables() {
        // Two entries of the tables of the sign test: n = 10 → ranks 2 and 9, n = 25 → 8 and
        // 18, at 95 %.
        let ten = Ranked::new(&shuffled(10)).sign(0.95);
        assert_eq!((ten.low, ten.high), (2.0, 9.0));
        let ranked = Ranked {
            sorted: (1..=25).map(f64::from).collect(),
            effective: 25.0,
        };
        let i = ranked.sign(0.95);
        assert_eq!((i.low, i.value, i.high), (8.0, 13.0, 18.0));
    }

    #[test]
    fn what_has_no_end_has_a_median_too() {
        let (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(median(&[least, least]), least);
        assert_eq!(median(&[least, 1.0]), least);
        assert_eq!(median(&[1.0, most]), most);
        assert_eq!(median(&[least, 1.0, most]), 1.0);
    }

    #[test]
    fn few_values_give_their_range() {
        let i = Ranked::new(&[3.0, 1.0, 2.0]).sign(0.95);
        assert_eq!((i.low, i.value, i.high), (1.0, 2.0, 3.0));
        assert!((at_least(3) - 0.75).abs() < 1e-12);
        assert!(at_least(6) > 0.95 && at_least(5) < 0.95);
    }

    #[test]
    fn ideal_bootstrap_agrees_with_resampling() {
        let values = shuffled(41);
        let exact = Ranked {
            sorted: (1..=41).map(f64::from).collect(),
            effective: 41.0,
        }
        .bootstrap(0.95);
        let mut state = 1_u64;
        let mut medians: Vec<f64> = (0..4000)
            .map(|_| {
                let resample: Vec<f64> = (0..41)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        values[(state >> 33) as usize % 41]
                    })
                    .collect();
                median_of(&resample)
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        assert!((exact.low - quantile(&medians, 0.025)).abs() <= 1.0);
        assert!((exact.high - quantile(&medians, 0.975)).abs() <= 1.0);
    }

    #[test]
    fn values_that_follow_their_neighbours_are_worth_less() {
        let runs: Vec<f64> = (0..200)
            .map(|i| f64::from((i / 20) % 2) + f64::from(i) * 1e-6)
            .collect();
        let mixed: Vec<f64> = (0..200)
            .map(|i| f64::from((i * 7919 % 200) as u32))
            .collect();
        assert!(Ranked::new(&runs).effective < 40.0);
        assert!(Ranked::new(&mixed).effective > 100.0);
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(median_of(&[]), 0.0);
        assert_eq!(Ranked::new(&[]).sign(0.95).value, 0.0);
        assert_eq!(Ranked::new(&[]).bootstrap(0.95).high, 0.0);
    }
}
