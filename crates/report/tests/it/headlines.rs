//! Headlines: sentences from figures, their order, what is not told, and their form in each format.

use crate::sample::{self, empty_run, estimate, finding, identity, parts, result};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_measure::{FindingKind, WholeRun};
use antiphon_report::document::{Headline, Picture, Told, Weight};
use antiphon_report::export::{html, json, markdown, text, xlsx};
use antiphon_report::{compose, compose_together, headlines_of};

const SUITE: &str = concat!(
    r#"
name = "h"
title = "Hand-overs"
subjects = ["a/v", "b/v"]
"#,
    include_str!("../../../lab/tests/common/small_sizes.toml"),
    r#"
[[headline]]
text = "A call costs {ratio} times as much in B ({of} against {against})"
less = "A call costs {ratio} times as much in A ({against} against {of})"
test = "call"
run = "fifo.same"
of = { label = "a call in B", subject = "b/v" }
against = { label = "a call in A", subject = "a/v" }

[[headline]]
text = "A hand-over costs {ratio} times a call ({of} against {against})"
subject = "a/v"
run = "fifo.same"
of = { label = "a hand-over", test = "handover" }
against = { label = "a call", test = "call" }

[[headline]]
text = "Each member adds {slope}, {growth} times from {from} to {to}: {first}, then {last}"
curve = { label = "a barrier", test = "barrier.{n}", numbers = [2, 4, 8], subject = "a/v", run = "fifo.same" }

[[headline]]
text = "Of {all} claims, {hold} confirmed here, {fail} refuted"
claims = "models"

[[group]]
id = "g"
title = "Hand-overs and calls"
runs = ["fifo.same"]
[[group.row]]
test = "call"
label = "a plain call"
[[group.row]]
test = "handover"
label = "over and back"
[[group.row]]
test = "barrier.{members}"
label = "barrier of {members}"
each = { members = ["2", "4", "8"] }
[[group]]
id = "p"
title = "Programs"
runs = ["fifo.same"]
[[group.row]]
kind = "program"
test = "whole"
label = "whole"
program = "whole"
[[models]]
id = "m"
title = "M"
column = [
    { title = "A", test = "whole", subject = "a/v", run = "fifo.same" },
    { title = "B", test = "whole", subject = "b/v", run = "fifo.same" },
]
claim = [
    { text = "B is twice as fast", of = ["B"], against = "A", at_most = 0.5 },
    { text = "B is at least a little faster", of = ["B"], against = "A", at_most = 0.99 },
    { text = "B is about as fast", of = ["B"], against = "A", at_least = 0.5, at_most = 2.0 },
]
"#
);

/// (test, subject, cost and half width in ns).
type Cost = (&'static str, &'static str, f64, f64);

const COSTS: [Cost; 6] = [
    ("call", "a/v", 10.0, 0.2),
    ("call", "b/v", 25.0, 0.5),
    ("handover", "a/v", 900.0, 9.0),
    ("barrier.2", "a/v", 200.0, 2.0),
    ("barrier.4", "a/v", 400.0, 2.0),
    ("barrier.8", "a/v", 800.0, 2.0),
];

fn run(costs: &[Cost]) -> RunRecord {
    let mut run = empty_run();
    run.suite = "h".into();
    run.suite_toml = SUITE.into();
    let at = |test: &str, subject: &str, outcome| {
        result(identity(test, subject, "fifo", "same"), outcome)
    };
    for (test, subject, cost, half) in costs {
        let frame = Outcome::Frame(Box::new(estimate(*cost, *half)));
        run.results.push(at(test, subject, frame));
    }
    run
}

fn program(times: [u64; 3]) -> Outcome {
    let run = |(round, elapsed_ns): (usize, u64)| WholeRun {
        round: round as u32,
        elapsed_ns,
        ..WholeRun::default()
    };
    Outcome::Program {
        answer: String::new(),
        runs: times.into_iter().enumerate().map(run).collect(),
        counted: Default::default(),
    }
}

fn found(run: &RunRecord) -> Vec<Headline> {
    let mut all = headlines_of(std::slice::from_ref(run));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].title, "Hand-overs");
    all.remove(0).sentences
}

fn plain(text: &str) -> String {
    text.replace('\u{202f}', " ")
}

fn texts(found: &[Headline]) -> Vec<String> {
    found.iter().map(|one| plain(&one.text)).collect()
}

