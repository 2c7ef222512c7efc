//! Random well-typed programs that end for certain and write what they hold.
//!
//! A statement has at most one part that may fail at run time, because C does not order the parts
//! of an expression without effects. All arrays have elements, and most indices are made to fit.

use super::pieces::{Part, Piece, Sample};
use super::types::{Mode, Shape, Ty, Types};
use crate::wild::Draw;

/// A function, operation or process that can be called.
#[derive(Debug, Clone)]
struct Routine {
    name: String,
    parameters: Vec<(Mode, Ty)>,
    result: Option<Ty>,
    /// The object whose operation it is.
    object: Option<usize>,
    is_process: bool,
    /// The function type that it fits.
    function: Option<Ty>,
}

/// A variable, or a part of one, that statements may use.
#[derive(Debug, Clone)]
struct Variable {
    path: String,
    ty: Ty,
    is_writable: bool,
    /// Whether its use may fail.
    is_risky: bool,
}

/// The kind of the routine that is being written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Operation,
    Process,
    /// Initial code, which has no local variables.
    Initial,
}

struct Generator<'d> {
    draw: &'d mut Draw,
    types: Types,
    routines: Vec<Routine>,
    objects: usize,
    /// Variables of the data module, as others see them.
    data: Vec<Variable>,
    /// The states of the objects that are written, and that of the one that is being written.
    states: Vec<Vec<Variable>>,
    state: Vec<Variable>,
    // Of the routine that is being written:
    kind: Kind,
    object: Option<usize>,
    /// Parameters, data, state, and what belongs to the innermost blocks.
    scope: Vec<Variable>,
    /// Local variables, and their declarations.
    own: Vec<Variable>,
    locals: Vec<String>,
    names: usize,
    result: Option<Ty>,
    loops: usize,
    /// How many indices are around an expression.
    nesting: usize,
    /// Whether the routine may write to the output.
    may_write: bool,
    /// Whether an expression may change variables.
    may_change: bool,
    /// Whether the statement has a part already that may fail.
    has_risk: bool,
    /// Whether the statement cannot be used.
    is_spoiled: bool,
}

/// Returns a program.
pub fn program(draw: &mut Draw) -> Sample {
    let types = Types::random(draw);
    let mut generator = Generator {
        draw,
        types,
        routines: Vec::new(),
        objects: 0,
        data: Vec::new(),
        states: Vec::new(),
        state: Vec::new(),
        kind: Kind::Function,
        object: None,
        scope: Vec::new(),
        own: Vec::new(),
        may_write: false,
        nesting: 0,
        locals: Vec::new(),
        names: 0,
        result: None,
        loops: 0,
        may_change: false,
        has_risk: false,
        is_spoiled: false,
    };
    generator.program()
}

/// The longest line of a program.
const LONGEST: usize = 1500;

const INTEGERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "(-1)",
    "(-2)",
    "10",
    "31",
    "255",
    "32767",
    "32768",
    "65536",
    "MAX(integer)",
    "MIN(integer)",
    "MAX(longint)",
    "MIN(longint)",
    "MAX(shortint)",
    "MIN(shortint)",
    "0FFH",
    "17B",
];

const REALS: &[&str] = &[
    "0.0", "1.0", "0.5", "(-2.25)", "3.0", "1000.125", "1.0E10", "(-0.125)", "4.0E9", "0.1",
];

