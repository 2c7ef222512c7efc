//! Expressions and designators.

use antiphon_lang::{Span, nearest};

use super::Checker;
use super::scope::Symbol;
use crate::program::{
    Binary, Expr, ExprKind, Field, Predefined, Restriction, TypeId, TypeKind, Unary, Value,
    VariableId, VariableKind, Width,
};
use crate::syntax::{Expression, ExpressionKind, Name, RoutineKind, Row};

impl Checker<'_> {
    pub(super) fn wrong(&self, span: Span) -> Expr {
        Expr {
            kind: ExprKind::Wrong,
            ty: self.known.error,
            span,
        }
    }

    fn constant_expr(&self, value: Value, ty: TypeId, span: Span) -> Expr {
        Expr {
            kind: ExprKind::Constant(value),
            ty,
            span,
        }
    }

    /// Checks an expression that must have a value.
    pub(super) fn expression(&mut self, expression: &Expression) -> Expr {
        let span = expression.span;
        let known = &self.known;
        match &expression.kind {
            ExpressionKind::Integer(value) => {
                self.constant_expr(Value::Integer(i64::from(*value)), known.integer, span)
            }
            ExpressionKind::Real(value) => {
                self.constant_expr(Value::Real(*value), known.real, span)
            }
            ExpressionKind::Character(value) => {
                self.constant_expr(Value::Integer(i64::from(*value)), known.char, span)
            }
            ExpressionKind::Text(text) => {
                self.constant_expr(Value::Text(text.clone()), known.string, span)
            }
            ExpressionKind::Name(_)
            | ExpressionKind::Select(..)
            | ExpressionKind::Index(..)
            | ExpressionKind::Follow(..) => {
                let designator = self.designator(expression);
                self.check_indexed(&designator);
                designator
            }
            ExpressionKind::Call(callee, arguments) => {
                let (call, has_result) = self.call(callee, arguments, span);
                self.needs_result(call, has_result, "function")
            }
            ExpressionKind::Invoke(object, operation, arguments) => {
                let (call, has_result) = self.invoke(object, operation, arguments, span);
                self.needs_result(call, has_result, "operation")
            }
            ExpressionKind::Direct(object, directive, arguments) => {
                self.direct(object, directive, arguments, span);
                self.error(span, "a directive has no result");
                self.wrong(span)
            }
            ExpressionKind::From(arguments) => {
                self.predefined(Predefined::From, arguments, span, span).0
            }
            ExpressionKind::Members(ty, members) => self.members(ty, members, span),
            ExpressionKind::Rows(ty, rows) => self.rows(ty, rows, span),
            ExpressionKind::Unary(operator, operand) => self.unary(*operator, operand, span),
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, span)
            }
        }
    }

    fn needs_result(&mut self, call: Expr, has_result: bool, what: &str) -> Expr {
        if has_result {
            return call;
        }
        let message = format!("a value is expected, and this {what} has no result");
        self.error_help(call.span, message, "call it as a statement");
        self.wrong(call.span)
    }

    /// Checks an expression that is assigned to a place of a type.
    pub(super) fn value_of(&mut self, value: &Expression, ty: TypeId, what: &str) -> Expr {
        let checked = self.expression(value);
        if !self.program.fits(ty, checked.ty) {
            let message = format!(
                "type incompatibility in {what}: {} is expected, this is {}",
                self.name_of(ty),
                self.name_of(checked.ty)
            );
            self.mismatch(value.span, message, ty, checked.ty);
        }
        checked
    }

    /// Checks a condition.
    pub(super) fn condition(&mut self, condition: &Expression) -> Expr {
        let checked = self.expression(condition);
        if !matches!(
            self.program.kind(checked.ty),
            TypeKind::Boolean | TypeKind::Error
        ) {
            let message = format!(
                "a boolean expression is expected, this is {}",
                self.name_of(checked.ty)
            );
            self.error(condition.span, message);
        }
        checked
    }

    /// Returns whether an expression designates a variable or a part of one.
    pub(super) fn is_place(expr: &Expr) -> bool {
        matches!(
            expr.kind,
            ExprKind::Variable(_)
                | ExprKind::Field(..)
                | ExprKind::State(..)
                | ExprKind::Element(..)
                | ExprKind::Node(..)
                | ExprKind::Wrong
        )
    }

    /// Checks a designator that is written to.
    pub(super) fn place(&mut self, expression: &Expression) -> Expr {
        let errors = self.error_count();
        let place = self.expression(expression);
        if self.error_count() > errors {
            return place;
        }
        if matches!(place.kind, ExprKind::Tag(_)) {
            let help = "assign a whole value, such as type:{tag, value}";
            self.error_help(
                place.span,
                "assignment to a union tag field is illegal",
                help,
            );
            return place;
        }
        if !Self::is_place(&place) {
            let what = match self.symbol_quietly(expression) {
                Some(symbol) => format!(", and this is {}", self.words(&symbol)),
                None => String::new(),
            };
            self.error(place.span, format!("a designator is expected{what}"));
            return place;
        }
        self.check_writable(&place);
        place
    }

    fn symbol_quietly(&mut self, expression: &Expression) -> Option<Symbol> {
        match &expression.kind {
            ExpressionKind::Name(name) => self.find(name),
            _ => None,
        }
    }

    fn check_writable(&mut self, place: &Expr) {
        let mut root = place;
        let mut own_element = None;
        loop {
            root = match &root.kind {
                ExprKind::Field(base, _) | ExprKind::State(base, _) | ExprKind::Node(base, ..) => {
                    base
                }
                ExprKind::Element(base, indices) => {
                    if let ExprKind::Variable(id) = base.kind
                        && self.is_partitioned(id)
                    {
                        own_element = Some(self.is_own(indices));
                    }
                    base
                }
                _ => break,
            };
        }
        let ExprKind::Variable(id) = root.kind else {
            return;
        };
        let variable = self.program.variable(id);
        let name = variable.name.clone();
        match variable.kind {
            VariableKind::Loop => {
                let message = format!("assignment to loop variable \"{name}\" is illegal");
                self.error_help(place.span, message, "copy it into a variable of its own");
            }
            VariableKind::Index => {
                let message = format!("assignment to partition index \"{name}\" is illegal");
                self.error(place.span, message);
            }
            VariableKind::Data if !self.is_data_module() => {
                let message = format!("assignment to data-module field \"{name}\" is illegal");
                let help = "only the initial code of its data module writes it";
                self.error_help(place.span, message, help);
            }
            VariableKind::State if own_element == Some(false) && self.in_parallel() => {
                let message = "assignment to a non-owned object field is illegal";
                let help = "a parallel operation writes the element at its own indices";
                self.error_help(place.span, message, help);
            }
            _ => {}
        }
    }

    fn in_parallel(&self) -> bool {
        self.here
            .routine
            .is_some_and(|id| self.program.routine(id).indices.is_some())
    }

    /// Returns whether indices are those of the parallel operation.
    fn is_own(&self, indices: &[Expr]) -> bool {
        let own = self
            .here
            .routine
            .and_then(|id| self.program.routine(id).indices.as_ref());
        own.is_some_and(|own| {
            own.len() == indices.len()
                && own
                    .iter()
                    .zip(indices)
                    .all(|(own, index)| matches!(index.kind, ExprKind::Variable(id) if id == *own))
        })
    }

    /// Returns whether a variable is a field of each element of a partitioned object.
    fn is_partitioned(&self, id: VariableId) -> bool {
        let Some(unit) = self.here.unit.map(|unit| self.program.unit(unit)) else {
            return false;
        };
        unit.shape.is_some() && unit.variables.contains(&id)
    }

    /// Checks that an unindexed element stands in a parallel operation, because elsewhere there is
    /// no own element.
    fn check_indexed(&mut self, designator: &Expr) {
        let mut root = designator;
        while let ExprKind::Field(base, _) | ExprKind::Node(base, ..) = &root.kind {
            root = base;
        }
        if let ExprKind::Variable(id) = root.kind
            && self.is_partitioned(id)
            && !self.in_parallel()
        {
            let name = &self.program.variable(id).name;
            let message = format!("\"{name}\" needs the indices of an element here");
            let help = "only a parallel operation has an element of its own";
            self.error_help(root.span, message, help);
        }
    }

    fn designator(&mut self, expression: &Expression) -> Expr {
        let span = expression.span;
        match &expression.kind {
            ExpressionKind::Name(_) => {
                let symbol = self.symbol_of(expression).unwrap_or(Symbol::Wrong);
                self.symbol_value(symbol, span)
            }
            ExpressionKind::Select(base, field) => {
                if let ExpressionKind::Name(name) = &base.kind
                    && let Some(Symbol::Unit(unit)) = self.find(name)
                {
                    let symbol = self.exported(unit, field);
                    return self.symbol_value(symbol, span);
                }
                self.field(base, field, span)
            }
            ExpressionKind::Index(base, indices) => {
                let base = self.designator(base);
                self.element(base, indices, span)
            }
            ExpressionKind::Follow(..) => {
                self.error_help(
                    span,
                    "a node is no value",
                    "select a field of it: graph!name.field",
                );
                self.wrong(span)
            }
            _ => self.expression(expression),
        }
    }

    fn symbol_value(&mut self, symbol: Symbol, span: Span) -> Expr {
        match symbol {
            Symbol::Constant(value, ty) => self.constant_expr(value, ty, span),
            Symbol::Variable(id) => self.variable(id, span),
            Symbol::Routine(id) => {
                let routine = self.program.routine(id);
                if routine.kind == RoutineKind::Process {
                    self.error(span, "a process is no value");
                    return self.wrong(span);
                }
                if self.program.unit(routine.unit).kind == crate::syntax::UnitKind::Data {
                    self.error(span, "a function of a data module is no value");
                }
                let ty = self.type_of_routine(id);
                Expr {
                    kind: ExprKind::Function(id),
                    ty,
                    span,
                }
            }
            Symbol::Nil => Expr {
                kind: ExprKind::Nil,
                ty: self.known.nil,
                span,
            },
            Symbol::Predefined(predefined) => {
                let name = predefined.name();
                let message = format!("\"{name}\" is called with parentheses");
                self.error_help(span, message, format!("write {name}(..)"));
                self.wrong(span)
            }
            Symbol::Itself => {
                let help = "SELF$operation(..) calls another operation of the object";
                self.error_help(span, "SELF is no value", help);
                self.wrong(span)
            }
            Symbol::Type(_) | Symbol::Unit(_) => {
                let message = format!("this is {}, and a value is expected", self.words(&symbol));
                self.error(span, message);
                self.wrong(span)
            }
            Symbol::Wrong => self.wrong(span),
        }
    }

    fn variable(&mut self, id: VariableId, span: Span) -> Expr {
        let variable = self.program.variable(id);
        let ty = variable.of.ty;
        let is_hidden = match variable.kind {
            VariableKind::State => !self.sees_state(),
            VariableKind::Index => self.here.routine.is_some() && !self.sees_state(),
            _ => false,
        };
        if is_hidden {
            let message = format!("\"{}\" is a part of the object's state", variable.name);
            let help = "only operations and initial code see it: pass it as a parameter";
            self.error_help(span, message, help);
        }
        Expr {
            kind: ExprKind::Variable(id),
            ty,
            span,
        }
    }

    fn field(&mut self, base: &Expression, name: &Name, span: Span) -> Expr {
        // A field of a node: graph[name].field, or graph!field.field.
        if let ExpressionKind::Index(graph, indices) = &base.kind
            && let [index] = &indices[..]
        {
            let graph = self.designator(graph);
            if matches!(self.program.kind(graph.ty), TypeKind::Graph { .. }) {
                let node = self.node_name(index, graph.ty);
                return self.node(graph, node, name, span);
            }
            let element = self.element(graph, indices, base.span);
            return self.field_of(element, name, span);
        }
        if let ExpressionKind::Follow(graph, through) = &base.kind {
            let graph = self.designator(graph);
            if !matches!(
                self.program.kind(graph.ty),
                TypeKind::Graph { .. } | TypeKind::Error
            ) {
                let message = format!("{} is no graph", self.name_of(graph.ty));
                self.error(graph.span, message);
                return self.wrong(span);
            }
            let node = self.field_of(graph.clone(), through, base.span);
            return self.node(graph, node, name, span);
        }
        let base = self.designator(base);
        self.field_of(base, name, span)
    }

    fn node_name(&mut self, index: &Expression, graph: TypeId) -> Expr {
        let node = self.expression(index);
        self.check_node_name(&node, graph);
        node
    }

    /// Checks that a value names nodes of a graph.
    pub(super) fn check_node_name(&mut self, node: &Expr, graph: TypeId) {
        let fits = match self.program.kind(node.ty) {
            TypeKind::NodeName { graph: of, .. } => *of == Some(graph),
            TypeKind::Error | TypeKind::Nil => true,
            _ => false,
        };
        if !fits {
            let message = format!(
                "type incompatibility: a NODENAME OF {} is expected, this is {}",
                self.name_of(graph),
                self.name_of(node.ty)
            );
            self.error(node.span, message);
        }
    }

    fn node(&mut self, graph: Expr, node: Expr, name: &Name, span: Span) -> Expr {
        let TypeKind::Graph { nodes, .. } = self.program.kind(graph.ty) else {
            return self.wrong(span);
        };
        match nodes.iter().position(|field| field.name == name.text) {
            Some(index) => {
                let ty = nodes[index].of.ty;
                let kind = ExprKind::Node(Box::new(graph), Box::new(node), index);
                Expr { kind, ty, span }
            }
            None => {
                let nodes = nodes.clone();
                let whose = format!("the nodes of {}", self.name_of(graph.ty));
                self.no_field(name, &whose, &nodes);
                self.wrong(span)
            }
        }
    }

    fn no_field(&mut self, name: &Name, whose: &str, fields: &[Field]) {
        let message = format!("{whose} has no field \"{}\"", name.text);
        match nearest(&name.text, fields.iter().map(|field| field.name.as_str())) {
            Some(like) => self.error_help(name.span, message, format!("did you mean {like}?")),
            None => self.error(name.span, message),
        }
    }

    fn field_of(&mut self, base: Expr, name: &Name, span: Span) -> Expr {
        let kind = self.program.kind(base.ty).clone();
        let fields = match kind {
            TypeKind::Error => return self.wrong(span),
            TypeKind::Record(fields) | TypeKind::Graph { fields, .. } => fields,
            TypeKind::Union { tag, alternatives } => {
                if tag.name == name.text {
                    return Expr {
                        kind: ExprKind::Tag(Box::new(base)),
                        ty: tag.of.ty,
                        span,
                    };
                }
                alternatives.into_iter().map(|(_, field)| field).collect()
            }
            TypeKind::Object(unit) => {
                let of = self.program.unit(unit);
                let found = of.variables.iter().copied();
                let found = found
                    .clone()
                    .find(|id| self.program.variable(*id).name == name.text);
                return match found {
                    Some(id) if self.here.unit == Some(unit) && self.sees_state() => {
                        let ty = self.program.variable(id).of.ty;
                        Expr {
                            kind: ExprKind::State(Box::new(base), id),
                            ty,
                            span,
                        }
                    }
                    _ => {
                        let message = format!("the state of {} is hidden", of.name);
                        let help = "objects are used by operations: object$operation(..)";
                        self.error_help(name.span, message, help);
                        self.wrong(span)
                    }
                };
            }
            _ => {
                let message = format!("values of {} have no fields", self.name_of(base.ty));
                self.error(base.span, message);
                return self.wrong(span);
            }
        };
        match fields.iter().position(|field| field.name == name.text) {
            Some(index) => {
                let ty = fields[index].of.ty;
                Expr {
                    kind: ExprKind::Field(Box::new(base), index),
                    ty,
                    span,
                }
            }
            None => {
                let whose = self.name_of(base.ty).to_owned();
                self.no_field(name, &whose, &fields);
                self.wrong(span)
            }
        }
    }

    fn element(&mut self, base: Expr, indices: &[Expression], span: Span) -> Expr {
        if let ExprKind::Variable(id) = base.kind
            && self.is_partitioned(id)
        {
            let unit = self.here.unit.map(|unit| self.program.unit(unit));
            let shape = unit.and_then(|unit| unit.shape.clone()).unwrap_or_default();
            let ty = base.ty;
            let indices = self.indices_of(&shape, indices, span);
            return Expr {
                kind: ExprKind::Element(Box::new(base), indices),
                ty,
                span,
            };
        }
        match self.program.kind(base.ty).clone() {
            TypeKind::Array {
                indices: types,
                element,
                ..
            } => {
                let indices = self.indices_of(&types, indices, span);
                Expr {
                    kind: ExprKind::Element(Box::new(base), indices),
                    ty: element,
                    span,
                }
            }
            TypeKind::Graph { .. } => {
                let help = "select a field of it: graph[name].field";
                self.error_help(span, "a node is no value", help);
                self.wrong(span)
            }
            TypeKind::Error => {
                self.values(indices);
                self.wrong(span)
            }
            _ => {
                let message = format!(
                    "[ is only allowed on graphs and arrays, not on {}",
                    self.name_of(base.ty)
                );
                self.error(span, message);
                self.wrong(span)
            }
        }
    }

    fn indices_of(&mut self, types: &[TypeId], indices: &[Expression], span: Span) -> Vec<Expr> {
        if types.len() != indices.len() {
            let message = format!("{} indices for {} dimensions", indices.len(), types.len());
            self.error(span, message);
            return self.values(indices);
        }
        let pairs = indices.iter().zip(types);
        pairs
            .map(|(index, ty)| self.value_of(index, *ty, "an index"))
            .collect()
    }

    fn aggregate_type(&mut self, ty: &Expression) -> Option<TypeId> {
        match self.symbol_of(ty) {
            Some(Symbol::Type(ty)) => Some(ty),
            Some(Symbol::Wrong) => None,
            _ => {
                self.error_help(
                    ty.span,
                    "an aggregate begins with its type",
                    "write type:[..] or type:{..}",
                );
                None
            }
        }
    }

    fn members(&mut self, ty: &Expression, members: &[Expression], span: Span) -> Expr {
        let Some(ty) = self.aggregate_type(ty) else {
            self.values(members);
            return self.wrong(span);
        };
        let members = match self.program.kind(ty).clone() {
            TypeKind::Set(of) | TypeKind::Bag(of) => members
                .iter()
                .map(|it| self.value_of(it, of, "an aggregate"))
                .collect(),
            TypeKind::Record(fields) => {
                if fields.len() != members.len() {
                    let many = if members.len() < fields.len() {
                        "few"
                    } else {
                        "many"
                    };
                    let message = format!("the record aggregate has too {many} members");
                    let help = format!("{} has {} fields", self.name_of(ty), fields.len());
                    self.error_help(span, message, help);
                    self.values(members);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                }
                let pairs = members.iter().zip(&fields);
                pairs
                    .map(|(it, field)| self.value_of(it, field.of.ty, "a record aggregate"))
                    .collect()
            }
            TypeKind::Union { tag, alternatives } => {
                let [label, value] = members else {
                    let help = "write type:{tag, value}";
                    self.error_help(span, "a union aggregate has a tag and a value", help);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                };
                let number = self.discrete_constant(label, tag.of.ty);
                let found = alternatives.iter().find(|(it, _)| Some(*it) == number);
                let Some((number, field)) = found else {
                    if number.is_some() {
                        let message =
                            format!("{} has no alternative for this tag", self.name_of(ty));
                        self.error(label.span, message);
                    }
                    self.expression(value);
                    return Expr {
                        kind: ExprKind::Wrong,
                        ty,
                        span,
                    };
                };
                let value = self.value_of(value, field.of.ty, "a union aggregate");
                let label = self.constant_expr(Value::Integer(*number), tag.of.ty, label.span);
                vec![label, value]
            }
            TypeKind::Error => return self.wrong(span),
            TypeKind::Array { .. } => {
                self.error_help(
                    span,
                    "the elements of an array stand in brackets",
                    "write type:[..]",
                );
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
            _ => {
                let message = format!("there are no aggregates of {}", self.name_of(ty));
                self.error(span, message);
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
        };
        Expr {
            kind: ExprKind::Members(members),
            ty,
            span,
        }
    }

    fn rows(&mut self, ty: &Expression, rows: &[Row], span: Span) -> Expr {
        let Some(ty) = self.aggregate_type(ty) else {
            return self.wrong(span);
        };
        let (dimensions, element) = match self.program.kind(ty).clone() {
            TypeKind::Array {
                indices,
                element,
                bounds,
            } => {
                let is_known = |it: &Expr| matches!(it.kind, ExprKind::Constant(_));
                if bounds
                    .iter()
                    .any(|(low, high)| !is_known(low) || !is_known(high))
                {
                    let message = format!("the bounds of {} are not constant", self.name_of(ty));
                    self.error_help(span, message, "such a type has no aggregates");
                }
                (indices.len(), element)
            }
            TypeKind::Error => return self.wrong(span),
            _ => {
                let message = format!("{} is no array", self.name_of(ty));
                self.error_help(
                    span,
                    message,
                    "members of others stand in braces: type:{..}",
                );
                return Expr {
                    kind: ExprKind::Wrong,
                    ty,
                    span,
                };
            }
        };
        let mut sizes = vec![None; dimensions];
        let mut elements = Vec::new();
        self.row(rows, span, &mut sizes, 0, element, &mut elements);
        let sizes: Vec<usize> = sizes.into_iter().map(Option::unwrap_or_default).collect();
        self.check_sizes(ty, &sizes, span);
        Expr {
            kind: ExprKind::Elements(sizes, elements),
            ty,
            span,
        }
    }

    fn row(
        &mut self,
        rows: &[Row],
        span: Span,
        sizes: &mut [Option<usize>],
        depth: usize,
        element: TypeId,
        elements: &mut Vec<Expr>,
    ) {
        match sizes[depth] {
            Some(size) if size != rows.len() => {
                let message = format!(
                    "this row has {} elements, the one before {size}",
                    rows.len()
                );
                self.error(span, message);
            }
            _ => sizes[depth] = Some(rows.len()),
        }
        let is_last = depth + 1 == sizes.len();
        for row in rows {
            match row {
                Row::Element(value) if is_last => {
                    elements.push(self.value_of(value, element, "an array aggregate"));
                }
                Row::Row(rows, span) if !is_last => {
                    self.row(rows, *span, sizes, depth + 1, element, elements);
                }
                Row::Element(value) => {
                    let help = format!("the array has {} dimensions", sizes.len());
                    self.error_help(value.span, "a row in brackets is expected", help);
                    return;
                }
                Row::Row(_, span) => {
                    let help = "an element that is an array begins with its type";
                    self.error_help(*span, "an element is expected", help);
                    return;
                }
            }
        }
    }

    /// Checks that an aggregate of a type with bounds has as many elements as those say.
    fn check_sizes(&mut self, ty: TypeId, sizes: &[usize], span: Span) {
        let TypeKind::Array { bounds, .. } = self.program.kind(ty) else {
            return;
        };
        for ((low, high), size) in bounds.iter().zip(sizes) {
            if let (
                ExprKind::Constant(Value::Integer(low)),
                ExprKind::Constant(Value::Integer(high)),
            ) = (&low.kind, &high.kind)
                && high - low + 1 != *size as i64
            {
                let message = format!("{size} elements for {} places", high - low + 1);
                self.error(span, message);
                return;
            }
        }
    }

    fn unary(&mut self, operator: Unary, operand: &Expression, span: Span) -> Expr {
        let checked = self.expression(operand);
        let kind = self.program.kind(checked.ty).clone();
        let (fits, sign) = match operator {
            Unary::Plus | Unary::Minus => (self.program.is_numeric(checked.ty), "a sign"),
            Unary::Not => (matches!(kind, TypeKind::Boolean | TypeKind::Error), "NOT"),
            Unary::Complement => (self.program.is_integer(checked.ty), "~"),
        };
        if !fits {
            let message = format!(
                "illegal operand type in {sign}: {}",
                self.name_of(checked.ty)
            );
            self.error(span, message);
            return self.wrong(span);
        }
        let ty = match kind {
            TypeKind::Integer(Width::Short) => self.known.integer,
            _ => checked.ty,
        };
        let kind = match self.fold_unary(operator, &checked, ty) {
            Some(value) => ExprKind::Constant(value),
            None => ExprKind::Unary(operator, Box::new(checked)),
        };
        Expr { kind, ty, span }
    }

    /// Checks an operator between its operands.
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
        span: Span,
    ) -> Expr {
        let left = self.expression(left);
        let right = self.expression(right);
        self.combine(operator, left, right, span)
    }

    /// Combines checked operands.
    pub(super) fn combine(
        &mut self,
        operator: Binary,
        left: Expr,
        right: Expr,
        span: Span,
    ) -> Expr {
        if self.program.is_error(left.ty) || self.program.is_error(right.ty) {
            let is_boolean = operator.is_relation();
            let ty = if is_boolean {
                self.known.boolean
            } else {
                self.known.error
            };
            return Expr {
                kind: ExprKind::Wrong,
                ty,
                span,
            };
        }
        let Some(ty) = self.result_type(operator, left.ty, right.ty) else {
            let message = format!(
                "illegal operand type(s) in {}: {} and {}",
                operator.text(),
                self.name_of(left.ty),
                self.name_of(right.ty)
            );
            match self.operand_help(operator, left.ty, right.ty) {
                Some(help) => self.error_help(span, message, help),
                None => self.error(span, message),
            }
            let ty = if operator.is_relation() {
                self.known.boolean
            } else {
                self.known.error
            };
            return Expr {
                kind: ExprKind::Wrong,
                ty,
                span,
            };
        };
        let kind = match self.fold_binary(operator, (&left, &right), ty, span) {
            Some(value) => ExprKind::Constant(value),
            None => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
        };
        Expr { kind, ty, span }
    }

    fn operand_help(&self, operator: Binary, left: TypeId, right: TypeId) -> Option<&'static str> {
        let kinds = (self.program.kind(left), self.program.kind(right));
        match (operator, kinds) {
            (Binary::And | Binary::Or, _) => {
                Some("AND and OR bind tighter than relations: write (a = b) AND c")
            }
            (_, (TypeKind::Integer(_), TypeKind::Real(_)))
            | (_, (TypeKind::Real(_), TypeKind::Integer(_))) => {
                Some("integers and reals do not mix: write FLOAT(n), 1.0 or TRUNC(x)")
            }
            (_, (TypeKind::Object(_), _)) => Some("objects are compared by what operations tell"),
            (Binary::Add, (TypeKind::Array { .. }, _)) => {
                Some("there is no operator that joins strings")
            }
            _ => None,
        }
    }

    /// Returns the type of an operator's result; `None` if it is not defined for these operands.
    fn result_type(&self, operator: Binary, left: TypeId, right: TypeId) -> Option<TypeId> {
        use Binary::{
            Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterEqual, In, Less,
            LessEqual, Modulo, Multiply, NotEqual, Or, ShiftLeft, ShiftRight, Subtract,
        };
        let program = &self.program;
        let (a, b) = (program.kind(left), program.kind(right));
        let boolean = self.known.boolean;
        let is_same = program.is_same(left, right);
        match operator {
            Add | Subtract | Multiply | Divide => match (a, b) {
                (TypeKind::Integer(a), TypeKind::Integer(b)) => Some(self.integer(*a.max(b))),
                (TypeKind::Real(Width::Short), TypeKind::Real(Width::Short)) => Some(left),
                (TypeKind::Real(_), TypeKind::Real(_)) => Some(self.known.real),
                (TypeKind::Set(_), TypeKind::Set(_)) | (TypeKind::Bag(_), TypeKind::Bag(_)) => {
                    is_same.then_some(left)
                }
                (TypeKind::Parameter(Restriction::Numeric), _) => is_same.then_some(left),
                _ => None,
            },
            Modulo | BitOr | BitAnd | BitXor | ShiftLeft | ShiftRight => match (a, b) {
                (TypeKind::Integer(a), TypeKind::Integer(b)) => Some(self.integer(*a.max(b))),
                _ => None,
            },
            And | Or => {
                let are_booleans = matches!((a, b), (TypeKind::Boolean, TypeKind::Boolean));
                are_booleans.then_some(boolean)
            }
            Equal | NotEqual => {
                let fits = program.fits(left, right) || program.fits(right, left);
                let here = self.here.unit;
                let are_equal =
                    program.has_equality(left, here) && program.has_equality(right, here);
                (fits && are_equal).then_some(boolean)
            }
            Less | LessEqual | Greater | GreaterEqual => {
                let fits = program.fits(left, right) && program.fulfils(left, Restriction::Scalar);
                fits.then_some(boolean)
            }
            In => match b {
                TypeKind::Set(of) | TypeKind::Bag(of) => program.fits(*of, left).then_some(boolean),
                _ => None,
            },
        }
    }

    /// Returns the type of an integer result, which is computed in 32 bits at least.
    fn integer(&self, width: Width) -> TypeId {
        match width {
            Width::Long => self.known.longint,
            _ => self.known.integer,
        }
    }
}
