//! Ceilings (RM D.3): under Ceiling_Locking no caller of a protected operation may have a higher
//! priority than the object's ceiling.
//!
//! The default ceiling, `Priority'Last`, is above every task's priority. If all callers have a
//! static priority, the ceiling is the highest of these, so that the object does not delay tasks
//! above its callers.

use super::context::Context;
use super::timing;
use crate::names::{At, Names};
use crate::source::Program;
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

/// What is known about the ceiling that an object needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceiling {
    /// The program does not ask for Ceiling_Locking, so ceilings do not matter.
    NotLooked,
    /// Not all callers have a static priority: the default.
    Unknown,
    /// The highest possible ceiling, which a handler of timing events needs (RM D.15 (6)).
    Interrupt,
    /// The highest priority of the callers.
    Of(i128),
}

impl Ceiling {
    /// Whether an object with this ceiling may call one with another (RM D.3 (13)).
    pub fn is_at_most(self, callee: Ceiling) -> bool {
        match (self, callee) {
            (Ceiling::Of(own), Ceiling::Of(other)) => own <= other,
            (Ceiling::Interrupt, _) => callee == Ceiling::Interrupt,
            (Ceiling::Of(_), _) => true,
            (_, Ceiling::Of(_)) => false,
            _ => true,
        }
    }
}

/// Returns the ceiling that a server's object needs.
pub fn of(cx: &Context) -> Ceiling {
    if !has_ceiling_locking(cx.program, cx.names) {
        return Ceiling::NotLooked;
    }
    if !timing::waits(cx).is_empty() {
        return Ceiling::Interrupt;
    }
    match highest(cx) {
        Some(value) => Ceiling::Of(value),
        None => Ceiling::Unknown,
    }
}

/// Returns the ceiling of the objects of a task's rendezvous; the default if nothing is known. The
/// task calls them, too. Where calls are requeued to other objects, GNAT locks those while it holds
/// the first. So all of these must have the default.
pub fn of_rendezvous(cx: &Context) -> Option<i128> {
    if !has_ceiling_locking(cx.program, cx.names) {
        return None;
    }
    let mut uses = cx.task.entries.iter().flat_map(|e| cx.names.uses_of(e.id));
    let is_requeued = uses.any(|at| {
        let tree = &cx.program.sources[at.file].tree;
        tree.ancestor(at.node, &["requeue_statement"]).is_some()
    });
    let tree = cx.tree();
    let requeues = tree
        .walk(cx.task.body.node)
        .any(|n| tree.kind(n) == "requeue_statement");
    // A terminate alternative is replaced by code at the end of the task's master, whose priority
    // may be any.
    let terminates = cx.flow.waits.iter().any(|w| w.has_terminate);
    if is_requeued || requeues || terminates {
        return None;
    }
    Some(highest(cx)?.max(declared(cx, cx.task.declaration)?))
}

/// Returns a note about a further condition of GNAT. On Linux it cannot raise a task's priority to
/// a ceiling unless tasks are scheduled by priority. Then every call of a protected object fails.
pub fn note(cx: &Context) -> Option<Reason> {
    let is_scheduled = asks_for(
        cx.program,
        cx.names,
        &["fifo_within_priorities", "ravenscar", "jorvik"],
    );
    if !has_ceiling_locking(cx.program, cx.names) || is_scheduled {
        return None;
    }
    Some(Reason {
        rule: Rule::Ceiling,
        at: cx.task.declaration,
        text: "the program asks for Ceiling_Locking and not for FIFO_Within_Priorities: GNAT for Linux then refuses every call of a protected object"
            .into(),
        help: "add pragma Task_Dispatching_Policy (FIFO_Within_Priorities)".into(),
    })
}

/// Whether a configuration pragma asks for Ceiling_Locking, itself or by a profile (RM D.13 (6)).
pub fn has_ceiling_locking(program: &Program, names: &Names) -> bool {
    asks_for(program, names, &["ceiling_locking", "ravenscar", "jorvik"])
}

