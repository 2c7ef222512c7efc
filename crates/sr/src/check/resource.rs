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
}
