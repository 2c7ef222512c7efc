//! The front end: from files to a checked program.

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use antiphon_lang::{Diagnostic, ReadError, Sources, Span, decode, has_errors, read, report};

use crate::check::{Checked, check_with};
use crate::lexer::lex;
use crate::notation::Notation;
use crate::parser::parse_with;
use crate::syntax::{Component, ComponentKind};
use crate::token::Kind;

/// Stack of the thread that parses and checks; only the used part has memory.
const STACK_BYTES: usize = 64 << 20;

/// Source files that were read.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The files.
    pub sources: Sources,
    /// Errors in the use of another notation.
    wrong: Vec<Diagnostic>,
    /// Whether region comments are treated as plain comments.
    ignores_regions: bool,
    /// Whether the files may be a part of a program.
    is_part: bool,
}

impl Input {
    /// Reads source files. A file in another notation is translated to SR: from `notation` if that
    /// is given, otherwise from the one that its name's ending indicates.
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
        let made = notation.translate(&written.0);
        let file = self
            .sources
            .add_generated(path, written, made.text, made.origins);
        let errors = made.errors.into_iter();
        self.wrong
            .extend(errors.map(|error| error.diagnostic(file)));
    }

    /// Treats region comments as plain comments.
    pub fn ignore_regions(&mut self) {
        self.ignores_regions = true;
    }

    /// Accepts files that are only part of a program, without a main resource. They can only be
    /// checked.
    pub fn expect_part(&mut self) {
        self.is_part = true;
    }

    /// Parses and checks the files. `main` is the resource that is created at the start; by default
    /// the last one in the files.
    pub fn analyse(&self, main: Option<&str>) -> Checked {
        // Nesting as deep as the parser allows needs more stack than some threads have.
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
        // A construct with an error leaves a gap, which the parser would report as well.
        if diagnostics.is_empty() {
            for file in 0..self.sources.iter().count() as u32 {
                let (components, wrong) = parse_with(&self.sources, file, self.ignores_regions);
                files.push(components);
                diagnostics.extend(wrong);
            }
        }
        // After a syntax error nothing is checked: the missing parts would cause more errors.
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
        let mut checked = check_with(&self.sources, files, self.is_part);
        checked.program = checked.program.filter(|_| !has_errors(&diagnostics));
        diagnostics.append(&mut checked.diagnostics);
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
        checked.diagnostics = diagnostics;
        checked
    }

    /// Errors in the use of another notation.
    pub fn wrong(&self) -> &[Diagnostic] {
        &self.wrong
    }

    /// Whether the program creates virtual machines. It looks only at words, because this is asked
    /// before parsing.
    pub fn creates_machines(&self) -> bool {
        let count = self.sources.iter().count() as u32;
        (0..count).any(|file| {
            let (tokens, _) = lex(&self.sources, file, self.ignores_regions);
            let mut pairs = tokens.iter().zip(tokens.iter().skip(1));
            pairs.any(|(a, b)| a.kind == Kind::Create && b.kind == Kind::Vm)
        })
    }

    /// Returns the texts of messages, with their places.
    pub fn texts(&self, diagnostics: &[Diagnostic]) -> String {
        report(diagnostics, &self.sources)
    }
}

/// Moves the resource `main` to the end, because the last resource is the main one.
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
    Err(error.help(format!("the resources are {}", names.join(", "))))
}
