//! Parts of the language that are not supported yet.

use antiphon_lang::Diagnostic;

use crate::program::Program;

/// Returns the unsupported parts of a program.
pub(super) fn refused(program: &Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for unit in program.units.iter().filter(|unit| !unit.is_abstract) {
        if unit.shape.is_some() {
            let message = "data-parallel units do not run yet";
            let help = "an object with operations over its whole state runs";
            found.push(Diagnostic::error(unit.span, message).help(help));
        }
    }
    found
}
