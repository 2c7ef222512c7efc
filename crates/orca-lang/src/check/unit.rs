//! Units: their specifications, imports and implementations.

use std::collections::BTreeMap;

use antiphon_lang::Span;

use super::scope::{Named, Scope, Symbol};
use super::{Checker, Here, Progress, UnitFacts};
use crate::program::{
    Alternative, Effects, Routine, RoutineId, TypeKind, Unit, UnitId, Variable, VariableId,
    VariableKind,
};
use crate::syntax::{Declaration, Name, RoutineKind, UnitKind, Variables};
use crate::units::Halves;

impl<'a> Checker<'a> {
    /// Checks a requested unit.
    pub(super) fn root(&mut self, name: &str) {
        let Some(halves) = self.loaded.units.get(name) else {
            return;
        };
        let is_generic = halves
            .specification
            .as_ref()
            .is_some_and(|unit| unit.is_generic);
        if !is_generic {
            self.unit_named(
                name,
                Span {
                    file: 0,
                    start: 0,
                    end: 0,
                },
            );
        }
    }

    /// Checks the specification of a unit, unless that has been done.
    pub(super) fn unit_named(&mut self, name: &str, span: Span) -> Option<UnitId> {
        match self.by_name.get(name) {
            Some(Progress::Done(unit)) => return Some(*unit),
            Some(Progress::Begun) => {
                let message = format!("the specification of {name} needs itself");
                let help = "import the unit in the implementation instead";
                self.error_help(span, message, help);
                return None;
            }
            None => {}
        }
        let loaded = self.loaded;
        let halves = loaded.units.get(name)?;
        if halves.specification.is_none() {
            let implementation = halves.implementation.as_ref()?;
            let message = format!("unit \"{name}\" has no specification");
            let help = format!("write it into {name}.spf");
            self.error_help(implementation.name.span, message, help);
            return None;
        }
        self.by_name.insert(name.to_owned(), Progress::Begun);
        let unit = self.begin_unit(name.to_owned(), halves, BTreeMap::new(), false)?;
        self.by_name.insert(name.to_owned(), Progress::Done(unit));
        Some(unit)
    }

    /// Adds a unit, or an instance of a generic one, and checks its specification.
    pub(super) fn begin_unit(
        &mut self,
        name: String,
        halves: &'a Halves,
        bindings: BTreeMap<String, Symbol>,
        is_abstract: bool,
    ) -> Option<UnitId> {
        let text = halves.specification.as_ref()?;
        let id = UnitId(self.program.units.len() as u32);
        self.program.units.push(Unit {
            name: name.clone(),
            span: text.name.span,
            kind: text.kind,
            object_type: None,
            shape: None,
            bounds: Vec::new(),
            variables: Vec::new(),
            operations: Vec::new(),
            routines: Vec::new(),
            initial: None,
            imports: Vec::new(),
            is_abstract,
            is_implemented: halves.implementation.is_some(),
        });
        self.facts.push(UnitFacts {
            halves,
            bindings,
            exports: BTreeMap::new(),
            operations: BTreeMap::new(),
            announced: BTreeMap::new(),
        });
        let outer = self.enter(id);
        if text.kind == UnitKind::Object {
            let ty = self.add_type(name, TypeKind::Object(id));
            self.program.units[id.0 as usize].object_type = Some(ty);
            let shape = text.shape.as_ref();
            let shape = shape.map(|dimensions| {
                dimensions
                    .iter()
                    .map(|it| self.type_named(&it.index))
                    .collect()
            });
            self.program.units[id.0 as usize].shape = shape;
            self.declare(&text.name, Symbol::Type(ty));
        } else {
            self.declare(&text.name, Symbol::Unit(id));
        }
        let imports = self.scopes.len() - 1;
        self.scopes.push(Scope::default());
        for declaration in &text.declarations {
            self.declaration(declaration, imports);
        }
        self.resolve_forward();
        let scope = self.scopes.pop().unwrap_or_default();
        let exports = scope
            .names
            .into_iter()
            .map(|(name, named)| (name, named.symbol));
        let exports: BTreeMap<_, _> = exports.collect();
        self.facts[id.0 as usize].exports.extend(exports);
        if let Some(ty) = self.program.unit(id).object_type {
            let own = text.name.text.clone();
            self.facts[id.0 as usize]
                .exports
                .insert(own, Symbol::Type(ty));
        }
        self.leave(outer);
        self.pending.push(id);
        Some(id)
    }

    /// Enters a unit, with the predefined names and those of its parameters.
    fn enter(&mut self, unit: UnitId) -> (Vec<Scope>, Here, Vec<(crate::program::TypeId, Name)>) {
        let predefined = self.predefined_scope();
        let mut parameters = Scope::default();
        for (name, symbol) in &self.facts[unit.0 as usize].bindings {
            let named = Named {
                symbol: symbol.clone(),
                span: None,
                is_used: true,
            };
            parameters.names.insert(name.clone(), named);
        }
        // Imported names, which the unit's own names may hide.
        let scopes = vec![predefined, parameters, Scope::default()];
        let scopes = std::mem::replace(&mut self.scopes, scopes);
        let here = Here {
            unit: Some(unit),
            ..Here::default()
        };
        let here = std::mem::replace(&mut self.here, here);
        (scopes, here, std::mem::take(&mut self.forward))
    }

