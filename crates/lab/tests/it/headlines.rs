//! Headlines of a suite: the rows, curves and claims that the sentences of a report stand on.

use crate::common::faults_after;
use antiphon_lab::suite::{Basis, ClaimSets, HeadlineQuantity, Suite};
use std::path::Path;

const SOUND: &str = concat!(
    r#"
name = "s"
title = "S"
subjects = ["a/v", "b/v"]
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "g"
title = "G"
runs = ["other.same"]
[[group.row]]
test = "call"
label = "a call"
[[group.row]]
test = "trip.{members}"
label = "{members} members, {bytes} bytes"
arg = "{bytes}"
each = { members = ["2", "4"], bytes = ["0", "64", "4096"] }
[[group.row]]
kind = "program"
test = "whole"
label = "a program"
program = "whole"
arguments = []
[[findings]]
id = "article"
title = "An article"
source = "an article"
claim = [{ text = "B is faster", quantity = "time", of = "b/v", against = "a/v", tests = ["call"], run = "other.same", at_most = 1.0 }]
[[headline]]
text = "A call costs {ratio} times as much in B ({of} against {against})"
less = "A call costs {ratio} times as much in A"
test = "call"
run = "other.same"
of = { label = "a call in B", subject = "b/v" }
against = { label = "a call in A", subject = "a/v" }
[[headline]]
text = "Each byte costs {slope}, {growth} times from {from} to {to}"
curve = { label = "a round trip", test = "trip.2", arg = "{n}", numbers = [0, 64, 4096], subject = "a/v", run = "other.same" }
[[headline]]
text = "{hold} of {all} claims hold, {fail} do not"
claims = "findings"
ids = ["article"]
"#
);

#[test]
fn a_headline_stands_on_two_rows_a_curve_or_claims() {
    let suite = Suite::parse("s.toml", SOUND).unwrap();
    let [two, curve, claims] = &suite.headlines[..] else {
        panic!("{} headlines", suite.headlines.len());
    };
    let Basis::Ratio {
        quantity,
        of,
        against,
        less,
    } = &two.basis
    else {
        panic!("{two:?}");
    };
    assert_eq!(*quantity, HeadlineQuantity::Time);
    assert!(less.as_deref().is_some_and(|less| less.ends_with("in A")));
    assert_eq!(of.alone(), ("call".to_owned(), None));
    assert_eq!(
        (of.subject.as_str(), against.subject.as_str()),
        ("b/v", "a/v")
    );
    assert_eq!(of.run, against.run, "what both have in common stands once");
    let Basis::Curve { of, numbers, .. } = &curve.basis else {
        panic!("{curve:?}");
    };
    assert_eq!(numbers, &[0, 64, 4096]);
    assert_eq!(of.at(64), ("trip.2".to_owned(), Some(64)));
    let Basis::Claims { of, ids } = &claims.basis else {
        panic!("{claims:?}");
    };
    assert_eq!(
        (*of, &ids[..]),
        (ClaimSets::Findings, &["article".to_owned()][..])
    );
}

#[test]
fn faults_of_headlines_name_their_mend() {
    let cases = [
        (
            "{ratio} times as much in B",
            "{ration} times",
            "did you mean `ratio`?",
        ),
        (
            "{ratio} times as much in B ({of} against {against})",
            "much",
            "write `{ratio}`",
        ),
        ("{ratio} times as much in A", "much", "write `{ratio}`"),
        (
            "{slope}, {growth} times from {from} to {to}",
            "much",
            "write `{slope}`",
        ),
        ("{slope}, {growth}", "{slope, {growth}", "there is no"),
        ("{to}\"", "{to\"", "a `{` without its `}`"),
        ("test = \"call\"\nrun", "run", "the key `test` is missing"),
        (
            "test = \"call\"\nrun",
            "test = \"cool\"\nrun",
            "no row of this suite has the test `cool`",
        ),
        (
            "arg = \"{n}\", ",
            "",
            "no row of this suite has the test `trip.2`",
        ),
        (
            "numbers = [0, 64, 4096]",
            "numbers = [0, 65]",
            "the test `trip.2` with 65",
        ),
        (
            "numbers = [0, 64, 4096]",
            "numbers = [64]",
            "two or more ascending numbers",
        ),
        (
            "numbers = [0, 64, 4096]",
            "numbers = [64, 0]",
            "two or more ascending numbers",
        ),
        (
            "subject = \"b/v\" }",
            "subject = \"c/v\" }",
            "`c/v` is no subject of this suite",
        ),
        (
            "run = \"other.same\"\nof",
            "run = \"other\"\nof",
            "no policy and placement",
        ),
        (
            "test = \"call\"\nrun",
            "test = \"call\"\nquantity = \"speed\"\nrun",
            "`speed` is no quantity of a headline",
        ),
        (
            "test = \"call\"\nrun",
            "test = \"call\"\nquantity = \"p99\"\nrun",
            "name a row of kind load",
        ),
        (
            "against = { label = \"a call in A\",",
            "against = { label = \"a call in A\", test = \"whole\",",
            "compare rows of one kind",
        ),
        (
            "against = { label",
            "beside = { label",
            "give it `of` and `against`, or `curve`, or `claims`",
        ),
        (
            "claims = \"findings\"",
            "claims = \"finding\"",
            "did you mean `findings`?",
        ),
        (
            "claims = \"findings\"",
            "claims = \"models\"",
            "this suite has no claims in `models`",
        ),
        (
            "ids = [\"article\"]",
            "ids = [\"artikel\"]",
            "did you mean `article`?",
        ),
        ("{hold} of {all}", "{hold} of them", "write `{all}`"),
    ];
    for (from, to, expected) in cases {
        let found = faults_after(SOUND, from, to);
        assert!(found.contains(expected), "{from} -> {to} gave\n{found}");
    }
}

#[test]
fn every_suite_has_headlines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let files = std::fs::read_dir(folder).expect("the suites");
    let paths = files.map(|entry| entry.expect("an entry").path());
    let suites: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    assert!(suites.len() >= 8, "{suites:?}");
    for path in suites {
        let (suite, _) = Suite::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(suite.headlines.len() >= 3, "{}", suite.name);
    }
}
