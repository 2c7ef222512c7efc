//! Places in a binomial tree, counted from its root: a place's parent is the place without its lowest bit.

use super::Part;
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

    /// Whom this process sends to or hears from, log₂ n of n at most.
    pub fn neighbours(&self) -> impl Iterator<Item = Rank> + '_ {
        let place = self.place();
        let near = parent(place)
            .into_iter()
            .chain(children(place, self.ranks.len()));
        near.map(|place| self.rank_at(place))
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
