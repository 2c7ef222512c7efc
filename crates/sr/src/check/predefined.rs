//! Predefined functions and values. They are not keywords: the program's own declarations have
//! priority.

mod files;
mod values;

use antiphon_lang::Span;

use crate::program::*;
use crate::syntax;

use super::Checker;

/// A predefined function: its name, and how many arguments it has.
struct Known {
    name: &'static str,
    function: Predefined,
    least: usize,
    most: usize,
}

const MANY: usize = usize::MAX;

const fn known(name: &'static str, function: Predefined, least: usize, most: usize) -> Known {
    Known {
        name,
        function,
        least,
        most,
    }
}

/// All predefined functions. `lb1` and the like are the older forms of `lb` and `ub` with a
/// dimension.
static KNOWN: &[Known] = &[
    known("lb", Predefined::Lb, 1, 2),
    known("ub", Predefined::Ub, 1, 2),
    known("lb1", Predefined::Lb, 1, 1),
    known("ub1", Predefined::Ub, 1, 1),
    known("lb2", Predefined::Lb, 1, 1),
    known("ub2", Predefined::Ub, 1, 1),
    known("pred", Predefined::Pred, 1, 1),
    known("succ", Predefined::Succ, 1, 1),
    known("length", Predefined::Length, 1, 1),
    known("maxlength", Predefined::Maxlength, 1, 1),
    known("chars", Predefined::Chars, 1, 1),
    known("locate", Predefined::Locate, 2, 3),
    known("myresource", Predefined::Myresource, 0, 0),
    known("mymachine", Predefined::Mymachine, 0, 0),
    known("myvm", Predefined::Myvm, 0, 0),
    known("mypriority", Predefined::Mypriority, 0, 0),
    known("setpriority", Predefined::Setpriority, 1, 1),
    known("free", Predefined::Free, 1, 1),
    known("abs", Predefined::Abs, 1, 1),
    known("min", Predefined::Min, 1, MANY),
    known("max", Predefined::Max, 1, MANY),
    known("sqrt", Predefined::Sqrt, 1, 1),
    known("log", Predefined::Log, 1, 2),
    known("exp", Predefined::Exp, 1, 2),
    known("ceil", Predefined::Ceil, 1, 1),
    known("floor", Predefined::Floor, 1, 1),
    known("round", Predefined::Round, 1, 1),
    known("sin", Predefined::Sin, 1, 1),
    known("cos", Predefined::Cos, 1, 1),
    known("tan", Predefined::Tan, 1, 1),
    known("asin", Predefined::Asin, 1, 1),
    known("acos", Predefined::Acos, 1, 1),
    known("atan", Predefined::Atan, 1, 2),
    known("random", Predefined::Random, 0, 2),
    known("seed", Predefined::Seed, 1, 1),
    known("numargs", Predefined::Numargs, 0, 0),
    known("getarg", Predefined::Getarg, 2, 2),
    known("nap", Predefined::Nap, 1, 1),
    known("age", Predefined::Age, 0, 0),
    known("open", Predefined::Open, 2, 2),
    known("flush", Predefined::Flush, 1, 1),
    known("close", Predefined::Close, 1, 1),
    known("remove", Predefined::Remove, 1, 1),
    known("get", Predefined::Get, 1, 2),
    known("put", Predefined::Put, 1, 2),
    known("seek", Predefined::Seek, 3, 3),
    known("where", Predefined::Where, 1, 1),
    known("read", Predefined::Read, 0, MANY),
    known("scanf", Predefined::Scanf, 1, MANY),
    known("sscanf", Predefined::Sscanf, 2, MANY),
    known("write", Predefined::Write, 0, MANY),
    known("writes", Predefined::Writes, 0, MANY),
    known("printf", Predefined::Printf, 1, MANY),
    known("sprintf", Predefined::Sprintf, 2, MANY),
];

/// Modes of opening a file, and reference points of a position in it; the numbers are the literals'
/// ordinals.
const LITERALS: &[(&str, u8, i32)] = &[
    ("READ", 0, 0),
    ("WRITE", 0, 1),
    ("READWRITE", 0, 2),
    ("ABSOLUTE", 1, 0),
    ("RELATIVE", 1, 1),
    ("EXTEND", 1, 2),
];

/// The result of input functions at the end of a file.
const END_OF_FILE: i32 = -1;

