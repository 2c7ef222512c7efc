//! Statements.

use super::{Parse, Parser};
use crate::syntax::{Arm, Statement, StatementKind};
use crate::token::Kind;

impl Parser {
    /// Parses statements up to a word that ends them. Wrong ones are left out.
    pub(super) fn statements(&mut self) -> Parse<Vec<Statement>> {
        self.nested(|parser| {
            let mut all = Vec::new();
            while !parser.ends_statements() && !parser.is_exhausted() {
                if parser.cursor.take(&Kind::Semicolon) {
                    continue;
                }
                match parser.statement() {
                    Ok(statement) => all.push(statement),
                    Err(_) => parser.skip_statement(),
                }
            }
            Ok(all)
        })
    }

    fn ends_statements(&self) -> bool {
        matches!(
            self.cursor.kind(),
            Kind::End
                | Kind::EndWord
                | Kind::Fi
                | Kind::Od
                | Kind::Esac
                | Kind::Until
                | Kind::Else
                | Kind::Elsif
                | Kind::Bar
                | Kind::Function
                | Kind::Operation
                | Kind::Process
        )
    }

    /// Continues after the next semicolon, or at a word that ends statements.
    fn skip_statement(&mut self) {
        // Nested statements are parts of the wrong statement.
        let mut depth = 0;
        while !self.cursor.is(&Kind::End) {
            match self.cursor.kind() {
                Kind::If | Kind::Case | Kind::Do | Kind::Repeat => depth += 1,
                Kind::Fi | Kind::Esac | Kind::Od | Kind::Until if depth > 0 => depth -= 1,
                Kind::Semicolon if depth == 0 => {
                    self.cursor.advance();
                    return;
                }
                Kind::Function | Kind::Operation | Kind::Process => return,
                _ if depth == 0 && self.ends_statements() => return,
                _ => {}
            }
            self.cursor.advance();
        }
    }

    fn statement(&mut self) -> Parse<Statement> {
        let start = self.cursor.span();
        let kind = match self.cursor.kind() {
            Kind::Name(_) => self.simple_statement()?,
            Kind::Fork => self.fork()?,
            Kind::Exit => {
                self.cursor.advance();
                StatementKind::Exit
            }
            Kind::Return if self.in_dependencies => {
                let span = self.cursor.span();
                let help = "put IF around the statements behind it";
                return Err(self.error(span, "DEPENDENCIES have no RETURN", help));
            }
            Kind::Return => {
                self.cursor.advance();
                let has_value = !self.cursor.is(&Kind::Semicolon) && !self.ends_statements();
                StatementKind::Return(if has_value {
                    Some(self.expression()?)
                } else {
                    None
                })
            }
            Kind::If => self.condition()?,
            Kind::Case => self.case()?,
            Kind::Repeat => {
                self.cursor.advance();
                let statements = self.statements()?;
                self.expect(&Kind::Until, "after the statements of REPEAT")?;
                StatementKind::Repeat(statements, self.expression()?)
            }
            Kind::While | Kind::Do => {
                let condition = match self.cursor.take(&Kind::While) {
                    true => Some(self.expression()?),
                    false => None,
                };
                StatementKind::While(condition, self.block()?)
            }
            Kind::For => {
                self.cursor.advance();
                let name = self.name("the loop variable")?;
                self.expect(&Kind::In, "after the loop variable")?;
                let low = self.expression()?;
                let high = match self.cursor.take(&Kind::Range) {
                    true => Some(self.expression()?),
                    false => None,
                };
                StatementKind::For(name, low, high, self.block()?)
            }
            Kind::From => {
                let value = self.expression()?;
                StatementKind::Call(value)
            }
            Kind::Guard => {
                let message = "GUARD stands at the beginning of an operation's body";
                let help = "outside of operations, IF decides, and an operation with a guard waits";
                return Err(self.error(start, message, help));
            }
            _ => return Err(self.unexpected("a statement")),
        };
        let span = self.cursor.since(start);
        self.semicolon("the statement")?;
        Ok(Statement { kind, span })
    }

    fn simple_statement(&mut self) -> Parse<StatementKind> {
        if self.in_dependencies && self.is_word("ACCESS") {
            self.cursor.advance();
            self.expect(&Kind::LeftBracket, "after ACCESS")?;
            let indices = self.expressions()?;
            self.expect(&Kind::RightBracket, "after the indices")?;
            return Ok(StatementKind::Access(indices));
        }
        self.height = 0;
        let target = self.application()?;
        let operator = self.assigning();
        if operator.is_some() {
            self.cursor.advance();
        }
        if self.cursor.take(&Kind::Assign) {
            return Ok(StatementKind::Assign(target, operator, self.expression()?));
        }
        use crate::syntax::ExpressionKind::{Call, Direct, Invoke};
        match target.kind {
            Call(..) | Invoke(..) | Direct(..) => Ok(StatementKind::Call(target)),
            _ => Err(self.unexpected("\":=\" or arguments")),
        }
    }

    fn fork(&mut self) -> Parse<StatementKind> {
        self.cursor.advance();
        let process = self.qualified("a process")?;
        let arguments = self.arguments()?;
        let on = match self.cursor.take(&Kind::On) {
            true => Some(self.expression()?),
            false => None,
        };
        Ok(StatementKind::Fork(process, arguments, on))
    }

    fn condition(&mut self) -> Parse<StatementKind> {
        self.cursor.advance();
        let mut arms = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect(&Kind::Then, "after the condition")?;
            arms.push((condition, self.statements()?));
            if !self.cursor.take(&Kind::Elsif) {
                break;
            }
        }
        let otherwise = match self.cursor.take(&Kind::Else) {
            true => Some(self.statements()?),
            false => None,
        };
        self.expect(&Kind::Fi, "after the statements of IF")?;
        Ok(StatementKind::If(arms, otherwise))
    }

    fn case(&mut self) -> Parse<StatementKind> {
        self.cursor.advance();
        let value = self.expression()?;
        self.expect(&Kind::Of, "after the value of CASE")?;
        let mut arms = Vec::new();
        loop {
            if !matches!(self.cursor.kind(), Kind::Bar | Kind::Else | Kind::Esac) {
                arms.push(self.arm()?);
            }
            if !self.cursor.take(&Kind::Bar) {
                break;
            }
        }
        let otherwise = match self.cursor.take(&Kind::Else) {
            true => Some(self.statements()?),
            false => None,
        };
        self.expect(&Kind::Esac, "after the alternatives of CASE")?;
        Ok(StatementKind::Case(value, arms, otherwise))
    }

    fn arm(&mut self) -> Parse<Arm> {
        let mut labels = Vec::new();
        loop {
            let low = self.expression()?;
            let high = match self.cursor.take(&Kind::Range) {
                true => Some(self.expression()?),
                false => None,
            };
            labels.push((low, high));
            if !self.cursor.take(&Kind::Comma) {
                break;
            }
        }
        self.expect(&Kind::Arrow, "after the values of the alternative")?;
        Ok(Arm {
            labels,
            statements: self.statements()?,
        })
    }

    /// Parses `DO statements OD`.
    pub(super) fn block(&mut self) -> Parse<Vec<Statement>> {
        self.expect(&Kind::Do, "before the statements of the loop")?;
        let statements = self.statements()?;
        self.expect(&Kind::Od, "after the statements")?;
        Ok(statements)
    }
}
