//! Comparisons in every format: verdicts and what they rest on, processors at another distance, and suites that cannot be read.

use super::{PLAIN, UNREAD, csv_rows, frame, one_test, read, without_suite};
use crate::sample::{self, compared::comparison, run};
use antiphon_lab::{LiveRow, ResultRecord, RunRecord};
use antiphon_measure::{ComparisonSettings, PairEstimate, Stopped};
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::compose_comparison;
use antiphon_report::export::text::render;
use antiphon_report::export::{csv, html, json};

/// Two runs of one test, the second dearer by this factor.
fn compared(factor: f64) -> Comparison {
    let (mut a, b) = (one_test(1.0), one_test(factor));
    a.results.push(frame("call.intra.none", "ada/O2", 2.0));
    let settings = ComparisonSettings::default();
    let rows = antiphon_lab::compare_runs(&a, &b, &[], &settings);
    Comparison::of_runs(&a, &b, &rows, &settings)
}

#[test]
fn two_runs_are_compared_by_the_laboratory_and_labelled_by_their_suite() {
    let dearer = compared(1.5);
    assert_eq!(dearer.rows[0].verdict, Verdict::Dearer);
    assert_eq!(dearer.rows[0].group, "Subprogram calls");
    assert_eq!(
        dearer.rows[0].label,
        "inter, no parameters · ada/O2 · other, same"
    );
    assert_eq!(compared(1.0).rows[0].verdict, Verdict::Same);
    assert_eq!(dearer.rows[1].verdict, Verdict::Missing);
    assert!(dearer.rows[1].note.contains("the second run has no figure"));
}

#[test]
fn a_comparison_says_in_every_format_that_the_first_suite_cannot_be_read() {
    let (sound, unread) = (run(false), without_suite());
    let settings = ComparisonSettings::default();
    let of = |a, b| {
        let rows = antiphon_lab::compare_runs(a, b, &[], &settings);
        Comparison::of_runs(a, b, &rows, &settings)
    };
    let formats = |of: &Comparison| {
        [
            render(&compose_comparison(of), PLAIN),
            json::comparison(of).expect("JSON"),
            csv::comparison(of).expect("CSV"),
        ]
    };
    for text in formats(&of(&unread, &sound)) {
        assert!(text.contains(UNREAD), "{text}");
    }
    // Nothing is taken from the second.
    for text in formats(&of(&sound, &unread)) {
        assert!(!text.contains(UNREAD), "{text}");
    }
}

#[test]
fn an_agreement_says_that_the_first_suite_cannot_be_read() {
    let told = |first: &RunRecord| {
        let document = antiphon_report::compose_agreement(&[], 0.1, first, 2);
        render(&document, PLAIN).contains(UNREAD)
    };
    assert_eq!((told(&without_suite()), told(&run(false))), (true, false));
}

/// Two runs of one test, the second dearer by half, each on processors that were apart as given.
fn compared_across(before_ns: &[f64], after_ns: &[f64]) -> Comparison {
    let across = |core_to_core_ns: &[f64], factor: f64| {
        let mut run = one_test(factor);
        run.results[0].core_to_core_ns = read(core_to_core_ns);
        run
    };
    let (a, b) = (across(before_ns, 1.0), across(after_ns, 1.5));
    let settings = ComparisonSettings::default();
    let rows = antiphon_lab::compare_runs(&a, &b, &[], &settings);
    Comparison::of_runs(&a, &b, &rows, &settings)
}

#[test]
fn what_differs_between_processors_at_another_distance_is_no_regression() {
    let moved = compared_across(&[120.0, 121.0], &[330.0, 330.0]);
    assert_eq!(moved.rows[0].verdict, Verdict::Incomparable);
    assert!(
        moved.rows[0]
            .note
            .starts_with("the processors were 330 ns apart, 120 before"),
        "{}",
        moved.rows[0].note
    );
    let document = compose_comparison(&moved);
    let told: Vec<&str> = document.summary.iter().map(|n| n.about.as_str()).collect();
    assert_eq!(told, ["", "Processors moved"]);
    assert!(document.summary[0].text.contains("0 dearer"));
    assert!(document.summary[0].text.contains("1 not comparable"));
    let page = render(&document, PLAIN);
    assert!(page.contains("not comparable"), "{page}");
    let rows = csv_rows(&csv::comparison(&moved).expect("CSV"));
    assert_eq!(rows[0]["verdict"], "incomparable");
}

