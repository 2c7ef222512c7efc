//! What becomes of a task body's declarations: variables become components, constants and types move out, subprograms that use the
//! variables become private operations. `for` loops and blocks that wait inside give components too.

use std::collections::{HashMap, HashSet};

use super::context::{Context, source_of};
use super::layout::{self, Substitutions};
use super::machine::Counter;
use crate::names::{At, EntityId, Kind, Names, Ty};
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

/// Where a task body's declarations go.
#[derive(Debug, Default)]
pub struct Moved {
    /// Components of the protected object.
    pub components: Vec<Vec<String>>,
    /// Declarations to stand before the protected declaration.
    pub before_declaration: Vec<Vec<String>>,
    /// Declarations to stand before the protected body.
    pub before_body: Vec<Vec<String>>,
    /// Declarations of private operations.
    pub operations: Vec<Vec<String>>,
    /// Bodies of private operations.
    pub operation_bodies: Vec<Vec<String>>,
    /// Assignments for initial values that must be computed when the server starts.
    pub start: Vec<String>,
    /// Counters of `for` loops that wait inside.
    pub counters: HashMap<NodeId, Counter>,
    /// Assignments at the start of blocks that wait inside.
    pub block_starts: HashMap<NodeId, Vec<String>>,
    /// Changes of names in copied code.
    pub changes: Substitutions,
    /// What stands in the way.
    pub reasons: Vec<Reason>,
    /// Names that are taken by now, in lower case.
    pub taken: HashSet<String>,
    /// Initial values folded from assignments before the first accept.
    /// Of those, the names declared outside the protected object.
    pub outside_names: HashSet<String>,
    folded: HashMap<EntityId, String>,
    /// The names of the entries' formal parameters, which hide what is outside the entry bodies.
    formals: HashSet<String>,
    components_of: HashSet<EntityId>,
}

const CANNOT_MOVE: &str =
    "move the declaration out of the task body, before the task's declaration";

/// Plans the moves. `folded` gives initial values that assignments before the first accept had.
pub fn plan(cx: &Context, folded: HashMap<EntityId, String>, taken: &HashSet<String>) -> Moved {
    let mut moved = Moved {
        folded,
        taken: taken.clone(),
        ..Moved::default()
    };
    moved.formals = formals(cx);
    let items = cx.declarations();
    let variables = stateful(cx, &items);
    moved.components_of = variables.clone();
    let mut outside: Vec<NodeId> = Vec::new();
    for &item in &items {
        match cx.tree().kind(item) {
            "object_declaration" if becomes_component(cx, item) => {}
            "subprogram_body"
            | "subprogram_declaration"
            | "expression_function_declaration"
            | "null_procedure_declaration"
                if uses_state(cx, item, &variables) => {}
            "pragma_g" => moved.pragma(cx, item),
            "object_declaration"
            | "number_declaration"
            | "full_type_declaration"
            | "subtype_declaration"
            | "exception_declaration"
            | "generic_instantiation"
            | "package_renaming_declaration"
            | "subprogram_renaming_declaration"
            | "exception_renaming_declaration"
            | "use_clause"
            | "subprogram_body"
            | "subprogram_declaration"
            | "expression_function_declaration"
            | "null_procedure_declaration"
            | "attribute_definition_clause"
            | "enumeration_representation_clause"
            | "record_representation_clause"
                if cx.tree().child(item, "task_type_declaration").is_none()
                    && cx
                        .tree()
                        .child(item, "protected_type_declaration")
                        .is_none()
                    && cx.tree().child(item, "single_task_declaration").is_none()
                    && cx
                        .tree()
                        .child(item, "single_protected_declaration")
                        .is_none() =>
            {
                outside.push(item);
            }
            _ => moved.refuse(
                cx,
                item,
                "this kind of declaration cannot stand in a protected object",
                CANNOT_MOVE,
            ),
        }
    }
    moved.rename_outside(cx, &outside);
    moved.outside(cx, &outside, &items);
    for &item in &items {
        let tree = cx.tree();
        if tree.kind(item) == "object_declaration" && becomes_component(cx, item) {
            moved.component(cx, item);
        } else if matches!(
            tree.kind(item),
            "subprogram_body"
                | "subprogram_declaration"
                | "expression_function_declaration"
                | "null_procedure_declaration"
        ) && uses_state(cx, item, &variables)
        {
            moved.operation(cx, item);
        }
    }
    moved.loops_and_blocks(cx);
    moved.uncover(cx);
    moved.access(cx);
    moved
}

