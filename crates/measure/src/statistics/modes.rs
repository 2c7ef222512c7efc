//! Several modes in one series, such as a core's turbo states.

use super::mean;

/// Least share of values in a mode: rarer states move no median, and other load makes many of them.
const SMALLEST_SHARE: f64 = 0.2;
/// Ashman's D of the best split in two: 3.5 for a uniform distribution, 2.7 for a normal one.
const SEPARATION: f64 = 4.0;
/// Fewer values are not judged.
const FEWEST: usize = 24;

/// Returns the modes of sorted values as (centre, share), lowest first; there is at least one.
///
/// It splits at the least variance within the two parts (Otsu's criterion). A split is accepted if
/// the parts are far apart against their own spread (Ashman's D) and further than `least_distance`.
/// Each part is then split in the same way.
pub(crate) fn modes(sorted: &[f64], least_distance: f64) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    split(sorted, sorted.len(), least_distance, &mut found);
    found
}

fn split(part: &[f64], total: usize, least_distance: f64, found: &mut Vec<(f64, f64)>) {
    let smallest = ((total as f64 * SMALLEST_SHARE).ceil() as usize).max(3);
    if total >= FEWEST
        && part.len() >= 2 * smallest
        && let Some(at) = best_split(part, smallest)
    {
        let (low, high) = part.split_at(at);
        let distance = mean(high) - mean(low);
        let spread = (f64::midpoint(variance(low), variance(high))).sqrt();
        if distance > least_distance && distance > SEPARATION * spread {
            split(low, total, least_distance, found);
            split(high, total, least_distance, found);
            return;
        }
    }
    if total > 0 {
        found.push((mean(part), part.len() as f64 / total as f64));
    }
}

fn best_split(part: &[f64], smallest: usize) -> Option<usize> {
    let n = part.len() as f64;
    let centre = mean(part);
    let mut below = part[..smallest].iter().map(|v| v - centre).sum::<f64>();
    let mut best = (0.0, None);
    for at in smallest..=part.len() - smallest {
        let left = at as f64;
        // Between-class variance of values centred on their mean: S² / (n₁ n₂) up to a constant.
        let between = below * below / (left * (n - left));
        if between > best.0 {
            best = (between, Some(at));
        }
        below += part[at.min(part.len() - 1)] - centre;
    }
    best.1
}

fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    mean(
        &values
            .iter()
            .map(|v| (v - centre).powi(2))
            .collect::<Vec<_>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(i: u32) -> f64 {
        f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0 - 0.5
    }

    fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values
    }

    #[test]
    fn two_turbo_states_are_two_modes() {
        let values = sorted((0..200).map(|i| if i % 3 == 0 { 26.0 } else { 20.0 } + noise(i)));
        let modes = modes(&values, 0.1);
        assert_eq!(modes.len(), 2);
        assert!((modes[0].0 - 20.0).abs() < 0.1 && (modes[1].0 - 26.0).abs() < 0.1);
        assert!((modes[1].1 - 1.0 / 3.0).abs() < 0.02);
    }

    #[test]
    fn one_bump_is_one_mode() {
        let uniform = sorted((0..500).map(noise));
        assert_eq!(modes(&uniform, 0.0).len(), 1);
        let bell = sorted((0..500).map(|i| (0..6).map(|k| noise(i * 6 + k)).sum()));
        assert_eq!(modes(&bell, 0.0).len(), 1);
        let tail = sorted((0..500).map(|i| -(noise(i) + 0.5001).ln()));
        assert_eq!(modes(&tail, 0.0).len(), 1);
    }

    #[test]
    fn steps_of_a_coarse_clock_are_not_modes() {
        let quantised = sorted((0..100).map(|i| f64::from(i % 2) * 0.5));
        assert_eq!(modes(&quantised, 1.0).len(), 1);
        assert!(modes(&[], 0.0).is_empty());
    }
}
