//! Places in a k-nomial tree, counted from its root and written in base [`RADIX`]. A place's parent
//! has the lowest nonzero digit set to zero.

use std::ops::Range;

use super::{Operation, Part, Shape};
use crate::Rank;

/// Base of the tree: a place has up to three children for each digit. A binomial tree has twice as
/// many hops between root and leaves. If members sleep until woken, a hop takes far longer than one
/// more message of an awake process. With base eight, a process has more than twice as many
/// messages for a third fewer hops.
const RADIX: usize = 4;

/// Returns the weight of a place's lowest nonzero digit. For the root it is at least the number of
/// places.
fn unit(place: usize, count: usize) -> usize {
    let mut units = std::iter::successors(Some(1), |unit| Some(unit * RADIX));
    let is_it = |unit: &usize| match place {
        0 => *unit >= count,
        _ => !place.is_multiple_of(unit * RADIX),
    };
    units.find(is_it).unwrap_or(1)
}

/// Returns the parent of a place; the root has none.
pub fn parent(place: usize) -> Option<usize> {
    let above = RADIX * unit(place, 1);
    (place > 0).then(|| place - place % above)
}

/// Returns the child of a place with a number, if the tree has it. Children are numbered from the
/// nearest on.
pub fn child(place: usize, number: usize) -> usize {
    let (digits, digit) = (number / (RADIX - 1), number % (RADIX - 1) + 1);
    place + digit * RADIX.pow(digits as u32)
}

/// Returns the children of a place, the nearest first, in a tree of `count`.
pub fn children(place: usize, count: usize) -> impl Iterator<Item = usize> {
    let end = subtree(place, count).end;
    let below = (0..).map(move |number| child(place, number));
    below.take_while(move |child| *child < end)
}

/// Returns a place and all below it.
pub fn subtree(place: usize, count: usize) -> Range<usize> {
    place..(place + unit(place, count)).min(count)
}

impl Part {
    /// Returns this process's place, counted from the root's.
    pub fn place(&self) -> usize {
        let count = self.ranks.len();
        (self.at + count - self.root) % count
    }

    /// Returns the rank at a place, counted from the root's.
    pub fn rank_at(&self, place: usize) -> Rank {
        self.ranks[(place + self.root) % self.ranks.len()]
    }

    /// Returns the operation's shape.
    pub fn shape(&self) -> Shape {
        let what = (self.root as u64) << 4 | self.operation.code();
        // Distinct roots and operations give distinct shapes, whatever the order.
        self.order ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the peers that this process sends to or hears from: of n members up to 3 ⌈log₄ n⌉,
    /// or ⌈log₂ n⌉ for arrays.
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

    /// Digits of the places of so many.
    fn digits(count: usize) -> usize {
        (0..).find(|&digits| RADIX.pow(digits) >= count).unwrap() as usize
    }

    /// Hops from a place to the root.
    fn above(place: usize) -> usize {
        std::iter::successors(parent(place), |above| parent(*above)).count()
    }

    #[test]
    fn parents_and_children_agree_and_all_hang_together() {
        for count in 1..270 {
            let mut seen = BTreeSet::from([0]);
            for place in 0..count {
                let below: Vec<usize> = children(place, count).collect();
                assert!(below.iter().all(|child| parent(*child) == Some(place)));
                assert!(below.len() <= (RADIX - 1) * digits(count));
                let all = below.iter().flat_map(|child| subtree(*child, count));
                assert!(std::iter::once(place).chain(all).eq(subtree(place, count)));
                assert!(above(place) <= digits(count));
                seen.extend(below);
            }
            assert!(seen.into_iter().eq(0..count));
        }
    }
}