/// Of all suites together, without what is no difference between two rows.
#[test]
fn the_largest_differences_of_several_suites_are_shown_at_the_end() {
    let mut few = run(&[COSTS[0], ("handover", "a/v", 1900.0, 9.0)]);
    few.suite_toml = SUITE.replace("Hand-overs\"", "More hand-overs\"");
    few.id += 1;
    let options = text::TextOptions {
        width: 200,
        colour: false,
    };
    let document = compose_together(&[run(&COSTS), few.clone()]);
    let shown = text::largest(&document, options);
    let lines: Vec<String> = shown.lines().map(plain).collect();
    let begins = [
        "· More hand-overs: A hand-over costs 190 times a call",
        "· Hand-overs: A hand-over costs 90 times a call",
        "· Hand-overs: A call costs 2.5 times as much in B",
    ];
    assert_eq!(lines.len(), begins.len(), "{lines:?}");
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{line}");
    }
    assert_eq!(text::largest(&compose(&few), options), "");
}

#[test]
fn the_largest_difference_comes_first_with_its_figures() {
    let found = found(&run(&COSTS));
    assert_eq!(
        texts(&found),
        [
            "A hand-over costs 90 times a call (900 ns against 10.0 ns).",
            "Each member adds 100 ns, 4.0 times from 2 to 8: 200 ns, then 800 ns.",
            "A call costs 2.5 times as much in B (25.0 ns against 10.0 ns).",
        ]
    );
    assert!(found.iter().all(|one| one.told == Told::Found));
    let number = found[0].number.expect("a number");
    assert!(number.low < 90.0 && 90.0 < number.high && number.high < 100.0);
    let place = found[0].stands_on.as_ref().expect("a table");
    assert_eq!(
        (place.section.as_str(), place.row.as_str()),
        ("group-g", "over and back")
    );
    let Some(Picture::Bars { bars }) = &found[0].picture else {
        panic!("{:?}", found[0].picture);
    };
    assert_eq!(bars.len(), 2);
}

#[test]
fn a_ratio_below_one_has_the_other_sentence() {
    let mut costs = COSTS;
    costs[1].2 = 5.0;
    let found = found(&run(&costs[..2]));
    assert_eq!(
        plain(&found[0].text),
        "A call costs 2.0 times as much in A (10.0 ns against 5.00 ns)."
    );
    let number = found[0].number.expect("a number");
    assert!(number.low < 2.0 && 2.0 < number.high);
}

#[test]
fn what_the_intervals_leave_open_is_told_as_such() {
    let mut costs = COSTS;
    (costs[1].2, costs[1].3) = (10.1, 1.0);
    let open = found(&run(&costs)).pop().expect("a sentence");
    assert_eq!(open.told, Told::Nothing);
    assert_eq!(
        plain(&open.text),
        "This run cannot tell a call in B from a call in A: 10.1 ns against 10.0 ns, 0.9 to 1.1 times."
    );
    let mut costs = COSTS;
    for cost in &mut costs[3..] {
        (cost.2, cost.3) = (300.0, 40.0);
    }
    let open = found(&run(&costs)).pop().expect("a sentence");
    assert!(
        open.text
            .starts_with("This run cannot tell how a barrier grows"),
        "{}",
        open.text
    );
}

#[test]
fn figures_that_are_missing_withheld_or_like_their_control_are_named() {
    let missing = found(&run(&COSTS[..1])).pop().expect("a sentence");
    assert_eq!(missing.told, Told::Nothing);
    assert_eq!(
        missing.text,
        "This run has no figure for a call in B against a call in A, a hand-over against a call, \
         nor a barrier (the first: call of b/v was not measured)."
    );
    let mut withheld = run(&COSTS[..2]);
    if let Outcome::Frame(estimate) = &mut withheld.results[1].outcome {
        estimate
            .findings
            .push(finding(FindingKind::DeadCode, "it does not grow"));
    }
    let said = found(&withheld).pop().expect("a sentence");
    assert!(
        said.text.contains("withheld: work was removed"),
        "{}",
        said.text
    );
    let mut costs = COSTS;
    (costs[1].2, costs[1].3) = (0.01, 0.3);
    let said = found(&run(&costs)).pop().expect("a sentence");
    assert!(
        said.text.contains("not distinguishable from nothing"),
        "{}",
        said.text
    );
}

#[test]
fn without_permission_for_fifo_the_rows_under_other_are_taken() {
    let mut run = run(&COSTS);
    for result in &mut run.results {
        result.identity.policy = "other".into();
    }
    assert_eq!(found(&run).len(), 3);
}

#[test]
fn a_weakness_of_a_figure_is_one_of_its_headline() {
    let mut run = run(&COSTS);
    if let Outcome::Frame(estimate) = &mut run.results[2].outcome {
        estimate
            .findings
            .push(finding(FindingKind::Drift, "the cost fell by 4 %"));
    }
    let first = &found(&run)[0];
    assert_eq!(first.marks.len(), 1, "{:?}", first.marks);
    let page = html::render(&compose(&run));
    let opening = page
        .split("<details class=\"folded about\"")
        .next()
        .unwrap_or_default();
    assert!(opening.contains(&format!(">{}</span>", first.marks[0].word)));
}

