//! Dynamic operations that are serviced together.
//!
//! An input statement of several arms looks through one class. Operations that `new` makes have no name by which the checker could put them in one, so, as in the
//! original, all those of a component that are alike go where some input statement there needs them.

use std::collections::BTreeSet;

use super::unit::Unit;
use crate::lower::{Visitor, walk_block};
use crate::program::*;

/// Something that must be in the same class as others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    /// The operations of a class of the program.
    Class(ClassId),
    /// Dynamic operations of a component with the same block.
    Dynamic(ComponentId, usize),
}

/// Sets of what must be in one class, as far as there are dynamic operations among it.
#[derive(Debug, Default)]
pub(super) struct Groups(Vec<BTreeSet<Member>>);

/// The class of dynamic operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shared {
    /// One of the program.
    Class(ClassId),
    /// One of its own, with a number.
    Own(usize),
}

struct Finder<'a, 'u> {
    unit: &'a Unit<'u>,
    component: ComponentId,
    sets: Vec<BTreeSet<Member>>,
}

impl Visitor for Finder<'_, '_> {
    fn statement(&mut self, statement: &Statement) {
        let StatementKind::Input(arms, _) = &statement.kind else {
            return;
        };
        if arms.len() < 2 {
            return;
        }
        let members = arms.iter().flat_map(|arm| self.members(&arm.target));
        self.sets.push(members.collect());
    }
}

impl Finder<'_, '_> {
    fn members(&self, target: &Target) -> Vec<Member> {
        match target {
            Target::Declared(operation, _) | Target::Of(_, operation, _) => {
                self.class_of(*operation).into_iter().collect()
            }
            Target::Value(e) => match self.unit.program.types.get(e.of) {
                Type::Operation(signature) => self.meant(*signature),
                _ => Vec::new(),
            },
        }
    }

    fn class_of(&self, operation: OperationId) -> Option<Member> {
        match self.unit.operation(operation).service {
            Service::Input(class) => Some(Member::Class(class)),
            _ => None,
        }
    }

    /// What a capability may be for: dynamic operations, and declared ones of which there are capabilities.
    fn meant(&self, signature: SignatureId) -> Vec<Member> {
        let block = self.unit.block_number(signature);
        let mut members = vec![Member::Dynamic(self.component, block)];
        for (number, row) in self.unit.program.operations.iter().enumerate() {
            if row.component == self.component
                && row.has_capability
                && self.unit.block_number(row.signature) == block
            {
                members.extend(self.class_of(OperationId(number as u32)));
            }
        }
        members
    }
}

impl Groups {
    pub(super) fn of(unit: &Unit<'_>) -> Groups {
        let mut finder = Finder {
            unit,
            component: ComponentId(0),
            sets: Vec::new(),
        };
        for code in &unit.program.codes {
            finder.component = code.component;
            walk_block(&code.block, &mut finder);
        }
        let mut groups: Vec<BTreeSet<Member>> = Vec::new();
        for mut set in finder.sets {
            groups.retain(|group| {
                let is_apart = group.is_disjoint(&set);
                if !is_apart {
                    set.extend(group.iter().copied());
                }
                is_apart
            });
            groups.push(set);
        }
        groups.retain(|group| group.iter().any(|m| matches!(m, Member::Dynamic(..))));
        Groups(groups)
    }

    /// The class that dynamic operations of a component with a block go into; none if each has its own.
    pub(super) fn class(
        &self,
        program: &Program,
        component: ComponentId,
        block: usize,
    ) -> Option<Shared> {
        let member = Member::Dynamic(component, block);
        let number = self.0.iter().position(|group| group.contains(&member))?;
        let declared = self.0[number].iter().find_map(|member| match member {
            Member::Class(class) => {
                let row = &program.classes[class.index()];
                (row.component == component && row.home == Home::Component).then_some(*class)
            }
            Member::Dynamic(..) => None,
        });
        Some(declared.map_or(Shared::Own(number), Shared::Class))
    }

    /// The numbers of the classes that instances of a component have for this.
    pub(super) fn own(&self, program: &Program, component: ComponentId) -> Vec<usize> {
        let numbers = self.0.iter().enumerate().filter_map(|(number, group)| {
            group.iter().find_map(|member| match member {
                Member::Dynamic(of, block) if *of == component => {
                    let class = self.class(program, component, *block);
                    (class == Some(Shared::Own(number))).then_some(number)
                }
                _ => None,
            })
        });
        numbers.collect()
    }
}
