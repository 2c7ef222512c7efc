//! Delay curves: d(DEL) against DEL, classified as in the paper (figures 1–3).

use crate::Interval;
use crate::delay_fit::{self, Line};
use crate::statistics::median_of;
use serde::{Deserialize, Serialize};

/// A classified delay curve. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayCurve {
    /// The points, in order of the requested delay.
    pub points: Vec<DelayPoint>,
    /// Method by which the system schedules an expired delay.
    pub method: DelayMethod,
    /// Slope of the line through the points above the threshold (1 is ideal).
    pub slope: f64,
    /// Below this requested delay the call returns at once; `None` where no threshold was seen.
    pub immediate_below_ns: Option<f64>,
    /// Minimum actual delay: d(DEL) for the smallest DEL.
    pub minimum_ns: f64,
    /// Overhead Ts: the line's intercept with the ordinate.
    pub overhead_ns: f64,
    /// Whether the system subtracts its overhead from the delay.
    pub compensated: bool,
    /// Resolution: the step of the staircase. Without one it is the smallest distance of DEL that
    /// d(DEL) follows. The requested points bound that distance: see `resolution_is_bound`.
    pub resolution_ns: f64,
    /// Whether the resolution is an upper bound only, the finest step that was tried: no staircase
    /// gave a step.
    #[serde(default)]
    pub resolution_is_bound: bool,
    /// Evidence, one sentence a fact, with its numbers.
    pub evidence: Vec<String>,
}

/// One point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayPoint {
    /// DEL.
    pub requested_ns: f64,
    /// d(DEL) = (T2 − T1) / N − TL, with its interval.
    pub actual_ns: Interval,
    /// Smallest and largest single delay (the range separates a fixed interval from pre-emptive
    /// scheduling).
    pub range_ns: (f64, f64),
}

/// The paper's classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DelayMethod {
    /// A programmable clock wakes the task: slope 1.
    Preemptive,
    /// Expiry is checked at fixed intervals: a staircase, and the actual delay varies with the
    /// starting time.
    FixedInterval,
    /// The points fit neither.
    Unclassified,
}

/// Results of the paper's second experiment: one delay, started at random times, each delay timed
/// alone.
///
/// It separates a fixed-interval scheduler (the delay varies over the interval) from a pre-emptive
/// one with a coarse timer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomStarts {
    /// DEL.
    pub requested_ns: f64,
    /// Tenth and ninetieth percentile of the single delays; the extremes would be the machine's
    /// interruptions.
    pub range_ns: (f64, f64),
    /// Number of starts.
    pub starts: u64,
}

/// A line is of slope 1 within this.
const SLOPE_TOLERANCE: f64 = 0.05;
/// Points lie on a line if their median relative distance to it is below this.
const LINE_TOLERANCE: f64 = 0.05;
/// Least range of a randomly started delay under a fixed interval, in steps of the staircase. The
/// true one is 0.8 (tenth to ninetieth percentile).
const FIXED_INTERVAL_RANGE: f64 = 0.5;
/// A fixed interval varies over no more than a step: a wider range is something else's.
const WIDEST_FIXED_INTERVAL: f64 = 1.2;
/// Fewer points are not classified.
const FEWEST_POINTS: usize = 4;

impl DelayCurve {
    /// Classifies a curve from its points, in any order, and from randomly started delays if there
    /// were any.
    ///
    /// Points that are not finite or not positive are left out. Fewer than four points are
    /// `Unclassified`.
    pub fn classify(points: Vec<DelayPoint>, random: &[RandomStarts]) -> Self {
        let points = sound(points);
        let mut evidence = Vec::new();
        let flat = delay_fit::flat_start(&points);
        let stairs = delay_fit::staircase(&points[flat..])
            .filter(|step| !contradicted(*step, random, &mut evidence));
        let line = delay_fit::line(&points[flat..]);
        let method = match (&stairs, points.len() >= FEWEST_POINTS) {
            (_, false) => {
                evidence.push(format!(
                    "{} points are too few to classify; ask for more per decade",
                    points.len()
                ));
                DelayMethod::Unclassified
            }
            (Some(step), true) => stairs_method(*step, random, &points[flat..], &mut evidence),
            (None, true) => line_method(line, &mut evidence),
        };
        let minimum_ns = points.first().map_or(0.0, |p| p.actual_ns.value);
        let immediate_below_ns = immediate(&points, flat, &mut evidence);
        let compensated = stairs.is_none() && compensation(line, &points[flat..], &mut evidence);
        let resolution_ns = stairs.unwrap_or_else(|| delay_fit::resolution(&points[flat..], line));
        if let Some(first) = points.first() {
            evidence.push(format!(
                "the smallest delay asked for, {}, took {}",
                time(first.requested_ns),
                time(minimum_ns)
            ));
        }
        DelayCurve {
            method,
            slope: line.slope,
            immediate_below_ns,
            minimum_ns,
            overhead_ns: line.intercept,
            compensated,
            resolution_ns,
            resolution_is_bound: stairs.is_none(),
            evidence,
            points,
        }
    }
}

