//! The co statement.

use antiphon_lang::{Span, c::bare};

use super::expressions::Value;
use super::function::Function;
use super::jumps::Frame;
use super::places::Place;
use super::types::Class;
use crate::lower::Changes;
use crate::program::*;

impl Function<'_> {
    /// `co … oc`.
    pub(super) fn concurrent(&mut self, arms: &[ConcurrentArm], span: Span) {
        let at = self.at(span);
        let number = self.number();
        let co = format!("co_{number}");
        self.out.open("{");
        self.line(format!("struct sr_co *{co} = sr_co_begin({at});"));
        self.declare_tuples(arms, number);
        for (n, arm) in arms.iter().enumerate() {
            self.start_arm(arm, n + 1, number);
        }
        self.frames.push(Frame::Loop {
            number,
            exits: false,
            nexts: false,
            leave: vec![format!("sr_co_end({co});")],
        });
        let head = format!("i{number}");
        self.line(format!("struct sr_invocation *{head};"));
        self.out
            .open(format!("while (({head} = sr_co_wait({at}, {co}))) {{"));
        self.with_mark(|f| {
            f.complete(arms, number);
            if let Some(Frame::Loop { nexts: true, .. }) = f.frames.last() {
                f.out.label(&format!("next_{number}"));
            }
            // This is also correct after `next`: the block's results have been copied by then.
            f.line(format!("sr_invocation_free({head});"));
        });
        self.out.close("}");
        if let Some(Frame::Loop { exits: true, .. }) = self.frames.pop() {
            self.out.label(&format!("exit_{number}"));
        }
        self.line(format!("sr_co_end({co});"));
        self.out.close("}");
    }

    /// Declares variables for each invocation's arm number and the values of the arm's quantifiers.
    fn declare_tuples(&mut self, arms: &[ConcurrentArm], number: usize) {
        self.out.open(format!("struct started_{number} {{"));
        self.line("int arm;");
        for quantifier in arms.iter().flat_map(|arm| &arm.quantifiers) {
            let name = self.unit.names.variable(quantifier.variable).to_string();
            let of = self.unit.program.variables[quantifier.variable.index()].of;
            self.line(format!("{} {name};", self.unit.plain_type(of)));
        }
        self.out.close(format!("}} *started_{number} = 0;"));
        self.line(format!("int32_t count_{number} = 0, room_{number} = 0;"));
        self.allocates = true;
    }

    fn start_arm(&mut self, arm: &ConcurrentArm, n: usize, number: usize) {
        let changes = Changes::any();
        self.out.open("{");
        self.quantified(&arm.quantifiers, &changes, |f| {
            f.start_one(arm, n, number);
        });
        self.out.close("}");
    }

    fn start_one(&mut self, arm: &ConcurrentArm, n: usize, number: usize) {
        let at = self.at(arm.span);
        let co = format!("co_{number}");
        let target = &arm.invocation.target;
        let at_once = match target {
            Target::Declared(operation, _) => matches!(
                self.unit.operation(*operation).service,
                Service::Semaphore | Service::External
            ),
            _ => false,
        };
        let capability = match at_once {
            true => None,
            false => {
                let capability = self.capability(target, arm.span);
                Some(self.temp("sr_cap", &capability))
            }
        };
        let q = match at_once {
            true => {
                self.send(&arm.invocation);
                None
            }
            false => Some(self.make_block(&arm.invocation, false).0),
        };
        let entry = format!("started_{number}[count_{number}]");
        self.line(format!(
            "started_{number} = sr_grow({at}, started_{number}, &room_{number}, count_{number}, sizeof *started_{number});"
        ));
        self.line(format!("{entry}.arm = {n};"));
        for quantifier in &arm.quantifiers {
            let name = self.unit.names.variable(quantifier.variable).to_string();
            self.line(format!("{entry}.{name} = {name};"));
        }
        match (capability, q) {
            (Some(capability), Some(q)) => {
                let how = if arm.is_send { "send" } else { "call" };
                self.line(format!(
                    "sr_co_{how}({at}, {co}, {capability}, &{q}->head, count_{number}++);"
                ));
            }
            _ => self.line(format!("sr_co_done({at}, {co}, count_{number}++);")),
        }
    }

    /// Writes the handling of a completed invocation.
    fn complete(&mut self, arms: &[ConcurrentArm], number: usize) {
        let head = format!("i{number}");
        for (n, arm) in arms.iter().enumerate() {
            let test = format!("if (started_{number}[{head}->arm].arm == {}) {{", n + 1);
            match n {
                0 => self.out.open(test),
                _ => self.out.reopen(format!("}} else {test}")),
            }
            for quantifier in &arm.quantifiers {
                let name = self.unit.names.variable(quantifier.variable).to_string();
                let of = self.unit.program.variables[quantifier.variable.index()].of;
                let c_type = self.unit.plain_type(of);
                self.line(format!(
                    "{c_type} {name} = started_{number}[{head}->arm].{name};"
                ));
            }
            self.take_completed(arm, &head);
            if let Some(block) = &arm.block {
                self.block(block);
            }
        }
        if !arms.is_empty() {
            self.out.close("}");
        }
    }

    /// Copies the results of a completed invocation.
    fn take_completed(&mut self, arm: &ConcurrentArm, head: &str) {
        let signature = self.unit.program.signatures[arm.invocation.signature.index()].clone();
        let passes_back = |p: &Parameter| matches!(p.passing, Passing::Var | Passing::Result);
        let needed = signature.parameters.iter().any(passes_back) || signature.result.is_some();
        if arm.is_send || !needed {
            return;
        }
        let c_type = self.unit.block_type(arm.invocation.signature);
        let q = self.temp(&format!("{c_type} *"), &format!("({c_type} *){head}"));
        for (n, (parameter, e)) in signature
            .parameters
            .iter()
            .zip(&arm.invocation.arguments)
            .enumerate()
        {
            if !passes_back(parameter) {
                continue;
            }
            let field = format!("{q}->a{}", n + 1);
            let place = self.place(e);
            let source = match self.unit.class(parameter.of) {
                Class::Text => self.string_value(&field),
                _ => field,
            };
            self.store_from(&place, parameter.of, &source, e.span);
        }
        let value = self.take_result(&q, arm.invocation.signature, arm.span);
        if let (Some(value), Some(to)) = (value, &arm.result_to) {
            let place = self.place(to);
            match (&place, &value) {
                // An int result may be stored in a real place: C converts it.
                (Place::Plain(lvalue), Value::Plain(value)) => {
                    self.line(format!("{lvalue} = {};", bare(value)));
                }
                _ => self.store(&place, &value, to.span),
            }
        }
    }
}
