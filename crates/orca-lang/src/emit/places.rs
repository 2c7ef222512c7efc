//! Places: variables and their parts, as C expressions for the left side of `=`.

use super::Emitter;
use super::expressions::has_effect;
use super::types::field_name;
use crate::program::{Expr, ExprKind, Mode, TypeKind, VariableId, VariableKind};

impl Emitter<'_> {
    /// Returns a variable in C.
    pub(super) fn variable(&mut self, id: VariableId) -> String {
        let name = self.variable_name(id);
        let variable = self.program.variable(id);
        match variable.kind {
            VariableKind::State => match self.element_of(id) {
                Some(_) => format!("own->{name}"),
                None => format!("self->{name}"),
            },
            VariableKind::Data => format!("g{}_{}", id.0, variable.name),
            VariableKind::Parameter(_) if self.here.is_none() => self.parameter_of_environment(id),
            VariableKind::Parameter(Mode::Shared) => format!("(*{name})"),
            VariableKind::Parameter(Mode::In) if self.is_borrowed(id) => format!("(*{name})"),
            _ => name,
        }
    }

    /// Returns whether a parameter of the current routine is its caller's value: it has a
    /// structure, and the routine does not change it or is meant to.
    pub(super) fn is_borrowed(&self, id: VariableId) -> bool {
        let Some(here) = self.here else { return false };
        let routine = self.program.routine(here.routine);
        let found = routine.parameters.iter().position(|it| *it == id);
        let is_written = found.and_then(|at| routine.effects.writes_parameter.get(at));
        (is_written == Some(&false) || self.program.is_reference(here.routine, id))
            && !self.is_scalar(self.program.variable(id).of.ty)
            && routine.kind != crate::program::RoutineKind::Process
    }

    /// Returns a place that is changed.
    pub(super) fn target(&mut self, expr: &Expr) -> String {
        self.is_target = true;
        let place = self.place(expr);
        self.is_target = false;
        place
    }

    /// Returns a place, or a temporary with the value of another expression.
    pub(super) fn place(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Variable(id) => self.variable(*id),
            ExprKind::Field(base, index) => self.field(base, *index, expr),
            ExprKind::Tag(base) => format!("{}.tag.value", self.place(base)),
            ExprKind::State(base, id) => {
                let base = self.place(base);
                let name = self.variable_name(*id);
                let unit = self.unit_with(*id);
                format!("((struct s{unit} *)orca_object_state({base}))->{name}")
            }
            ExprKind::Element(base, indices) => self.element(base, indices, expr),
            ExprKind::Node(graph, name, index) => self.node(graph, name, *index, expr),
            _ => self.value(expr),
        }
    }

    /// Returns the number of the object unit that has a variable in its state.
    fn unit_with(&self, id: VariableId) -> usize {
        let mut units = self.program.units.iter();
        units
            .position(|unit| unit.variables.contains(&id))
            .unwrap_or_default()
    }

    fn field(&mut self, base: &Expr, index: usize, whole: &Expr) -> String {
        let program = self.program;
        let of = self.place(base);
        match program.kind(base.ty) {
            TypeKind::Union { alternatives, .. } => {
                let at = self.at(whole.span);
                let (tag, field) = &alternatives[index];
                let name = field_name(index, field);
                self.line(format!("orca_select({at}, &{of}.tag, {tag});"));
                format!("{of}.as.{name}")
            }
            TypeKind::Record(fields) | TypeKind::Graph { fields, .. } => {
                format!("{of}.{}", field_name(index, &fields[index]))
            }
            _ => of,
        }
    }

    fn element(&mut self, base: &Expr, indices: &[Expr], whole: &Expr) -> String {
        let is_target = std::mem::take(&mut self.is_target);
        let mut values = self.values_in_order(indices);
        if let ExprKind::Variable(id) = base.kind
            && let Some(unit) = self.element_of(id)
        {
            let at = self.at(whole.span);
            return self.element_field((unit, id), (indices, &values), is_target, &at);
        }
        if has_effect(base) {
            let pairs = values.into_iter().zip(indices);
            values = pairs
                .map(|(value, index)| self.kept(value, index))
                .collect();
        }
        let c_type = self.c_type(whole.ty);
        let at = self.at(whole.span);
        if let [i] = &values[..]
            && let Some(element) = self.checked_before(base, i, &c_type, &at)
        {
            return element;
        }
        self.is_target = is_target;
        let array = self.stable_place(base);
        self.is_target = false;
        match &values[..] {
            [i] => format!("ORCA_AT1({c_type}, &{array}, {i}, {at})"),
            [i, j] => format!("ORCA_AT2({c_type}, &{array}, {i}, {j}, {at})"),
            [i, j, k] => format!("ORCA_AT3({c_type}, &{array}, {i}, {j}, {k}, {at})"),
            all => {
                let (count, all) = (all.len(), all.join(", "));
                format!("ORCA_ATN({c_type}, &{array}, {count}, {at}, {all})")
            }
        }
    }

    /// Returns an element of an array if a loop has looked up the array or checked the index.
    fn checked_before(&mut self, array: &Expr, i: &str, c_type: &str, at: &str) -> Option<String> {
        let list = self.list(array)?;
        let checks = self.row_checks(array, at);
        let range = self.range(&list, i);
        if checks.is_none() && range.is_none() {
            return None;
        }
        let (range, checks) = (range.unwrap_or("0"), checks.unwrap_or("0".into()));
        Some(format!(
            "ORCA_AT_IF({c_type}, &{list}, {i}, {at}, {range}, ({checks}))"
        ))
    }

    /// Returns a place that is cheap to name several times.
    fn stable_place(&mut self, expr: &Expr) -> String {
        let place = self.place(expr);
        if is_simple(expr) {
            return place;
        }
        let (name, c_type) = (self.fresh(), self.c_type(expr.ty));
        self.line(format!("{c_type} *const {name} = ({c_type} *)&{place};"));
        format!("(*{name})")
    }

    fn node(&mut self, graph: &Expr, name: &Expr, index: usize, whole: &Expr) -> String {
        let program = self.program;
        let TypeKind::Graph { nodes, .. } = program.kind(graph.ty) else {
            return String::new();
        };
        let number = graph.ty.0;
        let is_target = std::mem::take(&mut self.is_target);
        let name = self.value_before(name, graph);
        self.is_target = is_target;
        let graph = self.place(graph);
        self.is_target = false;
        let at = self.at(whole.span);
        let field = field_name(index, &nodes[index]);
        format!("((struct n{number} *)orca_graph_node({at}, &{graph}.graph, {name}))->{field}")
    }
}

/// Returns whether the C text of a place is a path of names.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) => true,
        ExprKind::Field(base, _) => is_simple(base),
        _ => false,
    }
}
