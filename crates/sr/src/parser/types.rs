//! Types, parameters and prototypes.

use super::{Parse, Parser};
use crate::syntax::{
    Bound, Bounds, Declarator, Parameter, Passing, Prototype, Restriction, TypeExpression, TypeKind,
};
use crate::token::Kind;

impl Parser {
    /// Parses a type, perhaps with subscripts before it.
    pub(super) fn type_expression(&mut self) -> Parse<TypeExpression> {
        self.nested(|p| {
            let start = p.cursor.span();
            if !p.cursor.is(&Kind::LeftBracket) {
                return p.unsubscripted_type();
            }
            let dimensions = p.subscripts()?;
            let element = p.unsubscripted_type()?;
            Ok(TypeExpression {
                kind: TypeKind::Array(dimensions, Box::new(element)),
                span: p.cursor.since(start),
            })
        })
    }

    /// Parses a type without subscripts before it.
    pub(super) fn unsubscripted_type(&mut self) -> Parse<TypeExpression> {
        let start = self.cursor.span();
        let kind = match self.cursor.kind() {
            Kind::Bool => self.basic(TypeKind::Bool),
            Kind::Char => self.basic(TypeKind::Char),
            Kind::Int => self.basic(TypeKind::Int),
            Kind::RealWord => self.basic(TypeKind::Real),
            Kind::File => self.basic(TypeKind::File),
            Kind::StringWord => self.string_type()?,
            Kind::Enum => {
                self.cursor.advance();
                self.expect(&Kind::LeftParen, "after enum")?;
                let names = self.comma_list(|p| p.name("a name of the enumeration"))?;
                self.expect(&Kind::RightParen, "after the names")?;
                TypeKind::Enum(names)
            }
            Kind::Ptr => {
                self.cursor.advance();
                if self.cursor.take(&Kind::Any) {
                    TypeKind::Pointer(None)
                } else {
                    TypeKind::Pointer(Some(Box::new(self.type_expression()?)))
                }
            }
            Kind::Rec => self.record_type()?,
            Kind::Union => {
                self.warn(start, "\"union\" is treated as \"rec\"", "write \"rec\"");
                self.record_type()?
            }
            Kind::Cap => {
                self.cursor.advance();
                self.capability()?
            }
            Kind::Name(_) => TypeKind::Named(self.path("a type")?),
            _ => return Err(self.unexpected("a type")),
        };
        Ok(TypeExpression {
            kind,
            span: self.cursor.since(start),
        })
    }

    fn basic(&mut self, kind: TypeKind) -> TypeKind {
        self.cursor.advance();
        kind
    }

    fn string_type(&mut self) -> Parse<TypeKind> {
        self.cursor.advance();
        let closing = if self.cursor.take(&Kind::LeftParen) {
            Kind::RightParen
        } else {
            self.expect(&Kind::LeftBracket, "with the greatest length after string")?;
            Kind::RightBracket
        };
        let length = self.bound()?;
        self.expect(&closing, "after the greatest length")?;
        Ok(TypeKind::Text(Box::new(length)))
    }

