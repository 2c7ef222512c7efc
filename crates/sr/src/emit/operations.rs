//! Operations as objects: their storage and their creation.

use antiphon_lang::Span;
use antiphon_lang::c::{self, bare};

use super::function::Function;
use super::jumps::Frame;
use super::loops::ordinal;
use super::types::Class;
use super::unit::Unit;
use crate::notation::reports;
use crate::program::*;

impl Unit<'_> {
    /// Returns a row of the table.
    pub(super) fn operation(&self, operation: OperationId) -> &Operation {
        &self.program.operations[operation.index()]
    }

    /// Whether an operation is an object in C: all except procs that are only called by name.
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

    /// Whether an operation is implemented as a semaphore.
    pub(super) fn is_semaphore(&self, operation: OperationId) -> bool {
        self.operation(operation).service == Service::Semaphore
    }

    /// Returns `"component.operation"`, with brackets for the index of an array's element. For a
    /// semaphore of another notation, returns what it stands for.
    fn operation_literal(&self, operation: OperationId) -> String {
        let row = self.operation(operation);
        let component = &self.program.components[row.component.index()].name;
        let words = match self.is_helper(row.span) {
            true => reports::semaphore(&row.name, component),
            false => None,
        };
        let mut name = words.unwrap_or_else(|| {
            let name = self.name_in_reports(&row.name, row.span);
            format!("{component}.{name}")
        });
        if !name.is_empty() {
            name += match row.dimensions.len() {
                1 => "[]",
                2 => "[,]",
                _ => "",
            };
        }
        c::string(name.as_bytes())
    }

    /// Returns the name of an operation or of code as it was written. A process in the notation of
    /// CSP has a longer name in SR.
    pub(super) fn name_in_reports<'n>(&self, name: &'n str, span: Span) -> &'n str {
        let is_made = self.sources.file(span.file).is_generated();
        let written = name.strip_prefix("csp_").filter(|_| is_made);
        written.unwrap_or(name)
    }

    /// Whether reports name the process that has passed this semaphore.
    pub(super) fn has_holder(&self, operation: OperationId) -> bool {
        let row = self.operation(operation);
        let component = &self.program.components[row.component.index()];
        self.is_helper(row.span) && {
            let mut all = component.operations.iter().map(|o| self.operation(*o));
            let has_signal_all = all.any(|o| o.name == "m_signal_all");
            reports::has_holder(&row.name, has_signal_all)
        }
    }
}

impl Function<'_> {
    /// Returns a class: an expression of type `struct sr_class *`.
    pub(super) fn class_pointer(&self, class: ClassId) -> String {
        let row = &self.unit.program.classes[class.index()];
        match row.home {
            Home::Block(_) => format!("k_{}", class.0),
            _ => format!("&{}->k_{}", self.instance(row.component), class.0),
        }
    }

    /// Returns the C lvalue of an operation or of its array's address.
    pub(super) fn operation_storage(&self, operation: OperationId) -> String {
        let name = self.unit.names.operation(operation);
        let row = self.unit.operation(operation);
        match row.home {
            Home::Component => format!("{}->{name}", self.instance(row.component)),
            _ => name.into(),
        }
    }

    /// Returns an expression of type `struct sr_op *` or, for a semaphore, `struct sr_semaphore *`.
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

    /// Returns the index of an element in an array of operations, given all subscripts.
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
                    // Always checked, because an operation that does not exist must not be used.
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

    /// Declares operations.
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
        if !self.unit.facts.has_queues(operation, self.unit.program) {
            self.declare_class(row, span);
        }
        if row.dimensions.is_empty() {
            self.declare_single(operation, value, span);
        } else {
            self.declare_operations(operation, value, span);
        }
    }

    /// Begins a class that lives in a block, with its first operation.
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
        self.init_operation(operation, &pointer, None);
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

    /// Writes the first Vs on a semaphore that input statements service.
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

    /// Begins an operation; `queue` is the class of an element that has its own.
    fn init_operation(&mut self, operation: OperationId, pointer: &str, queue: Option<String>) {
        let name = self.unit.operation_literal(operation);
        match self.unit.operation(operation).service {
            Service::Proc(code) => {
                let separate = u8::from(self.unit.facts.is_separate(code));
                let code = self.unit.names.code(code);
                self.line(format!(
                    "sr_op_proc({pointer}, &self->head, {name}, x_{code}, {separate});"
                ));
                self.note_quantifiers(operation, pointer);
            }
            Service::Input(class) => {
                let class = queue.unwrap_or_else(|| self.class_pointer(class));
                self.line(format!(
                    "sr_op_input({pointer}, &self->head, {name}, {class});"
                ));
            }
            _ => {}
        }
    }

    /// Records where an invocation of a `process` has the values of its quantifiers.
    fn note_quantifiers(&mut self, operation: OperationId, pointer: &str) {
        let row = self.unit.operation(operation);
        let signature = &self.unit.program.signatures[row.signature.index()];
        let mut types = signature.parameters.iter().map(|p| p.of);
        let are_integers = types
            .all(|of| self.unit.class(of) == Class::Plain && self.unit.plain_type(of) == "sr_int");
        let count = signature.parameters.len();
        if row.is_process && are_integers && (1..=4).contains(&count) {
            let block = self.unit.block_type(row.signature);
            self.line(format!(
                "sr_op_quantifiers({pointer}, offsetof({block}, a1), {count});"
            ));
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
        let queues = self.unit.facts.has_queues(operation, self.unit.program);
        let queues = queues.then(|| self.make_queues(is_block, &count, span));
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
            let queue = queues.map(|queues| format!("&{queues}[{counter}]"));
            if let Some(queue) = &queue {
                self.line(format!("sr_class_init({queue});"));
            }
            self.init_operation(operation, &pointer, queue);
            if let Some(first) = first {
                self.first_sends(&pointer, &first, span);
            }
        }
        if dimensions <= 2 {
            self.line(format!(
                "{storage}[{counter}].index = sr_index_of({dims}, {dimensions}, {counter});"
            ));
        }
        self.out.close("}");
        if !is_semaphore && !is_block {
            self.line(format!("sr_instance_ops(&self->head, {storage}, {count});"));
        }
    }

    /// Allocates the queues of an array of operations.
    fn make_queues(&mut self, is_block: bool, count: &str, span: Span) -> String {
        let at = self.at(span);
        let bytes = format!("{count} * (int64_t)sizeof(struct sr_class)");
        self.allocates |= is_block;
        let memory = match is_block {
            true => format!("sr_allocate({at}, {bytes})"),
            false => format!("sr_instance_allocate({at}, &self->head, {bytes})"),
        };
        self.temp("struct sr_class *", &memory)
    }

    /// Returns the first values of an array of semaphores: a dense array, or one value for all.
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
