//! Runs tasks over data that they share, a counter or a cache, protected in several ways (docs/explanation/shared-data.md):
//! `counter_WAY TASKS MS`, `cache_WAY TASKS WRITES_PER_MILLE MS`, `starve_WAY READERS MS`.

mod cache;
mod counter;
mod team;

use std::process::ExitCode;

type Limits = &'static [(u64, u64)];
type Program = fn(&str, &[u64]) -> Result<String, String>;

/// What a program's name begins with, what it is, its arguments with their least and greatest values.
const PROGRAMS: &[(&str, Program, &str, Limits)] = &[
    (
        "counter_",
        counter::run,
        "TASKS MS",
        &[(1, 64), (1, 60_000)],
    ),
    (
        "cache_",
        cache::run,
        "TASKS WRITES_PER_MILLE MS",
        &[(1, 64), (0, 1000), (1, 60_000)],
    ),
    (
        "starve_",
        cache::starve,
        "READERS MS",
        &[(1, 63), (1, 60_000)],
    ),
];

fn run(words: &[String]) -> Result<String, String> {
    let name = words.first().map_or("", String::as_str);
    let known = PROGRAMS
        .iter()
        .find_map(|program| Some((name.strip_prefix(program.0)?, program)));
    let (way, (_, program, usage, limits)) =
        known.ok_or_else(|| format!("there is no program `{name}`"))?;
    if words.len() - 1 != limits.len() {
        return Err(format!("write: {name} {usage}"));
    }
    let arguments = words[1..].iter().zip(*limits).map(|(word, (least, most))| {
        let value = word
            .parse()
            .ok()
            .filter(|value| (least..=most).contains(&value));
        value.ok_or_else(|| format!("`{word}` must be a number from {least} to {most}"))
    });
    program(way, &arguments.collect::<Result<Vec<_>, _>>()?)
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
