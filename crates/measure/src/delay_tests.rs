//! Delay curves of known shape.

use super::*;
use crate::synthetic::Noise;

/// Returns nine points a decade over five decades, with noise of 0.5 % or 200 ns.
fn curve(actual: impl Fn(f64) -> f64) -> Vec<DelayPoint> {
    let mut noise = Noise::new(4);
    (0..=45)
        .map(|i| {
            let requested_ns = 1000.0 * 10_f64.powf(f64::from(i) / 9.0);
            let value = actual(requested_ns) + 100.0 * noise.normal();
            DelayPoint {
                requested_ns,
                actual_ns: Interval {
                    value,
                    low: value - 200.0,
                    high: value + 200.0,
                },
                range_ns: (0.99 * value, 1.01 * value),
            }
        })
        .collect()
}

fn classify(actual: impl Fn(f64) -> f64) -> DelayCurve {
    DelayCurve::classify(curve(actual), &[])
}

fn near(a: f64, b: f64, part: f64) -> bool {
    (a - b).abs() <= part * b
}

#[test]
fn linux_by_default_is_preemptive_with_its_timer_slack_as_overhead() {
    let curve = classify(|del| del + 57_000.0);
    assert_eq!(
        curve.method,
        DelayMethod::Preemptive,
        "{:?}",
        curve.evidence
    );
    assert!(
        near(curve.overhead_ns, 57_000.0, 0.02),
        "{}",
        curve.overhead_ns
    );
    assert!(near(curve.slope, 1.0, 0.01));
    assert!(!curve.compensated);
    assert_eq!(curve.immediate_below_ns, None);
    assert!(near(curve.minimum_ns, 58_000.0, 0.01));
    assert!(curve.resolution_ns <= 3000.0, "{}", curve.resolution_ns);
}

#[test]
fn disturbed_points_do_not_tilt_the_line() {
    let mut points = curve(|del| del + 17_000.0);
    for i in [10, 30, 44] {
        points[i].actual_ns.value *= 4.0;
    }
    let curve = DelayCurve::classify(points, &[]);
    assert_eq!(
        curve.method,
        DelayMethod::Preemptive,
        "{:?}",
        curve.evidence
    );
    assert!(
        near(curve.overhead_ns, 17_000.0, 0.05),
        "{}",
        curve.overhead_ns
    );
}

#[test]
fn an_immediate_return_is_seen_with_its_threshold() {
    let curve = classify(|del| {
        if del < 20_000.0 {
            1400.0
        } else {
            del + 60_000.0
        }
    });
    let threshold = curve.immediate_below_ns.unwrap();
    assert!((20_000.0..30_000.0).contains(&threshold), "{threshold}");
    assert_eq!(curve.method, DelayMethod::Preemptive);
    assert!(near(curve.overhead_ns, 60_000.0, 0.05));
}

#[test]
fn a_least_delay_with_compensation() {
    let curve = classify(|del| del.max(60_000.0));
    assert_eq!(
        curve.method,
        DelayMethod::Preemptive,
        "{:?}",
        curve.evidence
    );
    assert!(curve.compensated, "{:?}", curve.evidence);
    assert!(near(curve.immediate_below_ns.unwrap(), 60_000.0, 0.35));
}

#[test]
fn the_ideal_curve_is_compensated() {
    let curve = classify(|del| del + 20.0);
    assert_eq!(curve.method, DelayMethod::Preemptive);
    assert!(curve.compensated);
    assert_eq!(curve.immediate_below_ns, None);
}

#[test]
fn a_staircase_needs_random_starts_to_be_told_apart() {
    let stairs = |del: f64| (del / 10e6).ceil().max(1.0) * 10e6;
    let random = |width: f64| RandomStarts {
        requested_ns: 5e6,
        range_ns: (1e7 - width, 1e7),
        starts: 200,
    };
    let open = classify(stairs);
    assert_eq!(
        open.method,
        DelayMethod::Unclassified,
        "{:?}",
        open.evidence
    );
    assert!(near(open.resolution_ns, 10e6, 0.01));
    let fixed = DelayCurve::classify(curve(stairs), &[random(8e6)]);
    assert_eq!(fixed.method, DelayMethod::FixedInterval);
    let coarse = DelayCurve::classify(curve(stairs), &[random(1e5)]);
    assert_eq!(
        coarse.method,
        DelayMethod::Preemptive,
        "{:?}",
        coarse.evidence
    );
    assert!(near(coarse.resolution_ns, 10e6, 0.01));
}

#[test]
fn a_fixed_interval_below_which_the_call_returns_at_once() {
    // The paper's first compiler, a hundred times faster: immediate below 10 µs, else the rest of
    // a 10 ms interval.
    let curve = DelayCurve::classify(
        curve(|del| {
            if del < 10_000.0 {
                1400.0
            } else {
                (del / 10e6).ceil() * 10e6
            }
        }),
        &[RandomStarts {
            requested_ns: 1e6,
            range_ns: (1e6, 9e6),
            starts: 100,
        }],
    );
    assert_eq!(
        curve.method,
        DelayMethod::FixedInterval,
        "{:?}",
        curve.evidence
    );
    assert!(near(curve.immediate_below_ns.unwrap(), 10_000.0, 0.3));
    assert!(near(curve.resolution_ns, 10e6, 0.01));
}

#[test]
fn nothing_and_nonsense_are_unclassified() {
    assert_eq!(
        DelayCurve::classify(Vec::new(), &[]).method,
        DelayMethod::Unclassified
    );
    assert_eq!(
        classify(|del| del.powf(0.5) * 1e4).method,
        DelayMethod::Unclassified
    );
    assert_eq!(classify(|del| 3.0 * del).method, DelayMethod::Unclassified);
    let mut points = curve(|del| del);
    points.truncate(3);
    assert_eq!(
        DelayCurve::classify(points, &[]).method,
        DelayMethod::Unclassified
    );
}

#[test]
fn delays_that_vary_over_several_steps_are_no_fixed_interval() {
    // Load that wakes the sleeper late in lumps makes steps of a line.
    let stairs = |del: f64| (del / 1e6).ceil().max(1.0) * 1e6;
    let wide = RandomStarts {
        requested_ns: 1e6,
        range_ns: (1e6, 1e6 + 4.37e6),
        starts: 100,
    };
    let curve = DelayCurve::classify(curve(stairs), &[wide]);
    assert_ne!(
        curve.method,
        DelayMethod::FixedInterval,
        "{:?}",
        curve.evidence
    );
    let reported = |said: &String| said.contains("4.37 of a step");
    assert!(curve.evidence.iter().any(reported), "{:?}", curve.evidence);
}
