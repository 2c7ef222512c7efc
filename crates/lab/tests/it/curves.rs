//! Rows whose argument is a placeholder, and curves of cost over it.

use crate::common::faults_after;
use antiphon_lab::suite::{CurveUnit, Suite};
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
test = "trip.{members}"
label = "{members} members, {bytes} bytes"
arg = "{bytes}"
each = { members = ["2", "4"], bytes = ["0", "64", "4096"] }
quick = { members = ["2"], bytes = ["64"] }
[[curve]]
id = "c"
title = "C"
by = "bytes"
unit = "bytes"
rows = ["0", "64"]
test = "trip.2"
arg = "{row}"
column = [
    { title = "A", subject = "a/v", run = "other.same" },
    { title = "B", subject = "b/v", run = "other.same", against = "A" },
    { title = "B with 4", test = "trip.4", subject = "b/v", run = "other.same" },
]
[[curve]]
id = "m"
title = "M"
by = "members"
rows = ["2", "4"]
test = "trip.{row}"
arg = "64"
column = [{ title = "A", subject = "a/v", run = "other.same" }]
"#
);

#[test]
fn a_test_is_measured_with_each_value_of_its_argument() {
    let suite = Suite::parse("s.toml", SOUND).unwrap();
    let row = &suite.groups[0].rows[0];
    let tests = |quick| -> Vec<(String, Option<u64>, String)> {
        let instances = row.instances(quick).into_iter();
        let reported = instances.map(|i| (i.test.clone(), row.arg_of(&i), i.label));
        reported.collect()
    };
    let all = tests(false);
    assert_eq!(all.len(), 6);
    let last = ("trip.4".into(), Some(4096), "4 members, 4096 bytes".into());
    assert_eq!(all[5], last);
    assert_eq!(
        tests(true),
        [("trip.2".into(), Some(64), "2 members, 64 bytes".into())]
    );
}

#[test]
fn a_curve_names_tests_and_arguments_by_its_rows() {
    let suite = Suite::parse("s.toml", SOUND).unwrap();
    let [bytes, members] = &suite.curves[..] else {
        panic!("{} curves", suite.curves.len());
    };
    assert_eq!(
        (bytes.unit, members.unit),
        (CurveUnit::Bytes, CurveUnit::Count)
    );
    assert_eq!(
        (bytes.arg_in("64"), members.arg_in("4")),
        (Some(64), Some(64))
    );
    assert_eq!(bytes.columns[2].test_in("64"), "trip.4");
    assert_eq!(members.columns[0].test_in("4"), "trip.4");
    assert_eq!(bytes.columns[1].against.as_deref(), Some("A"));
}

#[test]
fn each_fault_names_its_mend() {
    let cases = [
        (
            "arg = \"{bytes}\"",
            "arg = \"{byte}\"",
            "is no placeholder of whole numbers",
        ),
        (
            "arg = \"{bytes}\"",
            "arg = \"bytes\"",
            "write a number, or a placeholder",
        ),
        (
            "bytes = [\"0\", \"64\", \"4096\"]",
            "bytes = [\"0\", \"64k\"]",
            "is no placeholder of whole numbers",
        ),
        (
            "arg = \"{bytes}\"\n",
            "",
            "the placeholder `bytes` of `each` is not used",
        ),
        (
            "unit = \"bytes\"",
            "unit = \"octets\"",
            "write `bytes` or `count`",
        ),
        (
            "unit = \"bytes\"",
            "rate = \"fast\"",
            "write `bytes` or `operations`",
        ),
        (
            "unit = \"bytes\"",
            "rate = \"bytes\"\ncounted = \"messages\"",
            "take `rate` or `counted` out",
        ),
        (
            "rows = [\"0\", \"64\"]",
            "rows = [\"few\"]",
            "a curve is over whole numbers",
        ),
        (
            "test = \"trip.2\"\n",
            "",
            "give the curve or the column a `test`",
        ),
        (
            "test = \"trip.2\"",
            "test = \"trap.2\"",
            "no row of this suite has the test `trap.2` as a frame",
        ),
        (
            "subject = \"a/v\"",
            "subject = \"c/v\"",
            "`c/v` is no subject of this suite",
        ),
        (
            "against = \"A\"",
            "against = \"Z\"",
            "`Z` is no column before this one",
        ),
        (
            "title = \"B\"",
            "title = \"A\"",
            "another column has the title `A`",
        ),
        ("id = \"m\"", "id = \"c\"", "another curve has the id `c`"),
    ];
    for (from, to, expected) in cases {
        let found = faults_after(SOUND, from, to);
        assert!(found.contains(expected), "{from} -> {to} gave\n{found}");
    }
}

#[test]
fn the_layer_suite_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/layer.toml");
    let (suite, _) = Suite::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let published: Vec<_> = suite
        .published
        .iter()
        .map(|table| table.id.as_str())
        .collect();
    assert_eq!(published, ["table-2", "table-3", "table-4"]);
    assert!(suite.find("group.own.8").is_some());
}

/// Returns the arguments of a test in the full or the quick run of the layer suite.
fn arguments(suite: &Suite, test: &str, quick: bool) -> Vec<u64> {
    let rows = suite.groups.iter().flat_map(|group| &group.rows);
    let rows = rows.filter(|row| !row.runs(quick).is_empty());
    let of_row = rows.flat_map(|row| {
        let instances = row.instances(quick).into_iter();
        let of_test = instances.filter(|instance| instance.test == test);
        of_test.filter_map(|instance| row.arg_of(&instance))
    });
    of_row.collect()
}

#[test]
fn the_layer_suite_measures_each_primitive_from_nothing_to_16_mib() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/layer.toml");
    let (suite, _) = Suite::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let (null, longest) = (0, 16 << 20);
    // A reduction has one number at least.
    let primitives = [
        ("roundtrip", null),
        ("rpc", null),
        ("stream", null),
        ("group.own.2", null),
        ("broadcast.8", null),
        ("gather.4", null),
        ("scatter.8", null),
        ("alltoall.4", null),
        ("reduce.8", 8),
        ("allreduce.8", 8),
    ];
    for (test, least) in primitives {
        let all = arguments(&suite, test, false);
        assert!(all.contains(&least), "{test}: {all:?}");
        assert!(all.contains(&longest), "{test}: {all:?}");
        let quick = arguments(&suite, test, true);
        assert!(!quick.contains(&longest), "{test}: {quick:?}");
    }
}
