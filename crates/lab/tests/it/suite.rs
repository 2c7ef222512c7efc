//! Suites: the features suite reads whole, and every fault of a suite file names its place and
//! remedy.

use crate::common::faults_after;
use antiphon_lab::Patterns;
use antiphon_lab::subject::{Subject, select};
use antiphon_lab::suite::{Compare, ModelColumn, Placed, PublishedValue, RowKind, Suite, fill};
use antiphon_measure::RunFigure;
use std::collections::HashMap;
use std::path::Path;

fn features() -> Suite {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/features.toml");
    Suite::load(&path)
        .unwrap_or_else(|error| panic!("{error}"))
        .0
}

#[test]
fn the_features_suite_reads() {
    let suite = features();
    assert_eq!(suite.name, "features");
    assert_eq!(suite.subjects, ["ada/O2", "c/O2"]);
    let (group, row, instance) = suite.find("call.inter.record.in_out.512").unwrap();
    assert_eq!(group.id, "calls");
    assert_eq!(row.passing.as_deref(), Some("bytes"));
    assert_eq!(instance.label, "inter, record of 512 bytes, in_out");
    assert_eq!(instance.value("bytes"), Some("512"));
    let quick: Vec<_> = row
        .instances(true)
        .into_iter()
        .map(|instance| instance.test)
        .collect();
    assert_eq!(quick.len(), 3 * 3 * 2);
    assert!(!quick.contains(&"call.inter.record.in_out.512".to_owned()));
}

#[test]
fn the_documented_example_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/suites.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let text = rest.split_once("```").unwrap().0;
    let suite =
        Suite::parse("docs/reference/suites.md", text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(suite.groups[0].rows[0].instances(true).len(), 3);
    assert_eq!(suite.quick.seconds, Some(70.0));
}

#[test]
fn commits_wait_for_a_disk_and_queries_do_not() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/sql.toml");
    let suite = Suite::load(&path)
        .unwrap_or_else(|error| panic!("{error}"))
        .0;
    let mut waits: Vec<String> = suite.waits_for_disk().into_iter().collect();
    waits.sort_unstable();
    // Of ten INSERTs in one transaction only the last statement waits. A row says so against its
    // group.
    let commits = [
        "drop_create",
        "insert",
        "insert.prepared",
        "transaction.each",
    ];
    assert_eq!(waits, commits);
}

#[test]
fn a_row_may_run_under_its_own_policies() {
    let suite = features();
    let clocks = suite
        .groups
        .iter()
        .find(|group| group.id == "clock")
        .unwrap();
    let interference = clocks
        .rows
        .iter()
        .find(|row| row.test == "interference")
        .unwrap();
    assert_eq!(interference.runs(false).len(), 2);
    assert_eq!(interference.runs(true).len(), 1);
    assert_eq!(
        interference.kind,
        RowKind::Interference {
            seconds: 10.0,
            quick_seconds: 1.0
        }
    );
}

const TWO_ROWS: &str = r#"
name = "s"
title = "S"
subjects = ["a/v"]
[quick]
seconds_per_row = 1.0
relative_half_width = 0.1
[full]
seconds_per_row = 1.0
relative_half_width = 0.1
[[group]]
id = "g"
title = "G"
runs = ["other.same"]
row = [
    { test = "send", label = "short, {bytes}", arg = "{bytes}", each = { bytes = ["0", "8"] } },
    { test = "send", label = "long, {bytes}", arg = "{bytes}", each = { bytes = ["1024"] }, quick_runs = [] },
]
"#;

#[test]
fn two_rows_may_have_a_test_with_other_arguments_and_one_may_be_left_out_of_quick_runs() {
    let suite = Suite::parse("s.toml", TWO_ROWS).unwrap_or_else(|error| panic!("{error}"));
    let [short, long] = &suite.groups[0].rows[..] else {
        panic!("two rows");
    };
    assert_eq!((short.runs(true).len(), short.runs(false).len()), (1, 1));
    assert_eq!((long.runs(true).len(), long.runs(false).len()), (0, 1));
    let same = TWO_ROWS.replace("1024", "8");
    let error = Suite::parse("s.toml", &same).err().map(|e| e.to_string());
    let error = error.unwrap_or_default();
    assert!(error.contains("another row has the test `send`"), "{error}");
}

