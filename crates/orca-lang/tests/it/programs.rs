//! Programs that state the expected results in comments of the main unit:
//!
//! ```text
//! # expect: a line of standard output     # in this order
//! # anywhere: a line                      # the lines are compared as a set
//! # stderr: a part of standard error
//! # exit: 134
//! # machines: 3                           # threads of one process; 1 if nothing is said
//! # machines: 1 2 4                       # it runs with each number, and prints the same
//! # input: a line of standard input
//! # option: --objects-by-reference       # it is compiled with this option
//! # runs: 3 => a part of standard error   # with this argument it ends with a run-time error
//! ```
//!
//! and, where they do not run yet, `# refused: part of the message`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Program as Child};
use orca_lang::build::{Executable, Job, Linking};
use orca_lang::{EmitOptions, Search, Severity, check, emit, load};

use crate::support::Units;

/// The time limit of a test program. Even on a busy machine programs take far less.
const LIMIT: Duration = Duration::from_secs(60);

/// The exit code of a run-time error, as in the original.
pub const ABORTED: i32 = 134;

#[derive(Default)]
struct Expected {
    lines: Vec<String>,
    is_unordered: bool,
    stderr: Vec<String>,
    exit: i32,
    machines: Vec<String>,
    input: String,
    refused: Option<String>,
    runs: Vec<(String, String)>,
}

impl Expected {
    fn of(text: &str) -> Self {
        let mut expected = Self::default();
        for line in text.lines() {
            let parts = line.strip_prefix("# ").and_then(|it| it.split_once(':'));
            let Some((key, value)) = parts else { continue };
            let value = value.strip_prefix(' ').unwrap_or(value);
            match key {
                "expect" => expected.lines.push(value.into()),
                "anywhere" => {
                    expected.is_unordered = true;
                    expected.lines.push(value.into());
                }
                "stderr" => expected.stderr.push(value.into()),
                "exit" => expected.exit = value.parse().expect("a number"),
                "machines" => {
                    expected.machines = value.split_whitespace().map(Into::into).collect();
                }
                "input" => expected.input += &format!("{value}\n"),
                "refused" => expected.refused = Some(value.into()),
                "runs" => {
                    let (argument, part) = value.split_once(" => ").expect("an arrow");
                    expected.runs.push((argument.into(), part.into()));
                }
                _ => {}
            }
        }
        expected
    }
}

/// Returns the C files in a program's folder: functions behind a specification.
fn c_files_beside(file: &Path) -> Vec<String> {
    let folder = file.parent().expect("a folder");
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut found: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "c"))
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    found
}

/// Returns the options that a program is read with.
fn search_of(file: &Path) -> Search {
    let text = std::fs::read_to_string(file).expect("a program");
    let mut search = Search::default();
    let mut lines = text.lines();
    search.dialect.objects_by_reference =
        lines.any(|line| line == "# option: --objects-by-reference");
    search
}

/// Compiles a program, with more flags for the C compiler.
pub fn built(file: &Path, flags: &[&str]) -> Result<Executable, String> {
    let loaded = load(&[file.to_owned()], &search_of(file)).expect("the program is read");
    let checked = check(&loaded, true);
    let texts = |all: &[orca_lang::Diagnostic]| {
        let all = all.iter().map(|it| it.text(&loaded.sources));
        all.collect::<String>()
    };
    let errors = checked.diagnostics.iter();
    let errors: Vec<_> = errors
        .filter(|it| it.severity == Severity::Error)
        .cloned()
        .collect();
    let Some(program) = checked.program else {
        return Err(texts(&errors));
    };
    let with = c_files_beside(file);
    let options = EmitOptions {
        for_c: !with.is_empty(),
        ..EmitOptions::default()
    };
    let text = emit(&program, &loaded.sources, &options);
    let text = text.map_err(|refused| texts(&refused))?;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orca");
    // The C is part of the key, because a change of the compiler may change it.
    let linking = Linking {
        flags: flags.iter().map(|it| (*it).to_owned()).collect(),
        with,
        units_in_c: program.units_in_c(),
    };
    let job = Job::new(&cache, &loaded.sources, &text, linking);
    let job = job.map_err(|error| error.to_string())?;
    match job.cached() {
        Some(found) => Ok(found),
        None => job.build(&text, "").map_err(|error| error.to_string()),
    }
}

