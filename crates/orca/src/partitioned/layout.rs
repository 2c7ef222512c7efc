//! The shape of an array, its parts, and the machines that own them.
//!
//! The arithmetic is that of the original's run-time for data-parallel objects (Ben Hassen, Bal and
//! Jacobs, TOPLAS 20(6) 1998). If a dimension of length L has p parts, the first L mod p parts have
//! one element more. Parts are numbered along the first dimension first, and so are the machines
//! that they go to. Within a part the last dimension is contiguous.

use std::collections::BTreeSet;

use antiphon_panda::Rank;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::shared::StateOf;

/// The most dimensions that an array has. Dimensions beyond an array's own have the length 1.
pub const MOST_DIMENSIONS: usize = 3;

/// The index of an element, with zeros beyond the array's own dimensions.
pub type WideIndex = [usize; MOST_DIMENSIONS];

/// The way in which the parts along a dimension go to the machines along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// Each machine has a run of neighbouring parts. The first machines have one more if necessary.
    Block,
    /// Parts go to the machines in turn.
    Cyclic,
}

/// The division of an array into parts, and the owner of each part. Machines exchange whole parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    parts: Vec<usize>,
    machines: Machines,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Machines {
    Along(Vec<Rank>, Vec<(usize, Spread)>),
    Owners(Vec<Rank>),
}

impl Distribution {
    /// Divides each dimension into `parts`, in runs over the machines along the first one.
    #[must_use]
    pub fn block(parts: &[usize], machines: &[Rank]) -> Self {
        Self::along_first(parts, machines, Spread::Block)
    }

    /// Divides each dimension into `parts`, which go to the machines in turn along the first one.
    #[must_use]
    pub fn cyclic(parts: &[usize], machines: &[Rank]) -> Self {
        Self::along_first(parts, machines, Spread::Cyclic)
    }

    fn along_first(parts: &[usize], machines: &[Rank], spread: Spread) -> Self {
        let first = (machines.len(), spread);
        let rest = parts.iter().skip(1).map(|_| (1, Spread::Block));
        let along: Vec<_> = std::iter::once(first).chain(rest).collect();
        Self::grid(parts, machines, &along)
    }

    /// Divides each dimension into `parts`, over a grid of machines. For each dimension the grid
    /// has a number of machines, and a way in which parts go to them. The list has the machines of
    /// the grid, those along the first dimension first. It may be longer.
    #[must_use]
    pub fn grid(parts: &[usize], machines: &[Rank], along: &[(usize, Spread)]) -> Self {
        Self {
            parts: parts.to_vec(),
            machines: Machines::Along(machines.to_vec(), along.to_vec()),
        }
    }

    /// Divides each dimension into `parts`, and gives each part's owner by its number.
    #[must_use]
    pub fn owners(parts: &[usize], owners: &[Rank]) -> Self {
        Self {
            parts: parts.to_vec(),
            machines: Machines::Owners(owners.to_vec()),
        }
    }

    /// Returns the owner of each part.
    fn resolve(&self) -> Result<Vec<Rank>, String> {
        let count: usize = self.parts.iter().product();
        match &self.machines {
            Machines::Owners(owners) if owners.len() == count => Ok(owners.clone()),
            Machines::Owners(owners) => Err(format!(
                "there are {count} parts, and {} owners of parts",
                owners.len()
            )),
            Machines::Along(machines, along) => {
                let wanted: usize = along.iter().map(|(count, _)| count).product();
                if along.len() != self.parts.len() {
                    return Err(format!(
                        "parts have {} dimensions, and the grid of machines has {}",
                        self.parts.len(),
                        along.len()
                    ));
                }
                if wanted == 0 || wanted > machines.len() {
                    return Err(format!(
                        "the grid has room for {wanted} machines, and {} are given",
                        machines.len()
                    ));
                }
                let owner = |part| machines[machine_of(part, &self.parts, along)];
                Ok((0..count).map(owner).collect())
            }
        }
    }
}

