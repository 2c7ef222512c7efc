//! Expressions, by precedence climbing.

use antiphon_lang::Diagnostic;

use super::{Parse, Parser};
use crate::syntax::{
    BasicType, BinaryOperator, Creation, Element, Expression, ExpressionKind, Invocation, Literal,
    Name, TypeExpression, TypeKind, UnaryOperator,
};
use crate::token::Kind;

/// How a binary operator's operands are grouped.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Left,
    Right,
}

/// The function of an operator between two operands.
enum Between {
    Plain(BinaryOperator),
    Assign,
    Augment(BinaryOperator),
    Swap,
}

/// The lowest precedence.
const ASSIGNMENT: u8 = 1;
const POWER: u8 = 9;

impl Parser {
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        self.binary(ASSIGNMENT)
    }

    /// Parses operands joined by operators of at least this precedence.
    fn binary(&mut self, least: u8) -> Parse<Expression> {
        self.nested(|p| {
            let start = p.cursor.span();
            let outer = std::mem::take(&mut p.height);
            let mut left = p.prefix()?;
            while let Some((between, precedence, group)) =
                between(p.cursor.kind()).filter(|(_, precedence, _)| *precedence >= least)
            {
                p.cursor.advance();
                let right = p.binary(if group == Group::Left {
                    precedence + 1
                } else {
                    precedence
                })?;
                p.rise()?;
                let (a, b) = (Box::new(left), Box::new(right));
                left = Expression {
                    kind: match between {
                        Between::Plain(operator) => ExpressionKind::Binary(operator, a, b),
                        Between::Assign => ExpressionKind::Assign(a, b),
                        Between::Augment(operator) => ExpressionKind::Augment(operator, a, b),
                        Between::Swap => ExpressionKind::Swap(a, b),
                    },
                    span: p.cursor.since(start),
                };
            }
            p.height = p.height.max(outer);
            Ok(left)
        })
    }

    fn prefix(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let operator = match self.cursor.kind() {
            Kind::Not => UnaryOperator::Not,
            Kind::Plus => UnaryOperator::Plus,
            Kind::Minus => UnaryOperator::Minus,
            Kind::At => UnaryOperator::Address,
            Kind::Question => UnaryOperator::Pending,
            Kind::Increment => UnaryOperator::IncrementBefore,
            Kind::Decrement => UnaryOperator::DecrementBefore,
            _ => return self.postfix(),
        };
        self.cursor.advance();
        let operand = self.nested(Self::prefix)?;
        self.rise()?;
        Ok(Expression {
            kind: ExpressionKind::Unary(operator, Box::new(operand)),
            span: self.cursor.since(start),
        })
    }

    fn postfix(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let mut expression = self.primary()?;
        loop {
            let operand = Box::new(expression);
            let kind = match self.cursor.kind() {
                Kind::LeftParen => {
                    let arguments = self.arguments()?;
                    ExpressionKind::Invoke(Box::new(Invocation {
                        operation: *operand,
                        arguments,
                    }))
                }
                Kind::LeftBracket => {
                    self.cursor.advance();
                    let subscripts = self.comma_list(Self::bounds)?;
                    self.expect(&Kind::RightBracket, "after the subscripts")?;
                    ExpressionKind::Index(operand, subscripts)
                }
                Kind::Period => {
                    self.cursor.advance();
                    ExpressionKind::Field(operand, self.name("a name after \".\"")?)
                }
                Kind::Hat => self.after(UnaryOperator::Dereference, operand),
                Kind::Increment => self.after(UnaryOperator::IncrementAfter, operand),
                Kind::Decrement => self.after(UnaryOperator::DecrementAfter, operand),
                _ => return Ok(*operand),
            };
            self.rise()?;
            expression = Expression {
                kind,
                span: self.cursor.since(start),
            };
        }
    }

    fn after(&mut self, operator: UnaryOperator, operand: Box<Expression>) -> ExpressionKind {
        self.cursor.advance();
        ExpressionKind::Unary(operator, operand)
    }

    fn arguments(&mut self) -> Parse<Vec<Expression>> {
        self.expect(&Kind::LeftParen, "before the arguments")?;
        let arguments = if self.cursor.is(&Kind::RightParen) {
            Vec::new()
        } else {
            self.comma_list(Self::expression)?
        };
        self.expect(&Kind::RightParen, "after the arguments")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parse<Expression> {
        let start = self.cursor.span();
        let kind = match self.cursor.kind().clone() {
            Kind::Name(text) => self.one(ExpressionKind::Name(text)),
            Kind::Integer(value) => self.literal(Literal::Integer(value)),
            Kind::Real(value) => self.literal(Literal::Real(value)),
            Kind::Character(value) => self.literal(Literal::Character(value)),
            Kind::Text(value) => self.literal(Literal::Text(value)),
            Kind::True => self.literal(Literal::Bool(true)),
            Kind::False => self.literal(Literal::Bool(false)),
            Kind::Null => self.literal(Literal::Null),
            Kind::Noop => self.literal(Literal::Noop),
            Kind::Stdin => self.literal(Literal::Stdin),
            Kind::Stdout => self.literal(Literal::Stdout),
            Kind::Stderr => self.literal(Literal::Stderr),
            Kind::LeftParen => self.parenthesized()?,
            Kind::Create => self.create()?,
            Kind::Low => ExpressionKind::Low(self.type_in_parens()?),
            Kind::High => ExpressionKind::High(self.type_in_parens()?),
            Kind::New => self.new_object()?,
            Kind::Bool => self.conversion(BasicType::Bool)?,
            Kind::Char => self.conversion(BasicType::Char)?,
            Kind::Int => self.conversion(BasicType::Int)?,
            Kind::RealWord => self.conversion(BasicType::Real)?,
            Kind::File => self.conversion(BasicType::File)?,
            Kind::StringWord => self.conversion(BasicType::Text)?,
            _ => return Err(self.unexpected("an expression")),
        };
        Ok(Expression {
            kind,
            span: self.cursor.since(start),
        })
    }

    fn one(&mut self, kind: ExpressionKind) -> ExpressionKind {
        self.cursor.advance();
        kind
    }

    fn literal(&mut self, literal: Literal) -> ExpressionKind {
        self.one(ExpressionKind::Literal(literal))
    }

    /// Parses a parenthesized expression, or an array's constructor.
    fn parenthesized(&mut self) -> Parse<ExpressionKind> {
        self.cursor.advance();
        let mut elements = self.comma_list(|p| {
            let times = if p.cursor.take(&Kind::LeftBracket) {
                let times = p.expression()?;
                p.expect(&Kind::RightBracket, "after the number of repetitions")?;
                Some(times)
            } else {
                None
            };
            let value = p.expression()?;
            Ok(Element { times, value })
        })?;
        self.expect(&Kind::RightParen, "after the expression")?;
        if elements.len() == 1 && elements[0].times.is_none() {
            return Ok(elements.remove(0).value.kind);
        }
        Ok(ExpressionKind::Array(elements))
    }

    fn conversion(&mut self, to: BasicType) -> Parse<ExpressionKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "and a value after the type")?;
        let value = self.expression()?;
        self.expect(&Kind::RightParen, "after the value")?;
        Ok(ExpressionKind::Convert(to, Box::new(value)))
    }

    fn type_in_parens(&mut self) -> Parse<TypeExpression> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "and a type")?;
        let of = self.type_expression()?;
        self.expect(&Kind::RightParen, "after the type")?;
        Ok(of)
    }

    fn new_object(&mut self) -> Parse<ExpressionKind> {
        self.cursor.advance();
        self.expect(&Kind::LeftParen, "and a type after new")?;
        let start = self.cursor.span();
        let dimensions = self.subscripts()?;
        let kind = match self.cursor.kind() {
            Kind::Sem => {
                self.cursor.advance();
                ExpressionKind::NewOperation(dimensions, None)
            }
            Kind::Op => {
                self.cursor.advance();
                ExpressionKind::NewOperation(dimensions, Some(Box::new(self.prototype()?)))
            }
            _ => {
                let mut of = self.unsubscripted_type()?;
                if !dimensions.is_empty() {
                    of = TypeExpression {
                        kind: TypeKind::Array(dimensions, Box::new(of)),
                        span: self.cursor.since(start),
                    };
                }
                ExpressionKind::New(of)
            }
        };
        self.expect(&Kind::RightParen, "after what is new")?;
        Ok(kind)
    }

    fn create(&mut self) -> Parse<ExpressionKind> {
        self.cursor.advance();
        let name: Option<Name> = if self.cursor.take(&Kind::Vm) {
            None
        } else {
            Some(self.name("a resource's name after create")?)
        };
        if !self.cursor.is(&Kind::LeftParen) {
            let error = Diagnostic::error(self.cursor.last_span(), "create needs arguments");
            return Err(self.report(error.help("write () if the resource has no parameters")));
        }
        let arguments = self.arguments()?;
        let machine = if self.cursor.take(&Kind::On) {
            Some(self.binary(ASSIGNMENT + 2)?)
        } else {
            None
        };
        Ok(ExpressionKind::Create(Box::new(Creation {
            resource: name,
            arguments,
            machine,
            region: self.region()?,
        })))
    }

    /// Parses a region comment, if there is one here.
    pub(super) fn region(&mut self) -> Parse<Option<Expression>> {
        if !self.cursor.take(&Kind::Region) {
            return Ok(None);
        }
        let region = self.expression();
        if region.is_ok() && self.cursor.take(&Kind::RegionEnd) {
            return region.map(Some);
        }
        if region.is_ok() {
            self.unexpected("the end of the line after the region's number");
        }
        // The rest of the statement follows after this line.
        while !self.cursor.take(&Kind::RegionEnd) && !self.cursor.is(&Kind::End) {
            self.cursor.advance();
        }
        Ok(None)
    }
}

