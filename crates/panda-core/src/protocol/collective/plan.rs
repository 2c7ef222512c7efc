//! The plan of an array operation: which member sends which part to which other, in which round.
//!
//! - Short arrays go as a whole. Each doubling of the members is one round, in which pairs exchange
//!   all they have (recursive doubling). Or arrays go up a binomial tree to the root.
//! - Long arrays go in parts. In each round a pair exchanges one half of the part that both still
//!   have to combine (recursive halving). In the end each member has one part of the result. On the
//!   way back the parts are put together, at all members or at the root. So a member sends and
//!   receives at most twice the array, however many members there are, except the surplus ones
//!   (below).
//!
//! R. Rabenseifner, *Optimization of Collective Reduction Operations*, ICCS 2004; R. Thakur, R.
//! Rabenseifner and W. Gropp, *Optimization of Collective Communication Operations in MPICH*,
//! IJHPCA 19(1), 2005, sections 4.4 and 4.5.
//!
//! If the members are no power of two, some of the first pairs begin with an extra step. The second
//! member of such a pair gives its whole array to the first beforehand, and gets the whole result
//! afterwards.
//!
//! In all ways, pairs are of neighbours first, then of neighbouring pairs, and so on. So each
//! number of the result is combined by the same expression, whatever the way and the length.

use std::ops::Range;

/// The way of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Whether all get the result, or the first place alone.
    pub to_all: bool,
    /// Whether arrays go in parts. Then no member ends before all have begun, as with a result for
    /// all.
    pub in_parts: bool,
}

/// The use of a received part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// It is combined with this member's part.
    Combine,
    /// It is the result in its range.
    Put,
}

/// A step of one member with one other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// Number of the round, the same at both members.
    pub number: u8,
    /// Place of the other member.
    pub peer: usize,
    /// Range that goes there.
    pub sends: Option<Range<usize>>,
    /// Use and range of the part that comes from there.
    pub takes: Option<(Take, Range<usize>)>,
}

/// Returns the rounds of a place among `count`, for arrays of `length` numbers.
pub fn rounds(way: Way, place: usize, count: usize, length: usize) -> Vec<Round> {
    let doublings = count.ilog2();
    let core = Core {
        way,
        doublings,
        extra: count - (1 << doublings),
        length,
    };
    core.rounds(place)
}

/// The members that are a power of two.
struct Core {
    way: Way,
    doublings: u32,
    /// Number of surplus members.
    extra: usize,
    length: usize,
}

impl Core {
    fn rounds(&self, place: usize) -> Vec<Round> {
        let (whole, last) = (0..self.length, 2 * self.doublings as u8 + 1);
        let is_paired = place < 2 * self.extra;
        if is_paired && place % 2 == 1 {
            let before = round(0, place - 1, Some(whole.clone()), None);
            let after = |of| round(last, place - 1, None, Some((Take::Put, of)));
            return std::iter::once(before)
                .chain(self.afterwards().map(after))
                .collect();
        }
        let mut rounds = Vec::new();
        if is_paired {
            let takes = Some((Take::Combine, whole.clone()));
            rounds.push(round(0, place + 1, None, takes));
        }
        let own = match is_paired {
            true => place / 2,
            false => place - self.extra,
        };
        match self.way {
            Way { in_parts: true, .. } => self.in_parts(own, &mut rounds),
            Way { to_all: true, .. } => rounds.extend(self.doubling(own)),
            Way { to_all: false, .. } => self.up_a_tree(own, &mut rounds),
        }
        if is_paired && let Some(of) = self.afterwards() {
            rounds.push(round(last, place + 1, Some(of), None));
        }
        rounds
    }

    /// Returns the range that surplus members get afterwards. If only the root gets a result it is
    /// empty: the message only allows them to end, where none may end before all have begun.
    fn afterwards(&self) -> Option<Range<usize>> {
        match self.way {
            Way { to_all: true, .. } => Some(0..self.length),
            Way { in_parts: true, .. } => Some(0..0),
            _ => None,
        }
    }

