//! Calls of functions and operations.

use antiphon_lang::{Span, nearest};

use super::Checker;
use super::scope::Symbol;
use crate::program::{Expr, ExprKind, Mode, RoutineId, TypeId, TypeKind, UnitId};
use crate::syntax::{Expression, ExpressionKind, Name, RoutineKind};

/// A parameter in a routine's heading.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    pub mode: Mode,
    pub ty: TypeId,
    pub name: String,
}

impl Checker<'_> {
    /// Checks a call of a function. `None` in the type means that it has no result.
    pub(super) fn call(
        &mut self,
        callee: &Expression,
        arguments: &[Expression],
        span: Span,
    ) -> (Expr, bool) {
        let symbol = self.symbol_of(callee);
        match symbol {
            Some(Symbol::Routine(id)) => self.call_routine(id, arguments, callee.span, span),
            Some(Symbol::Predefined(predefined)) => {
                self.predefined(predefined, arguments, callee.span, span)
            }
            Some(Symbol::Wrong) => {
                self.values(arguments);
                (self.wrong(span), true)
            }
            Some(Symbol::Variable(_)) | None => self.call_value(callee, arguments, span),
            Some(other) => {
                let message = format!("{} cannot be called", self.words(&other));
                self.error(callee.span, message);
                (self.wrong(span), true)
            }
        }
    }

    fn call_routine(
        &mut self,
        id: RoutineId,
        arguments: &[Expression],
        callee: Span,
        span: Span,
    ) -> (Expr, bool) {
        let routine = self.program.routine(id);
        let (kind, name) = (routine.kind, routine.name.clone());
        if kind == RoutineKind::Process {
            let help = format!("start it: FORK {name}(..) ON cpu;");
            self.error_help(callee, format!("\"{name}\" is a process"), help);
            return (self.wrong(span), true);
        }
        let result = routine.result.map(|(ty, _)| ty);
        let headings = self.headings(id);
        let arguments = self.arguments(&name, &headings, arguments, span);
        let ty = result.unwrap_or(self.known.error);
        let expr = Expr {
            kind: ExprKind::Call(id, arguments),
            ty,
            span,
        };
        (expr, result.is_some())
    }

    fn call_value(
        &mut self,
        callee: &Expression,
        arguments: &[Expression],
        span: Span,
    ) -> (Expr, bool) {
        let value = self.expression(callee);
        let (parameters, result) = match self.program.kind(value.ty).clone() {
            TypeKind::Function { parameters, result } => (parameters, result),
            TypeKind::Error => return (self.wrong(span), true),
            _ => {
                let message = format!("a value of {} cannot be called", self.name_of(value.ty));
                self.error(callee.span, message);
                return (self.wrong(span), true);
            }
        };
        let headings: Vec<Heading> = parameters
            .into_iter()
            .enumerate()
            .map(|(index, (mode, ty))| Heading {
                mode,
                ty,
                name: (index + 1).to_string(),
            })
            .collect();
        let arguments = self.arguments("the function", &headings, arguments, span);
        let ty = result.unwrap_or(self.known.error);
        let expr = Expr {
            kind: ExprKind::CallValue(Box::new(value), arguments),
            ty,
            span,
        };
        (expr, result.is_some())
    }

    /// Checks an operation on an object.
    pub(super) fn invoke(
        &mut self,
        object: &Expression,
        operation: &Name,
        arguments: &[Expression],
        span: Span,
    ) -> (Expr, bool) {
        let is_itself = matches!(&object.kind, ExpressionKind::Name(name) if name == "SELF");
        let object = if is_itself {
            self.itself(object.span)
        } else {
            self.expression(object)
        };
        let unit = match self.program.kind(object.ty) {
            TypeKind::Object(unit) => *unit,
            TypeKind::Error => {
                self.values(arguments);
                return (self.wrong(span), true);
            }
            _ => {
                let message = format!("values of {} have no operations", self.name_of(object.ty));
                self.error_help(object.span, message, "only objects have operations");
                return (self.wrong(span), true);
            }
        };
        self.check_object_place(&object);
        let Some(id) = self.operation(unit, operation) else {
            self.values(arguments);
            return (self.wrong(span), true);
        };
        let result = self.program.routine(id).result.map(|(ty, _)| ty);
        let headings = self.headings(id);
        let arguments = self.arguments(&operation.text, &headings, arguments, span);
        let is_parallel = self.program.routine(id).indices.is_some();
        let in_parallel = self
            .here
            .routine
            .is_some_and(|it| self.program.routine(it).indices.is_some());
        if in_parallel {
            let message = match is_parallel {
                true => "a parallel operation starts no other one",
                false => "a parallel operation uses no other object",
            };
            self.error(span, message);
        }
        let ty = result.unwrap_or(self.known.error);
        let kind = ExprKind::Invoke(Box::new(object), id, arguments);
        (Expr { kind, ty, span }, result.is_some())
    }

    /// Checks that the object of an operation is a variable.
    fn check_object_place(&mut self, object: &Expr) {
        if !matches!(object.kind, ExprKind::Itself) && !Self::is_place(object) {
            self.error(object.span, "an operation is called on a variable");
        }
    }

    fn itself(&mut self, span: Span) -> Expr {
        let ty = match self
            .here
            .unit
            .and_then(|unit| self.program.unit(unit).object_type)
        {
            Some(ty) if self.sees_state() => ty,
            _ => {
                let message = "SELF stands in the operations of an object";
                self.error(span, message);
                self.known.error
            }
        };
        Expr {
            kind: ExprKind::Itself,
            ty,
            span,
        }
    }

    fn operation(&mut self, unit: UnitId, name: &Name) -> Option<RoutineId> {
        let facts = &self.facts[unit.0 as usize];
        let is_seen = |it: &&(RoutineId, bool)| it.1 || self.here.unit == Some(unit);
        if let Some((id, _)) = facts.operations.get(&name.text).filter(is_seen) {
            return Some(*id);
        }
        let seen = facts.operations.iter().filter(|(_, it)| is_seen(it));
        let like = nearest(&name.text, seen.map(|(name, _)| name.as_str()));
        let is_function = matches!(facts.exports.get(&name.text), Some(Symbol::Routine(_)));
        let unit_name = &self.program.unit(unit).name;
        let message = format!("\"{}\" is no operation of {unit_name}", name.text);
        let help = match like {
            _ if is_function => Some(format!("it is a function: {unit_name}.{}(..)", name.text)),
            Some(like) => Some(format!("did you mean {like}?")),
            None => None,
        };
        match help {
            Some(help) => self.error_help(name.span, message, help),
            None => self.error(name.span, message),
        }
        None
    }

    /// Checks a directive on a partitioned object.
    pub(super) fn direct(
        &mut self,
        object: &Expression,
        directive: &Name,
        arguments: &[Expression],
        span: Span,
    ) -> Expr {
        const DIRECTIVES: [&str; 10] = [
            "partition",
            "distribute",
            // The manual's name of it, with a list of owners or of machines.
            "distribution",
            "distribute_on_n",
            "distribute_on_list",
            "clear_dependencies",
            "add_dependency",
            "remove_dependency",
            "set_dependencies",
            "statistics",
        ];
        let object = self.expression(object);
        let shape = match self.program.kind(object.ty) {
            TypeKind::Object(unit) => self.program.unit(*unit).shape.clone(),
            TypeKind::Error => Some(Vec::new()),
            _ => None,
        };
        if shape.is_none() {
            let message = "only partitioned objects have directives";
            self.error_help(object.span, message, "an operation is called with one $");
        } else if !DIRECTIVES.contains(&directive.text.as_str()) {
            let message = format!("there is no directive \"{}\"", directive.text);
            let like = nearest(&directive.text, DIRECTIVES.into_iter());
            match like {
                Some(like) => {
                    self.error_help(directive.span, message, format!("did you mean {like}?"));
                }
                None => self.error(directive.span, message),
            }
        }
        let names_operation = directive.text.contains("dependenc");
        let rest = if names_operation {
            arguments.get(1..).unwrap_or_default()
        } else {
            arguments
        };
        let mut named = None;
        if let (true, Some(first), TypeKind::Object(unit)) = (
            names_operation,
            arguments.first(),
            self.program.kind(object.ty).clone(),
        ) && let ExpressionKind::Name(name) = &first.kind
        {
            let name = Name {
                text: name.clone(),
                span: first.span,
            };
            named = self.operation(unit, &name);
        }
        let arguments = self.values(rest);
        if let Some(shape) = shape
            && DIRECTIVES.contains(&directive.text.as_str())
            && matches!(self.program.kind(object.ty), TypeKind::Object(_))
        {
            self.check_directive(directive, &shape, &arguments, span);
        }
        let kind = ExprKind::Direct(Box::new(object), directive.text.clone(), named, arguments);
        Expr {
            kind,
            ty: self.known.error,
            span,
        }
    }

    /// Checks the arguments of a directive behind the operation that it may name.
    fn check_directive(
        &mut self,
        directive: &Name,
        shape: &[TypeId],
        arguments: &[Expr],
        span: Span,
    ) {
        let dimensions = shape.len();
        // The number of lists of machines, and then the least and the most numbers.
        let (lists, least, most) = match directive.text.as_str() {
            "partition" => (0, dimensions, dimensions),
            "distribute" | "distribution" => (1, 0, 0),
            "distribute_on_n" => (0, 2 * dimensions, 2 * dimensions),
            "distribute_on_list" => (1, 2 * dimensions, 2 * dimensions),
            "add_dependency" | "remove_dependency" => (0, dimensions, 2 * dimensions),
            _ => (0, 0, 0),
        };
        let numbers = arguments.len().saturating_sub(lists);
        if arguments.len() < lists || !(least..=most).contains(&numbers) {
            let message = format!(
                "\"{}\" has too {} arguments for {dimensions} dimensions",
                directive.text,
                if numbers < least || arguments.len() < lists {
                    "few"
                } else {
                    "many"
                }
            );
            self.error(span, message);
            return;
        }
        for argument in &arguments[..lists] {
            let is_list = match self.program.kind(argument.ty) {
                TypeKind::Array {
                    indices, element, ..
                } => indices.len() == 1 && self.program.is_same(*element, self.known.integer),
                TypeKind::Error => true,
                _ => false,
            };
            if !is_list {
                let help = "its type is ARRAY[integer] OF integer";
                self.error_help(argument.span, "a list of machines is expected", help);
            }
        }
        for (place, argument) in arguments[lists..].iter().enumerate() {
            let is_index = directive.text.contains("dependenc");
            let ty = if is_index {
                shape[place % dimensions]
            } else {
                self.known.integer
            };
            if !self.program.fits(ty, argument.ty) {
                let message = format!(
                    "type incompatibility in a directive: {} is expected, this is {}",
                    self.name_of(ty),
                    self.name_of(argument.ty)
                );
                self.mismatch(argument.span, message, ty, argument.ty);
            }
        }
    }

    /// Checks expressions without an expected type.
    pub(super) fn values(&mut self, arguments: &[Expression]) -> Vec<Expr> {
        arguments.iter().map(|it| self.expression(it)).collect()
    }

    /// Checks the arguments of a call.
    pub(super) fn arguments(
        &mut self,
        what: &str,
        headings: &[Heading],
        arguments: &[Expression],
        span: Span,
    ) -> Vec<Expr> {
        if headings.len() != arguments.len() {
            let parameters = match headings.len() {
                1 => "1 parameter".to_owned(),
                n => format!("{n} parameters"),
            };
            let message = format!("\"{what}\" has {parameters}, not {}", arguments.len());
            self.error(span, message);
            return self.values(arguments);
        }
        let mut checked = Vec::new();
        for (heading, argument) in headings.iter().zip(arguments) {
            checked.push(self.argument(what, heading, argument));
        }
        let modes: Vec<Mode> = headings.iter().map(|heading| heading.mode).collect();
        self.check_aliases(&modes, &checked);
        checked
    }

    fn argument(&mut self, what: &str, heading: &Heading, argument: &Expression) -> Expr {
        let errors = self.error_count();
        let value = match heading.mode {
            Mode::In => self.expression(argument),
            Mode::Out | Mode::Shared => self.place(argument),
        };
        if self.error_count() > errors {
            return value;
        }
        let fits = match heading.mode {
            Mode::In => self.program.fits(heading.ty, value.ty),
            // The value that is copied back is converted.
            Mode::Out => self.program.fits(value.ty, heading.ty),
            Mode::Shared => self.program.is_same(heading.ty, value.ty),
        };
        if !fits {
            let message = format!(
                "type incompatibility in parameter \"{}\" of \"{what}\": it is {}, the argument {}",
                heading.name,
                self.name_of(heading.ty),
                self.name_of(value.ty)
            );
            self.mismatch(argument.span, message, heading.ty, value.ty);
        }
        value
    }

    /// Reports types that do not fit, with the function that converts one into the other.
    pub(super) fn mismatch(&mut self, span: Span, message: String, to: TypeId, from: TypeId) {
        let program = &self.program;
        let help = match (program.kind(to), program.kind(from)) {
            (TypeKind::Real(_), TypeKind::Integer(_)) => Some("convert it: FLOAT(n); 1 is 1.0"),
            (TypeKind::Integer(_), TypeKind::Real(_)) => Some("convert it: TRUNC(x)"),
            (TypeKind::Char, TypeKind::Integer(_)) => Some("convert it: CHR(n)"),
            (
                TypeKind::Integer(_),
                TypeKind::Char | TypeKind::Enumeration(_) | TypeKind::Boolean,
            ) => Some("convert it: ORD(x)"),
            (TypeKind::Array { .. }, TypeKind::Array { .. })
            | (TypeKind::Record(_), TypeKind::Record(_))
            | (TypeKind::Set(_), TypeKind::Set(_)) => {
                Some("types are the same by their names, not by what they are made of")
            }
            _ => None,
        };
        match help {
            Some(help) => self.error_help(span, message, help),
            None => self.error(span, message),
        }
    }
}
