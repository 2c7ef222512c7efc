//! Grain of a clock: the largest unit of which its differences are multiples, even behind
//! conversion or a few bad readings.

use crate::statistics::median_of;
use std::collections::BTreeMap;

/// Share of the differences that must be multiples; the rest may be damaged by adjustments of the
/// clock.
const COVERED: f64 = 0.99;
/// Least size of a grain that conversion to the clock's unit may hide by rounding of ±1. Below it,
/// units and grain are inseparable.
const SMALLEST_HIDDEN: i64 = 8;
/// Readings in phase with a grain: length of the mean phase vector within a window.
const COHERENT: f64 = 0.85;
/// Readings in a window of the phase test.
const WINDOW: usize = 32;
/// Number of candidates.
const MOST_CANDIDATES: usize = 12;

/// Returns τ from positive differences and the readings they are of; `None` without differences.
///
/// The differences are first ones, or sizes of second ones. The exact grain is the greatest common
/// divisor of all but the rarest 1 %. If that is much smaller than the smallest difference, a
/// fractional grain may hide behind it. For example, a 24 MHz counter read in ns moves by 41 and
/// 42. The candidate is accepted if the readings themselves stay in phase with it.
pub(crate) fn of(differences: &[i64], readings: &[i64]) -> Option<f64> {
    let exact = common_divisor(differences)?;
    Some(hidden(differences, readings, exact).unwrap_or(exact as f64))
}

fn common_divisor(differences: &[i64]) -> Option<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for difference in differences {
        *counts.entry(*difference).or_insert(0) += 1;
    }
    let mut by_count: Vec<(i64, usize)> = counts.into_iter().collect();
    by_count.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    let enough = (COVERED * differences.len() as f64).ceil() as usize;
    let mut covered = 0;
    let mut divisor = 0;
    for (value, count) in by_count {
        divisor = gcd(divisor, value);
        covered += count;
        if covered >= enough {
            break;
        }
    }
    (divisor > 0).then_some(divisor)
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn hidden(differences: &[i64], readings: &[i64], exact: i64) -> Option<f64> {
    let smallest = SMALLEST_HIDDEN.max(exact.saturating_mul(2));
    let mut sorted: Vec<f64> = differences
        .iter()
        .filter(|d| **d > smallest)
        .map(|d| *d as f64)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let support = (differences.len() / 50).max(1);
    let moved = moments(readings);
    let mut at = 0;
    for _ in 0..MOST_CANDIDATES {
        let start = *sorted.get(at)?;
        let end = at + sorted[at..].partition_point(|v| *v <= 1.05 * start + 2.0);
        if end - at >= support {
            let candidate = refine(median_of(&sorted[at..end]), &sorted, &moved);
            if is_in_phase(&moved, candidate) {
                return Some(candidate);
            }
        }
        at = end;
    }
    None
}

/// Returns the readings at which the clock moved, from the first; a coarse clock repeats the
/// others.
fn moments(readings: &[i64]) -> Vec<f64> {
    let origin = readings.first().copied().unwrap_or(0);
    let mut moved: Vec<f64> = Vec::new();
    for reading in readings {
        let moment = reading.saturating_sub(origin) as f64;
        if moved.last().is_none_or(|last| moment > *last) {
            moved.push(moment);
        }
    }
    moved
}

/// Refines a candidate by least squares over its multiples: first over the differences, then over
/// ever longer stretches of readings.
fn refine(candidate: f64, differences: &[f64], moved: &[f64]) -> f64 {
    let near: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|d| *d <= 8.0 * candidate)
        .collect();
    let mut tau = fit(candidate, near.into_iter());
    let span = |lag: usize| {
        moved
            .windows(lag + 1)
            .step_by(lag)
            .map(move |w| w[lag] - w[0])
    };
    let step = median_of(&span(1).collect::<Vec<_>>());
    for lag in [1, 2, 4, 8, 16, 32] {
        let longest = 2.0 * step * lag as f64;
        tau = fit(tau, span(lag).filter(|s| *s <= longest));
    }
    tau
}

fn fit(tau: f64, spans: impl Iterator<Item = f64>) -> f64 {
    let (mut product, mut square) = (0.0, 0.0);
    for span in spans {
        let multiple = (span / tau).round();
        product += span * multiple;
        square += multiple * multiple;
    }
    if square > 0.0 { product / square } else { tau }
}

/// Checks that the readings stay at multiples of τ, apart from one common offset, within most
/// windows.
fn is_in_phase(moved: &[f64], tau: f64) -> bool {
    let mut lengths: Vec<f64> = moved
        .chunks(WINDOW)
        .filter(|w| w.len() > WINDOW / 2)
        .map(|w| phase(w, tau))
        .collect();
    if lengths.is_empty() {
        lengths.push(phase(moved, tau));
    }
    median_of(&lengths) >= COHERENT
}

fn phase(window: &[f64], tau: f64) -> f64 {
    let (mut x, mut y) = (0.0, 0.0);
    for moment in window {
        let (sin, cos) = (std::f64::consts::TAU * (moment / tau).fract()).sin_cos();
        x += cos;
        y += sin;
    }
    x.hypot(y) / window.len() as f64
}
