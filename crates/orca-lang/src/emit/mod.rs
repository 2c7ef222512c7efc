//! From the checked program to one C file.
//!
//! Names of the program are kept, after a letter and a number:
//!
//! - `v` variable, `g` variable of a data module;
//! - `f` function, `p` process, `x` alternative of an operation;
//! - `r` record, `u` union, `n` node of a graph;
//! - `s` state of an object, `t` descriptor of a type.
//!
//! Orca evaluates from left to right and C does not. So an expression with an effect becomes a
//! statement of its own, in order. The rest is a C expression without effects.
//!
//! A variable that owns memory has the attribute `cleanup`. So it is freed on every path out of its
//! block, also by a RETURN or by an operation that blocks.

mod calls;
mod declarations;
mod environment;
mod expressions;
mod foreign;
mod objects;
mod operators;
mod partitioned;
mod places;
mod predefined;
mod ranges;
mod refused;
mod routines;
mod rows;
mod statements;
mod types;
mod used;

use std::collections::{BTreeMap, BTreeSet};

use antiphon_lang::c::Writer;
use antiphon_lang::{Diagnostic, Sources, Span};

use environment::Environments;
use ranges::Range;
use rows::Row;

use crate::program::{Program, RoutineId, RoutineKind, TypeId, Unit, UnitId, UnitKind, VariableId};

/// The most dimensions of a partitioned object, as in `orca.h`.
const MOST_SHAPE: usize = 3;

/// The style of the C code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EmitOptions {
    /// Whether bounds, ranges and tags are checked.
    pub checks: bool,
    /// Whether C sources may call functions of the program.
    pub for_c: bool,
}

impl Default for EmitOptions {
    fn default() -> EmitOptions {
        EmitOptions {
            checks: true,
            for_c: false,
        }
    }
}

/// Writes a program in C: one file, which includes `orca.h` of the run-time. The program must be
/// checked and have a main process.
///
/// # Errors
/// The program uses parts of the language that are not supported yet. The error has their places.
pub fn emit(
    program: &Program,
    sources: &Sources,
    options: &EmitOptions,
) -> Result<String, Vec<Diagnostic>> {
    let refused = refused::refused(program);
    if !refused.is_empty() {
        return Err(refused);
    }
    let mut emitter = Emitter {
        program,
        sources,
        out: Writer::default(),
        temporaries: 0,
        here: None,
        loops: Vec::new(),
        labels: 0,
        rows: Vec::new(),
        ranges: Vec::new(),
        places: BTreeMap::new(),
        texts: String::new(),
        text_count: 0,
        structs: String::new(),
        descriptors: String::new(),
        announced: String::new(),
        initials: String::new(),
        defined: BTreeSet::new(),
        described: BTreeSet::new(),
        values: BTreeSet::new(),
        is_target: false,
        is_for_c: options.for_c,
        environments: Environments::of(program),
        invoked: used::invoked(program),
        refused: Vec::new(),
    };
    let text = emitter.program(options);
    match emitter.refused.is_empty() {
        true => Ok(text),
        false => Err(emitter.refused),
    }
}

/// The routine that is being written.
#[derive(Clone, Copy)]
struct Here {
    routine: RoutineId,
    /// Whether results go into the record of the invocation.
    is_operation: bool,
}

/// A loop around the statement.
struct Loop {
    label: u32,
    is_left: bool,
}

struct Emitter<'p> {
    program: &'p Program,
    sources: &'p Sources,
    out: Writer,
    temporaries: u32,
    here: Option<Here>,
    loops: Vec<Loop>,
    labels: u32,
    /// Rows that the loops around the statement have looked up.
    rows: Vec<Row>,
    /// Indices that these loops have checked.
    ranges: Vec<Range>,
    /// Numbers of the places that run-time errors name.
    places: BTreeMap<(u32, u32), u32>,
    /// Constants that are strings.
    texts: String,
    text_count: u32,
    /// Structs of types, each after its parts.
    structs: String,
    /// Descriptors of types.
    descriptors: String,
    /// Declarations of descriptors and of functions that make initial values.
    announced: String,
    /// Functions that make initial values.
    initials: String,
    defined: BTreeSet<TypeId>,
    described: BTreeSet<String>,
    /// Functions that are used as values.
    values: BTreeSet<RoutineId>,
    /// Whether the place that is being written is changed.
    is_target: bool,
    /// Whether C sources may call functions of the program.
    is_for_c: bool,
    /// Parameters that bounds within types use.
    environments: Environments,
    /// Operations that the program may invoke.
    invoked: BTreeSet<RoutineId>,
    refused: Vec<Diagnostic>,
}

