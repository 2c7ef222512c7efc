//! The next steps that the command names: without a verb, in `list`, and in a first look.

use crate::common::{Place, Ran, SUITE, has_cc};
use std::path::Path;

/// Adds the small suite, whose first look includes the C subject.
fn with_first_look(place: &Place) {
    let first_look = "[first_look]\nsubjects = [\"c/O2\"]\nseconds = 1\n[[group]]";
    let subjects = "subjects = [\"plain/v\", \"c/O2\"]";
    let text = SUITE.replacen("[[group]]", first_look, 1);
    let text = text.replacen("subjects = [\"c/O2\"]", subjects, 1);
    place.write(
        "suites/looked.toml",
        &text.replace("\"small\"", "\"looked\""),
    );
}

/// Returns a home that needs things which no machine has.
fn lacking() -> Place {
    let place = Place::new();
    place.script("plain", "exit 0");
    let text = "name = 'odd'\nlanguage = 'None'\nversion = ['echo', '1']\nsources = []\nbuild = []\nrun = ['x']\n\
                needs = [{ command = 'no-such-compiler', package = 'odd-compiler' }]\n\
                [[variant]]\nname = 'v'\n[[variant]]\nname = 'w'\nneeds = [{ header = 'no/such.h', package = 'odd-dev' }]\n";
    place.write("subjects/odd/subject.toml", text);
    let suite = SUITE.replace("[\"c/O2\"]", "[\"plain/v\", \"odd/v\", \"odd/w\"]");
    place.write("suites/small.toml", &suite);
    place
}

#[test]
fn without_a_verb_the_next_steps_are_named() {
    let place = Place::new();
    let without = |place: &Place| {
        let mut command = place.command(&[]);
        command
            .env_remove("ANTIPHON_STORE")
            .env("HOME", place.path(""));
        command.env_remove("XDG_DATA_HOME");
        Ran::of(command.output().unwrap())
    };
    let ran = without(&place);
    for words in [
        "No run is stored yet",
        "antiphon measure ",
        "antiphon list ",
        "--help",
    ] {
        assert!(ran.done().contains(words), "{words}: {}", ran.out);
    }
    assert!(!ran.out.contains("antiphon report"), "{}", ran.out);
}

#[test]
fn a_first_look_is_what_suites_offer_for_it() {
    if !has_cc() {
        return;
    }
    let place = Place::with_c();
    place.script("plain", "exit 0");
    place
        .run(&["measure"])
        .fails(3, &["has a first look", "antiphon list"]);
    with_first_look(&place);
    let ran = place.run(&["measure"]);
    assert!(ran.done().contains("c/O2"), "{}", ran.out);
    assert!(!ran.out.contains("plain/v"), "{}", ran.out);
    let listed = place.run(&["runs"]);
    let lines: Vec<&str> = listed.done().lines().skip(1).collect();
    assert!(lines.len() == 1 && lines[0].contains("looked") && lines[0].contains("quick"));
    let ran = place.run(&[]);
    for words in ["run 1 of looked", "antiphon report"] {
        assert!(ran.done().contains(words), "{words}: {}", ran.out);
    }
}

#[test]
fn a_first_look_takes_only_subjects_of_its_suite() {
    let place = Place::new();
    let text = SUITE.replacen(
        "[[group]]",
        "[first_look]\nsubjects = [\"d/O2\"]\n[[group]]",
        1,
    );
    place.write("suites/small.toml", &text);
    place
        .run(&["measure", "small", "--check"])
        .fails(1, &["`d/O2`", "seconds"]);
}

#[test]
fn what_is_missing_is_listed_with_one_command_that_installs_it() {
    let place = lacking();
    let ran = place.run(&["list"]);
    for words in [
        "1 of 3",
        "needs no-such-compiler",
        "w needs no-such-compiler, no/such.h",
        "Missing here: no-such-compiler, no/such.h",
        "apt-get install odd-compiler odd-dev\n",
    ] {
        assert!(ran.done().contains(words), "{words}: {}", ran.out);
    }
    let ran = place.run(&["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(ran.done()).unwrap();
    assert_eq!(listed["schema"], "antiphon.list");
    assert_eq!(listed["suites"][0]["ready"], 1);
    assert_eq!(
        listed["install_for_first_look"].as_array().map(Vec::len),
        Some(0)
    );
    assert_eq!(listed["install"][0], "apt-get install odd-compiler odd-dev");
}

#[test]
fn the_rows_of_a_suite_are_listed_as_only_takes_them() {
    let place = Place::new();
    let ran = place.run(&["list", "small"]);
    let rows = "frames: Frames\n  self.same\n  self.dearer\n  self.handoff\n  nobody.has.this\n";
    assert!(ran.done().starts_with(rows), "{}", ran.out);
    place
        .run(&["list", "smal"])
        .fails(2, &["did you mean `small`?"]);
}

#[test]
fn the_projects_own_suites_and_subjects_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let place = Place::new();
    let ran = place.run(&["list", "--home", &root.display().to_string()]);
    for words in ["* features", "  layer ", "models-sr", "measure SUITE"] {
        assert!(ran.done().contains(words), "{words}: {}", ran.out);
    }
}
