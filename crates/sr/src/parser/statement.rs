//! Statements.

use antiphon_lang::Diagnostic;

use super::{Parse, Parser};
use crate::syntax::{
    Arm, Block, ConcurrentArm, Expression, ExpressionKind, Invocation, Quantifier, Statement,
};
use crate::token::Kind;

/// A guard and its block.
type Guarded = (Expression, Block);

impl Parser {
    pub(super) fn block(&mut self) -> Parse<Block> {
        self.nested(|p| {
            let start = p.cursor.span();
            let items = p.items(false);
            let span = p.cursor.since(start);
            Ok(Block { items, span })
        })
    }

    pub(super) fn statement(&mut self) -> Parse<Statement> {
        let kind = self.cursor.kind().clone();
        match kind {
            Kind::Skip => self.word(Statement::Skip),
            Kind::Exit => self.word(Statement::Exit),
            Kind::Next => self.word(Statement::Next),
            Kind::Return => self.word(Statement::Return),
            Kind::Reply => self.word(Statement::Reply),
            Kind::Stop => {
                self.cursor.advance();
                let code = if self.cursor.is(&Kind::LeftParen) {
                    Some(self.in_parens()?)
                } else {
                    None
                };
                Ok(Statement::Stop(code))
            }
            Kind::Forward => Ok(Statement::Forward(self.invocation_after()?)),
            Kind::Send => Ok(Statement::Send(self.invocation_after()?)),
            Kind::Call => Ok(Statement::Call(self.invocation_after()?)),
            Kind::Destroy => {
                self.cursor.advance();
                Ok(Statement::Destroy(self.expression()?))
            }
            Kind::V => {
                self.cursor.advance();
                Ok(Statement::V(self.in_parens()?))
            }
            Kind::P => {
                self.cursor.advance();
                Ok(Statement::P(self.in_parens()?))
            }
            Kind::Receive => self.receive(),
            Kind::Begin => {
                self.cursor.advance();
                let block = self.block()?;
                self.expect(&Kind::EndWord, "of begin")?;
                Ok(Statement::Block(block))
            }
            Kind::If => {
                let (arms, other) = self.guarded(&Kind::Fi)?;
                Ok(Statement::If(arms, other))
            }
            Kind::Do => {
                let (arms, other) = self.guarded(&Kind::Od)?;
                Ok(Statement::Do(arms, other))
            }
            Kind::Fa => self.for_all(),
            Kind::In => self.input(),
            Kind::Co => self.concurrent(),
            _ => Ok(Statement::Expression(self.expression()?)),
        }
    }

    fn word(&mut self, statement: Statement) -> Parse<Statement> {
        self.cursor.advance();
        Ok(statement)
    }

    fn in_parens(&mut self) -> Parse<Expression> {
        self.expect(&Kind::LeftParen, "here")?;
        let expression = self.expression()?;
        self.expect(&Kind::RightParen, "after the expression")?;
        Ok(expression)
    }

    /// Parses a word, then an operation with arguments.
    fn invocation_after(&mut self) -> Parse<Invocation> {
        let word = self.cursor.kind().shown();
        self.cursor.advance();
        let expression = self.expression()?;
        let span = expression.span;
        match expression.kind {
            ExpressionKind::Invoke(invocation) => Ok(*invocation),
            _ => {
                let error =
                    Diagnostic::error(span, format!("{word} needs an operation with arguments"));
                Err(self
                    .report(error.help("write the arguments in parentheses, () if there are none")))
            }
        }
    }

    /// Parses `receive`. The operation's parentheses hold the variables, so the expression before
    /// them is split off again.
    fn receive(&mut self) -> Parse<Statement> {
        let invocation = self.invocation_after()?;
        Ok(Statement::Receive(
            invocation.operation,
            invocation.arguments,
        ))
    }

    /// Parses guards with their blocks, an else part, and the closing word.
    fn guarded(&mut self, closing: &Kind) -> Parse<(Vec<Guarded>, Option<Block>)> {
        let opening = self.cursor.kind().shown();
        self.cursor.advance();
        let mut arms = Vec::new();
        let mut other = None;
        loop {
            if self.cursor.take(&Kind::Else) {
                self.expect(&Kind::Arrow, "after else")?;
                other = Some(self.block()?);
                break;
            }
            let guard = self.expression()?;
            self.expect(&Kind::Arrow, "after the guard")?;
            arms.push((guard, self.block()?));
            if !self.cursor.take(&Kind::Box) {
                break;
            }
        }
        self.expect(closing, &format!("at the end of {opening}"))?;
        Ok((arms, other))
    }

    fn for_all(&mut self) -> Parse<Statement> {
        self.cursor.advance();
        let quantifiers = self.comma_list(Self::quantifier)?;
        self.expect(&Kind::Arrow, "after the quantifiers")?;
        let block = self.block()?;
        self.expect(&Kind::Af, "at the end of fa")?;
        Ok(Statement::ForAll(quantifiers, block))
    }