/// A variable, or a constant whose value must be computed when the server starts.
fn becomes_component(cx: &Context, item: NodeId) -> bool {
    let tree = cx.tree();
    if tree
        .children(item)
        .any(|n| tree.kind(n).starts_with("single_"))
    {
        return false;
    }
    if tree.child(item, "constant").is_none() {
        return true;
    }
    tree.child(item, "expression")
        .is_some_and(|e| !cx.is_constant(e) || uses_component(cx, e))
}

fn uses_component(cx: &Context, node: NodeId) -> bool {
    cx.meanings(cx.at(node))
        .iter()
        .any(|&(_, e)| cx.is_local(e) && cx.names.entity(e).kind == Kind::Variable)
}

/// The variables of the task body itself.
fn stateful(cx: &Context, items: &[NodeId]) -> HashSet<EntityId> {
    let declared = |item: &NodeId| entities(cx, *item);
    items
        .iter()
        .filter(|&&i| cx.tree().kind(i) == "object_declaration" && becomes_component(cx, i))
        .flat_map(declared)
        .collect()
}

/// What an item of the body declares.
fn entities(cx: &Context, item: NodeId) -> Vec<EntityId> {
    let own = cx.names.region(cx.task.body);
    let all = own.map_or(&[][..], |s| cx.names.scope(s).entities.as_slice());
    all.iter()
        .copied()
        .filter(|&e| cx.tree().is_within(cx.names.entity(e).ident.node, item))
        .collect()
}

fn uses_state(cx: &Context, item: NodeId, variables: &HashSet<EntityId>) -> bool {
    let mut open: Vec<At> = vec![cx.at(item)];
    let mut seen: HashSet<EntityId> = HashSet::new();
    while let Some(at) = open.pop() {
        for (_, e) in cx.meanings(at) {
            if variables.contains(&e) {
                return true;
            }
            if cx.is_local(e) && cx.names.entity(e).kind == Kind::Subprogram && seen.insert(e) {
                open.extend(cx.names.entity(e).body);
                open.push(cx.names.entity(e).at);
            }
        }
    }
    false
}

impl Moved {
    fn refuse(
        &mut self,
        cx: &Context,
        node: NodeId,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) {
        self.reasons
            .push(cx.reason(Rule::Declaration, node, text, mend));
    }

    fn pragma(&mut self, cx: &Context, item: NodeId) {
        let name = cx
            .tree()
            .child(item, "identifier")
            .map_or("", |n| cx.text(n));
        let harmless = [
            "unreferenced",
            "warnings",
            "inline",
            "style_checks",
            "unmodified",
            "unused",
            "optimize",
            "assert",
            "priority",
            "storage_size",
        ];
        if !harmless.contains(&Names::key(name).as_str()) {
            self.refuse(
                cx,
                item,
                format!("pragma {name} has no place in a protected object"),
                "remove the pragma, or apply it outside the task body",
            );
        }
    }

    /// Chooses names for what moves out, and renames its uses.
    fn rename_outside(&mut self, cx: &Context, outside: &[NodeId]) {
        for &item in outside {
            for id in entities(cx, item) {
                let entity = cx.names.entity(id);
                if cx.tree().kind(item) == "use_clause"
                    || cx.tree().kind(entity.ident.node) != "identifier"
                {
                    continue;
                }
                let name = entity.name.clone();
                let key = Names::key(&name);
                let new = if cx.occurs_outside(&key)
                    || self.taken.contains(&key)
                    || self.formals.contains(&key)
                {
                    cx.free_name(&[format!("{}_{name}", cx.task.name)], true, &self.taken)
                } else {
                    name.clone()
                };
                self.declare_outside(&new);
                self.rename(cx, id, &new);
                // What is completed by a body has its name there again.
                if let Some(body) = entity.body.filter(|b| b.file == cx.task.body.file) {
                    self.rename_end(cx, body.node, &name, &new);
                }
            }
        }
    }

    /// Takes a name for something declared outside the protected object.
    pub fn declare_outside(&mut self, name: &str) {
        self.taken.insert(Names::key(name));
        self.outside_names.insert(Names::key(name));
    }

    fn rename_end(&mut self, cx: &Context, body: NodeId, old: &str, new: &str) {
        let tree = cx.tree();
        if let Some(end) = tree.role(body, "endname")
            && old != new
        {
            self.changes.add(tree.range(end), new);
        }
    }

