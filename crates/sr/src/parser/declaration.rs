//! Declarations, and implementations of operations.

use antiphon_lang::Diagnostic;

use super::{Parse, Parser};
use crate::syntax::{
    Block, Expression, ItemKind, Name, ObjectGroup, OperationGroup, OperationKind, Proc, Quantifier,
};
use crate::token::Kind;

impl Parser {
    pub(super) fn declaration(&mut self) -> Parse<ItemKind> {
        let kind = self.cursor.kind().clone();
        self.cursor.advance();
        match kind {
            Kind::Type => self.type_declaration(),
            Kind::Optype => {
                let name = self.name("the optype's name")?;
                self.cursor.take(&Kind::Equal);
                Ok(ItemKind::Optype(name, self.prototype()?))
            }
            Kind::Var | Kind::Const => Ok(ItemKind::Objects {
                is_constant: kind == Kind::Const,
                groups: self.comma_list(Self::object_group)?,
            }),
            Kind::Sem => Ok(ItemKind::Semaphores(self.comma_list(|p| {
                let declarator = p.declarator("the semaphore's name")?;
                let value = if p.cursor.take(&Kind::Assign) {
                    Some(p.expression()?)
                } else {
                    None
                };
                Ok((declarator, value))
            })?)),
            _ => Ok(ItemKind::Operations {
                is_external: kind == Kind::External,
                groups: self.comma_list(Self::operation_group)?,
            }),
        }
    }

    fn type_declaration(&mut self) -> Parse<ItemKind> {
        let name = self.name("the type's name")?;
        self.expect(&Kind::Equal, "after the type's name")?;
        let of = self.type_expression()?;
        let start = self.cursor.span();
        if self.cursor.take(&Kind::LeftBrace) {
            self.name("a restriction")?;
            self.expect(&Kind::RightBrace, "after the restriction")?;
            let span = self.cursor.since(start);
            self.warn(
                span,
                "a type's restriction means nothing any more",
                "remove it",
            );
        }
        Ok(ItemKind::Type(name, of))
    }

    /// Parses names, then a type, a value, or both.
    pub(super) fn object_group(&mut self) -> Parse<ObjectGroup> {
        let mut declarators = vec![self.declarator("a name")?];
        // After a comma comes another name of this group. A group ends with its type or value.
        while self.cursor.is(&Kind::Comma) {
            self.cursor.advance();
            declarators.push(self.declarator("a name")?);
        }
        let of = if self.cursor.take(&Kind::Colon) {
            Some(self.type_expression()?)
        } else {
            None
        };
        let start = self.cursor.span();
        let value = if self.cursor.take(&Kind::Assign) {
            Some(self.expression()?)
        } else {
            None
        };
        if of.is_none() && value.is_none() {
            return Err(self.unexpected("\":\" and a type, or \":=\" and a value"));
        }
        if value.is_some() && declarators.len() > 1 {
            let error = Diagnostic::error(
                self.cursor.since(start),
                "several names have one initial value",
            );
            self.report(error.help("give each its own: var a: int := 0, b: int := 0"));
        }
        Ok(ObjectGroup {
            declarators,
            of,
            value,
        })
    }

    fn operation_group(&mut self) -> Parse<OperationGroup> {
        let mut declarators = vec![self.declarator("an operation's name")?];
        while self.cursor.take(&Kind::Comma) {
            declarators.push(self.declarator("an operation's name")?);
        }
        let of = if self.cursor.is(&Kind::LeftParen) {
            OperationKind::Prototype(self.prototype()?)
        } else {
            self.cursor.take(&Kind::Colon);
            OperationKind::Named(self.path("parameters in parentheses, or an optype")?)
        };
        Ok(OperationGroup { declarators, of })
    }

    pub(super) fn proc(&mut self) -> Parse<ItemKind> {
        self.cursor.advance();
        let name = self.name("the name of the operation that this implements")?;
        let head = self
            .expect(&Kind::LeftParen, "and the parameters' names")
            .and_then(|_| self.parameter_names());
        let (block, head) = self.after_head(head, "proc", &name)?;
        let (parameters, result) = head?;
        Ok(ItemKind::Proc(Proc {
            name,
            parameters,
            result,
            block,
        }))
    }

    /// Parses the block after a head, and its end. The block is parsed even if there is a mistake
    /// in the head.
    fn after_head<T>(
        &mut self,
        head: Parse<T>,
        what: &str,
        name: &Name,
    ) -> Parse<(Block, Parse<T>)> {
        if head.is_err() {
            self.recover();
        }
        let block = self.block()?;
        self.expect(&Kind::EndWord, &format!("of {what} {}", name.text))?;
        self.end_name(name);
        Ok((block, head))
    }

    /// Parses names up to a closing parenthesis, and a result's name.
    pub(super) fn parameter_names(&mut self) -> Parse<(Vec<Name>, Option<Name>)> {
        let names = if self.cursor.is(&Kind::RightParen) {
            Vec::new()
        } else {
            self.comma_list(|p| p.name("a parameter's name"))?
        };
        self.expect(&Kind::RightParen, "after the parameters' names")?;
        let result = if self.cursor.take(&Kind::Returns) {
            Some(self.name("the result's name")?)
        } else {
            None
        };
        Ok((names, result))
    }

    pub(super) fn procedure(&mut self) -> Parse<ItemKind> {
        self.cursor.advance();
        let name = self.name("the procedure's name")?;
        let head = self.prototype();
        let (block, head) = self.after_head(head, "procedure", &name)?;
        Ok(ItemKind::Procedure(name, head?, block))
    }

    pub(super) fn process(&mut self) -> Parse<ItemKind> {
        self.cursor.advance();
        let name = self.name("the process's name")?;
        let head = self.process_head();
        let (block, head) = self.after_head(head, "process", &name)?;
        let (quantifiers, region) = head?;
        Ok(ItemKind::Process(name, quantifiers, block, region))
    }

    fn process_head(&mut self) -> Parse<(Vec<Quantifier>, Option<Expression>)> {
        Ok((self.quantifiers_in_parens()?, self.region()?))
    }
}