#[test]
fn a_quick_run_leaves_out_what_only_a_full_one_has() {
    let sound = "name = 's'\ntitle = 'S'\nsubjects = ['a/b', 'a/c']\nonly_full = ['a/c']\n";
    let sizes = "[quick]\nseconds_per_row = 1\nrelative_half_width = 1\n[full]\nseconds_per_row = 1\nrelative_half_width = 1\n";
    let group = "[[group]]\nid = 'g'\ntitle = 'G'\nruns = ['other.same']\n[[group.row]]\ntest = 't'\nlabel = 't'\n";
    let suite = Suite::parse("s.toml", &format!("{sound}{sizes}{group}")).unwrap();
    assert_eq!(suite.subjects(true), ["a/b"]);
    assert_eq!(suite.subjects(false), ["a/b", "a/c"]);
    let wrong = sound.replace("only_full = ['a/c']", "only_full = ['a/d']");
    let faults = Suite::parse("s.toml", &format!("{wrong}{sizes}{group}")).unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("`a/d` is no subject of this suite"),
        "{faults}"
    );
}

#[test]
fn published_values_are_numbers_ranges_or_words() {
    let suite = features();
    let table = suite
        .published
        .iter()
        .find(|table| table.id == "VI")
        .unwrap();
    assert_eq!(
        table.rows[2].values[2],
        PublishedValue::Words("pre-emptive".to_owned())
    );
    let table = suite
        .published
        .iter()
        .find(|table| table.id == "V")
        .unwrap();
    assert_eq!(table.rows[2].values[0], PublishedValue::Range(820.0, 890.0));
    assert_eq!(table.rows[2].values[1], PublishedValue::Number(3600.0));
}

const SOUND: &str = concat!(
    r#"
name = "s"
title = "S"
subjects = ["ada/O2"]
"#,
    include_str!("../common/small_sizes.toml"),
    r#"[[group]]
id = "g"
title = "G"
runs = ["other.same"]
[[group.row]]
test = "call.{form}"
label = "{form}"
each = { form = ["inter", "intra"] }
[[published]]
id = "t"
title = "T"
source = "here"
columns = [{ title = "c", unit = "us", tests = ["call.inter"] }]
rows = [{ label = "r", values = [1] }]
"#
);

#[test]
fn the_sound_suite_is_sound() {
    Suite::parse("s.toml", SOUND).unwrap();
}

#[test]
fn each_fault_names_its_place_and_mend() {
    let cases = [
        (
            "title = \"G\"",
            "titel = \"G\"",
            "s.toml:13:1: `group[1].titel`: unknown key; did you mean `title`?",
        ),
        (
            "title = \"G\"",
            "",
            "`group[1]`: the key `title` is missing; add it",
        ),
        (
            "id = \"g\"",
            "id = 3",
            "s.toml:12:6: `group[1].id`: a number where a string is wanted; write a string",
        ),
        (
            "label = \"{form}\"",
            "label = \"{from}\"",
            "s.toml:17:9: `group[1].row[1].label`: `{from}` is no placeholder of this row; did you mean `form`?",
        ),
        ("call.{form}\"", "call.{form\"", "a `{` without its `}`"),
        (
            "call.{form}\"",
            "call\"",
            "the placeholder `form` of `each` is not used",
        ),
        (
            "call.{form}\"",
            "Call {form}\"",
            "`Call inter` is no test's name",
        ),
        (
            "\"intra\"]",
            "\"inter\"]",
            "`group[1].row[1].each.form`: a value is listed twice",
        ),
        (
            "other.same",
            "other.sane",
            "`group[1].runs[1]`: `other.sane` is no policy and placement",
        ),
        (
            "values = [1]",
            "values = [1, 2]",
            "s.toml:24:33: `published[1].rows[1].values`: 2 values for 1 columns; give one value a column",
        ),
        (
            "values = [1]",
            "values = [[2, 1]]",
            "a range is two numbers, the lower one first",
        ),
        (
            "[\"call.inter\"] }",
            "[\"call.iner\"] }",
            "no row of this suite has the test `call.iner`; did you mean `call.inter`?",
        ),
        ("unit = \"us\"", "unit = \"µs\"", "`µs` is no unit"),
        (
            "tests = [\"call.inter\"]",
            "unit2 = 1",
            "a column needs exactly one of",
        ),
        (
            "\"ada/O2\"",
            "\"ada\"",
            "`subjects[1]`: `ada` is no subject in a variant; write `subject/variant`",
        ),
        (
            "seconds_per_row = 0.1",
            "seconds_per_row = 0",
            "s.toml:6:19: `quick.seconds_per_row`: the number must be above 0",
        ),
        (
            "each = {",
            "quick = { form = [\"outer\"] }\neach = {",
            "`outer` is no value of `form` in `each`; did you mean `inter`?",
        ),
        (
            "each = {",
            "kind = \"serie\"\neach = {",
            "`serie` is no kind of row; did you mean `series`?",
        ),
        (
            "each = {",
            "kind = \"series\"\neach = {",
            "the key `count` is missing",
        ),
        (
            "each = {",
            "passing = { by = \"form\" }\neach = {",
            "the values of `form` are not all numbers",
        ),
        (
            "[[published]]",
            "[[group.row]]\ntest = \"call.inter\"\nlabel = \"x\"\n[[published]]",
            "another row has the test `call.inter`",
        ),
        (
            "title = \"S\"",
            "title = \"S\"\ncompare = \"variant\"",
            "s.toml:4:11: `compare`: costs are not compared by `variant`; did you mean `variants`?",
        ),
        ("name = \"s\"", "name = \"s", "s.toml:2:"),
    ];
    for (from, to, expected) in cases {
        let found = faults_after(SOUND, from, to);
        assert!(
            found.contains(expected),
            "{from} -> {to} gave\n{found}\nwhich lacks\n{expected}"
        );
    }
}

