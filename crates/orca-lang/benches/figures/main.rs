//! Ratios of the language, each within one run:
//!
//! - generated C against hand-written C with the same flags, with checks and without;
//! - operations on shared objects against the Rust face, over `local` with two machines on one
//!   processor, where the ways in which a thread may wait differ least;
//! - the time to compile and start a program against SR's.
//!
//! ```text
//! cargo bench -p antiphon-orca-lang --bench figures
//! ```

mod invocations;
mod loops;
mod starts;

use std::path::{Path, PathBuf};

use orca_lang::build::{Executable, Job, Linking};
use orca_lang::{EmitOptions, Search, check, emit, load};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/figures/programs")
}

/// Compiles an Orca program. Builds are kept in a cache.
fn built(file: &Path, checks: bool, cache: &Path) -> Executable {
    built_with(file, checks, cache, &[])
}

/// Does the same with more flags for the C compiler.
fn built_with(file: &Path, checks: bool, cache: &Path, flags: &[&str]) -> Executable {
    let loaded = load(&[file.to_owned()], &Search::default()).expect("it is read");
    let program = check(&loaded, true).program.expect("it is sound");
    let text = emit(
        &program,
        &loaded.sources,
        &EmitOptions {
            checks,
            ..EmitOptions::default()
        },
    )
    .expect("it becomes C");
    let linking = Linking {
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        ..Linking::default()
    };
    let job = Job::new(cache, &loaded.sources, &text, linking).expect("a job");
    match job.cached() {
        Some(found) => found,
        None => job.build(&text, "").expect("it compiles"),
    }
}

/// Runs a program. Returns the words that it prints.
fn words(program: &Path, machines: u32) -> Vec<String> {
    words_of(antiphon_runner::Program::new(program), machines)
}

fn words_of(child: antiphon_runner::Program, machines: u32) -> Vec<String> {
    let child = child.env("ANTIPHON_ORCA", format!("machines={machines}"));
    let output = child.run().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.stderr.is_empty(), "{}", output.stderr);
    text.split_whitespace().map(str::to_owned).collect()
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some(invocations::IN_RUST) {
        return invocations::print_rust();
    }
    loops::measure();
    invocations::measure();
    starts::measure();
}
