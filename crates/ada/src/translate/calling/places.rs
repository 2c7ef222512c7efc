//! Clients of one type that are called more than once. The first call gives each client its place
//! in the array. The later calls are of a family of entries, indexed by that place.

use std::collections::HashSet;

use super::{Target, refuse};
use crate::names::{At, EntityId, Names};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::verdict::{Reason, Rule};

/// The relation of a call to the client's place.
#[derive(Debug, Clone, Default)]
pub enum Place {
    /// None.
    #[default]
    None,
    /// It gives the client its place, in a parameter of this name and subtype.
    Reported {
        /// The parameter.
        formal: String,
        /// Its subtype.
        subtype: String,
    },
    /// It is a call of a member of a family.
    Asked {
        /// The name of the index in the entry body.
        index: String,
        /// The range of the family.
        range: String,
    },
}

/// Returns the places of clients that are elements of one array and are called more than once. The
/// index of each call is also kept.
pub(super) fn choose(
    cx: &Context,
    client: EntityId,
    targets: &mut [Target],
) -> Result<(), Vec<Reason>> {
    let own: Vec<usize> = (0..targets.len())
        .filter(|&t| targets[t].client == client)
        .collect();
    let first = own
        .iter()
        .copied()
        .min_by_key(|&t| targets[t].calls.iter().min().copied());
    let Some(first) = first else { return Ok(()) };
    let call = targets[first].calls[0];
    let wrong = |text: &str| {
        let help = "call every client once in a loop over the array, before anything else, and let it accept that first";
        Err(refuse(cx, Rule::LoopShape, call, text, help))
    };
    let Some(array) = first_loop(cx, &targets[first]) else {
        return wrong(
            "several entries of the clients are called, and no first loop calls all of them once",
        );
    };
    let calls = own.iter().flat_map(|&t| targets[t].calls.clone());
    for call in calls {
        let is_plain =
            called_element(cx, call).is_some_and(|(a, index)| a == array && is_steady(cx, index));
        if !is_plain {
            return wrong(
                "the clients are not the elements of one array, by a variable of the server",
            );
        }
    }
    if !accepts_first(cx, &own, first, targets) {
        return wrong("the clients do not accept the first call once, before all others");
    }
    let ty = cx
        .names
        .index(cx.program, cx.names.type_of(cx.program, array), 0);
    let name = &cx.names.entity(array).name;
    let (Some(subtype), true) = (cx.type_name(ty), is_before(cx, array)) else {
        return wrong(
            "the array of clients is declared after the server, or its index has no name",
        );
    };
    let data = targets.iter().flat_map(|t| &t.data);
    let taken: HashSet<String> = data.map(|d| Names::key(&d.name)).collect();
    let free = |wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        cx.free_name(&wanted, false, &taken)
    };
    let formal = free(&["Place", "Place_Of_Client"]);
    let index = free(&["Index", "Which", "Place_Index"]);
    for &t in &own {
        targets[t].place = if t == first {
            Place::Reported {
                formal: formal.clone(),
                subtype: subtype.clone(),
            }
        } else {
            Place::Asked {
                index: index.clone(),
                range: format!("{name}'Range"),
            }
        };
    }
    Ok(())
}

/// Returns the array and the index of a call of an element's entry.
pub(super) fn called_element(cx: &Context, call: NodeId) -> Option<(EntityId, NodeId)> {
    let tree = cx.tree();
    let prefix = tree.role(tree.role(call, "name")?, "prefix")?;
    let array = tree.role(prefix, "name")?;
    let part = tree.child(prefix, "actual_parameter_part")?;
    let mut indexes = tree.all(part, "parameter_association");
    let index = indexes.next().filter(|_| indexes.next().is_none())?;
    let array = cx.names.meaning(cx.program, cx.at(array))?;
    Some((array, index))
}

/// Returns the array over whose whole range a `for` loop calls one element per iteration, in a
/// statement of the task itself.
fn first_loop(cx: &Context, target: &Target) -> Option<EntityId> {
    let tree = cx.tree();
    let [call] = target.calls[..] else {
        return None;
    };
    let (array, index) = called_element(cx, call)?;
    let around = tree.ancestor(call, &["loop_statement"])?;
    let is_own = tree.parent(around) == cx.flow.sequence(cx.task.body.node)
        && tree.parent(call).and_then(|s| tree.parent(s)) == Some(around);
    let scheme = tree.child(around, "iteration_scheme")?;
    let specification = tree.child(scheme, "loop_parameter_specification")?;
    let text: String = cx.text(specification).split_whitespace().collect();
    let parameter = tree.child(specification, "identifier")?;
    let name = &cx.names.entity(array).name;
    let whole = format!("{}in{name}'range", cx.text(parameter));
    let is_whole = Names::key(&text) == Names::key(&whole)
        || Names::key(&text) == Names::key(&whole.replacen("in", "inreverse", 1));
    let is_parameter = Names::key(cx.text(index)) == Names::key(cx.text(parameter));
    let leaves = tree.walk(around).any(|n| tree.kind(n) == "exit_statement");
    (is_own && is_whole && is_parameter && !leaves).then_some(array)
}

/// Whether an index can be used in a barrier: it consists of variables of the task, its loop
/// parameters and constants.
fn is_steady(cx: &Context, index: NodeId) -> bool {
    let effects = cx.oracle.of(cx.at(index));
    let is_known = cx
        .meanings(cx.at(index))
        .into_iter()
        .all(|(_, e)| cx.is_local(e));
    is_known && effects.impure.is_empty() && effects.unknown.is_empty()
}

fn accepts_first(cx: &Context, own: &[usize], first: usize, targets: &[Target]) -> bool {
    let [accept] = targets[first].accepts[..] else {
        return false;
    };
    let tree = &source_of(cx.program, accept).tree;
    let is_top = tree
        .parent(accept.node)
        .and_then(|s| tree.parent(s))
        .and_then(|h| tree.parent(h))
        .is_some_and(|b| tree.kind(b) == "task_body");
    let others = own.iter().filter(|&&t| t != first);
    is_top
        && others
            .flat_map(|&t| &targets[t].accepts)
            .all(|a| tree.start(a.node) > tree.start(accept.node))
}

/// Whether an entity is declared before the server.
fn is_before(cx: &Context, id: EntityId) -> bool {
    let (ident, declaration): (At, At) = (cx.names.entity(id).ident, cx.task.declaration);
    let tree = &cx.program.sources[declaration.file].tree;
    ident.file == declaration.file && tree.start(ident.node) < tree.start(declaration.node)
}

/// Returns the client's variable for its place, with a name that its file does not use.
pub(super) fn variable(cx: &Context, client: EntityId) -> String {
    let file = cx.names.entity(client).body.map_or(0, |b| b.file);
    let names =
        std::iter::once("My_Place".to_string()).chain((2..).map(|n| format!("My_Place_{n}")));
    let mut free = names.filter(|n| cx.names.occurrences(file, &Names::key(n)).is_empty());
    free.next().unwrap_or_default()
}