    fn leave(&mut self, outer: (Vec<Scope>, Here, Vec<(crate::program::TypeId, Name)>)) {
        (self.scopes, self.here, self.forward) = outer;
    }

    /// Checks a declaration of a unit. Imported names go into the scope of that number.
    fn declaration(&mut self, declaration: &Declaration, imports: usize) {
        match declaration {
            Declaration::Import { from, names } => self.import(from.as_ref(), names, imports),
            Declaration::Instance {
                kind,
                name,
                generic,
                arguments,
            } => {
                self.instance(*kind, name, generic, arguments);
            }
            Declaration::Const(name, value) => {
                let (value, ty) = self.constant_declaration(value);
                match value {
                    Some(value) => self.declare(name, Symbol::Constant(value, ty)),
                    None => self.declare(name, Symbol::Wrong),
                }
            }
            Declaration::Type(name, of) => self.type_declaration(name, of.as_ref()),
            Declaration::Variables(variables) => self.unit_variables(variables),
            Declaration::Routine(routine) => {
                self.resolve_forward();
                self.routine(routine);
            }
        }
    }

    fn import(&mut self, from: Option<&Name>, names: &[Name], imports: usize) {
        let here = self.here.unit;
        let mut known = Vec::new();
        let units: &[Name] = match from {
            Some(from) => std::slice::from_ref(from),
            None => names,
        };
        for name in units {
            let halves = self.loaded.units.get(&name.text);
            let own = here.map(|unit| self.program.unit(unit).name == name.text);
            if own == Some(true) {
                self.error(name.span, "a unit does not import itself");
                continue;
            }
            let is_generic = halves
                .and_then(|halves| halves.specification.as_ref())
                .is_some_and(|unit| unit.is_generic);
            if is_generic {
                let kind = "MODULE or OBJECT";
                let message = format!("\"{}\" is generic and cannot be imported", name.text);
                let help = format!("make a unit of it: {kind} X = NEW {}(..);", name.text);
                self.error_help(name.span, message, help);
                continue;
            }
            let unit = self.unit_named(&name.text, name.span);
            if let (Some(unit), Some(here)) = (unit, here) {
                let imports = &mut self.program.units[here.0 as usize].imports;
                if !imports.contains(&unit) {
                    imports.push(unit);
                }
            }
            known.push((name, unit));
        }
        match from {
            None => {
                for (name, unit) in known {
                    let symbol = unit.map_or(Symbol::Wrong, Symbol::Unit);
                    self.declare_import(name, symbol, imports);
                }
            }
            Some(_) => {
                let unit = known.first().and_then(|(_, unit)| *unit);
                for name in names {
                    let symbol = match unit {
                        Some(unit) => self.exported(unit, name),
                        None => Symbol::Wrong,
                    };
                    if let Symbol::Type(ty) = &symbol
                        && let TypeKind::Enumeration(literals) = self.program.kind(*ty).clone()
                    {
                        for (index, text) in literals.into_iter().enumerate() {
                            let value = crate::program::Value::Integer(index as i64);
                            let literal = Name {
                                text,
                                span: name.span,
                            };
                            let symbol = Symbol::Constant(value, *ty);
                            self.declare_import(&literal, symbol, imports);
                        }
                    }
                    self.declare_import(name, symbol, imports);
                }
            }
        }
    }

    /// Declares an imported name. It may be imported twice, as itself and from its unit.
    fn declare_import(&mut self, name: &Name, symbol: Symbol, imports: usize) {
        let named = Named {
            symbol,
            span: Some(name.span),
            is_used: false,
        };
        self.scopes[imports].names.insert(name.text.clone(), named);
    }

    fn unit_variables(&mut self, variables: &Variables) {
        let Some(unit) = self.here.unit else { return };
        let of = self.sized(&variables.of);
        let kind = match self.program.unit(unit).kind {
            UnitKind::Data => VariableKind::Data,
            _ => VariableKind::State,
        };
        for name in &variables.names {
            let id = self.add_variable(name, kind, of.clone());
            self.program.units[unit.0 as usize].variables.push(id);
            self.declare(name, Symbol::Variable(id));
        }
    }

    pub(super) fn add_variable(
        &mut self,
        name: &Name,
        kind: VariableKind,
        of: crate::program::SizedType,
    ) -> VariableId {
        let variable = Variable {
            name: name.text.clone(),
            span: name.span,
            kind,
            of,
        };
        self.program.variables.push(variable);
        VariableId(self.program.variables.len() as u32 - 1)
    }

    /// Checks the implementations of all known units, including those that they import.
    pub(super) fn implementations(&mut self) {
        while let Some(unit) = self.pending.pop() {
            self.implementation(unit);
        }
    }