impl Checker<'_> {
    /// Whether a predefined function has that name.
    pub(super) fn is_predefined(name: &str) -> bool {
        KNOWN.iter().any(|k| k.name == name)
    }

    /// Returns the names of all predefined functions and values.
    pub(super) fn predefined_names() -> impl Iterator<Item = &'static str> {
        let functions = KNOWN.iter().map(|k| k.name);
        functions.chain(LITERALS.iter().map(|l| l.0)).chain(["EOF"])
    }

    /// Returns the predefined value with that name.
    pub(super) fn predeclared_value(&mut self, name: &str, span: Span) -> Option<Expression> {
        if name == "EOF" {
            let kind = ExpressionKind::Constant(Constant::Ordinal(END_OF_FILE));
            return Some(self.made(kind, Type::Int, span));
        }
        let (_, family, ordinal) = LITERALS.iter().find(|l| l.0 == name)?;
        let of = self.literal_type(*family);
        let kind = ExpressionKind::Constant(Constant::Ordinal(*ordinal));
        Some(Expression { kind, of, span })
    }

    /// Returns the predefined type with that name.
    pub(super) fn predefined_type(&mut self, name: &str) -> Option<TypeId> {
        match name {
            "accessmode" => Some(self.literal_type(0)),
            "seektype" => Some(self.literal_type(1)),
            _ => None,
        }
    }

    /// Returns the type of a family of literals: an enumeration, made on first use.
    fn literal_type(&mut self, family: u8) -> TypeId {
        let name = if family == 0 {
            "accessmode"
        } else {
            "seektype"
        };
        let enumerations = &mut self.program.types.enumerations;
        let literals: Vec<String> = LITERALS
            .iter()
            .filter(|l| l.1 == family)
            .map(|l| l.0.to_owned())
            .collect();
        let found = enumerations
            .iter()
            .position(|e| e.name.as_deref() == Some(name) && e.literals == literals);
        let number = found.unwrap_or_else(|| {
            enumerations.push(Enumeration {
                name: Some(name.to_owned()),
                literals,
            });
            enumerations.len() - 1
        });
        self.number(Type::Enum(number as u32))
    }

    /// Checks a call of a predefined function.
    pub(super) fn predefined(
        &mut self,
        name: &str,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> Expression {
        let Some(known) = KNOWN.iter().find(|k| k.name == name) else {
            return self.wrong(span);
        };
        let count = arguments.len();
        if count < known.least || count > known.most {
            let needs = match (known.least, known.most) {
                (least, MANY) => format!("{least} or more"),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} to {most}"),
            };
            let message = format!("{name} has {needs} arguments, and {count} are given");
            match self.hidden(name) {
                Some(help) => self.error_with(span, message, help),
                None => self.error(span, message),
            }
            return self.wrong(span);
        }
        let (values, of) = self.predefined_arguments(known, arguments, span);
        if values.iter().any(|v| self.is_wrong(v)) {
            return self.wrong(span);
        }
        self.made(ExpressionKind::Predefined(known.function, values), of, span)
    }

    fn predefined_arguments(
        &mut self,
        known: &Known,
        arguments: &[syntax::Expression],
        span: Span,
    ) -> (Vec<Expression>, Type) {
        use Predefined as P;
        match known.function {
            P::Lb | P::Ub => self.bound_of(known.name, arguments, span),
            P::Pred | P::Succ => self.neighbour(&arguments[0]),
            P::Length | P::Maxlength => (self.each(arguments, &[text()]), Type::Int),
            P::Chars => self.characters(&arguments[0]),
            P::Min | P::Max => self.extreme(arguments),
            P::Abs => self.absolute(&arguments[0]),
            P::Sqrt
            | P::Log
            | P::Exp
            | P::Ceil
            | P::Floor
            | P::Round
            | P::Sin
            | P::Cos
            | P::Tan
            | P::Asin
            | P::Acos
            | P::Atan
            | P::Random => (self.each(arguments, &[Type::Real, Type::Real]), Type::Real),
            P::Seed => (self.each(arguments, &[Type::Real]), Type::Nothing),
            P::Numargs | P::Age | P::Mypriority => (Vec::new(), Type::Int),
            P::Getarg => {
                let number = self.integer(&arguments[0]);
                let mut values = vec![number];
                values.extend(self.readable(&arguments[1..]));
                (values, Type::Int)
            }
            P::Nap | P::Setpriority => (self.each(arguments, &[Type::Int]), Type::Nothing),
            P::Myresource => (Vec::new(), Type::Resource(self.component)),
            P::Mymachine => (Vec::new(), Type::Int),
            P::Myvm => (Vec::new(), Type::Machine),
            P::Locate => (
                self.each(arguments, &[Type::Int, text(), text()]),
                Type::Nothing,
            ),
            // It has its own form of call.
            P::CreateMachine => (Vec::new(), Type::Machine),
            P::Free => {
                let value = self.of_type(&arguments[0], Type::Pointer(None));
                (vec![value], Type::Nothing)
            }
            P::Open => self.open(arguments),
            P::Flush | P::Close => (self.each(arguments, &[Type::File]), Type::Nothing),
            P::Remove => (self.each(arguments, &[text()]), Type::Bool),
            P::Where => (self.each(arguments, &[Type::File]), Type::Int),
            P::Seek => self.seek(arguments),
            P::Get => self.get(arguments),
            P::Put => self.put(arguments),
            P::Read => self.read(arguments, span),
            P::Scanf => self.scanf(arguments, span),
            P::Sscanf => self.sscanf(arguments, span),
            P::Write | P::Writes => self.write(arguments, span),
            P::Printf => self.printf(arguments, span),
            P::Sprintf => self.sprintf(arguments, span),
        }
    }

    /// Checks arguments against one type each.
    fn each(&mut self, arguments: &[syntax::Expression], types: &[Type]) -> Vec<Expression> {
        arguments
            .iter()
            .zip(types)
            .map(|(argument, of)| self.of_type(argument, of.clone()))
            .collect()
    }
}

fn text() -> Type {
    Type::Text(Extent::Any)
}
