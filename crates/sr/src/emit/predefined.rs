//! Predefined functions.

use antiphon_lang::c::{self, bare};

use super::function::Function;
use super::types::Class;
use super::views::constant;
use crate::lower::has_effects_itself;
use crate::program::*;

use Predefined as P;

impl Function<'_> {
    /// Returns a predefined function's value as a C expression (of type `sr_text` for strings);
    /// empty if it has none. A result with effects is kept in a temporary.
    pub(super) fn predefined(
        &mut self,
        function: P,
        arguments: &[Expression],
        e: &Expression,
    ) -> String {
        let value = self.predefined_value(function, arguments, e);
        if !has_effects_itself(function) || value.is_empty() {
            return value;
        }
        match self.types().get(e.of) {
            Type::Nothing => {
                self.line(format!("{};", bare(&value)));
                String::new()
            }
            _ => self.temp(&self.unit.value_type(e.of), &value),
        }
    }

    fn predefined_value(
        &mut self,
        function: P,
        arguments: &[Expression],
        e: &Expression,
    ) -> String {
        let at = self.at(e.span);
        match function {
            P::Lb | P::Ub => self.bound_of_array(function == P::Lb, &arguments[0], &arguments[1]),
            P::Length => self.length(&arguments[0]),
            P::Maxlength => self.maximum_length(&arguments[0]),
            P::Pred | P::Succ => self.neighbour(function == P::Succ, &arguments[0], e),
            P::Min | P::Max => self.extreme(function == P::Max, arguments, e.of),
            P::Numargs => "sr_numargs()".into(),
            P::Age => "sr_age()".into(),
            P::Myresource => {
                (self.unit).with_slots(self.component, "sr_my_resource(&self->head)".into())
            }
            P::Mymachine => "sr_my_machine()".into(),
            P::Myvm => "sr_my_vm()".into(),
            P::Locate => {
                let values = self.all(arguments);
                let program = values.get(2).map_or("SR_TEXT(\"\")", |path| path);
                format!(
                    "sr_locate({at}, {}, {}, {program})",
                    bare(&values[0]),
                    values[1]
                )
            }
            P::CreateMachine => self.create_machine(arguments, &at),
            P::Mypriority => "sr_priority()".into(),
            P::Getarg
            | P::Get
            | P::Put
            | P::Read
            | P::Scanf
            | P::Sscanf
            | P::Write
            | P::Writes
            | P::Printf
            | P::Sprintf => self.transfer(function, arguments, e),
            P::Open => {
                let values = self.all(arguments);
                format!("sr_open({}, {})", values[0], bare(&values[1]))
            }
            P::Remove => {
                let values = self.all(arguments);
                format!("sr_remove({})", values[0])
            }
            P::Random => {
                let values = self.all(arguments);
                match values.as_slice() {
                    [] => "sr_random(0.0, 1.0)".into(),
                    [high] => format!("sr_random(0.0, {high})"),
                    [low, high, ..] => format!("sr_random({low}, {high})"),
                }
            }
            P::Seed => {
                let values = self.all(arguments);
                format!("sr_seed({})", bare(&values[0]))
            }
            P::Chars => String::new(),
            _ => self.plain_function(function, arguments, &at),
        }
    }

    fn all(&mut self, arguments: &[Expression]) -> Vec<String> {
        let all = arguments.iter().collect::<Vec<_>>();
        self.plains(&all)
    }

    /// Returns a call whose C form is a name and the arguments' values.
    fn plain_function(&mut self, function: P, arguments: &[Expression], at: &str) -> String {
        let values = self.all(arguments);
        let is_real = arguments
            .first()
            .is_some_and(|a| matches!(self.types().get(a.of), Type::Real));
        let list = values
            .iter()
            .map(|v| bare(v))
            .collect::<Vec<_>>()
            .join(", ");
        let two = values.len() > 1;
        match function {
            P::Abs if is_real => format!("fabs({list})"),
            P::Abs => format!("sr_abs_int({list})"),
            P::Sqrt => format!("sr_sqrt({at}, {list})"),
            P::Log if two => format!("sr_log_base({at}, {list})"),
            P::Log => format!("sr_log({at}, {list})"),
            P::Exp if two => format!("sr_exp_base({at}, {list})"),
            P::Exp => format!("exp({list})"),
            P::Ceil => format!("ceil({list})"),
            P::Floor => format!("floor({list})"),
            P::Round => format!("sr_round({list})"),
            P::Sin => format!("sin({list})"),
            P::Cos => format!("cos({list})"),
            P::Tan => format!("tan({list})"),
            P::Asin => format!("asin({list})"),
            P::Acos => format!("acos({list})"),
            P::Atan if two => format!("atan2({list})"),
            P::Atan => format!("atan({list})"),
            P::Nap => format!("sr_nap({at}, {list})"),
            P::Setpriority => format!("sr_set_priority({at}, {list})"),
            P::Free => format!("sr_free({at}, {list})"),
            P::Flush => format!("sr_flush({at}, {list})"),
            P::Close => format!("sr_close({at}, {list})"),
            P::Seek => format!("sr_seek({at}, {list})"),
            P::Where => format!("sr_where({at}, {list})"),
            _ => "0".into(),
        }
    }

    fn bound_of_array(
        &mut self,
        is_low: bool,
        array: &Expression,
        dimension: &Expression,
    ) -> String {
        let number = match dimension.kind {
            ExpressionKind::Constant(Constant::Ordinal(n)) => n.max(1) as usize - 1,
            _ => 0,
        };
        let view = self.array(array);
        match view.dims.get(number) {
            Some(dim) if is_low => dim.low.clone(),
            Some(dim) => dim.high.clone(),
            None => constant(0),
        }
    }

    fn length(&mut self, of: &Expression) -> String {
        match self.unit.class(of.of) {
            Class::Array(_) => {
                let view = self.array(of);
                let dim = &view.dims[0];
                format!("({} - {} + 1)", dim.high, dim.low)
            }
            _ => {
                let text = self.text(of);
                format!("{text}.length")
            }
        }
    }

    fn maximum_length(&mut self, of: &Expression) -> String {
        match self.unit.class(of.of) {
            Class::Array(_) => self.length(of),
            _ if !of.is_place() => self.length(of),
            _ => match self.place(of) {
                super::places::Place::Text(string) => format!("{string}.maximum"),
                _ => self.length(of),
            },
        }
    }

    fn neighbour(&mut self, is_next: bool, of: &Expression, e: &Expression) -> String {
        let value = self.plain(of);
        let sign = if is_next { "+" } else { "-" };
        let at = self.at(e.span);
        match self.types().get(of.of) {
            Type::Enum(number) => {
                let enumeration = &self.types().enumerations[*number as usize];
                let last = enumeration.literals.len() as i32 - 1;
                let name = enumeration.name.as_deref().unwrap_or("enum").as_bytes();
                let name = c::string(name);
                format!("sr_ordinal_within({at}, {name}, {value} {sign} 1, 0, {last})")
            }
            Type::Char => {
                format!("((sr_char)sr_ordinal_within({at}, \"char\", {value} {sign} 1, 0, 255))")
            }
            Type::Bool => {
                format!("((sr_bool)sr_ordinal_within({at}, \"bool\", {value} {sign} 1, 0, 1))")
            }
            _ => format!("({value} {sign} 1)"),
        }
    }

    fn extreme(&mut self, is_most: bool, arguments: &[Expression], of: TypeId) -> String {
        let values = self.all(arguments);
        let kind = match self.types().get(of) {
            Type::Real => "real",
            _ => "int",
        };
        let name = if is_most { "max" } else { "min" };
        let mut values = values.into_iter().map(|v| bare(&v).to_string());
        let first = values.next().unwrap_or_default();
        let all = values.fold(first, |so_far, value| {
            format!("sr_{name}_{kind}({so_far}, {value})")
        });
        match self.types().get(of) {
            Type::Char | Type::Bool => format!("(({}){all})", self.unit.plain_type(of)),
            _ => all,
        }
    }
}