impl Generator<'_> {
    fn program(&mut self) -> Sample {
        let mut files = Vec::new();
        let (specification, implementation) = self.types_unit();
        files.push(("types.spf".to_owned(), vec![Part::Text(specification)]));
        files.push(("types.imp".to_owned(), implementation));
        files.extend(self.data_unit());
        for _ in 0..1 + self.draw.below(2) {
            files.extend(self.object_unit());
        }
        let cases = 3 + self.draw.below(3) as u32;
        let main = "MODULE SPECIFICATION main;\nEND;\n".to_owned();
        files.push(("main.spf".into(), vec![Part::Text(main)]));
        files.push(("main.imp".into(), self.main_unit(cases)));
        Sample { files, cases }
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.draw.below(count) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        match from.len() {
            0 => None,
            count => Some(from[self.draw.below(count)].clone()),
        }
    }

    fn fresh(&mut self, letter: &str) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    // ---- units ----

    fn types_unit(&mut self) -> (String, Vec<Part>) {
        let mut text = "MODULE SPECIFICATION types;\n".to_owned();
        let count = self.types.0.len();
        for number in 0..count {
            text += &self.types.declaration(number, self.draw);
            text += "\n";
        }
        text += "FUNCTION wrap(n: longint; count: integer): integer;\n";
        let mut shows = Vec::new();
        let wrap = "FUNCTION wrap(n: longint; count: integer): integer;\nBEGIN\n  \
                    RETURN ((n % count) + count) % count;\nEND;";
        shows.push(Piece::line(wrap));
        for number in 0..count {
            if !matches!(self.types.0[number], Shape::Enumeration(_)) {
                text += &format!("FUNCTION show{number}(x: T{number});\n");
                shows.push(self.types.show(number));
            }
        }
        let parts = vec![
            Part::Text("MODULE IMPLEMENTATION types;".into()),
            Part::Block(shows),
            Part::Text("END;".into()),
        ];
        (text + "END;\n", parts)
    }

    fn imports(&self) -> String {
        let mut names = vec!["wrap".to_owned()];
        for (number, shape) in self.types.0.iter().enumerate() {
            names.push(format!("T{number}"));
            if !matches!(shape, Shape::Enumeration(_)) {
                names.push(format!("show{number}"));
            }
        }
        let mut text = format!("FROM types IMPORT {};\n", names.join(", "));
        text += "IMPORT IntObject;\n";
        for number in 0..self.objects {
            text += &format!("IMPORT Object{number};\n");
        }
        text
    }

    /// Returns the data module: `three`, and variables of some types.
    fn data_unit(&mut self) -> Vec<(String, Vec<Part>)> {
        let mut variables = "three: integer;\n".to_owned();
        self.enter(Kind::Initial, None);
        for _ in 0..2 + self.draw.below(3) {
            let ty = self.types.any(self.draw);
            let name = self.fresh("data");
            let bounds = self.types.bounds(&ty, self.draw, "3");
            variables += &format!("{name}: {}{bounds};\n", ty.name());
            self.declare(&name, ty, true);
        }
        let mut body = self.statements(2, 4);
        body.insert(0, Piece::line("three := 3;"));
        let imports = self.imports();
        let specification = format!("DATA MODULE SPECIFICATION data;\n{imports}{variables}END;\n");
        let implementation = format!("DATA MODULE IMPLEMENTATION data;\n{imports}BEGIN");
        let parts = vec![
            Part::Text(implementation),
            Part::Block(body),
            Part::Text("END;".into()),
        ];
        self.data = std::mem::take(&mut self.scope);
        self.data.iter_mut().for_each(|it| {
            it.is_writable = false;
            it.path = format!("data.{}", it.path);
        });
        vec![
            ("data.spf".into(), vec![Part::Text(specification)]),
            ("data.imp".into(), parts),
        ]
    }

    fn object_unit(&mut self) -> Vec<(String, Vec<Part>)> {
        let number = self.objects;
        let imports = format!("{}IMPORT data;\n", self.imports());
        let mut state = Vec::new();
        let mut declared = String::new();
        for _ in 0..2 + self.draw.below(3) {
            let ty = match number > 0 && self.one_in(3) {
                true => Ty::Object(number - 1),
                false => self.types.any(self.draw),
            };
            let name = self.fresh("state");
            let bounds = self.types.bounds(&ty, self.draw, "3");
            declared += &format!("{name}: {}{bounds};\n", ty.name());
            state.push(Variable {
                path: name,
                ty,
                is_writable: true,
                is_risky: false,
            });
        }
        self.state = state.clone();
        let mut headings = String::new();
        let mut bodies = Vec::new();
        for variable in &state {
            let (name, ty) = (&variable.path, &variable.ty);
            let heading = format!("OPERATION get_{name}(): {};", ty.name());
            headings += &format!("{heading}\n");
            let text = format!("{heading}\nBEGIN\n  RETURN {name};\nEND;");
            bodies.push(Piece::line(text));
            self.routines.push(Routine {
                name: format!("get_{name}"),
                parameters: Vec::new(),
                result: Some(ty.clone()),
                object: Some(number),
                is_process: false,
                function: None,
            });
        }
        let outer = self.routines.len();
        for _ in 0..self.draw.below(3) {
            bodies.push(self.function(Some(number)));
        }
        for _ in 0..3 + self.draw.below(4) {
            let (heading, piece) = self.operation(number);
            headings += &format!("{heading}\n");
            bodies.push(piece);
        }
        self.enter(Kind::Initial, Some(number));
        let initial = self.statements(2, 3);
        self.state.clear();
        // Its functions are its own.
        let mut index = 0;
        self.routines.retain(|it| {
            index += 1;
            index <= outer || it.object.is_some()
        });
        self.objects += 1;
        self.states.push(state);
        let specification =
            format!("OBJECT SPECIFICATION Object{number};\n{imports}{headings}END;\n");
        let implementation = vec![
            Part::Text(format!(
                "OBJECT IMPLEMENTATION Object{number};\n{imports}{declared}"
            )),
            Part::Block(bodies),
            Part::Text("BEGIN".into()),
            Part::Block(initial),
            Part::Text("END;".into()),
        ];
        vec![
            (
                format!("Object{number}.spf"),
                vec![Part::Text(specification)],
            ),
            (format!("Object{number}.imp"), implementation),
        ]
    }

    /// Returns heading and body of an operation.
    fn operation(&mut self, number: usize) -> (String, Piece) {
        self.enter(Kind::Operation, Some(number));
        let name = self.fresh("operation");
        let (formals, parameters) = self.parameters(false);
        let result = self.some_type();
        self.result = result.clone();
        let returned = result.as_ref().map(|ty| format!(": {}", ty.name()));
        let heading = format!(
            "OPERATION {name}({formals}){};",
            returned.unwrap_or_default()
        );
        let mut guards = Vec::new();
        for _ in 0..self.draw.below(3) {
            self.begin();
            let condition = self.boolean(2);
            guards.push((condition, self.body(2)));
        }
        let body = match guards.is_empty() {
            true => Part::Block(self.body(4)),
            false => {
                if !self.one_in(6) {
                    guards.push(("true".into(), self.body(2)));
                }
                let guards = guards.into_iter();
                let guard = |(condition, body): (String, Vec<Piece>)| {
                    Piece::around(format!("GUARD {condition} DO"), body, "OD;")
                };
                Part::Block(guards.map(guard).collect())
            }
        };
        let piece = Piece(vec![
            Part::Text(format!("{heading}\n{}BEGIN", self.local_lines())),
            body,
            Part::Text("END;".into()),
        ]);
        self.routines.push(Routine {
            name,
            parameters,
            result,
            object: Some(number),
            is_process: false,
            function: None,
        });
        (heading, piece)
    }

    fn main_unit(&mut self, cases: u32) -> Vec<Part> {
        let mut routines = Vec::new();
        for number in 0..self.objects {
            routines.push(Piece::line(self.show_object(number)));
        }
        for _ in 0..5 + self.draw.below(5) {
            routines.push(self.function(None));
        }
        for _ in 0..2 {
            routines.push(self.process(None));
        }
        let mut starts = Vec::new();
        for case in 0..cases {
            routines.push(self.process(Some(case)));
            starts.push(Piece::line(format!(
                "IF (k & {}) /= 0 THEN\n  FORK case{case}(done) ON {case} % NCPUS();\n  \
                 done$AwaitValue(1);\n  done$assign(0);\n  WriteLine();\nFI;",
                1 << case
            )));
        }
        let main = "PROCESS OrcaMain();\n  k, eaten: integer;\n  done: IntObject;\nBEGIN\n  \
                    k := StringToInt(Argv(1), eaten);";
        let imports = self.imports();
        vec![
            Part::Text(format!(
                "MODULE IMPLEMENTATION main;\n{imports}IMPORT data;\n\
                 FROM args IMPORT Argv;\nFROM conversions IMPORT StringToInt;"
            )),
            Part::Block(routines),
            Part::Text(main.into()),
            Part::Block(starts),
            Part::Text("END;\nEND;".into()),
        ]
    }

    /// Returns the function that writes the state of an object.
    fn show_object(&mut self, number: usize) -> String {
        let (mut locals, mut lines) = (String::new(), Vec::new());
        for variable in self.states[number].clone() {
            let (name, ty) = (&variable.path, &variable.ty);
            locals += &format!("  {name}: {};\n", ty.name());
            lines.push(format!("{name} := x$get_{name}();"));
            lines.extend(self.types.shown(ty, name, 0));
        }
        let lines = lines.join("\n  ");
        format!(
            "FUNCTION show_object{number}(x: SHARED Object{number});\n{locals}BEGIN\n  {lines}\nEND;"
        )
    }

    fn function(&mut self, object: Option<usize>) -> Piece {
        self.enter(Kind::Function, object);
        let name = self.fresh("function");
        let functions = self.types.0.iter().enumerate();
        let functions: Vec<(usize, Shape)> = functions
            .filter(|(_, shape)| matches!(shape, Shape::Function(..)))
            .map(|(number, shape)| (number, shape.clone()))
            .collect();
        let chosen = match self.one_in(2) {
            true => self.pick(&functions),
            false => None,
        };
        let (formals, parameters, result, function) = match chosen {
            Some((number, Shape::Function(parameters, result))) => {
                let formals = self.formals(&parameters);
                (formals, parameters, result, Some(Ty::Named(number)))
            }
            _ => {
                let (formals, parameters) = self.parameters(true);
                (formals, parameters, self.some_type(), None)
            }
        };
        self.result = result.clone();
        let returned = result.as_ref().map(|ty| format!(": {}", ty.name()));
        let heading = format!(
            "FUNCTION {name}({formals}){};",
            returned.unwrap_or_default()
        );
        let mut body = self.body(5);
        if let Some((Mode::In, Ty::Integer)) = parameters.first() {
            body.insert(0, self.recursion(&name, &parameters, result.as_ref()));
        }
        let piece = Piece(vec![
            Part::Text(format!("{heading}\n{}BEGIN", self.local_lines())),
            Part::Block(body),
            Part::Text("END;".into()),
        ]);
        self.routines.push(Routine {
            name,
            parameters,
            result,
            object: None,
            is_process: false,
            function,
        });
        piece
    }

    /// Returns a call of the function by itself, with a smaller first argument.
    fn recursion(&mut self, name: &str, parameters: &[(Mode, Ty)], result: Option<&Ty>) -> Piece {
        self.begin();
        let first = self.scope.iter().find(|it| it.path.starts_with('p'));
        let Some(first) = first.map(|it| it.path.clone()) else {
            return Piece::line(";");
        };
        let Some(others) = self.arguments(&parameters[1..], 1) else {
            return Piece::line(";");
        };
        let comma = if others.is_empty() { "" } else { ", " };
        let call = format!("{name}({first} - 1{comma}{others})");
        let call = match result {
            Some(ty) => format!("{} := {call}", self.local(ty)),
            None => call,
        };
        let condition = format!("({first} > 0) AND ({first} < 4)");
        Piece::line(format!("IF {condition} THEN\n  {call};\nFI;"))
    }

    /// Returns a process: a case, or one that cases start.
    fn process(&mut self, case: Option<u32>) -> Piece {
        self.enter(Kind::Process, None);
        let mut parameters = Vec::new();
        let mut formals = "finished: SHARED IntObject".to_owned();
        let name = match case {
            Some(case) => format!("case{case}"),
            None => self.fresh("process"),
        };
        if case.is_none() {
            for _ in 0..1 + self.draw.below(3) {
                let (mode, ty) = match self.one_in(3) {
                    true => (Mode::Shared, Ty::Object(self.draw.below(self.objects))),
                    false => (Mode::In, self.types.any(self.draw)),
                };
                parameters.push((mode, ty));
            }
            let more = self.formals(&parameters);
            formals += &format!("; {more}");
        }
        let mut body = self.statements(3, 8);
        body.extend(self.show_scope());
        body.push(Piece::line("finished$assign(1);"));
        let heading = format!("PROCESS {name}({formals});\n{}BEGIN", self.local_lines());
        if case.is_none() {
            self.routines.push(Routine {
                name,
                parameters,
                result: None,
                object: None,
                is_process: true,
                function: None,
            });
        }
        Piece::around(heading, body, "END;")
    }

    // ---- routines ----

    fn enter(&mut self, kind: Kind, object: Option<usize>) {
        self.kind = kind;
        self.object = object;
        self.scope = match kind {
            Kind::Initial => Vec::new(),
            _ => self.data.clone(),
        };
        if kind != Kind::Function {
            self.scope.extend(self.state.iter().cloned());
        }
        self.own.clear();
        self.locals.clear();
        self.may_write = kind == Kind::Process || (kind == Kind::Function && object.is_none());
        self.result = None;
        self.loops = 0;
        if kind != Kind::Initial {
            for _ in 0..3 {
                let ty = self.types.any(self.draw);
                self.local(&ty);
            }
        }
    }

    fn declare(&mut self, path: &str, ty: Ty, is_writable: bool) {
        self.scope.push(Variable {
            path: path.to_owned(),
            ty,
            is_writable,
            is_risky: false,
        });
    }

    /// Declares a local variable. Returns its name.
    fn local(&mut self, ty: &Ty) -> String {
        if self.kind == Kind::Initial {
            self.is_spoiled = true;
            return "none".into();
        }
        let name = self.fresh("x");
        let highest = if self.one_in(2) { "data.three" } else { "3" };
        let bounds = self.types.bounds(ty, self.draw, highest);
        self.locals.push(format!("{name}: {}{bounds};", ty.name()));
        self.own.push(Variable {
            path: name.clone(),
            ty: ty.clone(),
            is_writable: true,
            is_risky: false,
        });
        name
    }

    fn variables(&self) -> Vec<Variable> {
        self.scope.iter().chain(&self.own).cloned().collect()
    }

    fn local_lines(&self) -> String {
        self.locals.iter().map(|it| format!("  {it}\n")).collect()
    }

    fn some_type(&mut self) -> Option<Ty> {
        match self.draw.below(4) {
            0 => None,
            1 => Some(self.types.scalar(self.draw)),
            _ => Some(self.types.any(self.draw)),
        }
    }

    /// Returns random parameters as text, and their modes and types.
    fn parameters(&mut self, may_share: bool) -> (String, Vec<(Mode, Ty)>) {
        let mut parameters = Vec::new();
        for _ in 0..self.draw.below(4) {
            let mode = match self.draw.below(if may_share { 4 } else { 3 }) {
                0 | 1 => Mode::In,
                2 => Mode::Out,
                _ => Mode::Shared,
            };
            let ty = match self.objects > 0 && may_share && self.one_in(6) {
                true => Ty::Object(self.draw.below(self.objects)),
                false => self.types.any(self.draw),
            };
            let is_object = matches!(ty, Ty::Object(_));
            parameters.push(match (mode, is_object) {
                (Mode::Out, true) => (Mode::Shared, ty),
                _ => (mode, ty),
            });
        }
        (self.formals(&parameters), parameters)
    }

    /// Declares parameters. Returns their text.
    fn formals(&mut self, parameters: &[(Mode, Ty)]) -> String {
        let mut formals = Vec::new();
        for (mode, ty) in parameters {
            let name = self.fresh("p");
            let bounds = match mode {
                Mode::Out => self.types.bounds(ty, self.draw, "data.three"),
                _ => String::new(),
            };
            formals.push(format!("{name}: {}{}{bounds}", mode.word(), ty.name()));
            self.declare(&name, ty.clone(), true);
        }
        formals.join("; ")
    }

    /// Returns statements that end with a RETURN if there is a result.
    fn body(&mut self, count: usize) -> Vec<Piece> {
        let mut body = self.statements(2, count);
        if let Some(ty) = self.result.clone() {
            self.begin();
            // A rare one ends without a RETURN.
            let condition = self.one_in(30).then(|| self.pure(|it| it.boolean(2)));
            let mut value = self.value(&ty, 2);
            if value.len() > LONGEST {
                value = self.local(&ty);
            }
            body.push(Piece::line(match condition {
                Some(condition) => format!("IF {condition} THEN\n  RETURN {value};\nFI;"),
                None => format!("RETURN {value};"),
            }));
        }
        body
    }

    /// Returns statements that write the variables.
    fn show_scope(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for variable in self.variables() {
            let is_whole = !variable.path.contains(['.', '[']);
            if is_whole && !variable.is_risky {
                let lines = self.types.shown(&variable.ty, &variable.path, 0);
                pieces.push(Piece::line(lines.join("\n")));
                pieces.push(Piece::line("WriteLine();"));
            }
        }
        pieces
    }

    // ---- places ----

    /// Begins a statement or a condition.
    fn begin(&mut self) {
        // A data module that fails would end all cases.
        self.has_risk = self.kind == Kind::Initial && self.object.is_none();
        self.may_change = true;
    }

    /// Returns what `write` makes without changes of variables.
    fn pure<R>(&mut self, write: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.may_change, false);
        let result = write(self);
        self.may_change = before;
        result
    }

    /// Returns whether the statement gets a part that may fail.
    fn risks(&mut self, one_in: usize) -> bool {
        let risks = !self.has_risk && self.one_in(one_in);
        self.has_risk |= risks;
        risks
    }

    /// Returns whether the parts of a value have no places of their own, or only risky ones.
    fn is_closed(&self, ty: &Ty) -> bool {
        matches!(
            self.types.of(ty),
            Some(Shape::Union(..) | Shape::Set(_) | Shape::Bag(_))
        )
    }

    fn reaches(&self, from: &Ty, to: &Ty) -> bool {
        let parts = self.types.parts(from);
        from == to || (!self.is_closed(from) && parts.iter().any(|it| self.reaches(it, to)))
    }

    /// Returns a variable or a part of one, of a type.
    fn place(&mut self, ty: &Ty, must_write: bool, used: &[String]) -> Option<String> {
        let fits = |it: &Variable| {
            let is_usable = it.is_writable || !must_write;
            let is_new = used.iter().all(|root| root != root_of(&it.path));
            is_usable && is_new && (!it.is_risky || !self.has_risk) && self.reaches(&it.ty, ty)
        };
        let all: Vec<Variable> = self.variables().into_iter().filter(fits).collect();
        let found = self.pick(&all)?;
        self.has_risk |= found.is_risky;
        Some(self.part(found.path, found.ty, ty))
    }

    /// Returns a part of a place that has a type.
    fn part(&mut self, path: String, ty: Ty, wanted: &Ty) -> String {
        let parts = self.types.parts(&ty).into_iter().enumerate();
        let parts: Vec<(usize, Ty)> = parts.filter(|(_, it)| self.reaches(it, wanted)).collect();
        if ty == *wanted && (parts.is_empty() || self.is_closed(&ty) || self.one_in(2)) {
            return path;
        }
        let Some((number, of)) = self.pick(&parts) else {
            return path;
        };
        let path = match self.types.of(&ty).cloned() {
            Some(Shape::Array { indices, .. }) => {
                let all = indices.iter().enumerate();
                let all: Vec<String> = all
                    .map(|(at, (index, ..))| self.index(&path, index, at + 1))
                    .collect();
                format!("{path}[{}]", all.join(", "))
            }
            Some(_) => format!("{path}.f{number}"),
            None => format!("{path}[{}]", self.index(&path, &Ty::Integer, 1)),
        };
        self.part(path, of, wanted)
    }

    /// Returns an index of an array, which fits in most cases.
    fn index(&mut self, path: &str, ty: &Ty, dimension: usize) -> String {
        let (low, high) = (
            format!("LB({path}, {dimension})"),
            format!("UB({path}, {dimension})"),
        );
        // Indices within indices would be long.
        if self.nesting == 1 {
            return if self.one_in(2) { low } else { high };
        }
        self.nesting += 1;
        let index = self.pure(|it| it.new_index(ty, &low, &high));
        self.nesting -= 1;
        index
    }

    fn new_index(&mut self, ty: &Ty, low: &str, high: &str) -> String {
        if *ty == Ty::Boolean || self.risks(25) {
            return self.value(ty, 1);
        }
        let number = self.integer(1);
        if *ty == Ty::Integer {
            let size = format!("({high} - {low} + 1)");
            return match self.one_in(3) {
                true => format!("{low} + wrap({number}, {size})"),
                false => format!("{low} + ((({number} % {size}) + {size}) % {size})"),
            };
        }
        let size = format!("(ORD({high}) - ORD({low}) + 1)");
        let name = ty.name();
        format!("VAL({name}, ORD({low}) + wrap({number}, {size}))")
    }

    // ---- values ----

    fn value(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::Short | Ty::Integer | Ty::Long => self.integer(depth),
            Ty::ShortReal | Ty::Real => self.real(depth),
            Ty::Boolean => self.boolean(depth),
            Ty::Char => self.character(depth),
            Ty::Text => self.text(depth),
            Ty::Named(number) => self.named(*number, depth),
            Ty::Object(_) => self.some_place(ty),
        }
    }

    /// Returns a place or a call with a type, or nothing.
    fn read(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if depth > 0 && self.may_change && self.one_in(3) {
            let called = self.call(Some(ty), depth - 1);
            if called.is_some() {
                return called;
            }
        }
        self.place(ty, false, &[])
    }

    fn integer(&mut self, depth: usize) -> String {
        let kinds = [Ty::Integer, Ty::Integer, Ty::Long, Ty::Short];
        let ty = kinds[self.draw.below(4)].clone();
        if depth == 0 || self.one_in(4) {
            let found = match self.one_in(4) {
                true => None,
                false => self.read(&ty, depth),
            };
            let literal = INTEGERS[self.draw.below(INTEGERS.len())];
            return found.unwrap_or_else(|| literal.into());
        }
        let a = self.integer(depth - 1);
        match self.draw.below(14) {
            0..=6 => {
                let sign = ["+", "-", "*", "&", "|", "^", "<<", ">>"][self.draw.below(8)];
                format!("({a} {sign} {})", self.integer(depth - 1))
            }
            7 | 8 => {
                let sign = ["/", "%"][self.draw.below(2)];
                let is_risky = self.risks(20);
                let b = self.integer(depth - 1);
                match is_risky {
                    true => format!("({a} {sign} {b})"),
                    false => format!("({a} {sign} (({b} & 7) + 1))"),
                }
            }
            9 => format!("({}{a})", ["-", "~", "+"][self.draw.below(3)]),
            10 => format!("ABS({a})"),
            11 => format!("VAL({}, {a})", ty.name()),
            12 => {
                let of = [Ty::Boolean, Ty::Char, Ty::Named(0), Ty::Long];
                let of = of[self.draw.below(4)].clone();
                format!("ORD({})", self.value(&of, depth - 1))
            }
            _ => self.measure(depth),
        }
    }

    /// Returns TRUNC, SIZE, LB or UB of something.
    fn measure(&mut self, depth: usize) -> String {
        let all = self.variables().into_iter().filter(|it| !it.is_risky);
        let arrays: Vec<Variable> = all
            .filter(|it| match self.types.of(&it.ty) {
                Some(Shape::Set(_) | Shape::Bag(_) | Shape::Array { .. }) => true,
                _ => it.ty == Ty::Text,
            })
            .collect();
        let found = self.pick(&arrays);
        let Some(of) = found.filter(|_| self.draw.below(3) > 0) else {
            return format!("TRUNC({})", self.real(depth - 1));
        };
        match self.types.of(&of.ty) {
            Some(Shape::Array { indices, .. }) if self.draw.below(3) > 0 => {
                let dimension = self.draw.below(indices.len()) + 1;
                let which = ["LB", "UB"][self.draw.below(2)];
                format!("ORD({which}({}, {dimension}))", of.path)
            }
            _ => format!("SIZE({})", of.path),
        }
    }

    fn real(&mut self, depth: usize) -> String {
        let ty = [Ty::Real, Ty::ShortReal][self.draw.below(2)].clone();
        if depth == 0 || self.one_in(4) {
            let literal = REALS[self.draw.below(REALS.len())];
            return self.read(&ty, depth).unwrap_or_else(|| literal.into());
        }
        let a = self.real(depth - 1);
        match self.draw.below(7) {
            0..=2 => {
                let sign = ["+", "-", "*"][self.draw.below(3)];
                format!("({a} {sign} {})", self.real(depth - 1))
            }
            // A constant divisor that is 0 is an error of the compiler.
            3 if self.risks(4) => match self.place(&Ty::Real, false, &[]) {
                Some(divisor) => format!("({a} / {divisor})"),
                None => a,
            },
            3 => format!("({a} / {})", ["2.0", "0.125", "3.0"][self.draw.below(3)]),
            4 => format!("(-{a})"),
            5 => format!("ABS({a})"),
            _ => format!("FLOAT({})", self.integer(depth - 1)),
        }
    }

    fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(5) {
            let literal = ["true", "false"][self.draw.below(2)];
            return self
                .read(&Ty::Boolean, depth)
                .unwrap_or_else(|| literal.into());
        }
        match self.draw.below(8) {
            0 | 1 => {
                let sign = ["AND", "OR"][self.draw.below(2)];
                let a = self.boolean(depth - 1);
                format!("({a} {sign} {})", self.boolean(depth - 1))
            }
            2 => format!("(NOT {})", self.boolean(depth - 1)),
            3 => format!("ODD({})", self.integer(depth - 1)),
            4 => match self.a_set(false) {
                Some((set, of)) => format!("({} IN {set})", self.value(&of, depth - 1)),
                None => "true".into(),
            },
            5 => {
                let ty = self.types.any(self.draw);
                match self.types.has_equality(&ty) {
                    true => self.compared(&ty, &["=", "/="], depth),
                    false => "false".into(),
                }
            }
            _ => {
                let kinds = [Ty::Integer, Ty::Real, Ty::Char, Ty::Named(0), Ty::Integer];
                let ty = kinds[self.draw.below(5)].clone();
                self.compared(&ty, &["<", "<=", ">", ">=", "=", "/="], depth)
            }
        }
    }

    fn compared(&mut self, ty: &Ty, signs: &[&str], depth: usize) -> String {
        let a = self.value(ty, depth - 1);
        let sign = signs[self.draw.below(signs.len())];
        format!("({a} {sign} {})", self.value(ty, depth - 1))
    }

    /// Returns a set or bag, and the type of its members.
    fn a_set(&mut self, must_write: bool) -> Option<(String, Ty)> {
        let all = self.variables().into_iter();
        let sets: Vec<(String, Ty)> = all
            .filter(|it| (it.is_writable || !must_write) && !it.is_risky)
            .filter_map(|it| match self.types.of(&it.ty) {
                Some(Shape::Set(of) | Shape::Bag(of)) => Some((it.path, of.clone())),
                _ => None,
            })
            .collect();
        self.pick(&sets)
    }

    fn character(&mut self, depth: usize) -> String {
        if depth == 0 || self.one_in(2) {
            let literal = ["'a'", "'z'", "' '", "'''", "'\"'", "'Q'"][self.draw.below(6)];
            return self
                .read(&Ty::Char, depth)
                .unwrap_or_else(|| literal.into());
        }
        match self.draw.below(4) {
            0 if self.risks(4) => format!("CHR({})", self.integer(depth - 1)),
            0 | 1 => format!("CHR({} & 255)", self.integer(depth - 1)),
            2 => format!("CAP({})", self.character(depth - 1)),
            _ => format!("VAL(char, {} & 127)", self.integer(depth - 1)),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let literals = ["\"a\"", "\"text\"", "\"x y\"", "\"q\\\"\\\\n\""];
        let literal = literals[self.draw.below(4)];
        match self.one_in(2) {
            true => literal.into(),
            false => self
                .read(&Ty::Text, depth)
                .unwrap_or_else(|| literal.into()),
        }
    }

    fn named(&mut self, number: usize, depth: usize) -> String {
        let ty = Ty::Named(number);
        let name = ty.name();
        let shape = self.types.0[number].clone();
        let can_make = !matches!(shape, Shape::Graph(_) | Shape::Link | Shape::Function(..));
        if (!can_make || depth == 0 || self.one_in(2))
            && let Some(found) = self.read(&ty, depth)
        {
            return found;
        }
        let below = depth.saturating_sub(1);
        match shape {
            Shape::Enumeration(count) => match self.draw.below(5) {
                0 => format!("MAX({name})"),
                1 if self.risks(4) => format!("VAL({name}, {})", self.integer(below)),
                1 => format!("VAL({name}, ABS({} % {count}))", self.integer(below)),
                _ => self.types.literal(&ty, self.draw.below(count) as i64),
            },
            Shape::Array {
                indices,
                is_fixed,
                element,
            } => {
                let counts = indices.iter().map(|(index, low, high)| {
                    match is_fixed || *index != Ty::Integer {
                        true => (high - low + 1) as usize,
                        false => 1 + self.draw.below(3),
                    }
                });
                let counts: Vec<usize> = counts.collect();
                format!("{name}:{}", self.rows(&counts, &element, below))
            }
            Shape::Record(fields) => {
                let all: Vec<String> = fields.iter().map(|it| self.value(it, below)).collect();
                format!("{name}:{{{}}}", all.join(", "))
            }
            Shape::Union(tag, fields) => {
                let chosen = self.draw.below(fields.len());
                let label = self.types.literal(&Ty::Named(tag), chosen as i64);
                format!("{name}:{{{label}, {}}}", self.value(&fields[chosen], below))
            }
            Shape::Set(of) | Shape::Bag(of) => {
                if depth > 0
                    && self.one_in(2)
                    && let Some(one) = self.place(&ty, false, &[])
                {
                    let sign = ["+", "-", "*", "/"][self.draw.below(4)];
                    return format!("({one} {sign} {})", self.named(number, below));
                }
                let count = self.draw.below(4);
                let all: Vec<String> = (0..count).map(|_| self.value(&of, below)).collect();
                format!("{name}:{{{}}}", all.join(", "))
            }
            Shape::Link => "NIL".into(),
            Shape::Function(..) => match self.pick(&self.functions_of(&ty)) {
                Some(function) => function,
                None => self.some_place(&ty),
            },
            Shape::Graph(_) => self.some_place(&ty),
        }
    }

    fn functions_of(&self, ty: &Ty) -> Vec<String> {
        let fits = |it: &&Routine| it.function.as_ref() == Some(ty);
        let all = self.routines.iter().filter(fits);
        all.map(|it| it.name.clone()).collect()
    }

    /// Returns a variable of a type, a new one if there is none.
    fn some_place(&mut self, ty: &Ty) -> String {
        let found = self.place(ty, false, &[]);
        found.unwrap_or_else(|| self.local(ty))
    }

    fn rows(&mut self, counts: &[usize], element: &Ty, depth: usize) -> String {
        let all: Vec<String> = (0..counts[0])
            .map(|_| match counts.len() {
                1 => self.value(element, depth),
                _ => self.rows(&counts[1..], element, depth),
            })
            .collect();
        format!("[{}]", all.join(", "))
    }

    // ---- calls ----

    /// Returns a call of a function or operation with a result of a type, or without one.
    fn call(&mut self, result: Option<&Ty>, depth: usize) -> Option<String> {
        let fits = |it: &&Routine| {
            let is_same = match (&it.result, result) {
                (Some(a), Some(b)) => a == b || (a.is_integer() && b.is_integer()),
                (None, None) => true,
                _ => false,
            };
            let has_object = it
                .object
                .is_none_or(|object| self.is_own(object) || self.has_object(object));
            is_same && !it.is_process && has_object
        };
        let all: Vec<Routine> = self.routines.iter().filter(fits).cloned().collect();
        let routine = self.pick(&all)?;
        let arguments = self.arguments(&routine.parameters, depth)?;
        let callee = match (routine.object, &routine.function) {
            (Some(object), _) => {
                let is_own = self.is_own(object);
                let of = match is_own && !(self.has_object(object) && self.one_in(3)) {
                    true => "SELF".to_owned(),
                    false => self.place(&Ty::Object(object), true, &[])?,
                };
                format!("{of}${}", routine.name)
            }
            // A function variable may have no value.
            (None, Some(ty)) if self.risks(3) => self.place(ty, false, &[]).unwrap_or(routine.name),
            (None, _) => routine.name,
        };
        Some(format!("{callee}({arguments})"))
    }

    /// Returns whether an operation of an object is being written.
    fn is_own(&self, object: usize) -> bool {
        self.object == Some(object) && self.kind == Kind::Operation
    }

    fn has_object(&self, object: usize) -> bool {
        let ty = Ty::Object(object);
        let is_one = |it: &Variable| it.is_writable && !it.is_risky && self.reaches(&it.ty, &ty);
        self.variables().iter().any(is_one)
    }

    fn arguments(&mut self, parameters: &[(Mode, Ty)], depth: usize) -> Option<String> {
        let mut used: Vec<String> = Vec::new();
        let mut texts = Vec::new();
        for (mode, ty) in parameters {
            if *mode == Mode::In {
                texts.push(self.value(ty, depth));
                continue;
            }
            let place = match self.place(ty, true, &used) {
                Some(place) => place,
                None if self.kind == Kind::Initial => return None,
                None => self.local(ty),
            };
            used.push(root_of(&place).to_owned());
            texts.push(place);
        }
        Some(texts.join(", "))
    }

    // ---- statements ----

    fn statements(&mut self, depth: usize, count: usize) -> Vec<Piece> {
        let before = self.scope.len();
        let mut pieces = Vec::new();
        for _ in 0..1 + self.draw.below(count) {
            pieces.push(self.statement(depth));
        }
        self.scope.truncate(before);
        pieces
    }

    /// Returns a statement, or none in place of one that is too long or needs a local variable
    /// where there are none.
    fn statement(&mut self, depth: usize) -> Piece {
        let outer = std::mem::replace(&mut self.is_spoiled, false);
        let piece = self.any_statement(depth);
        let is_spoiled = std::mem::replace(&mut self.is_spoiled, outer);
        match is_spoiled || piece.longest() > LONGEST {
            true => Piece::line(";"),
            false => piece,
        }
    }

    fn any_statement(&mut self, depth: usize) -> Piece {
        self.begin();
        let compound = if depth > 0 { 6 } else { 0 };
        let piece = match self.draw.below(15 + compound) {
            0..=3 => None,
            4 | 5 => self.change(),
            6 | 7 => self.call(None, 2).map(|it| Piece::line(format!("{it};"))),
            8 => self.called(),
            9 | 10 => self.write(),
            11 => self.change_set(),
            12 => self.graph(),
            13 => self.special(),
            14 => self.taken(),
            15 => Some(self.choice(depth - 1)),
            16 => Some(self.case(depth - 1)),
            17 => Some(self.range(depth - 1)),
            18 => self.for_each(depth - 1),
            19 => self.counted(depth - 1),
            _ => self.union(depth - 1),
        };
        piece.unwrap_or_else(|| self.assignment())
    }

    /// Returns a writable place and its type.
    fn target(&mut self) -> Option<(String, Ty)> {
        let all = self.variables().into_iter();
        let all: Vec<Variable> = all.filter(|it| it.is_writable && !it.is_risky).collect();
        let found = self.pick(&all)?;
        let mut ty = found.ty.clone();
        for _ in 0..self.draw.below(3) {
            if let Some(part) = self.pick(&self.types.parts(&ty))
                && !self.is_closed(&ty)
            {
                ty = part;
            }
        }
        let path = self.part(found.path, found.ty, &ty);
        Some((path, ty))
    }

    fn assignment(&mut self) -> Piece {
        self.begin();
        let Some((target, ty)) = self.target() else {
            return Piece::line(";");
        };
        let value = self.value(&ty, 3);
        Piece::line(format!("{target} := {value};"))
    }

    fn change(&mut self) -> Option<Piece> {
        let (target, ty) = self.target()?;
        let (sign, value) = if ty == Ty::Boolean {
            let value = self.pure(|it| it.boolean(2));
            (["AND", "OR"][self.draw.below(2)], value)
        } else if ty.is_integer() {
            let sign = ["+", "-", "*", "&", "|", "^", "<<", ">>"][self.draw.below(8)];
            (sign, self.integer(3))
        } else if ty.is_real() {
            (["+", "-", "*"][self.draw.below(3)], self.real(3))
        } else if let Some(Shape::Set(_) | Shape::Bag(_)) = self.types.of(&ty) {
            let sign = ["+", "-", "*", "/"][self.draw.below(4)];
            (sign, self.value(&ty, 2))
        } else {
            return None;
        };
        Some(Piece::line(format!("{target} {sign}:= {value};")))
    }

    /// Calls a function for its result.
    fn called(&mut self) -> Option<Piece> {
        let results = self.routines.iter().filter_map(|it| it.result.clone());
        let results: Vec<Ty> = results.collect();
        let ty = self.pick(&results)?;
        let call = self.call(Some(&ty), 2)?;
        let target = match self.place(&ty, true, &[]) {
            Some(target) => target,
            None if self.kind == Kind::Initial => return None,
            None => self.local(&ty),
        };
        Some(Piece::line(format!("{target} := {call};")))
    }

    fn write(&mut self) -> Option<Piece> {
        if !self.may_write {
            return None;
        }
        let mut texts = Vec::new();
        for _ in 0..1 + self.draw.below(3) {
            let kinds = [Ty::Integer, Ty::Real, Ty::Char, Ty::Text];
            let ty = kinds[self.draw.below(4)].clone();
            texts.push(self.value(&ty, 2));
        }
        let texts = texts.join(", \" \", ");
        Some(Piece::line(format!("WriteLine({texts});")))
    }

    fn change_set(&mut self) -> Option<Piece> {
        let (set, of) = self.a_set(true)?;
        let verb = ["INSERT", "INSERT", "DELETE"][self.draw.below(3)];
        let value = self.value(&of, 2);
        Some(Piece::line(format!("{verb}({value}, {set});")))
    }

    /// Takes a member out of a set.
    fn taken(&mut self) -> Option<Piece> {
        let (set, of) = self.a_set(true)?;
        let used = [root_of(&set).to_owned()];
        let target = self.place(&of, true, &used)?;
        let take = format!("{target} := FROM({set});");
        Some(Piece::line(match self.risks(4) {
            true => take,
            false => format!("IF SIZE({set}) > 0 THEN\n  {take}\nFI;"),
        }))
    }

    fn graph(&mut self) -> Option<Piece> {
        let all = self.variables().into_iter();
        let graphs: Vec<(String, usize, Vec<Ty>)> = all
            .filter(|it| it.is_writable && !it.is_risky)
            .filter_map(|it| match (&it.ty, self.types.of(&it.ty)) {
                (Ty::Named(number), Some(Shape::Graph(fields))) => {
                    Some((it.path, *number, fields.clone()))
                }
                _ => None,
            })
            .collect();
        let (graph, number, fields) = self.pick(&graphs)?;
        if self.kind == Kind::Initial {
            let text = format!("{graph}.first := ADDNODE({graph});");
            return Some(Piece::line(text));
        }
        let name = self.local(&Ty::Named(number + 1));
        let field = self.draw.below(fields.len());
        Some(Piece::line(match self.draw.below(4) {
            0 | 1 => {
                self.scope.push(Variable {
                    path: format!("{graph}[{name}].f{field}"),
                    ty: fields[field].clone(),
                    is_writable: true,
                    is_risky: true,
                });
                format!(
                    "{name} := ADDNODE({graph});\n{graph}[{name}].next := {graph}.first;\n\
                     {graph}.first := {name};"
                )
            }
            2 => {
                let value = self.value(&fields[field], 2);
                format!("IF {graph}.first /= NIL THEN\n  {graph}!first.f{field} := {value};\nFI;")
            }
            _ => format!(
                "IF {graph}.first /= NIL THEN\n  {name} := {graph}.first;\n  \
                 {graph}.first := {graph}[{name}].next;\n  DELETENODE({graph}, {name});\nFI;"
            ),
        }))
    }

    /// EXIT, RETURN, Strategy, FORK, ASSERT.
    fn special(&mut self) -> Option<Piece> {
        let condition = self.pure(|it| it.boolean(2));
        match self.draw.below(5) {
            0 if self.loops > 0 => Some(Piece::line(format!("IF {condition} THEN EXIT; FI;"))),
            1 if matches!(self.kind, Kind::Function | Kind::Operation) => {
                let value = match self.result.clone() {
                    Some(ty) => format!(" {}", self.value(&ty, 1)),
                    None => String::new(),
                };
                let text = format!("IF {condition} THEN\n  RETURN{value};\nFI;");
                Some(Piece::line(text))
            }
            2 if self.objects > 0 && self.kind == Kind::Process => {
                let object = self.draw.below(self.objects);
                let place = self.place(&Ty::Object(object), true, &[])?;
                let replicate = self.draw.below(2);
                Some(Piece::line(format!("Strategy({place}, {replicate}, 0);")))
            }
            3 if self.kind == Kind::Process => self.fork(),
            4 if self.risks(8) => Some(Piece::line(format!("ASSERT({condition});"))),
            _ => None,
        }
    }

    fn fork(&mut self) -> Option<Piece> {
        let processes = self.routines.iter().filter(|it| it.is_process);
        let processes: Vec<Routine> = processes.cloned().collect();
        let process = self.pick(&processes)?;
        let arguments = self.arguments(&process.parameters, 2)?;
        let done = self.fresh("done");
        self.locals.push(format!("{done}: IntObject;"));
        let cpu = self.draw.below(2);
        Some(Piece::line(format!(
            "FORK {}({done}, {arguments}) ON {cpu} % NCPUS();\n\
             {done}$AwaitValue(1);\n{done}$assign(0);",
            process.name
        )))
    }

    fn choice(&mut self, depth: usize) -> Piece {
        let condition = self.boolean(3);
        let mut parts = vec![
            Part::Text(format!("IF {condition} THEN")),
            Part::Block(self.statements(depth, 2)),
        ];
        if self.one_in(3) {
            self.begin();
            parts.push(Part::Text(format!("ELSIF {} THEN", self.boolean(2))));
            parts.push(Part::Block(self.statements(depth, 2)));
        }
        if self.one_in(2) {
            parts.push(Part::Text("ELSE".into()));
            parts.push(Part::Block(self.statements(depth, 2)));
        }
        parts.push(Part::Text("FI;".into()));
        Piece(parts)
    }

    fn case(&mut self, depth: usize) -> Piece {
        let has_else = !self.risks(8);
        let (value, labels) = match self.draw.below(3) {
            0 => (self.character(2), ["'a', 'z'", "'0'..'9', 'Q'"]),
            1 => (format!("({} % 6)", self.integer(2)), ["(-1), 0..1", "4"]),
            _ => (
                self.integer(2),
                ["0, 2..5, MAX(longint)", "(-3)..(-1), 32767"],
            ),
        };
        let mut parts = vec![Part::Text(format!("CASE {value} OF"))];
        for (index, label) in labels.iter().enumerate() {
            let bar = if index > 0 { "| " } else { "" };
            parts.push(Part::Text(format!("{bar}{label} =>")));
            parts.push(Part::Block(self.statements(depth, 2)));
        }
        if has_else {
            parts.push(Part::Text("ELSE".into()));
            parts.push(Part::Block(self.statements(depth, 2)));
        }
        parts.push(Part::Text("ESAC;".into()));
        Piece(parts)
    }

    /// Returns the statements of a loop with a variable.
    fn looped(&mut self, variable: Option<(&str, Ty)>, depth: usize) -> Vec<Piece> {
        let before = self.scope.len();
        if let Some((name, ty)) = variable {
            self.declare(name, ty, false);
        }
        self.loops += 1;
        let body = self.statements(depth, 3);
        self.loops -= 1;
        self.scope.truncate(before);
        body
    }

    fn range(&mut self, depth: usize) -> Piece {
        let name = self.fresh("i");
        let arrays = self.variables().into_iter();
        let arrays: Vec<(Variable, Ty, Ty)> = arrays
            .filter(|it| !(it.is_risky && self.has_risk))
            .filter_map(|it| match self.types.of(&it.ty).cloned() {
                Some(Shape::Array {
                    indices, element, ..
                }) if indices.len() == 1 => Some((it, indices[0].0.clone(), element)),
                _ => None,
            })
            .collect();
        let before = self.scope.len();
        let (range, ty) = match (self.draw.below(6), self.pick(&arrays)) {
            (0, _) => ("'a'..'c'".to_owned(), Ty::Char),
            (1, _) => (format!("({} & 3)..4", self.integer(1)), Ty::Integer),
            (_, Some((array, ty, element))) => {
                let path = array.path;
                // The element, unless the loop gives the array other bounds.
                self.scope.push(Variable {
                    path: format!("{path}[{name}]"),
                    ty: element,
                    is_writable: array.is_writable,
                    is_risky: true,
                });
                (format!("LB({path})..UB({path})"), ty)
            }
            _ => ("MIN(T0)..MAX(T0)".to_owned(), Ty::Named(0)),
        };
        let body = self.looped(Some((&name, ty)), depth);
        self.scope.truncate(before);
        Piece::around(format!("FOR {name} IN {range} DO"), body, "OD;")
    }

    fn for_each(&mut self, depth: usize) -> Option<Piece> {
        let name = self.fresh("i");
        let (set, of) = self.a_set(false)?;
        let body = self.looped(Some((&name, of)), depth);
        Some(Piece::around(
            format!("FOR {name} IN {set} DO"),
            body,
            "OD;",
        ))
    }

    /// Returns a loop that a counter ends.
    fn counted(&mut self, depth: usize) -> Option<Piece> {
        if self.kind == Kind::Initial {
            return None;
        }
        let counter = self.fresh("n");
        self.locals.push(format!("{counter}: integer;"));
        let condition = self.boolean(2);
        let body = Part::Block(self.looped(None, depth));
        let begin = format!("{counter} := 3;");
        let step = format!("  {counter} -:= 1;");
        let (head, end) = match self.draw.below(3) {
            0 => (
                format!("WHILE ({counter} > 0) AND {condition} DO\n{step}"),
                "OD;".to_owned(),
            ),
            1 => (
                format!("REPEAT\n{step}"),
                format!("UNTIL ({counter} <= 0) OR {condition};"),
            ),
            _ => (
                format!("DO\n{step}\n  IF {counter} < 0 THEN EXIT; FI;"),
                "OD;".to_owned(),
            ),
        };
        Some(Piece(vec![
            Part::Text(format!("{begin}\n{head}")),
            body,
            Part::Text(end),
        ]))
    }

    /// Returns statements that use an alternative of a union which is set.
    fn union(&mut self, depth: usize) -> Option<Piece> {
        let all = self.variables().into_iter().filter(|it| !it.is_risky);
        let unions: Vec<(Variable, usize, Vec<Ty>)> = all
            .filter_map(|it| match self.types.of(&it.ty).cloned() {
                Some(Shape::Union(tag, fields)) => Some((it, tag, fields)),
                _ => None,
            })
            .collect();
        let (variable, tag, fields) = self.pick(&unions)?;
        let chosen = self.draw.below(fields.len());
        let label = self.types.literal(&Ty::Named(tag), chosen as i64);
        let before = self.scope.len();
        self.scope.push(Variable {
            path: format!("{}.f{chosen}", variable.path),
            ty: fields[chosen].clone(),
            is_writable: variable.is_writable,
            is_risky: true,
        });
        let body = self.statements(depth, 3);
        self.scope.truncate(before);
        let head = format!("IF {}.tag = {label} THEN", variable.path);
        Some(Piece::around(head, body, "FI;"))
    }
}

/// Returns the variable that a place is a part of.
fn root_of(path: &str) -> &str {
    path.split(['.', '[', '!']).next().unwrap_or_default()
}
