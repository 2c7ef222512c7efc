//! Small C programs like generated ones, compiled against the header and run under the models.
//! Comments in each program state its output.
//!
//! Lines of a program that begin with `//` and one of these words are for this test. `out:` and
//! `err:` give a line of its output, `part:` the same without its end. `exit:` is its exit code (0
//! by default), `in:` a line of its input, `args:` its arguments. `options:` are those of
//! `ANTIPHON_SR` besides the model, `models:` the models it is for (all by default). `has:` is a
//! part of what it writes to standard error.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A model's name, how its programs are compiled, and how they are run.
const MODELS: [(&str, &[&str], &str); 9] = [
    ("cooperative", &[], "model=cooperative"),
    ("called", &["-DSR_PLAIN_CALLS"], "model=cooperative"),
    ("counted", &["-DSR_LOOPS"], "model=counted:3"),
    ("sliced", &[], "model=sliced:0.2"),
    ("deferred", &["-DSR_LOOPS"], "model=sliced-deferred:0.2"),
    ("one-of-many", &["-DSR_MANY"], "model=cooperative,servers=1"),
    (
        "many",
        &["-DSR_MANY", "-DSR_LOOPS"],
        "model=counted:3,servers=2",
    ),
    ("many-sliced", &["-DSR_MANY"], "model=sliced:0.2,servers=2"),
    (
        "many-cooperative",
        &["-DSR_MANY"],
        "model=cooperative,servers=2",
    ),
];

/// A program's notes about itself.
#[derive(Default)]
struct Notes {
    out: String,
    err: String,
    exit: i32,
    input: String,
    args: Vec<String>,
    options: String,
    models: Vec<String>,
    has: Vec<String>,
}

fn notes(text: &str) -> Notes {
    let mut notes = Notes::default();
    for line in text.lines() {
        let Some((word, rest)) = line.strip_prefix("// ").and_then(|l| l.split_once(':')) else {
            continue;
        };
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let words = || rest.split_whitespace().map(String::from);
        match word {
            "out" => notes.out.push_str(&format!("{rest}\n")),
            "part" => notes.out.push_str(rest),
            "err" => notes.err.push_str(&format!("{rest}\n")),
            "in" => notes.input.push_str(&format!("{rest}\n")),
            "exit" => notes.exit = rest.trim().parse().expect("an exit code"),
            "args" => notes.args = words().collect(),
            "options" => notes.options = rest.trim().into(),
            "models" => notes.models = words().collect(),
            "has" => notes.has.push(rest.into()),
            _ => {}
        }
    }
    notes
}

