//! A small interpreter of checked programs: what a program must print, and how it must end.
//!
//! It works on the checked tree and shares nothing with the writer of C. Variables are in one
//! memory; a SHARED parameter is a place there. A process runs to its end where it is forked, so
//! its parent has to wait for it at once.

use std::collections::{BTreeMap, BTreeSet};

use orca_lang::program::{
    Alternative, Binary, CaseArm, Expr, ExprKind, Field, Mode, Predefined, Program, RoutineId,
    RoutineKind, SizedType, Stat, StatKind, TypeId, TypeKind, Unary, UnitId, UnitKind,
    Value as Constant, VariableId, VariableKind, Width,
};
use orca_lang::{Sources, Span};

use super::value::{Array, Graph, Value, count, insert, real_text, take};

/// Why a program ends early.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// A run-time error: its text, file and line.
    Error(&'static str, String, usize),
    /// An operation blocks.
    Blocked,
    /// It takes too long to be a test.
    TooLong,
}

/// The effect of a statement on those after it.
enum Flow {
    Next,
    Exit,
    Return,
}

/// A variable, or a part of one.
#[derive(Debug, Clone, PartialEq)]
struct Place {
    variable: usize,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(usize),
    Alternative,
    Element(usize),
    Node(u32, u32, usize),
}

impl Place {
    fn with(mut self, step: Step) -> Place {
        self.steps.push(step);
        self
    }

    fn overlaps(&self, other: &Place) -> bool {
        let pairs = self.steps.iter().zip(&other.steps);
        self.variable == other.variable && pairs.into_iter().all(|(a, b)| a == b)
    }
}

/// An argument of a call: a value, or a place with its type.
enum Argument {
    Value(Value),
    Place(Place, TypeId),
}

/// The result of a routine, and its OUT parameters with their targets.
type Finished = (Option<Value>, Vec<(Place, Value, TypeId)>);

/// The deepest nesting of calls. The interpreter's own stack must hold it.
const MOST_DEPTH: u32 = 100;

/// The variables of a routine.
#[derive(Default)]
struct Frame {
    places: BTreeMap<VariableId, Place>,
    /// The object whose operation runs.
    object: Option<Place>,
    result: Option<Value>,
    result_type: Option<TypeId>,
}

pub struct Interpreter<'p> {
    program: &'p Program,
    sources: &'p Sources,
    memory: Vec<Value>,
    data: BTreeMap<VariableId, Place>,
    frame: Frame,
    /// Steps that are left.
    fuel: u64,
    depth: u32,
    pub output: Vec<u8>,
}

type Outcome<T> = Result<T, Stop>;

