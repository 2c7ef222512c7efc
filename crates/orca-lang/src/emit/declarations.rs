//! The code around the routines: variables of data modules, and the program's table.

use antiphon_lang::c::string;

use super::Emitter;
use crate::program::{UnitId, UnitKind};

impl Emitter<'_> {
    /// Declares the variables of a data module.
    pub(super) fn unit_variables(&mut self, unit: UnitId) -> String {
        let program = self.program;
        let of = program.unit(unit);
        if of.kind != UnitKind::Data {
            return String::new();
        }
        for id in &of.variables {
            let c_type = self.c_type(program.variable(*id).of.ty);
            let name = self.variable(*id);
            self.announced += &format!("static {c_type} {name};\n");
        }
        String::new()
    }

    /// Returns the functions and tables with which the run-time begins.
    pub(super) fn ending(&mut self, units: &[UnitId]) -> String {
        let begin = self.beginning(units);
        let program = self.program;
        let mut text = format!("static void begin(void)\n{{\n{begin}}}\n");
        let objects = units
            .iter()
            .filter(|unit| program.unit(**unit).kind == UnitKind::Object);
        let (arrays, objects): (Vec<&UnitId>, Vec<&UnitId>) =
            objects.partition(|unit| self.shape(**unit).is_some());
        for (kind, all) in [("object", &objects), ("array", &arrays)] {
            text += &format!("static const struct orca_{kind}_type *const {kind}_types[] = {{");
            for unit in all {
                text += &format!("&c{}, ", unit.0);
            }
            text += "0};\n";
        }
        text += "static const struct orca_process processes[] = {\n";
        let processes = self.processes();
        for id in &processes {
            let name = format!("{}.{}", self.unit_of(*id).name, program.routine(*id).name);
            let name = string(name.as_bytes());
            text += &format!("    {{{name}, {}}},\n", self.routine_name(*id));
        }
        text += "    {0}};\n";
        let main = program.main.map_or("0".into(), |id| self.routine_name(id));
        text += &format!(
            "const struct orca_program orca_program = {{\n    begin, {main}, object_types, {}, processes, {}, array_types, {}}};\n",
            objects.len(),
            processes.len(),
            arrays.len()
        );
        text + &self.function_values()
    }

    fn beginning(&mut self, units: &[UnitId]) -> String {
        let program = self.program;
        let (text, ()) = self.apart(1, |it| {
            for unit in units {
                let of = program.unit(*unit);
                if of.kind != UnitKind::Data {
                    continue;
                }
                for id in &of.variables {
                    let name = it.variable(*id);
                    it.init(&name, &program.variable(*id).of);
                }
                if let Some(initial) = of.initial {
                    it.line(format!("b{}();", initial.0));
                }
            }
        });
        text
    }

    /// Returns the table of functions that are used as values.
    fn function_values(&mut self) -> String {
        let values = self.values.clone();
        let (mut text, mut list) = (String::new(), String::new());
        for (number, id) in values.iter().enumerate() {
            let name = string(self.program.routine(*id).name.as_bytes());
            let code = self.routine_name(*id);
            self.announced += &format!("static const struct orca_routine y{};\n", id.0);
            text += &format!(
                "static const struct orca_routine y{} = {{{name}, (void (*)(void)){code}, {number}}};\n",
                id.0
            );
            list += &format!("&y{}, ", id.0);
        }
        text += &format!("static const struct orca_routine *const routines[] = {{{list}0}};\n");
        text += &format!(
            "const struct orca_routines orca_routines = {{routines, {}}};\n",
            values.len()
        );
        text
    }
}
