//! Random types, and functions in Orca that write their values.

use super::pieces::{Part, Piece};
use crate::wild::Draw;

/// A type of a random program.
#[derive(Debug, Clone, PartialEq)]
pub enum Ty {
    Short,
    Integer,
    Long,
    ShortReal,
    Real,
    Boolean,
    Char,
    Text,
    /// A declared type, by its number.
    Named(usize),
    /// An object, by its number.
    Object(usize),
}

/// How a declared type is made.
#[derive(Debug, Clone)]
pub enum Shape {
    /// So many values.
    Enumeration(usize),
    /// Indices with their lowest and highest value as numbers. A fixed array has them in its type.
    Array {
        indices: Vec<(Ty, i64, i64)>,
        is_fixed: bool,
        element: Ty,
    },
    Record(Vec<Ty>),
    /// The tag is an enumeration. Its values select the fields.
    Union(usize, Vec<Ty>),
    Set(Ty),
    Bag(Ty),
    /// A list: `first` and `next` are links, the nodes have these fields too.
    Graph(Vec<Ty>),
    /// The name of a node of the type before.
    Link,
    Function(Vec<(Mode, Ty)>, Option<Ty>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    In,
    Out,
    Shared,
}

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::In => "",
            Mode::Out => "OUT ",
            Mode::Shared => "SHARED ",
        }
    }
}

/// The declared types of a program.
#[derive(Debug, Clone, Default)]
pub struct Types(pub Vec<Shape>);

impl Ty {
    pub fn name(&self) -> String {
        match self {
            Ty::Short => "shortint".into(),
            Ty::Integer => "integer".into(),
            Ty::Long => "longint".into(),
            Ty::ShortReal => "shortreal".into(),
            Ty::Real => "real".into(),
            Ty::Boolean => "boolean".into(),
            Ty::Char => "char".into(),
            Ty::Text => "string".into(),
            Ty::Named(number) => format!("T{number}"),
            Ty::Object(number) => format!("Object{number}"),
        }
    }

    pub fn is_integer(&self) -> bool {
        matches!(self, Ty::Short | Ty::Integer | Ty::Long)
    }

    pub fn is_real(&self) -> bool {
        matches!(self, Ty::ShortReal | Ty::Real)
    }
}

impl Types {
    /// Returns random types, some of each kind.
    pub fn random(draw: &mut Draw) -> Types {
        let mut types = Types::default();
        types.0.push(Shape::Enumeration(2 + draw.below(4)));
        for _ in 0..10 + draw.below(6) {
            let shape = types.shape(draw);
            let is_graph = matches!(shape, Shape::Graph(_));
            types.0.push(shape);
            if is_graph {
                types.0.push(Shape::Link);
            }
        }
        types
    }

    fn shape(&self, draw: &mut Draw) -> Shape {
        match draw.below(12) {
            0 => Shape::Enumeration(1 + draw.below(5)),
            1..=3 => self.array(draw),
            4 | 5 => Shape::Record((0..1 + draw.below(3)).map(|_| self.any(draw)).collect()),
            6 => {
                let values = match self.0[0] {
                    Shape::Enumeration(count) => count,
                    _ => 1,
                };
                Shape::Union(0, (0..values).map(|_| self.any(draw)).collect())
            }
            7 => Shape::Set(self.comparable(draw)),
            8 => Shape::Bag(self.comparable(draw)),
            9 => Shape::Graph((0..1 + draw.below(2)).map(|_| self.any(draw)).collect()),
            _ => {
                let mode = |draw: &mut Draw| match draw.below(3) {
                    0 => Mode::Shared,
                    _ => Mode::In,
                };
                let parameters = (0..1 + draw.below(2)).map(|_| (mode(draw), self.any(draw)));
                let parameters = parameters.collect();
                Shape::Function(parameters, Some(self.any(draw)))
            }
        }
    }

    fn array(&self, draw: &mut Draw) -> Shape {
        let count = [1, 1, 1, 1, 2, 2, 3][draw.below(7)];
        let mut indices = Vec::new();
        for _ in 0..count {
            indices.push(self.index(draw));
        }
        Shape::Array {
            indices,
            is_fixed: draw.below(3) == 0,
            element: self.any(draw),
        }
    }

