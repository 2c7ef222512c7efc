//! The general scheme in both forms: the texts of translations, and that they behave as the
//! original does.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use antiphon_ada::translate::{self, Scheme, Selector};
use antiphon_ada::verdict::Class;
use antiphon_ada::verify::{self, Schedule, Toolchain};
use antiphon_ada::{Analysis, Program, explain};

use crate::common::{check_golden, folder, programs, read};
use crate::workers;

const SCHEMES: [((Scheme, Selector), &str); 3] = [
    ((Scheme::General, Selector::Object), "general"),
    ((Scheme::General, Selector::None), "polling"),
    ((Scheme::Optimised, Selector::Object), "optimised"),
];

fn analysed(program: &Program, (scheme, selector): (Scheme, Selector)) -> Analysis<'_> {
    let options = translate::Options {
        scheme,
        selector,
        ..translate::Options::default()
    };
    Analysis::of(program, options)
}

fn check(name: &str, found: &str) {
    check_golden(&folder("golden/general").join(name), found);
}

#[test]
fn verdicts_and_translations_read_as_they_should() {
    for path in programs("general") {
        let program = read(&path);
        let stem = path.file_stem().unwrap().to_string_lossy();
        for (scheme, name) in SCHEMES {
            let analysis = analysed(&program, scheme);
            check(
                &format!("{stem}.{name}.verdicts"),
                &explain::text(&analysis),
            );
            let diff = translate::translate(&analysis).diff(&program);
            check(&format!("{stem}.{name}.diff"), &diff);
        }
    }
}

fn check_behaviour(path: &Path, scheme: (Scheme, Selector), name: &str) -> usize {
    let program = read(path);
    let translation = translate::translate(&analysed(&program, scheme));
    // Without permission to set priorities, GNAT's run-time refuses every protected object under
    // Ceiling_Locking.
    let needs_right = path
        .file_name()
        .is_some_and(|n| n.to_string_lossy().starts_with("ceilings"));
    if needs_right && Schedule::Fifo.unavailable().is_some() {
        return 0;
    }
    if translation.replaced.is_empty() {
        return 0;
    }
    let options = verify::Options {
        runs: 1,
        time_limit: Duration::from_secs(5),
        schedules: vec![
            Schedule::OneProcessor,
            Schedule::TwoProcessors,
            Schedule::DetectBlocking,
        ],
        ..verify::Options::default()
    };
    workers::check_agreement(&path.join(name), &program, &translation.files, options);
    translation.replaced.len()
}

#[test]
fn translations_compile_and_behave_the_same() {
    if Toolchain::find().is_none() {
        eprintln!("GNAT is not installed: nothing can be built");
        return;
    }
    let paths = programs("general");
    let pairs: Vec<_> = paths
        .iter()
        .flat_map(|p| SCHEMES.map(|(scheme, name)| (p, scheme, name)))
        .collect();
    workers::on_each(&pairs, |(path, scheme, name)| {
        check_behaviour(path, *scheme, name);
    });
}

/// This scheme also translates the programs of the other one, as far as it can translate their
/// tasks.
#[test]
fn servers_can_stay_tasks() {
    if Toolchain::find().is_none() {
        return;
    }
    let translated = AtomicUsize::new(0);
    workers::on_each(&programs("programs"), |path| {
        let scheme = (Scheme::Optimised, Selector::Object);
        translated.fetch_add(
            check_behaviour(path, scheme, "optimised"),
            Ordering::Relaxed,
        );
    });
    let translated = translated.into_inner();
    assert!(translated >= 10, "{translated} tasks were translated");
}

#[test]
fn every_refusal_has_a_reason_and_a_mend() {
    let program = read(&folder("general").join("refused.adb"));
    for (scheme, _) in SCHEMES {
        let analysis = analysed(&program, scheme);
        for report in &analysis.tasks {
            assert_eq!(report.verdict.class, Class::Kept, "{}", report.task.name);
            assert!(!report.verdict.reasons.is_empty(), "{}", report.task.name);
            assert!(report.verdict.reasons.iter().all(|r| !r.help.is_empty()));
        }
        assert_eq!(translate::translate(&analysis).files, []);
    }
}
