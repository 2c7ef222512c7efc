//! `import` and `extend`.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax::{ItemKind, Name};

use super::pair::MISSING;
use super::scope::Meaning;
use super::{Checker, Progress};

impl Checker<'_> {
    /// Returns the component with a name that is imported or extended. Reports an error if there is
    /// none.
    fn component_of(&mut self, name: &Name) -> Option<ComponentId> {
        if let Some(component) = self.component_of_name(&name.text) {
            return Some(component);
        }
        self.error_with(
            name.span,
            format!("there is no component \"{}\"", name.text),
            MISSING,
        );
        None
    }

    pub(super) fn import(&mut self, names: &[Name]) {
        for name in names {
            let Some(component) = self.component_of(name) else {
                continue;
            };
            if component == self.component {
                continue;
            }
            self.specification(component);
            self.use_component(component, name.span);
        }
    }

    /// Declares a constant of another specification here. Returns false if that one has no constant
    /// of the name.
    fn constant_again(&mut self, from: ComponentId, name: &str) -> bool {
        let units = self.units;
        for item in &units[from.index()].head.specification {
            let ItemKind::Objects { groups, .. } = &item.kind else {
                continue;
            };
            for group in groups {
                let mut declarators = group.declarators.iter();
                if let Some(declarator) = declarators.find(|d| d.name.text == name) {
                    let of = group.of.as_ref().map(|of| self.type_expression(of));
                    self.object(true, declarator, of, group, item.span);
                    return true;
                }
            }
        }
        false
    }

    /// Reports an error if an operation belongs to instances of another resource, so that its name
    /// alone does not say which instance is meant. Returns whether it does.
    pub(super) fn is_foreign(&mut self, operation: OperationId, span: Span) -> bool {
        let row = &self.program.operations[operation.index()];
        let owner = &self.program.components[row.component.index()];
        if row.component == self.component || owner.is_global || row.home == Home::External {
            return false;
        }
        let (owner, name) = (owner.name.clone(), row.name.clone());
        self.error_with(
            span,
            format!("\"{name}\" is an operation of instances of {owner}, and it is not said whose"),
            format!("write it after a capability: c.{name}, where c is of type cap {owner}"),
        );
        true
    }

    fn use_component(&mut self, component: ComponentId, span: Span) {
        self.scopes.import(component);
        let imports = &mut self.program.components[self.component.index()].imports;
        if !imports.contains(&component) {
            imports.push(component);
        }
        if self.program.components[component.index()].is_global {
            self.push(StatementKind::Import(component), span);
        }
    }

    /// Takes over the declarations of other resources' specifications.
    pub(super) fn extend(&mut self, names: &[Name]) {
        for name in names {
            let Some(component) = self.component_of(name) else {
                continue;
            };
            self.specification(component);
            let is_whole = self.states[component.index()].progress == Progress::Declared;
            if component == self.component || !is_whole {
                let message = format!("\"{}\" extends itself", name.text);
                self.error(name.span, message);
                continue;
            }
            if self.program.components[component.index()].is_global {
                self.error_with(
                    name.span,
                    format!(
                        "\"{}\" is a global, and only a resource can be extended",
                        name.text
                    ),
                    format!("import it: import {}", name.text),
                );
                continue;
            }
            self.use_component(component, name.span);
            for imported in self.program.components[component.index()].imports.clone() {
                if imported != self.component {
                    self.use_component(imported, name.span);
                }
            }
            for (exported, meaning) in self.states[component.index()].exports.clone() {
                self.inherit(name, component, exported, meaning);
            }
        }
    }

    /// Declares an item of an extended specification. An operation is a new one. A constant is
    /// evaluated again with what its names mean here. Everything else stays the same.
    fn inherit(&mut self, at: &Name, from: ComponentId, name: String, meaning: Meaning) {
        if self.constant_again(from, &name) {
            return;
        }
        let name = Name {
            text: name,
            span: at.span,
        };
        let Meaning::Operation(from) = meaning else {
            self.define(&name, meaning);
            return;
        };
        let original = self.program.operations[from.index()].clone();
        let operation = self.operation_row(Operation {
            span: name.span,
            component: self.component,
            inherits: Some(from),
            ..original
        });
        self.define(&name, Meaning::Operation(operation));
        if self.program.operations[operation.index()].home != Home::External {
            self.begin_operation(operation, None, name.span);
        }
    }
}
