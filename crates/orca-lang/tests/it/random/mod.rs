//! Random programs print what a small interpreter says, and end as it says.
//!
//! The programs are of the sequential subset and of objects: one process runs at a time. Each runs
//! on one machine and on two. `ORCA_RANDOM` is the number of programs, and `ORCA_SEED` the first
//! seed. A program that fails is made small, and printed with its seed.

mod constants;
mod generator;
mod interpreter;
mod pieces;
mod types;
mod value;

use std::path::Path;
use std::time::Duration;

use antiphon_runner::{End, Program as Child};
use orca_lang::build::Executable;
use orca_lang::program::Program;
use orca_lang::{Search, Severity, check, load};

use crate::programs::{ABORTED, built};
use crate::support::Units;
use crate::wild::Draw;
use interpreter::{Interpreter, Stop};
use pieces::Sample;

/// Programs in a run of all tests.
const PROGRAMS: u64 = 8;

/// The steps of the interpreter after which a case is left out.
const FUEL: u64 = 300_000;

const LIMIT: Duration = Duration::from_secs(20);

fn number(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The output of a case, and the reason for an early end.
struct Expected {
    case: u32,
    output: Vec<u8>,
    stop: Option<Stop>,
}

/// Returns what the interpreter says of each case that ends in time.
fn expected(program: &Program, sources: &orca_lang::Sources, cases: u32) -> Vec<Expected> {
    let mut found = Vec::new();
    for case in 0..cases {
        let name = format!("case{case}");
        let routine = program.routines.iter().position(|it| it.name == name);
        let Some(routine) = routine else { continue };
        let mut interpreter = Interpreter::new(program, sources, FUEL);
        let stop = interpreter.run(orca_lang::program::RoutineId(routine as u32));
        let output = interpreter.output;
        match stop.err() {
            Some(Stop::TooLong) => {}
            stop => found.push(Expected { case, output, stop }),
        }
    }
    found
}

/// Runs cases. Returns a difference from what they must print and how they must end.
fn difference(
    executable: &Executable,
    cases: u32,
    output: &[u8],
    stop: Option<&Stop>,
    machines: u32,
) -> Option<String> {
    let child = Child::new(&executable.path)
        .arg(cases.to_string())
        .env("ANTIPHON_ORCA", format!("machines={machines}"))
        .input(&b""[..])
        .time_limit(LIMIT);
    let ended = child.run().expect("it starts");
    let stderr = ended.stderr;
    let ends_well = match stop {
        None => ended.end == End::Exited(0) && stderr.is_empty(),
        Some(Stop::Error(text, file, line)) => {
            let place = format!("file \"{file}\", line {line}: {text}");
            ended.end == End::Exited(ABORTED) && stderr.contains(&place)
        }
        Some(Stop::Blocked) => stderr.contains("deadlock"),
        Some(Stop::TooLong) => true,
    };
    let printed = match stop {
        // A Write writes its values in turn, and one of them may fail.
        Some(_) => ended.stdout.starts_with(output),
        None => ended.stdout == output,
    };
    if ends_well && printed {
        return None;
    }
    let mut text = format!("cases {cases:b} on {machines} machines: ");
    if !ends_well {
        text += &format!("it {}, not as {stop:?}: {stderr}\n", ended.end);
    }
    if !printed {
        text += &first_difference(&ended.stdout, output);
    }
    Some(text)
}

fn first_difference(is: &[u8], wanted: &[u8]) -> String {
    let same = is.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(60);
    let part =
        |text: &[u8]| String::from_utf8_lossy(&text[from..text.len().min(same + 40)]).into_owned();
    format!(
        "at byte {same} it prints\n  {:?}, not\n  {:?}\n",
        part(is),
        part(wanted)
    )
}

/// Why a program fails. The first word says how, and stays the same while it is made smaller.
fn failure(sample: &Sample, flags: &[&str]) -> Option<(&'static str, String)> {
    let texts = sample.texts();
    let files: Vec<(&str, &str)> = texts.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    let units = Units::new(&files);
    let main = units.path("main.imp");
    let loaded = load(std::slice::from_ref(&main), &Search::default()).expect("the files are read");
    let checked = check(&loaded, true);
    let Some(program) = checked.program else {
        let all = checked.diagnostics.iter();
        let errors = all.filter(|it| it.severity == Severity::Error);
        let errors: Vec<String> = errors.map(|it| it.text(&loaded.sources)).collect();
        return Some(("refused", errors.join("\n")));
    };
    let expected = expected(&program, &loaded.sources, sample.cases);
    let executable = match built(&main, flags) {
        Ok(executable) => executable,
        Err(message) => return Some(("not compiled", message)),
    };
    let fails = run(&executable, &expected);
    // Thousands of programs would fill the disk.
    let _ = std::fs::remove_dir_all(executable.path.parent().unwrap_or(Path::new("/nowhere")));
    fails.map(|text| ("different", text))
}

fn run(executable: &Executable, expected: &[Expected]) -> Option<String> {
    let (good, bad): (Vec<_>, Vec<_>) = expected.iter().partition(|it| it.stop.is_none());
    let cases = good.iter().map(|it| 1 << it.case).sum();
    let mut output = Vec::new();
    for case in good {
        output.extend(&case.output);
        output.push(b'\n');
    }
    [1, 2].into_iter().find_map(|machines| {
        difference(executable, cases, &output, None, machines).or_else(|| {
            bad.iter().find_map(|it| {
                let stop = it.stop.as_ref();
                difference(executable, 1 << it.case, &it.output, stop, machines)
            })
        })
    })
}

#[test]
fn programs_print_what_the_interpreter_says() {
    let first = number("ORCA_SEED", 1);
    for seed in first..first + number("ORCA_RANDOM", PROGRAMS) {
        // Most are compiled fast, and some as users do.
        let flags: &[&str] = if seed % 8 == 0 { &[] } else { &["-O1"] };
        let mut draw = Draw::new(seed);
        let sample = generator::program(&mut draw);
        let Some((how, why)) = failure(&sample, flags) else {
            continue;
        };
        assert!(how != "refused", "seed {seed}: {how}: {why}");
        let mut smaller = sample;
        smaller.shrink(&mut |it| failure(it, flags).is_some_and(|(other, _)| other == how));
        let texts = smaller.texts();
        let text: String = texts
            .iter()
            .map(|(name, text)| format!("== {name}\n{text}"))
            .collect();
        let least = failure(&smaller, flags).map_or(why, |(_, why)| why);
        panic!("seed {seed}: {how}: {least}\n{text}");
    }
}
