//! Shapes in a delay curve: the flat start, the line, the staircase.

use crate::DelayPoint;
use crate::statistics::median_of;

/// A line d = slope · DEL + intercept, and how far the points are from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub(crate) slope: f64,
    pub(crate) intercept: f64,
    /// Median distance of the points, relative to d.
    pub(crate) distance: f64,
}

impl Line {
    fn at(&self, requested: f64) -> f64 {
        self.slope * requested + self.intercept
    }

    fn through(points: &[DelayPoint], slope: f64, intercept: f64) -> Self {
        let line = Line {
            slope,
            intercept,
            distance: 0.0,
        };
        let distances: Vec<f64> = points
            .iter()
            .map(|p| ((p.actual_ns.value - line.at(p.requested_ns)) / p.actual_ns.value).abs())
            .collect();
        Line {
            distance: median_of(&distances),
            ..line
        }
    }
}

/// Rounds of re-weighting; the fit settles in fewer.
const ROUNDS: usize = 40;

/// Returns the line of least absolute relative distance, by re-weighted least squares.
///
/// The distances are relative, because the points span decades: small delays fix the intercept and
/// large ones the slope. They are absolute, because a disturbed point must not tilt the line.
pub(crate) fn line(points: &[DelayPoint]) -> Line {
    match points {
        [] => Line::default(),
        [one] => Line {
            slope: 0.0,
            intercept: one.actual_ns.value,
            distance: 0.0,
        },
        _ => {
            let mut weights = vec![1.0; points.len()];
            let mut fitted = (0.0, 0.0);
            for _ in 0..ROUNDS {
                fitted = least_squares(points, &weights);
                for (weight, p) in weights.iter_mut().zip(points) {
                    let distance = (p.actual_ns.value - fitted.0 * p.requested_ns - fitted.1)
                        / p.actual_ns.value;
                    *weight = 1.0 / distance.abs().max(1e-4);
                }
            }
            Line::through(points, fitted.0, fitted.1)
        }
    }
}

