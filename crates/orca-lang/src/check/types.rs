//! Types: their declarations and their compatibility.

use antiphon_lang::Span;

use super::scope::Symbol;
use super::{Checker, Known};
use crate::program::{
    Expr, Field, Mode, Program, Restriction, SizedType, Type, TypeId, TypeKind, UnitId, Value,
    Width,
};
use crate::syntax::{self, Bounds, Name, Variables};

/// Adds the types that every program has.
pub(super) fn known(program: &mut Program) -> Known {
    let mut add = |name: &str, kind| {
        program.types.push(Type {
            name: name.to_owned(),
            kind,
        });
        TypeId(program.types.len() as u32 - 1)
    };
    let error = add("a mistake", TypeKind::Error);
    let nil = add("NIL", TypeKind::Nil);
    let integer = add("integer", TypeKind::Integer(Width::Normal));
    let char = add("char", TypeKind::Char);
    let string = TypeKind::Array {
        indices: vec![integer],
        bounds: Vec::new(),
        element: char,
    };
    Known {
        error,
        nil,
        integer,
        shortint: add("shortint", TypeKind::Integer(Width::Short)),
        longint: add("longint", TypeKind::Integer(Width::Long)),
        real: add("real", TypeKind::Real(Width::Normal)),
        shortreal: add("shortreal", TypeKind::Real(Width::Short)),
        boolean: add("boolean", TypeKind::Boolean),
        char,
        string: add("string", string),
    }
}

impl Program {
    /// Returns whether values of a type have an order and neighbours. They count loops and index
    /// arrays.
    pub(crate) fn is_discrete(&self, ty: TypeId) -> bool {
        use TypeKind::{Boolean, Char, Enumeration, Error, Integer};
        matches!(
            self.kind(ty),
            Error | Integer(_) | Boolean | Char | Enumeration(_)
        )
    }

    /// Returns whether a type has all that a restriction of generic parameters promises.
    pub(crate) fn fulfils(&self, ty: TypeId, restriction: Restriction) -> bool {
        match (self.kind(ty), restriction) {
            (TypeKind::Error, _) | (_, Restriction::None) => true,
            (TypeKind::Parameter(has), needs) => *has >= needs,
            (TypeKind::Integer(_) | TypeKind::Real(_), _) => true,
            (_, Restriction::Scalar) => self.is_discrete(ty),
            _ => false,
        }
    }

    pub(crate) fn is_integer(&self, ty: TypeId) -> bool {
        matches!(self.kind(ty), TypeKind::Integer(_) | TypeKind::Error)
    }

    pub(crate) fn is_numeric(&self, ty: TypeId) -> bool {
        self.fulfils(ty, Restriction::Numeric)
    }

    pub(crate) fn is_error(&self, ty: TypeId) -> bool {
        matches!(self.kind(ty), TypeKind::Error)
    }

    /// Returns the types that values of a type hold.
    pub(crate) fn parts(&self, ty: TypeId) -> Vec<TypeId> {
        let of = |fields: &[Field]| fields.iter().map(|it| it.of.ty).collect::<Vec<_>>();
        match self.kind(ty) {
            TypeKind::Array { element, .. } => vec![*element],
            TypeKind::Set(of) | TypeKind::Bag(of) => vec![*of],
            TypeKind::Record(fields) => of(fields),
            TypeKind::Union { alternatives, .. } => {
                alternatives.iter().map(|(_, field)| field.of.ty).collect()
            }
            TypeKind::Graph { fields, nodes } => [of(fields), of(nodes)].concat(),
            _ => Vec::new(),
        }
    }

    /// Returns whether a type or a part of it fulfils a condition.
    pub(crate) fn has_part(&self, ty: TypeId, is_so: &dyn Fn(&TypeKind) -> bool) -> bool {
        is_so(self.kind(ty))
            || self
                .parts(ty)
                .into_iter()
                .any(|part| self.has_part(part, is_so))
    }