    /// Replaces a local name, and `Task.Name` with it, by a new name.
    fn rename(&mut self, cx: &Context, id: EntityId, new: &str) {
        let entity = cx.names.entity(id);
        let tree = cx.tree();
        if entity.name != new {
            self.changes.add(tree.range(entity.ident.node), new);
        }
        for at in cx
            .names
            .uses_of(id)
            .iter()
            .filter(|a| a.file == cx.task.body.file)
        {
            let parent = tree.parent(at.node).filter(|&p| {
                tree.kind(p) == "selected_component" && tree.field(at.node) == "selector_name"
            });
            match parent {
                Some(expanded) => self.changes.add(tree.range(expanded), new),
                None if entity.name != new => self.changes.add(tree.range(at.node), new),
                None => {}
            }
        }
    }

    /// Places what moves out: before the declaration what components need, the rest before the body.
    fn outside(&mut self, cx: &Context, outside: &[NodeId], items: &[NodeId]) {
        let tree = cx.tree();
        let mut needed: HashSet<EntityId> = HashSet::new();
        let mut open: Vec<NodeId> = items
            .iter()
            .copied()
            .filter(|&i| tree.kind(i) == "object_declaration" && becomes_component(cx, i))
            .collect();
        open.extend(tree.walk(cx.task.body.node).filter(|&n| {
            tree.kind(n) == "loop_parameter_specification" && !cx.flow.is_plain(loop_of(cx, n))
        }));
        open.extend(
            tree.walk(cx.task.body.node)
                .filter(|&n| tree.kind(n) == "block_statement" && !cx.flow.is_plain(n))
                .filter_map(|n| tree.child(n, "non_empty_declarative_part")),
        );
        // Profiles of private operations stand in the declaration too.
        let profiles = items
            .iter()
            .copied()
            .filter(|&i| uses_state(cx, i, &self.components_of))
            .filter_map(|i| {
                tree.child(i, "procedure_specification")
                    .or_else(|| tree.child(i, "function_specification"))
            });
        open.extend(profiles);
        let early: Vec<NodeId> = open.clone();
        // A use clause goes where components are, since they may need what it shows; and what it names goes there too.
        if !early.is_empty() {
            open.extend(
                outside
                    .iter()
                    .copied()
                    .filter(|&o| tree.kind(o) == "use_clause"),
            );
        }
        while let Some(node) = open.pop() {
            for (_, e) in cx.meanings(cx.at(node)) {
                if cx.is_local(e) && needed.insert(e) {
                    let at = cx.names.entity(e).at;
                    if outside.iter().any(|&o| tree.is_within(at.node, o)) {
                        open.push(at.node);
                    }
                }
            }
        }
        for &node in &early {
            self.check_visible(cx, node, true);
        }
        for &item in outside {
            let declares = entities(cx, item);
            let is_clause = tree.kind(item).ends_with("_clause") && tree.kind(item) != "use_clause";
            let concerns = is_clause
                && tree
                    .role(item, "local_name")
                    .and_then(|n| cx.names.meaning(cx.program, cx.at(n)))
                    .is_some_and(|e| needed.contains(&e));
            if let Some(object) = tree
                .role(item, "local_name")
                .and_then(|n| cx.names.meaning(cx.program, cx.at(n)))
                && self.components_of.contains(&object)
            {
                self.refuse(
                    cx,
                    item,
                    "a component of a protected object cannot have this representation clause",
                    "remove the clause, or put it on the type",
                );
            }
            let is_needed = declares.iter().any(|e| needed.contains(e))
                || concerns
                || (tree.kind(item) == "use_clause" && !early.is_empty());
            if uses_component(cx, item) {
                self.refuse(
                    cx,
                    item,
                    "the declaration depends on a variable of the task",
                    CANNOT_MOVE,
                );
            }
            let lines = layout::lines_of(cx.source(), item, &self.changes);
            if is_needed {
                self.check_visible(cx, item, false);
                self.before_declaration.push(lines);
            } else {
                self.check_discriminants(cx, item);
                self.before_body.push(lines);
            }
        }
    }

