//! Components: the structs of their instances, their bodies, and the tables that describe them to
//! the run-time.

use antiphon_lang::c::{self, Writer};

use super::function::{Answer, Function};
use super::types::{Class, pointer_to};
use super::unit::Unit;
use crate::program::*;

impl Unit<'_> {
    fn components(&self) -> impl Iterator<Item = (ComponentId, &Component)> {
        let rows = self.program.components.iter().enumerate();
        rows.map(|(n, row)| (ComponentId(n as u32), row))
    }

    /// Writes the structs of instances and of the parameters of `create`.
    pub(super) fn write_components(&self, out: &mut Writer) {
        for (component, row) in self.components() {
            self.write_instance(component, row, out);
            let name = self.names.component(component);
            if row.body.is_some() {
                out.line(format!(
                    "static const struct sr_component component_{name};"
                ));
            }
            if row.is_global {
                out.line(format!("static struct sr_instance *global_{name};"));
                out.line(format!(
                    "#define g_{name} ((struct c_{name} *)global_{name})"
                ));
            }
        }
    }

    fn write_instance(&self, component: ComponentId, row: &Component, out: &mut Writer) {
        let name = self.names.component(component);
        out.open(format!("struct c_{name} {{"));
        out.line("struct sr_instance head;");
        for variable in row.parameters.iter().chain(&row.variables) {
            self.write_member(*variable, out);
        }
        for operation in &row.operations {
            self.write_operation_member(*operation, out);
        }
        for class in &row.classes {
            if matches!(self.program.classes[class.index()].home, Home::Component) {
                out.line(format!("struct sr_class k_{};", class.0));
            }
        }
        out.close("};");
        if row.parameters.is_empty() && !self.has_regions(component) {
            return;
        }
        out.open(format!("struct a_{name} {{"));
        if self.has_regions(component) {
            out.line("sr_int region;");
        }
        for variable in &row.parameters {
            let c_type = self.value_type(self.program.variables[variable.index()].of);
            out.line(format!(
                "{};",
                self.declare(&c_type, self.names.variable(*variable))
            ));
        }
        out.close("};");
    }

    fn write_member(&self, variable: VariableId, out: &mut Writer) {
        let row = &self.program.variables[variable.index()];
        let name = self.names.variable(variable);
        let function = Function::new(self, CodeId(0));
        match (self.known_element(row.of), function.is_in_place(variable)) {
            (Some(c_type), false) => {
                out.line(format!("{}{name};", pointer_to(&c_type)));
            }
            _ => out.line(format!("{};", self.declare_storage(row.of, name))),
        }
    }

    /// Returns the element's type of an array whose bounds are all known.
    fn known_element(&self, of: TypeId) -> Option<String> {
        self.known_count(of)?;
        if !matches!(self.class(of), Class::Array(_)) {
            return None;
        }
        self.element_type(self.program.types.flat(of).1)
    }

    fn write_operation_member(&self, operation: OperationId, out: &mut Writer) {
        let row = self.operation(operation);
        if row.home != Home::Component || !self.needs_object(operation) {
            return;
        }
        let name = self.names.operation(operation);
        let c_type = match self.is_semaphore(operation) {
            true => "struct sr_semaphore",
            false => "struct sr_op",
        };
        match row.dimensions.len() {
            0 => out.line(format!("{c_type} {name};")),
            count => {
                out.line(format!("{c_type} *{name};"));
                out.line(format!("struct sr_dimension {name}_d[{count}];"));
            }
        }
    }

    /// Arguments of a remote creation when no parameter is a text or an array.
    pub(super) fn no_fields(&self) -> String {
        match self.has_machines {
            true => "0, 0, ".into(),
            false => String::new(),
        }
    }

    /// Whether instances of a component are created in regions.
    pub(super) fn has_regions(&self, component: ComponentId) -> bool {
        self.facts.has_regions(component)
    }

    /// Writes functions that find an inherited operation in the resource of a capability.
    pub(super) fn write_finders(&self, out: &mut Writer) {
        for &base in &self.shared.borrow().finders {
            let row = self.operation(base);
            let member = |operation: OperationId| {
                let component = self.operation(operation).component;
                format!(
                    "offsetof(struct c_{}, {})",
                    self.names.component(component),
                    self.names.operation(operation)
                )
            };
            out.open(format!(
                "static sr_cap find_{}(sr_resource resource, int64_t index) {{",
                base.0
            ));
            out.line(format!("size_t offset = {};", member(base)));
            for (number, other) in self.program.operations.iter().enumerate() {
                let other_id = OperationId(number as u32);
                let is_component = self.program.components[other.component.index()]
                    .body
                    .is_some();
                if other_id == base || !self.stands_for(other_id, base) || !is_component {
                    continue;
                }
                let name = self.names.component(other.component);
                out.line(format!(
                    "if (resource.instance && sr_component_of(resource) == &component_{name})"
                ));
                out.line(format!("    offset = {};", member(other_id)));
            }
            out.line(match row.dimensions.is_empty() {
                true => "return sr_cap_in(resource, offset);",
                false => "return sr_cap_in_array(resource, offset, index);",
            });
            out.close("}");
        }
    }

    /// Whether an operation stands for another one: its resource extends that one's, or is used as
    /// if it were that.
    fn stands_for(&self, operation: OperationId, base: OperationId) -> bool {
        let mut counterparts = self.program.counterparts.iter();
        if counterparts.any(|pair| (pair.wanted, pair.stands_for_it) == (base, operation)) {
            return true;
        }
        let mut at = operation;
        while let Some(from) = self.operation(at).inherits {
            if from == base {
                return true;
            }
            at = from;
        }
        false
    }

    /// Writes a component's body.
    pub(super) fn write_body(&self, code: CodeId, prototypes: &mut Writer, out: &mut Writer) {
        let row = &self.program.codes[code.index()];
        let component = &self.program.components[row.component.index()];
        let name = self.names.component(row.component);
        let head = format!("static void b_{name}(struct sr_instance *instance, void *parameters)");
        prototypes.line(format!("SR_CODE {head};"));
        let mut function = Function::new(self, code);
        function.answer = Answer::Creator;
        function.line(format!(
            "struct c_{name} *self = (struct c_{name} *)instance;"
        ));
        function.begin_instance(component, row.component, row.span);
        function.hoist_all(&row.block);
        function.with_mark(|f| {
            f.take_parameters(component, name, row.span);
            f.block(&row.block);
            f.end_of_code();
        });
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }

    /// Writes a component's final part.
    pub(super) fn write_final(&self, code: CodeId, prototypes: &mut Writer, out: &mut Writer) {
        let row = &self.program.codes[code.index()];
        let name = self.names.component(row.component);
        let head = format!("static void f_{name}(struct sr_instance *instance)");
        prototypes.line(format!("SR_CODE {head};"));
        let mut function = Function::new(self, code);
        function.line(format!(
            "struct c_{name} *self = (struct c_{name} *)instance;"
        ));
        function.hoist_all(&row.block);
        function.with_mark(|f| {
            f.block(&row.block);
            f.end_of_code();
        });
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }

    /// Writes the tables that describe the program to the run-time.
    pub(super) fn write_tables(&self, out: &mut Writer) {
        for (component, row) in self.components() {
            let name = self.names.component(component);
            if row.body.is_none() {
                continue;
            }
            let last = row.last.map_or("0".into(), |_| format!("f_{name}"));
            let global = match row.is_global {
                true => format!("&global_{name}"),
                false => "0".into(),
            };
            let literal = c::string(row.name.as_bytes());
            out.line(format!(
                "static const struct sr_component component_{name} = {{{literal}, sizeof(struct c_{name}), b_{name}, {last}, {global}}};"
            ));
        }
        self.write_functions(out);
        if let Some(main) = self.program.main {
            let main = self.names.component(main);
            out.line("#ifndef SR_DEFAULTS\n#define SR_DEFAULTS 0 /* settings, as in the environment variable ANTIPHON_SR */\n#endif");
            out.line(format!(
                "SR_PROGRAM(&component_{main}, SR_DEFAULTS, functions, (int32_t)(sizeof functions / sizeof *functions));"
            ));
        }
    }

    fn write_functions(&self, out: &mut Writer) {
        out.open("static const struct sr_function functions[] = {");
        for (number, row) in self.program.codes.iter().enumerate() {
            let code = CodeId(number as u32);
            let component = &self.program.components[row.component.index()].name;
            let own = self.names.component(row.component);
            let functions = match row.kind {
                CodeKind::Body => vec![format!("b_{own}")],
                CodeKind::Final => vec![format!("f_{own}")],
                CodeKind::Proc(operation) => {
                    let code_name = self.names.code(code);
                    let is_separate = self.facts.is_separate(code);
                    let plain = (!is_separate).then(|| format!("p_{code_name}"));
                    let entry = (is_separate || self.needs_object(operation))
                        .then(|| format!("x_{code_name}"));
                    plain.into_iter().chain(entry).collect()
                }
            };
            let at = self.location(row.span, "");
            let name = self.name_in_reports(&row.name, row.span);
            let literal = c::string(format!("{component}.{name}").as_bytes());
            for function in functions {
                out.line(format!("{{(const void *){function}, {literal}, {at}}},"));
            }
        }
        out.close("};");
    }
}
