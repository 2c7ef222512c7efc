//! The front end accepts any input: it reports errors, and neither panics nor hangs nor overflows
//! its stack.

use std::path::Path;

use antiphon_sr::{Input, Notation};
use proptest::prelude::*;

use crate::support::amount;

/// Returns all programs of the tests, as material for mutation.
fn programs() -> Vec<String> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders = ["programs", "wrong", "notations"].map(|folder| tests.join(folder));
    let mut texts = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            texts.push(std::fs::read_to_string(entry.unwrap().path()).unwrap());
        }
    }
    texts.sort();
    texts
}

/// Reads, parses and checks a text; every message can be shown.
fn survive(text: &str, notation: Option<Notation>) {
    let mut input = Input::default();
    input.add(Path::new("fuzz.sr"), text.as_bytes().to_vec(), notation);
    let checked = input.analyse(None);
    let texts = input.texts(&checked.diagnostics);
    assert_eq!(texts.is_empty(), checked.diagnostics.is_empty());
    assert!(
        checked.program.is_some() || !texts.is_empty(),
        "a program is refused without a word"
    );
}

/// A change of a text at a place, both given in thousandths.
#[derive(Debug, Clone)]
enum Change {
    Delete(usize, usize),
    Insert(usize, String),
    Repeat(usize, usize),
    Swap(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0..1000_usize;
    // Parts of the language, and other texts.
    let scraps = prop::sample::select(vec![
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "->",
        "[]",
        ":=",
        ":=:",
        "//",
        "end",
        "if",
        "fi",
        "do",
        "od",
        "fa",
        "af",
        "in",
        "ni",
        "co",
        "oc",
        "proc",
        "process",
        "op",
        "sem",
        "resource",
        "global",
        "body",
        "import",
        "extend",
        "var",
        "type",
        "rec(",
        "cap",
        "ptr",
        "enum(",
        "string[",
        "\"",
        "'",
        "/*",
        "*/",
        "#",
        "#@ region",
        "\\\n",
        "\n",
        ";",
        ",",
        ".",
        "^",
        "@",
        "?",
        "**",
        "99999999999",
        "0ffx",
        "1e999",
        "null",
        "noop",
        "new(",
        "create",
        "send",
        "reply",
        "forward",
        "int(",
        "_if",
        "_guard_iq2(",
        "_wait(x",
        "\u{e9}",
        "\0",
        "$1",
    ]);
    prop_oneof![
        (place.clone(), 0..60_usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (place.clone(), scraps).prop_map(|(at, text)| Change::Insert(at, text.to_owned())),
        (place.clone(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        (place.clone(), place).prop_map(|(a, b)| Change::Swap(a, b)),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for change in changes {
        let count = characters.len();
        let place = |thousandths: usize| thousandths * count / 1000;
        match change {
            Change::Delete(at, length) => {
                characters.drain(place(*at)..(place(*at) + length).min(count));
            }
            Change::Insert(at, scrap) => {
                characters.splice(place(*at)..place(*at), scrap.chars());
            }
            Change::Repeat(at, length) => {
                let part = characters[place(*at)..(place(*at) + length).min(count)].to_vec();
                characters.splice(place(*at)..place(*at), part);
            }
            Change::Swap(a, b) if count > 0 => characters.swap(place(*a), place(*b)),
            Change::Swap(..) => {}
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: amount("SR_CASES", 2000), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutilated_programs_are_survived(which in 0..1000_usize, changes in prop::collection::vec(change(), 1..8)) {
        let programs = programs();
        survive(&changed(&programs[which % programs.len()], &changes), None);
    }

    #[test]
    fn any_text_is_survived_in_any_notation(
        text in "(\\PC|\n){0,300}",
        which in 0..1000_usize,
        changes in prop::collection::vec(change(), 0..8),
        notation in prop::sample::select(vec!["m2sr=sx", "m2sr=su", "ccr2sr", "csp2sr", "csp2sr=te"]),
    ) {
        let notation: Notation = notation.parse().unwrap();
        survive(&text, Some(notation));
        let programs = programs();
        survive(&changed(&programs[which % programs.len()], &changes), Some(notation));
    }
}

#[test]
fn deep_nesting_is_refused_and_not_fallen_into() {
    for (open, close) in [
        ("(", ")"),
        ("if true -> ", " fi"),
        ("begin ", " end"),
        ("not ", ""),
        ("[1:2]", ""),
        ("ptr ", ""),
        ("rec(a: ", ")"),
        ("f(", ")"),
        ("a[", "]"),
    ] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for program in [
            format!("resource main()\n x := {deep}\nend\n"),
            format!("resource main()\n {deep}\nend\n"),
            format!("resource main()\n var x: {deep}\nend\n"),
        ] {
            survive(&program, None);
        }
    }
}
