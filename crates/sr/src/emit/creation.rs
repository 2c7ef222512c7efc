//! Instances: the start of their bodies, `create`, `destroy`, and declared processes.

use antiphon_lang::{Span, c::bare};

use super::function::Function;
use super::types::Class;
use crate::lower::Changes;
use crate::program::*;

impl Function<'_> {
    /// Writes what precedes a body's own code: globals and classes.
    pub(super) fn begin_instance(&mut self, component: &Component, id: ComponentId, span: Span) {
        let at = self.at(span);
        if self.unit.has_regions(id) {
            let name = self.unit.names.component(id);
            self.out.open("if (parameters) {");
            self.line(format!(
                "sr_int region = ((struct a_{name} *)parameters)->region;"
            ));
            self.out.open("if (region >= 0) {");
            self.line("sr_instance_region(instance, region);");
            self.line(format!("sr_region({at}, region);"));
            self.out.close("}");
            self.out.close("}");
        }
        for class in &component.classes {
            if matches!(
                self.unit.program.classes[class.index()].home,
                Home::Component
            ) {
                self.line(format!("sr_class_init(&self->k_{});", class.0));
            }
        }
    }

    /// Copies the parameters of `create` into the instance.
    pub(super) fn take_parameters(&mut self, component: &Component, name: &str, span: Span) {
        if component.parameters.is_empty() {
            return;
        }
        self.line(format!(
            "struct a_{name} *given = (struct a_{name} *)parameters;"
        ));
        for variable in component.parameters.clone() {
            let of = self.unit.program.variables[variable.index()].of;
            let field = format!("given->{}", self.unit.names.variable(variable));
            match self.unit.class(of) {
                Class::Plain => {
                    let storage = self.storage(variable);
                    self.line(format!("{storage} = {field};"));
                }
                Class::Text => {
                    let storage = self.storage(variable);
                    let at = self.at(span);
                    let place = match self.unit.element_type(of) {
                        Some(_) => format!("SR_STRING({storage})"),
                        None => {
                            self.line(format!(
                                "{storage} = sr_string_make({at}, &self->head, {field}.length);"
                            ));
                            storage
                        }
                    };
                    self.line(format!("sr_string_set({at}, {place}, {field});"));
                }
                Class::Array(_) => {
                    let from = self.view_of(&field, of, false);
                    let value = super::expressions::Value::Array(from.clone());
                    let resolved = self.resolve(of, None, Some(&value));
                    let to = self.make_variable(variable, false, &resolved, span);
                    self.copy_array(&to, &from, span);
                }
            }
        }
    }

    /// `create`.
    pub(super) fn create(
        &mut self,
        component: ComponentId,
        arguments: &[Expression],
        region: Option<&Expression>,
        machine: Option<&Expression>,
        span: Span,
    ) -> String {
        let at = self.at(span);
        let name = self.unit.names.component(component).to_string();
        let row = &self.unit.program.components[component.index()];
        if row.parameters.is_empty() && !self.unit.has_regions(component) {
            let made = match machine {
                None => format!("sr_create({at}, &component_{name}, 0, 0)"),
                Some(machine) => {
                    let machine = self.plain(machine);
                    let fields = self.unit.no_fields();
                    format!("sr_create_on({at}, &component_{name}, 0, 0, {fields}{machine})")
                }
            };
            return self.temp("sr_resource", &made);
        }
        let all = arguments.iter().chain(machine).collect::<Vec<_>>();
        let mut values = self.plains(&all);
        let machine = machine.and_then(|_| values.pop());
        let given = format!("t{}", self.number());
        self.line(format!("struct a_{name} {given};"));
        self.line(format!("memset(&{given}, 0, sizeof {given});"));
        for (variable, value) in row.parameters.iter().zip(values) {
            let field = self.unit.names.variable(*variable);
            self.line(format!("{given}.{field} = {};", bare(&value)));
        }
        if self.unit.has_regions(component) {
            let region = region.map_or_else(|| "-1".into(), |r| self.plain(r));
            self.line(format!("{given}.region = {};", bare(&region)));
        }
        let made = match machine {
            None => format!("sr_create({at}, &component_{name}, &{given}, sizeof {given})"),
            Some(machine) => {
                let fields = self.fields_of(component);
                format!(
                    "sr_create_on({at}, &component_{name}, &{given}, sizeof {given}, {fields}{})",
                    bare(&machine)
                )
            }
        };
        self.temp("sr_resource", &made)
    }

    /// Returns the texts and arrays among a resource's parameters, as two arguments of a remote
    /// creation.
    fn fields_of(&mut self, component: ComponentId) -> String {
        if !self.unit.has_machines {
            return String::new();
        }
        let name = self.unit.names.component(component);
        let row = &self.unit.program.components[component.index()];
        let fields = row.parameters.iter().filter_map(|variable| {
            let dimensions = match self
                .unit
                .class(self.unit.program.variables[variable.index()].of)
            {
                Class::Plain => return None,
                Class::Text => 0,
                Class::Array(dimensions) => dimensions,
            };
            let field = self.unit.names.variable(*variable);
            Some(format!(
                "{{offsetof(struct a_{name}, {field}), {dimensions}}}"
            ))
        });
        let fields = fields.collect::<Vec<_>>();
        match fields.len() {
            0 => self.unit.no_fields(),
            count => {
                let table = format!("t{}", self.number());
                self.line(format!(
                    "static const struct sr_field {table}[] = {{{}}};",
                    fields.join(", ")
                ));
                format!("{table}, {count}, ")
            }
        }
    }

    /// `create vm()`.
    pub(super) fn create_machine(&mut self, place: &[Expression], at: &str) -> String {
        let place = match place.first() {
            None => "0, sr_my_machine()".into(),
            Some(place) if self.unit.class(place.of) == Class::Plain => {
                let number = self.plain(place);
                format!("0, {}", bare(&number))
            }
            Some(place) => {
                let name = self.text_name(place);
                format!("1, 0, {name}")
            }
        };
        format!("sr_create_vm({at}, (struct sr_vm_place){{{place}}})")
    }

    /// `destroy`.
    pub(super) fn destroy(&mut self, e: &Expression, span: Span) {
        if matches!(self.unit.class(e.of), Class::Array(_)) {
            self.destroy_all(e, span);
            return;
        }
        let value = self.plain(e);
        let at = self.at(span);
        self.line(match self.types().get(e.of) {
            Type::Operation(_) => format!("sr_op_destroy({at}, {value});"),
            Type::Machine => format!("sr_destroy_vm({at}, {value});"),
            _ => format!("sr_destroy({at}, {value}{});", self.unit.instance_member()),
        });
    }

    /// Destroys all operations that an array has capabilities for.
    pub(super) fn destroy_all(&mut self, e: &Expression, span: Span) {
        let view = self.array(e);
        let view = match view.is_packed && !view.is_typed {
            true => view,
            false => self.array_kept(&view, span),
        };
        let at = self.at(span);
        let name = self.view_name(&view);
        let count = view.dims.len();
        let counter = format!("i{}", self.number());
        self.out.open(format!(
            "for (int64_t {counter} = 0; {counter} < sr_elements({count}, {name}.d); {counter}++)"
        ));
        self.line(format!(
            "sr_op_destroy({at}, ((sr_cap *){name}.data)[{counter}]);"
        ));
        self.out.outdent();
    }

    /// Starts declared processes.
    pub(super) fn start(
        &mut self,
        process: OperationId,
        quantifiers: &[Quantifier],
        region: Option<&Expression>,
        span: Span,
    ) {
        let at = self.at(span);
        let signature = self.unit.operation(process).signature;
        let c_type = self.unit.block_type(signature);
        let pointer = self.operation_pointer(process, &[], span);
        let changes = Changes::any();
        self.out.open("{");
        self.quantified(quantifiers, &changes, |f| {
            let q = f.temp(
                &format!("{c_type} *"),
                &format!("({c_type} *)sr_invocation_new({at}, sizeof({c_type}))"),
            );
            for (n, quantifier) in quantifiers.iter().enumerate() {
                let name = f.unit.names.variable(quantifier.variable).to_string();
                f.line(format!("{q}->a{} = {name};", n + 1));
            }
            if let Some(region) = region {
                let region = f.plain(region);
                f.line(format!(
                    "sr_invocation_region(&{q}->head, {});",
                    bare(&region)
                ));
            }
            f.line(format!("sr_send({at}, sr_cap_of({pointer}), &{q}->head);"));
        });
        self.out.close("}");
    }
}