fn sound(mut points: Vec<DelayPoint>) -> Vec<DelayPoint> {
    let all = |p: &DelayPoint| {
        [
            p.requested_ns,
            p.actual_ns.value,
            p.actual_ns.low,
            p.actual_ns.high,
            p.range_ns.0,
            p.range_ns.1,
        ]
    };
    points.retain(|p| {
        all(p).iter().all(|v| v.is_finite()) && p.requested_ns > 0.0 && p.actual_ns.value > 0.0
    });
    points.sort_by(|a, b| a.requested_ns.total_cmp(&b.requested_ns));
    points.dedup_by(|a, b| a.requested_ns == b.requested_ns);
    points
}

/// Returns the range of randomly started single delays, in steps of the staircase: the median of
/// the experiments.
fn random_range(step: f64, random: &[RandomStarts]) -> Option<f64> {
    let seen: Vec<f64> = random
        .iter()
        .map(|r| (r.range_ns.1 - r.range_ns.0) / step)
        .collect();
    (!seen.is_empty()).then(|| median_of(&seen))
}

/// Checks whether single delays vary over more than a fixed interval. The machine then disturbed
/// the curve, and its levels are chance.
fn contradicted(step: f64, random: &[RandomStarts], evidence: &mut Vec<String>) -> bool {
    let range = random_range(step, random).filter(|range| *range > WIDEST_FIXED_INTERVAL);
    if let Some(range) = range {
        evidence.push(format!(
            "the points look like steps of {}, but randomly started delays vary over {range:.2} of a step, which a fixed interval does \
             not: something else delays the wakings",
            time(step)
        ));
    }
    range.is_some()
}

fn stairs_method(
    step: f64,
    random: &[RandomStarts],
    points: &[DelayPoint],
    evidence: &mut Vec<String>,
) -> DelayMethod {
    evidence.push(format!(
        "d(DEL) is a staircase with steps of {}",
        time(step)
    ));
    if let Some(range) = random_range(step, random) {
        let starts: u64 = random.iter().map(|r| r.starts).sum();
        evidence.push(format!(
            "{starts} randomly started delays vary over {range:.2} of a step"
        ));
        return if range >= FIXED_INTERVAL_RANGE {
            DelayMethod::FixedInterval
        } else {
            DelayMethod::Preemptive
        };
    }
    // Without that experiment the loop's own first turn is the only one that starts at random.
    let widest = points
        .iter()
        .map(|p| (p.range_ns.1 - p.range_ns.0) / step)
        .fold(0.0, f64::max);
    if (FIXED_INTERVAL_RANGE..=1.5).contains(&widest) {
        evidence.push(format!(
            "single delays of the loop vary over {widest:.2} of a step"
        ));
        return DelayMethod::FixedInterval;
    }
    evidence.push(
        "whether the interval is fixed or the timer coarse only randomly started delays can tell"
            .to_owned(),
    );
    DelayMethod::Unclassified
}

fn line_method(line: Line, evidence: &mut Vec<String>) -> DelayMethod {
    evidence.push(format!(
        "the points lie on a line of slope {:.3} that meets the ordinate at {}, the median distance to it being {:.1} %",
        line.slope,
        time(line.intercept),
        100.0 * line.distance
    ));
    if (line.slope - 1.0).abs() <= SLOPE_TOLERANCE && line.distance <= LINE_TOLERANCE {
        DelayMethod::Preemptive
    } else {
        evidence.push("that is neither a line of slope 1 nor a staircase".to_owned());
        DelayMethod::Unclassified
    }
}

fn immediate(points: &[DelayPoint], flat: usize, evidence: &mut Vec<String>) -> Option<f64> {
    let last = points[..flat].last()?;
    let next = points.get(flat)?;
    evidence.push(format!(
        "up to {} the call takes {} whatever is asked for: it returns at once or is rescheduled at once; from {} on it waits",
        time(last.requested_ns),
        time(last.actual_ns.value),
        time(next.requested_ns)
    ));
    Some(next.requested_ns)
}

/// Checks for compensation: the line goes through the origin as far as the points show, although
/// the smallest delay has a cost.
fn compensation(line: Line, points: &[DelayPoint], evidence: &mut Vec<String>) -> bool {
    let Some(smallest) = points.first() else {
        return false;
    };
    let uncertain = smallest
        .actual_ns
        .half_width()
        .max(0.1 * smallest.requested_ns.min(smallest.actual_ns.value));
    let compensated = line.intercept.abs() <= uncertain;
    evidence.push(if compensated {
        "the line goes through the origin: the overhead is taken off the delay".to_owned()
    } else if line.intercept < 0.0 {
        format!(
            "the line meets the ordinate at {}: more than the overhead is taken off",
            time(line.intercept)
        )
    } else {
        format!(
            "the overhead of {} is not taken off the delay",
            time(line.intercept)
        )
    });
    compensated
}

/// Formats a time in a suitable unit.
fn time(ns: f64) -> String {
    match ns.abs() {
        t if t < 1e3 => format!("{ns:.0} ns"),
        t if t < 1e6 => format!("{:.1} µs", ns / 1e3),
        t if t < 1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
#[path = "delay_tests.rs"]
mod tests;
