//! The straight line through costs, and how far their intervals leave its slope open.

use antiphon_measure::Interval;

/// Returns the least-squares slope of (number, cost), which is the cost per unit of the number.
///
/// Its interval comes from the costs' own intervals. `None` with fewer than two different numbers.
pub fn slope(points: &[(f64, Interval)]) -> Option<Interval> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if points.len() < 2 || spread <= 0.0 {
        return None;
    }
    let weight = |x: f64| (x - mean_x) / spread;
    let value: f64 = points.iter().map(|(x, cost)| weight(*x) * cost.value).sum();
    // Independent errors: the half widths add as squares.
    let half: f64 = points
        .iter()
        .map(|(x, cost)| (weight(*x) * (cost.high - cost.low) / 2.0).powi(2))
        .sum::<f64>()
        .sqrt();
    Some(Interval {
        value,
        low: value - half,
        high: value + half,
    })
}

/// Returns the number in which the names of tests differ: `….in.10` has 10.
pub fn number_of(test: &str) -> Option<f64> {
    test.rsplit('.').find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f64, half: f64) -> Interval {
        Interval {
            value,
            low: value - half,
            high: value + half,
        }
    }

    #[test]
    fn a_line_gives_its_slope_back() {
        let points = [1.0, 10.0, 100.0].map(|x| (x, exact(4.0 + 0.25 * x, 0.0)));
        assert!((slope(&points).unwrap().value - 0.25).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_two_points_is_that_of_their_difference() {
        let found = slope(&[(0.0, exact(5.0, 0.3)), (10.0, exact(7.0, 0.4))]).unwrap();
        assert!((found.value - 0.2).abs() < 1e-12);
        assert!((found.high - found.value - 0.05).abs() < 1e-12); // √(0.3² + 0.4²) / 10
    }

    #[test]
    fn one_number_has_no_slope() {
        assert_eq!(slope(&[(3.0, exact(1.0, 0.1))]), None);
        assert_eq!(
            slope(&[(3.0, exact(1.0, 0.1)), (3.0, exact(2.0, 0.1))]),
            None
        );
        assert_eq!(slope(&[]), None);
    }

    #[test]
    fn the_number_is_the_last_in_the_name() {
        assert_eq!(number_of("call.inter.integer.in.100"), Some(100.0));
        assert_eq!(number_of("alloc.new.64.kept"), Some(64.0));
        assert_eq!(number_of("delay.zero"), None);
    }
}
