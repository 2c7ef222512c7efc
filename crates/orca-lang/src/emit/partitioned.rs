//! Partitioned objects: operations on elements, and what they read of others.
//!
//! A parallel operation is a function of one element, which `own` points to, and a function that
//! runs it on all elements of a part. `own` is the element as the operation leaves it, and the
//! `view` has all elements as they were before. A sequential operation reads and changes elements
//! through its view.

use antiphon_lang::c::string;

use super::Emitter;
use crate::effects::{for_each_expr, parts};
use crate::program::{
    Binary, Combination, Expr, ExprKind, Mode, Predefined, RoutineId, RoutineKind, Stat, StatKind,
    TypeId, TypeKind, UnitId, VariableId, VariableKind,
};

/// What an operation reads beyond its own element.
enum Reading {
    Own,
    Whole,
    /// Elements at these indices, which depend on the own ones alone.
    Static(Vec<Vec<Expr>>),
    /// The elements that its DEPENDENCIES declare, which may depend on its arguments.
    Declared {
        by_call: bool,
    },
    Recorded,
    OnDemand,
}

/// A result of a parallel operation that a function reduces.
struct Reduced {
    name: String,
    ty: TypeId,
    function: RoutineId,
}

impl Emitter<'_> {
    /// Returns the number of dimensions of a partitioned object's unit.
    pub(super) fn shape(&self, unit: UnitId) -> Option<usize> {
        self.program.unit(unit).shape.as_ref().map(Vec::len)
    }

    /// Returns the unit of a type of partitioned objects.
    pub(super) fn partitioned(&self, ty: TypeId) -> Option<UnitId> {
        match self.program.kind(ty) {
            TypeKind::Object(unit) if self.shape(*unit).is_some() => Some(*unit),
            _ => None,
        }
    }

    /// Returns the partitioned unit of which a variable is a field of each element.
    pub(super) fn element_of(&self, id: VariableId) -> Option<UnitId> {
        if self.program.variable(id).kind != VariableKind::State {
            return None;
        }
        let unit = self
            .here
            .map(|here| self.program.routine(here.routine).unit)?;
        let of = self.program.unit(unit);
        (of.shape.is_some() && of.variables.contains(&id)).then_some(unit)
    }

    /// Returns whether indices are those of the parallel operation itself.
    fn is_own(&self, routine: RoutineId, indices: &[Expr]) -> bool {
        let own = self.program.routine(routine).indices.as_deref();
        own.is_some_and(|own| {
            let pairs = own.iter().zip(indices);
            pairs
                .into_iter()
                .all(|(own, it)| matches!(it.kind, ExprKind::Variable(id) if id == *own))
        })
    }

    /// Returns the field of an element.
    pub(super) fn element_field(
        &mut self,
        (unit, id): (UnitId, VariableId),
        (indices, values): (&[Expr], &[String]),
        is_target: bool,
        at: &str,
    ) -> String {
        let (name, number) = (self.variable_name(id), unit.0);
        if self
            .here
            .is_some_and(|here| self.is_own(here.routine, indices))
        {
            return format!("own->{name}");
        }
        let (count, values) = (values.len(), values.join(", "));
        format!(
            "((struct s{number} *)orca_element{count}(view, sizeof(struct s{number}), {is_target}, {at}, {values}))->{name}"
        )
    }

    /// Declares the bounds of the object as variables.
    pub(super) fn bounds(&mut self, unit: UnitId) {
        for (place, id) in self.program.unit(unit).bounds.iter().enumerate() {
            let c_type = self.c_type(self.program.variable(*id).of.ty);
            let name = self.variable_name(*id);
            let side = if place % 2 == 0 { "LB" } else { "UB" };
            let dimension = place / 2;
            self.line(format!(
                "const {c_type} {name} = ({c_type})ORCA_{side}(view, {dimension});"
            ));
        }
    }

    /// Describes a type of partitioned objects.
    pub(super) fn partitioned_object(&mut self, unit: UnitId) -> String {
        let of = self.program.unit(unit);
        let number = unit.0;
        let mut rows = String::new();
        for id in &of.operations {
            rows += &self.partitioned_row(*id);
        }
        let unique = string(self.unique_name(unit).as_bytes());
        let initial = of.initial.map_or("0".into(), |id| format!("b{}", id.0));
        let dimensions = self.shape(unit).unwrap_or_default();
        self.announced +=
            &format!("static const struct orca_array_operation operations{number}[];\n");
        format!(
            "static const struct orca_array_operation operations{number}[] = {{\n{rows}    {{0}}}};\nstatic const struct orca_array_type c{number} = {{\n    {unique}, &ts{number}, {dimensions}, {initial}, operations{number}, {}}};\n",
            of.operations.len()
        )
    }

    fn partitioned_row(&self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let n = id.0;
        let is_parallel = routine.indices.is_some();
        let mut modes = routine.parameters.iter().map(|it| self.mode(*it));
        let has_result = routine.result.is_some() || modes.any(|mode| mode == Mode::Out);
        let (reads, declares) = match self.reading(id) {
            Reading::Own => ("OWN", false),
            Reading::Whole => ("WHOLE", false),
            Reading::Static(_) | Reading::Declared { by_call: false } => ("DECLARED", true),
            Reading::Declared { by_call: true } => ("DECLARED_BY_CALL", true),
            Reading::Recorded => ("RECORDED", false),
            Reading::OnDemand => ("ON_DEMAND", false),
        };
        let optional = |is_there: bool, name: &str| match is_there {
            true => format!("{name}{n}"),
            false => "0".into(),
        };
        let declare = optional(declares, "needs");
        let collect = optional(is_parallel && has_result, "collect");
        let (name, writes) = (
            string(routine.name.as_bytes()),
            routine.effects.writes_state,
        );
        format!(
            "    {{{name}, {is_parallel}, {writes}, {has_result}, ORCA_READS_{reads}, sizeof(struct h{n}),\n     put{n}, get{n}, drop{n}, get_result{n}, run{n}, {declare}, {collect}}},\n"
        )
    }

    pub(super) fn partitioned_operation(&mut self, id: RoutineId) -> String {
        let is_parallel = self.program.routine(id).indices.is_some();
        let mut text = self.call_structs(id);
        text += &self.element_code(id);
        // The rest uses the codec.
        text += &self.codec(id);
        text += &match is_parallel {
            true => self.run_on_part(id) + &self.needs(id) + &self.collect(id),
            false => {
                let n = id.0;
                format!(
                    "static void run{n}(struct orca_view *view, void *arguments, struct orca_writer *result)\n{{\n    x{n}_0(view, arguments);\n    put_result{n}(arguments, result);\n}}\n"
                )
            }
        };
        text + &self.invocations(id)
    }

    /// Writes the operation's statements as a function: of one element if it is parallel.
    fn element_code(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let (n, unit) = (id.0, routine.unit);
        let body = self.body(id, true, |it| {
            it.bounds(unit);
            it.own_indices(id);
            it.take_parameters(id);
            it.locals();
            for alternative in routine.body.iter().flatten() {
                it.statements(&alternative.statements);
            }
            it.end(true);
        });
        let own = match &routine.indices {
            Some(indices) => {
                let numbers = 0..indices.len();
                let numbers: String = numbers.map(|it| format!(", long long i{it}")).collect();
                format!(", struct s{} *own{numbers}", unit.0)
            }
            None => String::new(),
        };
        format!(
            "static inline int x{n}_0(struct orca_view *view, struct a{n} *call{own})\n{{\n{body}}}\n"
        )
    }

    /// Declares the indices of a parallel operation.
    fn own_indices(&mut self, id: RoutineId) {
        let indices = self.program.routine(id).indices.iter().flatten();
        for (dimension, index) in indices.enumerate() {
            let c_type = self.c_type(self.program.variable(*index).of.ty);
            let name = self.variable_name(*index);
            self.line(format!("const {c_type} {name} = ({c_type})i{dimension};"));
        }
    }

    /// Returns loops around statements for each element of a part. The variables `i0` and so on are
    /// its indices.
    fn for_elements(&self, id: RoutineId, inner: &str) -> String {
        let dimensions = self
            .shape(self.program.routine(id).unit)
            .unwrap_or_default();
        let mut text = String::new();
        for at in 0..dimensions {
            text += &format!(
                "    for (uint64_t p{at} = 0; p{at} < part->length[{at}]; p{at}++) {{\n    const long long i{at} = (long long)(part->from[{at}] + p{at}) + view->dimension[{at}].low;\n"
            );
        }
        text += inner;
        text + &"    }\n".repeat(dimensions)
    }

    /// Writes the function that runs a parallel operation on a part, and combines the results.
    fn run_on_part(&mut self, id: RoutineId) -> String {
        let routine = self.program.routine(id);
        let (n, unit) = (id.0, routine.unit.0);
        let count = routine.indices.as_ref().map_or(0, Vec::len);
        let indices: String = (0..count).map(|it| format!(", i{it}")).collect();
        let (mut totals, mut ends) = (String::new(), String::new());
        let mut each = format!("    x{n}_0(view, call, own{indices});\n");
        if let Some(element) = self.gathered(id) {
            let descriptor = self.descriptor(element);
            each += &format!("    orca_put({descriptor}, &call->element, result);\n");
            if !self.is_plain(element) {
                each += &format!("    orca_destroy({descriptor}, &call->element);\n");
            }
        }
        for it in self.reduced(id) {
            let (c_type, descriptor) = (self.c_type(it.ty), self.descriptor(it.ty));
            let (name, function) = (&it.name, self.routine_name(it.function));
            totals += &format!("    {c_type} t_{name} = {{0}};\n");
            let (moved, dropped) = match self.is_plain(it.ty) {
                true => (String::new(), String::new()),
                false => (
                    format!(" memset(&call->{name}, 0, sizeof call->{name});"),
                    format!(" orca_destroy({descriptor}, &call->{name});"),
                ),
            };
            each += &format!(
                "    if (is_first) {{ t_{name} = call->{name};{moved} }}\n    else {{ {function}(&t_{name}, &call->{name});{dropped} }}\n"
            );
            ends += &format!("    orca_put({descriptor}, &t_{name}, result);\n");
            if !self.is_plain(it.ty) {
                ends += &format!("    orca_destroy({descriptor}, &t_{name});\n");
            }
        }
        each += "    own++;\n    is_first = false;\n";
        let loops = self.for_elements(id, &each);
        format!(
            "static void run{n}(struct orca_view *view, void *arguments, struct orca_writer *result)\n{{\n    struct a{n} *const call = arguments;\n    const struct orca_part *const part = &view->parts[view->part];\n    struct s{unit} *own = (struct s{unit} *)view->own;\n    bool is_first = true;\n    (void)result, (void)is_first;\n{totals}{loops}{ends}}}\n"
        )
    }

    /// Returns the type of each element's result if GATHER collects them.
    pub(super) fn gathered(&self, id: RoutineId) -> Option<TypeId> {
        match self.program.routine(id).result {
            Some((ty, Some(Combination::Gather))) => match self.program.kind(ty) {
                TypeKind::Array { element, .. } => Some(*element),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the OUT parameters and the result that functions reduce, in their order.
    fn reduced(&self, id: RoutineId) -> Vec<Reduced> {
        let routine = self.program.routine(id);
        let outs = routine.parameters.iter().zip(&routine.combinations);
        let outs = outs.filter_map(|(parameter, combination)| match combination {
            Some(Combination::Reduce(function)) => Some(Reduced {
                name: self.variable_name(*parameter),
                ty: self.program.variable(*parameter).of.ty,
                function: *function,
            }),
            _ => None,
        });
        let mut found: Vec<Reduced> = outs.collect();
        if let Some((ty, Some(Combination::Reduce(function)))) = routine.result {
            let name = "result".into();
            found.push(Reduced { name, ty, function });
        }
        found
    }

    /// Writes the function that adds a part's share to the results.
    fn collect(&mut self, id: RoutineId) -> String {
        let n = id.0;
        let mut lines = String::new();
        if let (Some(_), Some(ty)) = (self.gathered(id), self.result_of(id)) {
            let descriptor = self.descriptor(ty);
            lines += &format!(
                "    if (!orca_gather(view, {descriptor}, &call->result, is_first, reader)) return false;\n"
            );
        }
        for it in self.reduced(id) {
            let (c_type, descriptor) = (self.c_type(it.ty), self.descriptor(it.ty));
            let (name, owned) = (&it.name, self.cleanup(it.ty));
            let function = self.routine_name(it.function);
            let first = match self.is_plain(it.ty) {
                true => format!("call->{name} = value;"),
                false => format!("orca_move({descriptor}, &call->{name}, &value);"),
            };
            lines += &format!(
                "    {{\n    {c_type} value{owned} = {{0}};\n    if (!orca_get({descriptor}, &value, reader)) return false;\n    if (is_first) {first}\n    else {function}(&call->{name}, &value);\n    }}\n"
            );
        }
        format!(
            "static bool collect{n}(struct orca_view *view, void *arguments, bool is_first, struct orca_reader *reader)\n{{\n    struct a{n} *const call = arguments;\n    (void)view, (void)call, (void)is_first, (void)reader;\n{lines}    return true;\n}}\n"
        )
    }

    /// Writes the function that marks what the elements of a part read, if that can be said before
    /// the operation runs.
    fn needs(&mut self, id: RoutineId) -> String {
        let reading = self.reading(id);
        let routine = self.program.routine(id);
        let (n, unit) = (id.0, routine.unit);
        let body = self.body(id, true, |it| {
            it.bounds(unit);
            it.own_indices(id);
            match &reading {
                Reading::Static(accesses) => {
                    for access in accesses {
                        it.access(access);
                    }
                }
                Reading::Declared { by_call } => {
                    if *by_call {
                        it.take_parameters(id);
                    }
                    it.locals();
                    it.statements(routine.dependencies.as_deref().unwrap_or_default());
                }
                _ => {}
            }
        });
        match reading {
            Reading::Static(_) | Reading::Declared { .. } => {
                let loops = self.for_elements(id, &body);
                format!(
                    "static void needs{n}(struct orca_view *view, void *arguments)\n{{\n    struct a{n} *const call = arguments;\n    const struct orca_part *const part = &view->parts[view->part];\n    (void)call;\n{loops}}}\n"
                )
            }
            _ => String::new(),
        }
    }

    /// Writes a statement ACCESS.
    pub(super) fn access(&mut self, indices: &[Expr]) {
        let mut values = self.values_in_order(indices);
        values.resize(super::MOST_SHAPE, "0".into());
        self.line(format!("orca_need(view, {});", values.join(", ")));
    }

    fn reading(&self, id: RoutineId) -> Reading {
        let routine = self.program.routine(id);
        let statements = routine.body.iter().flatten();
        let statements = statements.flat_map(|it| &it.statements);
        if routine.indices.is_none() {
            // One element is fetched, and for many all parts come at once.
            return match statements.into_iter().any(repeats) {
                true => Reading::Whole,
                false => Reading::OnDemand,
            };
        }
        if let Some(dependencies) = &routine.dependencies {
            let (mut by_call, mut by_state) = (false, false);
            for_each_expr(dependencies, &mut |expr| {
                by_call |= self.has_variable(expr, |it| matches!(it, VariableKind::Parameter(_)));
                by_state |= self.has_variable(expr, |it| it == VariableKind::State);
            });
            // Elements are not there yet when dependencies are evaluated.
            return match by_state {
                true => Reading::OnDemand,
                false => Reading::Declared { by_call },
            };
        }
        let mut others = Vec::new();
        for alternative in routine.body.iter().flatten() {
            for_each_expr(&alternative.statements, &mut |expr| {
                self.others_in(id, expr, &mut others);
            });
        }
        let is_static = |lookups: bool| {
            let mut all = others.iter().flatten();
            all.all(|it| self.is_static(it, lookups))
        };
        if others.is_empty() {
            Reading::Own
        } else if self.directed().contains(&id) {
            Reading::OnDemand
        } else if is_static(false) {
            Reading::Static(others)
        } else if is_static(true) {
            Reading::Recorded
        } else {
            Reading::Whole
        }
    }

    /// Collects the indices of the elements that a parallel operation reads beyond its own.
    fn others_in(&self, id: RoutineId, expr: &Expr, found: &mut Vec<Vec<Expr>>) {
        if let ExprKind::Element(base, indices) = &expr.kind
            && let ExprKind::Variable(variable) = base.kind
            && self.program.variable(variable).kind == VariableKind::State
            && !self.is_own(id, indices)
        {
            found.push(indices.clone());
        }
        for part in parts(expr) {
            self.others_in(id, part, found);
        }
    }

    /// Returns whether an index depends on the own indices, on bounds and on data modules alone.
    /// Lookups and divisions may be errors where the operation itself does not evaluate them.
    fn is_static(&self, expr: &Expr, lookups: bool) -> bool {
        let is_one = match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Unary(..) | ExprKind::Field(..) => true,
            ExprKind::Variable(id) => matches!(
                self.program.variable(*id).kind,
                VariableKind::Index | VariableKind::Data
            ),
            ExprKind::Binary(operator, ..) => {
                lookups || !matches!(operator, Binary::Divide | Binary::Modulo)
            }
            ExprKind::Element(..) => lookups,
            ExprKind::Predefined(which, _) => matches!(
                which,
                Predefined::Ord
                    | Predefined::Abs
                    | Predefined::Lb
                    | Predefined::Ub
                    | Predefined::Size
                    | Predefined::Ncpus
            ),
            _ => false,
        };
        is_one
            && parts(expr)
                .into_iter()
                .all(|it| self.is_static(it, lookups))
    }

    fn has_variable(&self, expr: &Expr, is_wanted: fn(VariableKind) -> bool) -> bool {
        let is_one = match expr.kind {
            ExprKind::Variable(id) => is_wanted(self.program.variable(id).kind),
            _ => false,
        };
        let mut within = parts(expr).into_iter();
        is_one || within.any(|it| self.has_variable(it, is_wanted))
    }

    /// Returns the operations that directives about dependencies name.
    fn directed(&self) -> Vec<RoutineId> {
        let mut found = Vec::new();
        let bodies = self.program.routines.iter().flat_map(|it| &it.body);
        for alternative in bodies.flatten() {
            for_each_expr(&alternative.statements, &mut |expr| {
                if let ExprKind::Direct(_, _, Some(id), _) = expr.kind {
                    found.push(id);
                }
            });
        }
        found
    }

    /// Writes a directive.
    pub(super) fn direct(&mut self, object: &Expr, name: &str, arguments: &[Expr], whole: &Expr) {
        let (list, numbers) = match name {
            "distribute_on_list" | "distribute" | "distribution" => {
                arguments.split_at(arguments.len().min(1))
            }
            _ => (&[][..], arguments),
        };
        let list: Vec<String> = list
            .iter()
            .map(|it| format!("&{}", self.value(it)))
            .collect();
        let numbers = self.values_in_order(numbers).join(", ");
        let numbers = format!("(const long long[]){{{numbers}}}");
        let at = self.at(whole.span);
        let place = self.place(object);
        let list = list.join(", ");
        match name {
            "partition" => self.line(format!("orca_partition({at}, {place}, {numbers});")),
            "distribute_on_n" => {
                self.line(format!("orca_distribute_on_n({at}, {place}, {numbers});"));
            }
            "distribute_on_list" => self.line(format!(
                "orca_distribute_on_list({at}, {place}, {list}, {numbers});"
            )),
            "distribute" | "distribution" => {
                self.line(format!("orca_{name}({at}, {place}, {list});"));
            }
            // The operations that these name fetch what they read.
            _ => {}
        }
    }

    /// Returns the C parameter through which an operation has its object.
    pub(super) fn own_formal(&self, unit: UnitId) -> String {
        match self.shape(unit) {
            Some(_) => "struct orca_view *view".into(),
            None => format!("struct s{} *self", unit.0),
        }
    }

    /// Returns whether the current code belongs to an operation of a partitioned object.
    pub(super) fn is_in_view(&self) -> bool {
        self.here.is_some_and(|here| {
            let routine = self.program.routine(here.routine);
            routine.kind == RoutineKind::Operation && self.shape(routine.unit).is_some()
        })
    }
}

/// Returns whether a statement may use many elements.
fn repeats(statement: &Stat) -> bool {
    let mut calls = false;
    for_each_expr(std::slice::from_ref(statement), &mut |expr| {
        calls |= has_own_call(expr);
    });
    calls || is_loop(statement)
}

fn is_loop(statement: &Stat) -> bool {
    match &statement.kind {
        StatKind::Repeat(..)
        | StatKind::While(..)
        | StatKind::ForRange(..)
        | StatKind::ForEach(..) => true,
        StatKind::If(arms, otherwise) => {
            let mut all = arms.iter().flat_map(|(_, it)| it).chain(otherwise);
            all.any(is_loop)
        }
        StatKind::Case(_, arms, otherwise) => {
            let arms = arms.iter().flat_map(|it| &it.statements);
            arms.chain(otherwise.iter().flatten()).any(is_loop)
        }
        _ => false,
    }
}

fn has_own_call(expr: &Expr) -> bool {
    let is_one = matches!(&expr.kind, ExprKind::Invoke(object, ..) if matches!(object.kind, ExprKind::Itself));
    is_one || parts(expr).into_iter().any(has_own_call)
}