/// Returns the function of an operator between two operands, its precedence, and how it groups.
fn between(kind: &Kind) -> Option<(Between, u8, Group)> {
    use Between::{Assign, Augment, Plain, Swap};
    use BinaryOperator as Op;
    let (between, precedence) = match kind {
        Kind::Assign => (Assign, ASSIGNMENT),
        Kind::Swap => (Swap, ASSIGNMENT),
        Kind::AddAssign => (Augment(Op::Add), ASSIGNMENT),
        Kind::SubtractAssign => (Augment(Op::Subtract), ASSIGNMENT),
        Kind::MultiplyAssign => (Augment(Op::Multiply), ASSIGNMENT),
        Kind::DivideAssign => (Augment(Op::Divide), ASSIGNMENT),
        Kind::RemainderAssign => (Augment(Op::Remainder), ASSIGNMENT),
        Kind::PowerAssign => (Augment(Op::Power), ASSIGNMENT),
        Kind::AndAssign => (Augment(Op::And), ASSIGNMENT),
        Kind::OrAssign => (Augment(Op::Or), ASSIGNMENT),
        Kind::ShiftLeftAssign => (Augment(Op::ShiftLeft), ASSIGNMENT),
        Kind::ShiftRightAssign => (Augment(Op::ShiftRight), ASSIGNMENT),
        Kind::ConcatenateAssign => (Augment(Op::Concatenate), ASSIGNMENT),
        Kind::Or => (Plain(Op::Or), 3),
        Kind::Xor => (Plain(Op::Xor), 3),
        Kind::And => (Plain(Op::And), 4),
        Kind::Equal => (Plain(Op::Equal), 5),
        Kind::NotEqual => (Plain(Op::NotEqual), 5),
        Kind::Less => (Plain(Op::Less), 5),
        Kind::LessEqual => (Plain(Op::LessEqual), 5),
        Kind::Greater => (Plain(Op::Greater), 5),
        Kind::GreaterEqual => (Plain(Op::GreaterEqual), 5),
        Kind::ShiftLeft => (Plain(Op::ShiftLeft), 6),
        Kind::ShiftRight => (Plain(Op::ShiftRight), 6),
        Kind::Plus => (Plain(Op::Add), 7),
        Kind::Minus => (Plain(Op::Subtract), 7),
        Kind::Concatenate => (Plain(Op::Concatenate), 7),
        Kind::Asterisk => (Plain(Op::Multiply), 8),
        Kind::Slash => (Plain(Op::Divide), 8),
        Kind::Mod => (Plain(Op::Mod), 8),
        Kind::Percent => (Plain(Op::Remainder), 8),
        Kind::Power => (Plain(Op::Power), POWER),
        _ => return None,
    };
    let group = if precedence == ASSIGNMENT || precedence == POWER {
        Group::Right
    } else {
        Group::Left
    };
    Some((between, precedence, group))
}