/// Returns the place of a part's owner in the list of machines.
fn machine_of(mut part: usize, parts: &[usize], along: &[(usize, Spread)]) -> usize {
    let (mut machine, mut step) = (0, 1);
    for (count, (machines, spread)) in parts.iter().zip(along) {
        let at = part % count;
        part /= count;
        let along = match spread {
            Spread::Cyclic => at % machines,
            Spread::Block => {
                let (each, more) = (count / machines, count % machines);
                match at < more * (each + 1) {
                    true => at / (each + 1),
                    // If no machine has more than one part, all parts are among the first.
                    false => more + (at - more * (each + 1)) / each.max(1),
                }
            }
        };
        machine += along * step;
        step *= machines;
    }
    machine
}

/// The layout of an array, which all machines must agree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Layout {
    pub array_type: String,
    pub lengths: Vec<usize>,
    pub parts: Vec<usize>,
    pub owners: Vec<Rank>,
    /// What else the functions of the type know of this array. Only they read it.
    pub about: Vec<u8>,
}

/// The fields of a layout as they come from another machine.
#[derive(Deserialize)]
struct Fields {
    array_type: String,
    lengths: Vec<usize>,
    parts: Vec<usize>,
    owners: Vec<Rank>,
    about: Vec<u8>,
}

impl TryFrom<Fields> for Layout {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self, Error> {
        let how = Distribution::owners(&fields.parts, &fields.owners);
        Self::new(&fields.array_type, &fields.lengths, &how).map(|it| it.with_about(fields.about))
    }
}

impl StateOf for Layout {
    const NESTS: bool = false;
}

impl Layout {
    /// Lays out an array.
    ///
    /// # Errors
    /// Lengths, parts and machines do not fit each other.
    pub fn new(array_type: &str, lengths: &[usize], how: &Distribution) -> Result<Self, Error> {
        let refused = |why: String| {
            Error::Layout(format!(
                "an array of {lengths:?} cannot be divided into {:?}: {why}",
                how.parts
            ))
        };
        let dimensions = lengths.len();
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) || how.parts.len() != dimensions {
            let why = format!("give as many counts of parts as dimensions, 1 to {MOST_DIMENSIONS}");
            return Err(refused(why));
        }
        for (length, count) in lengths.iter().zip(&how.parts) {
            if !(1..=*length).contains(count) {
                let why = format!("a dimension of length {length} has 1 to {length} parts");
                return Err(refused(why));
            }
        }
        let size = lengths
            .iter()
            .try_fold(1_usize, |all, it| all.checked_mul(*it));
        if size.is_none_or(|size| size > u32::MAX as usize) {
            return Err(refused("it has more than 2^32 elements".into()));
        }
        Ok(Self {
            array_type: array_type.into(),
            lengths: lengths.to_vec(),
            parts: how.parts.clone(),
            owners: how.resolve().map_err(refused)?,
            about: Vec::new(),
        })
    }

    /// Adds the type's own description of the array.
    #[must_use]
    pub fn with_about(mut self, about: Vec<u8>) -> Self {
        self.about = about;
        self
    }
}

/// A part of an array: where it begins, its lengths, and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The index of its first element.
    pub from: WideIndex,
    /// Its lengths.
    pub lengths: WideIndex,
    /// The machine that has it.
    pub owner: Rank,
}

impl Block {
    /// Returns the indices of its elements, in the order in which the part has them.
    pub fn indices(&self) -> impl Iterator<Item = WideIndex> + use<> {
        let ([a, b, c], [x, y, z]) = (self.from, self.lengths);
        (a..a + x)
            .flat_map(move |i| (b..b + y).flat_map(move |j| (c..c + z).map(move |k| [i, j, k])))
    }

    /// Returns how many elements it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.lengths.iter().product()
    }
}

/// The place of an index along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Along {
    /// Its part, counted along this dimension.
    pub part: u32,
    /// The index within the part.
    pub at: u32,
}

