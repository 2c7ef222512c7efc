//! A C function in the making: what it may refer to and what has been written of it.

use std::collections::HashMap;

use antiphon_lang::Span;
use antiphon_lang::c::{Writer, bare};

use super::jumps::Frame;
use super::unit::Unit;
use super::views::View;
use crate::program::*;

/// How a variable of the code is reached in this function.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// By an lvalue of its storage laid out in place.
    Place(String),
    /// A string by an expression of type `sr_string`.
    String(String),
    /// An array by a view.
    View(View),
}

/// Who is answered by `reply`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nobody: a proc that is called as a C function, or a final part.
    None,
    /// The creator of the instance.
    Creator,
    /// Whose invocation this C variable holds.
    Invocation,
}

/// A C function in the making.
pub(super) struct Function<'a> {
    pub(super) unit: &'a Unit<'a>,
    /// The code that it belongs to.
    pub(super) code: CodeId,
    /// The component that it belongs to; `self` is an instance of it.
    pub(super) component: ComponentId,
    /// What has been written.
    pub(super) out: Writer,
    /// How variables are reached that are not reached by their names alone.
    pub(super) access: HashMap<VariableId, Access>,
    /// Texts, by the address of the expression, that were computed before.
    pub(super) prepared: HashMap<usize, String>,
    /// What is around the statement that is being written, outermost first.
    pub(super) frames: Vec<Frame>,
    /// Who is answered outside of input statements.
    pub(super) answer: Answer,
    /// Copies results into the invocation that is answered outside of input statements.
    pub(super) give_back: String,
    /// Whether memory of the process's arena was taken since this was last asked.
    pub(super) allocates: bool,
    /// Whether something jumps to the end.
    pub(super) leaves: bool,
    /// Variables of loops that are within the bounds of a dimension of an array.
    pub(super) within: HashMap<VariableId, (VariableId, usize)>,
    /// The values that variables of loops can have where they are known.
    pub(super) ranges: HashMap<VariableId, (i64, i64)>,
    /// Temporaries and labels so far.
    numbers: usize,
}

impl<'a> Function<'a> {
    pub(super) fn new(unit: &'a Unit<'a>, code: CodeId) -> Function<'a> {
        Function {
            unit,
            code,
            component: unit.program.codes[code.index()].component,
            out: Writer::at_depth(1),
            access: HashMap::new(),
            prepared: HashMap::new(),
            frames: Vec::new(),
            answer: Answer::None,
            give_back: String::new(),
            allocates: false,
            leaves: false,
            within: HashMap::new(),
            ranges: HashMap::new(),
            numbers: 0,
        }
    }

    /// The program's types.
    pub(super) fn types(&self) -> &'a Types {
        &self.unit.program.types
    }

    /// The location of a place.
    pub(super) fn at(&self, span: Span) -> String {
        self.unit.at(span)
    }

    /// A number that no other temporary or label of this function has.
    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// A new variable with a value.
    pub(super) fn temp(&mut self, c_type: &str, value: &str) -> String {
        let name = format!("t{}", self.number());
        let declaration = self.unit.declare(c_type, &name);
        self.line(format!("{declaration} = {};", bare(value)));
        name
    }

    /// A variable that keeps a value; that of a temporary is kept already.
    pub(super) fn keep(&mut self, c_type: &str, value: &str) -> String {
        let is_temporary = value
            .strip_prefix('t')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        match is_temporary {
            true => value.to_string(),
            false => self.temp(c_type, value),
        }
    }

    /// A line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.out.line(line);
    }

    /// What `write` writes, apart from the rest.
    pub(super) fn aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let depth = self.out.depth();
        let before = std::mem::replace(&mut self.out, Writer::at_depth(depth));
        let value = write(self);
        let written = std::mem::replace(&mut self.out, before);
        (written.finish(), value)
    }

    /// What `write` writes, one step further in.
    pub(super) fn deeper<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        self.out.indent();
        let value = write(self);
        self.out.outdent();
        value
    }

    /// What `write` writes, with what it takes of the arena given back at its end.
    pub(super) fn with_mark(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.allocates, false);
        let (written, ()) = self.aside(write);
        if self.allocates {
            let mark = format!("m{}", self.number());
            self.line(format!("sr_mark {mark} = sr_mark_now();"));
            self.out.append(&written);
            self.line(format!("sr_release({mark});"));
        } else {
            self.out.append(&written);
        }
        self.allocates = outer;
    }
}