    fn check_discriminants(&mut self, cx: &Context, node: NodeId) {
        if cx.meanings(cx.at(node)).iter().any(|&(_, e)| {
            cx.names.entity(e).kind == Kind::Discriminant && is_own_discriminant(cx, e)
        }) {
            self.refuse(
                cx,
                node,
                "the declaration depends on a discriminant of the task type",
                "compute the value where it is used",
            );
        }
    }

    /// What is written at the task's declaration may only use names that are declared before it.
    fn check_visible(&mut self, cx: &Context, node: NodeId, may_use_discriminants: bool) {
        let declaration = cx.task.declaration;
        for (_, e) in cx.meanings(cx.at(node)) {
            let at = cx.names.entity(e).ident;
            if is_own_discriminant(cx, e) {
                if !may_use_discriminants {
                    self.refuse(
                        cx,
                        node,
                        "the declaration depends on a discriminant of the task type",
                        "compute the value where it is used",
                    );
                }
                continue;
            }
            if cx.is_local(e) {
                continue;
            }
            let is_before = if at.file == declaration.file {
                cx.program.sources[at.file].tree.start(at.node)
                    < cx.program.sources[at.file].tree.start(declaration.node)
            } else {
                at.file != cx.task.body.file
            };
            if !is_before {
                let place = cx.names.place(cx.program, e);
                let text = format!(
                    "`{}` needs `{}`, which is declared at {}:{}, after the task's declaration",
                    first_word(cx, node),
                    cx.names.entity(e).name,
                    place.file.display(),
                    place.line
                );
                self.refuse(cx, node, text, "declare it before the task");
                return;
            }
        }
        if declaration.file != cx.task.body.file {
            self.check_external(cx, node);
        }
    }

    /// External names must be seen from the declaration's file too.
    fn check_external(&mut self, cx: &Context, node: NodeId) {
        let tree = cx.tree();
        let other = source_of(cx.program, cx.task.declaration);
        for ident in tree.walk(node) {
            let is_name = tree.kind(ident) == "identifier"
                && matches!(
                    tree.field(ident),
                    "subtype_mark" | "name" | "prefix" | "generic_name"
                )
                && cx.names.meaning(cx.program, cx.at(ident)).is_none()
                && tree
                    .parent(ident)
                    .is_none_or(|p| tree.kind(p) != "attribute_designator");
            if !is_name || is_defining(cx, ident) {
                continue;
            }
            let key = Names::key(cx.text(ident));
            let is_standard = [
                "integer",
                "natural",
                "positive",
                "boolean",
                "character",
                "string",
                "float",
                "duration",
                "true",
                "false",
                "long_float",
                "long_integer",
            ]
            .contains(&key.as_str());
            let is_with = other
                .tree
                .all(other.tree.root(), "compilation_unit")
                .any(|u| {
                    other.tree.child(u, "with_clause").is_some_and(|w| {
                        other.tree.walk(w).any(|n| Names::key(other.text(n)) == key)
                    })
                });
            let is_seen = is_with && tree.field(ident) == "prefix";
            if !is_standard && !is_seen {
                let text = format!(
                    "`{}` needs `{}`, which the unit with the task's declaration does not see",
                    first_word(cx, node),
                    cx.text(ident)
                );
                self.refuse(cx, node, text, "name it in full there, with a with clause");
                return;
            }
        }
    }