    fn record_type(&mut self) -> Parse<TypeKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "before the fields")?;
        let mut fields = Vec::new();
        self.skip_separators();
        while !self.cursor.is(&Kind::RightParen) {
            fields.extend(self.comma_list(Self::object_group)?);
            if !self.cursor.is(&Kind::Separator) {
                break;
            }
            self.skip_separators();
        }
        self.expect(&Kind::RightParen, "after the fields")?;
        Ok(TypeKind::Record(fields))
    }

    fn capability(&mut self) -> Parse<TypeKind> {
        Ok(match self.cursor.kind() {
            Kind::Sem => self.basic(TypeKind::CapabilitySemaphore),
            Kind::Vm => self.basic(TypeKind::CapabilityMachine),
            Kind::LeftParen => TypeKind::CapabilityLike(Box::new(self.prototype()?)),
            _ => {
                TypeKind::CapabilityFor(self.path(
                    "a resource, an operation, an optype, \"(\", \"sem\" or \"vm\" after cap",
                )?)
            }
        })
    }

    /// `[bounds, bounds][bounds]`: all dimensions in one list.
    pub(super) fn subscripts(&mut self) -> Parse<Vec<Bounds>> {
        let mut dimensions = Vec::new();
        while self.cursor.take(&Kind::LeftBracket) {
            dimensions.extend(self.comma_list(Self::bounds)?);
            self.expect(&Kind::RightBracket, "after the bounds")?;
        }
        Ok(dimensions)
    }

    pub(super) fn bounds(&mut self) -> Parse<Bounds> {
        let first = self.bound()?;
        if !self.cursor.take(&Kind::Colon) {
            return Ok(Bounds {
                lower: None,
                upper: first,
            });
        }
        let upper = self.bound()?;
        Ok(Bounds {
            lower: Some(first),
            upper,
        })
    }

    fn bound(&mut self) -> Parse<Bound> {
        let span = self.cursor.span();
        if self.cursor.take(&Kind::Asterisk) {
            return Ok(Bound::Any(span));
        }
        Ok(Bound::Value(self.expression()?))
    }

    pub(super) fn declarator(&mut self, what: &str) -> Parse<Declarator> {
        let name = self.name(what)?;
        let dimensions = self.subscripts()?;
        Ok(Declarator { name, dimensions })
    }

    /// Parses parameters, result and restriction.
    pub(super) fn prototype(&mut self) -> Parse<Prototype> {
        let parameters = self.parameters()?;
        let result = if self.cursor.take(&Kind::Returns) {
            Some(self.result()?)
        } else {
            None
        };
        let restriction = self.restriction()?;
        Ok(Prototype {
            parameters,
            result,
            restriction,
        })
    }

    fn result(&mut self) -> Parse<Parameter> {
        let is_named =
            matches!(self.cursor.kind(), Kind::Name(_)) && self.has_colon_after_declarators();
        let declarator = if is_named {
            let declarator = self.declarator("the result's name")?;
            self.expect(&Kind::Colon, "after the result's name")?;
            Some(declarator)
        } else {
            None
        };
        Ok(Parameter {
            passing: Passing::Result,
            declarator,
            of: self.type_expression()?,
        })
    }

    fn restriction(&mut self) -> Parse<Restriction> {
        if !self.cursor.take(&Kind::LeftBrace) {
            return Ok(Restriction::None);
        }
        let first = self.way_of_invoking()?;
        let restriction = if self.cursor.take(&Kind::Comma) {
            self.way_of_invoking()?;
            Restriction::None
        } else {
            first
        };
        self.expect(&Kind::RightBrace, "after the restriction")?;
        Ok(restriction)
    }

    fn way_of_invoking(&mut self) -> Parse<Restriction> {
        if self.cursor.take(&Kind::Call) {
            Ok(Restriction::Call)
        } else if self.cursor.take(&Kind::Send) {
            Ok(Restriction::Send)
        } else {
            Err(self.unexpected("\"call\" or \"send\""))
        }
    }

    pub(super) fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        self.expect(&Kind::LeftParen, "before the parameters")?;
        let mut parameters = Vec::new();
        self.skip_separators();
        while !self.cursor.is(&Kind::RightParen) {
            self.parameter_group(&mut parameters)?;
            if !self.cursor.is(&Kind::Separator) {
                break;
            }
            self.skip_separators();
        }
        self.expect(&Kind::RightParen, "after the parameters")?;
        Ok(parameters)
    }

    fn parameter_group(&mut self, parameters: &mut Vec<Parameter>) -> Parse<()> {
        let passing = match self.cursor.kind() {
            Kind::Val => Some(Passing::Value),
            Kind::Var => Some(Passing::Var),
            Kind::Res => Some(Passing::Result),
            Kind::Ref => Some(Passing::Reference),
            _ => None,
        };
        if passing.is_some() {
            self.cursor.advance();
        }
        let passing = passing.unwrap_or(Passing::Value);
        if !self.has_colon_after_declarators() {
            let of = self.type_expression()?;
            parameters.push(Parameter {
                passing,
                declarator: None,
                of,
            });
            return Ok(());
        }
        let declarators = self.comma_list(|p| p.declarator("a parameter's name"))?;
        self.expect(&Kind::Colon, "and a type after the parameters' names")?;
        let of = self.type_expression()?;
        parameters.extend(declarators.into_iter().map(|declarator| Parameter {
            passing,
            declarator: Some(declarator),
            of: of.clone(),
        }));
        Ok(())
    }

    /// Whether names, a colon and a type follow, rather than a type alone.
    fn has_colon_after_declarators(&self) -> bool {
        let mut ahead = 0;
        loop {
            if !matches!(self.cursor.ahead(ahead), Kind::Name(_)) {
                return false;
            }
            ahead += 1;
            while *self.cursor.ahead(ahead) == Kind::LeftBracket {
                let mut depth = 0;
                loop {
                    match self.cursor.ahead(ahead) {
                        Kind::LeftBracket | Kind::LeftParen => depth += 1,
                        Kind::RightBracket | Kind::RightParen => depth -= 1,
                        Kind::End => return false,
                        _ => {}
                    }
                    ahead += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            match self.cursor.ahead(ahead) {
                Kind::Colon => return true,
                Kind::Comma => ahead += 1,
                _ => return false,
            }
        }
    }
}
