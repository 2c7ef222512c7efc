//! The places of an object's copies: those that a program asks for, and those that suit its use.
//!
//! After the run-time of the original (Bal and Kaashoek, OOPSLA 1993; Bal et al., TOCS 16(1) 1998).
//! A replicated object costs an ordered broadcast for each write. An owned one costs a call for
//! each access of another machine. Counts are smoothed, and an object moves only where that is
//! clearly cheaper. The two costs are measured when the program starts. All numbers are integers,
//! so machines that see the same accesses decide the same.

use std::collections::BTreeMap;

use antiphon_panda::Rank;
use serde::{Deserialize, Serialize};

/// The placement that a program wants for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Placement {
    /// The run-time counts reads and writes, and moves the object where they are cheapest.
    #[default]
    Adaptive,
    /// A copy on every machine: reads are local, and writes are broadcast in one order.
    Replicated,
    /// One copy, on this machine: other machines call it.
    Owned(Rank),
}

/// The location of an object's copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// On every machine.
    Replicated,
    /// On one machine.
    Owned(Rank),
    /// Nowhere: the only copy was on a machine that is gone.
    Lost(Rank),
}

/// Returns a location as the goal of a move, in words.
pub(crate) fn in_words(to: Location) -> String {
    match to {
        Location::Replicated => "replicated".into(),
        Location::Owned(machine) => format!("to machine {machine}"),
        Location::Lost(machine) => format!("lost with machine {machine}"),
    }
}

/// The costs of operations on this platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// Nanoseconds of an ordered broadcast until its own delivery.
    pub ordered_ns: u64,
    /// Nanoseconds of a call to another machine.
    pub call_ns: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            ordered_ns: 1000,
            call_ns: 1000,
        }
    }
}

/// The accesses of a machine to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Accesses {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

impl Accesses {
    fn all(self) -> u64 {
        self.reads + self.writes
    }
}

/// Accesses before an object's first check, and between later ones.
const FIRST_LOOK: u64 = 4;
const LOOK: u64 = 16;
/// Counts are scaled by this, so that smoothing does not lose small ones.
const PARTS: u64 = 64;

/// The use of an object, as far as the deciding machine knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Since the last check.
    recent: BTreeMap<Rank, Accesses>,
    /// Smoothed, and scaled by [`PARTS`].
    smoothed: BTreeMap<Rank, Accesses>,
    count: u64,
    looks: u64,
}

impl Usage {
    /// Counts accesses of a machine.
    pub fn note(&mut self, machine: Rank, reads: u64, writes: u64) {
        let recent = self.recent.entry(machine).or_default();
        recent.reads += reads;
        recent.writes += writes;
        self.count += reads + writes;
    }

    /// Returns whether there are enough new accesses for a check.
    pub fn is_due(&self) -> bool {
        self.count >= if self.looks == 0 { FIRST_LOOK } else { LOOK }
    }

    /// Adds the recent accesses to the smoothed ones.
    pub fn look(&mut self) {
        let recent = std::mem::take(&mut self.recent);
        let is_first = self.looks == 0;
        let smooth = |old: u64, new: u64| match is_first {
            true => new * PARTS,
            false => (3 * old + new * PARTS) / 4,
        };
        for machine in recent.keys() {
            self.smoothed.entry(*machine).or_default();
        }
        for (machine, old) in &mut self.smoothed {
            let new = recent.get(machine).copied().unwrap_or_default();
            old.reads = smooth(old.reads, new.reads);
            old.writes = smooth(old.writes, new.writes);
        }
        self.count = 0;
        self.looks += 1;
    }

    /// Forgets a machine that is gone.
    pub fn forget(&mut self, machine: Rank) {
        self.recent.remove(&machine);
        self.smoothed.remove(&machine);
    }

