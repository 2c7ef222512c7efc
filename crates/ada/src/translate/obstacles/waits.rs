//! Guards, and alternatives of selective accepts that are not accepts.

use std::collections::{BTreeSet, HashSet};

use super::Found;
use crate::flow::{Point, Wait};
use crate::names::{At, EntityId, Kind};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::declarations::adopted;
use crate::translate::timing;
use crate::translate::unsynchronized;
use crate::verdict::Rule;

impl Found {
    /// Checks the variables that guards read: either only the task changes them, or they never
    /// change.
    pub(super) fn guards(&mut self, cx: &Context) {
        for site in &cx.flow.sites {
            let Some(guard) = site.guard else { continue };
            self.condition(cx, guard);
        }
    }

    pub(super) fn condition(&mut self, cx: &Context, guard: NodeId) {
        let effects = cx.oracle.of(cx.at(guard));
        for effect in effects.blocks.iter().chain(&effects.unknown) {
            let text = format!("{} in a guard", effect.what);
            self.push(
                effect,
                Rule::OutsideGuard,
                text,
                "keep what the guard needs in a variable of the task",
            );
        }
        for effect in &effects.impure {
            let is_own = !effect.what.starts_with("a call of ")
                || cx
                    .names
                    .meaning(cx.program, name_of(cx, effect.at))
                    .is_some();
            if !is_own {
                let text = format!(
                    "{} in a guard: the value may change although nobody calls the server",
                    effect.what
                );
                self.push(
                    effect,
                    Rule::OutsideGuard,
                    text,
                    "keep what the guard needs in a variable of the task",
                );
            }
        }
        let mut unsynchronized = unsynchronized::variables(cx, guard);
        for variable in variables_read(cx, cx.at(guard)) {
            let entity = cx.names.entity(variable);
            let outside = cx.names.uses_of(variable).iter().find(|&&at| {
                let is_inside =
                    at.file == cx.task.body.file && cx.tree().is_within(at.node, cx.task.body.node);
                !is_inside && cx.is_written_at(at)
            });
            if let Some(&at) = outside {
                unsynchronized.retain(|&v| v != variable);
                let place = cx.program.sources[at.file].place_of(at.node);
                let text = format!(
                    "the guard reads {}, which is changed outside the task at {}:{}; a barrier would not notice",
                    entity.name,
                    place.file.display(),
                    place.line
                );
                self.refuse(
                    cx,
                    Rule::OutsideGuard,
                    guard,
                    text,
                    "change the variable through an entry of the server",
                );
            }
        }
        unsynchronized
            .retain(|&v| unsynchronized::constant(cx, v).is_none() && !adopted::is_adopted(cx, v));
        for variable in unsynchronized {
            let text = format!(
                "the guard reads {}, a variable outside the task, and GNAT warns of barriers that do",
                cx.names.entity(variable).name
            );
            let help = "declare it in the task body, or as a constant if nothing changes it";
            self.refuse(cx, Rule::OutsideGuard, guard, text, help);
        }
    }

    /// Checks delay, else and terminate alternatives.
    pub(super) fn alternatives(&mut self, cx: &Context, wait: &Wait) {
        if let Some(part) = wait.otherwise.or(wait.delay).filter(|_| wait.is_polling) {
            let text = format!(
                "the {} only polls and is dropped: a barrier needs no polling",
                part_name(wait)
            );
            self.note(cx, Rule::Polling, part, text, "nothing");
        } else if let Some(part) = wait.otherwise {
            self.otherwise(cx, wait, part);
        } else if wait.delay.is_some() {
            match timing::judge(cx, wait) {
                Ok(note) => self.notes.push(note),
                Err(reason) => self.reasons.push(reason),
            }
        }
        let ends = wait.has_terminate || cx.flow.can_end() || cx.flow.owner(wait.node).is_some();
        if !ends && self.notes.iter().all(|n| n.rule != Rule::NeverEnds) {
            let text = "the original task waits here for ever, so its program never ends; the translation ends when its clients do";
            self.note(cx, Rule::NeverEnds, wait.node, text, "nothing");
        }
    }

