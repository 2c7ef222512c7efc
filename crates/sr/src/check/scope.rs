//! What names mean.

use std::collections::{HashMap, HashSet};

use crate::program::{
    ComponentId, Expression, OperationId, Shape, SignatureId, TypeId, VariableId,
};
use crate::source::Span;
use crate::syntax;
use crate::syntax::{Item, ItemKind, Name};

use super::Checker;

/// How messages about names end that mean nothing: of each name there is one.
pub(super) const NOT_DECLARED: &str = " is not declared";

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// A variable, constant, parameter or quantifier variable.
    Variable(VariableId),
    /// A constant whose value stands for it: an enumeration's literal, or a constant of a specification.
    Value(Box<Expression>),
    /// An operation.
    Operation(OperationId),
    /// A type, with the bounds that it was declared with.
    Type(TypeId, Shape),
    /// An optype.
    Optype(SignatureId),
    /// A component.
    Component(ComponentId),
    /// Something that was declared wrongly: no more is said of it.
    Wrong,
}

/// Scopes, from that of the component inwards.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The scopes; the last is the innermost.
    open: Vec<Scope>,
}

/// One scope.
#[derive(Debug, Default)]
struct Scope {
    /// What has been declared.
    names: HashMap<String, Meaning>,
    /// Literals of enumerations among them: nothing may hide these.
    literals: HashSet<String>,
    /// Parameters of a prototype, which have no value there.
    formals: HashSet<String>,
    /// Components whose names are visible.
    imports: Vec<ComponentId>,
    /// What the items will declare further down, and where.
    later: HashMap<String, Span>,
    /// Types that the items declare, for pointers at what is declared further down.
    types: HashMap<String, LaterType>,
}

/// A type that is declared further down.
#[derive(Debug, Clone)]
pub(super) enum LaterType {
    /// As it is written.
    Written(syntax::TypeExpression),
    /// A pointer has already needed it.
    Needed(TypeId, Shape),
    /// It is being checked.
    Busy,
}

impl Scopes {
    /// What a name of the component's own means here.
    pub(super) fn find(&self, name: &str) -> Option<&Meaning> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    pub(super) fn open(&mut self) {
        self.open.push(Scope::default());
    }

    pub(super) fn close(&mut self) {
        self.open.pop();
    }

    fn innermost(&mut self) -> &mut Scope {
        if self.open.is_empty() {
            self.open();
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Makes a component's names visible up to the end of the innermost scope.
    pub(super) fn import(&mut self, component: ComponentId) {
        let scope = self.innermost();
        if !scope.imports.contains(&component) {
            scope.imports.push(component);
        }
    }

    /// The components whose names are visible, each once.
    fn imports(&self) -> Vec<ComponentId> {
        let mut all: Vec<ComponentId> = Vec::new();
        for &component in self.open.iter().flat_map(|scope| &scope.imports) {
            if !all.contains(&component) {
                all.push(component);
            }
        }
        all
    }

    /// Notes a prototype's parameter.
    pub(super) fn formal(&mut self, name: &str) {
        self.innermost().formals.insert(name.to_string());
    }

    fn is_formal(&self, name: &str) -> bool {
        for scope in self.open.iter().rev() {
            if scope.formals.contains(name) {
                return true;
            }
            if scope.names.contains_key(name) {
                return false;
            }
        }
        false
    }

    fn later(&self, name: &str) -> Option<Span> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.later.get(name).copied())
    }

    /// Notes what items will declare.
    pub(super) fn announce(&mut self, items: &[Item]) {
        let scope = self.innermost();
        for item in items {
            for name in declared(&item.kind) {
                scope.later.insert(name.text.clone(), name.span);
            }
            if let ItemKind::Type(name, of) = &item.kind {
                let written = LaterType::Written(of.clone());
                scope.types.insert(name.text.clone(), written);
            }
        }
    }

    /// A type that is declared further down, innermost scope first.
    pub(super) fn later_type(&mut self, name: &str) -> Option<&mut LaterType> {
        self.open
            .iter_mut()
            .rev()
            .find_map(|scope| scope.types.get_mut(name))
    }

    /// What is known of a type that the innermost scope now declares; until it has, it is being checked.
    pub(super) fn reached_type(&mut self, name: &str) -> Option<LaterType> {
        let later = self.innermost().types.get_mut(name)?;
        Some(std::mem::replace(later, LaterType::Busy))
    }

    fn visible(&self) -> impl Iterator<Item = &String> {
        self.open.iter().flat_map(|scope| scope.names.keys())
    }
}

/// The names that an item declares.
fn declared(item: &ItemKind) -> Vec<&Name> {
    match item {
        ItemKind::Type(name, _)
        | ItemKind::Optype(name, _)
        | ItemKind::Procedure(name, ..)
        | ItemKind::Process(name, ..) => vec![name],
        ItemKind::Objects { groups, .. } => {
            let declarators = groups.iter().flat_map(|group| &group.declarators);
            declarators.map(|declarator| &declarator.name).collect()
        }
        ItemKind::Operations { groups, .. } => {
            let declarators = groups.iter().flat_map(|group| &group.declarators);
            declarators.map(|declarator| &declarator.name).collect()
        }
        ItemKind::Semaphores(declared) => declared.iter().map(|(d, _)| &d.name).collect(),
        _ => Vec::new(),
    }
}

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
        let scope = self.scopes.innermost();
        scope.later.remove(&name.text);
        scope.names.insert(name.text.clone(), meaning);
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
        let scope = self.scopes.innermost();
        scope.literals.insert(name.text.clone());
    }

    /// Whether a name may be declared in the innermost scope; an error is reported if it may not.
    fn is_free(&mut self, name: &Name) -> bool {
        let innermost = self.scopes.innermost();
        if innermost.names.get(&name.text).is_some_and(is_good) {
            self.error_with(
                name.span,
                format!("\"{}\" is declared twice", name.text),
                "give one of them another name",
            );
            return false;
        }
        let mut outer = self.scopes.open.iter();
        if outer.any(|scope| scope.literals.contains(&name.text)) {
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

/// The name that is most like another, if one is like it.
fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let most = (name.chars().count() / 3).max(1);
    names
        .filter(|candidate| *candidate != name)
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate.to_string())
}
