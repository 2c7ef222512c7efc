//! Outcomes other than frames.

use super::{Noise, interval};
use antiphon_lab::Outcome;
use antiphon_measure::*;

pub fn clocks() -> Vec<(String, Option<u64>, Outcome)> {
    let clock = |name: &str, unit: &str, resolution: f64, by, cost| {
        let estimate = ClockEstimate {
            readings: 200_000,
            resolution,
            by,
            cost,
            ticks: 190_000,
            steps_back: 0,
            gaps: 31,
            zero_strings: Some(ZeroStrings {
                observed: 7.9,
                predicted: 8.1,
            }),
        };
        (
            name.to_string(),
            None,
            Outcome::Clock {
                unit: unit.into(),
                estimate,
            },
        )
    };
    vec![
        clock(
            "Ada.Calendar.Clock",
            "ns",
            1000.0,
            ResolutionBy::FirstDifferences,
            31.2,
        ),
        clock(
            "CLOCK_MONOTONIC",
            "ns",
            1.0,
            ResolutionBy::SecondDifferences,
            24.6,
        ),
        clock(
            "CLOCK_REALTIME",
            "ns",
            1.0,
            ResolutionBy::SecondDifferences,
            24.9,
        ),
        clock("TSC", "ticks", 2.0, ResolutionBy::SecondDifferences, 41.0),
    ]
}

pub fn interference(noise: &mut Noise) -> Outcome {
    let mut gaps: Vec<(f64, f64)> = (0..250)
        .map(|tick| {
            (
                tick as f64 * 4e6 + 1e5 * noise.unit(),
                2600.0 * noise.about(0.4),
            )
        })
        .collect();
    gaps.extend((0..60).map(|_| (1e9 * noise.unit(), 900.0 * noise.tail() * 40.0)));
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    Outcome::Interference(Interference {
        observed_ns: 1e9,
        beta: 0.0031,
        case: InterferenceCase::Gaps,
        periodic: vec![PeriodicFunction {
            period_ns: 4e6,
            duration_ns: 2600.0,
            occurrences: 250,
        }],
        gaps,
        schedstat_beta: Some(0.0022),
    })
}

fn distribution(mut samples: Vec<u64>) -> Distribution {
    samples.sort_unstable();
    let at = |p: f64| samples[((samples.len() - 1) as f64 * p / 100.0) as usize];
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for sample in &samples {
        let width = 1 << (63 - (sample | 1).leading_zeros()).saturating_sub(5);
        let edge = (sample / width + 1) * width;
        match buckets.last_mut() {
            Some((last, count)) if *last == edge => *count += 1,
            _ => buckets.push((edge, 1)),
        }
    }
    Distribution {
        count: samples.len() as u64,
        minimum_ns: samples[0],
        mean_ns: samples.iter().sum::<u64>() as f64 / samples.len() as f64,
        percentiles: [50.0, 90.0, 99.0, 99.9, 100.0].map(|p| (p, at(p))).to_vec(),
        buckets,
    }
}

pub fn latency(test: &str, noise: &mut Noise) -> LatencyEstimate {
    let base = if test.starts_with("task") {
        9000.0
    } else {
        2900.0
    };
    let actual: Vec<u64> = (0..2000)
        .map(|n| {
            (base * noise.about(0.08)
                + if n % 90 == 0 {
                    15_000.0 * noise.tail()
                } else {
                    60.0 * noise.tail()
                }) as u64
        })
        .collect();
    let intended = match test.starts_with("interrupt") {
        true => actual
            .iter()
            .map(|v| v + (400.0 * noise.tail() * noise.tail() * 6.0) as u64)
            .collect(),
        false => actual.clone(),
    };
    LatencyEstimate {
        from_actual: distribution(actual),
        from_intended: distribution(intended),
        scheduled: true,
        overhead_ns: 26.0,
    }
}

pub fn storage(test: &str, noise: &mut Noise) -> StorageEstimate {
    let kept = test.ends_with("kept");
    let steps = if kept {
        (1..180)
            .map(|n| (n * 720 + n % 2, 9_000.0 * noise.about(0.5)))
            .collect()
    } else {
        Vec::new()
    };
    StorageEstimate {
        completed: if kept { 130_012 } else { 200_000 },
        object_bytes: 4000,
        exhausted: kept.then(|| "STORAGE_ERROR : s-memory.adb:108 explicit raise".into()),
        typical_ns: 310.0,
        steps,
        growth: kept.then_some((33.0, 9000.0)),
        level_changes: if kept {
            vec![(60_000, 310.0, 520.0)]
        } else {
            Vec::new()
        },
        verdict: vec![if kept {
            "Every pointer is kept: storage ran out after 130 012 objects of 4000 bytes".into()
        } else {
            "Storage was reclaimed by deallocation: the loop ran to its count".into()
        }],
    }
}

pub fn delay(noise: &mut Noise) -> DelayCurve {
    let requests = (0..16).map(|n| 1000.0 * 10f64.powf(f64::from(n) / 3.0));
    let points: Vec<DelayPoint> = requests
        .map(|requested_ns| {
            let actual = requested_ns + 17_400.0 * noise.about(0.05);
            DelayPoint {
                requested_ns,
                actual_ns: interval(actual, 120.0),
                range_ns: (actual * 0.97, actual * 1.02 + 30_000.0 * noise.tail()),
            }
        })
        .collect();
    DelayCurve {
        minimum_ns: points[0].actual_ns.value,
        points,
        method: DelayMethod::Preemptive,
        slope: 1.0003,
        immediate_below_ns: None,
        overhead_ns: 17_400.0,
        compensated: false,
        resolution_ns: 180.0,
        resolution_is_bound: true,
        evidence: vec![
            "The line through 16 points has slope 1.0003".into(),
            "Single delays vary by 2 % of the request: no staircase".into(),
        ],
    }
}
