//! Units and their declarations.

use antiphon_lang::Span;

use super::{Parse, Parser};
use crate::syntax::{
    Block, Body, Combine, Declaration, Dimension, Formal, GenericParameter, Mode, Name, Qualified,
    Restriction, Routine, RoutineKind, SizedType, Statement, Type, TypeKind, Unit, UnitKind,
};
use crate::token::Kind;

impl Parser {
    pub(super) fn unit(&mut self) -> Parse<Unit> {
        let is_generic = self.cursor.take(&Kind::Generic);
        let parameters = match is_generic && self.cursor.is(&Kind::LeftParen) {
            true => self.generic_parameters()?,
            false => Vec::new(),
        };
        let kind = self.unit_kind()?;
        let is_specification = match self.cursor.kind() {
            Kind::Specification => true,
            Kind::Implementation => false,
            _ => return Err(self.unexpected("SPECIFICATION or IMPLEMENTATION")),
        };
        self.cursor.advance();
        let name = self.name("the unit")?;
        let shape = match kind == UnitKind::Object && self.cursor.is(&Kind::LeftBracket) {
            true => Some(self.shape(is_specification)?),
            false => None,
        };
        self.semicolon("the name of the unit")?;
        let mut unit = Unit {
            kind,
            is_specification,
            name,
            is_generic,
            parameters,
            shape,
            declarations: Vec::new(),
            initial: None,
        };
        self.declarations(&mut unit);
        if self.cursor.is(&Kind::Begin) {
            self.cursor.advance();
            unit.initial = Some(self.statements()?);
        }
        self.expect(&Kind::EndWord, "at the end of the unit")?;
        if self.cursor.take(&Kind::Generic) && !unit.is_generic {
            let span = self.cursor.since(unit.name.span);
            let help = "put GENERIC before the unit, too";
            self.error(span, "the unit does not begin with GENERIC", help);
        }
        self.semicolon("the unit")?;
        if !self.cursor.is(&Kind::End) {
            let span = self.cursor.span();
            let help = "each unit has a file of its own";
            return Err(self.error(span, "the unit ends before this", help));
        }
        Ok(unit)
    }

    fn unit_kind(&mut self) -> Parse<UnitKind> {
        let kind = match self.cursor.kind() {
            Kind::Module => UnitKind::Module,
            Kind::Object => UnitKind::Object,
            Kind::Data => {
                self.cursor.advance();
                UnitKind::Data
            }
            _ => return Err(self.unexpected("MODULE, DATA MODULE or OBJECT")),
        };
        if kind == UnitKind::Data {
            self.expect(&Kind::Module, "after DATA")?;
        } else {
            self.cursor.advance();
        }
        Ok(kind)
    }

    fn generic_parameters(&mut self) -> Parse<Vec<GenericParameter>> {
        self.expect(&Kind::LeftParen, "before the parameters")?;
        let mut parameters = Vec::new();
        loop {
            let restriction = match self.cursor.kind() {
                Kind::Numeric => Restriction::Numeric,
                Kind::Scalar => Restriction::Scalar,
                _ => Restriction::None,
            };
            if restriction != Restriction::None {
                self.cursor.advance();
            }
            parameters.push(match self.cursor.kind() {
                Kind::Type => {
                    self.cursor.advance();
                    GenericParameter::Type(self.name("a type")?, restriction)
                }
                Kind::Function => {
                    self.cursor.advance();
                    let name = self.name("a function")?;
                    let formals = self.formals(false)?;
                    let result = match self.cursor.take(&Kind::Colon) {
                        true => Some(self.qualified("the type of the result")?),
                        false => None,
                    };
                    GenericParameter::Function(name, formals, result)
                }
                Kind::Const => {
                    self.cursor.advance();
                    let name = self.name("a constant")?;
                    self.expect(&Kind::Colon, "after the constant")?;
                    GenericParameter::Const(name, self.qualified("the type of the constant")?)
                }
                _ => return Err(self.unexpected("TYPE, FUNCTION or CONST")),
            });
            if !self.cursor.take(&Kind::Semicolon) {
                break;
            }
        }
        self.expect(&Kind::RightParen, "after the parameters")?;
        Ok(parameters)
    }

