//! Calling servers become protected objects that their clients call (section 6.2 of the paper,
//! figure 6).
//!
//! The direction of calls is reversed. A value that the server passed in a call is now an out
//! parameter of the object's entry, and a result is an in parameter. The client's accept becomes a
//! call of that entry. The server's calls are the waits of the graph. The code between them is
//! translated as for an accepting server, so loops become counters, and the stage keeps the order
//! of the calls.
//!
//! A client that is a single task is identified by an entry of its own. Tasks of one type cannot be
//! distinguished: each gets the next item, not the item of its own place. So nothing else may
//! distinguish them either.

mod clients;
pub(in crate::translate) mod data;
pub(in crate::translate) mod places;
mod write;

use std::collections::{HashMap, HashSet};

use crate::edit::Edit;
use crate::flow::Flow;
use crate::model::{Entry, Task};
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::accepting::{self, Replacement};
use crate::translate::context::Context;
use crate::translate::obstacles;
use crate::verdict::{Reason, Rule};

/// The data of the entries of a calling server's object.
#[derive(Debug)]
pub(in crate::translate) struct Inverted {
    /// The entries, in the order of the task's.
    pub opened: Vec<Opened>,
    /// The actual parameters of each call, by formal.
    pub values: HashMap<NodeId, Vec<(String, NodeId)>>,
    /// The index of the client in each call through an array's element.
    pub indexes: HashMap<NodeId, NodeId>,
}

/// An entry that a client calls where it accepted a call before.
#[derive(Debug)]
pub(in crate::translate) struct Opened {
    /// Its name; if the server is held, the part after `Begin_` and `End_`.
    pub name: String,
    /// Its parameters.
    pub data: Vec<data::Datum>,
    /// Whether the client reports its end.
    pub is_held: bool,
    /// Its relation to the client's place among others of its type.
    pub place: places::Place,
}

/// A client's entry that the server calls.
struct Target {
    entry: EntityId,
    /// The single task or task type that has it.
    client: EntityId,
    /// The calls in the server.
    calls: Vec<NodeId>,
    /// The accept statements in the client, which become calls.
    accepts: Vec<At>,
    /// The formal parameters.
    data: Vec<data::Datum>,
    /// Whether the server must wait while the client runs its accept.
    is_held: bool,
    /// The name of the object's entry.
    name: String,
    /// Its relation to the client's place among others of its type.
    place: places::Place,
}

/// Returns the calls of other tasks' entries in a task's own code.
fn calls(cx: &Context) -> Vec<(NodeId, EntityId)> {
    let tree = cx.tree();
    let statements = tree
        .walk(cx.task.body.node)
        .filter(|&n| tree.kind(n) == "procedure_call_statement");
    statements
        .filter_map(|n| {
            let name = tree.role(n, "name")?;
            let id = cx.names.meaning(cx.program, cx.at(name))?;
            owner(cx, id).map(|_| (n, id))
        })
        .collect()
}

/// Returns the task that has an entry.
fn owner(cx: &Context, entry: EntityId) -> Option<EntityId> {
    let entity = cx.names.entity(entry);
    let owner = cx.names.scope(entity.scope).owner?;
    let is_task = matches!(
        cx.names.entity(owner).kind,
        Kind::SingleTask | Kind::TaskType
    );
    (entity.kind == Kind::Entry && is_task).then_some(owner)
}

/// Returns the tasks whose entries a task calls. The calling task must have no entries, be the only
/// caller, and the entries must not be accepted in a select, as those of servers are.
pub fn clients_of(cx: &Context) -> Vec<EntityId> {
    if !cx.task.entries.is_empty() || cx.task.is_type {
        return vec![];
    }
    let calls = calls(cx);
    let is_own = |&(_, entry): &(NodeId, EntityId)| {
        let mut uses = cx.names.uses_of(entry).iter();
        uses.all(|&at| in_call(cx, at, &calls) || in_client(cx, at, entry))
    };
    let serves = |&(_, entry): &(NodeId, EntityId)| clients::is_server(cx, entry);
    if !calls.iter().all(is_own) || calls.iter().any(serves) {
        return vec![];
    }
    calls.iter().filter_map(|&(_, e)| owner(cx, e)).collect()
}

fn in_call(cx: &Context, at: At, calls: &[(NodeId, EntityId)]) -> bool {
    at.file == cx.task.body.file && calls.iter().any(|&(n, _)| cx.tree().is_within(at.node, n))
}

fn in_client(cx: &Context, at: At, entry: EntityId) -> bool {
    let body = owner(cx, entry).and_then(|o| cx.names.entity(o).body);
    body.is_some_and(|b| {
        b.file == at.file && cx.program.sources[b.file].tree.is_within(at.node, b.node)
    })
}