impl<'p> Interpreter<'p> {
    pub fn new(program: &'p Program, sources: &'p Sources, fuel: u64) -> Interpreter<'p> {
        Interpreter {
            program,
            sources,
            memory: Vec::new(),
            data: BTreeMap::new(),
            frame: Frame::default(),
            fuel,
            depth: 0,
            output: Vec::new(),
        }
    }

    /// Runs the initial code of data modules, then a process with new objects as arguments.
    pub fn run(&mut self, process: RoutineId) -> Outcome<()> {
        self.data_modules()?;
        let mut passed = Vec::new();
        for id in &self.program.routine(process).parameters {
            let of = &self.program.variable(*id).of;
            let object = self.initial(of)?;
            passed.push(Argument::Place(self.store(object), of.ty));
        }
        self.routine(process, None, passed).map(|_| ())
    }

    fn data_modules(&mut self) -> Outcome<()> {
        let mut seen = BTreeSet::new();
        for index in 0..self.program.units.len() {
            self.begin_unit(UnitId(index as u32), &mut seen)?;
        }
        Ok(())
    }

    fn begin_unit(&mut self, id: UnitId, seen: &mut BTreeSet<UnitId>) -> Outcome<()> {
        if !seen.insert(id) {
            return Ok(());
        }
        let unit = self.program.unit(id);
        for import in &unit.imports {
            self.begin_unit(*import, seen)?;
        }
        if unit.kind != UnitKind::Data || unit.is_abstract {
            return Ok(());
        }
        for id in &unit.variables {
            let value = self.initial(&self.program.variable(*id).of)?;
            let place = self.store(value);
            self.data.insert(*id, place);
        }
        match unit.initial {
            Some(code) => self.routine(code, None, Vec::new()).map(|_| ()),
            None => Ok(()),
        }
    }

    fn burn(&mut self) -> Outcome<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Stop::TooLong)?;
        Ok(())
    }

    fn error<T>(&self, text: &'static str, span: Span) -> Outcome<T> {
        let file = self.sources.file(span.file);
        let (line, _) = file.position(span.start);
        let name = file.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Err(Stop::Error(text, name, line))
    }

    // ---- memory ----

    fn store(&mut self, value: Value) -> Place {
        self.memory.push(value);
        Place {
            variable: self.memory.len() - 1,
            steps: Vec::new(),
        }
    }

    fn at(&mut self, place: &Place) -> &mut Value {
        let mut value = &mut self.memory[place.variable];
        for step in &place.steps {
            value = match (value, step) {
                (Value::Fields(fields), Step::Field(index)) => &mut fields[*index],
                (Value::Graph(graph), Step::Field(index)) => &mut graph.fields[*index],
                (Value::Union(Some((_, value))), Step::Alternative) => value,
                (Value::Array(array), Step::Element(index)) => &mut array.elements[*index],
                (Value::Graph(graph), Step::Node(index, age, field)) => {
                    &mut graph.node(*index, *age).expect("a node")[*field]
                }
                (value, step) => panic!("{step:?} of {value:?}"),
            };
        }
        value
    }

    fn assign(&mut self, place: &Place, value: Value, ty: TypeId) {
        *self.at(place) = self.converted(value, ty);
    }

    /// Returns a number in the width of a type.
    fn converted(&self, value: Value, ty: TypeId) -> Value {
        match (self.program.kind(ty), value) {
            (TypeKind::Integer(width), Value::Integer(number)) => {
                Value::Integer(wrapped(number, *width))
            }
            (TypeKind::Real(Width::Short), Value::Real(number)) => {
                Value::Real(f64::from(number as f32))
            }
            (_, value) => value,
        }
    }

    // ---- initial values ----

    fn initial(&mut self, of: &'p SizedType) -> Outcome<Value> {
        let program = self.program;
        if let TypeKind::Array { bounds, .. } = program.kind(of.ty) {
            let levels = match bounds.is_empty() {
                true => &of.bounds[..],
                false => std::slice::from_ref(bounds),
            };
            let levels = self.levels(levels)?;
            return self.initial_array(of.ty, &levels);
        }
        let tag = match (of.tag, program.kind(of.ty)) {
            (None, TypeKind::Union { tag, .. }) => tag.of.tag,
            (tag, _) => tag,
        };
        if let (Some(tag), TypeKind::Union { alternatives, .. }) = (tag, program.kind(of.ty)) {
            let found = alternatives.iter().find(|(it, _)| *it == tag);
            let value = self.initial(&found.expect("an alternative").1.of)?;
            return Ok(Value::Union(Some((tag, Box::new(value)))));
        }
        self.initial_of_type(of.ty)
    }

    fn levels(&mut self, levels: &'p [Vec<(Expr, Expr)>]) -> Outcome<Vec<Vec<(i64, i64)>>> {
        let mut found = Vec::new();
        for level in levels {
            let mut dimensions = Vec::new();
            for (low, high) in level {
                let (low, high) = (self.eval(low)?.integer(), self.eval(high)?.integer());
                dimensions.push((low, (high - low + 1).max(0)));
            }
            found.push(dimensions);
        }
        Ok(found)
    }

    fn initial_array(&mut self, ty: TypeId, levels: &[Vec<(i64, i64)>]) -> Outcome<Value> {
        let program = self.program;
        let TypeKind::Array {
            indices, element, ..
        } = program.kind(ty)
        else {
            panic!("bounds of no array");
        };
        let Some((dimensions, inner)) = levels.split_first() else {
            return Ok(Value::Array(Array {
                dimensions: vec![(0, 0); indices.len()],
                elements: Vec::new(),
            }));
        };
        let size: i64 = dimensions.iter().map(|(_, count)| count).product();
        let mut elements = Vec::new();
        for _ in 0..size {
            self.burn()?;
            elements.push(match inner.is_empty() {
                true => self.initial_of_type(*element)?,
                false => self.initial_array(*element, inner)?,
            });
        }
        Ok(Value::Array(Array {
            dimensions: dimensions.clone(),
            elements,
        }))
    }

    fn initial_fields(&mut self, fields: &'p [Field]) -> Outcome<Vec<Value>> {
        fields.iter().map(|field| self.initial(&field.of)).collect()
    }

    fn initial_of_type(&mut self, ty: TypeId) -> Outcome<Value> {
        let program = self.program;
        Ok(match program.kind(ty) {
            TypeKind::Real(_) => Value::Real(0.0),
            TypeKind::Array { bounds, .. } => {
                let levels = match bounds.is_empty() {
                    true => &[],
                    false => std::slice::from_ref(bounds),
                };
                let levels = self.levels(levels)?;
                self.initial_array(ty, &levels)?
            }
            TypeKind::Set(_) | TypeKind::Bag(_) => Value::Set(Vec::new()),
            TypeKind::Record(fields) => Value::Fields(self.initial_fields(fields)?),
            TypeKind::Union { tag, .. } if tag.of.tag.is_none() => Value::Union(None),
            TypeKind::Union { tag, alternatives } => {
                let number = tag.of.tag.expect("a tag");
                let found = alternatives.iter().find(|(it, _)| *it == number);
                let value = self.initial(&found.expect("an alternative").1.of)?;
                Value::Union(Some((number, Box::new(value))))
            }
            TypeKind::Graph { fields, .. } => {
                Value::Graph(Graph::new(self.initial_fields(fields)?))
            }
            TypeKind::Nil | TypeKind::NodeName { .. } => Value::Node(0, 0),
            TypeKind::Function { .. } => Value::Function(None),
            TypeKind::Object(unit) => self.new_object(*unit)?,
            _ => Value::Integer(0),
        })
    }

    fn new_object(&mut self, unit: UnitId) -> Outcome<Value> {
        let unit = self.program.unit(unit);
        let variables = unit.variables.iter();
        let state: Outcome<Vec<Value>> = variables
            .map(|id| self.initial(&self.program.variable(*id).of))
            .collect();
        let place = self.store(Value::Fields(state?));
        if let Some(code) = unit.initial {
            self.routine(code, Some(place.clone()), Vec::new())?;
        }
        self.memory.truncate(place.variable + 1);
        Ok(self.memory.pop().expect("the state"))
    }

    // ---- places ----

    fn variable(&self, id: VariableId) -> Place {
        let variable = self.program.variable(id);
        match variable.kind {
            VariableKind::Data => self.data[&id].clone(),
            VariableKind::State => {
                let object = self.frame.object.clone().expect("an operation");
                object.with(Step::Field(self.state_index(id)))
            }
            _ => match self.frame.places.get(&id) {
                Some(place) => place.clone(),
                None => panic!("{} has no place", variable.name),
            },
        }
    }

    fn state_index(&self, id: VariableId) -> usize {
        let mut units = self.program.units.iter();
        let found = units.find_map(|unit| unit.variables.iter().position(|it| *it == id));
        found.expect("a variable of a state")
    }

    fn place(&mut self, expr: &'p Expr) -> Outcome<Place> {
        self.burn()?;
        Ok(match &expr.kind {
            ExprKind::Variable(id) => self.variable(*id),
            ExprKind::State(base, id) => {
                let index = self.state_index(*id);
                self.place(base)?.with(Step::Field(index))
            }
            ExprKind::Itself => self.frame.object.clone().expect("an operation"),
            ExprKind::Field(base, index) => {
                let place = self.place(base)?;
                match self.program.kind(base.ty) {
                    TypeKind::Union { alternatives, .. } => {
                        let wanted = alternatives[*index].0;
                        match self.at(&place) {
                            Value::Union(Some((tag, _))) if *tag == wanted => {}
                            _ => return self.error("union error", expr.span),
                        }
                        place.with(Step::Alternative)
                    }
                    _ => place.with(Step::Field(*index)),
                }
            }
            ExprKind::Element(base, indices) => {
                let indices = self.eval_all(indices)?;
                let place = self.place(base)?;
                let Value::Array(array) = self.at(&place) else {
                    panic!("an index of no array");
                };
                match element(array, &indices) {
                    Some(index) => place.with(Step::Element(index)),
                    None => return self.error("array bound error", expr.span),
                }
            }
            ExprKind::Node(graph, name, field) => {
                let Value::Node(index, age) = self.eval(name)? else {
                    panic!("no name of a node");
                };
                let place = self.place(graph)?;
                let Value::Graph(graph) = self.at(&place) else {
                    panic!("a node of no graph");
                };
                if graph.node(index, age).is_none() {
                    return self.error("bad nodename", expr.span);
                }
                place.with(Step::Node(index, age, *field))
            }
            // A constant.
            _ => {
                let value = self.eval(expr)?;
                self.store(value)
            }
        })
    }

    // ---- expressions ----

    fn eval_all(&mut self, exprs: &'p [Expr]) -> Outcome<Vec<Value>> {
        exprs.iter().map(|it| self.eval(it)).collect()
    }

    fn eval(&mut self, expr: &'p Expr) -> Outcome<Value> {
        self.burn()?;
        Ok(match &expr.kind {
            ExprKind::Constant(Constant::Integer(number)) => Value::Integer(*number),
            ExprKind::Constant(Constant::Real(number)) => Value::Real(*number),
            ExprKind::Constant(Constant::Text(text)) => Value::text(text),
            ExprKind::Nil => Value::Node(0, 0),
            ExprKind::Variable(_)
            | ExprKind::Field(..)
            | ExprKind::State(..)
            | ExprKind::Element(..)
            | ExprKind::Node(..) => {
                let place = self.place(expr)?;
                self.at(&place).clone()
            }
            ExprKind::Tag(base) => {
                let place = self.place(base)?;
                match self.at(&place) {
                    Value::Union(Some((tag, _))) => Value::Integer(*tag),
                    _ => Value::Integer(0),
                }
            }
            ExprKind::Function(id) => Value::Function(Some(*id)),
            ExprKind::Unary(operator, operand) => {
                let value = self.eval(operand)?;
                self.converted(unary(*operator, value), expr.ty)
            }
            ExprKind::Binary(Binary::And, left, right) => {
                Value::boolean(self.eval(left)?.is_true() && self.eval(right)?.is_true())
            }
            ExprKind::Binary(Binary::Or, left, right) => {
                Value::boolean(self.eval(left)?.is_true() || self.eval(right)?.is_true())
            }
            ExprKind::Binary(operator, left, right) => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                let types = (left.ty, right.ty, expr.ty);
                self.operator(*operator, a, b, types, expr.span)?
            }
            ExprKind::Call(id, arguments) => self.call(*id, arguments)?.unwrap_or(Value::text(b"")),
            ExprKind::CallValue(callee, arguments) => match self.eval(callee)? {
                Value::Function(Some(id)) => self.call(id, arguments)?.unwrap_or(Value::text(b"")),
                _ => return self.error("unknown error", expr.span),
            },
            ExprKind::Invoke(object, id, arguments) => self
                .invoke(object, *id, arguments)?
                .unwrap_or(Value::text(b"")),
            ExprKind::Predefined(which, arguments) => self.predefined(*which, arguments, expr)?,
            ExprKind::Members(members) => self.members(members, expr.ty)?,
            ExprKind::Elements(sizes, elements) => self.elements(sizes, elements, expr.ty)?,
            ExprKind::Wrong | ExprKind::Direct(..) | ExprKind::Itself => {
                panic!("{expr:?} is not interpreted")
            }
        })
    }

    fn members(&mut self, members: &'p [Expr], ty: TypeId) -> Outcome<Value> {
        let program = self.program;
        Ok(match program.kind(ty) {
            TypeKind::Record(fields) => {
                let values = self.eval_all(members)?.into_iter().zip(fields);
                let fields = values.map(|(value, field)| self.converted(value, field.of.ty));
                Value::Fields(fields.collect())
            }
            TypeKind::Union { alternatives, .. } => {
                let tag = self.eval(&members[0])?.integer();
                let value = self.eval(&members[1])?;
                let found = alternatives.iter().find(|(it, _)| *it == tag);
                let value = self.converted(value, found.expect("an alternative").1.of.ty);
                Value::Union(Some((tag, Box::new(value))))
            }
            TypeKind::Set(of) | TypeKind::Bag(of) => {
                let is_bag = matches!(program.kind(ty), TypeKind::Bag(_));
                let mut set = Vec::new();
                for value in self.eval_all(members)? {
                    insert(&mut set, self.converted(value, *of), 1, is_bag);
                }
                Value::Set(set)
            }
            _ => panic!("an aggregate of another type"),
        })
    }

    fn elements(&mut self, sizes: &[usize], elements: &'p [Expr], ty: TypeId) -> Outcome<Value> {
        let program = self.program;
        let TypeKind::Array {
            indices,
            bounds,
            element,
        } = program.kind(ty)
        else {
            panic!("rows of no array");
        };
        let mut dimensions = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let low = match (bounds.get(number), program.kind(indices[number])) {
                (Some((low, _)), _) => self.eval(low)?.integer(),
                (None, TypeKind::Integer(_)) => 1,
                (None, _) => 0,
            };
            dimensions.push((low, *size as i64));
        }
        let values = self.eval_all(elements)?.into_iter();
        Ok(Value::Array(Array {
            dimensions,
            elements: values.map(|it| self.converted(it, *element)).collect(),
        }))
    }

    /// Applies an operator. `types` are those of the operands and of the result.
    fn operator(
        &mut self,
        operator: Binary,
        left: Value,
        right: Value,
        types: (TypeId, TypeId, TypeId),
        span: Span,
    ) -> Outcome<Value> {
        let program = self.program;
        let value = match (left, right) {
            (Value::Integer(a), Value::Integer(b)) => {
                let is_long = matches!(program.kind(types.2), TypeKind::Integer(Width::Long));
                match integers(operator, a, b, is_long) {
                    Ok(number) => Value::Integer(number),
                    Err(text) => return self.error(text, span),
                }
            }
            (Value::Real(a), Value::Real(b)) => match operator {
                Binary::Divide if b == 0.0 => return self.error("divide by 0", span),
                _ => reals(operator, a, b),
            },
            (Value::Set(a), Value::Set(b)) if !operator.is_relation() => {
                let is_bag = matches!(program.kind(types.0), TypeKind::Bag(_));
                Value::Set(combined(operator, &a, &b, is_bag))
            }
            (member, Value::Set(set)) if operator == Binary::In => {
                let (TypeKind::Set(of) | TypeKind::Bag(of)) = program.kind(types.1) else {
                    panic!("a member of no set");
                };
                Value::boolean(count(&set, &self.converted(member, *of)) > 0)
            }
            (a, b) => match operator {
                Binary::Equal => Value::boolean(a.equals(&b)),
                Binary::NotEqual => Value::boolean(!a.equals(&b)),
                _ => panic!("{operator:?} of {a:?} and {b:?}"),
            },
        };
        Ok(self.converted(value, types.2))
    }

    fn predefined(
        &mut self,
        which: Predefined,
        arguments: &'p [Expr],
        whole: &'p Expr,
    ) -> Outcome<Value> {
        use Predefined::{
            AddNode, Delete, DeleteNode, From, Insert, Lb, Size, Strategy, Ub, Write, WriteLine,
        };
        match which {
            Insert | Delete => return self.change_set(which, arguments),
            From => return self.take_from(&arguments[0], whole.span),
            AddNode => return self.add_node(&arguments[0]),
            DeleteNode => return self.delete_node(arguments, whole.span),
            Lb | Ub | Size => return self.extent(which, arguments),
            Strategy => return self.eval_all(&arguments[1..]).map(|_| Value::Integer(0)),
            _ => {}
        }
        let values = self.eval_all(arguments)?;
        match which {
            Write | WriteLine => {
                for (value, argument) in values.iter().zip(arguments) {
                    self.write(value, argument.ty);
                }
                if which == WriteLine {
                    self.output.push(b'\n');
                }
                Ok(Value::Integer(0))
            }
            Predefined::Assert if !values[0].is_true() => {
                self.error("assertion failed", whole.span)
            }
            Predefined::Chr | Predefined::Val => {
                let number = values[0].integer();
                match self.choices(whole.ty) {
                    Some(count) if !(0..count).contains(&number) => {
                        self.error("range error in CHR or VAL", whole.span)
                    }
                    _ => Ok(self.converted(Value::Integer(number), whole.ty)),
                }
            }
            _ => Ok(self.converted(scalar(which, values.first()), whole.ty)),
        }
    }

    /// Returns how many values a type has that is no number.
    fn choices(&self, ty: TypeId) -> Option<i64> {
        match self.program.kind(ty) {
            TypeKind::Integer(_) => None,
            TypeKind::Enumeration(names) => Some(names.len() as i64),
            TypeKind::Boolean => Some(2),
            _ => Some(256),
        }
    }

    fn write(&mut self, value: &Value, ty: TypeId) {
        match value {
            Value::Integer(number) if self.choices(ty).is_some() => self.output.push(*number as u8),
            Value::Integer(number) => self.output.extend(number.to_string().into_bytes()),
            Value::Real(number) => self.output.extend(real_text(*number).into_bytes()),
            Value::Array(text) => {
                let bytes = text.elements.iter().map(|it| it.integer() as u8);
                self.output.extend(bytes);
            }
            other => panic!("{other:?} is written"),
        }
    }

    fn change_set(&mut self, which: Predefined, arguments: &'p [Expr]) -> Outcome<Value> {
        let program = self.program;
        let ty = arguments[1].ty;
        let (TypeKind::Set(of) | TypeKind::Bag(of)) = program.kind(ty) else {
            panic!("a member of no set");
        };
        let member = self.eval(&arguments[0])?;
        let member = self.converted(member, *of);
        let place = self.place(&arguments[1])?;
        let is_bag = matches!(program.kind(ty), TypeKind::Bag(_));
        let Value::Set(set) = self.at(&place) else {
            panic!("no set");
        };
        let found = set.iter().position(|(it, _)| it.equals(&member));
        match (which, found) {
            (Predefined::Insert, _) => insert(set, member, 1, is_bag),
            (_, Some(index)) => drop(take(set, index)),
            (_, None) => {}
        }
        Ok(Value::Integer(0))
    }

    fn take_from(&mut self, set: &'p Expr, span: Span) -> Outcome<Value> {
        let place = self.place(set)?;
        let Value::Set(set) = self.at(&place) else {
            panic!("no set");
        };
        match take(set, 0) {
            Some(member) => Ok(member),
            None => self.error("FROM on empty set or bag", span),
        }
    }

    fn add_node(&mut self, graph: &'p Expr) -> Outcome<Value> {
        let program = self.program;
        let place = self.place(graph)?;
        let TypeKind::Graph { nodes, .. } = program.kind(graph.ty) else {
            panic!("no graph");
        };
        let fields = self.initial_fields(nodes)?;
        let Value::Graph(graph) = self.at(&place) else {
            panic!("no graph");
        };
        let (index, age) = graph.add(fields);
        Ok(Value::Node(index, age))
    }

    fn delete_node(&mut self, arguments: &'p [Expr], span: Span) -> Outcome<Value> {
        let Value::Node(index, age) = self.eval(&arguments[1])? else {
            panic!("no name of a node");
        };
        let place = self.place(&arguments[0])?;
        let Value::Graph(graph) = self.at(&place) else {
            panic!("no graph");
        };
        match graph.remove(index, age) {
            true => Ok(Value::Integer(0)),
            false => self.error("bad nodename", span),
        }
    }

    fn extent(&mut self, which: Predefined, arguments: &'p [Expr]) -> Outcome<Value> {
        let value = self.eval(&arguments[0])?;
        let dimension = match arguments.get(1) {
            Some(number) => self.eval(number)?.integer() as usize - 1,
            None => 0,
        };
        Ok(Value::Integer(match (which, value) {
            (Predefined::Size, Value::Array(array)) => array.elements.len() as i64,
            (Predefined::Size, Value::Set(set)) => set.iter().map(|it| it.1 as i64).sum(),
            (Predefined::Lb, Value::Array(array)) => array.dimensions[dimension].0,
            (_, Value::Array(array)) => {
                let (low, count) = array.dimensions[dimension];
                low + count - 1
            }
            (_, other) => panic!("{which:?} of {other:?}"),
        }))
    }

    // ---- calls ----

    fn mode(&self, id: VariableId) -> Mode {
        match self.program.variable(id).kind {
            VariableKind::Parameter(mode) => mode,
            _ => Mode::In,
        }
    }

    /// Evaluates arguments: values from left to right, then places. A value is kept for each
    /// attempt of an operation.
    fn arguments(
        &mut self,
        parameters: &'p [VariableId],
        arguments: &'p [Expr],
    ) -> Outcome<Vec<Argument>> {
        let mut values = BTreeMap::new();
        for (id, argument) in parameters.iter().zip(arguments) {
            if self.mode(*id) == Mode::In {
                let value = self.eval(argument)?;
                let ty = self.program.variable(*id).of.ty;
                values.insert(*id, self.converted(value, ty));
            }
        }
        let mut passed: Vec<Argument> = Vec::new();
        for (id, argument) in parameters.iter().zip(arguments) {
            passed.push(match values.remove(id) {
                Some(value) => Argument::Value(value),
                None => Argument::Place(self.place(argument)?, argument.ty),
            });
        }
        for (index, one) in passed.iter().enumerate() {
            for other in &passed[..index] {
                if let (Argument::Place(a, _), Argument::Place(b, _)) = (one, other)
                    && a.overlaps(b)
                {
                    return self.error("illegal alias", arguments[index].span);
                }
            }
        }
        Ok(passed)
    }

    fn call(&mut self, id: RoutineId, arguments: &'p [Expr]) -> Outcome<Option<Value>> {
        let before = self.memory.len();
        let passed = self.arguments(&self.program.routine(id).parameters, arguments)?;
        let result = self.routine(id, None, passed);
        self.memory.truncate(before);
        result
    }

    /// Runs a function, a process, or the initial code of a unit.
    fn routine(
        &mut self,
        id: RoutineId,
        object: Option<Place>,
        passed: Vec<Argument>,
    ) -> Outcome<Option<Value>> {
        let body = self.program.routine(id).body.as_ref();
        let Some([alternative]) = body.map(Vec::as_slice) else {
            panic!("a routine without a body");
        };
        let done = self.alternative(id, object, &passed, alternative)?;
        Ok(done.expect("no guard"))
    }

    /// Runs an alternative in a frame of its own. Returns its result, or nothing if its guard is
    /// false.
    fn alternative(
        &mut self,
        id: RoutineId,
        object: Option<Place>,
        passed: &[Argument],
        alternative: &'p Alternative,
    ) -> Outcome<Option<Option<Value>>> {
        self.burn()?;
        if self.depth == MOST_DEPTH {
            return Err(Stop::TooLong);
        }
        self.depth += 1;
        let frame = Frame {
            object,
            result_type: self.program.routine(id).result.map(|(ty, _)| ty),
            ..Frame::default()
        };
        let before = self.memory.len();
        let outer = std::mem::replace(&mut self.frame, frame);
        let outcome = self.in_frame(id, passed, alternative);
        self.frame = outer;
        self.memory.truncate(before);
        self.depth -= 1;
        let Some((result, outs)) = outcome? else {
            return Ok(None);
        };
        for (place, value, ty) in outs {
            self.assign(&place, value, ty);
        }
        Ok(Some(result))
    }

    fn in_frame(
        &mut self,
        id: RoutineId,
        passed: &[Argument],
        alternative: &'p Alternative,
    ) -> Outcome<Option<Finished>> {
        let routine = self.program.routine(id);
        self.bind(id, passed)?;
        if let Some(guard) = &alternative.guard
            && !self.eval(guard)?.is_true()
        {
            return Ok(None);
        }
        self.statements(&alternative.statements)?;
        let result = self.frame.result.take();
        if routine.result.is_some() && result.is_none() {
            let text = match routine.kind {
                RoutineKind::Operation => "no RETURN from operation",
                _ => "no RETURN from function procedure",
            };
            return self.error(text, routine.end);
        }
        let mut outs = Vec::new();
        for (id, argument) in routine.parameters.iter().zip(passed) {
            if let (Mode::Out, Argument::Place(place, ty)) = (self.mode(*id), argument) {
                let own = self.frame.places[id].clone();
                outs.push((place.clone(), self.at(&own).clone(), *ty));
            }
        }
        Ok(Some((result, outs)))
    }

    /// Makes parameters and local variables.
    fn bind(&mut self, id: RoutineId, passed: &[Argument]) -> Outcome<()> {
        let program = self.program;
        let routine = program.routine(id);
        for (id, argument) in routine.parameters.iter().zip(passed) {
            let place = match argument {
                Argument::Value(value) => self.store(value.clone()),
                Argument::Place(place, _) if self.mode(*id) == Mode::Shared => place.clone(),
                Argument::Place(..) => continue,
            };
            self.frame.places.insert(*id, place);
        }
        let outs = routine.parameters.iter();
        let outs = outs.filter(|id| self.mode(**id) == Mode::Out);
        for id in outs.chain(&routine.locals).copied().collect::<Vec<_>>() {
            let value = self.initial(&program.variable(id).of)?;
            let place = self.store(value);
            self.frame.places.insert(id, place);
        }
        Ok(())
    }

    /// Executes an operation: alternatives that only read come first, and one that blocks or is
    /// closed leaves no trace.
    fn invoke(
        &mut self,
        object: &'p Expr,
        id: RoutineId,
        arguments: &'p [Expr],
    ) -> Outcome<Option<Value>> {
        let program = self.program;
        let before = self.memory.len();
        let routine = program.routine(id);
        let passed = self.arguments(&routine.parameters, arguments)?;
        let object = self.place(object)?;
        let mut order: Vec<&Alternative> = routine.body.iter().flatten().collect();
        order.sort_by_key(|it| it.writes);
        let state = self.at(&object).clone();
        for alternative in order {
            match self.alternative(id, Some(object.clone()), &passed, alternative) {
                Ok(Some(result)) => {
                    self.memory.truncate(before);
                    return Ok(result);
                }
                Ok(None) | Err(Stop::Blocked) => *self.at(&object) = state.clone(),
                Err(stop) => return Err(stop),
            }
        }
        self.memory.truncate(before);
        Err(Stop::Blocked)
    }

    // ---- statements ----

    fn statements(&mut self, statements: &'p [Stat]) -> Outcome<Flow> {
        for statement in statements {
            let before = self.memory.len();
            let flow = self.statement(statement);
            self.memory.truncate(before);
            match flow? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'p Stat) -> Outcome<Flow> {
        self.burn()?;
        match &statement.kind {
            StatKind::Call(call) => drop(self.eval(call)?),
            StatKind::Assign(target, None, value) => {
                let value = self.eval(value)?;
                let place = self.place(target)?;
                self.assign(&place, value, target.ty);
            }
            StatKind::Assign(target, Some(operator), value) => {
                self.change(target, *operator, value, statement.span)?;
            }
            StatKind::Fork(process, arguments, on) => {
                self.fork(*process, arguments, on.as_ref())?
            }
            StatKind::Exit => return Ok(Flow::Exit),
            StatKind::Return(value) => {
                if let (Some(value), Some(ty)) = (value, self.frame.result_type) {
                    let value = self.eval(value)?;
                    self.frame.result = Some(self.converted(value, ty));
                }
                return Ok(Flow::Return);
            }
            StatKind::If(arms, otherwise) => {
                for (condition, statements) in arms {
                    if self.eval(condition)?.is_true() {
                        return self.statements(statements);
                    }
                }
                return self.statements(otherwise);
            }
            StatKind::Case(value, arms, otherwise) => {
                return self.case(value, arms, otherwise.as_deref(), statement.span);
            }
            StatKind::Repeat(body, condition) => return self.repeat(body, condition),
            StatKind::While(condition, body) => return self.while_loop(condition.as_ref(), body),
            StatKind::ForRange(id, low, high, body) => return self.for_range(*id, low, high, body),
            StatKind::ForEach(id, set, body) => return self.for_each(*id, set, body),
            StatKind::Access(_) => panic!("partitioned objects are not interpreted"),
        }
        Ok(Flow::Next)
    }

    /// Assigns with an operator. The target is evaluated once, after the value.
    fn change(
        &mut self,
        target: &'p Expr,
        operator: Binary,
        value: &'p Expr,
        span: Span,
    ) -> Outcome<()> {
        let long = |ty| matches!(self.program.kind(ty), TypeKind::Integer(Width::Long));
        let result = if long(value.ty) { value.ty } else { target.ty };
        let right = self.eval(value)?;
        let place = self.place(target)?;
        let left = self.at(&place).clone();
        let sum = self.operator(operator, left, right, (target.ty, value.ty, result), span)?;
        self.assign(&place, sum, target.ty);
        Ok(())
    }

    /// Runs the process to its end: its parent waits for it.
    fn fork(
        &mut self,
        process: RoutineId,
        arguments: &'p [Expr],
        on: Option<&'p Expr>,
    ) -> Outcome<()> {
        let passed = self.arguments(&self.program.routine(process).parameters, arguments)?;
        if let Some(on) = on {
            self.eval(on)?;
        }
        self.routine(process, None, passed).map(|_| ())
    }

    fn case(
        &mut self,
        value: &'p Expr,
        arms: &'p [CaseArm],
        otherwise: Option<&'p [Stat]>,
        span: Span,
    ) -> Outcome<Flow> {
        let number = self.eval(value)?.integer();
        let is_one = |(low, high): &(i64, i64)| (*low..=*high).contains(&number);
        match arms.iter().find(|arm| arm.labels.iter().any(is_one)) {
            Some(arm) => self.statements(&arm.statements),
            None => match otherwise {
                Some(statements) => self.statements(statements),
                None => self.error("case error", span),
            },
        }
    }

    fn repeat(&mut self, body: &'p [Stat], condition: &'p Expr) -> Outcome<Flow> {
        loop {
            match self.statements(body)? {
                Flow::Exit => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next if self.eval(condition)?.is_true() => return Ok(Flow::Next),
                Flow::Next => {}
            }
        }
    }

    fn while_loop(&mut self, condition: Option<&'p Expr>, body: &'p [Stat]) -> Outcome<Flow> {
        loop {
            self.burn()?;
            if let Some(condition) = condition
                && !self.eval(condition)?.is_true()
            {
                return Ok(Flow::Next);
            }
            match self.statements(body)? {
                Flow::Exit => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next => {}
            }
        }
    }

    fn for_range(
        &mut self,
        id: VariableId,
        low: &'p Expr,
        high: &'p Expr,
        body: &'p [Stat],
    ) -> Outcome<Flow> {
        let (low, high) = (self.eval(low)?.integer(), self.eval(high)?.integer());
        let values = (low..=high).map(Value::Integer);
        self.loop_over(id, values, body)
    }

    fn for_each(&mut self, id: VariableId, set: &'p Expr, body: &'p [Stat]) -> Outcome<Flow> {
        let Value::Set(set) = self.eval(set)? else {
            panic!("FOR over no set");
        };
        let members = set.into_iter();
        let values = members.flat_map(|(it, times)| std::iter::repeat_n(it, times as usize));
        self.loop_over(id, values, body)
    }

    fn loop_over(
        &mut self,
        id: VariableId,
        values: impl Iterator<Item = Value>,
        body: &'p [Stat],
    ) -> Outcome<Flow> {
        let place = self.frame.places[&id].clone();
        let ty = self.program.variable(id).of.ty;
        for value in values {
            self.burn()?;
            self.assign(&place, value, ty);
            match self.statements(body)? {
                Flow::Exit => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
                Flow::Next => {}
            }
        }
        Ok(Flow::Next)
    }
}

