//! Robustness: for any answers of a subject, nothing panics, nothing is lost on the way through
//! JSON, and plans end.

use antiphon_measure::*;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        0..1000_u64,
        1000..1_000_000_000_u64,
        any::<u64>()
    ]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Control), Just(Role::Test), Just(Role::Reference)]
}

/// Generates a slice; in most of them `iterations` is replaced by the requested number.
fn slice() -> impl Strategy<Value = (bool, Slice)> {
    let parts = (
        0..4_u32,
        role(),
        number(),
        number(),
        number(),
        number(),
        number(),
        proptest::option::of(number()),
    );
    (any::<bool>(), any::<bool>(), parts).prop_map(|(as_asked, also, parts)| {
        let (block, role, iterations, start_ns, elapsed_ns, voluntary, checksum, wait_ns) = parts;
        let slice = Slice {
            block,
            role,
            iterations,
            start_ns,
            elapsed_ns,
            voluntary,
            involuntary: voluntary / 2,
            minor_faults: checksum,
            major_faults: 0,
            wait_ns,
            processor: Some(block),
            checksum,
        };
        (as_asked || also, slice)
    })
}

fn batch() -> impl Strategy<Value = (Vec<(bool, Slice)>, u64)> {
    (proptest::collection::vec(slice(), 0..24), number())
}

fn as_asked(request: &BatchRequest, parts: &[(bool, Slice)]) -> Vec<Slice> {
    let fit = |(fits, slice): &(bool, Slice)| {
        let asked = if slice.role == Role::Reference {
            request.reference_iterations
        } else {
            request.iterations
        };
        Slice {
            iterations: if *fits { asked } else { slice.iterations },
            ..slice.clone()
        }
    };
    parts.iter().map(fit).collect()
}

fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("every figure can be written");
    serde_json::from_str(&text).expect("and read back")
}

