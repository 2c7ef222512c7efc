//! Comparisons in every format: verdicts and their basis, processors at another distance, and
//! unreadable suites.

use super::{PLAIN, UNREAD, csv_rows, frame, one_test, read, without_suite};
use crate::sample::{self, compared::comparison, run};
use antiphon_lab::{LiveOptions, LiveRow, Outcome, Patterns, ResultRecord, RunRecord};
use antiphon_measure::{ComparisonSettings, PairEstimate, compare_pairs};
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::compose_comparison;
use antiphon_report::export::text::render;
use antiphon_report::export::{csv, html, json};

/// Returns two runs of one test, the second more expensive by this factor.
fn compared(factor: f64) -> Comparison {
    let (mut a, b) = (started(one_test(1.0), 4), started(one_test(factor), 4));
    a.results.push(frame("call.intra.none", "ada/O2", 2.0));
    of_runs(&a, &b)
}

fn of_runs(a: &RunRecord, b: &RunRecord) -> Comparison {
    let settings = ComparisonSettings::default();
    let all = Patterns::new(&[]).expect("no pattern");
    let rows = antiphon_lab::compare_runs(a, b, &[], &all, &settings);
    Comparison::of_runs(a, b, &rows, &settings)
}

/// Returns the run with `count` equal starts of each frame.
fn started(mut run: RunRecord, count: usize) -> RunRecord {
    for result in &mut run.results {
        if let Outcome::Frame(estimate) = &result.outcome {
            result.starts = vec![estimate.as_ref().clone(); count];
        }
    }
    run
}

#[test]
fn runs_of_one_start_tell_nothing_and_what_would_is_said() {
    let unsure = of_runs(&started(one_test(1.0), 1), &started(one_test(1.5), 1));
    assert_eq!(unsure.rows[0].verdict, Verdict::CannotTell);
    assert_eq!(unsure.rows[0].starts, Some((1, 1)));
    let note = &unsure.rows[0].note;
    assert!(note.contains("`--repetitions 12` would tell"), "{note}");
    let document = compose_comparison(&unsure);
    let counts = "1 row compared: 0 slower, 0 faster, 0 the same, of 1 it cannot be told.";
    assert_eq!(document.summary[0].text, counts);
    let page = render(&document, PLAIN);
    assert!(page.contains("cannot tell"), "{page}");
}

/// The largest change first, with its place, and one sentence about all other rows.
#[test]
fn a_comparison_opens_with_what_changed() {
    let document = compose_comparison(&comparison());
    let sentences = &document.headlines[0].sentences;
    let texts: Vec<String> = sentences
        .iter()
        .map(|one| one.text.replace('\u{202f}', " "))
        .collect();
    assert_eq!(
        texts,
        [
            "intra, no parameters is faster: −19.0 % (1.60 ns before, 1.30 ns after).",
            "simple is slower: +19.0 % (905 ns before, 1.08 µs after).",
            "1 row did not change, 1 row cannot be told, 1 row without a figure on one side.",
        ]
    );
    let place = sentences[0].stands_on.as_ref().expect("a table");
    let sections = document.sections.iter().map(|section| &section.id);
    assert_eq!(
        sections.clone().filter(|id| **id == place.section).count(),
        1
    );
    let page = html::render(&document);
    assert!(page.contains("intra, no parameters is faster"), "{page}");
    let shown = render(&document, PLAIN);
    assert!(shown.contains("interval 1.17 to 1.21 times"), "{shown}");
}

#[test]
fn two_runs_are_compared_by_the_laboratory_and_labelled_by_their_suite() {
    let dearer = compared(1.5);
    assert_eq!(dearer.rows[0].verdict, Verdict::Slower);
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
    let formats = |of: &Comparison| {
        [
            render(&compose_comparison(of), PLAIN),
            json::comparison(of).expect("JSON"),
            csv::comparison(of).expect("CSV"),
        ]
    };
    for text in formats(&of_runs(&unread, &sound)) {
        assert!(text.contains(UNREAD), "{text}");
    }
    // Nothing is taken from the second.
    for text in formats(&of_runs(&sound, &unread)) {
        assert!(!text.contains(UNREAD), "{text}");
    }
}