/// The parts of an array, by number.
#[derive(Debug)]
pub struct Plan {
    pub(crate) layout: Layout,
    blocks: Vec<Block>,
    /// The places of the indices along each dimension.
    along: [Vec<Along>; MOST_DIMENSIONS],
    /// The numbers of parts along the first two dimensions.
    counts: [usize; 2],
}

impl Plan {
    pub(crate) fn of(layout: Layout) -> Self {
        let length = |at: usize| layout.lengths.get(at).copied().unwrap_or(1);
        let count = |at: usize| layout.parts.get(at).copied().unwrap_or(1);
        // The start and the length of a part along a dimension.
        let run = |dimension: usize, part: usize| {
            let (each, more) = (
                length(dimension) / count(dimension),
                length(dimension) % count(dimension),
            );
            (
                part * each + part.min(more),
                each + usize::from(part < more),
            )
        };
        let block = |(part, owner): (usize, &Rank)| {
            let at = [
                part % count(0),
                part / count(0) % count(1),
                part / count(0) / count(1),
            ];
            let runs = [run(0, at[0]), run(1, at[1]), run(2, at[2])];
            Block {
                from: runs.map(|(from, _)| from),
                lengths: runs.map(|(_, length)| length),
                owner: *owner,
            }
        };
        let blocks = layout.owners.iter().enumerate().map(block).collect();
        let along = [0, 1, 2].map(|dimension| {
            let parts = 0..count(dimension);
            let of_part = |part| {
                (0..run(dimension, part).1).map(move |at| Along {
                    part: part as u32,
                    at: at as u32,
                })
            };
            parts.flat_map(of_part).collect()
        });
        let counts = [count(0), count(1)];
        Self {
            layout,
            blocks,
            along,
            counts,
        }
    }

    /// Returns the array's lengths.
    #[must_use]
    pub fn lengths(&self) -> &[usize] {
        &self.layout.lengths
    }

    /// Returns the numbers of parts along its dimensions.
    #[must_use]
    pub fn parts(&self) -> &[usize] {
        &self.layout.parts
    }

    /// Returns what the functions of its type know of it beyond its lengths.
    #[must_use]
    pub fn about(&self) -> &[u8] {
        &self.layout.about
    }

    /// Returns the places of the indices along a dimension. Dimensions beyond the array's own have
    /// one index.
    #[must_use]
    pub fn along(&self, dimension: usize) -> &[Along] {
        &self.along[dimension]
    }

    /// Returns its parts.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the part that has an element, and the element's place in it.
    #[inline]
    #[must_use]
    pub fn find(&self, index: WideIndex) -> Option<(usize, usize)> {
        let a = self.along[0].get(index[0])?;
        let b = self.along[1].get(index[1])?;
        let c = self.along[2].get(index[2])?;
        let part =
            a.part as usize + self.counts[0] * (b.part as usize + self.counts[1] * c.part as usize);
        let lengths = &self.blocks[part].lengths;
        Some((
            part,
            (a.at as usize * lengths[1] + b.at as usize) * lengths[2] + c.at as usize,
        ))
    }

    /// Returns the machines that own parts.
    #[must_use]
    pub fn owners(&self) -> BTreeSet<Rank> {
        self.layout.owners.iter().copied().collect()
    }