    fn index(&self, draw: &mut Draw) -> (Ty, i64, i64) {
        match draw.below(8) {
            0 => (Ty::Boolean, 0, 1),
            1 => {
                let low = i64::from(b'a') + draw.below(5) as i64;
                (Ty::Char, low, low + draw.below(3) as i64)
            }
            2 => match self.0[0] {
                Shape::Enumeration(count) => (Ty::Named(0), 0, count as i64 - 1),
                _ => (Ty::Boolean, 0, 1),
            },
            _ => {
                let low = draw.below(7) as i64 - 3;
                (Ty::Integer, low, low + draw.below(3) as i64)
            }
        }
    }

    /// Returns a type for a part of another one.
    pub fn any(&self, draw: &mut Draw) -> Ty {
        let named = |draw: &mut Draw| Ty::Named(draw.below(self.0.len()));
        if draw.below(2) == 0 && !self.0.is_empty() {
            let ty = named(draw);
            // Large values would take all the time.
            if self.size(&ty) < 30 {
                return ty;
            }
        }
        self.scalar(draw)
    }

    pub fn scalar(&self, draw: &mut Draw) -> Ty {
        let all = [
            Ty::Integer,
            Ty::Integer,
            Ty::Integer,
            Ty::Long,
            Ty::Short,
            Ty::Real,
            Ty::ShortReal,
            Ty::Boolean,
            Ty::Char,
            Ty::Text,
        ];
        all[draw.below(all.len())].clone()
    }

    fn comparable(&self, draw: &mut Draw) -> Ty {
        let ty = self.any(draw);
        match self.has_equality(&ty) {
            true => ty,
            false => self.scalar(draw),
        }
    }

    /// Returns about how many numbers a value has.
    fn size(&self, ty: &Ty) -> i64 {
        let all = |parts: &[Ty]| parts.iter().map(|it| self.size(it)).sum::<i64>();
        match self.of(ty) {
            Some(Shape::Array {
                indices, element, ..
            }) => {
                let count: i64 = indices
                    .iter()
                    .map(|(_, low, high)| high - low + 1)
                    .product();
                count * self.size(element)
            }
            Some(Shape::Record(fields) | Shape::Union(_, fields)) => all(fields),
            Some(Shape::Graph(fields)) => 3 * all(fields),
            Some(Shape::Set(of) | Shape::Bag(of)) => 3 * self.size(of),
            _ => 1,
        }
    }

    pub fn of(&self, ty: &Ty) -> Option<&Shape> {
        match ty {
            Ty::Named(number) => self.0.get(*number),
            _ => None,
        }
    }

    pub fn has_equality(&self, ty: &Ty) -> bool {
        match self.of(ty) {
            None => !matches!(ty, Ty::Object(_)),
            Some(Shape::Graph(_)) => false,
            Some(_) => self.parts(ty).iter().all(|it| self.has_equality(it)),
        }
    }

    /// Returns the types of the parts that have names, or are elements.
    pub fn parts(&self, ty: &Ty) -> Vec<Ty> {
        match self.of(ty) {
            Some(Shape::Array { element, .. }) => vec![element.clone()],
            Some(Shape::Record(fields) | Shape::Union(_, fields)) => fields.clone(),
            Some(Shape::Set(of) | Shape::Bag(of)) => vec![of.clone()],
            _ if *ty == Ty::Text => vec![Ty::Char],
            _ => Vec::new(),
        }
    }