    /// A controlled object is finalized when its task ends; as a component it would be finalized with the protected object.
    fn is_controlled(&self, cx: &Context, item: NodeId) -> bool {
        let tree = cx.tree();
        let Some(mark) = tree.role(item, "subtype_mark") else {
            return false;
        };
        let mut open: Vec<EntityId> = cx
            .names
            .meaning(cx.program, cx.at(mark))
            .into_iter()
            .collect();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let at = cx.names.first_declaration(id);
            for at in [cx.names.entity(id).at, cx.names.entity(at).at] {
                let source = source_of(cx.program, at);
                for node in source
                    .tree
                    .walk(at.node)
                    .filter(|&n| source.tree.field(n) == "subtype_mark")
                {
                    let word = Names::key(source.text(node));
                    if matches!(
                        word.rsplit('.').next(),
                        Some("controlled" | "limited_controlled")
                    ) {
                        return true;
                    }
                    open.extend(cx.names.meaning(cx.program, At { node, ..at }));
                }
            }
        }
        false
    }

    fn component(&mut self, cx: &Context, item: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        if self.is_controlled(cx, item) {
            let text = format!(
                "`{}` is controlled: it would be finalized with the object, not when the server completes",
                first_word(cx, item)
            );
            return self.refuse(cx, item, text, "finalize it explicitly, in an accept");
        }
        let ids = entities(cx, item);
        for &id in &ids {
            self.taken.insert(Names::key(&cx.names.entity(id).name));
        }
        let init = tree.child(item, "expression");
        let array = tree.child(item, "array_type_definition");
        let is_folded = ids.iter().any(|e| self.folded.contains_key(e));
        let is_default = init.is_none_or(|e| cx.is_constant(e) && !uses_component(cx, e));
        let is_constant = tree.child(item, "constant").is_some();
        if array.is_none() && is_default && !is_folded && !is_constant && self.is_definite(cx, item)
        {
            self.components
                .push(layout::lines_of(source, item, &self.changes));
            return;
        }
        let subtype = match array {
            Some(definition) => match self.array_type(cx, &ids, definition) {
                Some(name) => name,
                None => return,
            },
            None if self.is_definite(cx, item) => self.subtype_text(cx, item),
            None => match init
                .filter(|_| is_default)
                .and_then(|e| string_length(cx, e))
            {
                Some(length) => format!("{} (1 .. {length})", self.subtype_text(cx, item)),
                None => {
                    let text = format!(
                        "`{}` has no constraint of its own, and a component needs one",
                        first_word(cx, item)
                    );
                    return self.refuse(cx, item, text, "give the variable an explicit constraint");
                }
            },
        };
        let mut lines = layout::comments_above(source, tree.start(item));
        let value = init.map(|e| self.changes.apply(source, tree.range(e)).trim().to_string());
        for (position, id) in ids.iter().enumerate() {
            let name = cx.names.entity(*id).name.clone();
            let default = match (self.folded.get(id), &value) {
                (Some(folded), _) => Some(folded.clone()),
                (None, Some(value)) if is_default => Some(value.clone()),
                (None, Some(value)) => {
                    self.start.push(format!("{name} := {value};"));
                    None
                }
                _ => None,
            };
            let default = default.map_or(String::new(), |d| format!(" := {d}"));
            let comment = if position + 1 == ids.len() {
                layout::comment_behind(source, tree.end(item))
            } else {
                None
            };
            let comment = comment.map_or(String::new(), |c| format!("  {c}"));
            let text = format!("{name} : {subtype}{default};{comment}");
            lines.extend(layout::dedent(&text, source.indent(tree.start(item))));
        }
        self.components.push(lines);
    }

    fn subtype_text(&self, cx: &Context, item: NodeId) -> String {
        let tree = cx.tree();
        let start = tree
            .children(item)
            .find(|&n| tree.kind(n) == ":")
            .map_or(tree.start(item), |n| tree.end(n));
        let end = tree
            .children(item)
            .find(|&n| matches!(tree.kind(n), ":=" | ";" | "aspect_specification"))
            .map_or(tree.end(item), |n| tree.start(n));
        let constant = tree.child(item, "constant").map(|n| tree.end(n));
        let text = self
            .changes
            .apply(cx.source(), constant.unwrap_or(start)..end);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether the subtype needs no constraint from an initial value.
    fn is_definite(&self, cx: &Context, item: NodeId) -> bool {
        let tree = cx.tree();
        let Some(mark) = tree.role(item, "subtype_mark") else {
            return true;
        };
        if tree
            .children(item)
            .any(|n| matches!(tree.kind(n), "index_constraint" | "discriminant_constraint"))
        {
            return true;
        }
        let key = Names::key(cx.text(mark));
        if matches!(
            key.rsplit('.').next(),
            Some("string" | "wide_string" | "wide_wide_string")
        ) {
            return false;
        }
        let Some(id) = cx.names.meaning(cx.program, cx.at(mark)) else {
            return true;
        };
        // An unconstrained array, or a record with discriminants without defaults; a constrained subtype stops the search.
        let mut ty = Ty::Named(id);
        for _ in 0..20 {
            let Ty::Named(e) = ty else { return true };
            let at = cx.names.entity(e).at;
            let other = &cx.program.sources[at.file].tree;
            if let Some(discriminants) = other.child(at.node, "known_discriminant_part") {
                return other.walk(discriminants).any(|n| other.kind(n) == ":=");
            }
            if let Some(array) = other.child(at.node, "array_type_definition") {
                return other.child(array, "index_subtype_definition").is_none();
            }
            let derived = other
                .child(at.node, "derived_type_definition")
                .unwrap_or(at.node);
            if other.children(derived).any(|n| {
                matches!(
                    other.kind(n),
                    "index_constraint" | "discriminant_constraint"
                )
            }) {
                return true;
            }
            let above = other.role(derived, "subtype_mark");
            let Some(above) = above else { return true };
            if matches!(
                Names::key(cx.program.sources[at.file].text(above))
                    .rsplit('.')
                    .next(),
                Some("string" | "wide_string")
            ) {
                return false;
            }
            match cx.names.meaning(cx.program, At { node: above, ..at }) {
                Some(next) => ty = Ty::Named(next),
                None => return true,
            }
        }
        true
    }

    /// An anonymous array type gets a name, since a component needs one (RM 9.4, 3.8).
    fn array_type(&mut self, cx: &Context, ids: &[EntityId], definition: NodeId) -> Option<String> {
        let name = cx.names.entity(*ids.first()?).name.clone();
        let wanted = [format!("{name}_Array"), format!("{}_{name}", cx.task.name)];
        let type_name = cx.free_name(&wanted, true, &self.taken);
        let text = self.changes.apply(cx.source(), cx.tree().range(definition));
        let uses_discriminant = cx
            .meanings(cx.at(definition))
            .iter()
            .any(|&(_, e)| is_own_discriminant(cx, e));
        let (declared, subtype) = if uses_discriminant {
            let (index, bounds, element) = self.discriminant_bounds(cx, definition)?;
            (
                format!("array ({index} range <>) of {element}"),
                format!("{type_name} ({bounds})"),
            )
        } else {
            (text, type_name.clone())
        };
        let text = format!("type {type_name} is {declared};");
        self.declare_outside(&type_name);
        self.before_declaration.push(layout::dedent(
            &text,
            cx.source().indent(cx.tree().start(definition)),
        ));
        Some(subtype)
    }

    /// `array (A .. B) of T` with bounds from a discriminant, as index type, bounds and element.
    fn discriminant_bounds(
        &mut self,
        cx: &Context,
        definition: NodeId,
    ) -> Option<(String, String, String)> {
        let tree = cx.tree();
        let range = tree.child(definition, "range_g");
        let element = tree
            .child(definition, "component_definition")
            .map(|n| cx.text(n).to_string());
        let index = range
            .map(|_| {
                cx.names
                    .index(cx.program, Ty::Anonymous(cx.at(definition)), 0)
            })
            .and_then(|ty| cx.type_name(ty));
        // A bound of a component may be a discriminant alone, not an expression with one (RM 3.8 (12)).
        let is_plain = range.is_some_and(|r| {
            cx.meanings(cx.at(r)).iter().all(|&(ident, e)| {
                !is_own_discriminant(cx, e)
                    || tree.parent(ident).is_some_and(|p| {
                        tree.kind(p) == "term"
                            && tree.children(p).count() == 1
                            && tree.parent(p) == Some(r)
                    })
            })
        });
        match (range, element, index) {
            (Some(range), Some(element), index)
                if is_plain && tree.all(definition, "range_g").count() == 1 =>
            {
                let index = index.unwrap_or_else(|| "Integer".into());
                Some((index, cx.text(range).to_string(), element))
            }
            _ => {
                self.refuse(
                    cx,
                    definition,
                    "the bounds of the array are computed from a discriminant",
                    "make the bound the discriminant itself",
                );
                None
            }
        }
    }

    fn operation(&mut self, cx: &Context, item: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        let spec = tree
            .child(item, "procedure_specification")
            .or_else(|| tree.child(item, "function_specification"));
        let Some(spec) = spec else { return };
        let is_function = tree.kind(spec) == "function_specification";
        if is_function
            && cx.meanings(cx.at(item)).iter().any(|&(ident, e)| {
                self.components_of.contains(&e) && cx.is_written_at(cx.at(ident))
            })
        {
            let text = format!(
                "function {} changes a variable of the task, which a protected function may not",
                first_word(cx, spec)
            );
            return self.refuse(cx, item, text, "make it a procedure with an out parameter");
        }
        for id in entities(cx, item) {
            self.taken.insert(Names::key(&cx.names.entity(id).name));
        }
        let profile = self.changes.apply(source, tree.range(spec));
        let mut declaration = layout::dedent(&profile, source.indent(tree.start(spec)));
        if let Some(last) = declaration.last_mut() {
            last.push(';');
        }
        if !self.operations.contains(&declaration) {
            self.operations.push(declaration);
        }
        if tree.kind(item) != "subprogram_declaration" {
            self.operation_bodies
                .push(layout::lines_of(source, item, &self.changes));
        }
    }

    fn loops_and_blocks(&mut self, cx: &Context) {
        let tree = cx.tree();
        let nodes: Vec<NodeId> = tree.walk(cx.task.body.node).collect();
        for node in nodes {
            if cx.flow.is_plain(node) {
                continue;
            }
            match tree.kind(node) {
                "loop_statement" if cx.flow.is_for(node) => self.counter(cx, node),
                "block_statement" => self.block(cx, node),
                _ => {}
            }
        }
    }

    fn counter(&mut self, cx: &Context, node: NodeId) {
        match super::counter::of(cx, node) {
            Ok((id, mut counter)) => {
                let shared = self.counters.iter().any(|(&other, c)| {
                    c.name == counter.name
                        && c.subtype == counter.subtype
                        && !cx.tree().is_within(node, other)
                        && !cx.tree().is_within(other, node)
                });
                if !shared {
                    counter.name = self.hoisted_name(cx, id);
                    self.components
                        .push(vec![format!("{} : {};", counter.name, counter.subtype)]);
                }
                if let Some((name, subtype, _)) = &mut counter.bound {
                    *name = cx.free_name(std::slice::from_ref(name), false, &self.taken);
                    self.taken.insert(Names::key(name));
                    self.components.push(vec![format!("{name} : {subtype};")]);
                    counter.last = name.clone();
                }
                self.rename(cx, id, &counter.name.clone());
                self.counters.insert(node, counter);
            }
            Err(reason) => self.reasons.push(reason),
        }
    }

    /// A name for a component that was declared inside: its own, unless another thing of that name would be hidden or would hide it.
    fn hoisted_name(&mut self, cx: &Context, id: EntityId) -> String {
        let name = cx.names.entity(id).name.clone();
        let key = Names::key(&name);
        let tree = cx.tree();
        let captures = tree
            .walk(cx.task.body.node)
            .filter(|&n| tree.kind(n) == "identifier" && Names::key(cx.text(n)) == key)
            .any(|n| {
                let meaning = cx.names.meaning(cx.program, cx.at(n));
                meaning.is_some_and(|e| e != id && !cx.is_local(e))
            });
        let new = if captures || self.taken.contains(&key) || self.formals.contains(&key) {
            cx.free_name(
                &[format!("Current_{name}"), format!("{name}_2")],
                false,
                &self.taken,
            )
        } else {
            name
        };
        self.taken.insert(Names::key(&new));
        new
    }

    /// Gives a counter its first value at once.
    pub fn set_initial(&mut self, name: &str, value: &str) {
        for component in &mut self.components {
            if let [line] = component.as_mut_slice()
                && line.starts_with(&format!("{name} : "))
                && !line.contains(":=")
            {
                *line = format!("{} := {value};", line.trim_end_matches(';'));
            }
        }
    }

    fn block(&mut self, cx: &Context, node: NodeId) {
        let (tree, source) = (cx.tree(), cx.source());
        let Some(part) = tree.child(node, "non_empty_declarative_part") else {
            return;
        };
        let mut starts = Vec::new();
        for item in tree.children(part) {
            let is_object = tree.kind(item) == "object_declaration"
                && tree.child(item, "array_type_definition").is_none()
                && tree.child(item, "identifier").is_some();
            if !is_object || !self.is_definite(cx, item) {
                self.refuse(
                    cx,
                    item,
                    "a block with an accept inside declares more than simple objects",
                    "declare it in the task's declarative part",
                );
                continue;
            }
            let own = cx.names.region(cx.at(node));
            let ids: Vec<EntityId> = own
                .map_or(vec![], |s| cx.names.scope(s).entities.clone())
                .into_iter()
                .filter(|&e| tree.is_within(cx.names.entity(e).ident.node, item))
                .collect();
            let value = tree
                .child(item, "expression")
                .map(|e| self.changes.apply(source, tree.range(e)));
            for id in ids {
                let new = self.hoisted_name(cx, id);
                self.rename(cx, id, &new);
                self.components
                    .push(vec![format!("{new} : {};", self.subtype_text(cx, item))]);
                starts.extend(value.as_ref().map(|v| format!("{new} := {v};")));
            }
        }
        self.block_starts.insert(node, starts);
    }

    /// Statements after an accept move into the entry body, where the formal parameters hide what has their names: such names are
    /// expanded (RM 4.1.3).
    fn uncover(&mut self, cx: &Context) {
        let tree = cx.tree();
        let Some(statements) = tree.child(cx.task.body.node, "handled_sequence_of_statements")
        else {
            return;
        };
        for node in tree
            .walk(statements)
            .filter(|&n| tree.kind(n) == "identifier")
        {
            let is_selector = tree.field(node) == "selector_name"
                || tree
                    .parent(node)
                    .is_some_and(|p| tree.kind(p) == "component_choice_list");
            let accept = tree
                .ancestor(node, &["accept_statement"])
                .filter(|&a| tree.is_within(a, statements));
            if is_selector || !self.formals.contains(&Names::key(cx.text(node))) || accept.is_some()
            {
                continue;
            }
            let Some(id) = cx.names.meaning(cx.program, cx.at(node)) else {
                continue;
            };
            let entity = cx.names.entity(id);
            let is_own = self.components_of.contains(&id);
            if self.changes.has(tree.start(node)) || (cx.is_local(id) && !is_own) {
                continue;
            }
            let owner = if is_own {
                Some(cx.task.id)
            } else {
                cx.names.scope(entity.scope).owner
            };
            match owner
                .map(|o| cx.names.entity(o))
                .filter(|o| o.kind != Kind::Entry && o.kind != Kind::Type)
            {
                Some(owner) => self.changes.add(
                    tree.range(node),
                    format!("{}.{}", owner.name, cx.text(node)),
                ),
                None => {
                    let text = format!(
                        "`{}` would be hidden by a parameter of that name",
                        cx.text(node)
                    );
                    self.refuse(cx, node, text, "rename one of them");
                }
            }
        }
    }

    /// `X'Access` of a variable that becomes a component.
    fn access(&mut self, cx: &Context) {
        let tree = cx.tree();
        for node in tree
            .walk(cx.task.body.node)
            .filter(|&n| tree.kind(n) == "attribute_designator")
        {
            let word = Names::key(cx.text(node));
            if !matches!(
                word.as_str(),
                "access" | "unchecked_access" | "unrestricted_access" | "address"
            ) {
                continue;
            }
            let prefix = tree.previous(node).and_then(|t| tree.previous(t));
            let named = prefix.map_or(vec![], |p| cx.meanings(cx.at(p)));
            if named.iter().any(|(_, e)| {
                self.components_of.contains(e)
                    || (cx.is_local(*e) && cx.names.entity(*e).kind == Kind::Subprogram)
            }) {
                let reason = cx.reason(
                    Rule::Access,
                    node,
                    "a component of a protected object must not be reached by address",
                    "pass the value instead of its address",
                );
                self.reasons.push(reason);
            }
        }
    }
}

