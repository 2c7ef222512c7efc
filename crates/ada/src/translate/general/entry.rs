//! An entry in the plan for a protected object.

use std::collections::BTreeSet;

use super::failing::can_fail;
use super::names_inside::own_target;
use super::parameters::{self, Parameter};
use crate::model::Entry;
use crate::names::{At, EntityId};
use crate::syntax::NodeId;
use crate::translate::context::{Context, source_of};
use crate::translate::machine;
use crate::verdict::{Reason, Rule};

/// An entry in the plan for a protected object.
#[derive(Debug, Clone)]
pub(super) struct EntryPlan {
    pub id: EntityId,
    pub name: String,
    /// The literal for a call of it.
    pub literal: String,
    pub parameters: Vec<Parameter>,
    /// The formal part as it is written, with its parentheses.
    pub formals: Option<String>,
    /// The index of a family, as it is written.
    pub index: Option<String>,
    /// The declared subtype for the index of a family, if the index is a range.
    pub index_subtype: Option<String>,
    /// The type or subtype of the index of a family.
    pub index_mark: Option<String>,
    /// Whether an accept statement has a body, so that callers wait for its end.
    pub has_body: bool,
    /// The type of the object for its rendezvous, if there is one; entries with the same profile
    /// share it.
    pub rendezvous_type: String,
    /// The object for its rendezvous: a variable, or a component beside the gate of a task type.
    pub rendezvous: String,
    /// Whether calls are requeued to a member of this family.
    pub is_way: bool,
    /// Whether an accept's body can fail.
    pub fails: bool,
    /// Whether `'Count` is used.
    pub is_counted: bool,
    /// The requeue statements that leave its accepts.
    pub requeues: Vec<NodeId>,
}

impl EntryPlan {
    /// Returns a subtype mark for the index of a family. A value outside of it raises an exception
    /// at its use (RM 9.5.2 (24)).
    pub fn index_name(&self) -> String {
        let name = self.index_subtype.as_ref().or(self.index_mark.as_ref());
        name.cloned().unwrap_or_default()
    }

    /// Returns the declaration of the subtype for the index.
    pub fn index_declaration(&self) -> Option<String> {
        let (name, mark) = (self.index_subtype.as_ref()?, self.index_mark.as_ref()?);
        let index = self.index.as_ref()?;
        let range = match index.to_ascii_lowercase().find(" range ") {
            Some(at) => &index[at + " range ".len()..],
            None => index,
        };
        Some(format!("subtype {name} is {mark} range {};", range.trim()))
    }

    /// Returns the private entry at which callers wait for the end of the accept.
    pub fn end(&self) -> String {
        format!("{}_End", self.name)
    }

    /// Returns the component that keeps a parameter.
    pub fn field(&self, parameter: &Parameter) -> String {
        format!("{}_{}", self.name, parameter.name)
    }

    /// Returns the procedure and the component for the member of a family that is accepted.
    pub fn member(&self) -> String {
        format!("{}_Member", self.name)
    }

    /// Returns the component for the member of a family that a caller is requeued to.
    pub fn way(&self) -> String {
        format!("{}_Way", self.name)
    }

    /// Whether callers must pass their parameters again at the end.
    pub fn end_has_formals(&self) -> bool {
        !self.requeues.is_empty() || self.parameters.iter().any(|p| p.comes_out)
    }
}

/// Returns the type of an earlier entry with the same profile. Entries to which calls are requeued
/// need types of their own.
pub(super) fn shared_type(known: &[EntryPlan], entry: &EntryPlan) -> Option<String> {
    let is_like = |other: &&EntryPlan| {
        other.requeues.is_empty()
            && entry.requeues.is_empty()
            && other.fails == entry.fails
            && other.parameters == entry.parameters
            && other.formals == entry.formals
    };
    known
        .iter()
        .find(is_like)
        .map(|e| e.rendezvous_type.clone())
}