    pub(crate) fn has_objects(&self, ty: TypeId) -> bool {
        self.has_part(ty, &|kind| matches!(kind, TypeKind::Object(_)))
    }

    /// Returns whether values of a type can be compared, in code of a unit.
    pub(crate) fn has_equality(&self, ty: TypeId, here: Option<UnitId>) -> bool {
        !self.has_part(ty, &|kind| match kind {
            TypeKind::Graph { .. } | TypeKind::Object(_) => true,
            TypeKind::NodeName { opaque, .. } => opaque.is_some() && *opaque != here,
            TypeKind::Parameter(restriction) => *restriction == Restriction::None,
            _ => false,
        })
    }

    /// Returns whether two types are the same. Types are compared by name, but those of functions
    /// and of nodes by structure.
    pub(crate) fn is_same(&self, one: TypeId, other: TypeId) -> bool {
        if one == other {
            return true;
        }
        match (self.kind(one), self.kind(other)) {
            (TypeKind::Error, _) | (_, TypeKind::Error) => true,
            (TypeKind::Real(a), TypeKind::Real(b)) => a == b,
            (
                TypeKind::Function {
                    parameters: p,
                    result: r,
                },
                TypeKind::Function {
                    parameters: q,
                    result: s,
                },
            ) => {
                let fits = |((m, t), (n, u)): (&(Mode, TypeId), &(Mode, TypeId))| {
                    m == n && self.is_same(*t, *u)
                };
                let results = match (r, s) {
                    (Some(r), Some(s)) => self.is_same(*r, *s),
                    (None, None) => true,
                    _ => false,
                };
                p.len() == q.len() && p.iter().zip(q).all(fits) && results
            }
            (
                TypeKind::NodeName { graph: Some(g), .. },
                TypeKind::NodeName { graph: Some(h), .. },
            ) => g == h,
            _ => false,
        }
    }

    /// Returns whether a value of one type can be assigned to a variable of another.
    pub(crate) fn fits(&self, target: TypeId, value: TypeId) -> bool {
        match (self.kind(target), self.kind(value)) {
            (TypeKind::Integer(_), TypeKind::Integer(_)) => true,
            (TypeKind::Real(_), TypeKind::Real(_)) => true,
            (TypeKind::NodeName { .. }, TypeKind::Nil) => true,
            _ => self.is_same(target, value),
        }
    }
}

