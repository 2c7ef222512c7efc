//! Comparisons of variants in a suite: the rendezvous suite reads, and every fault names its place
//! and remedy.

use crate::common::faults_after;
use antiphon_lab::suite::{Quantity, Suite};
use std::path::Path;

#[test]
fn the_rendezvous_suite_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/rendezvous.toml");
    let (suite, _) = Suite::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let savings = &suite.savings[0];
    assert_eq!(savings.base, "rendezvous");
    assert_eq!(savings.counted.as_deref(), Some("ada-rendezvous/counted"));
    let names: Vec<&str> = savings.programs.iter().map(|p| p.test.as_str()).collect();
    assert_eq!(names, ["dining", "prodcons", "gauss_seidel", "calling"]);
    let prodcons = &savings.programs[1];
    let servers = prodcons.published.iter().find(|p| p.variant == "servers");
    assert_eq!(
        servers.map(|p| (p.seconds, p.switches)),
        Some((0.543666, 1382.0))
    );
    assert!(savings.programs[0].idle_control && !prodcons.idle_control);
    let buffer = savings.claims.iter().find(|c| c.programs == ["prodcons"]);
    let buffer = buffer.expect("a claim about the buffer alone");
    assert_eq!((buffer.of, buffer.at_most), (Quantity::Switches, 0.1));
    assert_eq!(buffer.at_least, f64::NEG_INFINITY);
    assert_eq!(buffer.against, "rendezvous");
}

const SOUND: &str = concat!(
    r#"
name = "s"
title = "S"
subjects = ["ada/O2", "ada/counted"]
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "g"
title = "G"
runs = ["other.same"]
[[group.row]]
test = "buffer.{variant}"
label = "{variant}"
each = { variant = ["task", "object", "task.8"] }
[[savings]]
id = "t"
title = "T"
source = "here"
base = "task"
variants = ["object"]
counted = "ada/counted"
programs = [{ test = "buffer", label = "b", sizes = ["8"], published = { task = [1.5, 10] } }]
[[savings.claim]]
text = "half"
of = "switches"
variants = ["object"]
programs = ["buffer"]
at_most = 0.5
"#
);

#[test]
fn the_sound_suite_is_sound() {
    Suite::parse("s.toml", SOUND).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn each_fault_names_its_place_and_mend() {
    let cases = [
        (
            "source = \"here\"",
            "source = \"here\"\nsouce = 1",
            "s.toml:23:1: `savings[1].souce`: unknown key; did you mean `source`?",
        ),
        (
            "source = \"here\"",
            "",
            "`savings[1]`: published figures without a `source`; say where they are from",
        ),
        (
            "base = \"task\"",
            "",
            "`savings[1]`: the key `base` is missing; add it",
        ),
        (
            "\"ada/counted\"\nprograms",
            "\"ada/count\"\nprograms",
            "`savings[1].counted`: `ada/count` is no subject of this suite; did you mean `ada/counted`?",
        ),
        (
            "variants = [\"object\"]\ncounted",
            "variants = [\"objects\"]\ncounted",
            "no row of this suite has the test `buffer.objects` as a frame; add the row, or take the variant or the size out",
        ),
        (
            "sizes = [\"8\"]",
            "sizes = [\"9\"]",
            "no row of this suite has the test `buffer.task.9` as a frame",
        ),
        (
            "published = { task = [1.5, 10] }",
            "published = { tusk = [1.5, 10] }",
            "`tusk` is no variant of this comparison; did you mean `task`?",
        ),
        (
            "[1.5, 10]",
            "[1.5]",
            "published figures are a time and a number of switches; write `[seconds, switches]`",
        ),
        (
            "sizes = [\"8\"]",
            "idle_control = 1",
            "a number where `true` or `false` is wanted",
        ),
        (
            "of = \"switches\"",
            "of = \"switch\"",
            "`savings[1].claim[1].of`: `switch` is nothing that is claimed of variants; did you mean `switches`?",
        ),
        (
            "at_most = 0.5",
            "",
            "`savings[1].claim[1]`: a claim needs a limit; give it `at_least`, `at_most` or both",
        ),
        (
            "programs = [\"buffer\"]",
            "programs = [\"bufer\"]",
            "`bufer` is no program of this comparison; did you mean `buffer`?",
        ),
        (
            "programs = [\"buffer\"]",
            "against = \"tusk\"",
            "`tusk` is no variant of this comparison; did you mean `task`?",
        ),
    ];
    for (from, to, expected) in cases {
        let found = faults_after(SOUND, from, to);
        assert!(
            found.contains(expected),
            "{from} -> {to} gave\n{found}\nwhich lacks\n{expected}"
        );
    }
}
