//! Operations as objects: where they are, and how they are made.

use antiphon_lang::Span;
use antiphon_lang::c::{self, bare};

use super::function::Function;
use super::jumps::Frame;
use super::loops::ordinal;
use super::unit::Unit;
use crate::program::*;

impl Unit<'_> {
    /// A row of the table.
    pub(super) fn operation(&self, operation: OperationId) -> &Operation {
        &self.program.operations[operation.index()]
    }

    /// Whether an operation is an object in C: all but those procs that are only ever called by name.
    pub(super) fn needs_object(&self, operation: OperationId) -> bool {
        let row = self.operation(operation);
        match row.service {
            Service::Proc(code) => {
                row.has_capability
                    || row.is_exported
                    || row.is_process
                    || self.facts.is_reified(operation)
                    || self.facts.is_separate(code)
            }
            Service::Input(_) | Service::Semaphore | Service::Nobody => true,
            Service::External => false,
        }
    }

    /// Whether it is a semaphore rather than an operation.
    pub(super) fn is_semaphore(&self, operation: OperationId) -> bool {
        self.operation(operation).service == Service::Semaphore
    }

    /// `"component.operation"`.
    fn operation_literal(&self, operation: OperationId) -> String {
        let row = self.operation(operation);
        let component = &self.program.components[row.component.index()].name;
        c::string(format!("{component}.{}", row.name).as_bytes())
    }
}