#[test]
fn an_agreement_says_that_the_first_suite_cannot_be_read() {
    let reported = |first: &RunRecord| {
        let document = antiphon_report::compose_agreement(&[], 0.1, first, 2);
        render(&document, PLAIN).contains(UNREAD)
    };
    assert_eq!(
        (reported(&without_suite()), reported(&run(false))),
        (true, false)
    );
}

/// Returns two runs of one test, the second more expensive by half, with these distances of
/// processors.
fn compared_across(before_ns: &[f64], after_ns: &[f64]) -> Comparison {
    let across = |core_to_core_ns: &[f64], factor: f64| {
        let mut run = started(one_test(factor), 4);
        run.results[0].core_to_core_ns = read(core_to_core_ns);
        run
    };
    of_runs(&across(before_ns, 1.0), &across(after_ns, 1.5))
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
    let reported: Vec<&str> = document.summary.iter().map(|n| n.about.as_str()).collect();
    assert_eq!(reported, ["", "Processors moved"]);
    assert!(document.summary[0].text.contains("0 slower"));
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
        assert_eq!(compared.rows[0].verdict, Verdict::Slower);
        assert_eq!(compared.rows[0].note, "");
    }
    // Most starts of both runs were alike: the verdict stands, with a remark on the mixture in the
    // first.
    let mixed = compared_across(&[120.0, 330.0, 330.0], &[330.0]);
    assert_eq!(mixed.rows[0].verdict, Verdict::Slower);
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
    for reported in [
        "ada/O2: processor time by slices of 64 ms, as its file says",
        "processor time with processors kept awake while turns waited",
    ] {
        let tells = |side: &Side| side.lines.iter().any(|line| line == reported);
        assert_eq!(
            (tells(&compared.before), tells(&compared.after)),
            (false, true)
        );
        assert!(shown.contains(reported), "{shown}");
    }
}

#[test]
fn interleaved_builds_are_shown_with_what_is_told_of_each_test() {
    let options = LiveOptions::default();
    // Four starts that differ by as much, in turns.
    let compared = |log: f64, deviation: f64| {
        let pair = |sign: f64| PairEstimate {
            log_ratio: sample::interval(log + sign * deviation, 0.002),
            test_ns: (200.0, 200.0 * log.exp()),
            iterations: (1000, 1000),
            blocks: 400,
        };
        let pairs = [1.0, -1.0, 1.0, -1.0].map(pair);
        Ok(compare_pairs(&pairs, &options.judging).expect("there are pairs"))
    };
    let row = |outcome| LiveRow {
        test: "self.dearer".into(),
        arg: None,
        outcome,
    };
    let hung = antiphon_lab::Absence {
        reason: "it hung".into(),
        help: String::new(),
        last_words: String::new(),
        listed: false,
    };
    let rows = [
        row(compared(0.2, 0.001)),
        row(compared(0.0, 0.001)),
        row(compared(0.02, 0.02)),
        row(Err(hung)),
    ];
    let side = |name: &str| Side {
        name: name.into(),
        lines: Vec::new(),
    };
    let found = Comparison::of_live(side("old"), side("new"), &rows, &options);
    let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
    let due = [
        Verdict::Slower,
        Verdict::Same,
        Verdict::CannotTell,
        Verdict::Missing,
    ];
    assert_eq!(verdicts, due);
    assert_eq!(found.rows[3].note, "it hung");
    assert!(found.basis.starts_with("4 starts of each side"));
    let page = render(&compose_comparison(&found), PLAIN);
    assert!(page.contains("same within 0."), "{page}");
    for reported in ["--starts", "--seconds", "--threshold"] {
        assert!(
            found.rows[2].note.contains(reported),
            "{}",
            found.rows[2].note
        );
    }
}

#[test]
fn a_comparison_shows_verdicts_ratios_and_the_worst() {
    let comparison = comparison();
    let document = compose_comparison(&comparison);
    assert_eq!(document.title, "run 8 against run 7");
    let counts = "5 rows compared: 1 slower, 1 faster, 1 the same, of 1 it cannot be told, 1 without a figure on one side.";
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
        ("slower", "")
    );
    let json = json::comparison(&comparison).expect("JSON");
    assert!(json.contains("\"schema\": \"antiphon.comparison\""));
    assert!(json.contains("\"version\": 2") && json.contains("\"verdict\": \"cannot_tell\""));
    assert_eq!(rows[0]["same_within"], "0.006");
}
