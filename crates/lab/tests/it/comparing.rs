//! Comparisons: two subjects slice by slice, and two stored runs.

use crate::common::{Place, Seen, quick};
use antiphon_lab::{
    Identity, Live, LiveOptions, LiveRow, LoadOutcome, LoadRound, Outcome, Patterns, ResultRecord,
    RunRecord, compare_runs,
};
use antiphon_measure::{ComparisonSettings, FEWEST_STARTS, Verdict, WholeRun};

/// Returns the options of `antiphon compare --live` for the kit's own frames, with little time.
fn options() -> LiveOptions {
    LiveOptions {
        only: vec!["self.*".into()],
        seconds: 0.024,
        judging: ComparisonSettings {
            threshold: 0.02,
            ..ComparisonSettings::default()
        },
        ..LiveOptions::default()
    }
}

/// Compares two subjects.
fn compared(a: &str, b: &str, options: &LiveOptions) -> Vec<LiveRow> {
    let place = Place::with(&[a, b]);
    let side = |name: &str| {
        let mut subjects = place.subjects.iter();
        let subject = subjects.find(|subject| subject.name == name).unwrap();
        (subject, &subject.variants[0])
    };
    place
        .laboratory(&mut Seen::default(), |lab| {
            let mut live = Live {
                cache: lab.cache,
                observer: &mut *lab.observer,
                stop: lab.stop,
            };
            live.compare(side(a), side(b), options)
        })
        .unwrap()
}

fn verdicts(rows: &[LiveRow]) -> Vec<Verdict> {
    let verdict = |row: &LiveRow| row.outcome.as_ref().unwrap().verdict;
    rows.iter().map(verdict).collect()
}

#[test]
fn each_side_is_started_as_often_as_was_asked() {
    let starts = FEWEST_STARTS as u32;
    let options = LiveOptions {
        starts,
        ..options()
    };
    let rows = compared("plain", "plain", &options);
    assert_eq!(rows.len(), 3);
    for row in rows {
        let comparison = row.outcome.unwrap();
        assert_eq!(comparison.starts, (FEWEST_STARTS, FEWEST_STARTS));
        assert!(comparison.ratio.value > 0.0 && comparison.log_ratio.limits().is_some());
    }
}

#[test]
fn a_build_whose_starts_differ_is_not_slower_than_itself() {
    // Starts differ by 5 %: of one start a side every second interval would leave out 1.
    for seed in 1..=3 {
        let itself = format!("drawn-{seed}-50-0");
        for verdict in verdicts(&compared(&itself, &itself, &options())) {
            assert!(
                !matches!(verdict, Verdict::Slower | Verdict::Faster),
                "{seed}"
            );
        }
    }
}

#[test]
fn a_true_three_percent_is_found_although_starts_differ() {
    let rows = compared("drawn-1-3-0", "drawn-2-3-30", &options());
    assert_eq!(verdicts(&rows), [Verdict::Slower; 3], "{rows:?}");
    let back = compared("drawn-2-3-30", "drawn-1-3-0", &options());
    assert_eq!(verdicts(&back), [Verdict::Faster; 3], "{back:?}");
    let same = compared("drawn-1-3-0", "drawn-2-3-0", &options());
    assert_eq!(verdicts(&same), [Verdict::Same; 3], "{same:?}");
}

#[test]
fn one_start_a_side_tells_nothing_however_much_they_differ() {
    let options = LiveOptions {
        starts: 1,
        ..options()
    };
    let rows = compared("drawn-1-3-0", "drawn-1-3-500", &options);
    assert_eq!(verdicts(&rows), [Verdict::CannotTell; 3], "{rows:?}");
}

/// Returns the record of a run whose frames have `count` equal starts.
fn with_starts(place: &Place, count: usize) -> RunRecord {
    let mut record = place.measure(&mut Seen::default(), &quick(&[]));
    for result in &mut record.results {
        if let Outcome::Frame(estimate) = &result.outcome {
            result.starts = vec![estimate.as_ref().clone(); count];
        }
    }
    record
}

#[test]
fn a_run_compared_with_itself_shows_no_change() {
    let place = Place::with(&["plain"]);
    let settings = ComparisonSettings::default();
    let all = Patterns::new(&[]).unwrap();
    let record = with_starts(&place, 4);
    let rows = compare_runs(&record, &record, &[], &all, &settings);
    assert_eq!(rows.len(), 3, "{rows:?}");
    for row in &rows {
        let comparison = row.comparison.as_ref().unwrap();
        assert_eq!(comparison.log_ratio.value, 0.0);
        assert_ne!(comparison.verdict, Verdict::Slower);
    }
    let chosen = Patterns::new(&["self.same".into()]).unwrap();
    let one = compare_runs(&record, &record, &[], &chosen, &settings);
    assert_eq!(one.len(), 1, "{one:?}");
    let mut other = record.clone();
    other
        .results
        .retain(|result| result.identity.test != "self.same");
    let rows = compare_runs(&record, &other, &[], &all, &settings);
    let missing = rows.iter().find(|row| row.b.is_none()).unwrap();
    assert_eq!(missing.why_not, "the second run has no figure");
}

#[test]
fn programs_and_servers_of_both_runs_are_compared() {
    let identity = |test: &str| Identity {
        test: test.into(),
        arg: None,
        subject: "c/O2".into(),
        policy: "other".into(),
        placement: "same".into(),
    };
    let program = |factor: u64| Outcome::Program {
        answer: "42".into(),
        runs: (0..4)
            .map(|round| WholeRun {
                round,
                elapsed_ns: factor * (1_000_000 + 1000 * u64::from(round)),
                ..WholeRun::default()
            })
            .collect(),
        counted: Default::default(),
    };
    let task = r#"{"path":"/","body":"","connections":1,"keep_alive":true,"per_second":null,"freeze_ms":null,"by":"antiphon","seconds":1.0}"#;
    let server = |factor: u64| {
        Outcome::Load(Box::new(LoadOutcome {
            task: serde_json::from_str(task).unwrap(),
            rounds: (0..8)
                .map(|round| LoadRound {
                    round,
                    epoch: round / 2,
                    answered: 1000,
                    server_cpu_ns: factor * (20_000_000 + u64::from(round)),
                    ..LoadRound::default()
                })
                .collect(),
            again: Vec::new(),
            again_failed: None,
            warm_ups: Vec::new(),
        }))
    };
    let place = Place::with(&["plain"]);
    let mut a = place.measure(&mut Seen::default(), &quick(&[]));
    let mut b = a.clone();
    a.results = vec![
        ResultRecord::new(identity("dining"), program(1)),
        ResultRecord::new(identity("get"), server(1)),
    ];
    b.results = vec![
        ResultRecord::new(identity("dining"), program(2)),
        ResultRecord::new(identity("get"), server(2)),
    ];
    let all = Patterns::new(&[]).unwrap();
    let rows = compare_runs(&a, &b, &[], &all, &ComparisonSettings::default());
    let reported: Vec<_> = rows
        .iter()
        .map(|row| {
            let comparison = row.comparison.as_ref().unwrap();
            (comparison.starts, comparison.verdict)
        })
        .collect();
    assert_eq!(reported, [((4, 4), Verdict::Slower); 2]);
}