fn finite(interval: &Interval) -> bool {
    [interval.value, interval.low, interval.high]
        .iter()
        .all(|v| v.is_finite())
        && interval.low <= interval.value
        && interval.value <= interval.high
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_frame_plan_takes_any_answers(
        answers in proptest::collection::vec(batch(), 1..40),
        resolution_ns in prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), 0.1..1e9],
        budget_ns in number(),
        half_width in prop_oneof![Just(0.0), Just(f64::NAN), 0.0..1.0],
    ) {
        let clock = ClockFacts { resolution_ns, cost_ns: resolution_ns };
        let settings = FrameSettings { budget_ns, relative_half_width: half_width, ..FrameSettings::default() };
        let mut plan = FramePlan::new(clock, Expected::default(), settings);
        for (parts, wall_ns) in &answers {
            let Step::Run(request) = plan.next() else { break };
            prop_assert!(request.iterations > 0 && request.blocks > 0);
            let batch = Batch { slices: as_asked(&request, parts), threads: Vec::new(), wall_ns: *wall_ns };
            let taken = plan.take(&request, &batch);
            prop_assert_eq!(taken.is_err() && plan.next() != Step::Done, false);
            if let Ok(estimate) = plan.estimate(Some(0.1)) {
                let known = |of: &Interval| estimate.blocks == 1 && of.limits().is_none() || finite(of);
                prop_assert!(known(&estimate.cost_ns) && known(&estimate.log_ratio), "{:?}", estimate);
                let back = through_json(&estimate);
                prop_assert_eq!(back.blocks, estimate.blocks);
                prop_assert_eq!(back.findings, estimate.findings);
            }
        }
    }

    #[test]
    fn a_pair_takes_any_slices(slices in proptest::collection::vec(slice(), 1..200)) {
        let clock = ClockFacts { resolution_ns: 1.0, cost_ns: 25.0 };
        let mut plan = PairPlan::new(clock, clock, FrameSettings::default());
        for (_, given) in slices {
            let PairStep::Slice { side, iterations, .. } = plan.next() else { break };
            let wrong = Slice { iterations: iterations.wrapping_add(1), ..given.clone() };
            prop_assert!(plan.take(side, &wrong).is_err());
            let _ = plan.take(side, &Slice { role: Role::Test, iterations, ..given });
            if let Ok(estimate) = plan.estimate() {
                let known = |of: &Interval| estimate.blocks == 1 && of.limits().is_none() || finite(of);
                prop_assert!(known(&estimate.log_ratio));
                through_json(&estimate);
                let compared = compare_pairs(&[estimate.clone(), estimate.clone(), estimate], &ComparisonSettings::default());
                prop_assert!(compared.is_some_and(|compared| finite(&compared.log_ratio) && compared.p >= 0.0));
            }
        }
    }

    #[test]
    fn any_readings_are_analysed(
        mut readings in proptest::collection::vec(prop_oneof![any::<i64>(), -1000..1000_i64, Just(i64::MAX), Just(i64::MIN)], 0..300),
        sorted in any::<bool>(),
        wait in proptest::option::of(number()),
    ) {
        if sorted {
            readings.sort_unstable();
        }
        if let Ok(clock) = ClockEstimate::from_readings(&readings) {
            prop_assert!(clock.resolution > 0.0 && clock.resolution.is_finite() && clock.cost.is_finite());
            zero_strings(&readings, &clock);
        }
        if let Ok(interference) = Interference::from_readings(&readings, wait) {
            prop_assert!((0.0..=1.0).contains(&interference.beta));
            through_json(&interference);
        }
        let outcome = StorageOutcome { completed: u64::MAX, object_bytes: u64::MAX, exhausted: None };
        if let Ok(storage) = StorageEstimate::from_readings(&readings, outcome) {
            through_json(&storage);
            storage_verdict(&storage, &storage, &storage);
        }
    }

    #[test]
    fn any_gaps_are_analysed(
        counts in (number(), number(), number(), number()),
        wait_ns in proptest::option::of(number()),
        kept in proptest::collection::vec((number(), number()), 0..100),
    ) {
        let (readings, elapsed_ns, gaps, lost_ns) = counts;
        let kept = kept.into_iter().map(|(start_ns, duration_ns)| ClockGap { start_ns, duration_ns }).collect();
        let seen = GapLoop { readings, elapsed_ns, wait_ns, gaps, lost_ns, kept };
        if let Ok(interference) = Interference::from_gaps(&seen) {
            prop_assert!((0.0..=1.0).contains(&interference.beta));
            through_json(&interference);
        }
    }

    #[test]
    fn any_latencies_are_counted(samples in proptest::collection::vec((number(), number(), number()), 1..200)) {
        let samples: Vec<LatencySample> = samples
            .iter()
            .map(|(intended_ns, actual_ns, end_ns)| LatencySample { intended_ns: *intended_ns, actual_ns: *actual_ns, end_ns: *end_ns })
            .collect();
        let estimate = LatencyEstimate::from_samples(&samples, 1000, 20.0).unwrap();
        for distribution in [&estimate.from_actual, &estimate.from_intended] {
            prop_assert_eq!(distribution.buckets.iter().map(|b| b.1).sum::<u64>(), samples.len() as u64);
            prop_assert!(distribution.percentiles.is_sorted_by(|a, b| a.1 <= b.1));
        }
    }

    #[test]
    fn any_delay_curve_is_classified(
        points in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..60),
        tame in proptest::collection::vec((1.0..1e8, 1.0..1e9), 0..60),
    ) {
        for points in [points, tame] {
            let points: Vec<DelayPoint> = points
                .iter()
                .map(|(requested_ns, value)| DelayPoint {
                    requested_ns: *requested_ns,
                    actual_ns: Interval { value: *value, low: *value, high: *value },
                    range_ns: (*value, *value),
                })
                .collect();
            let count = points.len();
            let curve = DelayCurve::classify(points, &[RandomStarts { requested_ns: 1.0, range_ns: (0.0, 1.0), starts: 1 }]);
            prop_assert!(curve.points.len() <= count);
        }
    }

    #[test]
    fn any_sizes_and_costs_are_judged(points in proptest::collection::vec((number(), any::<f64>(), 0.0..1e3), 0..12)) {
        let sizes: Vec<u64> = points.iter().map(|p| p.0).collect();
        let costs: Vec<Interval> = points.iter().map(|p| Interval { value: p.1, low: p.1 - p.2, high: p.1 + p.2 }).collect();
        by_copy_or_reference(&sizes, &costs);
        for step in allocator_steps(&sizes, &costs) {
            prop_assert!(step.from_bytes < step.to_bytes);
        }
    }

    #[test]
    fn a_ratio_is_above_zero_and_within_its_limits_or_there_is_none(costs in proptest::collection::vec((-1e3..1e3_f64, 0.0..1e3_f64, 0.0..1e3_f64, any::<bool>()), 2)) {
        let [of, to] = [costs[0], costs[1]].map(|cost| match cost {
            (value, _, _, true) => Interval::open(value),
            (value, below, above, false) => Interval { value, low: value - below, high: value + above },
        });
        let ratio = of.over(&to);
        let is_cost = |of: &Interval| of.value > 0.0 && of.high > 0.0;
        prop_assert!(ratio.is_none() || (is_cost(&of) && is_cost(&to)), "{ratio:?} of {of:?} and {to:?}");
        if let Some(ratio) = ratio {
            prop_assert!(ratio.value > 0.0 && 0.0 <= ratio.low && ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
        }
    }

    #[test]
    fn corrected_probabilities_keep_their_order(p in proptest::collection::vec(0.0..1.0_f64, 0..50)) {
        let corrected = holm(&p);
        for (i, a) in p.iter().enumerate() {
            prop_assert!(corrected[i] >= *a - 1e-12 && corrected[i] <= 1.0);
            for (j, b) in p.iter().enumerate() {
                prop_assert!(a > b || corrected[i] <= corrected[j] + 1e-12);
            }
        }
    }
}
