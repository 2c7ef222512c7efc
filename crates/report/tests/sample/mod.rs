//! A realistic run of the features suite, from a fixed seed: every kind of outcome, every kind of finding.
#![allow(dead_code)] // each test file uses a part

use antiphon_lab::suite::{Row, RowKind, Suite};
use antiphon_lab::{Identity, Machine, Outcome, ResultRecord, RunRecord, SubjectRecord};
use antiphon_measure::*;

pub const SUITE: &str = include_str!("../../../../suites/features.toml");

/// A small generator of numbers, the same on every machine (splitmix64).
pub struct Noise(pub u64);

impl Noise {
    /// Uniform between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, within this fraction.
    pub fn about(&mut self, fraction: f64) -> f64 {
        1.0 + fraction * (2.0 * self.unit() - 1.0)
    }

    /// Exponential with mean 1: a long tail.
    pub fn tail(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

/// An interval about a value.
pub fn interval(value: f64, half: f64) -> Interval {
    Interval {
        value,
        low: value - half,
        high: value + half,
    }
}

/// An ordinary estimate of this cost.
pub fn estimate(cost_ns: f64, half: f64) -> Estimate {
    let control = 1.3;
    Estimate {
        cost_ns: interval(cost_ns, half),
        sign_cost_ns: interval(cost_ns, half * 1.3),
        log_ratio: interval(
            ((control + cost_ns) / control).max(1e-3).ln(),
            half / control,
        ),
        log_ratio_to_reference: Some(interval((cost_ns.abs() / 17.0).max(1e-3).ln(), 0.002)),
        paper: PaperFigures {
            minimum_control_ns: control * 0.99,
            minimum_test_ns: control * 0.99 + cost_ns * 0.98,
            minima_difference_ns: cost_ns * 0.98,
            mean_raw_ns: cost_ns * 1.06,
            mean_corrected_ns: Some(cost_ns * 1.03),
            clock_accuracy_ns: 2e-6,
        },
        frames: FrameTimes {
            control_ns: control,
            test_ns: control + cost_ns,
            reference_ns: Some(17.1),
        },
        resources: Resources {
            wait_ns: Some(0.02),
            ..Resources::default()
        },
        iterations: 12_000,
        blocks: 412,
        total_iterations: 9_888_000,
        stopped: Stopped::IntervalReached,
        relative_half_width: (half / cost_ns).abs(),
        findings: Vec::new(),
    }
}

pub fn finding(kind: FindingKind, text: &str) -> Finding {
    Finding {
        kind,
        text: text.into(),
    }
}

pub fn identity(test: &str, subject: &str, policy: &str, placement: &str) -> Identity {
    Identity {
        test: test.into(),
        arg: None,
        subject: subject.into(),
        policy: policy.into(),
        placement: placement.into(),
    }
}

/// A result from one start of the subject's process.
pub fn result(identity: Identity, outcome: Outcome) -> ResultRecord {
    ResultRecord {
        identity,
        outcome,
        starts: Vec::new(),
    }
}

pub fn empty_run() -> RunRecord {
    RunRecord {
        id: 7,
        suite: "features".into(),
        suite_toml: SUITE.into(),
        started: "2026-03-02T09:14:05Z".into(),
        ended: Some("2026-03-02T09:15:31Z".into()),
        quick: true,
        machine: machine(),
        subjects: Vec::new(),
        results: Vec::new(),
    }
}

fn machine() -> Machine {
    Machine {
        host: "bench-2".into(),
        processor: "AMD EPYC 7B13".into(),
        processors: 2,
        memory_bytes: 8 << 30,
        kernel: "6.12.9-amd64 #1 SMP PREEMPT_DYNAMIC".into(),
        system: "Debian GNU/Linux 13 (trixie)".into(),
        governor: "unknown: no cpufreq in this virtual machine".into(),
        clock_source: "kvm-clock".into(),
        virtualization: Some("KVM".into()),
        load: 0.42,
        counters: "no: perf_event_open is refused (perf_event_paranoid is 3)".into(),
        fifo: "yes".into(),
    }
}

fn subject(id: &str, language: &str, compiler: &str, flags: &str) -> SubjectRecord {
    SubjectRecord {
        id: id.into(),
        language: language.into(),
        compiler: compiler.into(),
        flags: flags.into(),
        content: "5f0c…".into(),
    }
}

/// The features suite, measured; `quick` leaves out what a quick run leaves out.
pub fn run(quick: bool) -> RunRecord {
    let suite = Suite::parse("features.toml", SUITE).expect("the suite of the repository is sound");
    let mut run = empty_run();
    run.quick = quick;
    run.subjects = vec![
        subject("ada/O2", "Ada", "GNATMAKE 14.2.0", "-O2"),
        subject("c/O2", "C", "gcc (Debian 14.2.0-19) 14.2.0", "-O2"),
    ];
    let mut noise = Noise(42);
    for group in &suite.groups {
        for row in &group.rows {
            for placed in row.runs(quick) {
                for subject in ["ada/O2", "c/O2"] {
                    let results = results(row, quick, &mut noise);
                    run.results
                        .extend(results.into_iter().map(|(test, arg, outcome)| {
                            let mut identity =
                                identity(&test, subject, &placed.policy, &placed.placement);
                            identity.arg = arg;
                            result(identity, outcome)
                        }));
                }
            }
        }
    }
    run.results
        .retain(|r| r.identity.subject == "ada/O2" || exists_in_c(&r.identity.test));
    disturb(&mut run);
    if !quick {
        run.results.iter_mut().for_each(start_thrice);
    }
    run
}

fn start_thrice(result: &mut ResultRecord) {
    if let Outcome::Frame(estimate) = &result.outcome {
        result.starts = vec![(**estimate).clone(); 3];
    }
}

fn exists_in_c(test: &str) -> bool {
    let ada_only = [
        "generic",
        "tasking",
        "completed_task",
        "requeue",
        "task.phase",
        "Ada.",
        "suspension",
    ];
    !ada_only.iter().any(|word| test.contains(word))
}

fn results(row: &Row, quick: bool, noise: &mut Noise) -> Vec<(String, Option<u64>, Outcome)> {
    match &row.kind {
        RowKind::Clock { .. } => clocks(),
        RowKind::Interference { .. } => vec![(row.test.clone(), None, interference(noise))],
        kind => {
            let instances = row.instances(quick).into_iter();
            instances
                .map(|i| {
                    let o = outcome(&i.test, kind, noise);
                    (i.test, row.arg, o)
                })
                .collect()
        }
    }
}

fn outcome(test: &str, kind: &RowKind, noise: &mut Noise) -> Outcome {
    match kind {
        RowKind::Latency { .. } => Outcome::Latency(latency(test, noise)),
        RowKind::Series { .. } => Outcome::Storage(storage(test, noise)),
        RowKind::DelayCurve(_) => Outcome::DelayCurve(delay(noise)),
        _ => {
            let cost = cost(test) * noise.about(0.15);
            let mut found = estimate(cost, cost * 0.006 * noise.about(0.8) + 0.004);
            found.resources.voluntary = switches(test);
            Outcome::Frame(Box::new(found))
        }
    }
}

fn switches(test: &str) -> f64 {
    match test.split('.').next() {
        Some("rendezvous" | "handoff") => 2.0,
        Some("task") => 3.98,
        _ if test.contains("contended") => 2.01,
        _ => 0.0,
    }
}

/// Something like what such an operation costs.
fn cost(test: &str) -> f64 {
    let number = test
        .rsplit('.')
        .find_map(|word| word.parse::<f64>().ok())
        .unwrap_or(1.0);
    let by_kind = [
        ("call.inline", 0.02),
        ("unconstrained.in_out", 2.0 + number / 30.0),
        ("unconstrained", 2.2),
        ("call", 1.4 + 0.31 * number.min(120.0)),
        ("alloc.fixed", 0.7 + number / 900.0),
        ("alloc.dynamic", 3.0),
        (
            "alloc.new",
            if number < 1500.0 {
                19.0 + number / 400.0
            } else {
                110.0 + number / 60.0
            },
        ),
        ("exception.not_raised", 0.1),
        ("exception", 1900.0),
        ("task", 21_000.0),
        ("rendezvous.conditional.refused", 240.0),
        ("rendezvous", 900.0),
        ("handoff", 1400.0),
        ("protected.contended", 1900.0),
        ("protected", 31.0),
        ("clock", 27.0),
        ("time", 4.2),
        ("delay", 300.0),
    ];
    let found = by_kind.iter().find(|(word, _)| {
        test.starts_with(word) || (word.starts_with("unc") && test.contains(word))
    });
    found.map_or(10.0, |(_, cost)| *cost)
}

fn clocks() -> Vec<(String, Option<u64>, Outcome)> {
    let clock = |name: &str, unit: &str, resolution: f64, by, cost| {
        let estimate = ClockEstimate {
            readings: 200_000,
            resolution,
            by,
            cost,
            steps_back: 0,
            gaps: 31,
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

fn interference(noise: &mut Noise) -> Outcome {
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

fn latency(test: &str, noise: &mut Noise) -> LatencyEstimate {
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
        overhead_ns: 26.0,
    }
}

fn storage(test: &str, noise: &mut Noise) -> StorageEstimate {
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
            "Every pointer is kept: storage ran out after 130 012 objects of 4000 bytes.".into()
        } else {
            "Storage was reclaimed by deallocation: the loop ran to its count.".into()
        }],
    }
}

fn delay(noise: &mut Noise) -> DelayCurve {
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
        evidence: vec![
            "The line through 16 points has slope 1.0003.".into(),
            "Single delays vary by 2 % of the request: no staircase.".into(),
        ],
    }
}

/// Everything that can go wrong, once.
fn disturb(run: &mut RunRecord) {
    use FindingKind::*;
    mend_frame(run, "call.inline.none", |e| {
        e.cost_ns = interval(0.01, 0.05);
        e.resources.instructions = Some(0.0);
        e.findings.push(finding(
            IndistinguishableFromControl,
            "the interval −0.04 … 0.06 ns contains zero",
        ));
    });
    mend_frame(run, "exception.not_raised.block", |e| {
        e.cost_ns = interval(0.02, 0.3);
        e.resources.instructions = Some(2.0);
        e.findings.push(finding(
            IndistinguishableFromControl,
            "the interval −0.28 … 0.32 ns contains zero",
        ));
    });
    mend_frame(run, "alloc.fixed.integer.10", |e| {
        e.findings.push(finding(
            DeadCode,
            "2 N took 1.02 times as long as N: the frame does not grow",
        ));
    });
    mend_frame(run, "rendezvous.simple", |e| {
        e.findings.push(finding(
            UnexpectedSwitches,
            "31 of 824 slices had other than 2 switches an operation",
        ));
        e.findings
            .push(finding(SeveralModes, "two modes, at 870 and 1020 ns"));
    });
    mend_frame(run, "protected.entry", |e| {
        e.stopped = Stopped::BudgetSpent;
        e.findings.push(finding(
            Drift,
            "the cost fell by 4 % from the first to the last third",
        ));
        e.findings
            .push(finding(Outliers, "9 of 412 blocks lie beyond 5 MAD"));
    });
    mend_frame(run, "task.allocated", |e| {
        e.findings.push(finding(
            WrongPlacement,
            "the partner ran under other, fifo was asked",
        ));
    });
    for result in &mut run.results {
        let (test, c) = (
            result.identity.test.as_str(),
            result.identity.subject == "c/O2",
        );
        if c && test == "protected.contended.procedure" {
            result.outcome = Outcome::Absent {
                reason: "the subject hung: no answer within 10 s".into(),
                mend: "run `antiphon doctor --subject subjects/c` to see whether it follows the protocol".into(),
                last_words: "pthread_mutex_lock: Resource deadlock avoided\n".into(),
            };
        }
        if test == "clock.execution_time" || test == "clock.tsc" {
            result.outcome = Outcome::Absent {
                reason: "execution-time clocks are not supported on this target".into(),
                mend: "build with a run-time that implements Ada.Execution_Time".into(),
                last_words: String::new(),
            };
        }
    }
}

fn mend_frame(run: &mut RunRecord, test: &str, change: impl Fn(&mut Estimate)) {
    for result in run.results.iter_mut().filter(|r| r.identity.test == test) {
        if let Outcome::Frame(estimate) = &mut result.outcome {
            change(estimate);
        }
    }
}

/// A comparison with every verdict.
pub fn comparison() -> antiphon_report::comparison::Comparison {
    use antiphon_report::comparison::{Comparison, ComparisonRow, Side, Verdict};
    let row =
        |group: &str, label: &str, before: f64, factor: f64, half: f64, verdict| ComparisonRow {
            group: group.into(),
            label: label.into(),
            before_ns: Some(interval(before, before * 0.004)),
            after_ns: Some(interval(before * factor, before * 0.004)),
            log_ratio: Some(interval(factor.ln(), half)),
            verdict,
            note: String::new(),
        };
    let mut missing = row("Rendezvous", "no body", 900.0, 1.0, 0.01, Verdict::Missing);
    (missing.after_ns, missing.log_ratio) = (None, None);
    missing.note = "the subject hung: no answer within 10 s".into();
    Comparison {
        before: Side {
            name: "run 7".into(),
            lines: vec!["GNAT 13.3 on bench-2".into()],
        },
        after: Side {
            name: "run 8".into(),
            lines: vec!["GNAT 14.2 on bench-2".into()],
        },
        basis: "Each cost is set against the reference operation of its own run.".into(),
        threshold: 0.03,
        confidence: 0.95,
        rows: vec![
            row(
                "Subprogram calls",
                "inter, no parameters",
                1.8,
                1.002,
                0.004,
                Verdict::Same,
            ),
            row(
                "Subprogram calls",
                "intra, no parameters",
                1.6,
                0.81,
                0.01,
                Verdict::Cheaper,
            ),
            row(
                "Subprogram calls",
                "inter, 100 integer in",
                28.0,
                1.02,
                0.05,
                Verdict::Undecided,
            ),
            row("Rendezvous", "simple", 905.0, 1.19, 0.02, Verdict::Dearer),
            missing,
        ],
    }
}
