//! The straight line through costs: a cost to begin with, and one for each step.

use crate::Interval;
use crate::line_limits::{least, most};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// cost = intercept + slope · number, and how well the costs keep to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Cost at 0, ns, with its 95 % interval.
    pub intercept: Interval,
    /// Cost for each unit of the number, ns, with its 95 % interval.
    pub slope: Interval,
    /// Distance of the farthest cost from the line, relative to the line's value: 0 is perfectly
    /// predictable.
    pub farthest: f64,
}

impl Line {
    /// Returns the line's value for a number, ns.
    pub fn at(&self, number: f64) -> f64 {
        self.intercept.value + self.slope.value * number
    }
}

/// Fits the line through (number, cost in ns), by least squares of relative deviations.
///
/// They are relative because costs have relative errors: with absolute ones a cost of 100 µs would
/// decide alone beside one of 1 µs. Intervals are Student's, from the deviations of the costs from
/// the line. They tell whether the cost is a line, which the costs' own intervals would not.
///
/// `None` with fewer than three different numbers, or costs that are not all above zero.
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    let mut numbers: Vec<f64> = points.iter().map(|(number, _)| *number).collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    let usable =
        |(number, cost): &(f64, f64)| number.is_finite() && cost.is_finite() && *cost > 0.0;
    if numbers.len() < 3 || !points.iter().all(usable) {
        return None;
    }
    let weighted = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points
            .iter()
            .map(|(number, cost)| of(*number, *cost) / (cost * cost))
            .sum()
    };
    let all = weighted(&|_, _| 1.0);
    let mean_number = weighted(&|number, _| number) / all;
    let mean_cost = weighted(&|_, cost| cost) / all;
    let spread = weighted(&|number, _| (number - mean_number).powi(2));
    let slope = weighted(&|number, cost| (number - mean_number) * (cost - mean_cost)) / spread;
    let intercept = mean_cost - slope * mean_number;
    let freedom = points.len() as f64 - 2.0;
    let left = weighted(&|number, cost| (cost - intercept - slope * number).powi(2)) / freedom;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.975);
    let interval = |value: f64, variance: f64| {
        let half = t * variance.sqrt();
        Interval {
            value,
            low: value - half,
            high: value + half,
        }
    };
    let mut line = Line {
        intercept: interval(intercept, left * (1.0 / all + mean_number.powi(2) / spread)),
        slope: interval(slope, left / spread),
        farthest: 0.0,
    };
    let away = |(number, cost): &(f64, f64)| (cost / line.at(*number) - 1.0).abs();
    line.farthest = points.iter().map(away).fold(0.0, f64::max);
    Some(line)
}

/// Returns [`Line::farthest`] of costs within limits: each cost anywhere in its interval, with the
/// line fitted anew.
///
/// The lower limit is the distance of the farthest cost from any line at all. It is 0 if a line
/// passes through all intervals, so that nothing tells the costs from a line. The upper limit is a
/// bound that the distance does not exceed. The distance reaches it unless intervals are very wide
/// or costs more than ten. It is ∞ if the line may come down to zero.
///
/// `None` without a line; no limits if a cost has none.
pub fn farthest(points: &[(f64, Interval)]) -> Option<Interval> {
    let costs: Vec<_> = points.iter().map(|(n, cost)| (*n, cost.value)).collect();
    let through = line(&costs)?;
    let value = through.farthest;
    if points.iter().any(|(_, cost)| cost.limits().is_none()) {
        return Some(Interval::open(value));
    }
    let points: Vec<_> = points.iter().map(|(n, cost)| (*n, around(cost))).collect();
    Some(Interval {
        value,
        low: least(&points).min(value),
        high: most(&points, &through).max(value),
    })
}

/// Returns the interval extended to its value, which rounding or a median may leave just outside.
fn around(cost: &Interval) -> Interval {
    Interval {
        value: cost.value,
        low: cost.low.min(cost.value),
        high: cost.high.max(cost.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns costs with these relative deviations from 2300 ns + 85 ns, and with this relative
    /// error.
    fn known(off: [f64; 5], half: f64) -> Vec<(f64, Interval)> {
        let cost = |(number, off): (f64, f64)| {
            let value = (2300.0 + 85.0 * number) * (1.0 + off);
            let (low, high) = (value * (1.0 - half), value * (1.0 + half));
            (number, Interval { value, low, high })
        };
        NUMBERS.into_iter().zip(off).map(cost).collect()
    }

    #[test]
    fn what_intervals_hide_is_not_told_from_a_line() {
        let noise = [0.01, -0.01, 0.01, -0.01, 0.005];
        let hidden = farthest(&known(noise, 0.02)).unwrap();
        assert_eq!(hidden.low, 0.0, "{hidden:?}");
        assert!(hidden.value > 0.005 && hidden.high > 0.02, "{hidden:?}");
        let shown = farthest(&known(noise, 0.001)).unwrap();
        assert!(0.003 < shown.low && shown.low < shown.value, "{shown:?}");
        assert!(shown.value < shown.high && shown.high < 0.015, "{shown:?}");
    }

    #[test]
    fn a_cost_without_limits_leaves_the_deviation_open() {
        let mut points = known([0.0, 0.01, 0.0, 0.0, 0.0], 0.001);
        points[2].1 = Interval::open(points[2].1.value);
        assert_eq!(farthest(&points).unwrap().limits(), None);
        assert_eq!(farthest(&points[..2]), None);
    }

    const NUMBERS: [f64; 5] = [1.0, 10.0, 100.0, 500.0, 1000.0];

    #[test]
    fn a_line_gives_itself_back() {
        let found = line(&NUMBERS.map(|number| (number, 2300.0 + 85.0 * number))).unwrap();
        assert!((found.intercept.value - 2300.0).abs() < 1e-6, "{found:?}");
        assert!((found.slope.value - 85.0).abs() < 1e-9, "{found:?}");
        assert!(found.farthest < 1e-9, "{found:?}");
    }

    #[test]
    fn its_intervals_hold_the_truth_when_costs_deviate() {
        let deviations = [1.01, 0.99, 1.01, 0.99, 1.005];
        let mut points = NUMBERS.map(|number| (number, 2300.0 + 85.0 * number));
        for (point, by) in points.iter_mut().zip(deviations) {
            point.1 *= by;
        }
        let found = line(&points).unwrap();
        assert!(
            found.slope.low < 85.0 && 85.0 < found.slope.high,
            "{found:?}"
        );
        assert!(found.intercept.low < 2300.0 && 2300.0 < found.intercept.high);
        assert!(0.005 < found.farthest && found.farthest < 0.02, "{found:?}");
    }

    #[test]
    fn a_curve_is_far_from_its_line() {
        let found = line(&NUMBERS.map(|number| (number, 100.0 + number * number))).unwrap();
        assert!(found.farthest > 0.3, "{found:?}");
    }

    #[test]
    fn two_numbers_make_no_line() {
        assert_eq!(line(&[(1.0, 5.0), (1.0, 6.0), (2.0, 7.0)]), None);
        assert_eq!(line(&[(1.0, 5.0), (2.0, 0.0), (3.0, 7.0)]), None);
    }
}
