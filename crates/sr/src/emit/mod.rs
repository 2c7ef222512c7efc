//! C generation: from the checked program to one C file.
//!
//! Names of the program are kept, with a letter before them. Types and variables: `c_` component
//! (struct), `r_` record, `f_` field, `v_` variable, `t` temporary. Operations: `o_` operation,
//! `p_` proc called as a C function, `x_` proc run through its operation, `q_` block of an
//! invocation. SR evaluates from left to right and C does not. So each part with an effect becomes
//! a statement of its own, in order, and the rest is a C expression without effects.

mod arrays;
mod blocks;
mod calls;
mod components;
mod concurrent;
mod conversions;
mod creation;
mod declarations;
mod expressions;
mod function;
mod hoisting;
mod input;
mod invocations;
mod jumps;
mod loops;
mod names;
mod operations;
mod operators;
mod parameters;
mod places;
mod predefined;
mod procs;
mod reading;
mod results;
mod signatures;
mod slots;
mod statements;
mod text;
mod types;
mod unit;
mod views;

use antiphon_lang::Sources;

use crate::program::Program;

/// How C is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EmitOptions {
    /// Whether subscripts and pointers are checked. Checks that protect the run-time itself
    /// (lengths of strings, sizes of arrays) are always made.
    pub checks: bool,
    /// Whether heads of loops count, for the models `counted` and `sliced-deferred`.
    pub loops: bool,
    /// Whether calls are points at which a seeded schedule may switch.
    pub points: bool,
    /// Whether `#line` gives the place in the SR source for each statement.
    pub lines: bool,
}

impl Default for EmitOptions {
    fn default() -> EmitOptions {
        EmitOptions {
            checks: true,
            loops: true,
            points: false,
            lines: false,
        }
    }
}

/// Writes a program in C: one file, which includes `sr.h` of the run-time. The program has been
/// checked and has a main resource.
///
/// It is meant for `cc -std=gnu11 -O2 -fwrapv -mno-red-zone`, with `-DSR_LOOPS` if `options.loops`.
pub fn emit(program: &Program, sources: &Sources, options: &EmitOptions) -> String {
    unit::Unit::new(program, sources, *options).emit()
}
