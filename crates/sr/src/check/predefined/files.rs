//! Arguments of input and output: files, formats, and values or places.

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::{Checker, text};

impl Checker<'_> {
    /// `open(name, mode)`.
    pub(super) fn open(&mut self, arguments: &[syntax::Expression]) -> (Vec<Expression>, Type) {
        let mode = self.literal_type(0);
        (self.file_choice(arguments, text(), mode), Type::File)
    }

    /// `seek(file, from, position)`.
    pub(super) fn seek(&mut self, arguments: &[syntax::Expression]) -> (Vec<Expression>, Type) {
        let from = self.literal_type(1);
        let mut values = self.file_choice(&arguments[..2], Type::File, from);
        values.push(self.integer(&arguments[2]));
        (values, Type::Int)
    }

    /// Checks a value and the literal that goes with it: the mode of opening a file, or the
    /// reference point of a position.
    fn file_choice(
        &mut self,
        arguments: &[syntax::Expression],
        first: Type,
        choice: TypeId,
    ) -> Vec<Expression> {
        let first = self.of_type(&arguments[0], first);
        let mode = self.expression(&arguments[1]);
        vec![first, self.convert_to(mode, choice)]
    }

    /// `get(file, place)`.
    pub(super) fn get(&mut self, arguments: &[syntax::Expression]) -> (Vec<Expression>, Type) {
        let (mut values, last) = self.file_and_last(arguments, Constant::Stdin);
        let place = self.addressable(last);
        values.push(self.needs_characters(place));
        (values, Type::Int)
    }

    /// `put(file, value)`.
    pub(super) fn put(&mut self, arguments: &[syntax::Expression]) -> (Vec<Expression>, Type) {
        let (mut values, last) = self.file_and_last(arguments, Constant::Stdout);
        let value = self.expression(last);
        values.push(self.needs_characters(value));
        (values, Type::Nothing)
    }

    /// Returns the file, or the default one if none is given, and the last argument.
    fn file_and_last<'b>(
        &mut self,
        arguments: &'b [syntax::Expression],
        otherwise: Constant,
    ) -> (Vec<Expression>, &'b syntax::Expression) {
        let last = &arguments[arguments.len() - 1];
        let file = match arguments {
            [file, _] => self.of_type(file, Type::File),
            _ => self.made(ExpressionKind::Constant(otherwise), Type::File, last.span),
        };
        (vec![file], last)
    }

    fn needs_characters(&mut self, value: Expression) -> Expression {
        let fits = match self.kind(value.of) {
            Type::Wrong | Type::Text(_) => true,
            Type::Array(..) => self.is_convertible(value.of),
            _ => false,
        };
        if fits {
            return value;
        }
        let has = self.type_name(value.of);
        self.refuse(
            value.span,
            format!("a string or an array of characters is needed here, and this is {has}"),
        )
    }

    /// `read(file, places)`.
    pub(super) fn read(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let (mut values, rest) = self.file_first(arguments, Constant::Stdin, span);
        values.extend(self.readable(rest));
        (values, Type::Int)
    }

    /// `scanf(file, format, places)`.
    pub(super) fn scanf(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let (mut values, rest) = self.file_first(arguments, Constant::Stdin, span);
        self.format_and(rest, &mut values, span, Self::readable);
        (values, Type::Int)
    }

    /// `sscanf(string, format, places)`.
    pub(super) fn sscanf(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let mut values = vec![self.of_type(&arguments[0], text())];
        self.format_and(&arguments[1..], &mut values, span, Self::readable);
        (values, Type::Int)
    }

    /// `write(file, values)` and `writes`.
    pub(super) fn write(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let (mut values, rest) = self.file_first(arguments, Constant::Stdout, span);
        values.extend(self.writable(rest));
        (values, Type::Nothing)
    }

    /// `printf(file, format, values)`.
    pub(super) fn printf(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let (mut values, rest) = self.file_first(arguments, Constant::Stdout, span);
        self.format_and(rest, &mut values, span, Self::writable);
        (values, Type::Nothing)
    }

    /// `sprintf(string, format, values)`.
    pub(super) fn sprintf(
        &mut self,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        let place = self.addressable(&arguments[0]);
        let mut values = vec![self.needs_text(place)];
        self.format_and(&arguments[1..], &mut values, span, Self::writable);
        (values, Type::Nothing)
    }

    /// Returns the file, if it is the first argument, or the default one; and the other arguments.
    fn file_first<'b>(
        &mut self,
        arguments: &'b [syntax::Expression],
        otherwise: Constant,
        span: Span,
    ) -> (Vec<Expression>, &'b [syntax::Expression]) {
        if let Some((first, rest)) = arguments.split_first() {
            // If it is no file, it is checked twice; errors are reported only the second time.
            let errors = self.diagnostics.len();
            let value = self.expression(first);
            if matches!(self.kind(value.of), Type::File | Type::Null | Type::Noop) {
                let file = self.number(Type::File);
                return (vec![self.convert_to(value, file)], rest);
            }
            self.diagnostics.truncate(errors);
        }
        let file = self.made(ExpressionKind::Constant(otherwise), Type::File, span);
        (vec![file], arguments)
    }

    /// Checks a format, and the values or places for it.
    fn format_and(
        &mut self,
        arguments: &[syntax::Expression],
        values: &mut Vec<Expression>,
        span: Span,
        rest: fn(&mut Self, &[syntax::Expression]) -> Vec<Expression>,
    ) {
        let Some((format, others)) = arguments.split_first() else {
            values.push(self.refuse(span, "a format is needed"));
            return;
        };
        values.push(self.of_type(format, text()));
        values.extend(rest(self, others));
    }

    /// Values that can be written.
    fn writable(&mut self, arguments: &[syntax::Expression]) -> Vec<Expression> {
        arguments
            .iter()
            .map(|argument| {
                let value = self.expression(argument);
                self.needs_convertible(value)
            })
            .collect()
    }

    /// Places that can be read to.
    pub(super) fn readable(&mut self, arguments: &[syntax::Expression]) -> Vec<Expression> {
        arguments
            .iter()
            .map(|argument| {
                let place = self.addressable(argument);
                self.needs_convertible(place)
            })
            .collect()
    }

    fn needs_convertible(&mut self, value: Expression) -> Expression {
        if self.is_wrong(&value) || self.is_convertible(value.of) {
            return value;
        }
        let has = self.type_name(value.of);
        self.refuse(
            value.span,
            format!("{has} has no form as text: it can be neither written nor read"),
        )
    }

    fn needs_text(&mut self, value: Expression) -> Expression {
        if self.is_wrong(&value) || matches!(self.kind(value.of), Type::Text(_)) {
            return value;
        }
        let has = self.type_name(value.of);
        self.refuse(
            value.span,
            format!("a string is needed here, and this is {has}"),
        )
    }
}
