//! Compilers inside virtual machines: threads that translate a program while it runs.
//!
//! What they use of a processor is spent once for a piece of the program, not once for an operation, and where it falls depends on chance. So it
//! is no part of an operation's cost, and is taken off where the virtual machine gives its compilers threads that can be told by
//! their names, as HotSpot does. V8's share threads with its collector, and cannot be told apart.

use super::tree::{Tree, text};
use antiphon_runner::ProcessStat;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How the names of such threads begin. The kernel keeps 15 bytes of a name.
const NAMES: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI Compiler"];

/// How long a compiler is waited for.
const PATIENCE: Duration = Duration::from_millis(50);

/// The compilers of a tree of processes, with what each was seen to have used. Virtual machines end those that have nothing to do, so what
/// one used is kept here.
#[derive(Default)]
pub(super) struct Compilers {
    used_ns: HashMap<i32, u64>,
}

impl Compilers {
    /// Processor time that compilers used so far, ns, as far as they were seen. The kernel tells it exactly of a thread that is
    /// not running, and up to a tick late (1 to 10 ms) of one that is.
    pub(super) fn used_ns(&mut self, tree: &Tree) -> u64 {
        for thread in compilers(tree) {
            self.used_ns.entry(thread).or_default();
        }
        self.known_used_ns()
    }

    /// The part that compilers had of so much processor time, since they had used `before_ns`; at most all of it, also where they are told late.
    pub(super) fn part_since(&mut self, before_ns: u64, tree: &Tree, used_ns: u64) -> f64 {
        let compiling_ns = self.used_ns(tree).saturating_sub(before_ns);
        (compiling_ns as f64 / (used_ns as f64).max(1.0)).min(1.0)
    }

    /// As [`used_ns`](Self::used_ns) of those that were seen before, without looking for others: quick, also where a server has hundreds of threads.
    pub(super) fn known_used_ns(&mut self) -> u64 {
        for (thread, used_ns) in &mut self.used_ns {
            *used_ns = schedstat_ns(*thread).unwrap_or(*used_ns);
        }
        self.used_ns.values().sum()
    }

    /// Whether a thread was seen to be one.
    pub(super) fn knows(&self, thread: i32) -> bool {
        self.used_ns.contains_key(&thread)
    }

    /// Waits until no compiler has anything to do, though not for ever: then a reading is exact, and what they did last is not done
    /// in the time after it.
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

/// The first number of `/proc/TID/schedstat`: time on a processor, ns.
fn schedstat_ns(thread: i32) -> Option<u64> {
    let schedstat = text(&format!("/proc/{thread}/schedstat"))?;
    schedstat.split_whitespace().next()?.parse().ok()
}

/// Whether a thread waits for something else than a processor; one that has ended does nothing either.
fn sleeps(thread: i32) -> bool {
    let stat = ProcessStat::of(thread as u32);
    stat.map_or(true, |stat| stat.state() == Some('S'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    /// One worker at a time: tests are threads of one process, in which each would see the other's worker.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Lets the worker end, also when a check fails: else the test would wait for it for ever.
    struct Over<'o>(&'o AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    /// A thread of this process with a name, that works until it has used some time of a processor, and then waits for its end.
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
        // What one used that has ended is not forgotten.
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