    fn quantifier(&mut self) -> Parse<Quantifier> {
        let name = self.name("the name of a loop variable")?;
        self.expect(&Kind::Assign, "after the loop variable")?;
        let first = self.expression()?;
        let is_down = self.cursor.take(&Kind::Downto);
        if !is_down {
            self.expect(&Kind::To, "or \"downto\" after the first value")?;
        }
        let last = self.expression()?;
        let step = if self.cursor.take(&Kind::By) {
            Some(self.expression()?)
        } else {
            None
        };
        let test = if self.cursor.take(&Kind::St) {
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Quantifier {
            name,
            first,
            is_down,
            last,
            step,
            test,
        })
    }

    pub(super) fn quantifiers_in_parens(&mut self) -> Parse<Vec<Quantifier>> {
        if !self.cursor.take(&Kind::LeftParen) {
            return Ok(Vec::new());
        }
        let quantifiers = self.comma_list(Self::quantifier)?;
        self.expect(&Kind::RightParen, "after the quantifiers")?;
        Ok(quantifiers)
    }

    fn input(&mut self) -> Parse<Statement> {
        self.cursor.advance();
        let mut arms = Vec::new();
        let mut other = None;
        loop {
            self.skip_separators();
            if self.cursor.take(&Kind::Else) {
                self.expect(&Kind::Arrow, "after else")?;
                other = Some(self.block()?);
                break;
            }
            arms.push(self.arm()?);
            if !self.cursor.take(&Kind::Box) {
                break;
            }
        }
        self.expect(&Kind::Ni, "at the end of in")?;
        Ok(Statement::Input(arms, other))
    }

    fn arm(&mut self) -> Parse<Arm> {
        let quantifiers = self.quantifiers_in_parens()?;
        let operation = self.input_operation()?;
        self.expect(
            &Kind::LeftParen,
            "and the parameters' names after the operation",
        )?;
        let (parameters, result) = self.parameter_names()?;
        let is_guarded = self.cursor.take(&Kind::And) || self.cursor.take(&Kind::St);
        let synchronization = if is_guarded {
            Some(self.expression()?)
        } else {
            None
        };
        let scheduling = if self.cursor.take(&Kind::By) {
            Some(self.expression()?)
        } else {
            None
        };
        self.expect(&Kind::Arrow, "before what the arm does")?;
        let block = self.block()?;
        Ok(Arm {
            quantifiers,
            operation,
            parameters,
            result,
            synchronization,
            scheduling,
            block,
        })
    }

    /// Parses an operation's name with subscripts; its parentheses are not arguments.
    fn input_operation(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let path = self.path("an operation")?;
        let mut operation = Expression {
            span: path.component.as_ref().unwrap_or(&path.name).span,
            kind: ExpressionKind::Name(path.component.as_ref().unwrap_or(&path.name).text.clone()),
        };
        if path.component.is_some() {
            operation = Expression {
                kind: ExpressionKind::Field(Box::new(operation), path.name),
                span: self.cursor.since(start),
            };
        }
        if self.cursor.is(&Kind::LeftBracket) {
            let subscripts = self.subscripts()?;
            operation = Expression {
                kind: ExpressionKind::Index(Box::new(operation), subscripts),
                span: self.cursor.since(start),
            };
        }
        Ok(operation)
    }

    fn concurrent(&mut self) -> Parse<Statement> {
        self.cursor.advance();
        let mut arms = Vec::new();
        loop {
            self.skip_separators();
            arms.push(self.concurrent_arm()?);
            self.skip_separators();
            if !self.cursor.take(&Kind::Parallel) {
                break;
            }
        }
        self.expect(&Kind::Oc, "at the end of co")?;
        Ok(Statement::Concurrent(arms))
    }

    fn concurrent_arm(&mut self) -> Parse<ConcurrentArm> {
        // A quantifier begins with a name and ":="; any other parenthesis belongs to the
        // invocation.
        let has_quantifiers = self.cursor.is(&Kind::LeftParen)
            && *self.cursor.ahead(2) == Kind::Assign
            && matches!(self.cursor.ahead(1), Kind::Name(_));
        let quantifiers = if has_quantifiers {
            self.quantifiers_in_parens()?
        } else {
            Vec::new()
        };
        self.skip_separators();
        let start = self.cursor.span();
        let invocation = match self.cursor.kind() {
            Kind::Call => Statement::Call(self.invocation_after()?),
            Kind::Send => Statement::Send(self.invocation_after()?),
            _ => Statement::Expression(self.expression()?),
        };
        let span = self.cursor.since(start);
        let block = if self.cursor.take(&Kind::Arrow) {
            Some(self.block()?)
        } else {
            None
        };
        Ok(ConcurrentArm {
            quantifiers,
            invocation: Box::new(invocation),
            span,
            block,
        })
    }
}
