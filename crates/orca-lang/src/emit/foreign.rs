//! Functions in C that the program calls, and functions of the program for C.
//!
//! Both have the original's names and conventions: `f_Unit__name`, scalars by value if they are
//! IN, addresses else, and a result with a structure as the last parameter.

use super::{Emitter, Here};
use crate::program::{Mode, RoutineId, TypeId, TypeKind};

/// A function as C sees it.
struct Convention {
    result: String,
    name: String,
    types: Vec<String>,
    /// The names of the parameters that Orca has, too.
    formals: Vec<String>,
    /// The type of a result that is a parameter.
    by_pointer: Option<TypeId>,
}

impl Emitter<'_> {
    /// Writes a function that calls one in C.
    pub(super) fn c_function(&mut self, id: RoutineId) -> String {
        let heading = self.function_heading(id);
        let of = self.convention(id);
        let (mut types, mut texts) = (of.types, of.formals);
        let (mut begin, mut end) = (String::new(), String::new());
        if let Some(ty) = of.by_pointer {
            begin += &format!("    {} result = {{0}};\n", self.c_type(ty));
            if let Some(index) = self.may_narrow(id, ty) {
                let descriptor = self.descriptor(ty);
                let array = std::mem::replace(&mut texts[index], "&given".into());
                begin += &format!("    orca_array1 given = *{array};\n");
                end +=
                    &format!("    orca_end_narrowing({descriptor}, &result, {array}, &given);\n");
            }
            texts.push("&result".into());
            end += "    return result;\n";
        }
        if types.is_empty() {
            types.push("void".into());
        }
        let name = of.name;
        let call = format!("{name}({})", texts.join(", "));
        let body = match of.by_pointer.is_none() && self.result_of(id).is_some() {
            true => format!("    return {call};\n"),
            false => format!("{begin}    {call};\n{end}"),
        };
        let (result, types) = (of.result, types.join(", "));
        format!("extern {result} {name}({types});\nstatic {heading}\n{{\n{body}}}\n")
    }

    /// Returns the IN array that a function in C with a result of its type may narrow.
    fn may_narrow(&self, id: RoutineId, result: TypeId) -> Option<usize> {
        let is_list = match self.program.kind(result) {
            TypeKind::Array { indices, .. } => indices.len() == 1,
            _ => false,
        };
        let parameters = self.parameters(id);
        let mut parameters = parameters.iter().filter(|_| is_list);
        parameters.position(|(mode, ty)| *mode == Mode::In && self.program.is_same(*ty, result))
    }

    /// Writes a function for C that calls one of the program, if C may call it. As in the original,
    /// a function that invokes operations has one more parameter, an `int *`.
    pub(super) fn function_for_c(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let unit = self.program.unit(routine.unit);
        if !self.is_for_c || self.unique_name(routine.unit) != unit.name {
            return String::new();
        }
        let of = self.convention(id);
        let mut formals: Vec<String> = Vec::new();
        if routine.effects.invokes {
            formals.push("int *flags".into());
        }
        let names = of.formals.iter().map(String::as_str).chain(["result"]);
        let pairs = of.types.iter().zip(names);
        formals.extend(pairs.map(|(c_type, name)| format!("{c_type} {name}")));
        if formals.is_empty() {
            formals.push("void".into());
        }
        let call = format!("{}({})", self.routine_name(id), of.formals.join(", "));
        let body = match of.by_pointer {
            Some(ty) => {
                let (c_type, descriptor) = (self.c_type(ty), self.descriptor(ty));
                format!(
                    "    {c_type} value = {call};\n    orca_move({descriptor}, result, &value);\n"
                )
            }
            None if routine.result.is_some() => format!("    return {call};\n"),
            None => format!("    {call};\n"),
        };
        let (result, name, formals) = (of.result, of.name, formals.join(", "));
        format!("{result} {name}({formals})\n{{\n{body}}}\n")
    }

    fn convention(&mut self, id: RoutineId) -> Convention {
        let routine = self.program.routine(id);
        let unit = self.program.unit(routine.unit);
        let mut types = Vec::new();
        for (mode, ty) in self.parameters(id) {
            types.push(self.parameter_type(mode, ty));
        }
        let before = self.here.replace(Here {
            routine: id,
            is_operation: false,
        });
        let formals = routine.parameters.iter().map(|it| self.formal_name(*it));
        let formals = formals.collect();
        self.here = before;
        let result = self.result_of(id);
        let by_pointer = result.filter(|ty| !self.is_scalar(*ty));
        let result = match by_pointer {
            Some(ty) => {
                let c_type = self.c_type(ty);
                types.push(format!("{c_type} *"));
                "void".into()
            }
            None => self.result_type(result),
        };
        Convention {
            result,
            name: format!("f_{}__{}", unit.name, routine.name),
            types,
            formals,
            by_pointer,
        }
    }
}
