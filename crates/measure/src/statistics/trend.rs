//! Drift: the Mann–Kendall test and the Theil–Sen slope.

use super::{median_of, normal_quantile};

/// Longer series are thinned to medians of this many stretches, since the test looks at every pair.
const LONGEST: usize = 200;

/// Level of the test.
const LEVEL: f64 = 1.0 - 1e-5;

/// Trend of a series in order of time, from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    /// Theil–Sen slope times the length of the series: the change from beginning to end.
    pub(crate) change: f64,
    /// Whether the Mann–Kendall test rejects "no trend" at 0.001 %, with the actual dependence of
    /// neighbours. Of the hundreds of rows of a run none shall drift by chance.
    pub(crate) significant: bool,
}

/// Returns the trend of a series; `None` of fewer than eight values.
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
        significant: (concordance.abs() - 1.0) / (deviation * inflation(&thinned, *slope))
            > normal_quantile(LEVEL),
    })
}

/// Returns the widening of Kendall's S by dependent neighbours: √((1 + ρ) / (1 − ρ)).
///
/// ρ is the lag-1 correlation of the sides of the line on which values lie.
fn inflation(series: &[f64], slope: f64) -> f64 {
    let level: Vec<f64> = series
        .iter()
        .enumerate()
        .map(|(i, value)| value - slope * i as f64)
        .collect();
    let middle = median_of(&level);
    let sides: Vec<f64> = level
        .iter()
        .map(|value| (value - middle).total_cmp(&0.0) as i32 as f64)
        .collect();
    let power: f64 = sides.iter().map(|side| side * side).sum();
    let lagged: f64 = sides.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = (lagged / power.max(1.0)).clamp(0.0, 0.95);
    ((1.0 + correlation) / (1.0 - correlation)).sqrt()
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
