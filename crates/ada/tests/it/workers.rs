//! Work on many programs at once. Checks build programs and wait for them, so more checks than
//! processors run at once.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_ada::edit::Edited;
use antiphon_ada::{Program, verify};

/// Number of checks at once. Their runs are pinned to one or two processors and mostly wait.
const AT_ONCE: usize = 4;

/// Number of runs after a difference in a few.
const MORE_RUNS: usize = 12;

/// Checks that a translation behaves like its program. If they differ in a few runs, both run more
/// often. A rare effect of a busy machine then occurs in both, if both allow it. If only one of
/// them shows it, the difference remains.
///
/// # Panics
/// They differ, or cannot be built.
pub fn check_agreement(name: &Path, program: &Program, edited: &[Edited], few: verify::Options) {
    let compare = |options: &verify::Options| {
        let report = verify::verify(program, edited, options);
        report.unwrap_or_else(|error| panic!("{}: {error}", name.display()))
    };
    if compare(&few).agrees() {
        return;
    }
    let report = compare(&verify::Options {
        runs: MORE_RUNS,
        ..few
    });
    assert!(report.agrees(), "{}:\n{}", name.display(), report.text());
}

/// Runs a piece of work for each item, in order as workers become free.
///
/// # Panics
/// If some work panicked, after all items were tried.
pub fn on_each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failures = 0;
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(item)));
            failures += usize::from(result.is_err());
        }
        failures
    };
    let failures: usize = std::thread::scope(|s| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| s.spawn(worker)).collect();
        workers.into_iter().filter_map(|w| w.join().ok()).sum()
    });
    assert_eq!(failures, 0, "of {} items failed; see above", items.len());
}
