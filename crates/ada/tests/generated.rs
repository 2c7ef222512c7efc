//! Random servers: their translations give the same traces.
//!
//! `ANTIPHON_GENERATED` sets how many (1000 by default); `ANTIPHON_SEED` where they begin. They are compiled many to a program, and
//! the processors share the programs.

mod generator;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use antiphon_ada::edit::{self, Edited};
use antiphon_ada::verdict::Rule;
use antiphon_ada::verify::{self, Schedule, Toolchain};
use antiphon_ada::{Analysis, Program, explain, translate};
use generator::{Rng, program, script, server};

const PER_PROGRAM: u64 = 50;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

/// Generated servers compute between accepts; their callers may wait for that.
fn options() -> translate::Options {
    translate::Options {
        force: true,
        ..translate::Options::default()
    }
}

#[test]
fn translations_of_random_servers_give_equal_traces() {
    let (count, seed) = (
        number("ANTIPHON_GENERATED", 1000),
        number("ANTIPHON_SEED", 1),
    );
    let (next, translated) = (AtomicU64::new(seed), AtomicU64::new(0));
    let work = || {
        loop {
            let first = next.fetch_add(PER_PROGRAM, Ordering::Relaxed);
            if first >= seed + count {
                break;
            }
            let last = (first + PER_PROGRAM).min(seed + count);
            translated.fetch_add(check(first, last), Ordering::Relaxed);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|s| (0..workers).for_each(|_| drop(s.spawn(work))));
    let translated = translated.into_inner();
    assert!(
        translated * 10 >= count * 9,
        "{translated} of {count} servers translated"
    );
    eprintln!("{translated} of {count} servers translated, with equal traces");
}

/// Translates the servers of the seeds from `first` to before `last` as one program and compares its traces; how many were translated.
fn check(first: u64, last: u64) -> u64 {
    let made: Vec<_> = (first..last)
        .map(|s| {
            let mut rng = Rng::new(s);
            let server = server(&mut rng);
            let calls = script(&server, &mut rng);
            (server, calls)
        })
        .collect();
    let text = program("Generated", &made);
    let given = Program::parse([(PathBuf::from("generated.adb"), text.into_bytes())]).unwrap();
    let analysis = Analysis::of(&given, options());
    let translation = translate::translate(&analysis);
    // The one thing a generated server may do that is refused: to leave an accept in its middle, under a handler, with more to do.
    let refused = analysis
        .tasks
        .iter()
        .filter(|t| t.task.name == "Server")
        .flat_map(|t| &t.verdict.reasons)
        .find(|r| r.rule != Rule::Handler);
    assert!(
        refused.is_none(),
        "seeds from {first}:\n{}",
        explain::text(&analysis)
    );
    if Toolchain::find().is_some() {
        compare(&given, &translation.files, first);
    }
    translation.replaced.len() as u64
}

/// Runs both programs; leaves them in the system's scratch folder if they differ.
fn compare(given: &Program, edited: &[Edited], first: u64) {
    let options = verify::Options {
        runs: 1,
        time_limit: Duration::from_secs(60),
        switches: vec!["-gnatws".into()],
        schedules: vec![Schedule::OneProcessor, Schedule::TwoProcessors],
        ..verify::Options::default()
    };
    let report = verify::verify(given, edited, &options).unwrap();
    if !report.agrees() {
        let folder = std::env::temp_dir().join(format!("antiphon-generated-{first}"));
        edit::write_to(given, edited, &folder.join("translation")).unwrap();
        edit::write_to(given, &[], &folder.join("original")).unwrap();
        panic!(
            "seeds from {first}, see {}:\n{}",
            folder.display(),
            report.text()
        );
    }
}