    /// Returns where the object should go and why; `None` if it should stay.
    pub fn decide(&self, now: Location, costs: Costs) -> Option<(Location, String)> {
        let of = |machine| self.smoothed.get(&machine).copied().unwrap_or_default();
        let total: u64 = self.smoothed.values().map(|it| it.all()).sum();
        let writes: u64 = self.smoothed.values().map(|it| it.writes).sum();
        // The first of the machines that use it most.
        let best = self.smoothed.keys().copied();
        let best = best.max_by_key(|machine| (of(*machine).all(), u32::MAX - machine))?;
        let replicated = writes * costs.ordered_ns;
        let single = |machine| (total - of(machine).all()) * costs.call_ns;
        let says = |to: String, cost: u64, instead: u64| {
            let (cost, instead) = (cost / PARTS, instead / PARTS);
            format!("{to}: {cost} ns for the last accesses instead of {instead} ns")
        };
        // A single access does not move the object.
        let leads = |machine| of(best).all() > of(machine).all() + PARTS;
        match now {
            Location::Owned(owner) => {
                let cost = single(owner);
                if replicated * 10 < single(best).min(cost) * 9 {
                    let why = says(in_words(Location::Replicated), replicated, cost);
                    Some((Location::Replicated, why))
                } else if best != owner && single(best) * 10 < cost * 8 && leads(owner) {
                    let why = says(in_words(Location::Owned(best)), single(best), cost);
                    Some((Location::Owned(best), why))
                } else {
                    None
                }
            }
            Location::Replicated if single(best) * 10 < replicated * 8 => {
                let why = says(in_words(Location::Owned(best)), single(best), replicated);
                Some((Location::Owned(best), why))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        ordered_ns: 100,
        call_ns: 100,
    };

    fn usage(of: &[(Rank, u64, u64)]) -> Usage {
        let mut usage = Usage::default();
        for (machine, reads, writes) in of {
            usage.note(*machine, *reads, *writes);
        }
        usage.look();
        usage
    }

    fn goes(usage: &Usage, now: Location) -> Option<Location> {
        usage.decide(now, COSTS).map(|(to, _)| to)
    }

    #[test]
    fn an_object_that_many_read_is_replicated() {
        let usage = usage(&[(0, 10, 1), (1, 10, 0), (2, 10, 0)]);
        assert_eq!(goes(&usage, Location::Owned(0)), Some(Location::Replicated));
        assert_eq!(goes(&usage, Location::Replicated), None);
    }

    #[test]
    fn an_object_that_one_machine_writes_is_moved_to_it() {
        let usage = usage(&[(0, 1, 0), (2, 4, 12)]);
        let there = Some(Location::Owned(2));
        assert_eq!(goes(&usage, Location::Replicated), there);
        assert_eq!(goes(&usage, Location::Owned(0)), there);
        assert_eq!(goes(&usage, Location::Owned(2)), None);
    }

    #[test]
    fn an_object_stays_where_both_cost_about_the_same() {
        // 10 calls beside 10 broadcasts, then 11, then 12.
        for reads in [0, 1, 2] {
            let usage = usage(&[(0, 20, 5), (1, 5 + reads, 5)]);
            let (owned, replicated) = (Location::Owned(0), Location::Replicated);
            let at_owner = goes(&usage, owned);
            let at_all = goes(&usage, replicated);
            assert!(
                at_owner.is_none() || at_all.is_none(),
                "{reads}: it would move to and fro"
            );
        }
    }

    #[test]
    fn one_access_more_moves_nothing() {
        let usage = usage(&[(0, 0, 2), (1, 0, 3)]);
        assert_eq!(goes(&usage, Location::Owned(0)), None);
    }

    #[test]
    fn old_accesses_fade() {
        let mut usage = usage(&[(0, 0, 16)]);
        for _ in 0..12 {
            usage.note(1, 0, 16);
            usage.look();
        }
        assert_eq!(goes(&usage, Location::Owned(0)), Some(Location::Owned(1)));
    }
}
