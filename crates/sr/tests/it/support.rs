//! Test programs, whose comments say what is expected:
//!
//! ```text
//! # expect: a line of standard output        # in this order; with none, nothing may be printed
//! # expect anywhere: a line                  # the lines of standard output are compared as a set
//! # stderr: a part of standard error
//! # exit: 1
//! # arguments: 10 "two words"                # (words between blanks)
//! # input: a line of standard input
//! # servers: 1                               # not run on two
//! # waits busily: yes                        # not run cooperatively
//! ```
//!
//! and, in programs with errors, `# wrong: part of a message` at the end of the line that the
//! message is about.

use std::path::{Path, PathBuf};
use std::time::Duration;

use antiphon_runner::{End, Output, Program as Child};
use antiphon_sr::build::{Executable, Job, Linking};
use antiphon_sr::{EmitOptions, Input, emit};

/// Reads the amount of work of a test from an environment variable, as `make soak` sets it, or
/// returns the `usual` amount.
pub fn amount(variable: &str, usual: u32) -> u32 {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is no number")),
        Err(_) => usual,
    }
}

/// Time limit of a test program; even on a busy machine they take far less.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Returns the test programs in a folder beside that of this file, by name.
pub fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "no programs in {}", folder.display());
    files
}

/// A program's expectations about itself.
#[derive(Debug, Default)]
pub struct Expected {
    pub lines: Vec<String>,
    pub is_unordered: bool,
    pub stderr: Vec<String>,
    pub exit: i32,
    pub arguments: Vec<String>,
    pub input: String,
    pub most_servers: Option<u32>,
    pub waits_busily: bool,
}

impl Expected {
    pub fn of(text: &str) -> Expected {
        let mut expected = Expected::default();
        for line in text.lines() {
            let Some((key, value)) = line
                .strip_prefix("# ")
                .and_then(|rest| rest.split_once(':'))
            else {
                continue;
            };
            let value = value.strip_prefix(' ').unwrap_or(value);
            match key {
                "expect" => expected.lines.push(value.to_owned()),
                "expect anywhere" => {
                    expected.is_unordered = true;
                    expected.lines.push(value.to_owned());
                }
                "stderr" => expected.stderr.push(value.to_owned()),
                "exit" => expected.exit = value.trim().parse().expect("a number"),
                "arguments" => expected
                    .arguments
                    .extend(value.split_whitespace().map(str::to_owned)),
                "input" => {
                    expected.input.push_str(value);
                    expected.input.push('\n');
                }
                "waits busily" => expected.waits_busily = value == "yes",
                "servers" => expected.most_servers = Some(value.trim().parse().expect("a number")),
                _ => {}
            }
        }
        expected
    }

    /// Returns the differences from the expectations; empty if there are none.
    pub fn differences(&self, output: &Output) -> String {
        let mut text = String::new();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let (mut lines, mut wanted): (Vec<&str>, Vec<&str>) = (
            stdout.lines().collect(),
            self.lines.iter().map(String::as_str).collect(),
        );
        if self.is_unordered {
            lines.sort_unstable();
            wanted.sort_unstable();
        }
        if lines != wanted {
            text += &format!("  printed {lines:#?}\n  instead of {wanted:#?}\n");
        }
        for part in &self.stderr {
            if !output.stderr.contains(part) {
                text += &format!("  no {part:?} in standard error\n");
            }
        }
        if self.stderr.is_empty() && !output.stderr.is_empty() {
            text += "  nothing was expected in standard error\n";
        }
        if output.end != End::Exited(self.exit) {
            text += &format!("  it {}, not with {}\n", output.end, self.exit);
        }
        if !text.is_empty() && !output.stderr.is_empty() {
            text += &format!("  its standard error: {}\n", output.stderr);
        }
        text
    }
}

/// How a program is run.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub settings: &'static str,
    pub has_loop_checks: bool,
    pub servers: u32,
}

impl Model {
    /// Whether a process that neither blocks nor ends is preempted.
    pub fn preempts(self) -> bool {
        self.settings != "model=cooperative"
    }
}

/// Every model on one processor, and one on two.
pub const MODELS: [Model; 4] = [
    Model {
        settings: "model=counted:100",
        has_loop_checks: true,
        servers: 1,
    },
    Model {
        settings: "model=sliced:1",
        has_loop_checks: false,
        servers: 1,
    },
    Model {
        settings: "model=cooperative",
        has_loop_checks: false,
        servers: 1,
    },
    Model {
        settings: "model=sliced:1,servers=2",
        has_loop_checks: false,
        servers: 2,
    },
];

/// Checks a program, and returns its C if it has no errors.
fn translated(input: &Input, linking: &Linking) -> Result<String, String> {
    let checked = input.analyse(None);
    let options = EmitOptions {
        checks: true,
        loops: linking.has_loop_checks,
        points: linking.has_points,
        lines: true,
    };
    match checked.program {
        Some(program) => Ok(emit(&program, &input.sources, &options)),
        None => Err(input.texts(&checked.diagnostics)),
    }
}

/// Builds a program for a model.
pub fn built(files: &[PathBuf], model: Model, flags: &[&str]) -> Result<Executable, String> {
    let linking = Linking {
        is_parallel: model.servers > 1,
        has_loop_checks: model.has_loop_checks,
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        ..Linking::default()
    };
    linked(files, linking)
}

/// Builds a program.
pub fn linked(files: &[PathBuf], linking: Linking) -> Result<Executable, String> {
    let input = Input::read(files, None).map_err(|error| error.to_string())?;
    let linking = Linking {
        has_machines: input.creates_machines(),
        ..linking
    };
    // The C is part of the key, because a change of the compiler may change it.
    let text = translated(&input, &linking)?;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sr");
    let job =
        Job::new(&cache, &input.sources, &text, linking).map_err(|error| error.to_string())?;
    if let Some(found) = job.cached() {
        return Ok(found);
    }
    job.build(&text, "").map_err(|error| error.to_string())
}

/// Writes a source file of a test.
pub fn source(name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the folder of tests can be written");
    path
}

/// Writes a program's file, builds it for one processor, and runs it with these settings.
pub fn ran(name: &str, text: &str, settings: &str) -> Output {
    let executable = built(&[source(name, text)], MODELS[2], &[]);
    let executable = executable.unwrap_or_else(|message| panic!("{message}"));
    ran_again(&executable, settings)
}

/// Runs an executable with settings.
pub fn ran_again(executable: &Executable, settings: &str) -> Output {
    let child = Child::new(&executable.path)
        .env("ANTIPHON_SR", settings)
        .time_limit(LIMIT);
    child.run().expect("it starts")
}

/// Runs a program under a model.
pub fn run(executable: &Path, model: Model, expected: &Expected) -> Output {
    let child = Child::new(executable)
        .args(&expected.arguments)
        .env("ANTIPHON_SR", model.settings)
        .input(expected.input.as_bytes())
        .time_limit(LIMIT);
    child.run().expect("it starts")
}