/// Whether a pragma names one of some policies or profiles.
fn asks_for(program: &Program, names: &Names, keys: &[&str]) -> bool {
    keys.iter().any(|key| {
        names.files_with(key).iter().any(|&file| {
            let tree = &program.sources[file].tree;
            let mut found = names.occurrences(file, key).iter();
            found.any(|&n| tree.ancestor(n, &["pragma_g"]).is_some())
        })
    })
}

fn highest(cx: &Context) -> Option<i128> {
    if !cx.names.files_with("set_priority").is_empty() {
        return None;
    }
    let mut found: Option<i128> = None;
    let uses = cx
        .task
        .entries
        .iter()
        .flat_map(|e| cx.names.uses_of(e.id).iter().copied());
    for at in uses {
        let tree = &cx.program.sources[at.file].tree;
        if at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node) {
            continue;
        }
        let caller = tree.ancestor(at.node, &["task_body", "subprogram_body", "entry_body"]);
        let body = caller.filter(|&n| tree.kind(n) == "task_body");
        let is_main = caller.is_some_and(|node| is_main(cx, At { node, ..at }));
        let priority = match body {
            Some(node) => of_task_body(cx, At { node, ..at })?,
            None if is_main => of_main(cx)?,
            None => of_anybody(cx)?,
        };
        found = Some(found.map_or(priority, |f| f.max(priority)));
    }
    found
}

fn of_task_body(cx: &Context, body: At) -> Option<i128> {
    let task = cx.names.completed_by(body)?;
    declared(cx, cx.names.entity(task).at)
}

/// Returns the priority for code in a subprogram, which any task and the main program may call.
fn of_anybody(cx: &Context) -> Option<i128> {
    let mut found = of_main(cx)?;
    for (_, entity) in cx.names.all() {
        let is_task = matches!(
            entity.kind,
            crate::names::Kind::TaskType | crate::names::Kind::SingleTask
        );
        if is_task && entity.at != cx.task.declaration {
            found = found.max(declared(cx, entity.at)?);
        }
    }
    Some(found)
}

/// Whether a body is that of a library subprogram that is not called.
fn is_main(cx: &Context, body: At) -> bool {
    let tree = &cx.program.sources[body.file].tree;
    let is_unit = tree.kind(body.node) == "subprogram_body"
        && tree
            .parent(body.node)
            .is_some_and(|p| tree.kind(p) == "compilation_unit");
    let own = cx.names.completed_by(body);
    is_unit
        && own.is_some_and(|id| {
            let mut uses = cx.names.uses_of(id).iter();
            uses.all(|u| u.file == body.file && tree.is_within(u.node, body.node))
        })
}

/// Returns the priority of the main program: that of the library subprogram that has one.
fn of_main(cx: &Context) -> Option<i128> {
    let sources = cx.program.sources.iter().enumerate();
    let mut mains = sources.flat_map(|(file, source)| {
        let tree = &source.tree;
        let units = tree.all(tree.root(), "compilation_unit");
        units
            .filter_map(|u| tree.child(u, "subprogram_body"))
            .map(move |node| At { file, node })
    });
    mains.find_map(|at| declared(cx, at))
}

/// Returns the static priority that a pragma or aspect of a task or subprogram gives.
fn declared(cx: &Context, at: At) -> Option<i128> {
    let source = &cx.program.sources[at.file];
    let tree = &source.tree;
    let is_own = |n: NodeId| {
        let around = tree.ancestor(
            n,
            &[
                "subprogram_body",
                "single_task_declaration",
                "task_type_declaration",
                "task_body",
                "package_declaration",
                "package_body",
            ],
        );
        around == Some(at.node)
    };
    let value = tree.walk(at.node).find_map(|n| {
        let is_kind = matches!(tree.kind(n), "pragma_g" | "aspect_association");
        let name = tree.child(n, "identifier").filter(|_| is_kind)?;
        let is_priority = Names::key(source.text(name)) == "priority" && is_own(n);
        is_priority
            .then(|| {
                tree.walk(n)
                    .find(|&x| matches!(tree.kind(x), "expression" | "term"))
            })
            .flatten()
    })?;
    let node = value;
    cx.names.static_value(cx.program, At { node, ..at })
}