    /// Checks an else part. It is a branch for the case that no call is queued, unless the task
    /// returns at once to poll again.
    fn otherwise(&mut self, cx: &Context, wait: &Wait, part: NodeId) {
        let first = cx.flow.first(wait.node, Some(part));
        if cx.flow.reach(first).contains(&Point::Before(wait.node)) {
            self.refuse(
                cx,
                Rule::ElsePart,
                part,
                "the else part does something while nobody calls",
                "leave it a task: it works on its own",
            );
        }
    }
}

fn part_name(wait: &Wait) -> &'static str {
    if wait.otherwise.is_some() {
        "else part"
    } else {
        "delay alternative"
    }
}

/// Returns the waits whose delay or else part only polls: it does nothing and leads straight back.
pub fn polling(cx: &Context) -> BTreeSet<usize> {
    let is_polling = |wait: &Wait| {
        let delayed = wait
            .delay
            .map(|d| cx.tree().child(d, "sequence_of_statements"));
        let statements = wait.otherwise.map(Some).or(delayed);
        statements.is_some_and(|s| s.is_none_or(|s| only_waits(cx, s))) && comes_back(cx, wait)
    };
    let waits = cx.flow.waits.iter().enumerate();
    waits
        .filter(|(_, w)| is_polling(w))
        .map(|(i, _)| i)
        .collect()
}

/// Returns variables outside the task that an expression or statement names, including known
/// subprograms.
pub fn variables_read(cx: &Context, at: At) -> Vec<EntityId> {
    let mut found = Vec::new();
    let mut open = vec![at];
    let mut bodies: Vec<At> = vec![at];
    let mut seen = HashSet::new();
    while let Some(at) = open.pop() {
        for (_, e) in cx.meanings(at) {
            let entity = cx.names.entity(e);
            match entity.kind {
                Kind::Variable if !cx.is_local(e) && seen.insert(e) => found.push(e),
                Kind::Subprogram if seen.insert(e) => {
                    open.extend(entity.body);
                    bodies.extend(entity.body);
                }
                _ => {}
            }
        }
    }
    // Each call has new variables of the subprograms themselves.
    found.retain(|&e| {
        !bodies
            .iter()
            .any(|&body| cx.names.is_declared_in(cx.program, e, body))
    });
    found
}

fn only_waits(cx: &Context, sequence: NodeId) -> bool {
    let tree = cx.tree();
    tree.children(sequence)
        .all(|n| matches!(tree.kind(n), "null_statement" | "delay_relative_statement"))
}

/// Whether the code after a select leads straight back to it.
fn comes_back(cx: &Context, wait: &Wait) -> bool {
    let tree = cx.tree();
    let mut point = cx.flow.after(wait.node);
    for _ in 0..100 {
        point = match point {
            Point::Before(node) if node == wait.node => return true,
            Point::Before(node) if tree.kind(node) == "null_statement" => cx.flow.after(node),
            Point::LoopNext(node) if !cx.flow.is_for(node) => Point::LoopTop(node),
            Point::LoopTop(node) => {
                let condition = tree
                    .child(node, "iteration_scheme")
                    .filter(|_| cx.flow.is_while(node));
                // The condition was true at the loop's start, and nothing in the task has changed
                // it since.
                let is_steady = condition.is_none_or(|c| {
                    cx.oracle.of(cx.at(c)).impure.is_empty()
                        && variables_read(cx, cx.at(c))
                            .iter()
                            .all(|&v| cx.names.uses_of(v).iter().all(|&at| !cx.is_written_at(at)))
                });
                if !is_steady {
                    return false;
                }
                cx.flow.first(node, tree.role(node, "statements"))
            }
            _ => return false,
        };
    }
    false
}

pub(super) fn name_of(cx: &Context, at: At) -> At {
    let tree = &cx.program.sources[at.file].tree;
    At {
        node: tree.role(at.node, "name").unwrap_or(at.node),
        ..at
    }
}
