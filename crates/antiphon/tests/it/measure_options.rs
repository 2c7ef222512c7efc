//! Checks each promise of `antiphon measure --help` by runs of the project's C subject.

use crate::common::{Place, Ran, SUITE, has_cc};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Returns the runs that a command printed, one document a suite.
fn documents(ran: &Ran) -> Vec<Value> {
    let all = serde_json::Deserializer::from_str(ran.done()).into_iter::<Value>();
    all.map(|document| document.unwrap()["run"].take())
        .collect()
}

/// Returns the one run that a command printed.
fn document(ran: &Ran) -> Value {
    let [run] = &documents(ran)[..] else {
        panic!("{}", ran.out)
    };
    run.clone()
}

fn results(run: &Value) -> &[Value] {
    run["results"].as_array().unwrap()
}

/// Returns the results that have a figure.
fn measured(run: &Value) -> impl Iterator<Item = &Value> {
    let has_figure = |result: &&Value| result["outcome"]["kind"] == "frame";
    results(run).iter().filter(has_figure)
}

/// Returns the tests for which a run has figures.
fn tests(run: &Value) -> BTreeSet<&str> {
    measured(run)
        .filter_map(|result| result["identity"]["test"].as_str())
        .collect()
}

/// Returns the starts behind each figure of a run.
fn starts(run: &Value) -> Vec<usize> {
    let count = |result: &Value| result["starts"].as_array().unwrap().len();
    measured(run).map(count).collect()
}

#[test]
fn only_takes_patterns_of_tests_and_ids_of_groups() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let more = "\n[[group]]\nid = \"more\"\ntitle = \"More\"\nruns = [\"other.same\"]\n[[group.row]]\ntest = \"self.dearer\"\nlabel = \"again\"\n";
    let suite = SUITE.replace(r#""same", "dearer", "handoff""#, r#""same", "handoff""#);
    place.write("suites/small.toml", &format!("{suite}{more}"));
    for (only, expected) in [
        ("more", &["self.dearer"][..]),
        ("frames", &["self.handoff", "self.same"]),
        ("self.s*,*.dearer", &["self.dearer", "self.same"]),
    ] {
        let ran = place.run(&["measure", "small", "--quick", "--json", "--only", only]);
        let run = document(&ran);
        assert_eq!(tests(&run), expected.iter().copied().collect(), "{only}");
    }
}

#[test]
fn several_suites_as_json_are_a_document_each() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    place.write(
        "suites/other.toml",
        &SUITE.replace("\"small\"", "\"other\""),
    );
    let ran = place.run(&[
        "measure",
        "small",
        "other",
        "--quick",
        "--json",
        "--only",
        "self.same",
    ]);
    let runs = documents(&ran);
    let names: Vec<&Value> = runs.iter().map(|run| &run["suite"]).collect();
    assert_eq!(names, ["small", "other"]);
}

#[test]
fn a_subject_s_variant_is_chosen_and_started_as_often_as_asked() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let asked = [
        "--repetitions",
        "3",
        "--subjects",
        "c/O2",
        "--only",
        "self.same",
    ];
    let run =
        document(&place.run(&[&["measure", "small", "--quick", "--json"][..], &asked].concat()));
    let subjects: Vec<&Value> = results(&run)
        .iter()
        .map(|of| &of["identity"]["subject"])
        .collect();
    assert_eq!(
        (subjects, starts(&run)),
        (vec![&Value::from("c/O2")], vec![3])
    );
    // The document records the options, also when the report prints it again.
    let again = document(&place.run(&["report", "--json", "-"]));
    for asked in [&run["asked"], &again["asked"]] {
        assert_eq!(asked["only"], Value::from(vec!["self.same"]));
        assert_eq!(asked["subjects"], Value::from(vec!["c/O2"]));
        assert_eq!(asked["starts"], 3);
        assert_eq!(asked["quick"], true);
    }
}

#[test]
fn a_run_stops_when_its_time_is_over_and_keeps_what_was_measured() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let ran = place.run(&[
        "measure",
        "small",
        "--repetitions",
        "60",
        "--time-budget",
        "0.2",
        "--json",
    ]);
    let reported = starts(&document(&ran));
    let kept = starts(&document(&place.run(&["report", "--json", "-"])));
    assert_eq!(reported, kept);
    assert!(reported.iter().any(|starts| *starts > 0), "{reported:?}");
    assert!(reported.iter().all(|starts| *starts < 60), "{reported:?}");
}

#[test]
fn a_run_is_resumed_by_its_number_with_what_was_asked_of_it() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    let mut command = place.command(&[
        "measure",
        "small",
        "--repetitions",
        "3",
        "--only",
        "self.same,self.dearer",
    ]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("same c/O2")));
    child.kill().unwrap();
    child.wait().unwrap();
    // A later run, even an unfinished one, would be the one that a bare `--resume` means.
    place
        .run(&["measure", "small", "--quick", "--only", "self.same"])
        .done();
    let run = document(&place.run(&["measure", "--resume", "1", "--json"]));
    assert_eq!(run["id"], 1);
    assert_eq!(tests(&run), ["self.dearer", "self.same"].into());
    assert_eq!(starts(&run), [3, 3]);
}

#[test]
fn a_check_builds_nothing_and_makes_no_store() {
    let place = Place::new();
    place.write(
        "subjects/c/subject.toml",
        "name = 'c'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nrun = ['x']\n\
         build = [['sh', '-c', 'touch {source}/built; exit 1']]\n[[variant]]\nname = 'O2'\n",
    );
    let out = place.run(&["measure", "small", "--check"]);
    assert!(out.done().contains("small: 1 groups"), "{}", out.out);
    assert!(!place.path("subjects/c/built").exists());
    assert!(!place.path("runs.db").exists());
}
