//! Predefined functions and procedures.

use super::Emitter;
use crate::program::{Expr, ExprKind, Predefined, TypeId, TypeKind, Value, Width};

impl Emitter<'_> {
    pub(super) fn predefined(
        &mut self,
        which: Predefined,
        arguments: &[Expr],
        whole: &Expr,
    ) -> String {
        let at = self.at(whole.span);
        match which {
            Predefined::Read => return self.read(arguments, &at),
            Predefined::Write | Predefined::WriteLine => {
                return self.write(arguments, which == Predefined::WriteLine);
            }
            Predefined::Insert | Predefined::Delete => {
                return self.change_set(which, arguments, &at);
            }
            Predefined::From | Predefined::AddNode | Predefined::DeleteNode => {
                return self.take(which, arguments, whole, &at);
            }
            Predefined::Lb | Predefined::Ub | Predefined::Size => {
                return self.extent(which, arguments);
            }
            Predefined::Strategy => return self.strategy(arguments, &at),
            _ => {}
        }
        let values = self.values_in_order(arguments);
        let first = values.first().map_or("", String::as_str);
        match which {
            Predefined::Abs => self.absolute(first, whole.ty),
            Predefined::Cap => format!("orca_cap({first})"),
            Predefined::Chr => format!("((orca_byte)orca_value({at}, \"CHR\", {first}, 256))"),
            Predefined::Float => format!("((double){first})"),
            Predefined::Odd => format!("(({first} & 1) != 0)"),
            Predefined::Ord => format!("((int32_t){first})"),
            Predefined::Trunc => format!("orca_trunc({first})"),
            Predefined::Val => match self.program.kind(whole.ty) {
                TypeKind::Integer(_) => {
                    let c_type = self.c_type(whole.ty);
                    format!("(({c_type}){first})")
                }
                kind => {
                    let count = match kind {
                        TypeKind::Enumeration(names) => names.len(),
                        TypeKind::Boolean => 2,
                        _ => 256,
                    };
                    format!("orca_value({at}, \"VAL\", {first}, {count})")
                }
            },
            Predefined::Assert => {
                self.line(format!("if (!{first}) orca_bad_assertion({at});"));
                String::new()
            }
            Predefined::Ncpus => "orca_ncpus()".into(),
            Predefined::Mycpu => "orca_mycpu()".into(),
            // These were computed during the check, or are above.
            _ => "0".into(),
        }
    }

    fn absolute(&mut self, value: &str, ty: TypeId) -> String {
        if let TypeKind::Real(_) = self.program.kind(ty) {
            return format!("__builtin_fabs({value})");
        }
        let name = self.temporary(ty, value);
        format!("({name} < 0 ? -{name} : {name})")
    }

    fn read(&mut self, places: &[Expr], at: &str) -> String {
        let program = self.program;
        for place in places {
            let target = self.target(place);
            let what = match program.kind(place.ty) {
                TypeKind::Integer(_) => "integer",
                TypeKind::Real(_) => "real",
                TypeKind::Char => "char",
                _ => {
                    self.line(format!("orca_read_string({at}, &{target});"));
                    continue;
                }
            };
            self.line(format!("{target} = orca_read_{what}({at});"));
        }
        String::new()
    }

    fn write(&mut self, values: &[Expr], ends_line: bool) -> String {
        let program = self.program;
        let texts = self.values_in_order(values);
        self.line("orca_write_begin();");
        for (value, text) in values.iter().zip(texts) {
            let call = match program.kind(value.ty) {
                TypeKind::Integer(_) => format!("orca_write_integer({text});"),
                TypeKind::Real(_) => format!("orca_write_real({text});"),
                TypeKind::Char => format!("orca_write_char({text});"),
                _ => format!("orca_write_string(&{text});"),
            };
            self.line(call);
        }
        if ends_line {
            self.line("orca_write_char('\\n');");
        }
        self.line("orca_write_end();");
        String::new()
    }

    /// INSERT and DELETE.
    fn change_set(&mut self, which: Predefined, arguments: &[Expr], at: &str) -> String {
        let [member, set] = arguments else {
            return String::new();
        };
        let element = match self.program.kind(set.ty) {
            TypeKind::Set(of) | TypeKind::Bag(of) => *of,
            _ => member.ty,
        };
        let value = self.value_before(member, set);
        let value = match self.is_scalar(element) {
            true => self.temporary(element, &value),
            false => value,
        };
        let place = self.target(set);
        let descriptor = self.descriptor(set.ty);
        self.line(match which {
            Predefined::Insert => {
                format!("orca_set_insert({at}, {descriptor}, &{place}, &{value});")
            }
            _ => format!("orca_set_delete({descriptor}, &{place}, &{value});"),
        });
        String::new()
    }

    /// FROM, ADDNODE and DELETENODE.
    fn take(&mut self, which: Predefined, arguments: &[Expr], whole: &Expr, at: &str) -> String {
        let from = &arguments[0];
        let name = arguments.get(1).map(|name| self.value_before(name, from));
        let place = self.target(from);
        let descriptor = self.descriptor(from.ty);
        match (which, name) {
            (Predefined::From, _) => {
                let member = self.temporary(whole.ty, "{0}");
                self.line(format!(
                    "orca_set_from({at}, {descriptor}, &{place}, &{member});"
                ));
                member
            }
            (_, Some(name)) => {
                self.line(format!(
                    "orca_graph_delete({at}, {descriptor}, &{place}.graph, {name});"
                ));
                String::new()
            }
            _ => {
                self.enter_environment();
                let add = format!("orca_graph_add({at}, {descriptor}, &{place}.graph)");
                self.temporary(whole.ty, &add)
            }
        }
    }

    fn extent(&mut self, which: Predefined, arguments: &[Expr]) -> String {
        let of = &arguments[0];
        let place = self.place(of);
        if which == Predefined::Size {
            return match self.program.kind(of.ty) {
                TypeKind::Array { .. } => {
                    let descriptor = self.descriptor(of.ty);
                    format!("orca_array_size({descriptor}, &{place})")
                }
                _ => format!("orca_set_size(&{place})"),
            };
        }
        let dimension = match arguments.get(1).map(|it| &it.kind) {
            Some(ExprKind::Constant(Value::Integer(dimension))) => dimension - 1,
            _ => 0,
        };
        let macro_name = if which == Predefined::Lb { "LB" } else { "UB" };
        match self.partitioned(of.ty) {
            Some(_) => format!("ORCA_{macro_name}({place}, {dimension})"),
            None => format!("ORCA_{macro_name}(&{place}, {dimension})"),
        }
    }

    fn strategy(&mut self, arguments: &[Expr], at: &str) -> String {
        let values = self.values_in_order(&arguments[1..]);
        let object = self.place(&arguments[0]);
        let (replicate, cpu) = (&values[0], &values[1]);
        self.line(format!(
            "orca_object_strategy({at}, {object}, {replicate}, {cpu});"
        ));
        String::new()
    }

    /// Returns whether a type is an integer of 64 bits.
    pub(super) fn is_long(&self, ty: TypeId) -> bool {
        matches!(self.program.kind(ty), TypeKind::Integer(Width::Long))
    }
}
