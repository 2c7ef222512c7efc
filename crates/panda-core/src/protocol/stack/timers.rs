//! The deadlines of peers' links and of groups.
//!
//! Each answered message moves a deadline twice, mostly of the one busy peer. So the earliest
//! deadline is stored apart, where it moves without a search.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::protocol::Time;

/// At most one deadline for each key, in order.
#[derive(Debug, Default)]
pub struct Timers<K> {
    first: Option<(Time, K)>,
    /// The others, all later than the first.
    rest: BTreeSet<(Time, K)>,
    rest_of: FxHashMap<K, Time>,
}

impl<K: Copy + Ord + Hash> Timers<K> {
    /// Returns the earliest.
    #[inline]
    pub fn first(&self) -> Option<(Time, K)> {
        self.first
    }

    /// Sets or clears a key's deadline.
    #[inline]
    pub fn set(&mut self, key: K, at: Option<Time>) {
        if self.first.is_some_and(|(_, first)| first == key) {
            self.first = at.map(|at| (at, key));
        } else {
            self.set_other(key, at);
        }
        let next = self.rest.first().copied();
        if let Some(next) = next.filter(|next| self.first.is_none_or(|first| *next < first)) {
            self.bring_forward(next);
        }
    }

    fn set_other(&mut self, key: K, at: Option<Time>) {
        if self.rest_of.get(&key).copied() == at {
            return;
        }
        if let Some(before) = self.rest_of.remove(&key) {
            self.rest.remove(&(before, key));
        }
        if let Some(at) = at {
            self.rest.insert((at, key));
            self.rest_of.insert(key, at);
        }
    }

    /// Makes another one the earliest.
    fn bring_forward(&mut self, next: (Time, K)) {
        self.rest.remove(&next);
        self.rest_of.remove(&next.1);
        if let Some((at, key)) = self.first.replace(next) {
            self.set_other(key, Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_however_they_move(
            moves in proptest::collection::vec((0..5_u32, proptest::option::of(0..20_u64)), 1..60),
        ) {
            let (mut timers, mut model) = (Timers::<u32>::default(), BTreeMap::new());
            for (rank, at) in moves {
                let at = at.map(Duration::from_millis);
                timers.set(rank, at);
                match at {
                    Some(at) => model.insert(rank, at),
                    None => model.remove(&rank),
                };
                let earliest = model.iter().map(|(rank, at)| (*at, *rank)).min();
                prop_assert_eq!(timers.first(), earliest);
            }
            // All come, in order.
            while let Some((at, rank)) = timers.first() {
                prop_assert_eq!(model.remove(&rank), Some(at));
                timers.set(rank, None);
            }
            prop_assert!(model.is_empty());
        }
    }
}