#[test]
fn claims_that_do_not_hold_are_a_finding_and_no_warning() {
    let mut run = run(&COSTS);
    let at = |subject: &str, outcome| result(identity("whole", subject, "fifo", "same"), outcome);
    run.results.push(at("a/v", program([1000, 1000, 1000])));
    run.results.push(at("b/v", program([1200, 1200, 1200])));
    let all = found(&run);
    let claims = all.last().expect("a sentence");
    assert_eq!(claims.told, Told::Claims);
    assert_eq!(
        plain(&claims.text),
        "Of 3 claims, 1 confirmed here, 2 refuted. Farthest off: “B is twice as fast” (here 120 %, claimed at most 50.0 %)."
    );
    assert_eq!(
        claims
            .stands_on
            .as_ref()
            .map(|place| place.section.as_str()),
        Some("models-conclusions")
    );
    let document = compose(&run);
    let notes = document.sections.iter().flat_map(|section| &section.blocks);
    let notes = notes.filter_map(|block| match block {
        antiphon_report::document::Block::Notes { notes } => Some(notes),
        _ => None,
    });
    let refuted = notes
        .flatten()
        .filter(|note| note.text.contains("does not hold here"));
    let weights: Vec<Weight> = refuted.map(|note| note.weight).collect();
    assert_eq!(weights, [Weight::Info; 2]);
}

#[test]
fn a_suite_has_five_sentences_at_most() {
    for quick in [true, false] {
        let all = headlines_of(&[sample::run(quick)]);
        let sentences = &all[0].sentences;
        assert!((3..=5).contains(&sentences.len()), "{:?}", texts(sentences));
    }
}

#[test]
fn a_page_opens_with_the_sentences_and_links_each_to_its_table() {
    let document = compose_together(&[run(&COSTS), sample::run(true)]);
    let page = html::render(&document);
    let body = page.split("<body>").nth(1).expect("a body");
    let place = |text: &str| body.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("A hand-over costs 90 times") < place("figures measured"));
    assert!(place("A hand-over costs 90 times") < place("<nav"));
    for suite in &document.headlines {
        assert!(body.contains(&format!("href=\"#{}\"", suite.section)));
    }
    let opening = &body[..place("<details class=\"folded about\"")];
    let links: Vec<&str> = opening.split("href=\"#").skip(1).collect();
    assert!(links.len() > 5);
    for link in links {
        let (id, _) = link.split_once('"').expect("an address");
        assert!(
            body.contains(&format!("id=\"{id}\"")),
            "nothing has the id {id}"
        );
    }
    assert!(opening.matches("<svg class=\"small").count() > 5);
    let pictures = opening.split("<svg class=\"small").skip(1);
    for picture in pictures.filter_map(|rest| rest.split("</svg>").next()) {
        let numbers = picture.split(['"', ' ', 'M', 'V', 'H', 'L']);
        let unlike = |number: &&str| ["NaN", "inf", "-inf"].contains(number);
        assert!(
            !numbers.into_iter().any(|number| unlike(&number)),
            "{picture}"
        );
    }
}

#[test]
fn every_format_has_the_sentences() {
    let run = run(&COSTS);
    let document = compose(&run);
    let sentence = "A hand-over costs 90 times a call";
    let markdown = markdown::render(&document);
    let first = markdown
        .lines()
        .find(|line| line.starts_with("1. "))
        .expect("a list");
    assert!(
        first.contains(sentence) && first.contains("interval 87"),
        "{first}"
    );
    let options = text::TextOptions {
        width: 60,
        colour: false,
    };
    let shown = text::found(&document.headlines[0], options);
    assert!(shown.starts_with(&format!("1. {sentence}")), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 60),
        "{shown}"
    );
    assert!(text::render_tables(&run, options).contains(sentence));
    let value: serde_json::Value =
        serde_json::from_str(&json::run(&run).expect("JSON")).expect("it is JSON");
    let first = &value["headlines"][0]["sentences"][0];
    assert_eq!(first["told"], "found");
    assert_eq!(first["number"]["unit"], "ratio");
    assert!(
        first["text"]
            .as_str()
            .is_some_and(|text| text.starts_with(sentence))
    );
    let workbook = parts(&xlsx::render(&document).expect("a workbook"));
    assert!(workbook["xl/sharedStrings.xml"].contains(sentence));
}

#[test]
fn a_run_of_a_suite_without_headlines_opens_as_before() {
    let mut run = run(&COSTS);
    let (before, rest) = SUITE.split_once("[[headline]]").expect("headlines");
    let (_, after) = rest.split_once("[[group]]").expect("a group");
    run.suite_toml = format!("{before}[[group]]{after}");
    assert_eq!(headlines_of(std::slice::from_ref(&run)), []);
    let page = html::render(&compose(&run));
    assert!(!page.contains("class=\"found\"") && page.contains("6 figures measured"));
}
