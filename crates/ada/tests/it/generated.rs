//! Random servers: their translations produce the same traces.
//!
//! `ANTIPHON_GENERATED` sets their number (60 by default; `make soak` uses more), `ANTIPHON_SEED`
//! the first seed. Many are compiled into one program, and the processors share the programs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::number;
use crate::generator::{Rng, caller, calling_program, program, script, server};
use antiphon_ada::edit;
use antiphon_ada::translate::{Scheme, Selector};
use antiphon_ada::verdict::Rule;
use antiphon_ada::verify::{self, Schedule, Toolchain};
use antiphon_ada::{Analysis, Program, explain, translate};

const PER_PROGRAM: u64 = 30;

/// Returns how many servers are drawn.
fn count() -> u64 {
    number("ANTIPHON_GENERATED", 60)
}

/// Runs a piece of work for the seeds of each program, on all processors. Returns the sum of the
/// results.
fn all_programs(seed: u64, count: u64, work: impl Fn(std::ops::Range<u64>) -> u64 + Sync) -> u64 {
    let (next, sum) = (AtomicU64::new(seed), AtomicU64::new(0));
    let worker = || {
        loop {
            let first = next.fetch_add(PER_PROGRAM, Ordering::Relaxed);
            if first >= seed + count {
                break;
            }
            let seeds = first..(first + PER_PROGRAM).min(seed + count);
            sum.fetch_add(work(seeds), Ordering::Relaxed);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|s| (0..workers).for_each(|_| drop(s.spawn(worker))));
    sum.into_inner()
}

/// Returns a program of the seeds' servers, each with its client.
fn parsed(seeds: std::ops::Range<u64>) -> Program {
    let made: Vec<_> = seeds
        .map(|s| {
            let mut rng = Rng::new(s);
            let server = server(&mut rng);
            let calls = script(&server, &mut rng);
            (server, calls)
        })
        .collect();
    let text = program("Generated", &made);
    Program::parse([(PathBuf::from("generated.adb"), text.into_bytes())]).unwrap()
}

/// Builds and runs both, if GNAT is installed. If they differ, both programs are kept.
fn check(given: &Program, translation: &translate::Translation, first: u64) {
    if Toolchain::find().is_none() {
        return;
    }
    let options = verify::Options {
        runs: 1,
        time_limit: Duration::from_secs(60),
        switches: vec!["-gnatws".into()],
        schedules: vec![Schedule::OneProcessor, Schedule::TwoProcessors],
        ..verify::Options::default()
    };
    let report = verify::verify(given, &translation.files, &options).unwrap();
    if !report.agrees() {
        let folder = std::env::temp_dir().join(format!("antiphon-generated-{first}"));
        edit::write_to(given, &translation.files, &folder.join("translation")).unwrap();
        edit::write_to(given, &[], &folder.join("original")).unwrap();
        panic!(
            "seeds from {first}, see {}:\n{}",
            folder.display(),
            report.text()
        );
    }
}

/// Generated servers compute between accepts, and their callers may wait for that.
fn options() -> translate::Options {
    translate::Options {
        force: true,
        ..translate::Options::default()
    }
}

/// The same servers as tasks with rendezvous through protected objects: a tenth of the number under
/// each of the two schemes.
#[test]
fn random_servers_in_the_general_scheme_give_equal_traces() {
    let count = count().div_ceil(10);
    let seed = number("ANTIPHON_SEED", 1);
    let schemes = [
        (Scheme::General, Selector::Object),
        (Scheme::General, Selector::None),
        (Scheme::Optimised, Selector::Object),
    ];
    for (scheme, selector) in schemes {
        let translated = all_programs(seed, count, |seeds| {
            let first = seeds.start;
            let given = parsed(seeds);
            let options = translate::Options {
                scheme,
                selector,
                ..translate::Options::default()
            };
            let analysis = Analysis::of(&given, options);
            let translation = translate::translate(&analysis);
            check(&given, &translation, first);
            translation.replaced.len() as u64
        });
        assert!(
            translated * 10 >= count * 9,
            "{translated} of {count} servers translated"
        );
    }
}

#[test]
fn translations_of_random_servers_give_equal_traces() {
    let count = count();
    let seed = number("ANTIPHON_SEED", 1);
    let translated = all_programs(seed, count, |seeds| {
        let first = seeds.start;
        let given = parsed(seeds);
        let analysis = Analysis::of(&given, options());
        let translation = translate::translate(&analysis);
        // Generated servers have only one construct that is refused: a jump out of the middle of an
        // accept, under a handler, with more code to run.
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
        translation.replaced.len() as u64
    });
    assert!(
        translated * 10 >= count * 9,
        "{translated} of {count} servers translated"
    );
    eprintln!("{translated} of {count} servers translated, with equal traces");
}

/// Servers that call: a tenth of the number.
#[test]
fn translations_of_random_calling_servers_give_equal_traces() {
    let count = count().div_ceil(10);
    let seed = number("ANTIPHON_SEED", 1);
    all_programs(seed, count, |seeds| {
        let first = seeds.start;
        let made: Vec<_> = seeds.map(|s| caller(&mut Rng::new(s))).collect();
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
        check(&given, &translation, first);
        made.len() as u64
    });
}