/// Tests 64 placeholders of two values, whose tests exceed the range of a count.
#[test]
fn a_matrix_that_nobody_could_count_is_a_fault_of_every_kind_of_row() {
    let names: Vec<String> = (0..64).map(|number| format!("p{number}")).collect();
    let each = names.iter().map(|name| format!("{name} = [\"1\", \"2\"]"));
    let each = each.collect::<Vec<_>>().join(", ");
    let test: String = names.iter().map(|name| format!(".{{{name}}}")).collect();
    let load = "kind = \"load\"\nconnections = \"{p0}\"\npath = \"/\"\nbody = \"\"\nseconds = 1.0";
    for of_kind in ["kind = \"frame\"", load] {
        let text = SOUND
            .replacen("call.{form}", &format!("call{test}"), 1)
            .replacen(
                "label = \"{form}\"",
                &format!("label = \"l\"\n{of_kind}"),
                1,
            )
            .replacen("form = [\"inter\", \"intra\"]", &each, 1);
        let said = Suite::parse("s.toml", &text).unwrap_err().to_string();
        let fault = "`group[1].row[1].test`: the row has too many tests; shorten its matrix";
        assert!(said.contains(fault), "{said}");
    }
}

#[test]
fn sizes_that_no_run_could_have_are_faults() {
    let rows = [
        ("kind = \"latency\"", "count = 1_000_000_000_000"),
        (
            "kind = \"latency\"\ncount = 1",
            "interval_ns = 9_000_000_000_000_000_000",
        ),
        ("kind = \"series\"", "count = 9_000_000_000_000_000_000"),
        (
            "kind = \"series\"\ncount = 1",
            "memory_limit_mib = 17_592_186_044_416",
        ),
        ("kind = \"clock\"", "count = 1_000_000_000_000"),
        ("kind = \"interference\"", "seconds = 1e300"),
        (
            "kind = \"delay_curve\"\nfrom_ns = 1\npoints_per_decade = 1\nseconds = 1",
            "to_ns = 9_223_372_036_854_775_807",
        ),
        (
            "kind = \"delay_curve\"\nfrom_ns = 1\nto_ns = 2\nseconds = 1",
            "points_per_decade = 1_000_000",
        ),
        (
            "kind = \"delay_curve\"\nfrom_ns = 1\nto_ns = 2\npoints_per_decade = 1\nseconds = 1",
            "quick_seconds = 1e19",
        ),
        (
            "kind = \"program\"\nprogram = \"p\"",
            "limit_seconds = 1_000_000_000_000",
        ),
        (
            "kind = \"program\"\nprogram = \"p\"",
            "rounds = 4_294_967_296",
        ),
        (
            "kind = \"load\"\nconnections = \"1\"\npath = \"/\"\nbody = \"\"\nseconds = 1",
            "per_second = 1e8",
        ),
    ];
    for (row, size) in rows {
        let found = faults_after(SOUND, "each = {", &format!("{row}\n{size}\neach = {{"));
        let key = size.split(' ').next().unwrap();
        let place = format!("`group[1].row[1].{key}`: the number must be at most ");
        assert!(found.contains(&place), "{size} gave\n{found}");
    }
    let sizes = [
        ("seconds_per_row = 0.1", "seconds_per_row = 1e19"),
        (
            "seconds_per_row = 0.1",
            "seconds_per_row = 0.1\nseconds = 1e300",
        ),
        (
            "seconds_per_row = 0.1",
            "seconds_per_row = 0.1\nruns = 1001",
        ),
        (
            "seconds_per_row = 0.1",
            "seconds_per_row = 0.1\nruns = 100_000_000_000_000_000_000",
        ),
    ];
    for (from, to) in sizes {
        let found = faults_after(SOUND, from, to);
        assert!(
            found.contains("the number must be at most"),
            "{to} gave\n{found}"
        );
    }
    let found = faults_after(
        SOUND,
        "seconds_per_row = 0.1",
        "seconds_per_row = 0.1\nseconds = 320_000_001",
    );
    let reported = "`quick.seconds`: the number must be at most 320000000; write a smaller one";
    assert!(found.contains(reported), "{found}");
}