/// Returns slope and intercept of least weighted squares of relative distances.
fn least_squares(points: &[DelayPoint], weights: &[f64]) -> (f64, f64) {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (p, weight) in points.iter().zip(weights) {
        let (x, y) = (p.requested_ns, p.actual_ns.value);
        let weight = weight / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let determinant = w * wxx - wx * wx;
    if determinant <= 1e-12 * w * wxx {
        return (0.0, wy / w.max(f64::MIN_POSITIVE));
    }
    (
        (w * wxy - wx * wy) / determinant,
        (wy * wxx - wx * wxy) / determinant,
    )
}

/// Points are on one level within this factor.
const LEVEL: f64 = 1.15;

/// Returns the number of points at the beginning on one level that is off the rest of the curve
/// (figure 2), or 0.
///
/// The level must span a factor of two of DEL. It lies well below the continuation of the rest (an
/// immediate return), or well above DEL if the rest goes through the origin (a least delay).
pub(crate) fn flat_start(points: &[DelayPoint]) -> usize {
    let Some(first) = points.first() else {
        return 0;
    };
    let level = first.actual_ns.value;
    let near = |v: f64| v <= LEVEL * level && v * LEVEL >= level;
    let on_level =
        |p: &&DelayPoint| near(p.actual_ns.value) || p.actual_ns.overlaps(&first.actual_ns);
    let flat = points.iter().take_while(on_level).count();
    if flat < 2
        || flat + 3 > points.len()
        || points[flat - 1].requested_ns < 2.0 * first.requested_ns
    {
        return 0;
    }
    let rest = &points[flat..];
    let next = rest[0].actual_ns.value;
    let line = line(rest);
    let led_to = line.at(points[flat - 1].requested_ns);
    let jumps = next > 2.0 * level
        && next - level > 2.0 * (rest[0].requested_ns - points[flat - 1].requested_ns);
    let least = staircase(points).is_none()
        && level > 1.3 * line.at(first.requested_ns)
        && level > 1.3 * first.requested_ns
        && line.distance < 0.1;
    if jumps || (staircase(rest).is_none() && level < 0.5 * led_to) || least {
        flat
    } else {
        0
    }
}

/// The share of points that must lie on steps.
const ON_STEPS: f64 = 0.85;
/// A point is on a step within this part of the step.
const NEAR_STEP: f64 = 0.08;
/// Number of steps beyond which DEL is too long to show the step.
const MOST_STEPS: f64 = 24.0;

/// Returns the step of a staircase (figure 3), or `None`.
///
/// A step is accepted if nearly all delays up to 24 steps are whole steps while the requested ones
/// are not. Candidates are the smallest delay, which a staircase rounds up to one step, and
/// differences of levels.
pub(crate) fn staircase(points: &[DelayPoint]) -> Option<f64> {
    let mut candidates: Vec<f64> = points
        .windows(2)
        .map(|w| w[1].actual_ns.value - w[0].actual_ns.value)
        .collect();
    candidates.extend(points.iter().take(3).map(|p| p.actual_ns.value));
    let largest = points.last()?.actual_ns.value;
    candidates.retain(|c| *c > 0.0 && *c * 1.5 < largest);
    candidates.sort_by(|a, b| b.total_cmp(a));
    candidates.into_iter().find_map(|step| {
        let refined = refine(points, step);
        is_staircase(points, refined).then_some(refined)
    })
}

fn refine(points: &[DelayPoint], step: f64) -> f64 {
    let steps = points.iter().filter_map(|p| {
        let count = (p.actual_ns.value / step).round();
        (1.0..=MOST_STEPS)
            .contains(&count)
            .then(|| p.actual_ns.value / count)
    });
    let refined = median_of(&steps.collect::<Vec<f64>>());
    if refined > 0.0 { refined } else { step }
}

fn is_staircase(points: &[DelayPoint], step: f64) -> bool {
    let shown: Vec<&DelayPoint> = points
        .iter()
        .filter(|p| p.actual_ns.value < (MOST_STEPS + 0.5) * step)
        .collect();
    let off = |v: f64| ((v / step) - (v / step).round()).abs();
    let on_steps = shown
        .iter()
        .filter(|p| p.actual_ns.value > 0.5 * step && off(p.actual_ns.value) < NEAR_STEP)
        .count();
    // Only delays between steps are evidence.
    let telling = shown
        .iter()
        .filter(|p| off(p.requested_ns) >= 2.0 * NEAR_STEP || p.requested_ns < 0.5 * step);
    let telling_on_steps: Vec<f64> = telling
        .filter(|p| p.actual_ns.value > 0.5 * step && off(p.actual_ns.value) < NEAR_STEP)
        .map(|p| (p.actual_ns.value / step).round())
        .collect();
    let mut levels = telling_on_steps.clone();
    levels.dedup();
    on_steps as f64 >= ON_STEPS * shown.len() as f64
        && telling_on_steps.len() >= 3
        && levels.len() >= 2
}

/// Returns the smallest distance of two neighbouring DEL whose difference d(DEL) follows within
/// half, beyond both intervals. Without one it is the smallest requested distance.
pub(crate) fn resolution(points: &[DelayPoint], line: Line) -> f64 {
    let mut distances: Vec<f64> = Vec::new();
    let mut followed: Vec<f64> = Vec::new();
    for pair in points.windows(2) {
        let asked = pair[1].requested_ns - pair[0].requested_ns;
        let (before, after) = (pair[0].actual_ns, pair[1].actual_ns);
        distances.push(asked);
        let as_asked = ((after.value - before.value) / asked - line.slope).abs() <= 0.5;
        if as_asked && after.low > before.high {
            followed.push(asked);
        }
    }
    let smallest = |values: Vec<f64>| values.into_iter().reduce(f64::min);
    smallest(followed)
        .or_else(|| smallest(distances))
        .unwrap_or(0.0)
}