/// Returns the differences from a program's expectations.
fn differences(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a program");
    let expected = Expected::of(&text);
    let executable = match (built(file, &[]), &expected.refused) {
        (Ok(_), Some(part)) => return format!("it runs, and {part:?} was expected"),
        (Ok(executable), None) => executable,
        (Err(message), Some(part)) if message.contains(part) => return String::new(),
        (Err(message), _) => return message,
    };
    let mut found = errors_differ(&executable, &expected);
    let mut settings: Vec<String> = expected
        .machines
        .iter()
        .map(|it| format!("machines={it}"))
        .collect();
    if settings.is_empty() {
        settings.push(String::new());
    }
    for setting in settings {
        let differs = run_differs(&executable, &expected, &setting);
        if !differs.is_empty() {
            found += &format!("  with {setting:?}:\n{differs}");
        }
    }
    found
}

/// Returns the differences of one run from the expectations.
fn run_differs(executable: &Executable, expected: &Expected, settings: &str) -> String {
    let mut found = String::new();
    let child = Child::new(&executable.path)
        .env("ANTIPHON_ORCA", settings)
        .input(expected.input.as_bytes())
        .time_limit(LIMIT);
    let output = child.run().expect("it starts");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines: Vec<&str> = stdout.lines().collect();
    let mut wanted: Vec<&str> = expected.lines.iter().map(String::as_str).collect();
    if expected.is_unordered {
        lines.sort_unstable();
        wanted.sort_unstable();
    }
    for (index, (is, wanted)) in lines.iter().zip(&wanted).enumerate() {
        if is != wanted {
            found += &format!("  line {}: {is:?}, not {wanted:?}\n", index + 1);
        }
    }
    if lines.len() != wanted.len() {
        found += &format!(
            "  {} lines, not {}: {lines:#?}\n",
            lines.len(),
            wanted.len()
        );
    }
    for part in &expected.stderr {
        if !output.stderr.contains(part) {
            found += &format!("  no {part:?} in standard error\n");
        }
    }
    if output.end != End::Exited(expected.exit) {
        found += &format!("  it {}, not with {}\n", output.end, expected.exit);
    }
    if !found.is_empty() || (expected.stderr.is_empty() && !output.stderr.is_empty()) {
        found += &format!("  its standard error: {}\n", output.stderr);
    }
    found
}

/// Returns the differences from the expected run-time errors.
fn errors_differ(executable: &Executable, expected: &Expected) -> String {
    let mut found = String::new();
    for (argument, part) in &expected.runs {
        let child = Child::new(&executable.path)
            .arg(argument)
            .input(&b""[..])
            .time_limit(LIMIT);
        let output = child.run().expect("it starts");
        if output.end != End::Exited(ABORTED) || !output.stderr.contains(part) {
            let (end, stderr) = (&output.end, &output.stderr);
            found += &format!("  with {argument} it {end}, not {part:?}: {stderr}\n");
        }
    }
    found
}

/// Returns the main units in the folders of test programs, one folder a program.
fn programs() -> Vec<PathBuf> {
    let folder = match std::env::var("ANTIPHON_ORCA_PROGRAMS") {
        Ok(folder) => PathBuf::from(folder),
        Err(_) => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"),
    };
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        found.extend(orca_lang::main_of(&path).expect("a folder"));
    }
    found.sort();
    assert!(!found.is_empty(), "no programs in {}", folder.display());
    found
}

#[test]
fn programs_print_what_they_should() {
    let mut failures = String::new();
    for file in programs() {
        let found = differences(&file);
        if !found.is_empty() {
            failures += &format!("{}:\n{found}\n", file.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn a_wrong_c_file_is_no_fault_of_the_compiler() {
    let units = Units::new(&[
        ("main.spf", "MODULE SPECIFICATION main; END;"),
        (
            "main.imp",
            "MODULE IMPLEMENTATION main; PROCESS OrcaMain(); BEGIN WriteLine(1); END; END;",
        ),
        ("wrong.c", "#include \"none.h\"\n"),
    ]);
    let message = built(&units.path("main.imp"), &[]).expect_err("it does not compile");
    assert!(
        message.starts_with("the program was not linked") && message.contains("none.h"),
        "{message}"
    );
}
