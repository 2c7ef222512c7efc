//! Work that mostly waits, such as the end of processes, side by side.

use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// Acts on all items side by side, and returns when all is done. Without a further thread it acts
/// on this one.
pub(crate) fn side_by_side<T: Send>(all: impl IntoIterator<Item = T>, act: impl Fn(T) + Sync) {
    on(Builder::new, all, act);
}

fn on<T: Send>(
    thread: impl Fn() -> Builder,
    all: impl IntoIterator<Item = T>,
    act: impl Fn(T) + Sync,
) {
    // If no thread can start for an item, the item is still ours.
    let all: Vec<_> = all.into_iter().map(|one| Mutex::new(Some(one))).collect();
    std::thread::scope(|scope| {
        for one in &all {
            let act = &act;
            let work = move || {
                let taken = one.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(one) = taken {
                    act(one);
                }
            };
            if thread().spawn_scoped(scope, work).is_err() {
                work();
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread::{ThreadId, current};

    fn who_acted(thread: impl Fn() -> Builder, act: impl Fn() + Sync) -> Vec<(u32, ThreadId)> {
        let acted = Mutex::new(Vec::new());
        on(thread, 0..3, |one| {
            act();
            acted.lock().unwrap().push((one, current().id()));
        });
        acted.into_inner().unwrap()
    }

    #[test]
    fn each_has_a_thread_of_its_own() {
        let all_there = Barrier::new(3);
        let acted = who_acted(Builder::new, || {
            all_there.wait();
        });
        assert_eq!(acted.len(), 3);
        assert!(acted.iter().all(|(_, thread)| *thread != current().id()));
    }

    #[test]
    fn without_threads_one_comes_after_the_other() {
        // No address space holds such a stack.
        let none = || Builder::new().stack_size(1 << 60);
        assert!(none().spawn(|| ()).is_err());
        let own = current().id();
        assert_eq!(who_acted(none, || ()), [0, 1, 2].map(|one| (one, own)));
    }
}