/// Returns the edits that replace a calling server and change its clients.
///
/// # Errors
/// The obstacles.
pub fn replace(cx: Context, taken: &HashSet<String>) -> Result<Replacement, Vec<Reason>> {
    let targets = targets(&cx)?;
    let (task, waits) = inverted_task(&cx, &targets);
    let flow = Flow::of_calls(cx.program, cx.names, &task, &waits);
    let cx = Context {
        task: &task,
        flow: &flow,
        ..cx
    };
    let found = obstacles::between_calls(&cx);
    if !found.reasons.is_empty() {
        return Err(found.reasons);
    }
    // The clients' parameters do not occur in the server, but in its object's entries.
    let data = targets.iter().flat_map(|t| &t.data);
    let taken = taken
        .iter()
        .cloned()
        .chain(data.map(|d| Names::key(&d.name)))
        .collect();
    let mut replacement = accepting::replace_inverted(cx, &taken, inverted(&cx, &targets))?;
    replacement.edits.extend(client_edits(&cx, &targets));
    replacement.notes = found.notes;
    Ok(replacement)
}

fn refuse(cx: &Context, rule: Rule, node: NodeId, text: &str, help: &str) -> Vec<Reason> {
    vec![cx.reason(rule, node, text, help)]
}

/// Returns the called entries, each with its calls, its client and its accepts.
fn targets(cx: &Context) -> Result<Vec<Target>, Vec<Reason>> {
    let tree = cx.tree();
    let calls = calls(cx);
    let mut found: Vec<Target> = Vec::new();
    for &(call, entry) in &calls {
        if let Some(select) = tree.ancestor(
            call,
            &[
                "timed_entry_call",
                "conditional_entry_call",
                "asynchronous_select",
                "subprogram_body",
            ],
        ) && tree.is_within(select, cx.task.body.node)
        {
            let text = "the client is called in a select statement or a subprogram";
            let help = "call it unconditionally, in the task's own statements";
            return Err(refuse(cx, Rule::LoopShape, select, text, help));
        }
        if let Some(known) = found.iter_mut().find(|t| t.entry == entry) {
            known.calls.push(call);
            continue;
        }
        let Some(client) = owner(cx, entry) else {
            continue;
        };
        let accepts = clients::accepts(cx, call, client, entry)?;
        let data = data::of(cx, call, entry)?;
        let is_held = data::is_held(cx, &data, &accepts);
        found.push(Target {
            entry,
            client,
            calls: vec![call],
            accepts,
            data,
            is_held,
            name: String::new(),
            place: places::Place::None,
        });
    }
    clients::check(cx, &mut found)?;
    name(cx, &mut found);
    Ok(found)
}

/// Chooses the name of an entry: the client's, prefixed with the client's own name if several
/// clients have such entries or the server has such a name.
fn name(cx: &Context, targets: &mut [Target]) {
    let keys: Vec<String> = targets
        .iter()
        .map(|t| Names::key(&cx.names.entity(t.entry).name))
        .collect();
    for (index, target) in targets.iter_mut().enumerate() {
        let entry = &cx.names.entity(target.entry).name;
        let mut all = cx.names.all();
        let is_shared = keys.iter().filter(|k| **k == keys[index]).count() > 1
            || all.any(|(id, e)| Names::key(&e.name) == keys[index] && cx.is_local(id));
        target.name = if is_shared {
            format!("{}_{entry}", cx.names.entity(target.client).name)
        } else {
            entry.clone()
        };
    }
}

/// Returns the task as if it had the entries that its clients will call, with the calls as their
/// accepts.
fn inverted_task(cx: &Context, targets: &[Target]) -> (Task, Vec<(NodeId, usize)>) {
    let mut task = cx.task.clone();
    let mut waits = Vec::new();
    for target in targets {
        waits.extend(target.calls.iter().map(|&c| (c, task.entries.len())));
        task.entries.push(Entry {
            id: target.entry,
            name: target.name.clone(),
            index: None,
            formals: None,
        });
    }
    waits.sort_unstable();
    (task, waits)
}

/// Returns the data of the entries.
fn inverted(cx: &Context, targets: &[Target]) -> Inverted {
    let mut opened = Vec::new();
    let mut values: HashMap<NodeId, Vec<(String, NodeId)>> = HashMap::new();
    let mut indexes = HashMap::new();
    for target in targets {
        for &call in &target.calls {
            values.insert(call, data::actuals(cx, &target.data, call));
            indexes.extend(places::called_element(cx, call).map(|(_, index)| (call, index)));
        }
        opened.push(Opened {
            name: target.name.clone(),
            data: target.data.clone(),
            is_held: target.is_held,
            place: target.place.clone(),
        });
    }
    Inverted {
        opened,
        values,
        indexes,
    }
}

fn client_edits(cx: &Context, targets: &[Target]) -> Vec<Edit> {
    let mut edits = write::declarations(cx, targets);
    edits.extend(write::variables(cx, targets));
    for target in targets {
        edits.extend(
            target
                .accepts
                .iter()
                .map(|&accept| write::call(cx, target, accept)),
        );
    }
    edits
}
