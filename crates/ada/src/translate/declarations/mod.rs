//! The declarations of a task body. Variables become components, constants and types move out, and
//! subprograms that use the variables become private operations. `for` loops and blocks that wait
//! inside also give components.

pub(super) mod adopted;
mod components;
mod forward;
mod inner;
mod outside;
mod renaming;
mod settled;

use outside::is_external_clear;
use renaming::formals;
use settled::is_settled;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::edit::Edit;
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::layout::Substitutions;
use crate::translate::machine::Counter;
use crate::verdict::{Reason, Rule};

/// The new places of a task body's declarations.
#[derive(Debug, Default)]
pub struct Moved {
    /// Components of the protected object.
    pub components: Vec<Vec<String>>,
    /// Declarations before the protected declaration.
    pub before_declaration: Vec<Vec<String>>,
    /// Declarations before the protected body.
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
    /// Library units that the declaration's unit must now name in a with clause.
    pub units: BTreeSet<String>,
    /// Removals and insertions of declarations that move.
    pub edits: Vec<Edit>,
    /// The declarations that move before the task's.
    brought: HashSet<At>,
    /// Declarations of the body whose values can be used before the task.
    shown: HashSet<NodeId>,
    /// Changes of names in copied code.
    pub changes: Substitutions,
    /// Obstacles.
    pub reasons: Vec<Reason>,
    /// Names in use, in lower case.
    pub taken: HashSet<String>,
    /// Of those, the names declared outside the protected object.
    pub outside_names: HashSet<String>,
    /// Initial values from assignments before the first accept.
    folded: HashMap<EntityId, String>,
    /// The names of the entries' formal parameters, which hide outer names in the entry bodies.
    formals: HashSet<String>,
    components_of: HashSet<EntityId>,
}

const CANNOT_MOVE: &str =
    "move the declaration out of the task body, before the task's declaration";

/// Plans the moves. `folded` has the initial values from assignments before the first accept.
pub fn plan(cx: &Context, folded: HashMap<EntityId, String>, taken: &HashSet<String>) -> Moved {
    let mut moved = Moved {
        folded,
        taken: taken.clone(),
        ..Moved::default()
    };
    moved.formals = formals(cx);
    let items = cx.declarations();
    let adopted = adopted::items(cx);
    let mut components = items.clone();
    components.extend(&adopted);
    let variables = stateful(cx, &components);
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
    moved.settle(cx, &outside);
    moved.outside(cx, &outside, &components);
    moved
        .edits
        .extend(adopted.iter().filter_map(|&i| adopted::removal(cx, i)));
    for &item in &components {
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

/// Whether an item becomes a component: a variable, or a constant whose value must be computed when
/// the server starts.
fn becomes_component(cx: &Context, item: NodeId) -> bool {
    let tree = cx.tree();
    if tree
        .children(item)
        .any(|n| tree.kind(n).starts_with("single_"))
    {
        return false;
    }
    if tree.child(item, "constant").is_none() {
        return !is_settled(cx, item);
    }
    tree.child(item, "expression")
        .is_some_and(|e| !cx.is_constant(e) || uses_component(cx, e))
}

fn uses_component(cx: &Context, node: NodeId) -> bool {
    cx.meanings(cx.at(node)).iter().any(|&(_, e)| {
        let entity = cx.names.entity(e);
        cx.is_local(e) && entity.kind == Kind::Variable && !is_settled(cx, entity.at.node)
    })
}

/// Returns the variables of the task body itself.
fn stateful(cx: &Context, items: &[NodeId]) -> HashSet<EntityId> {
    let declared = |item: &NodeId| entities(cx, *item);
    items
        .iter()
        .filter(|&&i| cx.tree().kind(i) == "object_declaration" && becomes_component(cx, i))
        .flat_map(declared)
        .collect()
}

/// Returns the entities that an item of the body declares, or a variable beside the task.
fn entities(cx: &Context, item: NodeId) -> Vec<EntityId> {
    let tree = cx.tree();
    if !tree.is_within(item, cx.task.body.node) {
        let name = tree.children(item).find(|&n| tree.kind(n) == "identifier");
        let id = name.and_then(|n| cx.names.declared_by(cx.at(n)));
        return id.into_iter().collect();
    }
    let own = cx.names.region(cx.task.body);
    let all = own.map_or(&[][..], |s| cx.names.scope(s).entities.as_slice());
    all.iter()
        .copied()
        .filter(|&e| tree.is_within(cx.names.entity(e).ident.node, item))
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
        help: impl Into<String>,
    ) {
        self.reasons
            .push(cx.reason(Rule::Declaration, node, text, help));
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

/// Words that may precede the name in a declaration.
const KEYWORDS: [&str; 7] = [
    "type",
    "subtype",
    "function",
    "procedure",
    "package",
    "for",
    "use",
];

fn first_word<'a>(cx: &Context<'a>, node: NodeId) -> &'a str {
    let text = cx.text(node);
    text.split([':', ' ', '(', '\n', ';'])
        .find(|w| !w.is_empty() && !KEYWORDS.contains(&Names::key(w).as_str()))
        .unwrap_or(text)
}