    fn implementation(&mut self, unit: UnitId) {
        let halves = self.facts[unit.0 as usize].halves;
        let Some(text) = &halves.implementation else {
            let of = self.program.unit(unit);
            if of.kind != UnitKind::Module {
                let message = format!("{} \"{}\" has no implementation", of.kind.name(), of.name);
                let help = format!("write it into {}.imp", of.name);
                let span = of.span;
                self.error_help(span, message, help);
            }
            return;
        };
        let of = self.program.unit(unit);
        if text.kind != of.kind {
            let message = format!("the specification says that this is a {}", of.kind.name());
            self.error(text.name.span, message);
            return;
        }
        if let Some(specification) = &halves.specification
            && text.is_generic != specification.is_generic
        {
            let message = "specification and implementation have to be GENERIC both";
            self.error(text.name.span, message);
        }
        let outer = self.enter(unit);
        let imports = self.scopes.len() - 1;
        let own = match self.program.unit(unit).object_type {
            Some(ty) => Symbol::Type(ty),
            None => Symbol::Unit(unit),
        };
        self.declare(&text.name, own);
        self.scopes.push(Scope::default());
        let exports = self.facts[unit.0 as usize].exports.clone();
        if let Some(scope) = self.scopes.last_mut() {
            for (name, symbol) in exports {
                scope.names.insert(
                    name,
                    Named {
                        symbol,
                        span: None,
                        is_used: true,
                    },
                );
            }
        }
        self.shape_bounds(unit, text);
        for declaration in &text.declarations {
            self.declaration(declaration, imports);
        }
        self.resolve_forward();
        if let Some(statements) = &text.initial {
            self.initial(unit, text.name.span, statements);
        }
        self.check_bodies(unit);
        self.leave(outer);
    }

    /// Declares the bounds of a partitioned object.
    fn shape_bounds(&mut self, unit: UnitId, text: &crate::syntax::Unit) {
        let shape = self.program.unit(unit).shape.clone();
        let (Some(shape), Some(dimensions)) = (&shape, &text.shape) else {
            if shape.is_some() != text.shape.is_some() {
                let message =
                    "specification and implementation disagree on the object's dimensions";
                self.error(text.name.span, message);
            }
            return;
        };
        if shape.len() != dimensions.len() {
            let message = "specification and implementation disagree on the object's dimensions";
            self.error(text.name.span, message);
        }
        for dimension in dimensions {
            let ty = self.type_named(&dimension.index);
            let Some((low, high)) = &dimension.bounds else {
                continue;
            };
            for name in [low, high] {
                let id = self.add_variable(name, VariableKind::Index, Self::plain(ty));
                self.program.units[unit.0 as usize].bounds.push(id);
                self.declare(name, Symbol::Variable(id));
            }
        }
    }

    fn initial(&mut self, unit: UnitId, span: Span, statements: &[crate::syntax::Statement]) {
        let id = RoutineId(self.program.routines.len() as u32);
        self.program.routines.push(Routine {
            name: "the initial code".into(),
            span,
            kind: match self.program.unit(unit).kind {
                UnitKind::Object => RoutineKind::Operation,
                _ => RoutineKind::Function,
            },
            unit,
            parameters: Vec::new(),
            combinations: Vec::new(),
            result: None,
            indices: None,
            locals: Vec::new(),
            body: None,
            dependencies: None,
            effects: Effects::default(),
            end: span,
        });
        self.program.units[unit.0 as usize].initial = Some(id);
        self.here.routine = Some(id);
        self.scopes.push(Scope::default());
        let statements = self.statements(statements);
        self.scopes.pop();
        self.here.routine = None;
        let alternative = Alternative {
            guard: None,
            statements,
            writes: true,
            may_block: false,
        };
        self.program.routines[id.0 as usize].body = Some(vec![alternative]);
    }

    /// Checks that all routines with headings have bodies.
    fn check_bodies(&mut self, unit: UnitId) {
        let missing: Vec<_> = self.facts[unit.0 as usize]
            .announced
            .clone()
            .into_iter()
            .collect();
        for (id, span) in missing {
            let routine = self.program.routine(id);
            let message = format!("{} \"{}\" has no body", routine.kind.name(), routine.name);
            self.error_help(
                span,
                message,
                "write it into the implementation of its unit",
            );
        }
    }

    /// Reports that the program has no main process.
    pub(super) fn miss_main(&mut self) {
        let roots = self.loaded.roots.iter();
        let units: Vec<_> = roots
            .filter_map(|name| self.loaded.units.get(name))
            .collect();
        let text = units
            .iter()
            .find_map(|it| it.implementation.as_ref().or(it.specification.as_ref()));
        if let Some(text) = text {
            let message = "process \"OrcaMain\" is not defined";
            let help = "a program begins with PROCESS OrcaMain(); in the unit that is named";
            self.error_help(text.name.span, message, help);
        }
    }
}