/// Returns the place of an element in an array.
fn element(array: &Array, indices: &[Value]) -> Option<usize> {
    let mut place = 0;
    for ((low, count), index) in array.dimensions.iter().zip(indices) {
        let offset = index.integer().checked_sub(*low)?;
        if !(0..*count).contains(&offset) {
            return None;
        }
        place = place * count + offset;
    }
    Some(place as usize)
}

fn wrapped(number: i64, width: Width) -> i64 {
    match width {
        Width::Short => i64::from(number as i16),
        Width::Normal => i64::from(number as i32),
        Width::Long => number,
    }
}

fn unary(operator: Unary, value: Value) -> Value {
    match (operator, value) {
        (Unary::Minus, Value::Integer(number)) => Value::Integer(number.wrapping_neg()),
        (Unary::Minus, Value::Real(number)) => Value::Real(-number),
        (Unary::Not, value) => Value::boolean(!value.is_true()),
        (Unary::Complement, value) => Value::Integer(!value.integer()),
        (_, value) => value,
    }
}

fn integers(operator: Binary, a: i64, b: i64, is_long: bool) -> Result<i64, &'static str> {
    let mask = if is_long { 63 } else { 31 };
    Ok(match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide if b == 0 => return Err("divide by 0"),
        Binary::Divide => a.wrapping_div(b),
        Binary::Modulo if b <= 0 => return Err("modulo by <= 0"),
        Binary::Modulo => a % b,
        Binary::BitOr | Binary::Or => a | b,
        Binary::BitAnd | Binary::And => a & b,
        Binary::BitXor => a ^ b,
        Binary::ShiftLeft => a << (b & mask),
        Binary::ShiftRight => a >> (b & mask),
        Binary::Equal => i64::from(a == b),
        Binary::NotEqual => i64::from(a != b),
        Binary::Less => i64::from(a < b),
        Binary::LessEqual => i64::from(a <= b),
        Binary::Greater => i64::from(a > b),
        Binary::GreaterEqual => i64::from(a >= b),
        Binary::In => panic!("IN of integers"),
    })
}