    fn shape(&mut self, is_specification: bool) -> Parse<Vec<Dimension>> {
        self.cursor.advance();
        let mut shape = Vec::new();
        loop {
            let index = self.qualified("the type of an index")?;
            let bounds = match is_specification {
                true => None,
                false => {
                    let low = self.name("the lower bound")?;
                    self.expect(&Kind::Range, "between the bounds")?;
                    Some((low, self.name("the upper bound")?))
                }
            };
            shape.push(Dimension { index, bounds });
            if !self.cursor.take(&Kind::Comma) {
                break;
            }
        }
        self.expect(&Kind::RightBracket, "after the indices")?;
        Ok(shape)
    }

    fn declarations(&mut self, unit: &mut Unit) {
        let mut routines = 0;
        while !self.is_exhausted() {
            let start = self.cursor.span();
            let before = self.cursor.position();
            let declaration = match self.cursor.kind() {
                Kind::EndWord | Kind::End => return,
                Kind::Begin if self.may_have_initial(unit) => return,
                Kind::Begin => self.stray_body(unit, start),
                Kind::Function | Kind::Process | Kind::Operation => {
                    routines += 1;
                    self.routine(unit)
                }
                Kind::Name(_) if self.is_word("PARALLEL") => {
                    routines += 1;
                    self.routine(unit)
                }
                Kind::From | Kind::Import => self.import(),
                Kind::Module | Kind::Object => self.instance(),
                Kind::Const => self.constant(),
                Kind::Type => self.type_declaration(),
                Kind::Name(_) => self.unit_variables(unit, routines > 0),
                Kind::Semicolon => {
                    self.cursor.advance();
                    continue;
                }
                _ => Err(self.unexpected("a declaration")),
            };
            match declaration {
                Ok(declaration) => {
                    let is_early = !matches!(declaration, Declaration::Routine(_));
                    if is_early && routines > 0 && !unit.is_specification {
                        let message = "this declaration stands behind a function or operation";
                        let help = "imports, constants, types and variables come first in a unit";
                        let span = self.cursor.since(start);
                        self.error(span, message, help);
                    }
                    unit.declarations.push(declaration);
                }
                Err(_) => self.skip_declaration(before),
            }
        }
    }

    fn may_have_initial(&self, unit: &Unit) -> bool {
        unit.kind != UnitKind::Module && !unit.is_specification
    }

    /// Reports a body without a heading: after a nested function, or in a module.
    fn stray_body(&mut self, unit: &Unit, start: Span) -> Parse<Declaration> {
        let is_nested = matches!(unit.declarations.last(), Some(Declaration::Routine(_)));
        let (message, help) = match is_nested {
            true => (
                "this body belongs to no heading",
                "functions are not nested: end one before the next begins",
            ),
            false => (
                "this unit has no initial code",
                "put it into a function or a process",
            ),
        };
        let reported = self.error(start, message, help);
        self.cursor.advance();
        self.statements()?;
        self.cursor.take(&Kind::EndWord);
        self.cursor.take(&Kind::Semicolon);
        Err(reported)
    }

    /// Continues at the next declaration.
    fn skip_declaration(&mut self, before: usize) {
        if self.cursor.position() == before {
            self.cursor.advance();
        }
        loop {
            match self.cursor.kind() {
                Kind::End
                | Kind::Function
                | Kind::Process
                | Kind::Operation
                | Kind::Type
                | Kind::Const
                | Kind::Import
                | Kind::Begin => return,
                Kind::Semicolon => {
                    self.cursor.advance();
                    return;
                }
                Kind::EndWord => {
                    // The last END ends the unit.
                    let is_last = matches!(self.cursor.ahead(2), Kind::End)
                        || self.cursor.ahead(1) == &Kind::Generic;
                    if is_last {
                        return;
                    }
                    self.cursor.advance();
                }
                _ => self.cursor.advance(),
            }
        }
    }

    fn unit_variables(&mut self, unit: &Unit, is_late: bool) -> Parse<Declaration> {
        let start = self.cursor.span();
        let variables = self.variables()?;
        let has_variables = match unit.kind {
            UnitKind::Module => false,
            UnitKind::Data => unit.is_specification,
            UnitKind::Object => !unit.is_specification,
        };
        if !has_variables && !is_late {
            let help = match unit.kind {
                UnitKind::Module => {
                    "variables stand in functions, processes, objects and data modules"
                }
                UnitKind::Data => "the variables of a data module stand in its specification",
                UnitKind::Object => "the variables of an object stand in its implementation",
            };
            let side = if unit.is_specification {
                "specification"
            } else {
                "implementation"
            };
            let message = format!("the {side} of a {} has no variables", unit.kind.name());
            let span = self.cursor.since(start);
            self.error(span, message, help);
        }
        Ok(Declaration::Variables(variables))
    }