    /// Returns the place of a core member's partner, and the numbers of their rounds there and
    /// back.
    fn pair(&self, own: usize, doubling: u32) -> (usize, u8, u8) {
        let other = own ^ 1 << doubling;
        let place = match other < self.extra {
            true => 2 * other,
            false => other + self.extra,
        };
        let there = doubling as u8 + 1;
        (place, there, 2 * self.doublings as u8 + 1 - there)
    }

    fn doubling(&self, own: usize) -> impl Iterator<Item = Round> {
        (0..self.doublings).map(move |doubling| {
            let (peer, number, _) = self.pair(own, doubling);
            let whole = 0..self.length;
            let takes = Some((Take::Combine, whole.clone()));
            round(number, peer, Some(whole), takes)
        })
    }

    fn up_a_tree(&self, own: usize, rounds: &mut Vec<Round>) {
        for doubling in 0..self.doublings {
            let (peer, number, _) = self.pair(own, doubling);
            let whole = 0..self.length;
            if own & 1 << doubling != 0 {
                rounds.push(round(number, peer, Some(whole), None));
                return;
            }
            let takes = Some((Take::Combine, whole));
            rounds.push(round(number, peer, None, takes));
        }
    }

    fn in_parts(&self, own: usize, rounds: &mut Vec<Round>) {
        let (mut held, mut others) = (0..self.length, Vec::new());
        for doubling in 0..self.doublings {
            let (peer, number, _) = self.pair(own, doubling);
            let middle = held.start + held.len().div_ceil(2);
            let (lower, upper) = (held.start..middle, middle..held.end);
            let (keeps, gives) = match own & 1 << doubling {
                0 => (lower, upper),
                _ => (upper, lower),
            };
            let takes = Some((Take::Combine, keeps.clone()));
            rounds.push(round(number, peer, Some(gives.clone()), takes));
            others.push(gives);
            held = keeps;
        }
        for doubling in (0..self.doublings).rev() {
            let (peer, _, number) = self.pair(own, doubling);
            let other = others[doubling as usize].clone();
            let is_upper = own & 1 << doubling != 0;
            let sends = self.way.to_all || is_upper;
            let takes = self.way.to_all || !is_upper;
            let came = takes.then(|| (Take::Put, other.clone()));
            rounds.push(round(number, peer, sends.then(|| held.clone()), came));
            if !takes {
                return;
            }
            held = held.start.min(other.start)..held.end.max(other.end);
        }
    }
}

fn round(
    number: u8,
    peer: usize,
    sends: Option<Range<usize>>,
    takes: Option<(Take, Range<usize>)>,
) -> Round {
    Round {
        number,
        peer,
        sends,
        takes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn way(to_all: bool, in_parts: bool) -> Way {
        Way { to_all, in_parts }
    }

    const WAYS: [Way; 4] = [
        way(true, true),
        way(true, false),
        way(false, true),
        way(false, false),
    ];

    #[test]
    fn what_one_sends_another_takes_in_the_same_round() {
        for (way, count) in WAYS.iter().flat_map(|way| (1..40).map(move |n| (*way, n))) {
            for length in [0, 1, count - 1, count, 1000] {
                let all: Vec<_> = (0..count)
                    .map(|place| rounds(way, place, count, length))
                    .collect();
                for (place, own) in all.iter().enumerate() {
                    assert!(own.is_sorted_by(|a, b| a.number < b.number));
                    for one in own {
                        let other = all[one.peer]
                            .iter()
                            .find(|it| it.number == one.number)
                            .unwrap();
                        assert_eq!(other.peer, place);
                        let taken = other.takes.clone().map(|(_, range)| range);
                        assert_eq!(one.sends, taken, "{way:?} {count} {place} {one:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn long_arrays_go_twice_whatever_the_members() {
        for count in [2, 4, 8, 64, 1024] {
            for place in 0..count {
                let sent: usize = rounds(way(true, true), place, count, 1024)
                    .into_iter()
                    .filter_map(|round| round.sends)
                    .map(|range| range.len())
                    .sum();
                assert_eq!(sent, 2 * (1024 - 1024 / count));
            }
        }
    }
}