    /// Returns the bounds behind the type of a variable: those of an array that has none of its
    /// own, and of its elements.
    pub fn bounds(&self, ty: &Ty, draw: &mut Draw, highest: &str) -> String {
        match self.of(ty) {
            Some(Shape::Array {
                indices,
                is_fixed: false,
                element,
            }) => {
                let ranges: Vec<String> = indices
                    .iter()
                    .map(|(index, low, high)| {
                        // The one that is given is 3.
                        if *index == Ty::Integer && *low < 3 && draw.below(4) == 0 {
                            return format!("{low}..{highest}");
                        }
                        format!(
                            "{}..{}",
                            self.literal(index, *low),
                            self.literal(index, *high)
                        )
                    })
                    .collect();
                let inner = match self.of(element) {
                    Some(Shape::Union(..)) => String::new(),
                    _ => self.bounds(element, draw, highest),
                };
                format!("[{}]{inner}", ranges.join(", "))
            }
            Some(Shape::Union(tag, fields)) if draw.below(3) == 0 => {
                format!(
                    "({})",
                    self.literal(&Ty::Named(*tag), draw.below(fields.len()) as i64)
                )
            }
            _ if *ty == Ty::Text => format!("[1..{}]", 1 + draw.below(4)),
            _ => String::new(),
        }
    }

    /// Returns a value of an index by its number.
    pub fn literal(&self, ty: &Ty, number: i64) -> String {
        match ty {
            Ty::Boolean => ["false", "true"][number as usize & 1].into(),
            Ty::Char => format!("'{}'", number as u8 as char),
            Ty::Named(it) => format!("v{it}_{number}"),
            _ if number < 0 => format!("({number})"),
            _ => number.to_string(),
        }
    }

    /// Returns the declaration of a type.
    pub fn declaration(&self, number: usize, draw: &mut Draw) -> String {
        let fields = |fields: &[Ty], draw: &mut Draw| {
            let each = fields.iter().enumerate().map(|(index, ty)| {
                format!("f{index}: {}{};", ty.name(), self.bounds(ty, draw, "3"))
            });
            each.collect::<Vec<_>>().join(" ")
        };
        let text = match &self.0[number] {
            Shape::Enumeration(count) => {
                let names: Vec<_> = (0..*count).map(|it| format!("v{number}_{it}")).collect();
                format!("({})", names.join(", "))
            }
            Shape::Array {
                indices,
                is_fixed,
                element,
            } => {
                let index = |(ty, low, high): &(Ty, i64, i64)| match is_fixed {
                    true => {
                        let (low, high) = (self.literal(ty, *low), self.literal(ty, *high));
                        format!("{} {low}..{high}", ty.name())
                    }
                    false => ty.name(),
                };
                let indices: Vec<_> = indices.iter().map(index).collect();
                format!("ARRAY[{}] OF {}", indices.join(", "), element.name())
            }
            Shape::Record(of) => format!("RECORD {} END", fields(of, draw)),
            Shape::Union(tag, of) => {
                let tag = Ty::Named(*tag);
                let each = of.iter().enumerate().map(|(index, ty)| {
                    let label = self.literal(&tag, index as i64);
                    format!(
                        "{label} => f{index}: {}{};",
                        ty.name(),
                        self.bounds(ty, draw, "3")
                    )
                });
                let each: Vec<_> = each.collect();
                let first = self.literal(&tag, draw.below(of.len()) as i64);
                format!("UNION(tag: {}({first})) {} END", tag.name(), each.join(" "))
            }
            Shape::Set(of) => format!("SET OF {}", of.name()),
            Shape::Bag(of) => format!("BAG OF {}", of.name()),
            Shape::Graph(of) => {
                let link = format!("T{}", number + 1);
                let fields = fields(of, draw);
                return format!(
                    "TYPE {link} = NODENAME OF T{number};\n\
                     TYPE T{number} = GRAPH first: {link}; NODES next: {link}; {fields} END;"
                );
            }
            Shape::Link => return String::new(),
            Shape::Function(parameters, result) => {
                let each = parameters.iter();
                let each: Vec<_> = each
                    .map(|(mode, ty)| format!("{}{}", mode.word(), ty.name()))
                    .collect();
                let result = result.as_ref().map(|ty| format!(": {}", ty.name()));
                format!(
                    "FUNCTION({}){}",
                    each.join(", "),
                    result.unwrap_or_default()
                )
            }
        };
        format!("TYPE T{number} = {text};")
    }

