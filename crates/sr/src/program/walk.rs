//! A walk over all statements and expressions of checked code.

use super::*;

/// Receives everything that a walk meets, outermost first.
pub(crate) trait Visitor {
    /// Visits an expression.
    fn expression(&mut self, _: &Expression) {}
    /// Visits a statement.
    fn statement(&mut self, _: &Statement) {}
    /// Visits the beginning of an arm of an input statement or, with false, its end.
    fn arm(&mut self, _begins: bool) {}
}

fn walk_all<'a>(expressions: impl IntoIterator<Item = &'a Expression>, visitor: &mut dyn Visitor) {
    for expression in expressions {
        walk_expression(expression, visitor);
    }
}

fn walk_shape(shape: &Shape, visitor: &mut dyn Visitor) {
    for (low, high) in &shape.bounds {
        walk_expression(low, visitor);
        walk_expression(high, visitor);
    }
    walk_all(shape.most.as_deref(), visitor);
}

fn walk_target(target: &Target, visitor: &mut dyn Visitor) {
    match target {
        Target::Declared(_, subscripts) => walk_all(subscripts, visitor),
        Target::Of(of, _, subscripts) => {
            walk_expression(of, visitor);
            walk_all(subscripts, visitor);
        }
        Target::Value(of) => walk_expression(of, visitor),
    }
}

fn walk_invocation(invocation: &Invocation, visitor: &mut dyn Visitor) {
    walk_target(&invocation.target, visitor);
    walk_all(&invocation.arguments, visitor);
}

fn walk_quantifiers(quantifiers: &[Quantifier], visitor: &mut dyn Visitor) {
    for quantifier in quantifiers {
        walk_all([&quantifier.first, &quantifier.last], visitor);
        walk_all(&quantifier.step, visitor);
        walk_all(&quantifier.test, visitor);
    }
}

/// Walks over an expression and all in it.
pub(crate) fn walk_expression(expression: &Expression, visitor: &mut dyn Visitor) {
    use ExpressionKind as K;
    visitor.expression(expression);
    match &expression.kind {
        K::Constant(_) | K::Variable(_) => {}
        K::Field(of, _)
        | K::Dereference(of)
        | K::Address(of)
        | K::Negate(of)
        | K::Not(of)
        | K::Convert(of)
        | K::Step { place: of, .. } => walk_expression(of, visitor),
        K::Index(of, subscripts) => {
            walk_expression(of, visitor);
            walk_all(subscripts, visitor);
        }
        K::Slice(of, subscripts) => {
            walk_expression(of, visitor);
            for subscript in subscripts {
                match subscript {
                    Subscript::At(at) => walk_expression(at, visitor),
                    Subscript::Range(from, to) => walk_all(from.iter().chain(to), visitor),
                }
            }
        }
        K::TextSlice(of, from, to) => {
            walk_expression(of, visitor);
            walk_all(from.as_deref(), visitor);
            walk_all(to.as_deref(), visitor);
        }
        K::TextIndex(a, b)
        | K::Binary(_, a, b)
        | K::Assign(a, b)
        | K::Augment(_, a, b)
        | K::Swap(a, b) => walk_all([&**a, &**b], visitor),
        K::Array(parts) => {
            for (times, value) in parts {
                walk_all(times, visitor);
                walk_expression(value, visitor);
            }
        }
        K::Record(values) | K::Predefined(_, values) => walk_all(values, visitor),
        K::New(_, shape) => walk_shape(shape, visitor),
        K::NewOperation(_, bounds) => {
            walk_all(bounds.iter().flat_map(|(low, high)| [low, high]), visitor)
        }
        K::Call(invocation) => walk_invocation(invocation, visitor),
        K::Capability(target) | K::Pending(target) => walk_target(target, visitor),
        K::Create {
            arguments,
            region,
            machine,
            ..
        } => {
            walk_all(arguments, visitor);
            walk_all(machine.as_deref(), visitor);
            walk_all(region.as_deref(), visitor);
        }
    }
}

fn walk_guarded(arms: &[(Expression, Block)], other: &Option<Block>, visitor: &mut dyn Visitor) {
    for (guard, block) in arms {
        walk_expression(guard, visitor);
        walk_block(block, visitor);
    }
    if let Some(block) = other {
        walk_block(block, visitor);
    }
}

/// Walks over all statements and expressions of a block.
pub(crate) fn walk_block(block: &Block, visitor: &mut dyn Visitor) {
    for statement in &block.statements {
        walk_statement(statement, visitor);
    }
}

fn walk_statement(statement: &Statement, visitor: &mut dyn Visitor) {
    use StatementKind as K;
    visitor.statement(statement);
    match &statement.kind {
        K::Declare { shape, value, .. } => {
            if let Some(shape) = shape {
                walk_shape(shape, visitor);
            }
            walk_all(value, visitor);
        }
        K::DeclareOperation { value, .. } => walk_all(value, visitor),
        K::Start {
            quantifiers,
            region,
            ..
        } => {
            walk_quantifiers(quantifiers, visitor);
            walk_all(region, visitor);
        }
        K::Expression(e) | K::Destroy(e) => walk_expression(e, visitor),
        K::Stop(code) => walk_all(code, visitor),
        K::Import(_) | K::Exit | K::Next | K::Return | K::Reply => {}
        K::Forward(invocation) | K::Send(invocation) | K::Call(invocation) => {
            walk_invocation(invocation, visitor)
        }
        K::Receive(target, places) => {
            walk_target(target, visitor);
            walk_all(places, visitor);
        }
        K::V(target) => walk_target(target, visitor),
        K::Block(block) => walk_block(block, visitor),
        K::If(arms, other) | K::Do(arms, other) => walk_guarded(arms, other, visitor),
        K::ForAll(quantifiers, block) => {
            walk_quantifiers(quantifiers, visitor);
            walk_block(block, visitor);
        }
        K::Input(arms, other) => {
            for arm in arms {
                walk_quantifiers(&arm.quantifiers, visitor);
                walk_target(&arm.target, visitor);
                walk_all(&arm.synchronization, visitor);
                walk_all(&arm.scheduling, visitor);
                visitor.arm(true);
                walk_block(&arm.block, visitor);
                visitor.arm(false);
            }
            if let Some(block) = other {
                walk_block(block, visitor);
            }
        }
        K::Concurrent(arms) => {
            for arm in arms {
                walk_quantifiers(&arm.quantifiers, visitor);
                walk_invocation(&arm.invocation, visitor);
                walk_all(&arm.result_to, visitor);
                if let Some(block) = &arm.block {
                    walk_block(block, visitor);
                }
            }
        }
    }
}
