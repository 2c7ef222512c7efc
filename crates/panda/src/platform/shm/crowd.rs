//! Crowds: more processes at work than processors for them. In a crowd no process should spin.

use std::sync::atomic::Ordering::Relaxed;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::memory::Slot;

type Processors = [u64; 4];

/// Returns the processors that the calling thread may use; all of them if the system does not say.
pub fn own_processors() -> Processors {
    let Ok(set) = sched_getaffinity(None) else {
        return [u64::MAX; 4];
    };
    // Processors beyond 256 are counted as if they were among the first.
    let mut own = [0; 4];
    for at in (0..CpuSet::MAX_CPU).filter(|&at| set.is_set(at)) {
        own[at / 64 % 4] |= 1 << (at % 64);
    }
    own
}

/// Returns whether more processes are awake than there are processors, among those that share
/// processors with `own`.
///
/// `slots` are those of the members that are there, the caller's included. `woken` is about to be
/// awake.
pub fn is_crowded<'a>(
    own: Processors,
    slots: impl Iterator<Item = &'a Slot>,
    woken: Option<&Slot>,
) -> bool {
    let is_awake = |slot: &&Slot| {
        slot.bell.asleep.load(Relaxed) == 0 || woken.is_some_and(|woken| std::ptr::eq(woken, *slot))
    };
    let mut awake = 0;
    let mut all = own;
    for slot in slots.filter(is_awake) {
        let theirs: Processors = std::array::from_fn(|i| slot.processors[i].load(Relaxed));
        if own.iter().zip(theirs).any(|(a, b)| a & b != 0) {
            awake += 1;
            all.iter_mut().zip(theirs).for_each(|(all, b)| *all |= b);
        }
    }
    awake > all.iter().map(|word| word.count_ones()).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(processors: u64, asleep: u32) -> Slot {
        // SAFETY: a slot consists of atomics, for which all-zero bytes are a value.
        let slot: Slot = unsafe { std::mem::zeroed() };
        slot.processors[0].store(processors, Relaxed);
        slot.bell.asleep.store(asleep, Relaxed);
        slot
    }

    #[test]
    fn a_crowd_is_more_who_are_awake_than_processors() {
        let crowded = |own: u64, slots: &[Slot]| is_crowded([own, 0, 0, 0], slots.iter(), None);
        assert!(!crowded(0b11, &[slot(0b11, 0), slot(0b11, 0)]));
        assert!(crowded(
            0b11,
            &[slot(0b11, 0), slot(0b11, 0), slot(0b11, 0)]
        ));
        assert!(!crowded(
            0b11,
            &[slot(0b11, 0), slot(0b11, 0), slot(0b11, 1)]
        ));
        assert!(
            crowded(0b01, &[slot(0b01, 0), slot(0b01, 0)]),
            "both pinned to one"
        );
        assert!(
            !crowded(0b01, &[slot(0b01, 0), slot(0b10, 0)]),
            "each pinned to its own"
        );
        let of_one = [slot(0b01, 0), slot(0b01, 1)];
        assert!(!crowded(0b01, &of_one));
        let wakes = is_crowded([0b01, 0, 0, 0], of_one.iter(), of_one.last());
        assert!(wakes, "the other is about to be awake");
    }

    #[test]
    fn the_system_says_which_processors_we_may_use() {
        assert_ne!(own_processors(), [0; 4]);
    }
}
