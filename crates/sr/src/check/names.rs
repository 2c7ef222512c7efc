//! Lookup of names, and their definition.

use antiphon_lang::{Span, nearest};

use crate::program::{ComponentId, Expression};
use crate::syntax;
use crate::syntax::Name;

use super::Checker;
use super::scope::Meaning;

/// The end of messages about undeclared names; each name gets only one such message.
pub(super) const NOT_DECLARED: &str = " is not declared";

impl Checker<'_> {
    /// Returns what a name means here; none if it has no meaning. As in the original, the
    /// component's own names come first, then the predeclared ones, then imported ones.
    pub(super) fn lookup(&mut self, name: &str, span: Span) -> Option<Meaning> {
        if self.scopes.is_formal(name) {
            self.error_with(
                span,
                format!("the parameter \"{name}\" has no value in its own declaration"),
                "use * as the bound, and lb() and ub() where the operation is serviced",
            );
            return Some(Meaning::Wrong);
        }
        if let Some(meaning) = self.scopes.find(name) {
            return Some(meaning.clone());
        }
        if Self::predefined_names().any(|known| known == name) {
            return None;
        }
        let mut found = self.imported(name);
        if found.len() > 1 {
            self.ambiguous(name, span, &found);
            return Some(Meaning::Wrong);
        }
        found.pop().map(|(_, meaning)| meaning)
    }

    /// Returns the meanings of a name in the imported components.
    fn imported(&self, name: &str) -> Vec<(ComponentId, Meaning)> {
        let own = self.component_of_name(name);
        let exporting = self.exporting.get(name).into_iter().flatten().copied();
        let candidates = own.into_iter().chain(exporting);
        let mut found: Vec<(ComponentId, Meaning)> = Vec::new();
        for component in candidates.filter(|component| self.scopes.has_import(*component)) {
            if found.iter().any(|(other, _)| *other == component) {
                continue;
            }
            if own == Some(component) {
                found.push((component, Meaning::Component(component)));
            } else if let Some(meaning) = self.exported(component, name) {
                found.push((component, meaning.clone()));
            }
        }
        found
    }

    /// Returns the component with a name.
    pub(super) fn component_of_name(&self, name: &str) -> Option<ComponentId> {
        self.named.get(name).copied()
    }

    /// If a predefined name hides an imported one, returns how to write the latter.
    pub(super) fn hidden(&self, name: &str) -> Option<String> {
        let (component, _) = self.imported(name).into_iter().next()?;
        let component = &self.program.components[component.index()].name;
        Some(format!(
            "predefined names come before imported ones: write {component}.{name}"
        ))
    }

    /// Returns what a name means in a component's specification.
    fn exported(&self, component: ComponentId, name: &str) -> Option<&Meaning> {
        let state = &self.states[component.index()];
        let place = *state.export_places.get(name)?;
        state.exports.get(place).map(|(_, meaning)| meaning)
    }

    fn ambiguous(&mut self, name: &str, span: Span, found: &[(ComponentId, Meaning)]) {
        let full: Vec<String> = found
            .iter()
            .map(|(component, _)| {
                let component = &self.program.components[component.index()].name;
                format!("{component}.{name}")
            })
            .collect();
        self.error_with(
            span,
            format!("\"{name}\" is ambiguous: several imported components have it"),
            format!("write {}", full.join(" or ")),
        );
    }

    /// Returns what `component.name` means. Reports an error if it has no meaning.
    pub(super) fn lookup_in(&mut self, component: ComponentId, name: &Name) -> Meaning {
        if let Some(meaning) = self.exported(component, &name.text) {
            return meaning.clone();
        }
        let exports = &self.states[component.index()].exports;
        let near = nearest(
            &name.text,
            exports.iter().map(|(exported, _)| exported.as_str()),
        );
        let shown = self.program.components[component.index()].name.clone();
        let message = format!("the specification of {shown} declares no \"{}\"", name.text);
        match near {
            Some(near) => {
                self.error_with(name.span, message, format!("did you mean \"{near}\"?"));
            }
            None => self.error(name.span, message),
        }
        Meaning::Wrong
    }

    /// Returns what a path means; none, and no message, if it is a name that is not declared.
    pub(super) fn meaning_of_path(&mut self, path: &syntax::Path) -> Option<Meaning> {
        let Some(component) = &path.component else {
            return self.lookup(&path.name.text, path.name.span);
        };
        match self.lookup(&component.text, component.span) {
            Some(Meaning::Component(id)) => Some(self.lookup_in(id, &path.name)),
            Some(Meaning::Wrong) => Some(Meaning::Wrong),
            Some(_) => {
                let message = format!("\"{}\" is not a component", component.text);
                self.error(component.span, message);
                Some(Meaning::Wrong)
            }
            None => {
                self.undeclared(&component.text, component.span);
                Some(Meaning::Wrong)
            }
        }
    }

    /// Reports that a name has no meaning here, with a likely correction.
    pub(super) fn undeclared(&mut self, name: &str, span: Span) {
        let message = format!("\"{name}\"{NOT_DECLARED}");
        match self.help_for_undeclared(name) {
            Some(help) => self.error_with(span, message, help),
            None => self.error(span, message),
        }
    }

    fn help_for_undeclared(&self, name: &str) -> Option<String> {
        if let Some(later) = self.scopes.later(name) {
            let line = self.sources.file(later.file).position(later.start).0;
            return Some(format!(
                "it is declared further down, in line {line}: declare it before it is used"
            ));
        }
        if self.component_of_name(name).is_some() {
            return Some(format!("import it: import {name}"));
        }
        let exports = self.scopes.imports().flat_map(|component| {
            let own = &self.program.components[component.index()].name;
            let exports = &self.states[component.index()].exports;
            std::iter::once(own).chain(exports.iter().map(|(exported, _)| exported))
        });
        let visible: Vec<&str> = self
            .scopes
            .visible()
            .chain(exports)
            .map(String::as_str)
            .collect();
        // Names that differ only in capital letters.
        let mut alike = visible.iter().filter(|n| n.eq_ignore_ascii_case(name));
        let near = alike
            .next()
            .map(|near| (*near).to_string())
            .or_else(|| nearest(name, visible.iter().copied()))
            .or_else(|| nearest(name, Self::predefined_names()))?;
        Some(format!("did you mean \"{near}\"?"))
    }

    /// Makes a name of the current component visible to others.
    fn export(&mut self, name: &str, meaning: Meaning) {
        let state = &mut self.states[self.component.index()];
        let place = state.exports.len();
        state.exports.push((name.to_string(), meaning));
        state.export_places.entry(name.to_string()).or_insert(place);
        let exporting = self.exporting.entry(name.to_string()).or_default();
        exporting.push(self.component);
    }

    /// Gives a name a meaning in the innermost scope, and in the specification if that is being
    /// checked.
    pub(super) fn define(&mut self, name: &Name, meaning: Meaning) {
        if !self.is_free(name) {
            return;
        }
        let is_exported = self.place.is_specification && !self.place.is_block;
        if is_exported {
            self.export(&name.text, meaning.clone());
        }
        self.scopes.put(&name.text, meaning);
    }

    /// Gives an enumeration's literal its meaning.
    pub(super) fn define_literal(&mut self, name: &Name, value: Expression) {
        if self.scopes.find(&name.text).is_some_and(is_good) {
            self.error_with(
                name.span,
                format!("the name \"{}\" is taken", name.text),
                "a literal of an enumeration needs a name that nothing else has here",
            );
            return;
        }
        self.define(name, Meaning::Value(Box::new(value)));
        self.scopes.put_literal(&name.text);
    }

    /// Reports an error if a name may not be declared in the innermost scope. Returns whether it
    /// may.
    fn is_free(&mut self, name: &Name) -> bool {
        let declared = self.scopes.find_innermost(&name.text);
        if declared.is_some_and(is_good) {
            self.error_with(
                name.span,
                format!("\"{}\" is declared twice", name.text),
                "give one of them another name",
            );
            return false;
        }
        if self.scopes.is_literal(&name.text) {
            self.error_with(
                name.span,
                format!("\"{}\" is a literal of an enumeration", name.text),
                "a literal cannot be hidden: take another name",
            );
            return false;
        }
        true
    }
}

fn is_good(meaning: &Meaning) -> bool {
    !matches!(meaning, Meaning::Wrong)
}
