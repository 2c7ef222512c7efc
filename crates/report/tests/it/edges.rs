//! Runs at the edges: empty, huge, without figures, and with words and numbers that are none.

use crate::sample::{
    empty_run, estimate, finding, identity, many_subjects, result, run, section, tables,
};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_measure::FindingKind;
use antiphon_report::compose;
use antiphon_report::document::Block;
use antiphon_report::export::html;

#[test]
fn what_a_subject_says_cannot_become_markup() {
    let evil = "<script>alert(1)</script>\"'&</textarea>";
    let mut run = empty_run();
    let mut bad = estimate(5.0, 0.1);
    bad.findings.push(finding(FindingKind::Note, evil));
    run.machine.host = evil.into();
    run.results.push(result(
        identity("call.inter.none", evil, "other", "same"),
        Outcome::Frame(Box::new(bad)),
    ));
    run.results.push(result(
        identity(evil, evil, evil, evil),
        Outcome::Absent {
            reason: evil.into(),
            help: evil.into(),
            last_words: evil.into(),
            listed: false,
        },
    ));
    let page = html::render(&compose(&run));
    assert!(
        page.contains("&lt;script&gt;alert(1)"),
        "the words are shown"
    );
    assert!(!page.contains("<script>alert"));
    assert_eq!(
        page.matches("</script>").count(),
        3,
        "only the page's own scripts end"
    );
    let attribute_escaped = !page.contains("aria-label=\"<") && !page.contains("\"'&</textarea>");
    assert!(attribute_escaped);
}

#[test]
fn an_empty_run_is_a_page_that_says_so() {
    let document = compose(&empty_run());
    assert_eq!(document.summary[0].text, "0 figures measured.");
    assert!(
        document
            .sections
            .iter()
            .all(|s| !s.id.starts_with("group-"))
    );
    assert!(html::render(&document).contains("No row of this run belongs in this table"));
}

#[test]
fn a_run_without_any_figure_names_the_reason_once() {
    let mut run = empty_run();
    for test in ["call.inter.none", "call.intra.none", "alloc.new.integer"] {
        run.results.push(result(
            identity(test, "ada/O2", "other", "same"),
            Outcome::Absent {
                reason: "gnatmake was not found".into(),
                help: "apt install gnat".into(),
                last_words: String::new(),
                listed: false,
            },
        ));
    }
    let document = compose(&run);
    let said = &document.summary[1].text;
    assert!(said.starts_with("gnatmake was not found: "), "{said}");
    assert!(said.contains("new integer (ada/O2)"), "{said}");
    let Block::Notes { notes } = &section(&document, "findings").blocks[1] else {
        panic!("no notes")
    };
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].help, "apt install gnat");
    assert!(notes[0].about.contains("new integer"));
}

#[test]
fn a_run_whose_suite_cannot_be_read_is_still_shown() {
    let mut run = run(true);
    run.suite_toml = "this is not a suite".into();
    let document = compose(&run);
    assert!(document.summary.iter().any(|note| note.about == "Suite"));
    assert!(
        !tables(section(&document, "group-others"))[0]
            .rows
            .is_empty()
    );
}

#[test]
fn numbers_that_are_no_numbers_do_not_stop_the_page() {
    let mut run = empty_run();
    let mut odd = estimate(f64::NAN, f64::INFINITY);
    odd.relative_half_width = f64::NAN;
    run.results.push(result(
        identity("call.inter.none", "ada/O2", "other", "same"),
        Outcome::Frame(Box::new(odd)),
    ));
    let page = html::render(&compose(&run));
    assert!(page.contains("–"));
}

#[test]
fn a_full_run_stays_well_below_five_megabytes() {
    let page = html::render(&compose(&run(false)));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(
        !page.contains("http://") || page.matches("http://").count() == 1,
        "only the name of the SVG namespace"
    );
    assert!(!page.contains("https://"));
}

#[test]
fn a_huge_run_is_shown_whole() {
    let mut run = empty_run();
    for index in 0..20_000 {
        let e = Box::new(estimate(1.0 + f64::from(index), 0.1));
        run.results.push(result(
            identity(&format!("many.{index}"), "ada/O2", "other", "same"),
            Outcome::Frame(e),
        ));
    }
    let document = compose(&run);
    assert_eq!(
        tables(section(&document, "group-others"))[0].rows.len(),
        20_000
    );
}

/// Tests the folding of many subjects: otherwise a page of compilers and settings would precede the
/// results.
#[test]
fn what_many_subjects_are_is_folded() {
    let mut run = run(true);
    let folds = |run: &RunRecord| html::render(&compose(run)).contains("settings of the");
    assert!(!folds(&run));
    run.subjects = many_subjects();
    assert!(folds(&run));
    let page = html::render(&compose(&run));
    assert!(page.contains("<dt>kit/6</dt>"), "it is there all the same");
}
