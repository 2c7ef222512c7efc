//! The programs over shared data: in every language that is here they run, lose nothing where nothing may be lost, and say so as the suite needs it.

use antiphon_lab::build::{BuildError, Built, Cache};
use antiphon_lab::subject::{Subject, Variant};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The build of a subject's variant in a cache of its own; `None` where the language is not installed, which is said.
fn built(subject: &Subject, variant: &Variant, cache: &Path) -> Option<Built> {
    let never = AtomicBool::new(false);
    match Cache::at(cache).build(subject, variant, "other", &never) {
        Ok(built) => Some(built),
        Err(missing @ BuildError::Missing { .. }) => {
            eprintln!("skipped: {missing} ({})", missing.mend());
            None
        }
        Err(error) => panic!("{error}\n{}", error.last_words()),
    }
}

fn run(built: &Built, program: &str, arguments: &[&str]) -> Output {
    let words: Vec<String> = built
        .run
        .iter()
        .map(|word| word.replace("{program}", program))
        .collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(arguments);
    command.output().expect("the program can be started")
}

/// What a run counted.
fn counters(built: &Built, program: &str, arguments: &[&str]) -> BTreeMap<String, u64> {
    let output = run(built, program, arguments);
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    let lines = said.lines().filter_map(|line| line.strip_prefix("@@ run "));
    let words = lines.flat_map(|line| line.split(' '));
    let counters = words.filter_map(|word| word.split_once('='));
    counters
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

/// What a run counted that was long enough for its tasks to get a processor at all.
fn busy(built: &Built, program: &str, kind: &str) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    for ms in ["5", "50", "500", "5000"] {
        let arguments: &[&str] = match kind {
            "counter" | "starve" => &["3", ms],
            "cache" => &["3", "100", ms],
            _ => &["3", "2"],
        };
        counted = counters(built, program, arguments);
        if counted.get("operations") != Some(&0) {
            break;
        }
    }
    counted
}

/// Every program of a subject's variants, in small.
fn examine(name: &str) {
    let subject = Subject::load(&home().join("subjects").join(name)).expect("the file is right");
    for variant in &subject.variants {
        let cache = tempfile::tempdir().expect("there is room for a build");
        if let Some(built) = built(&subject, variant, cache.path()) {
            examine_built(&built);
        }
    }
}

fn examine_built(built: &Built) {
    for program in &built.programs {
        let (kind, way) = program.split_once('_').expect("a name and a way");
        let counted = busy(built, program, kind);
        let of = |name: &str| {
            let count = counted.get(name);
            *count.unwrap_or_else(|| panic!("{program} did not count {name}"))
        };
        match kind {
            "counter" => {
                assert!(of("kept") <= of("operations"), "{program}");
                assert!(
                    way == "unsafe" || of("kept") == of("operations"),
                    "{program}"
                );
            }
            "cache" => {
                assert!(of("operations") > of("updates"), "{program}");
                assert!(of("kept") <= of("updates"), "{program}");
                assert!(way == "weak" || of("kept") == of("updates"), "{program}");
            }
            "starve" => assert!(of("updates") > 0 && of("whole_ns") > 0, "{program}"),
            _ => assert!(of("slice_3") >= of("warm") && of("warm") > 0, "{program}"),
        }
    }
    for (program, arguments) in [
        ("counter_atomic", ["many", "5"]),
        ("counter_bold", ["1", "5"]),
    ] {
        let output = run(built, program, &arguments);
        assert!(
            !output.status.success() && !output.stderr.is_empty(),
            "{program} {arguments:?}"
        );
    }
    let refused = run(built, "counter_atomic", &["1"]);
    assert!(!refused.status.success(), "an argument is missing");
}

#[test]
fn in_ada() {
    examine("shared-data-ada");
}

#[test]
fn in_c() {
    examine("shared-data-c");
}

#[test]
fn in_cpp() {
    examine("shared-data-cpp");
}

#[test]
fn in_rust() {
    examine("shared-data-rust");
}

#[test]
fn in_go() {
    examine("shared-data-go");
}

#[test]
fn in_java() {
    examine("shared-data-java");
}

#[test]
fn in_python() {
    examine("shared-data-python");
}
