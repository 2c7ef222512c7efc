//! Procs as C functions, and their parameters.

use std::collections::HashSet;

use super::declarations::zero;
use super::expressions::Value;
use super::function::{Access, Answer, Function};
use super::loops::Uses;
use super::names::instance_of;
use super::places::Place;
use super::types::{Class, pointer_to};
use super::unit::Unit;
use super::writer::Writer;
use crate::program::*;
use crate::source::Span;

/// How long what a parameter's name stands for must last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// While a condition is evaluated: the invocation's own memory will do.
    Peek,
    /// While code runs that may change it, but not let the invocation go.
    Keep,
    /// While code runs that may let the invocation go: arrays are copied, too.
    Copy,
}

impl Unit<'_> {
    /// The head of a proc that is called as a C function.
    pub(super) fn proc_head(&self, code: CodeId, signature: SignatureId) -> String {
        let row = &self.program.codes[code.index()];
        let signature = &self.program.signatures[signature.index()];
        let component = self.names.component(row.component);
        let mut parameters = vec![format!("struct c_{component} *self")];
        for (parameter, variable) in signature.parameters.iter().zip(&row.parameters) {
            let name = self.names.variable(*variable);
            parameters.push(self.c_parameter(parameter, name));
        }
        let result = match &signature.result {
            Some(result) => self.value_type(result.of),
            None => "void".into(),
        };
        let name = format!("p_{}", self.names.code(code));
        format!(
            "static {}({})",
            self.declare(&result, &name),
            parameters.join(", ")
        )
    }

    /// A parameter of a C function: `v_x` if it is its own variable, `w_x` if it is copied or refers to one.
    fn c_parameter(&self, parameter: &Parameter, name: &str) -> String {
        let outside = outside(name);
        let is_value = parameter.passing == Passing::Value;
        match self.class(parameter.of) {
            Class::Plain if is_value => self.declare(&self.plain_type(parameter.of), name),
            Class::Plain => self.declare(&pointer_to(&self.plain_type(parameter.of)), &outside),
            Class::Text if is_value && !self.is_open_text(parameter.of) => {
                format!("sr_text {outside}")
            }
            _ => self.declare(&self.place_type(parameter.of), &outside),
        }
    }

    /// Whether it is `string[*]`: then even a value comes with its maximum.
    pub(super) fn is_open_text(&self, of: TypeId) -> bool {
        matches!(self.program.types.get(of), Type::Text(Extent::Any))
    }

    /// Writes the C functions of a code.
    pub(super) fn write_code(&self, code: CodeId, prototypes: &mut Writer, out: &mut Writer) {
        match self.program.codes[code.index()].kind {
            CodeKind::Body => self.write_body(code, prototypes, out),
            CodeKind::Final => self.write_final(code, prototypes, out),
            CodeKind::Proc(operation) => {
                let signature = self.program.operations[operation.index()].signature;
                if self.facts.is_separate(code) {
                    self.write_separate(code, signature, prototypes, out);
                } else {
                    self.write_plain(code, signature, prototypes, out);
                    self.write_entry(code, signature, prototypes, out);
                }
            }
        }
    }

    fn write_plain(
        &self,
        code: CodeId,
        signature: SignatureId,
        prototypes: &mut Writer,
        out: &mut Writer,
    ) {
        let head = self.proc_head(code, signature);
        prototypes.line(format!("{head};"));
        let row = &self.program.codes[code.index()];
        let declared = &self.program.signatures[signature.index()];
        let mut function = Function::new(self, code);
        function.hoist_all(&row.block);
        function.declare_result(declared, row.result, row.span);
        function.with_mark(|f| {
            let mut give_back = String::new();
            for (parameter, variable) in declared.parameters.iter().zip(&row.parameters) {
                let (lines, ()) = f.bind_c_parameter(*variable, parameter, row.span);
                give_back.push_str(&lines);
            }
            f.block(&row.block);
            f.end_of_code();
            f.out.append(&give_back);
        });
        if let (Some(result), Some(variable)) = (&declared.result, row.result) {
            let value = function.variable_value(variable, result.of);
            function.line(format!("return {};", super::function::bare(&value)));
        }
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }

    /// The function by which the run-time runs a proc that is called as a C function otherwise.
    fn write_entry(
        &self,
        code: CodeId,
        signature: SignatureId,
        prototypes: &mut Writer,
        out: &mut Writer,
    ) {
        let row = &self.program.codes[code.index()];
        let CodeKind::Proc(operation) = row.kind else {
            return;
        };
        if !self.needs_object(operation) {
            return;
        }
        let head = self.entry_head(code);
        prototypes.line(format!("{head};"));
        let declared = &self.program.signatures[signature.index()];
        let mut function = Function::new(self, code);
        let block = self.block_type(signature);
        let component = self.names.component(row.component);
        if !declared.parameters.is_empty() || declared.result.is_some() {
            function.line(format!("{block} *q = ({block} *)head;"));
        }
        let mut arguments = vec![format!("(struct c_{component} *)instance")];
        for (n, parameter) in declared.parameters.iter().enumerate() {
            let field = format!("q->a{}", n + 1);
            arguments.push(match (self.class(parameter.of), parameter.passing) {
                (Class::Plain, Passing::Var | Passing::Result) => format!("&{field}"),
                (Class::Text, Passing::Value) if !self.is_open_text(parameter.of) => {
                    format!("sr_string_value({field})")
                }
                _ => field,
            });
        }
        let call = format!("p_{}({})", self.names.code(code), arguments.join(", "));
        match &declared.result {
            None => function.line(format!("{call};")),
            Some(result) => function.give_result(result.of, &call, row.span),
        }
        function.line("return head;");
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }

    /// The head of the function by which the run-time runs a proc.
    fn entry_head(&self, code: CodeId) -> String {
        format!(
            "static struct sr_invocation *x_{}(struct sr_instance *instance, struct sr_invocation *head)",
            self.names.code(code)
        )
    }

    /// A proc that replies or forwards: it works on the invocation itself.
    fn write_separate(
        &self,
        code: CodeId,
        signature: SignatureId,
        prototypes: &mut Writer,
        out: &mut Writer,
    ) {
        let head = self.entry_head(code);
        prototypes.line(format!("{head};"));
        let row = &self.program.codes[code.index()];
        let declared = &self.program.signatures[signature.index()];
        let mut function = Function::new(self, code);
        function.answer = Answer::Invocation;
        let block = self.block_type(signature);
        let component = self.names.component(row.component);
        function.line(format!(
            "struct c_{component} *self = (struct c_{component} *)instance;"
        ));
        function.line(format!("{block} *q = ({block} *)head;"));
        function.hoist_all(&row.block);
        function.bind_all(
            declared,
            &row.parameters,
            row.result,
            "q",
            Binding::Copy,
            row.span,
        );
        function.block(&row.block);
        function.end_of_code();
        let give_back = function.give_back.clone();
        function.out.append(&give_back);
        function.line("return &q->head;");
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }
}

