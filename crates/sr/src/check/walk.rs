//! Going through checked code.

use crate::program::*;

/// A part of checked code.
#[derive(Clone, Copy)]
pub(super) enum Node<'p> {
    Statement(&'p Statement),
    Expression(&'p Expression),
}

/// Calls `see` with every statement and expression of a block, outer ones before inner ones.
pub(super) fn each<'p>(block: &'p Block, see: &mut dyn FnMut(Node<'p>)) {
    for statement in &block.statements {
        each_of_statement(statement, see);
    }
}

fn each_of_statement<'p>(statement: &'p Statement, see: &mut dyn FnMut(Node<'p>)) {
    use StatementKind as K;
    see(Node::Statement(statement));
    match &statement.kind {
        K::Declare { shape, value, .. } => {
            if let Some(shape) = shape {
                each_of_shape(shape, see);
            }
            all(value, see);
        }
        K::DeclareOperation { value, .. } => all(value, see),
        K::Start {
            quantifiers,
            region,
            ..
        } => {
            each_of_quantifiers(quantifiers, see);
            all(region, see);
        }
        K::Expression(e) | K::Destroy(e) => each_of_expression(e, see),
        K::Stop(code) => all(code, see),
        K::Exit | K::Next | K::Return | K::Reply => {}
        K::Forward(it) | K::Send(it) | K::Call(it) => each_of_invocation(it, see),
        K::Receive(target, places) => {
            each_of_target(target, see);
            all(places, see);
        }
        K::V(target) => each_of_target(target, see),
        K::Block(block) => each(block, see),
        K::If(arms, other) | K::Do(arms, other) => {
            for (guard, block) in arms {
                each_of_expression(guard, see);
                each(block, see);
            }
            if let Some(block) = other {
                each(block, see);
            }
        }
        K::ForAll(quantifiers, block) => {
            each_of_quantifiers(quantifiers, see);
            each(block, see);
        }
        K::Input(arms, other) => {
            for arm in arms {
                each_of_quantifiers(&arm.quantifiers, see);
                each_of_target(&arm.target, see);
                all(&arm.synchronization, see);
                all(&arm.scheduling, see);
                each(&arm.block, see);
            }
            if let Some(block) = other {
                each(block, see);
            }
        }
        K::Concurrent(arms) => {
            for arm in arms {
                each_of_quantifiers(&arm.quantifiers, see);
                each_of_invocation(&arm.invocation, see);
                all(&arm.result_to, see);
                if let Some(block) = &arm.block {
                    each(block, see);
                }
            }
        }
    }
}

fn all<'p>(expressions: impl IntoIterator<Item = &'p Expression>, see: &mut dyn FnMut(Node<'p>)) {
    for expression in expressions {
        each_of_expression(expression, see);
    }
}

fn each_of_quantifiers<'p>(quantifiers: &'p [Quantifier], see: &mut dyn FnMut(Node<'p>)) {
    for quantifier in quantifiers {
        all([&quantifier.first, &quantifier.last], see);
        all(&quantifier.step, see);
        all(&quantifier.test, see);
    }
}

fn each_of_shape<'p>(shape: &'p Shape, see: &mut dyn FnMut(Node<'p>)) {
    all(shape.bounds.iter().flat_map(|(low, high)| [low, high]), see);
    all(shape.most.as_deref(), see);
}

fn each_of_target<'p>(target: &'p Target, see: &mut dyn FnMut(Node<'p>)) {
    match target {
        Target::Declared(_, subscripts) => all(subscripts, see),
        Target::Of(resource, _, subscripts) => {
            each_of_expression(resource, see);
            all(subscripts, see);
        }
        Target::Value(value) => each_of_expression(value, see),
    }
}

fn each_of_invocation<'p>(invocation: &'p Invocation, see: &mut dyn FnMut(Node<'p>)) {
    each_of_target(&invocation.target, see);
    all(&invocation.arguments, see);
}

/// Calls `see` with an expression and its parts.
pub(super) fn each_of_expression<'p>(expression: &'p Expression, see: &mut dyn FnMut(Node<'p>)) {
    use ExpressionKind as K;
    see(Node::Expression(expression));
    match &expression.kind {
        K::Constant(_) | K::Variable(_) => {}
        K::Field(of, _)
        | K::Dereference(of)
        | K::Address(of)
        | K::Negate(of)
        | K::Not(of)
        | K::Convert(of) => each_of_expression(of, see),
        K::Step { place, .. } => each_of_expression(place, see),
        K::Index(of, subscripts) => {
            each_of_expression(of, see);
            all(subscripts, see);
        }
        K::Slice(of, subscripts) => {
            each_of_expression(of, see);
            for subscript in subscripts {
                match subscript {
                    Subscript::At(at) => each_of_expression(at, see),
                    Subscript::Range(low, high) => all(low.iter().chain(high), see),
                }
            }
        }
        K::TextIndex(of, at) => all([&**of, &**at], see),
        K::TextSlice(of, low, high) => {
            each_of_expression(of, see);
            all(low.as_deref().into_iter().chain(high.as_deref()), see);
        }
        K::Binary(_, a, b) | K::Assign(a, b) | K::Augment(_, a, b) | K::Swap(a, b) => {
            all([&**a, &**b], see);
        }
        K::Array(elements) => {
            for (times, value) in elements {
                all(times, see);
                each_of_expression(value, see);
            }
        }
        K::Record(fields) => all(fields, see),
        K::New(_, shape) => each_of_shape(shape, see),
        K::NewOperation(_, bounds) => {
            all(bounds.iter().flat_map(|(low, high)| [low, high]), see);
        }
        K::Call(invocation) => each_of_invocation(invocation, see),
        K::Capability(target) | K::Pending(target) => each_of_target(target, see),
        K::Predefined(_, arguments) => all(arguments, see),
        K::Create {
            arguments, region, ..
        } => {
            all(arguments, see);
            all(region.as_deref(), see);
        }
    }
}
