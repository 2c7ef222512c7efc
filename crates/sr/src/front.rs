//! Files to a checked program.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use antiphon_lang::{Diagnostic, ReadError, Sources, Span, decode, has_errors, read, report};

use crate::check::{Checked, check};
use crate::notation::Notation;
use crate::parser::parse_with;
use crate::syntax::{Component, ComponentKind};

/// Stack of the thread that parses and checks; only what is used of it has memory.
const STACK_BYTES: usize = 64 << 20;

/// Source files that were read.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The files.
    pub sources: Sources,
    /// What is wrong with their use of another notation.
    wrong: Vec<Diagnostic>,
    /// Whether comments that say a region are no more than comments.
    ignores_regions: bool,
}

impl Input {
    /// Reads source files. A file in another notation is turned into SR: in `notation` if one is given, else in the one that its name's ending stands
    /// for.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(files: &[PathBuf], notation: Option<Notation>) -> Result<Input, ReadError> {
        let mut input = Input::default();
        for path in files {
            input.add(path, read(path)?, notation);
        }
        Ok(input)
    }

    /// Adds a file with this content.
    pub fn add(&mut self, path: &Path, bytes: Vec<u8>, notation: Option<Notation>) {
        let Some(notation) = notation.or_else(|| Notation::of_file(path)) else {
            self.sources.add(path, bytes);
            return;
        };
        let written = decode(bytes);
        let made = notation.translate(&written);
        let file = self
            .sources
            .add_generated(path, written, made.text, made.origins);
        let errors = made.errors.into_iter();
        self.wrong
            .extend(errors.map(|error| error.diagnostic(file)));
    }

    /// Takes comments that say a region for comments.
    pub fn ignore_regions(&mut self) {
        self.ignores_regions = true;
    }

    /// Parses and checks the files. `main` is the resource that is created at the start; the last one in the files if none is named.
    pub fn analyse(&self, main: Option<&str>) -> Checked {
        // What is nested as deeply as the parser allows needs more stack than some threads have.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            match thread.spawn_scoped(scope, || self.analyse_here(main)) {
                Ok(done) => done.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => self.analyse_here(main),
            }
        })
    }

    fn analyse_here(&self, main: Option<&str>) -> Checked {
        let mut files = Vec::new();
        let mut diagnostics = self.wrong.clone();
        // A construct that is not understood leaves a gap, of which the parser would speak too.
        if diagnostics.is_empty() {
            for file in 0..self.sources.iter().count() as u32 {
                let (components, wrong) = parse_with(&self.sources, file, self.ignores_regions);
                files.push(components);
                diagnostics.extend(wrong);
            }
        }
        // And what was not parsed is not checked: its parts would seem to be missing.
        if has_errors(&diagnostics) {
            return Checked {
                program: None,
                diagnostics,
            };
        }
        if let Some(main) = main
            && let Err(error) = put_last(&mut files, main)
        {
            diagnostics.push(error);
        }
        let mut checked = check(&self.sources, files);
        checked.program = checked.program.filter(|_| !has_errors(&diagnostics));
        diagnostics.append(&mut checked.diagnostics);
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
        checked.diagnostics = diagnostics;
        checked
    }

    /// What is wrong with the use of another notation.
    pub fn wrong(&self) -> &[Diagnostic] {
        &self.wrong
    }

    /// What the messages say, with their places.
    pub fn texts(&self, diagnostics: &[Diagnostic]) -> String {
        report(diagnostics, &self.sources)
    }
}

/// The last resource is the main one.
fn put_last(files: &mut Vec<Vec<Component>>, main: &str) -> Result<(), Diagnostic> {
    let is_resource = |component: &&Component| component.kind == ComponentKind::Resource;
    for components in files.iter_mut() {
        let is_main =
            |component: &Component| is_resource(&component) && component.name.text == main;
        if let Some(index) = components.iter().position(is_main) {
            let component = components.remove(index);
            files.push(vec![component]);
            return Ok(());
        }
    }
    let names: Vec<&str> = files
        .iter()
        .flatten()
        .filter(is_resource)
        .map(|component| component.name.text.as_str())
        .collect();
    let start = Span {
        file: 0,
        start: 0,
        end: 0,
    };
    let error = Diagnostic::error(
        start,
        format!("there is no resource {main} that the program could begin with"),
    );
    Err(error.mend(format!("the resources are {}", names.join(", "))))
}
