//! Files to a checked program.

use std::path::{Path, PathBuf};

use crate::check::{Checked, check};
use crate::diagnostic::{Diagnostic, Severity};
use crate::notation::Notation;
use crate::parser::parse;
use crate::source::{Sources, decoded};
use crate::syntax::{Component, ComponentKind};

/// Why source files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is larger than places in it can be counted.
    #[error("{}: the file has more than 1 GiB", .0.display())]
    TooLarge(PathBuf),
}

/// Bytes of a source file at most. Texts made from it are longer, and offsets have 32 bits.
const LARGEST: usize = 1 << 30;

/// Reads source files. A file in another notation is turned into SR: in `notation` if one is given, else in the one that its name's ending stands for.
/// What is wrong with its use of the notation comes with it.
///
/// # Errors
/// A file cannot be read.
pub fn read(
    files: &[PathBuf],
    notation: Option<Notation>,
) -> Result<(Sources, Vec<Diagnostic>), ReadError> {
    let mut sources = Sources::default();
    let mut diagnostics = Vec::new();
    for path in files {
        let bytes = std::fs::read(path).map_err(|source| ReadError::File {
            path: path.clone(),
            source,
        })?;
        if bytes.len() > LARGEST {
            return Err(ReadError::TooLarge(path.clone()));
        }
        match notation.or_else(|| Notation::of_file(path)) {
            None => {
                sources.add(path, bytes);
            }
            Some(notation) => diagnostics.extend(made(&mut sources, path, bytes, notation)),
        }
    }
    Ok((sources, diagnostics))
}

fn made(sources: &mut Sources, path: &Path, bytes: Vec<u8>, notation: Notation) -> Vec<Diagnostic> {
    let written = decoded(bytes);
    let made = notation.translate(&written);
    let file = sources.add_made(path, written, made.text, made.parts);
    let errors = made.errors.into_iter();
    errors.map(|error| error.diagnostic(file)).collect()
}

/// Parses and checks the files of a program. `main` is the resource that is created at the start; the last one in the files if none is named.
pub fn analyse(sources: &Sources, main: Option<&str>) -> Checked {
    let mut files = Vec::new();
    let mut diagnostics = Vec::new();
    for file in 0..sources.iter().count() as u32 {
        let (components, wrong) = parse(sources, file);
        files.push(components);
        diagnostics.extend(wrong);
    }
    let has_errors = |diagnostics: &[Diagnostic]| {
        diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    };
    // What was not understood is not checked: its parts would seem to be missing.
    if has_errors(&diagnostics) {
        return Checked {
            program: None,
            diagnostics,
        };
    }
    if let Some(main) = main {
        put_last(&mut files, main);
    }
    let mut checked = check(sources, files);
    diagnostics.append(&mut checked.diagnostics);
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    checked.diagnostics = diagnostics;
    checked
}

/// The last resource is the main one.
fn put_last(files: &mut Vec<Vec<Component>>, main: &str) {
    let is_main = |component: &Component| {
        component.name.text == main && component.kind == ComponentKind::Resource
    };
    for components in files.iter_mut() {
        if let Some(index) = components.iter().position(is_main) {
            let component = components.remove(index);
            files.push(vec![component]);
            return;
        }
    }
}
