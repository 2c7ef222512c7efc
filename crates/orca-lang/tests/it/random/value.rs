//! Values of the interpreter. A value owns all its parts, so that a copy is a clone.

use orca_lang::program::RoutineId;

/// A value of any type. Booleans, characters and values of enumerations are integers.
#[derive(Debug, Clone)]
pub enum Value {
    Integer(i64),
    Real(f64),
    Array(Array),
    /// Fields of a record, or the state of an object.
    Fields(Vec<Value>),
    /// The tag and the field of the alternative that is set.
    Union(Option<(i64, Box<Value>)>),
    /// Members in the order of their insertion, with their counts.
    Set(Vec<(Value, u64)>),
    Graph(Graph),
    /// Index and age of a node.
    Node(u32, u32),
    Function(Option<RoutineId>),
}

/// An array with its bounds: the lowest index and the length of each dimension.
#[derive(Debug, Clone)]
pub struct Array {
    pub dimensions: Vec<(i64, i64)>,
    pub elements: Vec<Value>,
}

/// The fields of a graph, and its nodes.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    pub fields: Vec<Value>,
    slots: Vec<(u32, Option<Vec<Value>>)>,
    /// Free slots; the one that was freed last is taken first.
    free: Vec<u32>,
}

impl Graph {
    pub fn new(fields: Vec<Value>) -> Graph {
        Graph {
            fields,
            ..Graph::default()
        }
    }

    /// Adds a node. Returns its index and age.
    pub fn add(&mut self, fields: Vec<Value>) -> (u32, u32) {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push((1, None));
            self.slots.len() as u32
        });
        let slot = &mut self.slots[index as usize - 1];
        slot.1 = Some(fields);
        (index, slot.0)
    }

    pub fn node(&mut self, index: u32, age: u32) -> Option<&mut Vec<Value>> {
        let slot = self.slots.get_mut((index as usize).wrapping_sub(1))?;
        slot.1.as_mut().filter(|_| slot.0 == age)
    }

    /// Removes a node. Returns whether it was there.
    pub fn remove(&mut self, index: u32, age: u32) -> bool {
        if self.node(index, age).is_none() {
            return false;
        }
        self.slots[index as usize - 1] = (age + 1, None);
        self.free.push(index);
        true
    }
}

impl Value {
    pub fn text(text: &[u8]) -> Value {
        Value::Array(Array {
            dimensions: vec![(1, text.len() as i64)],
            elements: text.iter().map(|it| Value::Integer((*it).into())).collect(),
        })
    }

    pub fn boolean(is_so: bool) -> Value {
        Value::Integer(is_so.into())
    }

    pub fn integer(&self) -> i64 {
        match self {
            Value::Integer(number) => *number,
            other => panic!("{other:?} is no integer"),
        }
    }

    pub fn is_true(&self) -> bool {
        self.integer() != 0
    }

    pub fn real(&self) -> f64 {
        match self {
            Value::Real(number) => *number,
            other => panic!("{other:?} is no real number"),
        }
    }

    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Real(a), Value::Real(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                let are_empty = a.elements.is_empty() && b.elements.is_empty();
                are_empty || (a.dimensions == b.dimensions && all_equal(&a.elements, &b.elements))
            }
            (Value::Fields(a), Value::Fields(b)) => all_equal(a, b),
            (Value::Union(None), Value::Union(None)) => true,
            (Value::Union(Some((a, x))), Value::Union(Some((b, y)))) => a == b && x.equals(y),
            (Value::Set(a), Value::Set(b)) => {
                let has = |(member, times): &(Value, u64)| count(b, member) == *times;
                a.len() == b.len() && a.iter().all(has)
            }
            (Value::Node(a, b), Value::Node(c, d)) => (a, b) == (c, d),
            (Value::Function(a), Value::Function(b)) => a == b,
            _ => false,
        }
    }
}

fn all_equal(left: &[Value], right: &[Value]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.equals(b))
}

/// Returns how often a set or bag has a member.
pub fn count(set: &[(Value, u64)], member: &Value) -> u64 {
    let found = set.iter().find(|(it, _)| it.equals(member));
    found.map_or(0, |(_, times)| *times)
}

/// Adds a member. A set has it once.
pub fn insert(set: &mut Vec<(Value, u64)>, member: Value, times: u64, is_bag: bool) {
    match set.iter_mut().find(|(it, _)| it.equals(&member)) {
        Some((_, has)) if is_bag => *has += times,
        Some(_) => {}
        None if times > 0 => set.push((member, times)),
        None => {}
    }
}

/// Takes out one of a member. Returns it, if it was there.
pub fn take(set: &mut Vec<(Value, u64)>, index: usize) -> Option<Value> {
    let (member, times) = set.get_mut(index)?;
    *times -= 1;
    let (member, is_last) = (member.clone(), *times == 0);
    if is_last {
        set.remove(index);
    }
    Some(member)
}

/// Returns a real number as C's `%g` does.
pub fn real_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.into();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let (digits, exponent) = six_digits(number.abs());
    let sign = if number < 0.0 { "-" } else { "" };
    let point = |text: &str, at: usize| {
        let (whole, rest) = text.split_at(at);
        let rest = rest.trim_end_matches('0');
        match rest.is_empty() {
            true => whole.to_owned(),
            false => format!("{whole}.{rest}"),
        }
    };
    match exponent {
        0..6 => format!("{sign}{}", point(&digits, exponent as usize + 1)),
        -4..0 => {
            let zeros = "0".repeat(-exponent as usize);
            format!("{sign}{}", point(&format!("{zeros}{digits}"), 1))
        }
        _ => {
            let exponent_sign = if exponent < 0 { '-' } else { '+' };
            let size = exponent.abs();
            format!("{sign}{}e{exponent_sign}{size:02}", point(&digits, 1))
        }
    }
}

/// Returns six digits of a positive number, and the exponent of the first one. A tie goes to the
/// even digit.
fn six_digits(number: f64) -> (String, i32) {
    let exact = format!("{number:.800e}");
    let (mantissa, exponent) = exact.split_once('e').expect("an exponent");
    let mut exponent: i32 = exponent.parse().expect("a number");
    let digits = mantissa.replace('.', "");
    let (kept, rest) = digits.split_at(6);
    let mut kept: u32 = kept.parse().expect("digits");
    let half = format!("{:0<width$}", "5", width = rest.len());
    let is_up = match rest.cmp(&half) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => kept % 2 == 1,
        std::cmp::Ordering::Greater => true,
    };
    kept += u32::from(is_up);
    if kept == 1_000_000 {
        kept = 100_000;
        exponent += 1;
    }
    (kept.to_string(), exponent)
}

#[test]
fn real_numbers_are_written_as_c_does() {
    let texts = [
        (1.0, "1"),
        (-0.5, "-0.5"),
        (1e10, "1e+10"),
        (1000.125, "1000.12"),
        (123_456_789.0, "1.23457e+08"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (100_000.0, "100000"),
        (999_999.5, "1e+06"),
        (1.0 / 3.0, "0.333333"),
    ];
    for (number, text) in texts {
        assert_eq!(real_text(number), text);
    }
}
