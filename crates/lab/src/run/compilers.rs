//! Compilers inside virtual machines: threads that translate a program during its run.
//!
//! A compiler spends its time once for a piece of the program, not once for an operation, and at a
//! random moment. It is therefore no part of an operation's cost, and is subtracted if the
//! compiler's threads have their own names, as in HotSpot. V8's compilers share threads with its
//! collector, so they are not separable.

use super::tree::{Tree, text};
use antiphon_runner::ProcessStat;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Prefixes of the names of compiler threads. The kernel keeps 15 bytes of a name.
const NAMES: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI Compiler"];

/// Longest wait for a compiler.
const PATIENCE: Duration = Duration::from_millis(50);

/// Compilers of a process tree, with the last known use of each. Virtual machines end idle
/// compilers, so their use is kept here.
#[derive(Default)]
pub(super) struct Compilers {
    used_ns: HashMap<i32, u64>,
}

impl Compilers {
    /// Returns the processor time of all compilers seen so far, ns. The kernel's figure is exact
    /// for a waiting thread, and up to a tick (1 to 10 ms) late for a running one.
    pub(super) fn used_ns(&mut self, tree: &Tree) -> u64 {
        for thread in compilers(tree) {
            self.used_ns.entry(thread).or_default();
        }
        self.known_used_ns()
    }

    /// Returns the compilers' share of `used_ns` since they had used `before_ns`. It is at most 1,
    /// because late figures may exceed the whole.
    pub(super) fn part_since(&mut self, before_ns: u64, tree: &Tree, used_ns: u64) -> f64 {
        let compiling_ns = self.used_ns(tree).saturating_sub(before_ns);
        (compiling_ns as f64 / (used_ns as f64).max(1.0)).min(1.0)
    }

    /// Returns [`used_ns`](Self::used_ns) of known compilers without a search for new ones. It is
    /// quick even for a server with hundreds of threads.
    pub(super) fn known_used_ns(&mut self) -> u64 {
        for (thread, used_ns) in &mut self.used_ns {
            *used_ns = schedstat_ns(*thread).unwrap_or(*used_ns);
        }
        self.used_ns.values().sum()
    }

    /// Checks whether a thread is a known compiler.
    pub(super) fn knows(&self, thread: i32) -> bool {
        self.used_ns.contains_key(&thread)
    }

    /// Waits for idle compilers, up to a limit. A reading is then exact, and their last work does
    /// not fall into the next slice.
    pub(super) fn wait(tree: &Tree) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && compilers(tree).any(|thread| !sleeps(thread)) {
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

fn compilers(tree: &Tree) -> impl Iterator<Item = i32> {
    let is_compiler = |thread: &i32| {
        let name = text(&format!("/proc/{thread}/comm")).unwrap_or_default();
        NAMES.iter().any(|begin| name.starts_with(begin))
    };
    tree.threads().into_iter().filter(is_compiler)
}

/// Returns the first number of `/proc/TID/schedstat`: time on a processor, ns.
fn schedstat_ns(thread: i32) -> Option<u64> {
    let schedstat = text(&format!("/proc/{thread}/schedstat"))?;
    schedstat.split_whitespace().next()?.parse().ok()
}

/// Checks whether a thread waits for something other than a processor. An ended thread counts as
/// idle.
fn sleeps(thread: i32) -> bool {
    let stat = ProcessStat::of(thread as u32);
    stat.map_or(true, |stat| stat.state() == Some('S'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// Lock for one worker at a time. Tests are threads of one process, so that each would see the
    /// other's worker.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Lets the worker end, also when a check fails: else the test would wait for it for ever.
    struct Over<'o>(&'o AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    /// Runs a named thread that works for some processor time, then waits for its end.
    fn with_worker(name: &str, check: impl FnOnce(&Tree)) {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let (worked, over) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let _over = Over(&over);
            let work = || {
                let own = rustix::thread::gettid().as_raw_nonzero().get();
                while schedstat_ns(own).unwrap() < 20_000_000 {
                    std::hint::black_box((0..100_000u64).sum::<u64>());
                }
                worked.store(true, Ordering::Release);
                while !over.load(Ordering::Acquire) {
                    std::thread::park_timeout(Duration::from_millis(5));
                }
            };
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn_scoped(scope, work)
                .unwrap();
            while !worked.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            check(&Tree::of(std::process::id()));
        });
    }

    #[test]
    fn compilers_are_told_by_their_names() {
        let mut compilers = Compilers::default();
        with_worker("C2 CompilerThread0", |tree| {
            assert!(compilers.used_ns(tree) >= 20_000_000);
            Compilers::wait(tree);
        });
        // The use of an ended thread is not forgotten.
        let none = Tree::of(std::process::id());
        assert!(compilers.used_ns(&none) >= 20_000_000);
    }

    #[test]
    fn other_threads_are_none() {
        let mut compilers = Compilers::default();
        with_worker("C2 something", |tree| {
            assert_eq!(compilers.used_ns(tree), 0);
        });
    }
}