impl<'p> Emitter<'p> {
    fn program(&mut self, options: &EmitOptions) -> String {
        let program = self.program;
        let units = self.units();
        let mut code = String::new();
        let mut headings = String::new();
        for unit in &units {
            code += &self.unit_variables(*unit);
        }
        for unit in &units {
            let of = program.unit(*unit);
            if of.kind == UnitKind::Object {
                headings += &self.object_heading(*unit);
            }
            let operations = self.operations(*unit);
            let routines = of.routines.iter().chain(&operations).chain(&of.initial);
            for id in routines {
                self.declare_environment(*id);
                headings += &self.heading(*id);
                code += &self.routine(*id);
            }
            if of.kind == UnitKind::Object {
                code += &self.object(*unit);
            }
        }
        code += &self.ending(&units);
        self.assembled(options, &headings, &code)
    }

    fn assembled(&mut self, options: &EmitOptions, headings: &str, code: &str) -> String {
        let mut text = String::new();
        if !options.checks {
            text += "#define ORCA_NO_CHECKS\n";
        }
        text += "#include \"orca.h\"\n\n";
        text += &self.structs;
        text += "\n";
        text += &self.place_table();
        text += &self.texts;
        text += &self.announced;
        text += "\n";
        text += headings;
        text += "\n";
        text += &self.descriptors;
        text += "\n";
        text += &self.initials;
        text += code;
        text
    }

    /// Returns the units of the program, each after those that it imports.
    fn units(&self) -> Vec<UnitId> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::new();
        for index in 0..self.program.units.len() {
            self.unit_order(UnitId(index as u32), &mut seen, &mut order);
        }
        order.retain(|unit| !self.program.unit(*unit).is_abstract);
        order
    }

    fn unit_order(&self, unit: UnitId, seen: &mut BTreeSet<UnitId>, order: &mut Vec<UnitId>) {
        if seen.insert(unit) {
            for import in &self.program.unit(unit).imports {
                self.unit_order(*import, seen, order);
            }
            order.push(unit);
        }
    }

    /// Returns the address of a place in the source, for errors.
    fn at(&mut self, span: Span) -> String {
        let (line, _) = self.sources.file(span.file).position(span.start);
        let next = self.places.len() as u32;
        let number = self.places.entry((span.file, line as u32)).or_insert(next);
        format!("&places[{number}]")
    }

    fn place_table(&self) -> String {
        let mut rows: Vec<_> = self
            .places
            .iter()
            .map(|(place, at)| (*at, *place))
            .collect();
        rows.sort_unstable();
        let mut text = "static const struct orca_location places[] = {\n".to_owned();
        for (_, (file, line)) in rows {
            let path = &self.sources.file(file).path;
            let name = path.file_name().unwrap_or_default();
            let name = antiphon_lang::c::string(name.as_encoded_bytes());
            text += &format!("    {{{name}, {line}}},\n");
        }
        text += "    {0}};\n";
        text
    }

    /// Returns the C text that `write` makes, separate from the current text.
    fn apart<R>(&mut self, depth: usize, write: impl FnOnce(&mut Self) -> R) -> (String, R) {
        let outer = std::mem::replace(&mut self.out, Writer::at_depth(depth));
        let result = write(self);
        let inner = std::mem::replace(&mut self.out, outer);
        (inner.finish(), result)
    }

    fn fresh(&mut self) -> String {
        self.temporaries += 1;
        format!("x{}", self.temporaries)
    }

    fn unit_of(&self, routine: RoutineId) -> &'p Unit {
        self.program.unit(self.program.routine(routine).unit)
    }

    /// Returns the C name of a function, process, operation or initial code.
    fn routine_name(&self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let unit = self.program.unit(routine.unit);
        if unit.initial == Some(id) {
            return format!("b{}", id.0);
        }
        let letter = match routine.kind {
            RoutineKind::Function => 'f',
            RoutineKind::Process => 'p',
            RoutineKind::Operation => 'o',
        };
        format!("{letter}{}_{}", id.0, routine.name)
    }

    fn variable_name(&self, id: VariableId) -> String {
        format!("v{}_{}", id.0, self.program.variable(id).name)
    }

    fn refuse(&mut self, span: Span, message: &str) {
        self.refused.push(Diagnostic::error(span, message));
    }
}
