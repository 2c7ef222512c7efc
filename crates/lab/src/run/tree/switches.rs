//! Context switches of a tree's threads.

use super::{Tree, field, text};
use crate::record::ContextSwitches;
use std::collections::HashMap;
use std::path::Path;

/// Context switches of threads so far, thread by thread.
#[derive(Debug)]
pub(in crate::run) struct SwitchesSoFar(HashMap<i32, ContextSwitches>);

impl Tree {
    /// Reads the switches of all live threads but the excluded ones; `None` if an existing one
    /// cannot be read.
    pub(in crate::run) fn switches(&self, without: impl Fn(i32) -> bool) -> Option<SwitchesSoFar> {
        let threads = self.threads().into_iter().filter(|id| !without(*id));
        let each = threads.filter_map(|id| match of_thread(id) {
            None if !is_there(id) => None,
            reported => Some(reported.map(|reported| (id, reported))),
        });
        Some(SwitchesSoFar(each.collect::<Option<_>>()?))
    }
}

impl SwitchesSoFar {
    /// Returns the switches since an earlier look; `None` if a thread has ended meanwhile, and its
    /// count with it.
    ///
    /// Threads that began and ended between both looks are not seen.
    pub(in crate::run) fn since(&self, earlier: &SwitchesSoFar) -> Option<ContextSwitches> {
        let ended = earlier.0.keys().any(|id| !self.0.contains_key(id));
        let mut since = ContextSwitches::default();
        for (id, now) in &self.0 {
            // One that is new began with none.
            let before = earlier.0.get(id).copied().unwrap_or_default();
            since.voluntary += now.voluntary.saturating_sub(before.voluntary);
            since.involuntary += now.involuntary.saturating_sub(before.involuntary);
        }
        (!ended).then_some(since)
    }
}

fn status_of(thread: i32) -> String {
    format!("/proc/{thread}/status")
}

fn is_there(thread: i32) -> bool {
    Path::new(&status_of(thread)).exists()
}

fn of_thread(thread: i32) -> Option<ContextSwitches> {
    let status = text(&status_of(thread))?;
    Some(ContextSwitches {
        voluntary: field(&status, "voluntary_ctxt_switches:")?,
        involuntary: field(&status, "nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn so_far<const N: usize>(threads: [(i32, u64, u64); N]) -> SwitchesSoFar {
        let of = |(id, voluntary, involuntary)| {
            let of = ContextSwitches {
                voluntary,
                involuntary,
            };
            (id, of)
        };
        SwitchesSoFar(threads.map(of).into())
    }

    #[test]
    fn threads_that_are_new_count_from_nothing_and_one_that_ended_takes_its_own_along() {
        let before = so_far([(1, 100, 10), (2, 5, 0)]);
        let after = so_far([(1, 130, 11), (2, 5, 0), (3, 4, 2)]);
        let since = after.since(&before).unwrap();
        assert_eq!((since.voluntary, since.involuntary), (34, 3));
        assert_eq!(so_far([(1, 130, 11)]).since(&before), None);
    }

    #[test]
    fn a_thread_that_sleeps_gives_its_processor_up() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let voluntary = || of_thread(own).unwrap().voluntary;
        let before = voluntary();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_micros(100));
        }
        // One that is preempted on its way to sleep, for longer than it would have slept, does not.
        assert!(voluntary() >= before + 10);
        let tree = Tree::of(std::process::id());
        let has = |without: fn(i32) -> bool| tree.switches(without).unwrap().0.contains_key(&own);
        assert!(has(|_| false) && !has(|_| true));
        assert!(of_thread(i32::MAX).is_none() && !is_there(i32::MAX));
    }
}
