//! The whole C file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use antiphon_lang::c::{self, Writer};
use antiphon_lang::{Sources, Span};

use super::EmitOptions;
use super::names::Names;
use super::signatures::Block;
use crate::lower::Facts;
use crate::program::*;

/// What is found to be needed while functions are written.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Maxima of strings that have a struct.
    pub(super) strings: BTreeSet<i32>,
    /// Places of the source: file and line.
    places: BTreeSet<(u32, usize)>,
    /// Structs of invocations.
    pub(super) blocks: Vec<Block>,
    /// Functions that find an operation in an instance, by the base's operation.
    pub(super) finders: BTreeSet<OperationId>,
    /// C functions that are called.
    pub(super) externals: BTreeMap<String, String>,
}

/// What all functions of the file share.
pub(super) struct Unit<'a> {
    pub(super) program: &'a Program,
    pub(super) sources: &'a Sources,
    pub(super) options: EmitOptions,
    pub(super) facts: Facts,
    pub(super) names: Names,
    pub(super) shared: RefCell<Shared>,
}

impl<'a> Unit<'a> {
    pub(super) fn new(program: &'a Program, sources: &'a Sources, options: EmitOptions) -> Self {
        Unit {
            program,
            sources,
            options,
            facts: Facts::of(program),
            names: Names::of(program),
            shared: RefCell::default(),
        }
    }

    /// The line of a place, from 1.
    pub(super) fn line_of(&self, span: Span) -> usize {
        self.sources.file(span.file).position(span.start).0
    }

    /// The address of the location of a place, as the run-time wants it.
    pub(super) fn at(&self, span: Span) -> String {
        let line = self.line_of(span);
        self.shared.borrow_mut().places.insert((span.file, line));
        format!("&{}", location(span.file, line))
    }

    /// A file's name as a C string.
    pub(super) fn file_literal(&self, file: u32) -> String {
        let path = self.sources.file(file).path.display().to_string();
        c::string(path.as_bytes())
    }

    /// The whole file.
    pub(super) fn emit(&self) -> String {
        let mut functions = Writer::default();
        let mut prototypes = Writer::default();
        for number in 0..self.program.codes.len() as u32 {
            self.write_code(CodeId(number), &mut prototypes, &mut functions);
        }
        let mut tables = Writer::default();
        self.write_tables(&mut tables);
        let mut signatures = Writer::default();
        self.write_blocks(&mut signatures);
        let mut components = Writer::default();
        self.write_components(&mut components);
        let mut finders = Writer::default();
        self.write_finders(&mut finders);
        let mut types = Writer::default();
        self.write_types(&mut types);
        let mut out = Writer::default();
        self.write_head(&mut out);
        self.write_places(&mut out);
        for (title, part) in [
            ("Types.", types),
            ("Invocations.", signatures),
            ("Instances.", components),
            ("Procs.", prototypes),
            ("Operations of resources that extend others.", finders),
            ("Code.", functions),
            ("The program.", tables),
        ] {
            if !part.is_empty() {
                out.line("");
                out.line(format!("/* {title} */"));
                out.line("");
                out.append(&part.finish());
            }
        }
        out.finish()
    }

    fn write_head(&self, out: &mut Writer) {
        let main = self.program.main.map(|main| self.names.component(main));
        out.line(format!(
            "/* The SR program {}, in C. */",
            main.unwrap_or("without a main resource")
        ));
        if self.options.loops {
            out.line("#ifndef SR_LOOPS");
            out.line("#define SR_LOOPS");
            out.line("#endif");
        }
        out.line("#include \"sr.h\"");
        out.line("");
        out.line("/* An SR program may declare what it does not use. */");
        for what in [
            "variable",
            "but-set-variable",
            "const-variable",
            "function",
            "value",
        ] {
            out.line(format!(
                "#pragma GCC diagnostic ignored \"-Wunused-{what}\""
            ));
        }
        for declaration in self.shared.borrow().externals.values() {
            out.line(declaration);
        }
    }

    fn write_places(&self, out: &mut Writer) {
        out.line("");
        for (file, line) in &self.shared.borrow().places {
            out.line(format!(
                "static const struct sr_location {} = {{{}, {line}}};",
                location(*file, *line),
                self.file_literal(*file)
            ));
        }
    }
}

fn location(file: u32, line: usize) -> String {
    match file {
        0 => format!("at_{line}"),
        _ => format!("at_{file}_{line}"),
    }
}
