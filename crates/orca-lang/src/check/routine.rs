//! Functions, processes and operations: headings and bodies.

use antiphon_lang::Span;

use super::Checker;
use super::scope::{Scope, Symbol};
use crate::program::{
    Alternative, Combination, Effects, Mode, Routine, RoutineId, SizedType, TypeId, TypeKind,
    UnitId, VariableId, VariableKind,
};
use crate::syntax::{self, Block, Body, Combine, Declaration, Formal, Name, RoutineKind, UnitKind};

impl Checker<'_> {
    /// Checks a heading, and the body if there is one.
    pub(super) fn routine(&mut self, text: &syntax::Routine) {
        let Some(unit) = self.here.unit else { return };
        let mut routine = self.heading(text, unit);
        let scope = self.scopes.pop().unwrap_or_default();
        let is_specification = !self.is_implementation(text);
        let before = self.announced(text);
        let id = match before {
            Some(id) => {
                self.compare_headings(id, &routine, text.name.span);
                routine.effects = Effects::default();
                let old = self.program.routine(id);
                if text.block.is_none() {
                    routine.body = old.body.clone();
                }
                self.program.routines[id.0 as usize] = routine;
                id
            }
            None => {
                let id = RoutineId(self.program.routines.len() as u32);
                self.program.routines.push(routine);
                self.declare_routine(text, id, is_specification);
                id
            }
        };
        let announced = &mut self.facts[unit.0 as usize].announced;
        match &text.block {
            Some(_) => {
                announced.remove(&id);
            }
            None => {
                announced.insert(id, text.name.span);
            }
        }
        if text.kind == RoutineKind::Process && text.name.text == "OrcaMain" {
            self.main(id, text);
        }
        if let Some(block) = &text.block {
            self.scopes.push(scope);
            self.body(id, block, text);
        }
    }

    /// Returns whether a routine stands in the implementation of the unit that is being checked.
    fn is_implementation(&self, text: &syntax::Routine) -> bool {
        let unit = self.here.unit.map(|unit| &self.facts[unit.0 as usize]);
        let file = unit.and_then(|facts| facts.halves.implementation.as_ref());
        file.is_some_and(|unit| unit.name.span.file == text.name.span.file)
    }

    /// Returns the routine of an earlier heading that has no body yet.
    fn announced(&self, text: &syntax::Routine) -> Option<RoutineId> {
        let facts = &self.facts[self.here.unit?.0 as usize];
        let id = match text.kind {
            RoutineKind::Operation => facts.operations.get(&text.name.text)?.0,
            _ => match self.scopes.last()?.names.get(&text.name.text)?.symbol {
                Symbol::Routine(id) => id,
                _ => return None,
            },
        };
        facts.announced.contains_key(&id).then_some(id)
    }

    fn declare_routine(&mut self, text: &syntax::Routine, id: RoutineId, is_public: bool) {
        let Some(unit) = self.here.unit else { return };
        if text.kind != RoutineKind::Operation {
            self.program.units[unit.0 as usize].routines.push(id);
            self.declare(&text.name, Symbol::Routine(id));
            return;
        }
        self.program.units[unit.0 as usize].operations.push(id);
        let operations = &mut self.facts[unit.0 as usize].operations;
        if operations
            .insert(text.name.text.clone(), (id, is_public))
            .is_some()
        {
            let message = format!("operation \"{}\" is already declared", text.name.text);
            self.error(text.name.span, message);
        }
    }

    fn main(&mut self, id: RoutineId, text: &syntax::Routine) {
        if !text.formals.is_empty() {
            let help = "the arguments of the program come from the unit args";
            self.error_help(text.name.span, "OrcaMain has no parameters", help);
        }
        let Some(unit) = self.here.unit else { return };
        if self.program.unit(unit).is_abstract {
            self.error(text.name.span, "a generic unit does not define OrcaMain");
        }
        let is_root = self.loaded.roots.contains(&self.program.unit(unit).name);
        if is_root {
            self.program.main = Some(id);
        }
    }

    /// Makes a routine from its heading. A scope with the parameters stays open.
    fn heading(&mut self, text: &syntax::Routine, unit: UnitId) -> Routine {
        self.scopes.push(Scope::default());
        let indices = text
            .indices
            .as_ref()
            .map(|names| self.indices(names, unit, text.name.span));
        let mut parameters = Vec::new();
        let mut combinations = Vec::new();
        for formal in &text.formals {
            let of = self.sized(&formal.of);
            self.check_formal(text, formal, &of);
            for name in &formal.names {
                let kind = VariableKind::Parameter(formal.mode);
                let id = self.add_variable(name, kind, of.clone());
                self.declare(name, Symbol::Variable(id));
                parameters.push(id);
                let combination = formal.combine.as_ref();
                combinations.push(combination.and_then(|it| self.combination(it, of.ty, unit)));
            }
        }
        let result = text.result.as_ref().map(|(of, combine)| {
            let ty = self.type_named(of);
            let combination = combine
                .as_ref()
                .and_then(|it| self.combination(it, ty, unit));
            (ty, combination)
        });
        Routine {
            name: text.name.text.clone(),
            span: text.name.span,
            kind: text.kind,
            unit,
            parameters,
            combinations,
            result,
            indices,
            locals: Vec::new(),
            body: None,
            dependencies: None,
            effects: Effects::default(),
            end: text
                .block
                .as_ref()
                .map_or(text.name.span, |block| block.end),
        }
    }

    /// Declares the indices of a parallel operation.
    fn indices(&mut self, names: &[Name], unit: UnitId, span: Span) -> Vec<VariableId> {
        let shape = self.program.unit(unit).shape.clone();
        let Some(shape) = shape else {
            let message = "only partitioned objects have parallel operations";
            let help = "write the types of the indices behind the object's name";
            self.error_help(span, message, help);
            return Vec::new();
        };
        if shape.len() != names.len() {
            let message = format!("{} indices for {} dimensions", names.len(), shape.len());
            self.error(span, message);
        }
        let pairs = names.iter().zip(shape);
        pairs
            .map(|(name, ty)| {
                let id = self.add_variable(name, VariableKind::Index, Self::plain(ty));
                self.declare(name, Symbol::Variable(id));
                id
            })
            .collect()
    }

    fn combination(&mut self, combine: &Combine, ty: TypeId, unit: UnitId) -> Option<Combination> {
        match combine {
            Combine::Gather => {
                let shape = self.program.unit(unit).shape.clone().unwrap_or_default();
                match self.program.kind(ty) {
                    TypeKind::Array { indices, .. } if indices.len() == shape.len() => {}
                    TypeKind::Error => {}
                    _ => {
                        let message = "GATHER needs an array with the object's dimensions";
                        let span = self.program.unit(unit).span;
                        self.error(span, message);
                    }
                }
                Some(Combination::Gather)
            }
            Combine::Reduce(name) => {
                let symbol = self.lookup(&name.text, name.span);
                let Symbol::Routine(id) = symbol else {
                    if !matches!(symbol, Symbol::Wrong) {
                        self.error(name.span, format!("\"{}\" is no function", name.text));
                    }
                    return None;
                };
                let headings = self.headings(id);
                let fits = headings.len() == 2
                    && headings
                        .iter()
                        .all(|it| it.mode == Mode::Shared && self.program.is_same(it.ty, ty))
                    && self.program.routine(id).result.is_none();
                if !fits {
                    let of = self.name_of(ty).to_owned();
                    let message = format!("\"{}\" does not reduce values of {of}", name.text);
                    let help = format!(
                        "it has two SHARED parameters of {of}, leaves the result in the first, and returns nothing"
                    );
                    self.error_help(name.span, message, help);
                }
                Some(Combination::Reduce(id))
            }
        }
    }

    /// Checks that a routine may have such a parameter.
    fn check_formal(&mut self, text: &syntax::Routine, formal: &Formal, of: &SizedType) {
        let span = formal.names[0].span;
        let has_objects = self.program.has_objects(of.ty);
        let is_shareable = |mut ty: TypeId| {
            while let TypeKind::Array { element, .. } = self.program.kind(ty) {
                ty = *element;
            }
            matches!(self.program.kind(ty), TypeKind::Object(_) | TypeKind::Error)
        };
        let wrong = match (text.kind, formal.mode) {
            (RoutineKind::Process, Mode::Out) => Some((
                "no OUT parameters are allowed in a process",
                "share an object that the process writes its result into",
            )),
            (RoutineKind::Process, Mode::Shared) if !is_shareable(of.ty) => Some((
                "only objects and arrays of objects may be shared",
                "leave out SHARED to pass a copy, or make an object of it",
            )),
            (RoutineKind::Operation, Mode::Shared) => Some((
                "no SHARED parameters are allowed in an operation",
                "operations have IN and OUT parameters",
            )),
            _ => None,
        };
        // The original accepts it against its report, and old programs use it.
        if formal.mode == Mode::Out && has_objects && text.kind == RoutineKind::Function {
            let help = "pass it SHARED: then the callee works on the caller's object";
            self.warn(
                span,
                "an OUT parameter holds objects: they are copied back",
                help,
            );
        }
        if let Some((message, help)) = wrong {
            self.error_help(span, message, help);
        }
        if !of.bounds.is_empty() && formal.mode != Mode::Out {
            let help = "the actual parameter brings its bounds";
            self.error_help(span, "only OUT parameters have initial bounds", help);
        }
    }

    fn compare_headings(&mut self, id: RoutineId, routine: &Routine, span: Span) {
        let old = self.headings(id);
        let mode = |variable: &VariableId| match self.program.variable(*variable).kind {
            VariableKind::Parameter(mode) => mode,
            _ => Mode::In,
        };
        let fits = |(heading, new): (&super::call::Heading, &VariableId)| {
            heading.mode == mode(new)
                && self
                    .program
                    .is_same(heading.ty, self.program.variable(*new).of.ty)
        };
        let before = self.program.routine(id);
        let results = match (before.result, routine.result) {
            (Some((one, _)), Some((other, _))) => self.program.is_same(one, other),
            (None, None) => true,
            _ => false,
        };
        let is_same = before.kind == routine.kind
            && old.len() == routine.parameters.len()
            && old.iter().zip(&routine.parameters).all(fits)
            && results;
        if !is_same {
            let message = format!("inconsistent declaration for \"{}\"", routine.name);
            let (line, _) = self
                .loaded
                .sources
                .file(before.span.file)
                .position(before.span.start);
            let file = self.loaded.sources.file(before.span.file).path.display();
            let help = format!("its other heading is in {file}, line {line}");
            self.error_help(span, message, help);
        }
    }

    fn body(&mut self, id: RoutineId, block: &Block, text: &syntax::Routine) {
        self.here.routine = Some(id);
        self.here.loops = 0;
        self.here.returns = 0;
        for declaration in &block.declarations {
            match declaration {
                Declaration::Const(name, value) => {
                    let (value, ty) = self.constant_declaration(value);
                    let symbol = value.map_or(Symbol::Wrong, |value| Symbol::Constant(value, ty));
                    self.declare(name, symbol);
                }
                Declaration::Type(name, of) => self.type_declaration(name, of.as_ref()),
                Declaration::Variables(variables) => {
                    let of = self.sized(&variables.of);
                    for name in &variables.names {
                        let variable = self.add_variable(name, VariableKind::Local, of.clone());
                        self.declare(name, Symbol::Variable(variable));
                        self.program.routines[id.0 as usize].locals.push(variable);
                    }
                }
                _ => {}
            }
        }
        self.resolve_forward();
        if let Some(statements) = &block.dependencies {
            let statements = self.statements(statements);
            self.program.routines[id.0 as usize].dependencies = Some(statements);
        }
        let is_partitioned = self.here.unit.is_some_and(|unit| {
            self.program.unit(unit).shape.is_some() && text.kind == RoutineKind::Operation
        });
        let plain = |guard, statements| Alternative {
            guard,
            statements,
            writes: false,
            may_block: false,
        };
        let alternatives = match &block.body {
            Body::Plain(statements) => vec![plain(None, self.statements(statements))],
            Body::Guarded(guards) => guards
                .iter()
                .map(|(guard, statements)| {
                    if is_partitioned {
                        let message = "no guards are allowed in operations on partitioned objects";
                        self.error(guard.span, message);
                    }
                    let guard = self.condition(guard);
                    plain(Some(guard), self.statements(statements))
                })
                .collect(),
        };
        let returns = self.here.returns;
        let routine = &mut self.program.routines[id.0 as usize];
        routine.body = Some(alternatives);
        if routine.result.is_some() && returns == 0 {
            let message = format!("\"{}\" should return a value, but does not", text.name.text);
            self.error_help(text.name.span, message, "end it with RETURN value;");
        }
        self.here.routine = None;
        let scope = self.scopes.pop().unwrap_or_default();
        self.warn_unused(&scope);
    }

    /// Warns of local variables that nothing uses.
    fn warn_unused(&mut self, scope: &Scope) {
        for (name, named) in &scope.names {
            if let (Symbol::Variable(id), Some(span)) = (&named.symbol, named.span)
                && !named.is_used
                && self.program.variable(*id).kind == VariableKind::Local
            {
                self.warn(
                    span,
                    format!("variable \"{name}\" is never used"),
                    "remove it",
                );
            }
        }
    }

    /// Returns whether the code that is being checked sees the state of its object.
    pub(super) fn sees_state(&self) -> bool {
        let kind = self.here.routine.map(|id| self.program.routine(id).kind);
        kind == Some(RoutineKind::Operation)
    }

    /// Returns whether the code that is being checked may write the variables of its data module.
    pub(super) fn is_data_module(&self) -> bool {
        self.here
            .unit
            .is_some_and(|unit| self.program.unit(unit).kind == UnitKind::Data)
    }
}
