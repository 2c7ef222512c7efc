//! The whole C file.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use antiphon_lang::c::{self, Writer};
use antiphon_lang::{Sources, Span};

use super::EmitOptions;
use super::names::Names;
use super::signatures::Block;
use crate::lower::Facts;
use crate::notation::reports;
use crate::program::*;

/// Needs that are discovered while functions are written.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Maxima of strings that have a struct.
    pub(super) strings: BTreeSet<i32>,
    /// Places of the source: file, line, and what a process waits for there, unless the run-time
    /// says that itself.
    places: BTreeMap<(u32, usize, String), String>,
    /// Structs of invocations.
    pub(super) blocks: Vec<Block>,
    /// Their numbers, from 1.
    pub(super) block_numbers: HashMap<Block, usize>,
    /// Functions that find an operation in an instance, by the operation of the extended resource.
    pub(super) finders: BTreeSet<OperationId>,
    /// C functions that are called, by their types and names: a number, and their declarations.
    pub(super) externals: BTreeMap<String, (usize, String)>,
}

/// State that all functions of the file share.
pub(super) struct Unit<'a> {
    pub(super) program: &'a Program,
    pub(super) sources: &'a Sources,
    pub(super) options: EmitOptions,
    pub(super) facts: Facts,
    pub(super) names: Names,
    pub(super) shared: RefCell<Shared>,
    /// Whether the program creates virtual machines.
    pub(super) has_machines: bool,
}

/// Looks for a `create vm()`.
#[derive(Default)]
struct Machines(bool);

impl Visitor for Machines {
    fn expression(&mut self, expression: &Expression) {
        let kind = &expression.kind;
        self.0 |= matches!(
            kind,
            ExpressionKind::Predefined(Predefined::CreateMachine, _)
        );
    }
}

fn creates_machines(program: &Program) -> bool {
    let mut machines = Machines::default();
    for code in &program.codes {
        walk_block(&code.block, &mut machines);
    }
    machines.0
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
            has_machines: creates_machines(program),
        }
    }

    /// Returns the line of a place, from 1.
    pub(super) fn line_of(&self, span: Span) -> usize {
        self.sources.file(span.file).position(span.start).0
    }

    /// Returns the address of the location of a place, as the run-time expects it. For a helper
    /// construct it is the place of the caller.
    pub(super) fn at(&self, span: Span) -> String {
        match self.is_helper(span) {
            true => "sr_self()->at".into(),
            false => self.location(span, ""),
        }
    }

    /// Returns the address of the location of a place with a text for what a process waits for
    /// there. The text is empty if the run-time says it.
    pub(super) fn location(&self, span: Span, what: &str) -> String {
        let line = self.line_of(span);
        let mut shared = self.shared.borrow_mut();
        let number = shared.places.len() + 1;
        let key = (span.file, line, what.to_string());
        let name = shared.places.entry(key).or_insert_with(|| {
            let file = match span.file {
                0 => String::new(),
                file => format!("{file}_"),
            };
            match what {
                "" => format!("at_{file}{line}"),
                _ => format!("wait_{number}"),
            }
        });
        format!("&{name}")
    }

    /// Returns the construct of another notation from which the SR at a place was made.
    pub(super) fn construct(&self, span: Span) -> Option<&str> {
        self.sources.file(span.file).made_of(span.start)
    }

    /// Whether the SR at a place belongs to a helper that constructs of another notation call.
    pub(super) fn is_helper(&self, span: Span) -> bool {
        self.construct(span).is_some_and(reports::is_helper)
    }

    /// Returns a file's name as a C string.
    pub(super) fn file_literal(&self, file: u32) -> String {
        let path = self.sources.file(file).path.display().to_string();
        c::string(path.as_bytes())
    }

    /// Returns the whole file.
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
        let mut fillers = Writer::default();
        self.write_fillers(&mut fillers);
        let mut types = Writer::default();
        self.write_types(&mut types);
        let mut externals = Writer::default();
        self.write_externals(&mut externals);
        let mut out = Writer::default();
        self.write_head(&mut out);
        self.write_places(&mut out);
        for (title, part) in [
            ("Types.", types),
            ("C functions.", externals),
            ("Invocations.", signatures),
            ("Instances.", components),
            ("Procs.", prototypes),
            ("Operations of resources that extend others.", finders),
            ("Operations in capabilities of resources.", fillers),
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
        if self.has_machines {
            out.line("#define SR_MACHINES");
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
    }

    fn write_externals(&self, out: &mut Writer) {
        for (_, declaration) in self.shared.borrow().externals.values() {
            declaration.lines().for_each(|line| out.line(line));
        }
    }

    fn write_places(&self, out: &mut Writer) {
        out.line("");
        for ((file, line, what), name) in &self.shared.borrow().places {
            let file = self.file_literal(*file);
            let what = match &what[..] {
                "" => "0".to_string(),
                what => c::string(what.as_bytes()),
            };
            out.line(format!(
                "static const struct sr_location {name} = {{{file}, {line}, {what}}};"
            ));
        }
    }
}
