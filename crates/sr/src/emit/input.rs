//! Input statements.

use std::collections::{HashMap, HashSet};

use antiphon_lang::{Span, c::bare};

use super::function::Function;
use super::jumps::Frame;
use super::parameters::Binding;
use crate::lower::Changes;
use crate::program::*;

/// Number of arms from which on a `switch` finds the arm for an invocation.
const FEWEST_IN_SWITCH: usize = 16;

impl Function<'_> {
    /// `receive`, and P.
    pub(super) fn receive(&mut self, target: &Target, places: &[Expression], span: Span) {
        let at = self.at(span);
        if let Target::Declared(operation, subscripts) = target
            && self.unit.is_semaphore(*operation)
        {
            let pointer = self.operation_pointer(*operation, subscripts, span);
            let p = match self.unit.has_holder(*operation) {
                true => "sr_p_holding",
                false => "sr_p",
            };
            self.line(format!("{p}({at}, {pointer});"));
            return;
        }
        let capability = self.capability(target, span);
        let signature = self.signature_of(target);
        let c_type = self.unit.block_type(signature);
        let q = self.temp(
            &format!("{c_type} *"),
            &format!("({c_type} *)sr_receive({at}, {capability}, 0)"),
        );
        let parameters = self.unit.program.signatures[signature.index()]
            .parameters
            .clone();
        for (n, (parameter, e)) in parameters.iter().zip(places).enumerate() {
            let field = format!("{q}->a{}", n + 1);
            let class = self.unit.class(parameter.of);
            let source = match (class, parameter.passing) {
                (super::types::Class::Text, _) => self.string_value(&field),
                (super::types::Class::Plain, Passing::Reference) => format!("*{field}"),
                _ => field,
            };
            let place = self.destination(e);
            self.store_from(&place, parameter.of, &source, e.span);
        }
        self.line(format!("sr_finish({at}, &{q}->head);"));
    }

    /// Returns the signature of a target.
    pub(super) fn signature_of(&self, target: &Target) -> SignatureId {
        match target {
            Target::Declared(operation, _) | Target::Of(_, operation, _) => {
                self.unit.operation(*operation).signature
            }
            Target::Value(e) => match self.types().get(e.of) {
                Type::Operation(signature) => *signature,
                _ => SignatureId(0),
            },
        }
    }

    /// `in`.
    pub(super) fn input(&mut self, arms: &[Arm], other: Option<&Block>, span: Span) {
        match arms {
            [arm] if arm.is_plain() => self.simple_input(arm, other, span),
            _ => self.scan(arms, other, span),
        }
    }

    /// Writes an input statement of one arm without conditions.
    fn simple_input(&mut self, arm: &Arm, other: Option<&Block>, span: Span) {
        let at = self.at(span);
        let number = self.number();
        let capability = self.capability(&arm.target, span);
        let has_else = u8::from(other.is_some());
        let head = self.temp(
            "struct sr_invocation *",
            &format!("sr_receive({at}, {capability}, {has_else})"),
        );
        match other {
            Some(block) => {
                self.out.open(format!("if (!{head}) {{"));
                self.block(block);
                self.out.reopen("} else {");
            }
            None => self.out.open("{"),
        }
        self.arm(arm, &head, number);
        self.out.close("}");
    }

    /// Writes the label at an arm's end, if there is a jump to it.
    fn end_arm(&mut self, number: usize) {
        if let Some(Frame::Arm { ends: true, .. }) = self.frames.pop() {
            self.out.label(&format!("end_{number}"));
        }
    }

    /// Writes the handling of an invocation; `head` is the C variable that holds it.
    fn arm(&mut self, arm: &Arm, head: &str, number: usize) {
        let signature = self.signature_of(&arm.target);
        let c_type = self.unit.block_type(signature);
        let declared = self.unit.program.signatures[signature.index()].clone();
        let q = format!("q{number}");
        self.line(format!("{c_type} *{q} = ({c_type} *){head};"));
        let binding = match self.unit.facts.replies_in_arms(self.code) {
            true => Binding::Copy,
            false => Binding::Keep,
        };
        let outer = std::mem::take(&mut self.give_back);
        self.bind_all(
            &declared,
            &arm.parameters,
            arm.result,
            &q,
            binding,
            arm.span,
        );
        let give_back = std::mem::replace(&mut self.give_back, outer);
        let at = self.at(arm.span);
        let finish = format!("sr_finish({at}, &{q}->head);");
        self.frames.push(Frame::Arm {
            number,
            ends: false,
            give_back: give_back.clone(),
            invocation: Some(q),
            finish: finish.clone(),
        });
        self.block(&arm.block);
        self.end_arm(number);
        self.write_lines(&give_back);
        self.line(finish);
        for variable in arm.parameters.iter().chain(&arm.result) {
            self.access.remove(variable);
        }
    }

    /// Looks through the pending invocations of a class, oldest first, and for each one through the
    /// arms.
    fn scan(&mut self, arms: &[Arm], other: Option<&Block>, span: Span) {
        let at = match self.unit.is_helper(span) {
            true => self.at(span),
            false => self.unit.location(span, &self.awaited(arms)),
        };
        let number = self.number();
        let (class, has_else) = (self.class_of(arms, span), u8::from(other.is_some()));
        let class = self.temp("struct sr_class *", &class);
        let (found, arm_taken) = (format!("i{number}"), format!("arm_{number}"));
        let capabilities = arms
            .iter()
            .map(|arm| self.arm_capability(arm))
            .collect::<Vec<_>>();
        self.line(format!("struct sr_invocation *{found};"));
        self.line(format!("int {arm_taken} = 0;"));
        self.line(format!("sr_class_enter({at}, {class}, {has_else});"));
        for arm in arms {
            self.declare_kept(arm, number);
        }
        self.out.open("for (;;) {");
        self.out.open(format!(
            "for ({found} = sr_class_first({class}); {found}; {found} = sr_class_next({found})) {{"
        ));
        match self.own_operations(arms) {
            Some(operations) => self.test_arms_by_operation(arms, &operations, number, span),
            None => {
                for (n, (arm, capability)) in arms.iter().zip(&capabilities).enumerate() {
                    self.test_arm(arm, capability.as_deref(), n + 1, number, span);
                }
            }
        }
        self.out.close("}");
        match other {
            Some(_) => {
                self.line(format!("sr_class_leave({class});"));
                self.line("break;");
            }
            None => self.line(format!("sr_class_wait({at}, {class});")),
        }
        self.out.close("}");
        // A jump skips this unless an invocation was taken.
        let taken = format!("taken_{number}");
        self.out.open("if (0) {");
        self.out.label(&taken);
        self.line(format!("sr_class_take({class}, {found});"));
        self.out.close("}");
        self.line(format!("switch ({arm_taken}) {{"));
        for (n, arm) in arms.iter().enumerate() {
            self.out.open(format!("case {}: {{", n + 1));
            let label = self.number();
            for quantifier in &arm.quantifiers {
                let name = self.unit.names.variable(quantifier.variable).to_string();
                let of = self.unit.program.variables[quantifier.variable.index()].of;
                let c_type = self.unit.plain_type(of);
                self.line(format!("{c_type} {name} = {};", kept(&name, number)));
            }
            self.arm(arm, &found, label);
            self.line("break;");
            self.out.close("}");
        }
        if let Some(block) = other {
            self.out.open("default: {");
            self.block(block);
            self.out.close("}");
        }
        self.line("}");
    }

    /// Returns what a process waits for at an input statement, for reports.
    fn awaited(&self, arms: &[Arm]) -> String {
        const MOST: usize = 4;
        let mut names: Vec<String> = Vec::new();
        for arm in arms {
            let (Target::Declared(operation, _) | Target::Of(_, operation, _)) = &arm.target else {
                return "an invocation".into();
            };
            let row = self.unit.operation(*operation);
            let component = &self.unit.program.components[row.component.index()].name;
            let name = format!("{component}.{}", row.name);
            if !names.contains(&name) && names.len() <= MOST {
                names.push(name);
            }
        }
        if names.len() > MOST {
            names.truncate(MOST);
            names.push("others".into());
        }
        format!("an invocation of {}", names.join(" or "))
    }

    /// Returns the class of an input statement's operations.
    fn class_of(&mut self, arms: &[Arm], span: Span) -> String {
        let declared = arms.iter().find_map(|arm| match &arm.target {
            Target::Declared(operation, _) => match self.unit.operation(*operation).service {
                Service::Input(class) => Some(class),
                _ => None,
            },
            _ => None,
        });
        if let Some(class) = declared {
            return self.class_pointer(class);
        }
        let is_one = matches!(arms, [arm] if arm.quantifiers.is_empty());
        if let Some(class) = self.dynamic_class().filter(|_| !is_one) {
            return class;
        }
        let at = self.at(span);
        let capability = self.capability(&arms[0].target, span);
        format!("sr_class_of({at}, {capability})")
    }

    /// Returns the common class of the operations that `new` makes here, if there is one.
    pub(super) fn dynamic_class(&self) -> Option<String> {
        let component = self.unit.program.codes[self.code.index()].component;
        let class = self.unit.program.components[component.index()].dynamic?;
        Some(self.class_pointer(class))
    }

    /// Returns the capability that an arm takes from, unless the arm names an operation.
    fn arm_capability(&mut self, arm: &Arm) -> Option<String> {
        match &arm.target {
            Target::Declared(..) => None,
            target => {
                let capability = self.capability(target, arm.span);
                let at = self.at(arm.span);
                Some(self.temp("sr_cap", &format!("sr_cap_not_null({at}, {capability})")))
            }
        }
    }

    /// Declares variables for the values of an arm's quantifiers with which it was taken.
    fn declare_kept(&mut self, arm: &Arm, number: usize) {
        for quantifier in &arm.quantifiers {
            let name = self.unit.names.variable(quantifier.variable).to_string();
            let of = self.unit.program.variables[quantifier.variable.index()].of;
            let c_type = self.unit.plain_type(of);
            self.line(format!("{c_type} {} = 0;", kept(&name, number)));
        }
    }

    /// Returns the operations of the arms, each once, if there are many and all are single
    /// operations of this instance.
    fn own_operations(&self, arms: &[Arm]) -> Option<Vec<OperationId>> {
        if arms.len() < FEWEST_IN_SWITCH {
            return None;
        }
        let mut seen = HashSet::new();
        let mut operations = Vec::new();
        for arm in arms {
            let Target::Declared(operation, subscripts) = &arm.target else {
                return None;
            };
            let row = self.unit.operation(*operation);
            let is_own = row.component == self.component && row.home == Home::Component;
            if !is_own || !subscripts.is_empty() {
                return None;
            }
            if seen.insert(*operation) {
                operations.push(*operation);
            }
        }
        Some(operations)
    }

    /// Finds the arm for the current invocation by the place of its operation in the instance. A
    /// chain of tests would be slow, also for the C compiler.
    fn test_arms_by_operation(
        &mut self,
        arms: &[Arm],
        operations: &[OperationId],
        number: usize,
        span: Span,
    ) {
        let component = self.unit.names.component(self.component).to_string();
        self.line(format!(
            "switch ((char *)i{number}->op.op - (char *)self) {{"
        ));
        let mut by_operation: HashMap<OperationId, Vec<usize>> = HashMap::new();
        for (n, arm) in arms.iter().enumerate() {
            if let Target::Declared(operation, _) = &arm.target {
                by_operation.entry(*operation).or_default().push(n);
            }
        }
        for operation in operations {
            let name = self.unit.names.operation(*operation);
            self.out
                .open(format!("case offsetof(struct c_{component}, {name}): {{"));
            for &n in &by_operation[operation] {
                self.test_arm(&arms[n], None, n + 1, number, span);
            }
            self.line("break;");
            self.out.close("}");
        }
        self.line("}");
    }

    /// Tests whether an arm takes the current invocation; if so, jumps out.
    fn test_arm(
        &mut self,
        arm: &Arm,
        capability: Option<&str>,
        n: usize,
        number: usize,
        span: Span,
    ) {
        let found = format!("i{number}");
        let changes = Changes::any();
        if let Target::Declared(operation, subscripts) = &arm.target
            && !subscripts.is_empty()
        {
            // Subscripts are computed only if the operation belongs to the array.
            let storage = self.operation_storage(*operation);
            let dimensions = subscripts.len();
            self.out.open(format!(
                "if (sr_is_among({found}, {storage}, sr_elements({dimensions}, {storage}_d))) {{"
            ));
        } else {
            self.out.open("{");
        }
        self.quantified(&arm.quantifiers, &changes, |f| {
            let matches = match (&arm.target, capability) {
                (Target::Declared(operation, subscripts), _) => {
                    let pointer = f.operation_pointer(*operation, subscripts, span);
                    format!("{found}->op.op == {pointer}")
                }
                (_, Some(capability)) => format!("sr_cap_equal({found}->op, {capability})"),
                (_, None) => "0".into(),
            };
            f.out.open(format!("if ({matches}) {{"));
            let has_conditions = arm.synchronization.is_some() || arm.scheduling.is_some();
            if has_conditions {
                f.peek(arm, &found, number);
            }
            let holds = arm.synchronization.as_ref().map(|e| f.plain(e));
            if let Some(holds) = &holds {
                f.out.open(format!("if ({}) {{", bare(holds)));
            }
            for quantifier in &arm.quantifiers {
                let name = f.unit.names.variable(quantifier.variable).to_string();
                f.line(format!("{} = {name};", kept(&name, number)));
            }
            f.line(format!("arm_{number} = {n};"));
            if let Some(scheduling) = &arm.scheduling {
                f.least(arm, scheduling, number);
            }
            f.line(format!("goto taken_{number};"));
            if holds.is_some() {
                f.out.close("}");
            }
            f.out.close("}");
        });
        self.out.close("}");
    }

    /// Binds the parameters of a pending invocation for the evaluation of a condition.
    fn peek(&mut self, arm: &Arm, found: &str, number: usize) {
        let signature = self.signature_of(&arm.target);
        let c_type = self.unit.block_type(signature);
        let declared = self.unit.program.signatures[signature.index()].clone();
        if declared.parameters.is_empty() {
            return;
        }
        let q = format!("p{number}");
        self.line(format!("{c_type} *{q} = ({c_type} *){found};"));
        let outer = std::mem::take(&mut self.give_back);
        self.bind_all(
            &declared,
            &arm.parameters,
            None,
            &q,
            Binding::Peek,
            arm.span,
        );
        self.give_back = outer;
    }

    /// Finds, among this invocation and the younger ones of the same operation, the one with the
    /// least value of the expression.
    fn least(&mut self, arm: &Arm, scheduling: &Expression, number: usize) {
        let found = format!("i{number}");
        let c_type = self.unit.plain_type(scheduling.of);
        let value = self.plain(scheduling);
        let least = self.temp(&c_type, &value);
        let next = format!("n{}", self.number());
        self.out.open(format!(
            "for (struct sr_invocation *{next} = sr_class_next({found}); {next}; {next} = sr_class_next({next})) {{"
        ));
        self.line(format!("if ({next}->op.op != {found}->op.op)"));
        self.line("    continue;");
        self.peek(arm, &next, number);
        let value = self.plain(scheduling);
        self.out.open(format!("if ({} < {least}) {{", bare(&value)));
        let holds = arm.synchronization.as_ref().map(|e| self.plain(e));
        if let Some(holds) = &holds {
            self.out.open(format!("if ({}) {{", bare(holds)));
        }
        self.line(format!("{least} = {};", bare(&value)));
        self.line(format!("{found} = {next};"));
        if holds.is_some() {
            self.out.close("}");
        }
        self.out.close("}");
        self.out.close("}");
    }
}

/// Returns the variable that keeps a quantifier's value.
fn kept(name: &str, number: usize) -> String {
    format!("{name}_of_{number}")
}