impl Function<'_> {
    /// A class: an expression of type `struct sr_class *`.
    pub(super) fn class_pointer(&self, class: ClassId) -> String {
        let row = &self.unit.program.classes[class.index()];
        match row.home {
            Home::Block(_) => format!("k_{}", class.0),
            _ => format!("&{}->k_{}", self.instance(row.component), class.0),
        }
    }

    /// The C lvalue of an operation or of its array's address.
    pub(super) fn operation_storage(&self, operation: OperationId) -> String {
        let name = self.unit.names.operation(operation);
        let row = self.unit.operation(operation);
        match row.home {
            Home::Component => format!("{}->{name}", self.instance(row.component)),
            _ => name.into(),
        }
    }

    /// An expression of type `struct sr_op *` or, for a semaphore, `struct sr_semaphore *`.
    pub(super) fn operation_pointer(
        &mut self,
        operation: OperationId,
        subscripts: &[Expression],
        span: Span,
    ) -> String {
        let storage = self.operation_storage(operation);
        let row = self.unit.operation(operation);
        if row.dimensions.is_empty() {
            return match (row.home, self.unit.is_semaphore(operation)) {
                (Home::Block(_), false) => storage,
                _ => format!("&{storage}"),
            };
        }
        let index = self.operation_index(operation, &storage, subscripts, span);
        format!("({storage} + {index})")
    }

    /// The place of an element in an array of operations, all subscripts given.
    pub(super) fn operation_index(
        &mut self,
        operation: OperationId,
        storage: &str,
        subscripts: &[Expression],
        span: Span,
    ) -> String {
        let all = subscripts.iter().collect::<Vec<_>>();
        let values = self.plains(&all);
        let at = self.at(span);
        let row = self.unit.operation(operation);
        let count = row.dimensions.len();
        let terms =
            values
                .iter()
                .zip(&row.dimensions)
                .enumerate()
                .map(|(n, (value, (low, high)))| {
                    let low = ordinal(low).unwrap_or_else(|| format!("{storage}_d[{n}].low"));
                    let high = ordinal(high).unwrap_or_else(|| format!("{storage}_d[{n}].high"));
                    // An operation that does not exist must never be reached: always checked.
                    let offset = format!("sr_offset({at}, {}, {low}, {high})", bare(value));
                    match n + 1 == count {
                        true => offset,
                        false => format!("{offset} * {storage}_d[{n}].stride"),
                    }
                });
        let terms = terms.collect::<Vec<_>>();
        match terms.len() {
            1 => terms.join(""),
            _ => format!("({})", terms.join(" + ")),
        }
    }

    /// Operations begin to live.
    pub(super) fn declare_operation(
        &mut self,
        operation: OperationId,
        value: Option<&Expression>,
        span: Span,
    ) {
        let row = self.unit.operation(operation);
        if !self.unit.needs_object(operation) || row.home == Home::External {
            return;
        }
        self.declare_class(row, span);
        if row.dimensions.is_empty() {
            self.declare_single(operation, value, span);
        } else {
            self.declare_operations(operation, value, span);
        }
    }

    /// A class that lives in a block begins to live with its first operation.
    fn declare_class(&mut self, row: &Operation, span: Span) {
        let Service::Input(class) = row.service else {
            return;
        };
        if !matches!(
            self.unit.program.classes[class.index()].home,
            Home::Block(_)
        ) {
            return;
        }
        let declared = self.frames.iter().any(|frame| match frame {
            Frame::Block(ends) => ends.contains(&format!("sr_class_free(k_{});", class.0)),
            _ => false,
        });
        if declared {
            return;
        }
        let at = self.at(span);
        self.line(format!(
            "struct sr_class *k_{} = sr_class_new({at});",
            class.0
        ));
        self.ends_with_block(format!("sr_class_free(k_{});", class.0));
    }

    fn ends_with_block(&mut self, line: String) {
        let blocks = self.frames.iter_mut().rev();
        for frame in blocks {
            if let Frame::Block(ends) = frame {
                ends.push(line);
                return;
            }
        }
    }

    fn declare_single(&mut self, operation: OperationId, value: Option<&Expression>, span: Span) {
        let storage = self.operation_storage(operation);
        let is_block = matches!(self.unit.operation(operation).home, Home::Block(_));
        if self.unit.is_semaphore(operation) {
            if is_block {
                self.line(format!("struct sr_semaphore {storage};"));
            }
            let value = value.map_or_else(|| "0".into(), |v| self.plain(v));
            self.init_semaphore(operation, &format!("&{storage}"), bare(&value), span);
            return;
        }
        let at = self.at(span);
        let pointer = match is_block {
            true => {
                self.line(format!("struct sr_op *{storage} = sr_ops_new({at}, 1);"));
                self.ends_with_block(format!("sr_ops_free({storage}, 1);"));
                storage
            }
            false => format!("&{storage}"),
        };
        self.init_operation(operation, &pointer);
        if !is_block {
            self.line(format!("sr_instance_ops(&self->head, {pointer}, 1);"));
        }
        if let Some(value) = value {
            let value = self.plain(value);
            let number = self.temp("sr_int", &value);
            self.line(format!("if ({number} < 0)"));
            self.line(format!(
                "    sr_abort({at}, \"negative initial value for a semaphore\");"
            ));
            self.first_sends(&pointer, &number, span);
        }
    }

    /// V so often on a semaphore that is an operation serviced by input statements.
    fn first_sends(&mut self, pointer: &str, number: &str, span: Span) {
        let at = self.at(span);
        let counter = format!("i{}", self.number());
        self.out.open(format!(
            "for (sr_int {counter} = 0; {counter} < {number}; {counter}++)"
        ));
        self.line(format!(
            "sr_send({at}, sr_cap_of({pointer}), sr_invocation_new({at}, sizeof(struct sr_invocation)));"
        ));
        self.out.outdent();
    }

    fn init_semaphore(&mut self, operation: OperationId, pointer: &str, value: &str, span: Span) {
        let at = self.at(span);
        let name = self.unit.operation_literal(operation);
        self.line(format!(
            "sr_semaphore_init({at}, {pointer}, {name}, {value});"
        ));
    }

    fn init_operation(&mut self, operation: OperationId, pointer: &str) {
        let name = self.unit.operation_literal(operation);
        match self.unit.operation(operation).service {
            Service::Proc(code) => {
                let separate = u8::from(self.unit.facts.is_separate(code));
                let code = self.unit.names.code(code);
                self.line(format!(
                    "sr_op_proc({pointer}, &self->head, {name}, x_{code}, {separate});"
                ));
            }
            Service::Input(class) => {
                let class = self.class_pointer(class);
                self.line(format!(
                    "sr_op_input({pointer}, &self->head, {name}, {class});"
                ));
            }
            _ => {}
        }
    }

    fn declare_operations(
        &mut self,
        operation: OperationId,
        value: Option<&Expression>,
        span: Span,
    ) {
        let at = self.at(span);
        let storage = self.operation_storage(operation);
        let row = self.unit.operation(operation);
        let is_block = matches!(row.home, Home::Block(_));
        let is_semaphore = self.unit.is_semaphore(operation);
        let mut bounds = Vec::new();
        for (low, high) in &row.dimensions {
            let values = self.plains(&[low, high]);
            bounds.push(format!("{{{}, {}, 0}}", bare(&values[0]), bare(&values[1])));
        }
        let dims = format!("t{}", self.number());
        let dimensions = bounds.len();
        self.line(format!(
            "struct sr_dimension {dims}[{dimensions}] = {{{}}};",
            bounds.join(", ")
        ));
        let count = self.temp(
            "int64_t",
            &format!("sr_array_layout({at}, {dims}, {dimensions}, 1)"),
        );
        if is_block {
            self.line(format!("struct sr_dimension {storage}_d[{dimensions}];"));
        }
        self.line(format!("memcpy({storage}_d, {dims}, sizeof {dims});"));
        let bytes = format!("{count} * (int64_t)sizeof(struct sr_semaphore)");
        let memory = match (is_semaphore, is_block) {
            (true, true) => format!("sr_allocate({at}, {bytes})"),
            (true, false) => format!("sr_instance_allocate({at}, &self->head, {bytes})"),
            (false, _) => format!("sr_ops_new({at}, {count})"),
        };
        let c_type = if is_semaphore {
            "struct sr_semaphore *"
        } else {
            "struct sr_op *"
        };
        self.allocates |= is_semaphore && is_block;
        let declaration = if is_block { c_type } else { "" };
        self.line(format!("{declaration}{storage} = {memory};"));
        if !is_semaphore && is_block {
            self.ends_with_block(format!("sr_ops_free({storage}, {count});"));
        }
        let firsts = value.map(|value| self.first_values(value, &dims));
        let counter = format!("i{}", self.number());
        self.out.open(format!(
            "for (int64_t {counter} = 0; {counter} < {count}; {counter}++) {{"
        ));
        let pointer = format!("&{storage}[{counter}]");
        let first = firsts.map(|(value, is_array)| match is_array {
            true => format!("((sr_int *){value}.data)[{counter}]"),
            false => value,
        });
        if is_semaphore {
            let first = first.unwrap_or_else(|| "0".into());
            self.init_semaphore(operation, &pointer, &first, span);
        } else {
            self.init_operation(operation, &pointer);
            if let Some(first) = first {
                self.first_sends(&pointer, &first, span);
            }
        }
        self.out.close("}");
        if !is_semaphore && !is_block {
            self.line(format!("sr_instance_ops(&self->head, {storage}, {count});"));
        }
    }

    /// First values of an array of semaphores: an array that lies side by side, or one for all.
    fn first_values(&mut self, value: &Expression, dims: &str) -> (String, bool) {
        if !matches!(self.types().get(value.of), Type::Array(..)) {
            let value = self.plain(value);
            return (self.temp("sr_int", &value), false);
        }
        let view = self.array(value);
        let kept = match view.is_packed && !view.is_typed {
            true => view,
            false => self.array_kept(&view, value.span),
        };
        let name = self.view_name(&kept);
        let at = self.at(value.span);
        for n in 0..kept.dims.len() {
            self.line(format!(
                "sr_check_sizes({at}, {dims}[{n}].low, {dims}[{n}].high, {name}.d[{n}].low, {name}.d[{n}].high);"
            ));
        }
        (name, true)
    }
}
