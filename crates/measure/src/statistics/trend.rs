//! Drift: the Mann–Kendall test and the Theil–Sen slope.

use super::{median_of, normal_quantile};

/// Longer series are thinned to medians of this many stretches, since the test looks at every pair.
const LONGEST: usize = 200;

/// What a series in order of time does from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    /// Theil–Sen slope times the length of the series: the change from beginning to end.
    pub(crate) change: f64,
    /// Whether the Mann–Kendall test rejects "no trend" at 0.1 %.
    pub(crate) significant: bool,
}

/// The trend of a series; `None` of fewer than eight values.
pub(crate) fn trend(series: &[f64]) -> Option<Trend> {
    if series.len() < 8 {
        return None;
    }
    let thinned: Vec<f64> = if series.len() > LONGEST {
        let stretch = series.len().div_ceil(LONGEST);
        series.chunks(stretch).map(median_of).collect()
    } else {
        series.to_vec()
    };
    let n = thinned.len();
    let mut concordance = 0.0_f64;
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for i in 0..n {
        for j in i + 1..n {
            let rise = thinned[j] - thinned[i];
            concordance += if rise > 0.0 {
                1.0
            } else if rise < 0.0 {
                -1.0
            } else {
                0.0
            };
            slopes.push(rise / (j - i) as f64);
        }
    }
    let middle = slopes.len() / 2;
    let (_, slope, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    let count = n as f64;
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    Some(Trend {
        change: *slope * (count - 1.0),
        significant: (concordance.abs() - 1.0) / deviation > normal_quantile(0.999),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: u32) -> f64 {
        f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 - 0.5
    }

    #[test]
    fn a_drift_is_seen_with_its_size() {
        let series: Vec<f64> = (0..300)
            .map(|i| 20.0 + f64::from(i) * 0.01 + noise(i))
            .collect();
        let trend = trend(&series).unwrap();
        assert!(trend.significant);
        assert!((trend.change - 3.0).abs() < 0.3, "{}", trend.change);
    }

    #[test]
    fn noise_is_no_drift() {
        let series: Vec<f64> = (0..300).map(|i| 20.0 + noise(i)).collect();
        assert!(!trend(&series).unwrap().significant);
        assert!(trend(&[1.0; 7]).is_none());
        assert!(!trend(&[1.0; 50]).unwrap().significant);
    }
}
