//! A C function under construction: its context and its text.

use std::collections::HashMap;

use antiphon_lang::Span;
use antiphon_lang::c::{Writer, bare};

use super::jumps::Frame;
use super::unit::Unit;
use super::views::View;
use crate::program::*;

/// How this function accesses a variable of the code.
#[derive(Debug, Clone)]
pub(super) enum Access {
    /// By an lvalue: its storage is laid out in place.
    Place(String),
    /// A string, by an expression of type `sr_string`.
    String(String),
    /// An array, by a view.
    View(View),
}

/// The receiver of a `reply`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// None: the code is a proc that is called as a C function, or a final part.
    None,
    /// The creator of the instance.
    Creator,
    /// The caller of the invocation in this C variable.
    Invocation,
}

/// A C function under construction.
pub(super) struct Function<'a> {
    pub(super) unit: &'a Unit<'a>,
    /// The code that it belongs to.
    pub(super) code: CodeId,
    /// The component that it belongs to; `self` is an instance of it.
    pub(super) component: ComponentId,
    /// The text so far.
    pub(super) out: Writer,
    /// Access to variables that are not accessed by their names alone.
    pub(super) access: HashMap<VariableId, Access>,
    /// Texts that were computed before, by the address of the expression.
    pub(super) prepared: HashMap<usize, String>,
    /// Constructs around the statement that is being written, outermost first.
    pub(super) frames: Vec<Frame>,
    /// The receiver of a reply outside of input statements.
    pub(super) answer: Answer,
    /// Copies results into the invocation that is answered outside of input statements.
    pub(super) give_back: String,
    /// Whether memory of the process's arena was taken since the last reset.
    pub(super) allocates: bool,
    /// Whether a statement jumps to the end.
    pub(super) leaves: bool,
    /// Loop variables that stay within the bounds of an array's dimension.
    pub(super) within: HashMap<VariableId, (VariableId, usize)>,
    /// The possible values of loop variables, where they are known.
    pub(super) ranges: HashMap<VariableId, (i64, i64)>,
    /// The number of temporaries and labels so far.
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

    /// Returns the program's types.
    pub(super) fn types(&self) -> &'a Types {
        &self.unit.program.types
    }

    /// Returns the location of a place.
    pub(super) fn at(&self, span: Span) -> String {
        self.unit.at(span)
    }

    /// Returns a number that no other temporary or label of this function has.
    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    /// Declares a new variable with a value and returns it.
    pub(super) fn temp(&mut self, c_type: &str, value: &str) -> String {
        let name = format!("t{}", self.number());
        let declaration = self.unit.declare(c_type, &name);
        self.line(format!("{declaration} = {};", bare(value)));
        name
    }

    /// Returns a variable that keeps a value; a temporary is used again.
    pub(super) fn keep(&mut self, c_type: &str, value: &str) -> String {
        let is_temporary = value
            .strip_prefix('t')
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        match is_temporary {
            true => value.to_string(),
            false => self.temp(c_type, value),
        }
    }

    /// Writes a line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.out.line(line);
    }

    /// Returns what `write` writes, separately from the rest.
    pub(super) fn aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let depth = self.out.depth();
        let before = std::mem::replace(&mut self.out, Writer::at_depth(depth));
        let value = write(self);
        let written = std::mem::replace(&mut self.out, before);
        (written.finish(), value)
    }

    /// Runs `write` with one more level of indentation.
    pub(super) fn deeper<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        self.out.indent();
        let value = write(self);
        self.out.outdent();
        value
    }

    /// Runs `write`, and releases the arena's memory that its code takes.
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