    fn import(&mut self) -> Parse<Declaration> {
        let mut from = None;
        if self.cursor.take(&Kind::From) {
            from = Some(self.name("a unit")?);
        }
        self.expect(&Kind::Import, "before the names")?;
        let names = self.names("a unit")?;
        self.semicolon("the import")?;
        Ok(Declaration::Import { from, names })
    }

    fn instance(&mut self) -> Parse<Declaration> {
        let kind = if self.cursor.is(&Kind::Module) {
            UnitKind::Module
        } else {
            UnitKind::Object
        };
        self.cursor.advance();
        let name = self.name("the new unit")?;
        self.expect(&Kind::Equal, "after the new unit")?;
        self.expect(&Kind::New, "before the generic unit")?;
        let generic = self.name("a generic unit")?;
        let arguments = self.arguments()?;
        self.semicolon("the new unit")?;
        Ok(Declaration::Instance {
            kind,
            name,
            generic,
            arguments,
        })
    }

    fn constant(&mut self) -> Parse<Declaration> {
        self.cursor.advance();
        let name = self.name("a constant")?;
        self.expect(&Kind::Equal, "after the constant")?;
        let value = self.expression()?;
        self.semicolon("the constant")?;
        Ok(Declaration::Const(name, value))
    }

    fn type_declaration(&mut self) -> Parse<Declaration> {
        self.cursor.advance();
        let name = self.name("a type")?;
        let of = match self.cursor.take(&Kind::Equal) {
            true => Some(self.ty()?),
            false => None,
        };
        self.semicolon("the type")?;
        Ok(Declaration::Type(name, of))
    }

    fn formals(&mut self, is_parallel: bool) -> Parse<Vec<Formal>> {
        self.expect(&Kind::LeftParen, "before the parameters")?;
        let mut formals = Vec::new();
        while !self.cursor.is(&Kind::RightParen) {
            let names = self.names("a parameter")?;
            self.expect(&Kind::Colon, "after the parameters")?;
            let mode = self.mode();
            let (of, combine) = match mode == Mode::Out && is_parallel {
                true => {
                    let (of, combine) = self.combined()?;
                    (sized(of), combine)
                }
                false => (self.sized()?, None),
            };
            formals.push(Formal {
                names,
                mode,
                of,
                combine,
            });
            if !self.cursor.take(&Kind::Semicolon) {
                break;
            }
        }
        self.expect(&Kind::RightParen, "after the parameters")?;
        Ok(formals)
    }

    /// Parses `GATHER type`, `REDUCE type WITH function`, or a type alone.
    fn combined(&mut self) -> Parse<(Qualified, Option<Combine>)> {
        let is_gather = self.is_word("GATHER");
        if is_gather || self.is_word("REDUCE") {
            self.cursor.advance();
            let of = self.qualified("a type")?;
            if is_gather {
                return Ok((of, Some(Combine::Gather)));
            }
            if !self.is_word("WITH") {
                return Err(self.unexpected("WITH before the function"));
            }
            self.cursor.advance();
            let function = self.name("a function")?;
            return Ok((of, Some(Combine::Reduce(function))));
        }
        Ok((self.qualified("a type")?, None))
    }

