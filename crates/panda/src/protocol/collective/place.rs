//! Places in a binomial tree, counted from its root: a place's parent is the place without its lowest bit.

use super::{Operation, Part, Shape};
use crate::platform::Rank;

/// The place above; the root has none.
pub fn parent(place: usize) -> Option<usize> {
    (place > 0).then(|| place & (place - 1))
}

/// The places right below, the nearest first, in a tree of `count`.
pub fn children(place: usize, count: usize) -> impl Iterator<Item = usize> {
    let lowest = match place {
        0 => count.next_power_of_two(),
        _ => place & place.wrapping_neg(),
    };
    let bits = std::iter::successors(Some(1), |bit| Some(bit << 1));
    let below = bits.take_while(move |bit| *bit < lowest);
    below
        .map(move |bit| place + bit)
        .filter(move |child| *child < count)
}

impl Part {
    /// One's own place, counted from the root's.
    pub fn place(&self) -> usize {
        let count = self.ranks.len();
        (self.at + count - self.root) % count
    }

    /// Who has a place, counted from the root's.
    pub fn rank_at(&self, place: usize) -> Rank {
        self.ranks[(place + self.root) % self.ranks.len()]
    }

    /// Which operation it is.
    pub fn shape(&self) -> Shape {
        let what = (self.root as u64) << 4 | self.operation.code();
        // Distinct roots and operations give distinct shapes, whatever the order.
        self.order ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Whom this process sends to or hears from, log₂ n of n at most.
    pub fn neighbours(&self) -> Vec<Rank> {
        let (place, count) = (self.place(), self.ranks.len());
        if let Operation::Numbers(numbers) = &self.operation {
            let rounds = numbers.rounds(place, count, false);
            return self.of_rounds(&rounds);
        }
        let near = parent(place).into_iter().chain(children(place, count));
        near.map(|place| self.rank_at(place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn parents_and_children_agree_and_all_hang_together() {
        for count in 1..70 {
            let mut seen = BTreeSet::from([0]);
            for place in 0..count {
                let below: Vec<usize> = children(place, count).collect();
                assert!(below.iter().all(|child| parent(*child) == Some(place)));
                assert!(below.len() <= count.next_power_of_two().trailing_zeros() as usize);
                seen.extend(below);
            }
            assert!(seen.into_iter().eq(0..count));
        }
    }
}