impl Checker<'_> {
    pub(super) fn add_type(&mut self, name: impl Into<String>, kind: TypeKind) -> TypeId {
        self.program.types.push(Type {
            name: name.into(),
            kind,
        });
        TypeId(self.program.types.len() as u32 - 1)
    }

    /// Declares a type under its name.
    pub(super) fn type_declaration(&mut self, name: &Name, of: Option<&syntax::Type>) {
        let Some(of) = of else {
            let kind = TypeKind::NodeName {
                graph: None,
                opaque: self.here.unit,
            };
            let ty = self.add_type(&name.text, kind);
            self.declare(name, Symbol::Type(ty));
            return;
        };
        let count = self.program.types.len();
        let ty = self.ty(of);
        let is_new = ty.0 as usize >= count;
        if is_new {
            self.program.types[ty.0 as usize].name = name.text.clone();
        }
        // The implementation defines the opaque type.
        let opaque =
            self.scopes
                .last()
                .and_then(|scope| match scope.names.get(&name.text)?.symbol {
                    Symbol::Type(ty) => Some(ty),
                    _ => None,
                });
        if let Some(opaque) = opaque
            && let TypeKind::NodeName {
                graph: None,
                opaque: Some(unit),
            } = self.program.kind(opaque)
            && Some(*unit) == self.here.unit
            && !self.forward.iter().any(|(forward, _)| *forward == opaque)
        {
            let unit = *unit;
            match self.program.kind(ty) {
                TypeKind::NodeName { graph, .. } => {
                    let graph = *graph;
                    self.program.types[opaque.0 as usize].kind = TypeKind::NodeName {
                        graph,
                        opaque: Some(unit),
                    };
                    if let Some(found) = self.forward.iter_mut().find(|(forward, _)| *forward == ty)
                    {
                        found.0 = opaque;
                    }
                }
                TypeKind::Error => {}
                _ => {
                    let message = format!("the opaque type \"{}\" has to be a NODENAME", name.text);
                    self.error(name.span, message);
                }
            }
            return;
        }
        self.declare(name, Symbol::Type(ty));
    }

    /// Makes a type from its text.
    pub(super) fn ty(&mut self, of: &syntax::Type) -> TypeId {
        match &of.kind {
            syntax::TypeKind::Named(parts) => self.type_named(parts),
            syntax::TypeKind::Enumeration(names) => self.enumeration(names),
            syntax::TypeKind::Record(fields) => {
                let fields = self.fields(fields);
                self.add_type("a record", TypeKind::Record(fields))
            }
            syntax::TypeKind::Union {
                tag,
                of,
                initial,
                alternatives,
            } => self.union(tag, of, initial.as_deref(), alternatives),
            syntax::TypeKind::Array(dimensions, element) => self.array(dimensions, element),
            syntax::TypeKind::Set(of) => {
                let member = self.member(of);
                let name = format!("SET OF {}", self.name_of(member));
                self.add_type(name, TypeKind::Set(member))
            }
            syntax::TypeKind::Bag(of) => {
                let member = self.member(of);
                let name = format!("BAG OF {}", self.name_of(member));
                self.add_type(name, TypeKind::Bag(member))
            }
            syntax::TypeKind::Graph(fields, nodes) => {
                let fields = self.fields(fields);
                let nodes = self.fields(nodes);
                self.add_type("a graph", TypeKind::Graph { fields, nodes })
            }
            syntax::TypeKind::NodeName(graph) => {
                let kind = TypeKind::NodeName {
                    graph: None,
                    opaque: None,
                };
                let ty = self.add_type(format!("NODENAME OF {}", graph.text), kind);
                // The graph may be declared later in this block.
                self.forward.push((ty, graph.clone()));
                ty
            }
            syntax::TypeKind::Function(parameters, result) => {
                let parameters: Vec<(Mode, TypeId)> = parameters
                    .iter()
                    .map(|(mode, of)| (*mode, self.type_named(of)))
                    .collect();
                let result = result.as_ref().map(|of| self.type_named(of));
                self.function_type(parameters, result)
            }
        }
    }

    /// Resolves the graphs of node names, at the end of their block's declarations.
    pub(super) fn resolve_forward(&mut self) {
        for (ty, name) in std::mem::take(&mut self.forward) {
            let graph = self.type_named(std::slice::from_ref(&name));
            let is_graph = matches!(
                self.program.kind(graph),
                TypeKind::Graph { .. } | TypeKind::Error
            );
            if !is_graph {
                self.error(name.span, format!("\"{}\" is no graph type", name.text));
            }
            let graph = if is_graph { graph } else { self.known.error };
            let kind = &mut self.program.types[ty.0 as usize].kind;
            if let TypeKind::NodeName { graph: unknown, .. } = kind {
                *unknown = Some(graph);
            }
        }
    }

    fn member(&mut self, of: &syntax::Type) -> TypeId {
        let member = self.ty(of);
        if !self.program.has_equality(member, self.here.unit) {
            let message = format!("values of {} cannot be compared", self.name_of(member));
            let help = "the members of a set or bag need equality";
            self.error_help(of.span, message, help);
        }
        member
    }

    pub(super) fn function_type(
        &mut self,
        parameters: Vec<(Mode, TypeId)>,
        result: Option<TypeId>,
    ) -> TypeId {
        let of = |(mode, ty): &(Mode, TypeId)| match mode {
            Mode::In => self.name_of(*ty).to_owned(),
            _ => format!("{} {}", mode.name(), self.name_of(*ty)),
        };
        let list: Vec<String> = parameters.iter().map(of).collect();
        let mut name = format!("FUNCTION({})", list.join(", "));
        if let Some(result) = result {
            name += &format!(": {}", self.name_of(result));
        }
        self.add_type(name, TypeKind::Function { parameters, result })
    }

    fn enumeration(&mut self, names: &[Name]) -> TypeId {
        let texts: Vec<String> = names.iter().map(|name| name.text.clone()).collect();
        let ty = self.add_type(
            format!("({})", texts.join(", ")),
            TypeKind::Enumeration(texts),
        );
        for (index, name) in names.iter().enumerate() {
            self.declare(name, Symbol::Constant(Value::Integer(index as i64), ty));
        }
        ty
    }

    fn fields(&mut self, groups: &[Variables]) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for group in groups {
            let of = self.sized(&group.of);
            for name in &group.names {
                if fields.iter().any(|field| field.name == name.text) {
                    self.error(
                        name.span,
                        format!("field \"{}\" is already declared", name.text),
                    );
                }
                fields.push(Field {
                    name: name.text.clone(),
                    of: of.clone(),
                });
            }
        }
        fields
    }

    fn union(
        &mut self,
        tag: &Name,
        of: &[Name],
        initial: Option<&syntax::Expression>,
        alternatives: &[(syntax::Expression, Name, syntax::SizedType)],
    ) -> TypeId {
        let tag_type = self.type_named(of);
        if !self.program.is_discrete(tag_type) {
            let message = format!(
                "values of {} do not select alternatives",
                self.name_of(tag_type)
            );
            let help = "the tag is an integer, a character or a value of an enumeration";
            self.error_help(tag.span, message, help);
        }
        let initial = initial.and_then(|value| self.discrete_constant(value, tag_type));
        let mut fields: Vec<(i64, Field)> = Vec::new();
        for (value, name, of) in alternatives {
            let label = self.discrete_constant(value, tag_type);
            let of = self.sized(of);
            let Some(label) = label else { continue };
            if fields.iter().any(|(other, _)| *other == label) {
                self.error(
                    value.span,
                    format!("multiple alternatives for the tag's value {label}"),
                );
            }
            if name.text == tag.text || fields.iter().any(|(_, field)| field.name == name.text) {
                self.error(
                    name.span,
                    format!("field \"{}\" is already declared", name.text),
                );
            }
            fields.push((
                label,
                Field {
                    name: name.text.clone(),
                    of,
                },
            ));
        }
        let of = SizedType {
            ty: tag_type,
            bounds: Vec::new(),
            tag: initial,
        };
        let tag = Field {
            name: tag.text.clone(),
            of,
        };
        self.add_type(
            "a union",
            TypeKind::Union {
                tag,
                alternatives: fields,
            },
        )
    }

    fn array(
        &mut self,
        dimensions: &[(Vec<Name>, Option<Box<Bounds>>)],
        element: &syntax::Type,
    ) -> TypeId {
        let mut indices = Vec::new();
        let mut bounds = Vec::new();
        for (index, given) in dimensions {
            let ty = self.type_named(index);
            self.check_index(ty, index[index.len() - 1].span);
            indices.push(ty);
            if let Some(given) = given {
                bounds.push(self.bounds(given, ty));
            }
        }
        if !bounds.is_empty() && bounds.len() < indices.len() {
            let span = dimensions[0].0[0].span;
            self.error(
                span,
                "either all dimensions have bounds in the type, or none has",
            );
            bounds.clear();
        }
        let element = self.ty(element);
        let names: Vec<&str> = indices.iter().map(|ty| self.name_of(*ty)).collect();
        let name = format!("ARRAY[{}] OF {}", names.join(", "), self.name_of(element));
        self.add_type(
            name,
            TypeKind::Array {
                indices,
                bounds,
                element,
            },
        )
    }

    fn check_index(&mut self, ty: TypeId, span: Span) {
        if !self.program.is_discrete(ty) {
            let message = format!("values of {} are no indices", self.name_of(ty));
            let help = "indices are integers, characters, booleans or values of an enumeration";
            self.error_help(span, message, help);
        }
    }

    fn bounds(&mut self, (low, high): &Bounds, index: TypeId) -> (Expr, Expr) {
        let low = self.value_of(low, index, "bounds");
        let high = self.value_of(high, index, "bounds");
        for bound in [&low, &high] {
            self.check_bound(bound);
        }
        (low, high)
    }

    /// Checks a bound. Bounds are computed when a variable is created, so they call nothing and use
    /// no locals.
    fn check_bound(&mut self, bound: &Expr) {
        use crate::program::{ExprKind, VariableKind};
        match &bound.kind {
            ExprKind::Variable(id) => {
                let kind = self.program.variable(*id).kind;
                if matches!(kind, VariableKind::Local | VariableKind::Loop) {
                    let message = "a bound cannot depend on a local variable";
                    let help = "bounds are made of constants, parameters and data modules";
                    self.error_help(bound.span, message, help);
                }
            }
            ExprKind::Call(..) | ExprKind::CallValue(..) | ExprKind::Invoke(..) => {
                let help = "compute it in the caller and pass it as a parameter";
                self.error_help(bound.span, "a bound calls no function", help);
            }
            ExprKind::Unary(_, operand) => self.check_bound(operand),
            ExprKind::Binary(_, left, right) => {
                self.check_bound(left);
                self.check_bound(right);
            }
            _ => {}
        }
    }

    /// Makes a type with initial bounds from its text.
    pub(super) fn sized(&mut self, of: &syntax::SizedType) -> SizedType {
        let ty = self.ty(&of.ty);
        let mut sized = SizedType {
            ty,
            bounds: Vec::new(),
            tag: None,
        };
        let mut inner = ty;
        for given in &of.bounds {
            let indices = match self.program.kind(inner).clone() {
                TypeKind::Error => return sized,
                TypeKind::Array {
                    indices,
                    element,
                    bounds,
                } => {
                    if !bounds.is_empty() {
                        let message = format!("{} has bounds already", self.name_of(inner));
                        self.error(of.ty.span, message);
                        return sized;
                    }
                    inner = element;
                    indices
                }
                TypeKind::Object(unit) if self.program.unit(unit).shape.is_some() => {
                    inner = self.known.error;
                    self.program.unit(unit).shape.clone().unwrap_or_default()
                }
                _ => {
                    let message = format!("values of {} have no bounds", self.name_of(inner));
                    self.error_help(
                        of.ty.span,
                        message,
                        "only arrays and partitioned objects do",
                    );
                    return sized;
                }
            };
            if indices.len() != given.len() {
                let message = format!("{} bounds for {} dimensions", given.len(), indices.len());
                self.error(of.ty.span, message);
                return sized;
            }
            let pairs = given.iter().zip(indices);
            let bounds = pairs
                .map(|(given, index)| self.bounds(given, index))
                .collect();
            sized.bounds.push(bounds);
        }
        if let Some(tag) = &of.tag {
            match self.program.kind(ty).clone() {
                TypeKind::Union { tag: field, .. } => {
                    sized.tag = self.discrete_constant(tag, field.of.ty);
                }
                TypeKind::Error => {}
                _ => self.error(tag.span, format!("{} has no tag", self.name_of(ty))),
            }
        }
        sized
    }

    /// Returns a type without initial bounds.
    pub(super) fn plain(ty: TypeId) -> SizedType {
        SizedType {
            ty,
            bounds: Vec::new(),
            tag: None,
        }
    }
}
