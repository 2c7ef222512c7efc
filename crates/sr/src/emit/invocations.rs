//! Invocations with blocks: calls through capabilities, sends, replies.

use antiphon_lang::Span;

use super::expressions::Value;
use super::function::{Answer, Function};
use crate::program::*;

impl Function<'_> {
    /// Returns a capability for a target: an expression of type `sr_cap`.
    pub(super) fn capability(&mut self, target: &Target, span: Span) -> String {
        match target {
            Target::Declared(operation, subscripts) => {
                let pointer = self.operation_pointer(*operation, subscripts, span);
                format!("sr_cap_of({pointer})")
            }
            Target::Of(resource, operation, _) if self.unit.slot(*operation).is_some() => {
                self.in_slot(resource, *operation)
            }
            Target::Of(resource, operation, subscripts) => {
                let resource = self.instance_of(resource);
                let row = self.unit.operation(*operation);
                if self.unit.facts.is_extended(row.component) {
                    self.unit.shared.borrow_mut().finders.insert(*operation);
                    let index = match row.dimensions.is_empty() {
                        true => "0".into(),
                        false => self.operation_index(*operation, "", subscripts, span),
                    };
                    return format!("find_{}({resource}, {index})", operation.0);
                }
                let component = self.unit.names.component(row.component).to_string();
                let name = self.unit.names.operation(*operation).to_string();
                let offset = format!("offsetof(struct c_{component}, {name})");
                match row.dimensions.is_empty() {
                    true => format!("sr_cap_in({resource}, {offset})"),
                    false => {
                        let at = self.at(span);
                        let resource = self.temp("sr_resource", &resource);
                        if self.unit.has_machines {
                            let count = row.dimensions.len();
                            return self.element_elsewhere(
                                &resource, &component, &name, count, *operation, subscripts, span,
                            );
                        }
                        let storage = format!(
                            "((struct c_{component} *)sr_instance_checked({at}, {resource}))->{name}"
                        );
                        let index = self.operation_index(*operation, &storage, subscripts, span);
                        format!("sr_cap_in_array({resource}, {offset}, {index})")
                    }
                }
            }
            Target::Value(capability) => self.plain(capability),
        }
    }

    /// Returns the capability of an element of an array of operations, for a resource on any
    /// machine.
    #[allow(clippy::too_many_arguments, reason = "they say which element")]
    fn element_elsewhere(
        &mut self,
        resource: &str,
        component: &str,
        name: &str,
        dimensions: usize,
        operation: OperationId,
        subscripts: &[Expression],
        span: Span,
    ) -> String {
        let at = self.at(span);
        let copy = format!("t{}", self.number());
        self.line(format!(
            "struct {{ struct sr_op *{name}; struct sr_dimension {name}_d[{dimensions}]; }} {copy};"
        ));
        self.line(format!(
            "sr_peek({at}, sr_instance_checked({at}, {resource}), {resource}.serial, {resource}.machine, offsetof(struct c_{component}, {name}), &{copy}, sizeof {copy});"
        ));
        let storage = format!("{copy}.{name}");
        let index = self.operation_index(operation, &storage, subscripts, span);
        let place = self.temp("struct sr_op *", &format!("{storage} + {index}"));
        format!("sr_cap_at({resource}, {place})")
    }

    /// `?op`.
    pub(super) fn pending(&mut self, target: &Target, span: Span) -> String {
        if let Target::Declared(operation, subscripts) = target
            && self.unit.is_semaphore(*operation)
        {
            let pointer = self.operation_pointer(*operation, subscripts, span);
            return format!("sr_semaphore_pending({pointer})");
        }
        let capability = self.capability(target, span);
        let at = self.at(span);
        format!("sr_pending({at}, {capability})")
    }

    /// Writes a call through an operation's object.
    pub(super) fn call_block(&mut self, invocation: &Invocation) -> Option<Value> {
        let at = self.at(invocation.span);
        let capability = self.capability(&invocation.target, invocation.span);
        let capability = self.temp("sr_cap", &capability);
        let (q, returns) = self.make_block(invocation, true);
        let c_type = self.unit.block_type(invocation.signature);
        self.line(format!(
            "{q} = ({c_type} *)sr_call({at}, {capability}, &{q}->head);"
        ));
        self.take_returns(&q, &returns, invocation.span);
        let value = self.take_result(&q, invocation.signature, invocation.span);
        self.line(format!("sr_invocation_free(&{q}->head);"));
        value
    }

    /// `send`.
    pub(super) fn send(&mut self, invocation: &Invocation) {
        let span = invocation.span;
        if let Target::Declared(operation, _) = &invocation.target {
            match self.unit.operation(*operation).service {
                Service::Semaphore => return self.v(&invocation.target, span),
                // A C function runs at once; there is no process that could run it later.
                Service::External => {
                    self.call(invocation);
                    return;
                }
                _ => {}
            }
        }
        let at = self.at(span);
        let capability = self.capability(&invocation.target, span);
        let capability = self.temp("sr_cap", &capability);
        let (q, _) = self.make_block(invocation, false);
        self.line(format!("sr_send({at}, {capability}, &{q}->head);"));
    }

    /// V.
    pub(super) fn v(&mut self, target: &Target, span: Span) {
        let at = self.at(span);
        if let Target::Declared(operation, subscripts) = target
            && self.unit.is_semaphore(*operation)
        {
            let pointer = self.operation_pointer(*operation, subscripts, span);
            self.line(format!("sr_v({at}, {pointer});"));
            return;
        }
        let capability = self.capability(target, span);
        self.line(format!(
            "sr_send({at}, {capability}, sr_invocation_new({at}, sizeof(struct sr_invocation)));"
        ));
    }

    /// `reply`.
    pub(super) fn reply(&mut self, span: Span) {
        let at = self.at(span);
        match self.answered() {
            Some((q, give_back)) => {
                self.write_lines(&give_back);
                self.line(format!("{q} = (void *)sr_reply({at}, &{q}->head);"));
            }
            // A P has no caller to reply to.
            None if self.is_in_arm() => {}
            None if self.answer == Answer::Creator => self.line(format!("sr_reply_body({at});")),
            None => {}
        }
    }

    /// `forward`.
    pub(super) fn forward(&mut self, invocation: &Invocation, span: Span) {
        let at = self.at(span);
        let capability = self.capability(&invocation.target, span);
        let capability = self.temp("sr_cap", &capability);
        let (next, _) = self.make_block(invocation, false);
        match self.answered() {
            Some((q, _)) => self.line(format!(
                "{q} = (void *)sr_forward({at}, &{q}->head, {capability}, &{next}->head);"
            )),
            None => self.line(format!("sr_send({at}, {capability}, &{next}->head);")),
        }
    }

    /// Writes lines that were composed before, at this depth.
    pub(super) fn write_lines(&mut self, lines: &str) {
        lines.lines().for_each(|line| self.line(line.trim_start()));
    }
}