/// `w_x` for `v_x`.
fn outside(name: &str) -> String {
    format!("w{}", name.strip_prefix('v').unwrap_or(name))
}

/// Collects the globals that code imports.
#[derive(Default)]
struct Imported(HashSet<ComponentId>);

impl Visitor for Imported {
    fn statement(&mut self, statement: &Statement) {
        if let StatementKind::Import(global) = statement.kind {
            self.0.insert(global);
        }
    }
}

impl Function<'_> {
    /// The label that `return` jumps to.
    pub(super) fn end_of_code(&mut self) {
        if self.leaves {
            self.out.label("leave");
        }
    }

    /// Copies the descriptions of instances' arrays that a block uses to C variables. In a body, where they may not exist yet, that is done where they begin to.
    pub(super) fn hoist_all(&mut self, block: &Block) {
        if self.unit.program.codes[self.code.index()].kind == CodeKind::Body {
            return;
        }
        let mut imported = Imported::default();
        walk_block(block, &mut imported);
        for variable in self.used_in(block) {
            let component = instance_of(self.unit.program, variable);
            // Those of a global that is imported further down are copied there.
            if component.is_some_and(|component| !imported.0.contains(&component)) {
                self.hoist(variable);
            }
        }
    }

    /// The same for those of a global that is there from now on.
    pub(super) fn hoist_of(&mut self, global: ComponentId) {
        let is_outermost = self.frames.len() == 1;
        let code = &self.unit.program.codes[self.code.index()];
        for variable in self.used_in(&code.block) {
            let is_of = instance_of(self.unit.program, variable) == Some(global);
            if is_of && is_outermost && !self.access.contains_key(&variable) {
                self.hoist(variable);
            }
        }
    }

    fn used_in(&self, block: &Block) -> Vec<VariableId> {
        let mut used = Uses::of(block).into_iter().collect::<Vec<_>>();
        used.sort_unstable();
        used
    }

    /// Declares a proc's result, in memory that outlives the function's own.
    fn declare_result(&mut self, signature: &Signature, result: Option<VariableId>, span: Span) {
        let (Some(result), Some(parameter)) = (result, &signature.result) else {
            return;
        };
        let name = self.unit.names.variable(result).to_string();
        match self.unit.class(parameter.of) {
            Class::Plain => {
                let c_type = self.unit.plain_type(parameter.of);
                let declaration = self.unit.declare(&c_type, &name);
                self.line(format!("{declaration} = {};", zero(&c_type)));
            }
            Class::Text => {
                let resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                let at = self.at(span);
                self.line(format!(
                    "sr_string {name} = sr_string_make({at}, 0, {});",
                    resolved.most
                ));
                self.access.insert(result, Access::String(name));
            }
            Class::Array(_) => {
                let resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                let (_, element) = self.types().flat(parameter.of);
                let view = self.new_array(&resolved.bounds, element, &resolved.most, span);
                self.access.insert(result, Access::View(view));
            }
        }
        self.allocates = false;
    }

    /// The value of a variable.
    pub(super) fn variable_value(&mut self, variable: VariableId, of: TypeId) -> String {
        match (self.access_of(variable), self.unit.class(of)) {
            (Access::Place(lvalue), Class::Text) => format!("SR_STRING_VALUE({lvalue})"),
            (Access::Place(lvalue), _) => lvalue,
            (Access::String(string), _) => self.string_value(&string),
            (Access::View(view), _) => self.view_value(&view),
        }
    }

    /// Binds a parameter of a C function; gives what copies it back.
    fn bind_c_parameter(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        span: Span,
    ) -> (String, ()) {
        let name = self.unit.names.variable(variable).to_string();
        let outside = outside(&name);
        let is_value = parameter.passing == Passing::Value;
        let source = match self.unit.class(parameter.of) {
            Class::Plain if is_value => return (String::new(), ()),
            Class::Plain => format!("(*{outside})"),
            _ => outside,
        };
        (
            self.bind(variable, parameter, &source, Binding::Copy, span),
            (),
        )
    }

    /// Binds all parameters and the result of an invocation in the C variable `q`; what gives them back is kept.
    pub(super) fn bind_all(
        &mut self,
        signature: &Signature,
        parameters: &[VariableId],
        result: Option<VariableId>,
        q: &str,
        binding: Binding,
        span: Span,
    ) {
        let mut give_back = String::new();
        for (n, (parameter, variable)) in signature.parameters.iter().zip(parameters).enumerate() {
            let field = format!("{q}->a{}", n + 1);
            let is_plain = self.unit.class(parameter.of) == Class::Plain;
            let source = match parameter.passing {
                Passing::Reference if is_plain => format!("(*{field})"),
                Passing::Value
                    if self.unit.class(parameter.of) == Class::Text
                        && !self.unit.is_open_text(parameter.of) =>
                {
                    format!("sr_string_value({field})")
                }
                _ => field,
            };
            give_back.push_str(&self.bind(*variable, parameter, &source, binding, span));
        }
        if let (Some(declared), Some(variable)) = (&signature.result, result)
            && binding != Binding::Peek
        {
            give_back.push_str(&self.bind_result(variable, declared, q, span));
        }
        self.give_back = give_back;
    }

    fn bind_result(
        &mut self,
        variable: VariableId,
        declared: &Parameter,
        q: &str,
        span: Span,
    ) -> String {
        let allocates = self.allocates;
        let name = self.unit.names.variable(variable).to_string();
        match self.unit.class(declared.of) {
            Class::Plain => {
                let c_type = self.unit.plain_type(declared.of);
                let declaration = self.unit.declare(&c_type, &name);
                self.line(format!("{declaration} = {};", zero(&c_type)));
            }
            _ => self.declare_result(
                &Signature {
                    parameters: Vec::new(),
                    result: Some(declared.clone()),
                    restriction: Restriction::None,
                },
                Some(variable),
                span,
            ),
        }
        self.allocates = allocates || self.unit.class(declared.of) != Class::Plain;
        let (lines, ()) = self.aside(|f| {
            let value = f.variable_value(variable, declared.of);
            f.give_result_to(q, declared.of, &value, span);
        });
        match self.unit.class(declared.of) {
            Class::Array(_) => self.bracketed(&lines),
            _ => lines,
        }
    }

    /// Stores a call's value in the block as its result.
    fn give_result(&mut self, of: TypeId, call: &str, span: Span) {
        match self.unit.class(of) {
            Class::Plain => self.line(format!("q->result = {call};")),
            _ => {
                let value = self.temp(&self.unit.value_type(of), call);
                self.give_result_to("q", of, &value, span);
            }
        }
    }

    /// Stores a result; strings and arrays get memory that the caller frees.
    fn give_result_to(&mut self, q: &str, of: TypeId, value: &str, span: Span) {
        let at = self.at(span);
        match self.unit.class(of) {
            Class::Plain => self.line(format!("{q}->result = {value};")),
            Class::Text => self.line(format!("{q}->result = sr_result_text({at}, {value});")),
            Class::Array(dimensions) => {
                let whole = match value.starts_with('(') {
                    true => self.temp(&format!("struct sr_array{dimensions}"), value),
                    false => value.to_string(),
                };
                let view = self.view_of(&whole, of, false);
                let bytes = self.packed_bytes(&view);
                if self.unit.element_type(view.element).is_none() {
                    self.line(format!("{q}->result.most = {};", view.most));
                }
                self.line(format!(
                    "{q}->result.data = sr_result_array({at}, {dimensions}, {bytes}, {q}->result.d, {whole}.data, {whole}.d);"
                ));
            }
        }
    }

    /// Bytes of an element of an array that is known to be a whole one.
    pub(super) fn packed_bytes(&self, view: &super::views::View) -> String {
        match self.unit.element_type(view.element) {
            Some(c_type) => format!("sizeof({c_type})"),
            None => view.dims.last().map_or("1".into(), |d| d.stride.clone()),
        }
    }

    /// Binds one parameter to a C expression: the value where it is passed by value, else the place. Gives what copies it back.
    fn bind(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        match self.unit.class(parameter.of) {
            Class::Plain => self.bind_plain(variable, parameter, source),
            Class::Text => self.bind_text(variable, parameter, source, binding, span),
            Class::Array(_) => {
                let lines = self.bind_array(variable, parameter, source, binding, span);
                self.bracketed(&lines)
            }
        }
    }

    /// Lines that may be written several times although they declare temporaries.
    fn bracketed(&mut self, lines: &str) -> String {
        if lines.is_empty() {
            return String::new();
        }
        self.aside(|f| {
            f.out.open("{");
            f.write_lines(lines);
            f.out.close("}");
        })
        .0
    }

    fn bind_plain(&mut self, variable: VariableId, parameter: &Parameter, source: &str) -> String {
        let name = self.unit.names.variable(variable).to_string();
        let c_type = self.unit.plain_type(parameter.of);
        let declaration = self.unit.declare(&c_type, &name);
        match parameter.passing {
            Passing::Reference => {
                self.access.insert(variable, Access::Place(source.into()));
                return String::new();
            }
            Passing::Value => {
                self.line(format!("{declaration} = {source};"));
                return String::new();
            }
            Passing::Var => self.line(format!("{declaration} = {source};")),
            Passing::Result => self.line(format!("{declaration} = {};", zero(&c_type))),
        }
        self.aside(|f| f.line(format!("{source} = {name};"))).0
    }

    fn bind_text(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        let name = self.unit.names.variable(variable).to_string();
        let is_value = parameter.passing == Passing::Value;
        if parameter.passing == Passing::Reference || (binding == Binding::Peek && !is_value) {
            self.access.insert(variable, Access::String(source.into()));
            return String::new();
        }
        if binding == Binding::Peek && self.unit.is_open_text(parameter.of) {
            self.access.insert(variable, Access::String(source.into()));
            return String::new();
        }
        if binding == Binding::Peek {
            let text = self.temp("sr_text", source);
            let string = self.string_around(&text);
            self.access.insert(variable, Access::String(string));
            return String::new();
        }
        let is_open = self.unit.is_open_text(parameter.of);
        let text = match is_value && !is_open {
            true => source.to_string(),
            false => self.string_value(source),
        };
        let at = self.at(span);
        let place = match self.unit.element_type(parameter.of) {
            Some(c_type) => {
                self.line(format!("{c_type} {name};"));
                self.line(format!("{name}.length = 0;"));
                self.access.insert(variable, Access::Place(name.clone()));
                format!("SR_STRING({name})")
            }
            None => {
                let mut resolved = self.resolve(parameter.of, parameter.shape.as_ref(), None);
                if is_open {
                    resolved.most = format!("{source}.maximum");
                }
                self.allocates = true;
                self.line(format!(
                    "sr_string {name} = sr_string_make({at}, 0, {});",
                    resolved.most
                ));
                self.access.insert(variable, Access::String(name.clone()));
                name
            }
        };
        if parameter.passing != Passing::Result {
            self.line(format!("sr_string_set({at}, {place}, {text});"));
        }
        if is_value {
            return String::new();
        }
        let value = self.string_value(&place);
        self.aside(|f| f.line(format!("sr_string_set({at}, {source}, {value});")))
            .0
    }

    fn bind_array(
        &mut self,
        variable: VariableId,
        parameter: &Parameter,
        source: &str,
        binding: Binding,
        span: Span,
    ) -> String {
        let outer = self.view_of(source, parameter.of, false);
        if parameter.passing == Passing::Reference {
            // It is the argument itself, with the argument's bounds.
            self.access.insert(variable, Access::View(outer));
            return String::new();
        }
        let resolved = self.resolve(
            parameter.of,
            parameter.shape.as_ref(),
            Some(&Value::Array(outer.clone())),
        );
        let is_alias = binding != Binding::Copy;
        let name = self.unit.names.variable(variable).to_string();
        if is_alias {
            let dims = resolved
                .bounds
                .iter()
                .enumerate()
                .map(|(n, (low, high))| format!("{{{low}, {high}, {source}.d[{n}].stride}}"));
            let dims = dims.collect::<Vec<_>>().join(", ");
            let count = resolved.bounds.len();
            if parameter.shape.is_some() && binding != Binding::Peek {
                let at = self.at(span);
                for (n, (low, high)) in resolved.bounds.iter().enumerate() {
                    self.line(format!(
                        "sr_check_sizes({at}, {low}, {high}, {source}.d[{n}].low, {source}.d[{n}].high);"
                    ));
                }
            }
            self.line(format!(
                "const struct sr_array{count} {name} = {{{source}.data, {{{dims}}}, {source}.most}};"
            ));
            let view = self.view_of(&name, parameter.of, false);
            self.access.insert(variable, Access::View(view));
            return String::new();
        }
        let view = self.make_parameter(&name, parameter.of, &resolved, span);
        self.access.insert(variable, Access::View(view.clone()));
        if parameter.passing != Passing::Result {
            self.copy_array(&view, &outer, span);
        }
        if parameter.passing == Passing::Value {
            return String::new();
        }
        self.aside(|f| f.copy_array(&outer, &view, span)).0
    }

    /// A new array for a parameter.
    fn make_parameter(
        &mut self,
        name: &str,
        of: TypeId,
        resolved: &super::declarations::Resolved,
        span: Span,
    ) -> super::views::View {
        let (_, element) = self.types().flat(of);
        let made = self.new_array(&resolved.bounds, element, &resolved.most, span);
        let whole = self.view_value(&made);
        let count = resolved.bounds.len();
        self.line(format!("const struct sr_array{count} {name} = {whole};"));
        self.view_of(name, of, true)
    }

    /// Stores a value of a C expression in a place of a type.
    pub(super) fn store_from(&mut self, place: &Place, of: TypeId, source: &str, span: Span) {
        let value = match self.unit.class(of) {
            Class::Plain => Value::Plain(source.into()),
            Class::Text => Value::Text(source.into()),
            Class::Array(_) => Value::Array(self.view_of(source, of, false)),
        };
        self.store(place, &value, span);
    }
}