/// Plans an entry from its declaration and its accepts.
pub(super) fn entry_plan(
    cx: &Context,
    entry: &Entry,
    literal: String,
) -> Result<EntryPlan, Reason> {
    let at = cx.names.entity(entry.id).at;
    let source = source_of(cx.program, at);
    let tree = cx.tree();
    let sites = cx.flow.sites.iter();
    let accepts: BTreeSet<NodeId> = sites
        .filter(|s| cx.task.entries[s.entry].id == entry.id)
        .map(|s| s.accept)
        .collect();
    let requeues = accepts
        .iter()
        .flat_map(|&a| machine::leaving(cx.source(), a, "requeue_statement"))
        .collect();
    let index_mark = match entry.index {
        Some(index) if source.tree.kind(index) == "range_g" => {
            Some(range_mark(cx, At { node: index, ..at })?)
        }
        Some(index) => Some(source.text(index).to_string()),
        None => None,
    };
    Ok(EntryPlan {
        id: entry.id,
        name: entry.name.clone(),
        literal,
        parameters: parameters::of_entry(cx, entry.id)?,
        formals: entry.formals.map(|f| source.text(f).to_string()),
        index: entry.index.and_then(|_| {
            // Brackets included, because the body must repeat the text (RM 6.3.1).
            let (open, close) = (
                source.tree.child(at.node, "(")?,
                source.tree.child(at.node, ")")?,
            );
            let text = &source.text[source.tree.end(open)..source.tree.start(close)];
            Some(text.trim().to_string())
        }),
        index_mark,
        index_subtype: None,
        has_body: accepts
            .iter()
            .any(|&a| tree.child(a, "handled_sequence_of_statements").is_some()),
        rendezvous_type: String::new(),
        rendezvous: String::new(),
        is_way: entry.index.is_some() && is_requeued_to(cx, entry.id),
        fails: accepts.iter().any(|&a| can_fail(cx, a)),
        is_counted: counts(cx, entry.id).next().is_some(),
        requeues,
    })
}

/// Whether a requeue statement of the task names one of its own entries.
fn is_requeued_to(cx: &Context, entry: EntityId) -> bool {
    let tree = cx.tree();
    tree.walk(cx.task.body.node)
        .filter(|&n| tree.kind(n) == "requeue_statement")
        .filter_map(|n| own_target(cx, n))
        .any(|index| cx.task.entries[index].id == entry)
}

/// Returns a subtype mark for a range: the type before `range`, or Integer for a range of literals.
fn range_mark(cx: &Context, range: At) -> Result<String, Reason> {
    let source = source_of(cx.program, range);
    let is_numeric = source
        .text(range.node)
        .split("..")
        .all(|b| b.trim().replace('_', "").parse::<i64>().is_ok());
    if is_numeric {
        return Ok("Integer".into());
    }
    Err(Reason {
        rule: Rule::Parameter,
        at: range,
        text: "the index of the family has a range without a name".into(),
        help: "declare a subtype for the index".into(),
    })
}

/// Returns the uses of an entry in `E'Count` inside the task's body, as prefixes.
pub(super) fn counts<'c>(cx: &'c Context, entry: EntityId) -> impl Iterator<Item = NodeId> + 'c {
    let tree = cx.tree();
    cx.names
        .uses_of(entry)
        .iter()
        .filter(|at| at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node))
        .filter_map(move |at| {
            let mut prefix = at.node;
            while let Some(above) = tree.parent(prefix).filter(|&p| {
                (tree.kind(p) == "selected_component" && tree.field(prefix) == "selector_name")
                    || (tree.kind(p) == "function_call" && tree.field(prefix) == "name")
            }) {
                prefix = above;
            }
            let designator = tree
                .next(prefix)
                .filter(|&n| tree.kind(n) == "tick")
                .and_then(|t| tree.next(t));
            designator
                .is_some_and(|d| cx.text(d).eq_ignore_ascii_case("count"))
                .then_some(prefix)
        })
}
