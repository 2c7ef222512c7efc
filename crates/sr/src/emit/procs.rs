//! Procs as C functions.

use antiphon_lang::c::{Writer, bare};

use super::function::{Answer, Function};
use super::parameters::Binding;
use super::types::{Class, pointer_to};
use super::unit::Unit;
use crate::program::*;

impl Unit<'_> {
    /// Returns the head of a proc that is called as a C function.
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

    /// Returns a parameter of a C function: `v_x` if it is its own variable, `w_x` if it is copied
    /// or is a reference.
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

    /// Whether a type is `string[*]`: then even a value is passed with its maximum.
    pub(super) fn is_open_text(&self, of: TypeId) -> bool {
        matches!(self.program.types.get(of), Type::Text(Extent::Any))
    }

    /// Writes the C functions of a body of code.
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
        prototypes.line(format!("SR_CODE {head};"));
        let row = &self.program.codes[code.index()];
        let declared = &self.program.signatures[signature.index()];
        let mut function = Function::new(self, code);
        // The caller's process runs the proc, and keeps its priority.
        let keeps_priority = self.facts.sets_priority(code) && !self.is_process(code);
        if keeps_priority {
            function.line("sr_int priority = sr_priority();");
        }
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
        if keeps_priority {
            let at = self.at(row.span);
            function.line(format!("sr_restore_priority({at}, priority);"));
        }
        if let (Some(result), Some(variable)) = (&declared.result, row.result) {
            let value = function.variable_value(variable, result.of);
            function.line(format!("return {};", bare(&value)));
        }
        out.open(format!("{head} {{"));
        out.append(&function.out.finish());
        out.close("}");
        out.line("");
    }

    /// Whether code is that of a `process`, which is not called.
    fn is_process(&self, code: CodeId) -> bool {
        match self.program.codes[code.index()].kind {
            CodeKind::Proc(operation) => self.operation(operation).is_process,
            CodeKind::Body | CodeKind::Final => false,
        }
    }

    /// Writes the function through which the run-time runs a proc that is otherwise called as a C
    /// function.
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
        prototypes.line(format!("SR_CODE {head};"));
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

    /// Returns the head of the function through which the run-time runs a proc.
    fn entry_head(&self, code: CodeId) -> String {
        format!(
            "static struct sr_invocation *x_{}(struct sr_instance *instance, struct sr_invocation *head)",
            self.names.code(code)
        )
    }

    /// Writes a proc that replies or forwards, and so works on the invocation itself.
    fn write_separate(
        &self,
        code: CodeId,
        signature: SignatureId,
        prototypes: &mut Writer,
        out: &mut Writer,
    ) {
        let head = self.entry_head(code);
        prototypes.line(format!("SR_CODE {head};"));
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

/// Returns `w_x` for `v_x`.
pub(super) fn outside(name: &str) -> String {
    format!("w{}", name.strip_prefix('v').unwrap_or(name))
}

impl Function<'_> {
    /// Writes the label that `return` jumps to.
    pub(super) fn end_of_code(&mut self) {
        if self.leaves {
            self.out.label("leave");
        }
    }
}
