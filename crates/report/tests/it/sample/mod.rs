//! A realistic run of the features suite, from a fixed seed: every kind of outcome, every kind of
//! finding.

pub mod compared;
pub mod kinds;
pub mod plots;

use antiphon_lab::suite::{Row, RowKind, Suite};
use antiphon_lab::{CostRound, Identity, Machine, Outcome, ResultRecord, RunRecord, SubjectRecord};
use antiphon_measure::*;
use antiphon_report::document::{self, Block, Cell, Document, Plot, Section, Table};
use kinds::{clocks, delay, interference, latency, storage};
use std::collections::HashMap;

pub const SUITE: &str = include_str!("../../../../../suites/features.toml");

/// A small generator of numbers, the same on every machine (splitmix64).
pub struct Noise(pub u64);

impl Noise {
    /// Returns a uniform number between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number around 1, within this fraction.
    pub fn about(&mut self, fraction: f64) -> f64 {
        1.0 + fraction * (2.0 * self.unit() - 1.0)
    }

    /// Returns an exponential number with mean 1: a long tail.
    pub fn tail(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

/// Returns an interval about a value.
pub fn interval(value: f64, half: f64) -> Interval {
    Interval {
        value,
        low: value - half,
        high: value + half,
    }
}

/// Returns an ordinary estimate of this cost.
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
        outliers: 21,
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

/// Returns a result from one start of the subject's process.
pub fn result(identity: Identity, outcome: Outcome) -> ResultRecord {
    ResultRecord::new(identity, outcome)
}

/// Returns a round of processor time.
pub fn round(subject_ns: f64, slowed: f64) -> CostRound {
    CostRound {
        start: 0,
        round: 0,
        iterations: 1,
        subject_ns,
        server_ns: None,
        wall_ns: subject_ns,
        time_ns: None,
        step_ns: 0.0,
        slowed,
        held_bytes: 0,
        walked_bytes: 0,
        taken: 1,
    }
}

/// Returns more subjects than are shown unfolded, `kit/0` to `kit/6`.
pub fn many_subjects() -> Vec<SubjectRecord> {
    let subject = |number| {
        let mut subject = run(true).subjects.swap_remove(0);
        subject.id = format!("kit/{number}");
        subject
    };
    (0..7).map(subject).collect()
}

pub fn empty_run() -> RunRecord {
    RunRecord {
        id: 7,
        suite: "features".into(),
        suite_toml: SUITE.into(),
        started: "2026-03-02T09:14:05Z".into(),
        ended: Some("2026-03-02T09:15:31Z".into()),
        quick: true,
        asked: None,
        machine: machine(),
        subjects: Vec::new(),
        results: Vec::new(),
        warnings: Vec::new(),
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

/// Returns the measured features suite; `quick` omits the parts that a quick run omits.
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
                    (i.test.clone(), row.arg_of(&i), o)
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

/// Returns a plausible cost of such an operation.
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

/// Returns a count by callgrind of an operation with `more` instructions.
fn counted(more: f64) -> InstructionCount {
    InstructionCount {
        control: 3.0,
        test: 3.0 + more,
        within: 0.02,
        by: CountedBy::Callgrind,
        cycles: None,
    }
}

/// Adds every possible fault, once.
fn disturb(run: &mut RunRecord) {
    use FindingKind::*;
    help_frame(run, "call.inline.none", |e| {
        e.cost_ns = interval(0.01, 0.05);
        e.resources.instructions = Some(counted(0.0));
        e.findings.push(finding(
            IndistinguishableFromControl,
            "the interval −0.04 … 0.06 ns contains zero",
        ));
    });
    help_frame(run, "exception.not_raised.block", |e| {
        e.cost_ns = interval(0.02, 0.3);
        e.resources.instructions = Some(counted(2.0));
        e.findings.push(finding(
            IndistinguishableFromControl,
            "the interval −0.28 … 0.32 ns contains zero",
        ));
    });
    help_frame(run, "alloc.fixed.integer.10", |e| {
        e.findings.push(finding(
            DeadCode,
            "2 N took 1.02 times as long as N: the frame does not grow",
        ));
    });
    help_frame(run, "rendezvous.simple", |e| {
        e.findings.push(finding(
            UnexpectedSwitches,
            "31 of 824 slices had other than 2 switches an operation",
        ));
        e.findings
            .push(finding(SeveralModes, "two modes, at 870 and 1020 ns"));
    });
    help_frame(run, "protected.entry", |e| {
        e.stopped = Stopped::BudgetSpent;
        e.findings.push(finding(
            Drift,
            "the cost fell by 4 % from the first to the last third",
        ));
        e.findings
            .push(finding(Outliers, "9 of 412 blocks lie beyond 5 MAD"));
    });
    help_frame(run, "task.allocated", |e| {
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
                help: "run `antiphon doctor --subject subjects/c` to see whether it follows the protocol".into(),
                last_words: "pthread_mutex_lock: Resource deadlock avoided\n".into(),
                listed: false,
            };
        }
        if test == "clock.execution_time" || test == "clock.tsc" {
            result.outcome = Outcome::Absent {
                reason: "execution-time clocks are not supported on this target".into(),
                help: "build with a run-time that implements Ada.Execution_Time".into(),
                last_words: String::new(),
                listed: false,
            };
        }
    }
}

fn help_frame(run: &mut RunRecord, test: &str, change: impl Fn(&mut Estimate)) {
    for result in run.results.iter_mut().filter(|r| r.identity.test == test) {
        if let Outcome::Frame(estimate) = &mut result.outcome {
            change(estimate);
        }
    }
}

/// Returns a section by its id.
pub fn section<'d>(document: &'d Document, id: &str) -> &'d Section {
    let found = document.sections.iter().find(|section| section.id == id);
    found.unwrap_or_else(|| panic!("no section {id}"))
}

/// Returns the tables of a section.
pub fn tables(section: &Section) -> Vec<&Table> {
    let blocks = section.blocks.iter();
    blocks
        .filter_map(|block| {
            if let Block::Table(table) = block {
                Some(table)
            } else {
                None
            }
        })
        .collect()
}

/// Returns the plots of a section.
pub fn drawn(section: &Section) -> Vec<&Plot> {
    let blocks = section.blocks.iter();
    let plots = blocks.filter_map(|block| match block {
        Block::Plot(plot) => Some(plot),
        _ => None,
    });
    plots.collect()
}

/// Returns a row about findings from elsewhere in the report of a run.
pub fn claim(run: &RunRecord, text: &str) -> document::Row {
    let document = antiphon_report::compose(run);
    let tables = tables(section(&document, "spent-claims"));
    let mut rows = tables.iter().flat_map(|table| &table.rows);
    rows.find(|row| row.label.starts_with(text))
        .unwrap_or_else(|| panic!("no claim {text}"))
        .clone()
}

/// Returns the verdict in such a row.
pub fn verdict(row: &document::Row) -> &str {
    match &row.cells[0] {
        Cell::Text { text } => text,
        other => panic!("{other:?}"),
    }
}

/// Returns the text of a workbook's parts, by name.
pub fn parts(workbook: &[u8]) -> HashMap<String, String> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(workbook)).expect("a zip archive");
    (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).expect("a part");
            let mut text = String::new();
            std::io::Read::read_to_string(&mut file, &mut text).expect("text");
            (file.name().expect("a name").to_string(), text)
        })
        .collect()
}
