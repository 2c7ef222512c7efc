//! Copies of the descriptors of instances' arrays in C variables. Descriptors never change, so the
//! C compiler may keep them in registers.

use std::collections::HashSet;

use super::function::{Access, Function};
use super::loops::Uses;
use super::names::instance_of;
use super::types::{Class, pointer_to};
use crate::program::*;

/// Collects the globals that code imports.
#[derive(Default)]
struct Imported(HashSet<ComponentId>);

impl Visitor for Imported {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Import(global) = statement.kind {
            self.0.insert(global);
        }
    }
}

impl Function<'_> {
    /// Copies the descriptors of instances' arrays that a block uses to C variables. In a body,
    /// arrays may not exist yet, so each is copied after its declaration.
    pub(super) fn hoist_all(&mut self, block: &Block) {
        if self.unit.program.codes[self.code.index()].kind == CodeKind::Body {
            return;
        }
        let mut imported = Imported::default();
        walk_block(block, &mut imported);
        for variable in self.used_in(block) {
            let component = instance_of(self.unit.program, variable);
            // Those of a global are copied after its import.
            if component.is_some_and(|component| !imported.0.contains(&component)) {
                self.hoist(variable);
            }
        }
    }

    /// The same for the arrays of a global, after its import.
    pub(super) fn hoist_of(&mut self, global: ComponentId) {
        let is_outermost = self.frames.len() == 1;
        let code = &self.unit.program.codes[self.code.index()];
        for variable in self.used_in(&code.block) {
            let is_of = instance_of(self.unit.program, variable) == Some(global);
            if is_of && is_outermost && !self.access.contains_key(&variable) {
                self.hoist(variable);
            }
        }
    }

    fn used_in(&self, block: &Block) -> Vec<VariableId> {
        let mut used = Uses::of(block).into_iter().collect::<Vec<_>>();
        used.sort_unstable();
        used
    }

    /// Copies the descriptor of an instance's array to a C variable. It never changes, so the C
    /// compiler can keep bounds in registers.
    pub(super) fn hoist(&mut self, variable: VariableId) {
        let of = self.unit.program.variables[variable.index()].of;
        let Class::Array(dimensions) = self.unit.class(of) else {
            return;
        };
        let storage = self.storage(variable);
        let name = match instance_of(self.unit.program, variable) {
            Some(component) if component != self.component => format!(
                "h_{}_{}",
                self.unit.names.component(component),
                self.unit.names.variable(variable)
            ),
            _ => format!("h_{}", self.unit.names.variable(variable)),
        };
        let Access::View(old) = self.access_of(variable) else {
            return;
        };
        if old.is_typed {
            if self.is_in_place(variable) {
                return;
            }
            let Some(c_type) = self.unit.element_type(old.element) else {
                return;
            };
            self.line(format!("{}const {name} = {storage};", pointer_to(&c_type)));
            let view = self.view_in_place(&name, of);
            self.access.insert(variable, Access::View(view));
            return;
        }
        self.line(format!(
            "const struct sr_array{dimensions} {name} = {storage};"
        ));
        let view = self.view_of(&name, of, true);
        self.access.insert(variable, Access::View(view));
    }
}
