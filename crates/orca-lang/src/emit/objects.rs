//! Objects: their states, and operations as alternatives that the run-time tries.
//!
//! The arguments and results of an invocation are in a struct `a`. An alternative is a function of
//! the state and of this struct. It returns ORCA_DONE, or ORCA_CLOSED if its guard is false. If it
//! blocks within, it is unwound.

use antiphon_lang::c::string;

use super::Emitter;
use crate::effects::parts;
use crate::program::{Alternative, Expr, ExprKind, Field, Mode, Predefined, RoutineId, UnitId};

impl Emitter<'_> {
    /// Defines the struct of a state, and declares the names that others use.
    pub(super) fn object_heading(&mut self, unit: UnitId) -> String {
        let program = self.program;
        let mut members = String::new();
        for id in &program.unit(unit).variables {
            let c_type = self.c_type(program.variable(*id).of.ty);
            members += &format!("    {c_type} {};\n", self.variable_name(*id));
        }
        if members.is_empty() {
            members += "    char nothing;\n";
        }
        self.structs += &format!("struct s{} {{\n{members}}};\n", unit.0);
        let kind = match self.shape(unit) {
            Some(_) => "array",
            None => "object",
        };
        self.announced += &format!("static const struct orca_{kind}_type c{};\n", unit.0);
        self.announced += &format!("static const struct orca_type ts{};\n", unit.0);
        String::new()
    }

    /// Describes a type of objects.
    pub(super) fn object(&mut self, unit: UnitId) -> String {
        let program = self.program;
        let of = program.unit(unit);
        let number = unit.0;
        let fields: Vec<Field> = of
            .variables
            .iter()
            .map(|id| Field {
                name: program.variable(*id).name.clone(),
                of: program.variable(*id).of.clone(),
            })
            .collect();
        let names: Vec<String> = of
            .variables
            .iter()
            .map(|id| self.variable_name(*id))
            .collect();
        let owner = format!("struct s{number}");
        let list = format!("ls{number}");
        self.field_list(&list, &owner, &fields, &names, &[]);
        let is_plain = fields.iter().all(|field| self.is_plain(field.of.ty));
        let init = self.initial_of_members(&format!("is{number}"), &owner, &fields, &names);
        let name = string(of.name.as_bytes());
        self.descriptors += &format!(
            "static const struct orca_type ts{number} = {{\n    .name = {name}, .kind = ORCA_RECORD, .is_plain = {is_plain}, .has_init = {init} != 0, .init = {init}, .size = sizeof({owner}),\n    .count = {}, .fields = {list}}};\n",
            fields.len()
        );
        if of.shape.is_some() {
            return self.partitioned_object(unit);
        }
        let initial = match of.initial {
            Some(id) => format!("    b{}(state);\n", id.0),
            None => String::new(),
        };
        let mut text = format!(
            "static void z{number}(void *state)\n{{\n    orca_init(&ts{number}, state);\n{initial}}}\n"
        );
        text += &format!("static const struct orca_operation operations{number}[] = {{\n");
        let operations = self.operations(unit);
        for id in &operations {
            text += &self.operation_row(*id);
        }
        let mut written = operations.iter();
        let does_io = written.any(|id| program.routine(*id).effects.does_io);
        text += "    {0}};\n";
        let unique = string(self.unique_name(unit).as_bytes());
        text += &format!(
            "static const struct orca_object_type c{number} = {{\n    {unique}, &ts{number}, z{number}, operations{number}, {}, {does_io}}};\n",
            operations.len()
        );
        text
    }

    /// Returns the name of a unit, with a number if another one has the same.
    pub(super) fn unique_name(&self, unit: UnitId) -> String {
        let name = &self.program.unit(unit).name;
        let mut others = self.program.units.iter().enumerate();
        let is_shared = others
            .any(|(index, it)| it.name == *name && index != unit.0 as usize && !it.is_abstract);
        match is_shared {
            true => format!("{name}/{}", unit.0),
            false => name.clone(),
        }
    }

    fn operation_row(&self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let n = id.0;
        let count = routine.body.as_ref().map_or(0, Vec::len);
        let outs = routine
            .parameters
            .iter()
            .any(|it| self.mode(*it) == Mode::Out);
        let (has_result, does_io) = (routine.result.is_some() || outs, routine.effects.does_io);
        let name = string(routine.name.as_bytes());
        format!(
            "    {{{name}, alternatives{n}, {count}, sizeof(struct h{n}), {has_result}, {does_io}, put{n}, get{n}, drop{n}, put_result{n}, get_result{n}}},\n"
        )
    }

    /// Declares an operation, for its object's own code and for other code.
    pub(super) fn operation_heading(&mut self, id: RoutineId) -> String {
        let heads = self.operation_heads(id);
        format!("static {};\nstatic {};\n", heads[0], heads[1])
    }

    fn operation_heads(&mut self, id: RoutineId) -> [String; 2] {
        let result = self.result_of(id);
        let (result, name) = (self.result_type(result), self.routine_name(id));
        let unit = self.program.routine(id).unit;
        let mut own = vec![self.own_formal(unit)];
        own.extend(self.formals(id));
        own.push("orca_at at".into());
        let mut others = own.clone();
        others[0] = match self.shape(unit) {
            Some(_) => "orca_partitioned object".into(),
            None => "orca_object object".into(),
        };
        [
            format!("{result} {name}({})", own.join(", ")),
            format!("{result} k{name}({})", others.join(", ")),
        ]
    }

    pub(super) fn operation(&mut self, id: RoutineId) -> String {
        if self.shape(self.program.routine(id).unit).is_some() {
            return self.partitioned_operation(id);
        }
        let mut text = self.call_structs(id);
        let routine = self.program.routine(id);
        for (index, alternative) in routine.body.iter().flatten().enumerate() {
            text += &self.alternative(id, index, alternative);
        }
        text += &self.alternative_table(id);
        text += &self.tries(id);
        text += &self.invocations(id);
        text + &self.codec(id)
    }

    pub(super) fn call_structs(&mut self, id: RoutineId) -> String {
        let program = self.program;
        let routine = program.routine(id);
        let (mut call, mut held) = (String::new(), String::new());
        for parameter in &routine.parameters {
            let ty = program.variable(*parameter).of.ty;
            let (c_type, name) = (self.c_type(ty), self.variable_name(*parameter));
            if self.mode(*parameter) == Mode::In && !self.is_scalar(ty) {
                let pointer = self.parameter_type(Mode::In, ty);
                call += &format!("    {pointer}{name};\n");
                held += &format!("    {c_type} {name};\n");
            } else {
                call += &format!("    {c_type} {name};\n");
            }
        }
        if let Some(ty) = self.result_of(id) {
            call += &format!("    {} result;\n", self.c_type(ty));
        }
        if let Some(ty) = self.gathered(id) {
            call += &format!("    {} element;\n", self.c_type(ty));
        }
        if call.is_empty() {
            call += "    char nothing;\n";
        }
        let n = id.0;
        format!("struct a{n} {{\n{call}}};\nstruct h{n} {{\n    struct a{n} call;\n{held}}};\n")
    }

    fn alternative(&mut self, id: RoutineId, index: usize, of: &Alternative) -> String {
        let program = self.program;
        let routine = program.routine(id);
        let (n, unit) = (id.0, routine.unit.0);
        let body = self.body(id, true, |it| {
            it.take_parameters(id);
            it.locals();
            if let Some(guard) = &of.guard {
                it.guard(guard);
            }
            it.statements(&of.statements);
            it.end(true);
        });
        format!(
            "static int x{n}_{index}(void *state, void *arguments)\n{{\n    struct s{unit} *const self = state;\n    struct a{n} *const call = arguments;\n{body}}}\n"
        )
    }

    /// Declares the parameters of an operation, with their values from its invocation.
    pub(super) fn take_parameters(&mut self, id: RoutineId) {
        for parameter in &self.program.routine(id).parameters {
            let ty = self.program.variable(*parameter).of.ty;
            let (c_type, name) = (self.c_type(ty), self.variable_name(*parameter));
            if self.mode(*parameter) == Mode::Out {
                self.own_parameter(*parameter, "");
            } else if self.is_scalar(ty) {
                self.line(format!("{c_type} {name} = call->{name};"));
            } else if self.is_borrowed(*parameter) {
                let pointer = self.parameter_type(Mode::In, ty);
                self.line(format!("{pointer}const {name} = call->{name};"));
            } else {
                self.own_parameter(*parameter, &format!("call->{name}"));
            }
        }
    }

    fn guard(&mut self, guard: &Expr) {
        let depth = self.out.depth() + 1;
        let (statements, value) = self.apart(depth, |it| it.value(guard));
        if statements.is_empty() {
            return self.line(format!("if (!{value}) return ORCA_CLOSED;"));
        }
        self.out.open("{");
        self.out.append(&statements);
        self.line(format!("if (!{value}) return ORCA_CLOSED;"));
        self.out.close("}");
    }

    fn alternative_table(&mut self, id: RoutineId) -> String {
        let n = id.0;
        let routine = self.program.routine(id);
        let mut rows = String::new();
        for (index, it) in routine.body.iter().flatten().enumerate() {
            let guard = match &it.guard {
                Some(guard) => {
                    let file = self.sources.file(guard.span.file);
                    let text = &file.text[guard.span.start as usize..guard.span.end as usize];
                    let words: Vec<&str> = text.split_whitespace().collect();
                    string(words.join(" ").as_bytes())
                }
                None => "0".into(),
            };
            let (writes, blocks) = (it.writes, it.may_block);
            let undoes = self.may_undo(it);
            rows += &format!("    {{{guard}, x{n}_{index}, {writes}, {blocks}, {undoes}}},\n");
        }
        format!("static const struct orca_alternative alternatives{n}[] = {{\n{rows}    {{0}}}};\n")
    }

    /// Returns whether an alternative may have written before it blocks.
    fn may_undo(&self, of: &Alternative) -> bool {
        of.writes && (of.may_block || of.guard.as_ref().is_some_and(|it| self.may_write(it)))
    }

    /// Returns whether a guard may write.
    fn may_write(&self, expr: &Expr) -> bool {
        let is_one = match &expr.kind {
            ExprKind::Call(id, _) => {
                let effects = &self.program.routine(*id).effects;
                effects.writes_parameter.contains(&true)
            }
            ExprKind::Invoke(_, id, _) => self.program.routine(*id).effects.writes_state,
            ExprKind::CallValue(..) => true,
            ExprKind::Predefined(which, _) => {
                matches!(which, Predefined::From | Predefined::AddNode)
            }
            _ => false,
        };
        is_one || parts(expr).into_iter().any(|part| self.may_write(part))
    }

    /// Writes the function that tries the alternatives on an unshared state: those that only read
    /// come first.
    fn tries(&mut self, id: RoutineId) -> String {
        let program = self.program;
        let routine = program.routine(id);
        let (n, unit) = (id.0, routine.unit.0);
        let alternatives: Vec<&Alternative> = routine.body.iter().flatten().collect();
        let mut order: Vec<usize> = (0..alternatives.len()).collect();
        order.sort_by_key(|index| alternatives[*index].writes);
        let mut lines = String::new();
        let mut may_end = false;
        for (place, index) in order.iter().enumerate() {
            let of = alternatives[*index];
            let is_last = place + 1 == order.len();
            let name = format!("x{n}_{index}");
            let attempt = match (is_last, self.may_undo(of), of.may_block) {
                (false, true, _) => format!("orca_attempt_or_undo(&ts{unit}, {name}, self, call)"),
                (false, false, true) => format!("orca_attempt({name}, self, call)"),
                _ => format!("{name}(self, call)"),
            };
            if of.guard.is_none() {
                lines += &format!("    {attempt};\n");
                may_end = true;
            } else {
                lines += &format!("    if ({attempt} == ORCA_DONE) return;\n");
            }
        }
        if !may_end {
            let object = string(program.unit(routine.unit).name.as_bytes());
            let operation = string(routine.name.as_bytes());
            lines += &format!("    orca_block(at, {object}, {operation});\n");
        }
        format!(
            "static void try{n}(struct s{unit} *self, struct a{n} *call, orca_at at)\n{{\n{lines}}}\n"
        )
    }

    pub(super) fn invocations(&mut self, id: RoutineId) -> String {
        let program = self.program;
        let routine = program.routine(id);
        let n = id.0;
        let heads = self.operation_heads(id);
        let mut fill = format!("    struct a{n} call = {{0}};\n");
        let mut deliver = String::new();
        let before = self.here.replace(super::Here {
            routine: id,
            is_operation: false,
        });
        for parameter in &routine.parameters {
            let name = self.variable_name(*parameter);
            let formal = self.formal_name(*parameter);
            if self.mode(*parameter) == Mode::In {
                fill += &format!("    call.{name} = {formal};\n");
                continue;
            }
            let ty = program.variable(*parameter).of.ty;
            deliver += &match self.is_plain(ty) {
                true => format!("    *{formal} = call.{name};\n"),
                false => {
                    let descriptor = self.descriptor(ty);
                    format!("    orca_move({descriptor}, {formal}, &call.{name});\n")
                }
            };
        }
        self.here = before;
        if routine.result.is_some() {
            deliver += "    return call.result;\n";
        }
        let operations = self.operations(routine.unit);
        let index = operations
            .iter()
            .position(|it| *it == id)
            .unwrap_or_default();
        let (own, others) = match self.shape(routine.unit) {
            Some(_) => {
                let unit = routine.unit.0;
                let own = match routine.indices {
                    Some(_) => format!(
                        "    (void)at;\n    orca_view_run(view, &operations{unit}[{index}], &call);\n"
                    ),
                    None => format!("    (void)at;\n    x{n}_0(view, &call);\n"),
                };
                let others = format!("    orca_partitioned_invoke(at, object, {index}, &call);\n");
                (own, others)
            }
            None => (
                format!("    try{n}(self, &call, at);\n"),
                format!(
                    "    if (orca_object_is_shared(object))\n        orca_object_invoke(at, object, {index}, &call);\n    else\n        try{n}(orca_object_state(object), &call, at);\n"
                ),
            ),
        };
        format!(
            "static {}\n{{\n{fill}{own}{deliver}}}\nstatic {}\n{{\n{fill}{others}{deliver}}}\n",
            heads[0], heads[1]
        )
    }

    /// Writes the functions that turn arguments and results into bytes and back.
    pub(super) fn codec(&mut self, id: RoutineId) -> String {
        let program = self.program;
        let n = id.0;
        let (mut put, mut get, mut drop) = (String::new(), String::new(), String::new());
        let (mut put_result, mut get_result) = (String::new(), String::new());
        let routine = program.routine(id);
        let mut results = Vec::new();
        for parameter in &routine.parameters {
            let ty = program.variable(*parameter).of.ty;
            let (name, descriptor) = (self.variable_name(*parameter), self.descriptor(ty));
            if self.mode(*parameter) == Mode::Out {
                results.push((name, ty));
            } else if self.is_scalar(ty) {
                put += &format!("    orca_put({descriptor}, &call->{name}, writer);\n");
                get += &format!(
                    "    if (!orca_get({descriptor}, &held->call.{name}, reader)) return false;\n"
                );
            } else {
                put += &format!("    orca_put({descriptor}, call->{name}, writer);\n");
                get += &format!(
                    "    if (!orca_get({descriptor}, &held->{name}, reader)) return false;\n    held->call.{name} = &held->{name};\n"
                );
                if !self.is_plain(ty) {
                    drop += &format!("    orca_destroy({descriptor}, &held->{name});\n");
                }
            }
        }
        results.extend(self.result_of(id).map(|ty| ("result".to_owned(), ty)));
        for (name, ty) in results {
            let descriptor = self.descriptor(ty);
            put_result += &format!("    orca_put({descriptor}, &call->{name}, writer);\n");
            get_result +=
                &format!("    if (!orca_get({descriptor}, &call->{name}, reader)) return false;\n");
            if !self.is_plain(ty) {
                drop += &format!("    orca_destroy({descriptor}, &held->call.{name});\n");
            }
        }
        format!(
            "static void put{n}(const void *arguments, struct orca_writer *writer)\n{{\n    const struct a{n} *const call = arguments;\n{put}}}\n\
             static bool get{n}(void *arguments, struct orca_reader *reader)\n{{\n    struct h{n} *const held = arguments;\n{get}    return true;\n}}\n\
             static void drop{n}(void *arguments)\n{{\n    struct h{n} *const held = arguments;\n{drop}}}\n\
             static void put_result{n}(const void *arguments, struct orca_writer *writer)\n{{\n    const struct a{n} *const call = arguments;\n{put_result}}}\n\
             static bool get_result{n}(void *arguments, struct orca_reader *reader)\n{{\n    struct a{n} *const call = arguments;\n{get_result}    return true;\n}}\n"
        )
    }
}