fn formals(cx: &Context) -> HashSet<String> {
    let regions = cx
        .task
        .entries
        .iter()
        .filter_map(|e| cx.names.entity(e.id).inner);
    regions
        .flat_map(|r| {
            cx.names
                .scope(r)
                .entities
                .iter()
                .map(|&e| Names::key(&cx.names.entity(e).name))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn loop_of(cx: &Context, specification: NodeId) -> NodeId {
    cx.tree()
        .ancestor(specification, &["loop_statement"])
        .unwrap_or(specification)
}

pub(super) fn is_own_discriminant(cx: &Context, id: EntityId) -> bool {
    cx.names.entity(id).kind == Kind::Discriminant
        && cx.names.is_declared_in(cx.program, id, cx.task.declaration)
}

fn is_defining(cx: &Context, ident: NodeId) -> bool {
    cx.names.declared_by(cx.at(ident)).is_some()
}

fn string_length(cx: &Context, expression: NodeId) -> Option<usize> {
    let text = cx.text(expression).trim();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let is_one = !inner.replace("\"\"", "").contains('"');
    is_one.then(|| inner.replace("\"\"", "\"").chars().count())
}

fn first_word<'a>(cx: &Context<'a>, node: NodeId) -> &'a str {
    let text = cx.text(node);
    text.split([':', ' ', '(', '\n', ';'])
        .find(|w| !w.is_empty() && !matches!(*w, "type" | "subtype" | "function" | "procedure"))
        .unwrap_or(text)
}