    fn routine(&mut self, unit: &Unit) -> Parse<Declaration> {
        let is_parallel = self.is_word("PARALLEL");
        if is_parallel {
            self.cursor.advance();
        }
        let kind = match self.cursor.kind() {
            Kind::Function => RoutineKind::Function,
            Kind::Process => RoutineKind::Process,
            Kind::Operation => RoutineKind::Operation,
            _ => return Err(self.unexpected("OPERATION")),
        };
        let start = self.cursor.span();
        self.cursor.advance();
        let mut indices = None;
        if is_parallel {
            self.expect(&Kind::LeftBracket, "before the indices of the element")?;
            indices = Some(self.names("an index")?);
            self.expect(&Kind::RightBracket, "after the indices")?;
        }
        let name = self.name(&format!("the {}", kind.name()))?;
        let formals = self.formals(is_parallel)?;
        let mut result = None;
        if self.cursor.take(&Kind::Colon) {
            result = Some(match is_parallel {
                true => self.combined()?,
                false => (self.qualified("the type of the result")?, None),
            });
        }
        self.semicolon("the heading")?;
        self.check_place(unit, kind, &name, start);
        let mut routine = Routine {
            kind,
            name,
            indices,
            formals,
            result,
            block: None,
        };
        let has_block = match self.cursor.kind() {
            Kind::Begin | Kind::Const => true,
            Kind::Type => true,
            Kind::Name(_) => !self.is_word("PARALLEL"),
            _ => false,
        };
        if has_block && !unit.is_specification {
            routine.block = Some(self.routine_block(kind)?);
        } else if has_block && self.cursor.is(&Kind::Begin) {
            let span = self.cursor.span();
            let help = "put the body into the implementation";
            self.error(span, "a specification has headings alone", help);
            self.routine_block(kind)?;
        }
        Ok(Declaration::Routine(routine))
    }

    fn check_place(&mut self, unit: &Unit, kind: RoutineKind, name: &Name, start: Span) {
        let is_fine = match kind {
            RoutineKind::Function => !(unit.kind == UnitKind::Data && unit.is_specification),
            RoutineKind::Process => unit.kind == UnitKind::Module,
            RoutineKind::Operation => unit.kind == UnitKind::Object,
        };
        if !is_fine {
            let help = match kind {
                RoutineKind::Operation => "only objects have operations",
                RoutineKind::Process => "only modules have processes",
                RoutineKind::Function => "its functions stand in the implementation",
            };
            let message = format!(
                "a {} has no {} \"{}\"",
                unit.kind.name(),
                kind.name(),
                name.text
            );
            self.error(start.to(name.span), message, help);
        }
    }

    fn routine_block(&mut self, kind: RoutineKind) -> Parse<Block> {
        let mut declarations = Vec::new();
        let mut dependencies = None;
        loop {
            let declared = match self.cursor.kind() {
                Kind::Const => self.constant(),
                Kind::Type => self.type_declaration(),
                Kind::Name(_) if self.is_word("DEPENDENCIES") => {
                    self.cursor.advance();
                    self.in_dependencies = true;
                    let statements = self.statements();
                    self.in_dependencies = false;
                    dependencies = Some(statements?);
                    self.expect(&Kind::EndWord, "after the dependencies")?;
                    self.semicolon("the dependencies")?;
                    continue;
                }
                Kind::Name(_) => self.variables().map(Declaration::Variables),
                _ => break,
            };
            match declared {
                Ok(declaration) => declarations.push(declaration),
                Err(_) => self.skip_to_block(),
            }
        }
        self.expect(&Kind::Begin, "before the statements")?;
        let is_guarded = kind == RoutineKind::Operation && self.cursor.is(&Kind::Guard);
        let body = match is_guarded {
            true => Body::Guarded(self.guards()?),
            false => Body::Plain(self.statements()?),
        };
        let end = self.expect(&Kind::EndWord, "after the statements")?;
        self.semicolon(&format!("the {}", kind.name()))?;
        Ok(Block {
            declarations,
            dependencies,
            body,
            end,
        })
    }

    fn skip_to_block(&mut self) {
        while !matches!(
            self.cursor.kind(),
            Kind::Begin | Kind::End | Kind::Semicolon
        ) {
            self.cursor.advance();
        }
        self.cursor.take(&Kind::Semicolon);
    }

    fn guards(&mut self) -> Parse<Vec<(crate::syntax::Expression, Vec<Statement>)>> {
        let mut guards = Vec::new();
        while self.cursor.take(&Kind::Guard) {
            let condition = self.expression()?;
            guards.push((condition, self.block()?));
            self.semicolon("the guarded statements")?;
        }
        if !self.cursor.is(&Kind::EndWord) {
            let span = self.cursor.span();
            let help = "put this statement into the alternatives; each begins with GUARD";
            let message = "behind an alternative only others stand";
            return Err(self.error(span, message, help));
        }
        Ok(guards)
    }
}

fn sized(of: Qualified) -> SizedType {
    let span = of[0].span.to(of[of.len() - 1].span);
    let ty = Type {
        kind: TypeKind::Named(of),
        span,
    };
    SizedType {
        ty,
        bounds: Vec::new(),
        tag: None,
    }
}
