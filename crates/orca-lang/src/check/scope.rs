//! Names and their meanings.

use std::collections::BTreeMap;

use antiphon_lang::{Span, nearest};

use super::Checker;
use crate::program::{
    Predefined, RoutineId, TypeId, TypeKind, UnitId, Value, VariableId, VariableKind,
};
use crate::syntax::{Expression, ExpressionKind, Name, RoutineKind};

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(super) enum Symbol {
    Type(TypeId),
    Constant(Value, TypeId),
    Variable(VariableId),
    Routine(RoutineId),
    Unit(UnitId),
    Predefined(Predefined),
    Nil,
    Itself,
    /// A name whose declaration has an error.
    Wrong,
}

/// A name in a scope.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub symbol: Symbol,
    /// Its declaration; none if it is predefined.
    pub span: Option<Span>,
    pub is_used: bool,
}

/// A scope.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub names: BTreeMap<String, Named>,
}

impl Checker<'_> {
    pub(super) fn predefined_scope(&self) -> Scope {
        let mut scope = Scope::default();
        let mut add = |name: &str, symbol| {
            let named = Named {
                symbol,
                span: None,
                is_used: false,
            };
            scope.names.insert(name.to_owned(), named);
        };
        for predefined in Predefined::ALL {
            if *predefined != Predefined::From {
                add(predefined.name(), Symbol::Predefined(*predefined));
            }
        }
        let known = &self.known;
        for (name, ty) in [
            ("integer", known.integer),
            ("shortint", known.shortint),
            ("longint", known.longint),
            ("real", known.real),
            ("longreal", known.real),
            ("shortreal", known.shortreal),
            ("boolean", known.boolean),
            ("char", known.char),
            ("string", known.string),
        ] {
            add(name, Symbol::Type(ty));
        }
        add("false", Symbol::Constant(Value::Integer(0), known.boolean));
        add("true", Symbol::Constant(Value::Integer(1), known.boolean));
        add("NIL", Symbol::Nil);
        add("SELF", Symbol::Itself);
        scope
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &Name, symbol: Symbol) {
        let Some(scope) = self.scopes.last_mut() else {
            return;
        };
        let named = Named {
            symbol,
            span: Some(name.span),
            is_used: false,
        };
        let Some(before) = scope.names.get(&name.text) else {
            scope.names.insert(name.text.clone(), named);
            return;
        };
        let before = before.span;
        let message = format!("\"{}\" is already declared", name.text);
        let place = before.map(|span| {
            let source = self.loaded.sources.file(span.file);
            let (line, _) = source.position(span.start);
            format!(
                "its declaration is in {}, line {line}",
                source.path.display()
            )
        });
        self.error_help(
            name.span,
            message,
            place.unwrap_or_else(|| "take another name".into()),
        );
    }

    /// Returns the meaning of a name, without an error if there is none.
    pub(super) fn find(&mut self, name: &str) -> Option<Symbol> {
        let found = self
            .scopes
            .iter_mut()
            .rev()
            .find_map(|scope| scope.names.get_mut(name))?;
        found.is_used = true;
        Some(found.symbol.clone())
    }

    /// Returns the meaning of a name.
    pub(super) fn lookup(&mut self, name: &str, span: Span) -> Symbol {
        if let Some(symbol) = self.find(name) {
            return symbol;
        }
        let message = format!("identifier \"{name}\" is not declared");
        let help = self.help_for(name);
        match help {
            Some(help) => self.error_help(span, message, help),
            None => self.error(span, message),
        }
        // A missing declaration is reported once in a scope.
        if let Some(scope) = self.scopes.last_mut() {
            let named = Named {
                symbol: Symbol::Wrong,
                span: Some(span),
                is_used: true,
            };
            scope.names.insert(name.to_owned(), named);
        }
        Symbol::Wrong
    }

    fn help_for(&self, name: &str) -> Option<String> {
        let upper = name.to_ascii_uppercase();
        if name != upper && crate::token::Kind::word(&upper).is_some() {
            return Some(format!("reserved words are written in capitals: {upper}"));
        }
        let unit = self.here.unit?;
        let is_state = |id: &&VariableId| self.program.variable(**id).name == name;
        if self
            .program
            .unit(unit)
            .variables
            .iter()
            .any(|id| is_state(&id))
        {
            return Some("only operations and initial code see the state of an object".into());
        }
        let exporter =
            self.facts.iter().enumerate().find(|(index, facts)| {
                *index != unit.0 as usize && facts.exports.contains_key(name)
            });
        if let Some((index, _)) = exporter {
            let from = &self.program.units[index].name;
            return Some(format!("write FROM {from} IMPORT {name};"));
        }
        let names = self.scopes.iter().flat_map(|scope| scope.names.keys());
        nearest(name, names.map(String::as_str)).map(|like| format!("did you mean {like}?"))
    }

    /// Returns the meaning of `name` or `unit.name`; `None` for another expression.
    pub(super) fn symbol_of(&mut self, expression: &Expression) -> Option<Symbol> {
        match &expression.kind {
            ExpressionKind::Name(name) => Some(self.lookup(name, expression.span)),
            ExpressionKind::Select(base, name) => {
                let ExpressionKind::Name(unit) = &base.kind else {
                    return None;
                };
                match self.find(unit)? {
                    Symbol::Unit(unit) => Some(self.exported(unit, name)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the symbol that a unit exports under a name.
    pub(super) fn exported(&mut self, unit: UnitId, name: &Name) -> Symbol {
        let facts = &self.facts[unit.0 as usize];
        if let Some(symbol) = facts.exports.get(&name.text) {
            return symbol.clone();
        }
        let like = nearest(&name.text, facts.exports.keys().map(String::as_str));
        let is_operation = facts.operations.contains_key(&name.text);
        let unit_name = self.program.unit(unit).name.clone();
        let message = format!("unit {unit_name} does not declare \"{}\"", name.text);
        match (is_operation, like) {
            (true, _) => {
                let help = format!("it is an operation: write object${}(..)", name.text);
                self.error_help(name.span, message, help);
            }
            (false, Some(like)) => {
                self.error_help(name.span, message, format!("did you mean {like}?"));
            }
            (false, None) => self.error(name.span, message),
        }
        Symbol::Wrong
    }

    /// Returns the type with a name of one or two parts.
    pub(super) fn type_named(&mut self, parts: &[Name]) -> TypeId {
        let symbol = self.qualified_symbol(parts);
        let last = &parts[parts.len() - 1];
        match symbol {
            Symbol::Type(ty) => ty,
            Symbol::Wrong => self.known.error,
            Symbol::Unit(unit) => match self.program.unit(unit).object_type {
                Some(ty) => ty,
                None => {
                    let message = format!("\"{}\" is a module, not a type", last.text);
                    self.error(last.span, message);
                    self.known.error
                }
            },
            other => {
                let message = format!("\"{}\" is {}, not a type", last.text, self.words(&other));
                self.error(last.span, message);
                self.known.error
            }
        }
    }

    /// Returns the meaning of a name of one or two parts.
    pub(super) fn qualified_symbol(&mut self, parts: &[Name]) -> Symbol {
        let first = &parts[0];
        let mut symbol = self.lookup(&first.text, first.span);
        for part in &parts[1..] {
            symbol = match symbol {
                Symbol::Unit(unit) => self.exported(unit, part),
                Symbol::Wrong => return Symbol::Wrong,
                _ => {
                    let message = format!("\"{}\" is no unit", first.text);
                    self.error(first.span, message);
                    return Symbol::Wrong;
                }
            };
        }
        symbol
    }

    /// Returns words for the meaning of a name.
    pub(super) fn words(&self, symbol: &Symbol) -> &'static str {
        match symbol {
            Symbol::Type(_) => "a type",
            Symbol::Constant(_, ty) => match self.program.kind(*ty) {
                TypeKind::Enumeration(_) => "a value of an enumeration",
                _ => "a constant",
            },
            Symbol::Variable(id) => match self.program.variable(*id).kind {
                VariableKind::Loop => "a loop variable",
                VariableKind::Index => "an index",
                _ => "a variable",
            },
            Symbol::Routine(id) => match self.program.routine(*id).kind {
                RoutineKind::Process => "a process",
                RoutineKind::Function => "a function",
                RoutineKind::Operation => "an operation",
            },
            Symbol::Unit(_) => "a unit",
            Symbol::Predefined(_) => "predefined",
            Symbol::Nil => "no node",
            Symbol::Itself => "the object itself",
            Symbol::Wrong => "wrong",
        }
    }
}