fn reals(operator: Binary, a: f64, b: f64) -> Value {
    match operator {
        Binary::Add => Value::Real(a + b),
        Binary::Subtract => Value::Real(a - b),
        Binary::Multiply => Value::Real(a * b),
        Binary::Divide => Value::Real(a / b),
        Binary::Equal => Value::boolean(a == b),
        Binary::NotEqual => Value::boolean(a != b),
        Binary::Less => Value::boolean(a < b),
        Binary::LessEqual => Value::boolean(a <= b),
        Binary::Greater => Value::boolean(a > b),
        Binary::GreaterEqual => Value::boolean(a >= b),
        other => panic!("{other:?} of real numbers"),
    }
}

/// Combines sets or bags. Members of the left one come first.
fn combined(
    operator: Binary,
    left: &[(Value, u64)],
    right: &[(Value, u64)],
    is_bag: bool,
) -> Vec<(Value, u64)> {
    let mut result = match operator {
        Binary::Add => left.to_vec(),
        _ => Vec::new(),
    };
    let others = match operator {
        Binary::Multiply | Binary::Subtract => &[],
        _ => right,
    };
    if operator != Binary::Add {
        for (member, times) in left {
            let there = count(right, member);
            let times = match operator {
                Binary::Multiply => *times.min(&there),
                _ => times.saturating_sub(there),
            };
            insert(&mut result, member.clone(), times, is_bag);
        }
    }
    for (member, times) in others {
        let there = count(left, member);
        let times = match operator {
            Binary::Add => *times,
            _ => times.saturating_sub(there),
        };
        if times > 0 {
            insert(&mut result, member.clone(), times, is_bag);
        }
    }
    result
}

/// Predefined functions of one number that cannot fail.
fn scalar(which: Predefined, value: Option<&Value>) -> Value {
    match (which, value) {
        (Predefined::Abs, Some(Value::Integer(number))) => Value::Integer(number.wrapping_abs()),
        (Predefined::Abs, Some(Value::Real(number))) => Value::Real(number.abs()),
        (Predefined::Cap, Some(value)) => {
            Value::Integer((value.integer() as u8).to_ascii_uppercase().into())
        }
        (Predefined::Float, Some(value)) => Value::Real(value.integer() as f64),
        (Predefined::Odd, Some(value)) => Value::Integer(value.integer() & 1),
        (Predefined::Ord, Some(value)) => value.clone(),
        (Predefined::Trunc, Some(value)) => {
            let whole = value.real().trunc();
            let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole);
            Value::Integer(if fits { whole as i64 } else { i32::MIN.into() })
        }
        (Predefined::Assert | Predefined::Ncpus, _) => Value::Integer(1),
        (which, value) => panic!("{which:?} of {value:?} is not interpreted"),
    }
}
