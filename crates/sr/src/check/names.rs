//! Looking names up, and giving them meanings.

use antiphon_lang::{Span, nearest};

use crate::program::{ComponentId, Expression};
use crate::syntax;
use crate::syntax::Name;

use super::Checker;
use super::scope::Meaning;

/// How messages about names end that mean nothing: of each name there is one.
pub(super) const NOT_DECLARED: &str = " is not declared";

impl Checker<'_> {
    /// What a name means here; none if it means nothing. The component's own names come first, then the predeclared ones (none, too), then imported ones, as in the
    /// original.
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

    /// What a name means in the imported components.
    fn imported(&self, name: &str) -> Vec<(ComponentId, Meaning)> {
        let mut found = Vec::new();
        for component in self.scopes.imports() {
            if self.program.components[component.index()].name == name {
                found.push((component, Meaning::Component(component)));
            } else if let Some(meaning) = self.exported(component, name) {
                found.push((component, meaning.clone()));
            }
        }
        found
    }

    /// If a predefined name hides an imported one, how that is written.
    pub(super) fn hidden(&self, name: &str) -> Option<String> {
        let (component, _) = self.imported(name).into_iter().next()?;
        let component = &self.program.components[component.index()].name;
        Some(format!(
            "predefined names come before imported ones: write {component}.{name}"
        ))
    }

    /// What a name means in a component's specification.
    fn exported(&self, component: ComponentId, name: &str) -> Option<&Meaning> {
        let exports = &self.states[component.index()].exports;
        let found = exports.iter().find(|(exported, _)| exported == name);
        found.map(|(_, meaning)| meaning)
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

    /// What `component.name` means; an error is reported if it means nothing.
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

    /// What a path means; none, and no message, if it is a name that is not declared.
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

    /// Reports that a name means nothing here, with what was perhaps meant.
    pub(super) fn undeclared(&mut self, name: &str, span: Span) {
        let message = format!("\"{name}\"{NOT_DECLARED}");
        match self.mend_of_undeclared(name) {
            Some(mend) => self.error_with(span, message, mend),
            None => self.error(span, message),
        }
    }

    fn mend_of_undeclared(&self, name: &str) -> Option<String> {
        if let Some(later) = self.scopes.later(name) {
            let line = self.sources.file(later.file).position(later.start).0;
            return Some(format!(
                "it is declared further down, in line {line}: declare it before it is used"
            ));
        }
        let components = &self.program.components;
        if components.iter().any(|component| component.name == name) {
            return Some(format!("import it: import {name}"));
        }
        let imports = self.scopes.imports();
        let exports = imports
            .iter()
            .flat_map(|component| &self.states[component.index()].exports)
            .map(|(exported, _)| exported);
        let near = nearest(
            name,
            self.scopes.visible().chain(exports).map(String::as_str),
        )
        .or_else(|| nearest(name, Self::predefined_names()))?;
        Some(format!("did you mean \"{near}\"?"))
    }

    /// Gives a name a meaning in the innermost scope, and in the specification if that is being checked.
    pub(super) fn define(&mut self, name: &Name, meaning: Meaning) {
        if !self.is_free(name) {
            return;
        }
        let is_exported = self.place.is_specification && !self.place.is_block;
        if is_exported {
            let exports = &mut self.states[self.component.index()].exports;
            exports.push((name.text.clone(), meaning.clone()));
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

    /// Whether a name may be declared in the innermost scope; an error is reported if it may not.
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
