//! Expressions and designators.

use antiphon_lang::Span;

use super::{Parse, Parser, TALLEST};
use crate::syntax::{Binary, Expression, ExpressionKind, Row, Unary};
use crate::token::Kind;

impl Parser {
    pub(super) fn expressions(&mut self) -> Parse<Vec<Expression>> {
        let mut all = vec![self.expression()?];
        while self.cursor.take(&Kind::Comma) {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    pub(super) fn expression(&mut self) -> Parse<Expression> {
        let outer = std::mem::take(&mut self.height);
        let parsed = self.nested(Self::relation);
        self.height += outer;
        parsed
    }

    fn relation(&mut self) -> Parse<Expression> {
        let left = self.simple()?;
        let operator = match self.cursor.kind() {
            Kind::Equal => Binary::Equal,
            Kind::NotEqual => Binary::NotEqual,
            Kind::Less => Binary::Less,
            Kind::LessEqual => Binary::LessEqual,
            Kind::Greater => Binary::Greater,
            Kind::GreaterEqual => Binary::GreaterEqual,
            Kind::In => Binary::In,
            _ => return Ok(left),
        };
        self.cursor.advance();
        let right = self.simple()?;
        Ok(binary(operator, left, right))
    }

    fn simple(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let sign = match self.cursor.kind() {
            Kind::Plus => Some(Unary::Plus),
            Kind::Minus => Some(Unary::Minus),
            _ => None,
        };
        if sign.is_some() {
            self.cursor.advance();
        }
        let mut left = self.term()?;
        if let Some(sign) = sign {
            left = Expression {
                span: self.cursor.since(start),
                kind: ExpressionKind::Unary(sign, Box::new(left)),
            };
        }
        while let Some(operator) = self.additive() {
            if self.cursor.ahead(1) == &Kind::Assign {
                break;
            }
            self.cursor.advance();
            self.rise()?;
            let right = self.term()?;
            left = binary(operator, left, right);
        }
        Ok(left)
    }

    fn additive(&self) -> Option<Binary> {
        Some(match self.cursor.kind() {
            Kind::Plus => Binary::Add,
            Kind::Minus => Binary::Subtract,
            Kind::Or => Binary::Or,
            Kind::Bar => Binary::BitOr,
            Kind::Caret => Binary::BitXor,
            Kind::ShiftLeft => Binary::ShiftLeft,
            Kind::ShiftRight => Binary::ShiftRight,
            _ => return None,
        })
    }

    fn multiplicative(&self) -> Option<Binary> {
        Some(match self.cursor.kind() {
            Kind::Asterisk => Binary::Multiply,
            Kind::Slash => Binary::Divide,
            Kind::Percent => Binary::Modulo,
            Kind::And => Binary::And,
            Kind::Ampersand => Binary::BitAnd,
            _ => return None,
        })
    }

    /// Returns the operator of an assignment `op :=` that begins here.
    pub(super) fn assigning(&self) -> Option<Binary> {
        let operator = self.additive().or_else(|| self.multiplicative());
        operator.filter(|_| self.cursor.ahead(1) == &Kind::Assign)
    }

    fn term(&mut self) -> Parse<Expression> {
        let mut left = self.factor()?;
        while let Some(operator) = self.multiplicative() {
            self.cursor.advance();
            self.rise()?;
            let right = self.factor()?;
            left = binary(operator, left, right);
        }
        Ok(left)
    }

    /// Counts a level of operators.
    fn rise(&mut self) -> Parse<()> {
        self.height += 1;
        if self.height <= TALLEST {
            return Ok(());
        }
        let span = self.cursor.span();
        let message = format!("this expression has more than {TALLEST} operators");
        Err(self.error(span, message, "give parts of it names"))
    }

    fn factor(&mut self) -> Parse<Expression> {
        let span = self.cursor.span();
        let kind = match self.cursor.kind().clone() {
            Kind::Integer(value) => ExpressionKind::Integer(value),
            Kind::Real(value) => ExpressionKind::Real(value),
            Kind::Character(value) => ExpressionKind::Character(value),
            Kind::Text(value) => ExpressionKind::Text(value),
            Kind::Name(_) => return self.application(),
            Kind::From => {
                self.cursor.advance();
                let arguments = self.arguments()?;
                let span = self.cursor.since(span);
                return Ok(Expression {
                    kind: ExpressionKind::From(arguments),
                    span,
                });
            }
            Kind::LeftParen => {
                self.cursor.advance();
                let inner = self.expression()?;
                self.expect(&Kind::RightParen, "after the expression")?;
                return Ok(Expression {
                    span: self.cursor.since(span),
                    ..inner
                });
            }
            Kind::Not | Kind::Tilde => {
                let operator = if self.cursor.is(&Kind::Not) {
                    Unary::Not
                } else {
                    Unary::Complement
                };
                self.cursor.advance();
                let operand = Box::new(self.nested(Self::factor)?);
                let span = self.cursor.since(span);
                return Ok(Expression {
                    kind: ExpressionKind::Unary(operator, operand),
                    span,
                });
            }
            _ => return Err(self.unexpected("an operand")),
        };
        self.cursor.advance();
        Ok(Expression { kind, span })
    }

    /// Parses a designator and its use: a call, an operation, an aggregate.
    pub(super) fn application(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let designator = self.designator()?;
        let kind = match self.cursor.kind() {
            Kind::LeftParen => ExpressionKind::Call(Box::new(designator), self.arguments()?),
            Kind::Dollar => {
                self.cursor.advance();
                let name = self.name("an operation")?;
                ExpressionKind::Invoke(Box::new(designator), name, self.arguments()?)
            }
            Kind::Directive => {
                self.cursor.advance();
                let name = self.name("a directive")?;
                ExpressionKind::Direct(Box::new(designator), name, self.arguments()?)
            }
            Kind::Colon if self.cursor.ahead(1) == &Kind::LeftBrace => {
                self.cursor.advance();
                self.cursor.advance();
                let mut members = Vec::new();
                if !self.cursor.is(&Kind::RightBrace) {
                    members = self.expressions()?;
                }
                self.expect(&Kind::RightBrace, "after the members")?;
                ExpressionKind::Members(Box::new(designator), members)
            }
            Kind::Colon if self.cursor.ahead(1) == &Kind::LeftBracket => {
                self.cursor.advance();
                let (rows, _) = self.rows()?;
                ExpressionKind::Rows(Box::new(designator), rows)
            }
            _ => return Ok(designator),
        };
        Ok(Expression {
            kind,
            span: self.cursor.since(start),
        })
    }

    fn rows(&mut self) -> Parse<(Vec<Row>, Span)> {
        let start = self.expect(&Kind::LeftBracket, "before the elements")?;
        let mut rows = Vec::new();
        while !self.cursor.is(&Kind::RightBracket) {
            if self.cursor.is(&Kind::LeftBracket) {
                let (inner, span) = self.nested(Self::rows)?;
                rows.push(Row::Row(inner, span));
            } else {
                rows.push(Row::Element(self.expression()?));
            }
            if !self.cursor.take(&Kind::Comma) {
                break;
            }
        }
        self.expect(&Kind::RightBracket, "after the elements")?;
        Ok((rows, self.cursor.since(start)))
    }

    pub(super) fn arguments(&mut self) -> Parse<Vec<Expression>> {
        self.expect(&Kind::LeftParen, "before the arguments")?;
        let mut arguments = Vec::new();
        if !self.cursor.is(&Kind::RightParen) {
            arguments = self.expressions()?;
        }
        self.expect(&Kind::RightParen, "after the arguments")?;
        Ok(arguments)
    }

    pub(super) fn designator(&mut self) -> Parse<Expression> {
        let name = self.name("a variable")?;
        let start = name.span;
        let mut designator = Expression {
            kind: ExpressionKind::Name(name.text),
            span: start,
        };
        loop {
            let inner = Box::new(designator.clone());
            let kind = match self.cursor.kind() {
                Kind::Period => {
                    self.cursor.advance();
                    ExpressionKind::Select(inner, self.name("a field")?)
                }
                Kind::LeftBracket => {
                    self.cursor.advance();
                    let indices = self.expressions()?;
                    self.expect(&Kind::RightBracket, "after the index")?;
                    ExpressionKind::Index(inner, indices)
                }
                Kind::Follow => {
                    self.cursor.advance();
                    ExpressionKind::Follow(inner, self.name("a field")?)
                }
                _ => return Ok(designator),
            };
            self.rise()?;
            designator = Expression {
                kind,
                span: self.cursor.since(start),
            };
        }
    }
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
    Expression { kind, span }
}
