//! Components of values: fields, nodes of graphs, elements of arrays.

use antiphon_lang::{Span, nearest};

use super::Checker;
use crate::program::{Expr, ExprKind, Field, TypeId, TypeKind};
use crate::syntax::{Expression, ExpressionKind, Name};

impl Checker<'_> {
    pub(super) fn field(&mut self, base: &Expression, name: &Name, span: Span) -> Expr {
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

    pub(super) fn element(&mut self, base: Expr, indices: &[Expression], span: Span) -> Expr {
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
}