    /// Returns the function that writes a value of a declared type.
    pub fn show(&self, number: usize) -> Piece {
        let mut lines = Vec::new();
        let mut locals = String::new();
        if let Shape::Graph(fields) = &self.0[number] {
            locals = format!("q: T{}; n: integer;", number + 1);
            lines.push("q := x.first; n := 4;".into());
            lines.push("WHILE (q /= NIL) AND (n > 0) DO".into());
            for (index, ty) in fields.iter().enumerate() {
                lines.extend(self.shown(ty, &format!("x[q].f{index}"), 0));
            }
            lines.push("q := x[q].next; n -:= 1;\nOD;".into());
        } else {
            lines.extend(self.shown_parts(&Ty::Named(number), "x", 0));
        }
        let heading = format!("FUNCTION show{number}(x: T{number});\n  {locals}\nBEGIN");
        Piece(vec![
            Part::Text(heading),
            Part::Block(vec![Piece::line(lines.join("\n"))]),
            Part::Text("END;".into()),
        ])
    }

    /// Returns statements that write a value.
    pub fn shown(&self, ty: &Ty, path: &str, depth: usize) -> Vec<String> {
        match ty {
            Ty::Named(number) if !matches!(self.0[*number], Shape::Enumeration(_)) => {
                vec![format!("show{number}({path});")]
            }
            Ty::Boolean | Ty::Named(_) => vec![format!("Write(ORD({path}), \" \");")],
            Ty::Object(number) => vec![format!("show_object{number}({path});")],
            Ty::Char => vec![format!("Write(ORD({path}), \" \");")],
            Ty::Text => self.shown_parts(ty, path, depth),
            _ => vec![format!("Write({path}, \" \");")],
        }
    }

    fn shown_parts(&self, ty: &Ty, path: &str, depth: usize) -> Vec<String> {
        match self.of(ty) {
            Some(Shape::Array {
                indices, element, ..
            }) => {
                let mut lines = vec!["Write(\"[\");".to_owned()];
                let mut names = Vec::new();
                for (number, _) in indices.iter().enumerate() {
                    let (name, number) = (format!("i{depth}_{number}"), number + 1);
                    lines.push(format!("Write(ORD(LB({path}, {number})), \":\");"));
                    lines.push(format!(
                        "FOR {name} IN LB({path}, {number})..UB({path}, {number}) DO"
                    ));
                    names.push(name);
                }
                let element_path = format!("{path}[{}]", names.join(", "));
                lines.extend(self.shown(element, &element_path, depth + 1));
                lines.extend(names.iter().map(|_| "OD;".to_owned()));
                lines.push("Write(\"] \");".into());
                lines
            }
            Some(Shape::Record(fields)) => {
                let each = fields.iter().enumerate();
                each.flat_map(|(index, ty)| self.shown(ty, &format!("{path}.f{index}"), depth))
                    .collect()
            }
            Some(Shape::Union(tag, fields)) => {
                let mut lines = vec![format!("CASE {path}.tag OF")];
                for (index, ty) in fields.iter().enumerate() {
                    let label = self.literal(&Ty::Named(*tag), index as i64);
                    let bar = if index > 0 { "| " } else { "" };
                    lines.push(format!("{bar}{label} => Write(\"{index}=\");"));
                    lines.extend(self.shown(ty, &format!("{path}.f{index}"), depth));
                }
                lines.push("ESAC;".into());
                lines
            }
            Some(Shape::Set(of) | Shape::Bag(of)) => {
                let name = format!("m{depth}");
                let mut lines = vec![
                    "Write(\"{\");".to_owned(),
                    format!("FOR {name} IN {path} DO"),
                ];
                lines.extend(self.shown(of, &name, depth + 1));
                lines.push("OD;".into());
                lines.push("Write(\"} \");".into());
                lines
            }
            Some(Shape::Link) => {
                vec![format!(
                    "IF {path} = NIL THEN Write(\"nil \"); ELSE Write(\"node \"); FI;"
                )]
            }
            Some(Shape::Function(..)) => vec!["Write(\"f \");".into()],
            _ => vec![format!("Write(LB({path}), \"'\", {path}, \"' \");")],
        }
    }
}
