//! A full fence of which one side costs nothing: an *asymmetric* fence. Who passes it often is kept from reordering by the compiler alone; who comes seldom has the kernel put a
//! fence into each thread of this process that runs, whatever it is amid (`membarrier(2)`, private and expedited).
//!
//! As with two fences of the usual kind: of one that stores to `a` and then looks at `b`, and another that stores to `b` and then looks at `a`, with these fences in between, one at
//! least sees what the other stored.

use std::sync::OnceLock;
use std::sync::atomic::{Ordering, fence};

use rustix::thread::{MembarrierCommand, membarrier};

/// Whether the kernel does that for this process: Linux does from 4.14 on, unless a sandbox forbids it. It is asked for once, which takes microseconds while the process has one thread, and some milliseconds
/// later: so whoever begins a session asks first of all.
pub fn is_asymmetric() -> bool {
    static IS_ASYMMETRIC: OnceLock<bool> = OnceLock::new();
    let register = || membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
    // An interpreter has no kernel whose fences it could follow.
    *IS_ASYMMETRIC.get_or_init(|| !cfg!(miri) && register())
}

/// The side of who comes seldom. The other one may be `compiler_fence` if [`is_asymmetric`], and has to be a fence if not.
pub fn heavy() {
    fence(Ordering::SeqCst);
    if is_asymmetric() {
        let fenced = membarrier(MembarrierCommand::PrivateExpedited);
        fenced.expect("the kernel fences the threads of a process that has asked for it");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, compiler_fence};

    use super::*;

    /// An interpreter takes its time.
    const ROUNDS: u32 = if cfg!(miri) { 20 } else { 20_000 };

    fn light() {
        match is_asymmetric() {
            true => compiler_fence(Ordering::SeqCst),
            false => fence(Ordering::SeqCst),
        }
    }

    /// Comes to a round at the same moment as the other.
    fn meet(round: u32, own: &AtomicU32, other: &AtomicU32) {
        own.store(round, Ordering::Release);
        while other.load(Ordering::Acquire) < round {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn of_two_that_store_and_look_one_sees_the_other() {
        let [a, b, at_a, at_b] = [(); 4].map(|()| AtomicU32::new(0));
        let both_blind = AtomicU32::new(0);
        // What each saw, told when both have looked.
        let (saw_b, saw_a, told) = (AtomicU32::new(0), AtomicU32::new(0), Barrier::new(2));
        let seldom = || {
            for round in 1..=ROUNDS {
                meet(round, &at_b, &at_a);
                b.store(round, Ordering::Relaxed);
                heavy();
                saw_a.store(a.load(Ordering::Relaxed), Ordering::Relaxed);
                told.wait();
                if saw_a.load(Ordering::Relaxed) < round && saw_b.load(Ordering::Relaxed) < round {
                    both_blind.fetch_add(1, Ordering::Relaxed);
                }
                told.wait();
            }
        };
        let often = || {
            for round in 1..=ROUNDS {
                meet(round, &at_a, &at_b);
                a.store(round, Ordering::Release);
                light();
                saw_b.store(b.load(Ordering::Relaxed), Ordering::Relaxed);
                told.wait();
                told.wait();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(seldom);
            scope.spawn(often);
        });
        assert_eq!(both_blind.into_inner(), 0);
    }
}