#[test]
fn several_faults_are_reported_at_once_in_order() {
    let text = SOUND
        .replace("title = \"G\"", "titel = \"G\"")
        .replace("values = [1]", "values = []");
    let found = Suite::parse("s.toml", &text).unwrap_err();
    let lines: Vec<_> = found.0.iter().map(|fault| fault.line).collect();
    assert_eq!(found.0.len(), 3, "{found}");
    assert!(lines.is_sorted(), "{found}");
}

proptest::proptest! {
    /// Tests that no text makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(cut in 0usize..600, insert in "[\\PC]{0,12}") {
        let at = (0..=cut.min(SOUND.len())).rev().find(|at| SOUND.is_char_boundary(*at)).unwrap_or(0);
        let text = format!("{}{insert}{}", &SOUND[..at], &SOUND[at..]);
        let _ = Suite::parse("s.toml", &text);
    }
}

#[test]
fn a_name_that_no_suite_has_gets_the_nearest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    assert_eq!(
        Suite::named(&folder, "features").unwrap().0.name,
        "features"
    );
    let error = Suite::named(&folder, "featurs").unwrap_err().to_string();
    assert!(error.contains("did you mean `features`?"), "{error}");
}

/// Returns the programs of a suite by name. Each has two numbers: the row's subjects that have it,
/// and all of the row's subjects.
fn programs_of(suite: &str) -> Vec<(String, usize, usize)> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (suite, _) =
        Suite::load(&home.join("suites").join(suite)).unwrap_or_else(|e| panic!("{e}"));
    let (subjects, errors) = Subject::discover(&home.join("subjects"));
    assert!(errors.is_empty(), "{errors:?}");
    let mut programs = Vec::new();
    for row in suite.groups.iter().flat_map(|group| &group.rows) {
        let RowKind::Program(program) = &row.kind else {
            panic!("{} is no program", row.test);
        };
        let patterns = Patterns::new(&row.subjects).unwrap();
        let fitting: Vec<_> = suite
            .subjects
            .iter()
            .filter(|name| patterns.fit(name))
            .map(|name| select(&subjects, name).unwrap_or_else(|e| panic!("{e}")).0)
            .collect();
        assert!(!fitting.is_empty(), "{} is measured nowhere", row.test);
        for instance in row.instances(false) {
            let name = fill(&program.program, &instance.values);
            let has = |subject: &&&Subject| subject.programs.contains(&name);
            programs.push((
                name.clone(),
                fitting.iter().filter(has).count(),
                fitting.len(),
            ));
        }
    }
    programs
}

/// Tests the bases of the suite of drivers. A reader who sees a driver's cost relative to another
/// knows the other from `sql`.
#[test]
fn the_suite_of_drivers_compares_each_with_the_one_that_sql_measures_its_language_by() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (subjects, _) = Subject::discover(&home.join("subjects"));
    let load = |name: &str| {
        let suite = Suite::load(&home.join("suites").join(name));
        suite.unwrap_or_else(|error| panic!("{error}")).0
    };
    let (drivers, sql) = (load("drivers.toml"), load("sql.toml"));
    assert_eq!(drivers.compare, Compare::Variants);
    let mut others = HashMap::new();
    for name in &drivers.subjects {
        let (subject, variant) = select(&subjects, name).unwrap_or_else(|e| panic!("{e}"));
        // A driver that only a full run of `sql` has is no language's usual driver either.
        let is_usual = sql.subjects(true).contains(name);
        match others.get_mut(&(&subject.name, variant.service)) {
            Some(others) => {
                assert!(!is_usual, "{name} is not the first");
                *others += 1;
            }
            None => {
                assert!(is_usual, "{name} is the first");
                others.insert((&subject.name, variant.service), 0);
            }
        }
    }
    let alone: Vec<_> = others.iter().filter(|(_, others)| **others == 0).collect();
    assert!(alone.is_empty(), "nothing is compared with {alone:?}");
    for row in drivers.groups.iter().flat_map(|group| &group.rows) {
        for instance in row.instances(false) {
            assert!(sql.find(&instance.test).is_some(), "{}", instance.test);
        }
    }
}

