//! Work on many programs at once: checks build, and wait for programs that wait, so more of them than processors go on side by side.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use antiphon_ada::edit::Edited;
use antiphon_ada::{Program, verify};

/// How many checks go on at once. Their runs are pinned to one or two processors and wait for most of their time.
const AT_ONCE: usize = 4;

/// Runs when few disagree.
const MORE_RUNS: usize = 12;

/// Holds a translation to its program's behaviour. Where they differ in a few runs both run more often: what a busy machine brought about once in either comes up in
/// the other, too, where both may do it, and what only one of them does stays a difference.
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

/// Does a piece of work for each item, in order as workers get free.
///
/// # Panics
/// When some work panicked, after all of it was tried.
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