    /// Returns the parts of a machine.
    pub fn owned_by(&self, machine: Rank) -> impl Iterator<Item = usize> + '_ {
        let all = self.layout.owners.iter().enumerate();
        all.filter(move |(_, owner)| **owner == machine)
            .map(|(part, _)| part)
    }

    /// Returns the parts that have some elements. Indices outside of the array are left out.
    pub fn parts_of(&self, elements: impl IntoIterator<Item = WideIndex>) -> BTreeSet<usize> {
        let found = elements.into_iter().filter_map(|index| self.find(index));
        found.map(|(part, _)| part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(lengths: &[usize], how: &Distribution) -> Plan {
        Plan::of(Layout::new("array", lengths, how).expect("a layout"))
    }

    #[test]
    fn the_first_parts_have_one_element_more() {
        let plan = plan(&[10], &Distribution::block(&[4], &[0]));
        let runs: Vec<_> = plan
            .blocks()
            .iter()
            .map(|it| (it.from[0], it.lengths[0]))
            .collect();
        assert_eq!(runs, [(0, 3), (3, 3), (6, 2), (8, 2)]);
    }

    #[test]
    fn blocks_are_runs_and_cycles_take_turns() {
        let owners = |how: &Distribution| plan(&[20], how).layout.owners;
        assert_eq!(
            owners(&Distribution::block(&[7], &[4, 5, 6])),
            [4, 4, 4, 5, 5, 6, 6]
        );
        assert_eq!(
            owners(&Distribution::cyclic(&[7], &[4, 5, 6])),
            [4, 5, 6, 4, 5, 6, 4]
        );
        assert_eq!(owners(&Distribution::block(&[2], &[4, 5, 6])), [4, 5]);
        assert_eq!(owners(&Distribution::owners(&[3], &[9, 8, 9])), [9, 8, 9]);
    }

    #[test]
    fn the_first_dimension_is_numbered_first() {
        let along = [(2, Spread::Block), (2, Spread::Cyclic)];
        let how = Distribution::grid(&[2, 3], &[0, 1, 2, 3], &along);
        let plan = plan(&[4, 9], &how);
        assert_eq!(plan.layout.owners, [0, 1, 2, 3, 0, 1]);
        let starts: Vec<_> = plan
            .blocks()
            .iter()
            .map(|it| [it.from[0], it.from[1]])
            .collect();
        assert_eq!(starts, [[0, 0], [2, 0], [0, 3], [2, 3], [0, 6], [2, 6]]);
    }

    #[test]
    fn every_element_is_in_one_place() {
        for (lengths, parts) in [
            (vec![11], vec![3]),
            (vec![5, 7], vec![2, 3]),
            (vec![4, 3, 5], vec![3, 1, 2]),
        ] {
            let plan = plan(&lengths, &Distribution::cyclic(&parts, &[0, 1]));
            let mut seen = 0;
            for (part, block) in plan.blocks().iter().enumerate() {
                for (place, index) in block.indices().enumerate() {
                    assert_eq!(plan.find(index), Some((part, place)), "{index:?}");
                    seen += 1;
                }
            }
            assert_eq!(seen, lengths.iter().product::<usize>());
            assert_eq!(plan.find([lengths[0], 0, 0]), None);
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_reason() {
        let refused = |lengths: &[usize], how: &Distribution| {
            let refused = Layout::new("array", lengths, how).expect_err("it does not fit");
            refused.to_string()
        };
        let said = refused(&[4], &Distribution::block(&[5], &[0]));
        assert!(
            said.contains("a dimension of length 4 has 1 to 4 parts"),
            "{said}"
        );
        let said = refused(&[4], &Distribution::block(&[2, 2], &[0]));
        assert!(
            said.contains("as many counts of parts as dimensions"),
            "{said}"
        );
        let said = refused(&[4], &Distribution::owners(&[2], &[0]));
        assert!(said.contains("there are 2 parts, and 1 owners"), "{said}");
        let said = refused(&[4], &Distribution::block(&[2], &[]));
        assert!(said.contains("room for 0 machines"), "{said}");
        let sent = |parts: &[usize], owners: &[Rank]| {
            let fields = ("T", &[4_usize][..], parts, owners, &b""[..]);
            let message = antiphon_panda::Message::of(&fields).expect("bytes");
            antiphon_panda::message::value_in::<Layout>(&message.to_bytes())
        };
        assert!(sent(&[2], &[0, 1]).is_ok());
        assert!(sent(&[0], &[]).is_err());
        assert!(sent(&[5], &[0; 5]).is_err());
        assert!(sent(&[2], &[0]).is_err());
        assert!(sent(&[], &[]).is_err());
        let said = refused(&[1 << 20, 1 << 20], &Distribution::block(&[1, 1], &[0]));
        assert!(said.contains("more than 2^32"), "{said}");
    }
}
