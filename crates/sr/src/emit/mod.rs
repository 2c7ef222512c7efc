//! From the checked program to one C file.
//!
//! Names of the program are kept, with a letter before them: `c_` component (struct), `r_` record, `f_` field, `v_` variable, `o_` operation, `p_` proc called as a
//! C function, `x_` proc run by way of its operation, `q_` block of an invocation, `t` temporary. SR evaluates from left to right and C does not, so whatever has an
//! effect becomes a statement of its own, in order; what is left is a C expression without effects.

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
    /// Whether subscripts and pointers are checked. What keeps the run-time itself whole (lengths of strings, sizes of arrays) is always checked.
    pub checks: bool,
    /// Whether heads of loops count, for the models `counted` and `sliced-deferred`.
    pub loops: bool,
    /// Whether `#line` says where in the SR source each statement comes from.
    pub lines: bool,
}

impl Default for EmitOptions {
    fn default() -> EmitOptions {
        EmitOptions {
            checks: true,
            loops: true,
            lines: false,
        }
    }
}

/// Writes a program in C: one file, which includes `sr.h` of the run-time. The program has been checked and has a main resource.
///
/// It is meant for `cc -std=gnu11 -O2 -fwrapv -mno-red-zone`, with `-DSR_LOOPS` if `options.loops`.
pub fn emit(program: &Program, sources: &Sources, options: &EmitOptions) -> String {
    unit::Unit::new(program, sources, *options).emit()
}