#[test]
fn processors_at_one_distance_change_no_verdict() {
    for (before, after) in [(&[120.0][..], &[130.0][..]), (&[], &[330.0]), (&[], &[])] {
        let compared = compared_across(before, after);
        assert_eq!(compared.rows[0].verdict, Verdict::Dearer);
        assert_eq!(compared.rows[0].note, "");
    }
    // Most starts of both runs were alike: the verdict stands, and that the first was not all of one kind stands beside it.
    let mixed = compared_across(&[120.0, 330.0, 330.0], &[330.0]);
    assert_eq!(mixed.rows[0].verdict, Verdict::Dearer);
    assert!(
        mixed.rows[0].note.contains("120 ns apart at one time"),
        "{}",
        mixed.rows[0].note
    );
}

#[test]
fn a_side_tells_for_which_subjects_slices_were_long_and_whether_processors_slept() {
    let before = run(false);
    let mut after = before.clone();
    let own = |of: &&mut ResultRecord| of.identity.subject == "ada/O2";
    let result = after.results.iter_mut().find(own).expect("it was measured");
    result.costs = Some(antiphon_lab::Costs {
        slice_ms: Some(64),
        awake: true,
        ..Default::default()
    });
    let compared = Comparison::of_runs(&before, &after, &[], &ComparisonSettings::default());
    let shown = render(&compose_comparison(&compared), PLAIN);
    for told in [
        "ada/O2: processor time by slices of 64 ms, as its file says",
        "processor time with processors kept awake while turns waited",
    ] {
        let tells = |side: &Side| side.lines.iter().any(|line| line == told);
        assert_eq!(
            (tells(&compared.before), tells(&compared.after)),
            (false, true)
        );
        assert!(shown.contains(told), "{shown}");
    }
}

#[test]
fn interleaved_builds_are_judged_by_their_own_interval() {
    let pair = |log: f64| PairEstimate {
        log_ratio: sample::interval(log, 0.002),
        ratio: sample::interval(log.exp(), 0.002),
        cost_difference_ns: None,
        test_ns: (20.0, 20.0 * log.exp()),
        control_ns: None,
        iterations: (1000, 1000),
        blocks: 400,
        stopped: Stopped::IntervalReached,
        findings: Vec::new(),
    };
    let row = |outcome| LiveRow {
        test: "self.dearer".into(),
        arg: None,
        outcome,
    };
    let hung = antiphon_lab::Absence {
        reason: "it hung".into(),
        mend: String::new(),
        last_words: String::new(),
        listed: false,
    };
    let rows = [
        row(Ok(pair(0.049))),
        row(Ok(pair(0.0))),
        row(Ok(pair(0.0105))),
        row(Err(hung)),
    ];
    let side = |name: &str| Side {
        name: name.into(),
        lines: Vec::new(),
    };
    let found = Comparison::of_live(side("old"), side("new"), &rows, 0.01, 0.95);
    let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(
        verdicts,
        [
            Verdict::Dearer,
            Verdict::Same,
            Verdict::Undecided,
            Verdict::Missing
        ]
    );
    assert_eq!(found.rows[3].note, "it hung");
}

#[test]
fn a_comparison_shows_verdicts_ratios_and_the_worst() {
    let comparison = comparison();
    let document = compose_comparison(&comparison);
    assert_eq!(document.title, "run 8 against run 7");
    let counts = "5 rows compared: 1 dearer, 1 cheaper, 1 the same, 1 undecided, 1 without a figure on one side.";
    assert_eq!(document.summary[0].text, counts);
    assert_eq!(
        document.summary[1].text.replace('\u{202f}', " "),
        "simple (+19.0 %)"
    );
    let page = html::render(&document);
    assert!(page.contains("1.19") && page.contains("no figure: the subject hung"));
    let rows = csv_rows(&csv::comparison(&comparison).expect("CSV"));
    assert_eq!(
        (rows[3]["verdict"].as_str(), rows[4]["after_ns"].as_str()),
        ("dearer", "")
    );
    let json = json::comparison(&comparison).expect("JSON");
    assert!(json.contains("\"schema\": \"antiphon.comparison\""));
}
