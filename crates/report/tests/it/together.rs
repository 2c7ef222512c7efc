//! Several runs in one document.

use crate::sample::{self, empty_run, estimate, identity, many_subjects, result};
use antiphon_lab::{Outcome, RunRecord};
use antiphon_report::document::Section;
use antiphon_report::export::{csv, html, json};
use antiphon_report::{compose, compose_together};

const SMALL: &str = concat!(
    r#"
name = "small"
title = "Small"
text = "A suite of one row."
"#,
    include_str!("../../../lab/tests/common/small_sizes.toml"),
    r#"[[group]]
id = "calls"
title = "Calls"
runs = ["other.same"]
[[group.row]]
test = "call.inter.none"
label = "a call"
"#
);

fn small(id: i64, subject: &str) -> RunRecord {
    let mut run = empty_run();
    run.id = id;
    run.suite = "small".into();
    run.suite_toml = SMALL.into();
    let identity = identity("call.inter.none", subject, "other", "same");
    let outcome = Outcome::Frame(Box::new(estimate(2.5, 0.1)));
    run.results = vec![result(identity, outcome)];
    run
}

#[test]
fn one_run_is_composed_as_ever() {
    let run = small(3, "c/O2");
    assert_eq!(compose_together(std::slice::from_ref(&run)), compose(&run));
}

#[test]
fn each_run_has_a_part_and_the_method_stands_once() {
    let document = compose_together(&[sample::run(true), small(8, "ada-rendezvous/O2")]);
    assert_eq!(document.title, "What language features cost · Small");
    let ids: Vec<&str> = document.sections.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids[0], "run-7-suite-features");
    assert!(ids.contains(&"run-7-group-calls") && ids.contains(&"run-8-group-calls"));
    assert_eq!(ids.iter().filter(|id| id.contains("method")).count(), 1);
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    assert_eq!(document.subjects, ["ada/O2", "c/O2", "ada-rendezvous/O2"]);
    let about: Vec<&str> = document.summary.iter().map(|n| n.about.as_str()).collect();
    assert_eq!(about, ["What language features cost", "Small"]);
    let facts: Vec<&str> = document.facts.iter().map(|f| f.label.as_str()).collect();
    assert!(facts.contains(&"Machine") && !facts.contains(&"When"));
    let page = html::render(&document);
    assert!(page.contains("8 of suite small"));
}

#[test]
fn of_many_runs_the_summary_has_the_titles() {
    let small = |id| small(id, "c/O2");
    let document = compose_together(&[sample::run(true), small(8), small(9)]);
    assert_eq!(document.title, "What 3 runs measured");
    let about: Vec<&str> = document.summary.iter().map(|n| n.about.as_str()).collect();
    assert_eq!(about, ["What language features cost", "Small", "Small"]);
}

#[test]
fn what_many_subjects_of_a_run_are_is_folded_in_its_part_too() {
    let mut many = small(2, "b/x");
    many.subjects = many_subjects();
    let page = |runs: &[RunRecord]| html::render(&compose_together(runs));
    let few = [small(1, "a/x"), small(2, "b/x")];
    assert!(!page(&few).contains("settings of the"));
    assert!(page(&[small(1, "a/x"), many]).contains("settings of the 7 subjects"));
}

#[test]
fn the_contents_fold_each_run_below_its_title() {
    let document = compose_together(&[small(1, "a/x"), small(2, "b/x")]);
    fn id(section: &Section) -> &str {
        &section.id
    }
    let parts: Vec<(Option<&str>, Vec<&str>)> = document
        .parts()
        .map(|(head, rest)| (head.map(id), rest.iter().map(id).collect()))
        .collect();
    let heads: Vec<Option<&str>> = parts.iter().map(|(head, _)| *head).collect();
    assert_eq!(
        heads,
        [
            Some("run-1-suite-small"),
            Some("run-2-suite-small"),
            Some("method")
        ]
    );
    assert!(parts[0].1.contains(&"run-1-group-calls"), "{parts:?}");
    assert!(parts[1].1.iter().all(|id| id.starts_with("run-2-")));
    assert_eq!(parts[2].1.len(), 0);
    let contents = |document| {
        let page = html::render(document);
        let (_, rest) = page.split_once("<nav class=\"contents\"").unwrap();
        rest.split_once("</nav>").unwrap().0.to_owned()
    };
    let folded = contents(&document);
    assert_eq!(folded.matches("<details>").count(), 2);
    assert!(folded.contains("<summary><a href=\"#run-2-suite-small\">Small</a></summary>"));
    assert!(!contents(&compose(&small(1, "a/x"))).contains("<details>"));
}

#[test]
fn subjects_keep_their_colour_across_runs() {
    let document = compose_together(&[small(1, "a/x"), small(2, "b/x"), small(3, "a/x")]);
    let page = html::render(&document);
    assert_eq!(document.subjects, ["a/x", "b/x"]);
    let group = |id: &str| {
        let section = page.split(&format!("id=\"{id}\"")).nth(1).expect(id);
        section.split("</section>").next().unwrap_or("").to_owned()
    };
    assert!(group("run-2-group-calls").contains("class=\"s1\""));
    assert!(group("run-3-group-calls").contains("class=\"s0\""));
}

#[test]
fn runs_of_different_machines_each_tell_of_their_own() {
    let mut other = small(2, "c/O2");
    other.machine.host = "elsewhere".into();
    let document = compose_together(&[small(1, "c/O2"), other]);
    assert!(document.facts.is_empty());
    assert!(html::render(&document).contains("elsewhere: "));
}

#[test]
fn programs_read_all_runs() {
    let runs = [small(1, "c/O2"), small(2, "c/O2")];
    let lines = csv::runs(&runs).expect("CSV");
    // Suite, run, and no histogram.
    assert_eq!(lines.lines().filter(|l| l.ends_with("small,1,")).count(), 1);
    assert_eq!(lines.lines().filter(|l| l.ends_with("small,2,")).count(), 1);
    let value: serde_json::Value =
        serde_json::from_str(&json::runs(&runs).expect("JSON")).expect("it is JSON");
    assert_eq!(value["schema"], "antiphon.runs");
    assert_eq!(value["runs"][1]["id"], 2);
}
