//! Random servers: their translations give the same traces.
//!
//! `ANTIPHON_GENERATED` sets how many (100 by default); `ANTIPHON_SEED` where they begin. They are compiled many to a program.

mod generator;

use std::path::PathBuf;
use std::time::Duration;

use antiphon_ada::verdict::Rule;
use antiphon_ada::verify::{self, Schedule, Toolchain};
use antiphon_ada::{Analysis, Program, explain, translate};
use generator::{Call, Rng, Server, caller, calling_program, program, script, server};

const PER_PROGRAM: u64 = 50;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

fn servers(seeds: std::ops::Range<u64>) -> Vec<(Server, Vec<Call>)> {
    seeds
        .map(|s| {
            let mut rng = Rng::new(s);
            let server = server(&mut rng);
            let calls = script(&server, &mut rng);
            (server, calls)
        })
        .collect()
}

fn parsed(made: &[(Server, Vec<Call>)]) -> Program {
    let text = program("Generated", made);
    Program::parse([(PathBuf::from("generated.adb"), text.into_bytes())]).unwrap()
}

/// Builds and runs both, if GNAT is there; a difference leaves both programs behind.
fn check(given: &Program, translation: &translate::Translation, first: u64) {
    if Toolchain::find().is_none() {
        return;
    }
    let options = verify::Options {
        runs: 1,
        time_limit: Duration::from_secs(20),
        switches: vec!["-gnatws".into()],
        schedules: vec![Schedule::OneProcessor, Schedule::TwoProcessors],
        ..verify::Options::default()
    };
    let report = verify::verify(given, &translation.files, &options).unwrap();
    if !report.agrees() {
        let folder = std::env::temp_dir().join("antiphon-generated");
        antiphon_ada::edit::write_to(given, &translation.files, &folder).unwrap();
        antiphon_ada::edit::write_to(given, &[], &folder.join("original")).unwrap();
        panic!(
            "seeds from {first}, see {}:\n{}",
            folder.display(),
            report.text()
        );
    }
}

/// Generated servers compute between accepts; their callers may wait for that.
fn options() -> translate::Options {
    translate::Options {
        force: true,
        ..translate::Options::default()
    }
}

/// The same servers as tasks, with their rendezvous through protected objects.
#[test]
fn random_servers_in_the_general_scheme_give_equal_traces() {
    let (count, seed) = (
        number("ANTIPHON_GENERATED", 100) / 2,
        number("ANTIPHON_SEED", 1),
    );
    let (mut total, mut translated) = (0, 0);
    for scheme in [translate::Scheme::General, translate::Scheme::Optimised] {
        for first in (seed..seed + count).step_by(PER_PROGRAM as usize) {
            let made = servers(first..(first + PER_PROGRAM).min(seed + count));
            let given = parsed(&made);
            let options = translate::Options {
                scheme,
                ..translate::Options::default()
            };
            let analysis = Analysis::of(&given, options);
            let translation = translate::translate(&analysis);
            translated += translation.replaced.len();
            total += made.len();
            check(&given, &translation, first);
        }
    }
    assert!(
        translated * 10 >= total * 9,
        "{translated} of {total} servers translated"
    );
}

#[test]
fn translations_of_random_servers_give_equal_traces() {
    let (count, seed) = (
        number("ANTIPHON_GENERATED", 100),
        number("ANTIPHON_SEED", 1),
    );
    let (mut total, mut translated) = (0, 0);
    for first in (seed..seed + count).step_by(PER_PROGRAM as usize) {
        let made = servers(first..(first + PER_PROGRAM).min(seed + count));
        total += made.len();
        let given = parsed(&made);
        let analysis = Analysis::of(&given, options());
        let translation = translate::translate(&analysis);
        translated += translation.replaced.len();
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
        check(&given, &translation, first);
    }
    assert!(
        translated * 10 >= total * 9,
        "{translated} of {total} servers translated"
    );
    eprintln!("{translated} of {total} servers translated, with equal traces");
}

#[test]
fn translations_of_random_calling_servers_give_equal_traces() {
    let (count, seed) = (
        number("ANTIPHON_GENERATED", 100) / 2,
        number("ANTIPHON_SEED", 1),
    );
    for first in (seed..seed + count).step_by(PER_PROGRAM as usize) {
        let seeds = first..(first + PER_PROGRAM).min(seed + count);
        let made: Vec<Server> = seeds.map(|s| caller(&mut Rng::new(s))).collect();
        let text = calling_program("Generated", &made);
        let given = Program::parse([(PathBuf::from("generated.adb"), text.into_bytes())]).unwrap();
        let analysis = Analysis::of(&given, options());
        let translation = translate::translate(&analysis);
        assert_eq!(
            translation.replaced,
            vec!["Server"; made.len()],
            "{}",
            explain::text(&analysis)
        );
        if Toolchain::find().is_some() {
            check(&given, &translation, first);
        }
    }
}
