//! How often the threads of a tree gave up a processor.

use super::{Tree, field, text};
use crate::record::ContextSwitches;
use std::collections::HashMap;

/// Context switches of threads so far, thread by thread.
#[derive(Debug, Default)]
pub(in crate::run) struct SwitchesSoFar(HashMap<i32, ContextSwitches>);

impl Tree {
    /// Those of all threads that live now.
    pub(in crate::run) fn switches(&self) -> SwitchesSoFar {
        let threads = self.threads().into_iter();
        SwitchesSoFar(
            threads
                .filter_map(|id| Some((id, of_thread(id)?)))
                .collect(),
        )
    }
}

impl SwitchesSoFar {
    /// Those since an earlier look. `None` where a thread has ended meanwhile, which took along what it had since.
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

fn of_thread(id: i32) -> Option<ContextSwitches> {
    let status = text(&format!("/proc/{id}/status"))?;
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
        assert!(voluntary() >= before + 20);
        let all = Tree::of(std::process::id()).switches();
        assert!(all.0.contains_key(&own));
        assert!(of_thread(i32::MAX).is_none());
    }
}