/// Returns the folder with the library and its header, with which programs are linked.
fn runtime() -> PathBuf {
    antiphon_runtimes::SR
        .unpacked(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .expect("the files can be written")
}

fn compile(source: &Path, flags: &[&str], to: &Path) {
    let runtime = runtime();
    let output = Command::new("cc")
        .args([
            "-std=gnu11",
            "-O2",
            "-g",
            "-fwrapv",
            "-mno-red-zone",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .args(flags)
        .arg("-I")
        .arg(&runtime)
        .arg(source)
        .arg(runtime.join(antiphon_runtimes::SR.archive))
        .args(["-lm", "-lpthread", "-ldl", "-o"])
        .arg(to)
        .output()
        .expect("a C compiler");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", source.display());
}

struct Ran {
    out: String,
    err: String,
    exit: Option<i32>,
}

fn run(program: &Path, notes: &Notes, options: &str) -> Ran {
    // A program that hangs is stopped, and its exit code shows that.
    let mut child = Command::new("timeout")
        .arg("120")
        .arg(program)
        .args(&notes.args)
        .env("ANTIPHON_SR", format!("{options},{}", notes.options))
        .current_dir(program.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // A program may end without reading.
    let _ = input.write_all(notes.input.as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    Ran {
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        exit: output.status.code(),
    }
}

/// Runs a program under each of its models.
fn check(name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(format!("{name}.c"));
    let notes = notes(&fs::read_to_string(&source).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let is_wanted =
        |model: &str| notes.models.is_empty() || notes.models.iter().any(|m| m == model);
    let mut ran_models = 0;
    for (model, flags, options) in MODELS.into_iter().filter(|(m, ..)| is_wanted(m)) {
        let program = folder.path().join(model);
        compile(&source, flags, &program);
        let ran = run(&program, &notes, options);
        let context = format!("{name} under {model}; standard error:\n{}", ran.err);
        assert_eq!(ran.out, notes.out, "{context}");
        if notes.has.is_empty() {
            assert_eq!(ran.err, notes.err, "{context}");
        }
        for part in &notes.has {
            assert!(ran.err.contains(part), "\"{part}\" is missing: {context}");
        }
        assert_eq!(ran.exit, Some(notes.exit), "{context}");
        ran_models += 1;
    }
    assert!(ran_models > 0, "{name}: no model of that name");
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*

        #[test]
        fn every_program_is_run() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
            let known = [$(stringify!($name)),*];
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
                if path.extension().is_some_and(|e| e == "c") {
                    assert!(known.contains(&stem.as_str()), "{stem}.c is not in the list");
                }
            }
        }
    };
}

programs! {
    arrays blocked capabilities co creation destruction double_free errors external files forwarding globals input large_arrays
    live_processes memory naps naps_in_any_order no_loops operations overflow priorities processes reading receive region replies
    semaphores slow_input stats stop stop_with_code strings ticks waiting wrong_options writing
}

/// Runs one program with further options. Returns its outcome and its notes.
fn run_once(name: &str, flags: &[&str], options: &str) -> (Ran, Notes) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(format!("{name}.c"));
    let notes = notes(&fs::read_to_string(&source).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join(name);
    compile(&source, flags, &program);
    (run(&program, &notes, options), notes)
}

#[test]
fn a_timeline_has_the_turns_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let (ran, _) = run_once("processes", &[], &format!("trace={}", path.display()));
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    let trace: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |name: &str| events.iter().filter(|e| e["name"] == name).count();
    // Three processes with two nap(0) each have three turns each.
    assert_eq!(of("main.p"), 9);
    assert!(of("main.body") >= 1);
    assert!(
        events
            .iter()
            .all(|e| e["ph"] == "X" && e["dur"].as_f64().unwrap() >= 0.0)
    );
}

#[test]
fn a_timeline_that_is_too_long_has_the_last_turns_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let options = format!("trace={},trace-turns=5", path.display());
    let (ran, _) = run_once("processes", &[], &options);
    assert_eq!(ran.exit, Some(0), "{}", ran.err);
    let trace: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(events.len(), 5);
    let earlier = trace["otherData"]["dropped"].as_u64().unwrap();
    assert!(earlier > 4, "{earlier}");
    let said = format!("the timeline has the last 5 turns; {earlier} came before");
    assert!(ran.err.contains(&said), "{}", ran.err);
    let (whole, _) = run_once(
        "processes",
        &[],
        &format!("trace={}", folder.path().join("b").display()),
    );
    assert!(!whole.err.contains("came before"), "{}", whole.err);
}

#[test]
fn a_seeded_schedule_is_the_same_again() {
    let outputs: Vec<String> = [1, 1, 2, 3, 4]
        .map(|seed| {
            let (ran, _) = run_once(
                "processes",
                &["-DSR_LOOPS", "-DSR_POINTS"],
                &format!("schedule=seed:{seed}"),
            );
            assert_eq!(ran.exit, Some(0), "{}", ran.err);
            ran.out
        })
        .into();
    assert_eq!(outputs[0], outputs[1]);
    assert!(
        outputs.iter().any(|o| *o != outputs[0]),
        "no seed makes a difference"
    );
}

#[test]
fn programs_use_memory_rightly_under_address_sanitizer() {
    let names = [
        "arrays",
        "co",
        "creation",
        "destruction",
        "forwarding",
        "input",
        "memory",
        "replies",
        "strings",
    ];
    for name in names {
        let (ran, notes) = run_once(name, &["-fsanitize=address"], "model=cooperative");
        assert!(!ran.err.contains("AddressSanitizer"), "{name}: {}", ran.err);
        assert_eq!(ran.out, notes.out, "{name}: {}", ran.err);
    }
}

#[test]
fn input_that_comes_late_is_waited_for_by_its_reader_alone() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/slow_input.c");
    let folder = tempfile::tempdir().unwrap();
    for flags in [&[][..], &["-DSR_MANY"][..]] {
        let program = folder.path().join("slow_input");
        compile(&source, flags, &program);
        let mut child = Command::new(&program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // There is no input yet, so the reader has not printed this.
        assert_eq!(lines.next().unwrap().unwrap(), "others run");
        child.stdin.take().unwrap().write_all(b"5\n").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), "got 5");
        assert!(child.wait().unwrap().success());
    }
}
