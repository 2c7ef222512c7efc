//! Scopes and the meanings of names.

use std::collections::{HashMap, HashSet};

use antiphon_lang::Span;

use crate::program::{
    ComponentId, Expression, OperationId, Shape, SignatureId, TypeId, VariableId,
};
use crate::syntax;
use crate::syntax::{Item, ItemKind, Name};

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// A variable, constant, parameter or quantifier variable.
    Variable(VariableId),
    /// A constant that is replaced by its value: an enumeration's literal, or a constant of a
    /// specification.
    Value(Box<Expression>),
    /// An operation.
    Operation(OperationId),
    /// A type, with the bounds that it was declared with.
    Type(TypeId, Shape),
    /// An optype.
    Optype(SignatureId),
    /// A component.
    Component(ComponentId),
    /// A wrong declaration; uses of it are not reported.
    Wrong,
}

/// Scopes, from the component's inwards.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    /// The scopes; the last is the innermost.
    open: Vec<Scope>,
}

/// One scope.
#[derive(Debug, Default)]
struct Scope {
    /// Names that have been declared.
    names: HashMap<String, Meaning>,
    /// The literals of enumerations among them, which must not be hidden.
    literals: HashSet<String>,
    /// Parameters of a prototype, which have no value there.
    formals: HashSet<String>,
    /// Components whose names are visible.
    imports: HashSet<ComponentId>,
    /// Names that the items declare later, with their places.
    later: HashMap<String, Span>,
    /// Types that the items declare, for pointers to types that are declared later.
    types: HashMap<String, LaterType>,
}

/// A type that is declared later.
#[derive(Debug, Clone)]
pub(super) enum LaterType {
    /// Not checked yet.
    Written(syntax::TypeExpression),
    /// Checked early, because a pointer needed it.
    Needed(TypeId, Shape),
    /// Being checked.
    Busy,
}

impl Scopes {
    /// Returns what a name of the component itself means here.
    pub(super) fn find(&self, name: &str) -> Option<&Meaning> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    /// Returns what a name means that the innermost scope declares.
    pub(super) fn find_innermost(&self, name: &str) -> Option<&Meaning> {
        self.open.last()?.names.get(name)
    }

    /// Whether a name is a literal of an enumeration that is visible here.
    pub(super) fn is_literal(&self, name: &str) -> bool {
        self.open.iter().any(|scope| scope.literals.contains(name))
    }

    /// Defines a name in the innermost scope.
    pub(super) fn put(&mut self, name: &str, meaning: Meaning) {
        let scope = self.innermost();
        scope.later.remove(name);
        scope.names.insert(name.to_string(), meaning);
    }

    /// Notes that a name of the innermost scope is a literal of an enumeration.
    pub(super) fn put_literal(&mut self, name: &str) {
        self.innermost().literals.insert(name.to_string());
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
        self.innermost().imports.insert(component);
    }

    /// Whether a component's names are visible.
    pub(super) fn has_import(&self, component: ComponentId) -> bool {
        self.open
            .iter()
            .any(|scope| scope.imports.contains(&component))
    }

    /// Returns the components whose names are visible. A component may occur more than once.
    pub(super) fn imports(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.open
            .iter()
            .flat_map(|scope| scope.imports.iter().copied())
    }

    /// Notes a prototype's parameter.
    pub(super) fn formal(&mut self, name: &str) {
        self.innermost().formals.insert(name.to_string());
    }

    pub(super) fn is_formal(&self, name: &str) -> bool {
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

    pub(super) fn later(&self, name: &str) -> Option<Span> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.later.get(name).copied())
    }

    /// Notes the names that items will declare.
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

    /// Returns a type that is declared later, innermost scope first.
    pub(super) fn later_type(&mut self, name: &str) -> Option<&mut LaterType> {
        self.open
            .iter_mut()
            .rev()
            .find_map(|scope| scope.types.get_mut(name))
    }

    /// Returns the state of a type whose declaration the innermost scope has reached, and marks it
    /// as being checked.
    pub(super) fn reached_type(&mut self, name: &str) -> Option<LaterType> {
        let later = self.innermost().types.get_mut(name)?;
        Some(std::mem::replace(later, LaterType::Busy))
    }

    pub(super) fn visible(&self) -> impl Iterator<Item = &String> {
        self.open.iter().flat_map(|scope| scope.names.keys())
    }
}

/// Returns the names that an item declares.
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
