//! Statements.

use super::{Emitter, Loop};
use crate::program::{
    Binary, CaseArm, Expr, ExprKind, Stat, StatKind, TypeId, TypeKind, VariableId, VariableKind,
};

impl Emitter<'_> {
    pub(super) fn statements(&mut self, statements: &[Stat]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// Writes a statement. Its temporaries end with it.
    fn statement(&mut self, statement: &Stat) {
        let depth = self.out.depth() + 1;
        let (text, ()) = self.apart(depth, |it| it.bare_statement(statement));
        if text.lines().count() <= 1 {
            return self.line(text.trim());
        }
        self.out.open("{");
        self.out.append(&text);
        self.out.close("}");
    }

    fn bare_statement(&mut self, statement: &Stat) {
        match &statement.kind {
            StatKind::Call(call) => {
                self.value(call);
            }
            StatKind::Assign(target, None, value) => self.assign(target, value),
            StatKind::Assign(target, Some(operator), value) => {
                self.change(target, *operator, value, statement);
            }
            StatKind::Fork(process, arguments, on) => {
                self.fork(*process, arguments, on.as_ref(), statement.span);
            }
            StatKind::Exit => {
                if let Some(innermost) = self.loops.last_mut() {
                    innermost.is_left = true;
                    let label = innermost.label;
                    self.line(format!("goto after{label};"));
                }
            }
            StatKind::Return(value) => self.return_value(value.as_ref()),
            StatKind::If(arms, otherwise) => self.if_statement(arms, otherwise),
            StatKind::Case(value, arms, otherwise) => {
                self.case(value, arms, otherwise.as_deref(), statement);
            }
            StatKind::Repeat(body, condition) => self.looped(statement, |it| {
                it.out.open("for (;;) {");
                it.statements(body);
                it.leave_if(condition, "");
                it.out.close("}");
            }),
            StatKind::While(condition, body) => self.looped(statement, |it| {
                it.out.open("for (;;) {");
                if let Some(condition) = condition {
                    it.leave_if(condition, "!");
                }
                it.statements(body);
                it.out.close("}");
            }),
            StatKind::ForRange(variable, low, high, body) => {
                self.looped(statement, |it| it.for_range(*variable, low, high, body));
            }
            StatKind::ForEach(variable, set, body) => {
                self.looped(statement, |it| it.for_each(*variable, set, body));
            }
            StatKind::Access(indices) => self.access(indices),
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        let text = self.value_before(value, target);
        let place = self.target(target);
        self.assign_value(&place, target.ty, &text, value);
    }

    /// Writes an assignment with an operator. The target is evaluated once.
    fn change(&mut self, target: &Expr, operator: Binary, value: &Expr, statement: &Stat) {
        let text = self.value_before(value, target);
        let place = self.target(target);
        let at = self.at(statement.span);
        let (name, c_type) = (self.fresh(), self.c_type(target.ty));
        self.line(format!("{c_type} *const {name} = &{place};"));
        let old = format!("(*{name})");
        let result = self.wider(target.ty, value.ty);
        let sum = self.operator(operator, (&old, target.ty), (&text, value.ty), result, &at);
        if self.is_plain(target.ty) {
            return self.line(format!("*{name} = {sum};"));
        }
        let descriptor = self.descriptor(target.ty);
        self.line(format!("orca_move({descriptor}, {name}, &{sum});"));
    }

    /// Returns the type in which an operation on two numbers is computed.
    fn wider(&self, one: TypeId, other: TypeId) -> TypeId {
        if self.is_long(other) { other } else { one }
    }

    fn return_value(&mut self, value: Option<&Expr>) {
        let Some(here) = self.here else { return };
        let gathered = match here.is_operation {
            true => self.gathered(here.routine),
            false => None,
        };
        let result = gathered.or_else(|| self.result_of(here.routine));
        if let (Some(value), Some(ty)) = (value, result) {
            let text = self.value(value);
            let c_type = self.c_type(ty);
            let name = self.fresh();
            self.line(format!("{c_type} {name};"));
            match self.dies_here(value) {
                true => {
                    self.line(format!("{name} = {text};"));
                    self.line(format!("{text} = ({c_type}){{0}};"));
                }
                false => self.put_value(&name, ty, &text, value),
            }
            self.deliver();
            if here.is_operation {
                let target = if gathered.is_some() {
                    "element"
                } else {
                    "result"
                };
                self.line(format!("call->{target} = {name};"));
                self.line("return ORCA_DONE;");
            } else {
                self.line(format!("return {name};"));
            }
            return;
        }
        self.deliver();
        self.line(if here.is_operation {
            "return ORCA_DONE;"
        } else {
            "return;"
        });
    }

    /// Returns whether a value is that of a local variable, which is not used after RETURN.
    fn dies_here(&self, value: &Expr) -> bool {
        let ExprKind::Variable(id) = value.kind else {
            return false;
        };
        self.program.variable(id).kind == VariableKind::Local && !self.is_plain(value.ty)
    }

    fn if_statement(&mut self, arms: &[(Expr, Vec<Stat>)], otherwise: &[Stat]) {
        let Some(((condition, statements), rest)) = arms.split_first() else {
            return self.statements(otherwise);
        };
        let value = self.value(condition);
        self.out.open(format!("if ({value}) {{"));
        self.statements(statements);
        if !rest.is_empty() || !otherwise.is_empty() {
            self.out.reopen("} else {");
            self.if_statement(rest, otherwise);
        }
        self.out.close("}");
    }

    fn case(
        &mut self,
        value: &Expr,
        arms: &[CaseArm],
        otherwise: Option<&[Stat]>,
        statement: &Stat,
    ) {
        let text = self.value(value);
        let name = self.fresh();
        self.line(format!("const long long {name} = {text};"));
        self.out.open(format!("switch ({name}) {{"));
        for arm in arms {
            let labels = arm.labels.iter().filter(|(low, high)| low <= high);
            let labels: Vec<String> = labels
                .map(|(low, high)| match low == high {
                    true => format!("case {low}LL:"),
                    false => format!("case {low}LL ... {high}LL:"),
                })
                .collect();
            if labels.is_empty() {
                continue;
            }
            self.out.open(format!("{} {{", labels.join(" ")));
            self.statements(&arm.statements);
            self.line("break;");
            self.out.close("}");
        }
        self.out.open("default: {");
        match otherwise {
            Some(statements) => self.statements(statements),
            None => {
                let at = self.at(statement.span);
                self.line(format!("orca_bad_case({at}, {name});"));
            }
        }
        self.line("break;");
        self.out.close("}");
        self.out.close("}");
    }

    /// Writes a loop, and the label after it if a statement jumps there.
    fn looped(&mut self, statement: &Stat, write: impl FnOnce(&mut Self)) {
        let outer = (self.rows.len(), self.ranges.len());
        self.look_up_rows(statement);
        self.labels += 1;
        self.loops.push(Loop {
            label: self.labels,
            is_left: false,
        });
        write(self);
        self.rows.truncate(outer.0);
        self.ranges.truncate(outer.1);
        if let Some(ended) = self.loops.pop()
            && ended.is_left
        {
            self.line(format!("after{}:;", ended.label));
        }
    }

    /// Leaves the loop if a condition, or its opposite, holds.
    fn leave_if(&mut self, condition: &Expr, sign: &str) {
        let depth = self.out.depth() + 1;
        let (statements, value) = self.apart(depth, |it| it.value(condition));
        if statements.is_empty() {
            return self.line(format!("if ({sign}{value}) break;"));
        }
        let name = self.fresh();
        self.line(format!("orca_byte {name};"));
        self.out.open("{");
        self.out.append(&statements);
        self.line(format!("{name} = {value};"));
        self.out.close("}");
        self.line(format!("if ({sign}{name}) break;"));
    }

    fn for_range(&mut self, variable: VariableId, low: &Expr, high: &Expr, body: &[Stat]) {
        let first = self.value_before(low, high);
        let last = self.value(high);
        let (from, to, at) = (self.fresh(), self.fresh(), self.fresh());
        let ty = self.program.variable(variable).of.ty;
        let (c_type, name) = (self.c_type(ty), self.variable_name(variable));
        self.line(format!("const long long {from} = {first}, {to} = {last};"));
        self.check_range(variable, (&from, &to), body);
        // A 64-bit counter does not overflow at the end of 32 bits.
        let head = format!("for (long long {at} = {from}; {at} <= {to}; {at}++) {{");
        self.out.open(head);
        self.line(format!("const {c_type} {name} = ({c_type}){at};"));
        self.statements(body);
        if self.is_long(ty) {
            self.line(format!("if ({at} == {to}) break;"));
        }
        self.out.close("}");
    }

    /// Loops over a copy of a set or bag.
    fn for_each(&mut self, variable: VariableId, set: &Expr, body: &[Stat]) {
        let text = self.value(set);
        let copy = match self.is_fresh(set) {
            true => text,
            false => self.copied(&text, set.ty),
        };
        let element = match self.program.kind(set.ty) {
            TypeKind::Set(of) | TypeKind::Bag(of) => *of,
            _ => set.ty,
        };
        let (c_type, name) = (self.c_type(element), self.variable_name(variable));
        let (cursor, member) = (self.fresh(), self.fresh());
        let descriptor = self.descriptor(set.ty);
        self.line(format!("struct orca_cursor {cursor} = {{0}};"));
        self.line(format!("const {c_type} *{member};"));
        self.out.open(format!(
            "while (({member} = orca_set_next({descriptor}, &{copy}, &{cursor}))) {{"
        ));
        // The member stays in the set, which frees it.
        self.line(format!("const {c_type} {name} = *{member};"));
        self.statements(body);
        self.out.close("}");
    }
}
