//! `import` and `extend`.

use crate::program::*;
use crate::source::Span;
use crate::syntax::Name;

use super::scope::Meaning;
use super::{Checker, Progress};

impl Checker<'_> {
    /// The component of a name that is imported or extended; an error is reported if there is none.
    fn component_of(&mut self, name: &Name) -> Option<ComponentId> {
        let mut all = self.program.components.iter();
        if let Some(at) = all.position(|component| component.name == name.text) {
            return Some(ComponentId(at as u32));
        }
        self.error_with(
            name.span,
            format!("there is no component \"{}\"", name.text),
            "name the file that has it on the command line, too",
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
            self.use_component(component);
        }
    }

    /// Whether an operation belongs to instances of another resource, so that its name alone says not whose it is; an error is reported if so.
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

    fn use_component(&mut self, component: ComponentId) {
        self.scopes.import(component);
        let imports = &mut self.program.components[self.component.index()].imports;
        if !imports.contains(&component) {
            imports.push(component);
        }
    }

    /// Takes over what the specifications of other resources declare.
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
            self.use_component(component);
            for imported in self.program.components[component.index()].imports.clone() {
                if imported != self.component {
                    self.use_component(imported);
                }
            }
            for (exported, meaning) in self.states[component.index()].exports.clone() {
                self.inherit(name, exported, meaning);
            }
        }
    }

    /// Declares what a specification has that is extended. An operation is a new one; all else is the same.
    fn inherit(&mut self, at: &Name, name: String, meaning: Meaning) {
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