#[test]
fn the_models_suite_names_programs_that_its_subjects_have() {
    for (name, having, fitting) in programs_of("models.toml") {
        assert_eq!(having, fitting, "not all have {name}");
    }
}

/// Tests that some subjects have each program; not every language has every way to protect data.
#[test]
fn the_shared_data_suite_names_programs_that_some_of_its_subjects_have() {
    for (name, having, _) in programs_of("shared-data.toml") {
        assert!(having > 0, "nobody has {name}");
    }
}

/// Tests that each measurement of the counter has its cost in a table, with the share that it
/// leaves to others.
#[test]
fn the_shared_data_suite_shows_what_it_measures_of_the_counter() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/shared-data.toml");
    let (suite, _) = Suite::load(&path).unwrap();
    let shows = |figure: &RunFigure, test: &str, subject: &str, run: Option<&Placed>| {
        let mut tables = suite.models.iter().filter(|table| table.figure == *figure);
        tables.any(|table| {
            let is_it = |column: &&ModelColumn| {
                column.subject == subject && run.is_none_or(|run| column.run == *run)
            };
            let mut columns = table.columns.iter().filter(is_it);
            columns.any(|column| table.rows.iter().any(|row| column.test(row) == test))
        })
    };
    let kept = RunFigure::Share {
        of: "kept".into(),
        whole: "operations".into(),
    };
    let counter = suite.groups.iter().find(|group| group.id == "counter");
    for row in &counter.unwrap().rows {
        let patterns = Patterns::new(&row.subjects).unwrap();
        for subject in suite.subjects.iter().filter(|name| patterns.fit(name)) {
            for instance in row.instances(false) {
                let test = &instance.test;
                let cost = RunFigure::TimePerOperation;
                assert!(
                    shows(&cost, test, subject, None),
                    "cost of {test} {subject}"
                );
                let may_lose = test.contains(".unsafe.");
                for run in row.runs.iter().filter(|_| may_lose) {
                    let is_shown = shows(&kept, test, subject, Some(run));
                    assert!(is_shown, "loss of {test} {subject} {run:?}");
                }
            }
        }
    }
}

#[test]
fn a_published_figure_may_be_missing_but_not_a_word() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/shared-data.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let suite = Suite::parse("s.toml", &text).unwrap();
    let table = suite.models.iter().find(|table| table.id == "counter-kept");
    let of_ada = &table.unwrap().columns[0].published;
    assert_eq!(of_ada[..3], [Some(1.0), Some(0.8033821), None]);
    for (instead, fault) in [
        (r#"[1.0, 0.8033821, 0.2496811]"#, "3 figures for 5 rows"),
        (r#"[1.0, 0.8033821, "none", "", 0.2496811]"#, "a number"),
    ] {
        let faulty = text.replacen(r#"[1.0, 0.8033821, "", "", 0.2496811]"#, instead, 1);
        let said = Suite::parse("s.toml", &faulty).unwrap_err().to_string();
        assert!(said.contains(fault), "{said}");
    }
}

#[test]
fn shares_of_counters_name_two_and_nothing_else() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/shared-data.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let kept = r#"share_of = ["kept", "operations"]"#;
    for (instead, fault) in [
        (
            r#"share_of = ["kept"]"#,
            "1 names where two counters are due",
        ),
        (
            &format!("{kept}\nper_operation = true"),
            "both `share_of` and `per_operation`",
        ),
        ("", "nothing to compare with: no column has the model `CP`"),
    ] {
        let faulty = text.replacen(kept, instead, 1);
        let said = Suite::parse("s.toml", &faulty).unwrap_err().to_string();
        assert!(said.contains(fault), "{said}");
    }
}
