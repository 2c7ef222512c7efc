//! Types.

use super::{Parse, Parser};
use crate::syntax::{Bounds, Mode, SizedType, Type, TypeKind, Variables};
use crate::token::Kind;

impl Parser {
    /// Parses a type. Only fields and variables have initial bounds.
    pub(super) fn ty(&mut self) -> Parse<Type> {
        self.nested(Self::ty_inner)
    }

    fn ty_inner(&mut self) -> Parse<Type> {
        let start = self.cursor.span();
        let kind = match self.cursor.kind() {
            Kind::Name(_) => TypeKind::Named(self.qualified("a type")?),
            Kind::LeftParen => {
                self.cursor.advance();
                let names = self.names("a value")?;
                self.expect(&Kind::RightParen, "after the values")?;
                TypeKind::Enumeration(names)
            }
            Kind::Record => {
                self.cursor.advance();
                let fields = self.fields()?;
                self.expect(&Kind::EndWord, "after the fields")?;
                TypeKind::Record(fields)
            }
            Kind::Union => self.union()?,
            Kind::Array => self.array()?,
            Kind::Set | Kind::Bag => {
                let is_set = self.cursor.is(&Kind::Set);
                self.cursor.advance();
                self.expect(&Kind::Of, "before the type of the members")?;
                let of = Box::new(self.ty()?);
                if is_set {
                    TypeKind::Set(of)
                } else {
                    TypeKind::Bag(of)
                }
            }
            Kind::Graph => {
                self.cursor.advance();
                let fields = self.fields()?;
                self.expect(&Kind::Nodes, "after the fields of the graph")?;
                let nodes = self.fields()?;
                self.expect(&Kind::EndWord, "after the fields of the nodes")?;
                TypeKind::Graph(fields, nodes)
            }
            Kind::NodeName => {
                self.cursor.advance();
                self.expect(&Kind::Of, "before the type of the graph")?;
                TypeKind::NodeName(self.name("a graph type")?)
            }
            Kind::Function => self.function_type()?,
            _ => return Err(self.unexpected("a type")),
        };
        Ok(Type {
            kind,
            span: self.cursor.since(start),
        })
    }

    fn union(&mut self) -> Parse<TypeKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "before the tag")?;
        let tag = self.name("the tag")?;
        self.expect(&Kind::Colon, "after the tag")?;
        let of = self.qualified("a type")?;
        let mut initial = None;
        if self.cursor.take(&Kind::LeftParen) {
            initial = Some(Box::new(self.expression()?));
            self.expect(&Kind::RightParen, "after the initial tag")?;
        }
        self.expect(&Kind::RightParen, "after the tag")?;
        let mut alternatives = Vec::new();
        while !self.cursor.is(&Kind::EndWord) {
            let value = self.expression()?;
            self.expect(&Kind::Arrow, "after the value of the tag")?;
            let name = self.name("an alternative")?;
            self.expect(&Kind::Colon, "after the name of the alternative")?;
            let of = self.sized()?;
            self.semicolon("the alternative")?;
            alternatives.push((value, name, of));
        }
        self.expect(&Kind::EndWord, "after the alternatives")?;
        Ok(TypeKind::Union {
            tag,
            of,
            initial,
            alternatives,
        })
    }

    fn array(&mut self) -> Parse<TypeKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftBracket, "before the type of the index")?;
        let mut dimensions = Vec::new();
        loop {
            let index = self.qualified("the type of the index")?;
            let has_bounds = !matches!(self.cursor.kind(), Kind::Comma | Kind::RightBracket);
            let bounds = if has_bounds {
                Some(Box::new(self.bounds()?))
            } else {
                None
            };
            dimensions.push((index, bounds));
            if !self.cursor.take(&Kind::Comma) {
                break;
            }
        }
        self.expect(&Kind::RightBracket, "after the type of the index")?;
        self.expect(&Kind::Of, "before the type of the elements")?;
        Ok(TypeKind::Array(dimensions, Box::new(self.ty()?)))
    }

    fn function_type(&mut self) -> Parse<TypeKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "before the types of the parameters")?;
        let mut parameters = Vec::new();
        while !self.cursor.is(&Kind::RightParen) {
            let mode = self.mode();
            parameters.push((mode, self.qualified("a type")?));
            if !self.cursor.take(&Kind::Comma) {
                break;
            }
        }
        self.expect(&Kind::RightParen, "after the types of the parameters")?;
        let mut result = None;
        if self.cursor.take(&Kind::Colon) {
            result = Some(self.qualified("the type of the result")?);
        }
        Ok(TypeKind::Function(parameters, result))
    }

    pub(super) fn mode(&mut self) -> Mode {
        let mode = match self.cursor.kind() {
            Kind::In => Mode::In,
            Kind::Out => Mode::Out,
            Kind::Shared => Mode::Shared,
            _ => return Mode::In,
        };
        self.cursor.advance();
        mode
    }

    fn bounds(&mut self) -> Parse<Bounds> {
        let low = self.expression()?;
        self.expect(&Kind::Range, "between the bounds")?;
        Ok((low, self.expression()?))
    }

    /// Parses a type with initial bounds or an initial tag.
    pub(super) fn sized(&mut self) -> Parse<SizedType> {
        let is_named = matches!(self.cursor.kind(), Kind::Name(_));
        let mut of = SizedType {
            ty: self.ty()?,
            bounds: Vec::new(),
            tag: None,
        };
        if !is_named {
            return Ok(of);
        }
        while self.cursor.take(&Kind::LeftBracket) {
            let mut bounds = vec![self.bounds()?];
            while self.cursor.take(&Kind::Comma) {
                bounds.push(self.bounds()?);
            }
            self.expect(&Kind::RightBracket, "after the bounds")?;
            of.bounds.push(bounds);
        }
        if self.cursor.take(&Kind::LeftParen) {
            of.tag = Some(Box::new(self.expression()?));
            self.expect(&Kind::RightParen, "after the initial tag")?;
        }
        Ok(of)
    }

    fn fields(&mut self) -> Parse<Vec<Variables>> {
        let mut fields = Vec::new();
        while matches!(self.cursor.kind(), Kind::Name(_)) {
            fields.push(self.variables()?);
        }
        Ok(fields)
    }

    pub(super) fn variables(&mut self) -> Parse<Variables> {
        let names = self.names("a variable")?;
        self.expect(&Kind::Colon, "after the names")?;
        let of = self.sized()?;
        self.semicolon("the declaration")?;
        Ok(Variables { names, of })
    }
}
