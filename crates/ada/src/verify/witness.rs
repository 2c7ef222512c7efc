//! The check whether an exception ends the main subprogram of a program that does not end. The
//! run-time system reports the exception only when all tasks have ended (RM 9.3), which may be
//! never.

use antiphon_runner::Program as Command;
use std::path::Path;
use std::time::Duration;

use super::build::Toolchain;
use super::{Error, Options, perturb};
use crate::edit::{self, Edit};
use crate::names::Names;
use crate::source::Program;

/// The words before the exception's name.
const WORD: &str = "antiphon saw ";

/// Returns the exception that leaves the main subprogram of the original within the time limit, if
/// any.
pub(super) fn exception(
    tools: &Toolchain,
    program: &Program,
    main: &str,
    directory: &Path,
    options: &Options,
) -> Result<Option<String>, Error> {
    let Some(edits) = watched(program, main) else {
        return Ok(None);
    };
    let edited = edit::apply(program, &edits);
    let built = tools.build(program, &edited, main, directory, false, &options.switches)?;
    let Ok(built) = built else { return Ok(None) };
    let output = Command::new(&built.executable)
        .time_limit(options.time_limit)
        .grace(Duration::ZERO)
        .input(options.input.clone())
        .run()?;
    let mut lines = output.stderr.lines();
    Ok(lines.find_map(|l| Some(l.split_once(WORD)?.1.trim().to_string())))
}

/// Returns edits that make the main subprogram print the exception that leaves it, if it has no
/// handlers.
fn watched(program: &Program, main: &str) -> Option<Vec<Edit>> {
    let name = main.strip_suffix(".adb")?.replace('-', ".");
    program.sources.iter().enumerate().find_map(|(file, source)| {
        let tree = &source.tree;
        let bodies = tree
            .all(tree.root(), "compilation_unit")
            .filter_map(|unit| tree.child(unit, "subprogram_body"));
        let body = bodies.into_iter().find(|&body| {
            let spec = tree.child(body, "procedure_specification");
            let own = spec.and_then(|s| tree.role(s, "name"));
            own.is_some_and(|n| Names::key(source.text(n)) == name)
        })?;
        let handled = tree.child(body, "handled_sequence_of_statements")?;
        let statements = tree.child(handled, "sequence_of_statements")?;
        if tree.child(handled, "exception_handler").is_some() {
            return None;
        }
        let (start, end) = (
            perturb::context_start(tree, perturb::unit_of(tree, body)?),
            tree.end(statements),
        );
        let handler = format!(
            "\nexception\n   when Antiphon_Occurrence : others =>\n      Ada.Text_IO.Put_Line\n        (Ada.Text_IO.Standard_Error,\n         \"{WORD}\" & Ada.Exceptions.Exception_Name (Antiphon_Occurrence));\n      raise;\n"
        );
        let edit = |byte: usize, text: String| Edit {
            file,
            range: byte..byte,
            text,
        };
        let clause = "with Ada.Exceptions; with Ada.Text_IO; ".to_string();
        Some(vec![edit(start, clause), edit(end, handler)])
    })
}
