//! Conversions between resources' capabilities, and which operations replace which.

use crate::program::*;

use super::Checker;
use super::convert::DEPTH;

/// Finds the conversions of resources' capabilities, as pairs of source and target.
struct Conversions<'t> {
    types: &'t Types,
    found: Vec<(ComponentId, ComponentId)>,
}

impl Visitor for Conversions<'_> {
    fn expression(&mut self, expression: &Expression) {
        let ExpressionKind::Convert(value) = &expression.kind else {
            return;
        };
        let pair = (self.types.get(value.of), self.types.get(expression.of));
        if let (Type::Resource(from), Type::Resource(to)) = pair
            && from != to
            && !self.found.contains(&(*from, *to))
        {
            self.found.push((*from, *to));
        }
    }
}

impl Checker<'_> {
    /// Whether instances of a resource have all operations that another resource exports: it is
    /// that one, extends it, or is like it.
    pub(super) fn offers(&self, resource: ComponentId, other: ComponentId) -> bool {
        resource == other
            || self.exports_alike(resource, other)
            || self
                .exports(other)
                .all(|wanted| self.namesake(wanted, resource).is_some())
    }

    /// Whether two resources export operations of the same kinds in the same order; names do not
    /// count, as in the original.
    fn exports_alike(&self, a: ComponentId, b: ComponentId) -> bool {
        self.exports(a).count() == self.exports(b).count()
            && self
                .exports(a)
                .zip(self.exports(b))
                .all(|(a, b)| self.is_alike_operation(a, b))
    }

    fn is_alike_operation(&self, a: OperationId, b: OperationId) -> bool {
        let (a, b) = (
            &self.program.operations[a.index()],
            &self.program.operations[b.index()],
        );
        a.dimensions.len() == b.dimensions.len()
            && self.is_signature_alike(a.signature, b.signature, DEPTH)
    }

    /// Returns the operation of the same name and kind that a resource exports.
    fn namesake(&self, wanted: OperationId, resource: ComponentId) -> Option<OperationId> {
        let name = &self.program.operations[wanted.index()].name;
        self.exports(resource).find(|has| {
            self.program.operations[has.index()].name == *name
                && self.is_alike_operation(*has, wanted)
        })
    }

    /// Returns the operations that a component exports.
    pub(super) fn exports(&self, component: ComponentId) -> impl Iterator<Item = OperationId> + '_ {
        self.program.components[component.index()]
            .operations
            .iter()
            .copied()
            .filter(|o| self.program.operations[o.index()].is_exported)
    }

    /// For each conversion of a resource's capability, notes which operations replace which.
    pub(super) fn counterparts(&mut self) {
        let mut finder = Conversions {
            types: &self.program.types,
            found: Vec::new(),
        };
        for code in &self.program.codes {
            walk_block(&code.block, &mut finder);
        }
        let mut conversions = finder.found;
        // A capability that is converted twice must have the last resource's operations, too.
        let mut at = 0;
        while at < conversions.len() {
            let (from, to) = conversions[at];
            for other in 0..conversions.len() {
                let (again, last) = conversions[other];
                if again == to && last != from && !conversions.contains(&(from, last)) {
                    conversions.push((from, last));
                }
                let (first, middle) = conversions[other];
                if middle == from && first != to && !conversions.contains(&(first, to)) {
                    conversions.push((first, to));
                }
            }
            at += 1;
        }
        for (from, to) in conversions {
            let pairs = self.counterparts_of(from, to);
            self.program.counterparts.extend(pairs);
        }
    }

    fn counterparts_of(&self, from: ComponentId, to: ComponentId) -> Vec<Counterpart> {
        let inherited = |wanted: OperationId| {
            self.exports(from).find(|has| {
                let origin = |o: &OperationId| self.program.operations[o.index()].inherits;
                std::iter::successors(Some(*has), origin).any(|o| o == wanted)
            })
        };
        let is_by_place = self.exports_alike(from, to);
        let wanted = self.exports(to).enumerate();
        wanted
            .filter_map(|(at, wanted)| {
                let by_place = || self.exports(from).nth(at).filter(|_| is_by_place);
                let stands_for_it = inherited(wanted)
                    .or_else(by_place)
                    .or_else(|| self.namesake(wanted, from))?;
                Some(Counterpart {
                    wanted,
                    stands_for_it,
                })
            })
            .collect()
    }

    /// Gives a slot in resource capabilities to each operation that is replaced in one, and to
    /// those that stand for it.
    pub(super) fn slots(&mut self) {
        let counterparts = self.program.counterparts.iter();
        let counterparts = counterparts.map(|pair| (pair.wanted, pair.stands_for_it));
        let rows = self.program.operations.iter().zip(0..);
        let inherited = rows.filter_map(|(row, at)| Some((row.inherits?, OperationId(at))));
        let pairs: Vec<_> = counterparts.chain(inherited).collect();
        let mut slot = 0;
        for replaced in std::mem::take(&mut self.replaced) {
            if self.program.slots.contains_key(&replaced) {
                continue;
            }
            let mut group = vec![replaced];
            let mut at = 0;
            while let Some(&operation) = group.get(at) {
                for (a, b) in pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
                    if a == operation && !group.contains(&b) {
                        group.push(b);
                    }
                }
                at += 1;
            }
            self.one_of_each_component(&group);
            self.program
                .slots
                .extend(group.into_iter().map(|operation| (operation, slot)));
            slot += 1;
        }
    }

    /// Refuses a group of operations in one slot if two are of one component.
    fn one_of_each_component(&mut self, group: &[OperationId]) {
        for (n, operation) in group.iter().enumerate() {
            let row = &self.program.operations[operation.index()];
            let is_alike = |other: &&OperationId| {
                self.program.operations[other.index()].component == row.component
            };
            if let Some(other) = group[..n].iter().find(is_alike) {
                let other = &self.program.operations[other.index()].name;
                let message = format!(
                    "\"{}\" stands for \"{other}\" where a capability is converted, so neither can be replaced in one",
                    row.name
                );
                self.error_with(
                    row.span,
                    message,
                    "give the operations the same names in all resources",
                );
            }
        }
    }
}
