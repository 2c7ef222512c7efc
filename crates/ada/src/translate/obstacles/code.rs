//! Obstacles in the code between waits and inside accepts.

use std::collections::BTreeSet;

use super::Found;
use crate::effects::{Effect, Effects};
use crate::flow::{Point, Site};
use crate::syntax::NodeId;
use crate::translate::Io;
use crate::translate::context::Context;
use crate::verdict::{Reason, Rule};

impl Found {
    /// Checks the code between waits.
    pub(super) fn between(&mut self, cx: &Context) {
        let start: BTreeSet<Point> = cx.flow.reach(cx.flow.start());
        let mut all = BTreeSet::new();
        for root in cx.flow.roots() {
            all.extend(cx.flow.reach(root));
        }
        let sites = cx.flow.sites.iter();
        let after: BTreeSet<Point> = sites
            .flat_map(|s| cx.flow.reach(cx.flow.resume(s)))
            .collect();
        let mut runs_in_caller = None;
        for point in all {
            let nodes = code_at(cx, point);
            if nodes.is_empty() {
                continue;
            }
            let effects = cx.oracle.of_all(cx.task.body.file, &nodes);
            // The body of an accept that waits inside is checked with the accepts.
            if cx.flow.owner_at(point).is_some() {
                continue;
            }
            let is_before = start.contains(&point);
            self.report_between(cx, &effects, is_before);
            let is_statement = matches!(point, Point::Before(n) if cx.flow.is_plain(n) && cx.tree().kind(n) != "null_statement");
            if after.contains(&point) && is_statement && runs_in_caller.is_none() {
                runs_in_caller = nodes.first().copied();
            }
        }
        if let Some(node) = runs_in_caller {
            let is_accept = |s: &Site| cx.tree().kind(s.accept) == "accept_statement";
            let text = if cx.flow.sites.iter().all(is_accept) {
                "statements after an accept now run before the caller goes on, in the protected action"
            } else {
                "statements between calls now run before the client goes on, in the protected action"
            };
            self.note(
                cx,
                Rule::RunsInCaller,
                node,
                text,
                "nothing, if they are short",
            );
        }
        for item in cx.declarations() {
            let effects = cx.oracle.of(cx.at(item));
            if cx.tree().kind(item) == "object_declaration" {
                self.report_between(cx, &effects, true);
            }
        }
    }

    pub(super) fn report_between(&mut self, cx: &Context, effects: &Effects, is_before: bool) {
        let when = if is_before {
            "before the first accept"
        } else {
            "between accepts"
        };
        for effect in &effects.blocks {
            let text = format!(
                "{} {when}, which a protected action must not do (RM 9.5.1 (8))",
                effect.what
            );
            self.push(
                effect,
                Rule::BlocksBetween,
                text,
                "leave it a task, or move this to the clients",
            );
        }
        for effect in &effects.long {
            if cx.options.force {
                continue;
            }
            let text = format!(
                "{} {when} is work that the task does beside its callers",
                effect.what
            );
            self.push(
                effect,
                Rule::WorksBeside,
                text,
                "--force translates it so that the callers wait for that work",
            );
        }
        self.report_common(cx, effects);
    }

    pub(super) fn push(&mut self, effect: &Effect, rule: Rule, text: String, help: &str) {
        self.reasons.push(Reason {
            rule,
            at: effect.at,
            text,
            help: help.into(),
        });
    }

    /// Adds one reason for each unknown unit.
    fn absent_unit(&mut self, effect: &Effect, unit: &str) {
        if !self.absent.insert(unit.to_string()) {
            return;
        }
        let name = spelt(unit);
        let text = format!(
            "{}: {name} may declare it, and whether it blocks cannot be known here",
            effect.what
        );
        let help = format!("give the source of {name} too, or --assume-nonblocking {name}");
        self.push(effect, Rule::UnknownCall, text, &help);
    }

    /// Adds one note for each unit of unknown types.
    fn absent_types(&mut self, effects: &Effects) {
        for effect in &effects.types {
            let Some(unit) = &effect.unit else { continue };
            let name = spelt(unit);
            let text = format!(
                "{}: types of {name} are taken to be neither controlled nor to have tasks in them",
                effect.what
            );
            if self.notes.iter().all(|n| n.text != text) {
                self.notes.push(Reason {
                    rule: Rule::UnknownCall,
                    at: effect.at,
                    text,
                    help: format!("give the source of {name} too"),
                });
            }
        }
    }

    /// Handles code that would block inside a protected action.
    pub(super) fn blocks(&mut self, effect: &Effect, place: &str) {
        let text = format!(
            "{} {place}, which a protected action must not do (RM 9.5.1 (8))",
            effect.what
        );
        let help = "do it before or after the call, in the client";
        self.push(effect, Rule::BlocksInAccept, text, help);
    }

    pub(super) fn report_common(&mut self, cx: &Context, effects: &Effects) {
        for effect in &effects.unknown {
            if let Some(unit) = &effect.unit {
                self.absent_unit(effect, unit);
                continue;
            }
            let text = format!(
                "{}: it may block, and that cannot be known here",
                effect.what
            );
            let help = if effect.what.contains(", whose ") {
                "give its source too"
            } else {
                "leave it a task, or do this in the clients"
            };
            self.push(effect, Rule::UnknownCall, text, help);
        }
        self.absent_types(effects);
        for effect in &effects.identity {
            let text = format!(
                "{}: in an entry body it would be another task's (RM C.7.1 (17))",
                effect.what
            );
            self.push(
                effect,
                Rule::Identity,
                text,
                "name the task that is meant, by the attribute 'Caller or a parameter; what is the server's own only a task has",
            );
        }
        for effect in &effects.io {
            let text = format!(
                "{} is potentially blocking by RM 9.5.1 (18); GNAT does it and does not report it",
                effect.what
            );
            match cx.options.io {
                Io::Refuse => self.push(
                    effect,
                    Rule::InputOutput,
                    text,
                    "--io allow, or move the output to the clients",
                ),
                Io::Allow => self.notes.push(Reason {
                    rule: Rule::InputOutput,
                    at: effect.at,
                    text,
                    help: "--io refuse keeps such tasks".into(),
                }),
            }
        }
    }

    /// Checks the bodies of accept statements.
    pub(super) fn accepts(&mut self, cx: &Context) {
        let tree = cx.tree();
        for site in &cx.flow.sites {
            let Some(body) = tree.child(site.accept, "handled_sequence_of_statements") else {
                continue;
            };
            let effects = cx.oracle.of(cx.at(body));
            for effect in effects.blocks.iter().filter(|e| !is_nested_wait(cx, e)) {
                self.blocks(effect, "inside the accept");
            }
            self.report_common(cx, &effects);
        }
    }

    /// Finds accepts that only start the task's own work.
    pub(super) fn handshake(&mut self, cx: &Context) {
        let tree = cx.tree();
        let is_in_loop = cx.flow.sites.iter().any(|s| {
            tree.ancestors(s.accept)
                .take_while(|&n| n != cx.task.body.node)
                .any(|n| tree.kind(n) == "loop_statement")
        });
        if is_in_loop || cx.options.force {
            return;
        }
        for site in &cx.flow.sites {
            let works = cx
                .flow
                .reach(cx.flow.resume(site))
                .into_iter()
                .find_map(|p| match p {
                    Point::Before(node)
                        if cx.flow.is_plain(node) && cx.flow.owner(node).is_none() =>
                    {
                        let e = cx.oracle.of(cx.at(node));
                        (!e.blocks.is_empty()
                            || !e.long.is_empty()
                            || !e.unknown.is_empty()
                            || !e.io.is_empty()
                            || !e.impure.is_empty())
                        .then_some(node)
                    }
                    _ => None,
                });
            if let Some(node) = works {
                let text = format!(
                    "the task goes on here with work of its own after accept {}",
                    cx.task.entries[site.entry].name
                );
                self.refuse(
                    cx,
                    Rule::Handshake,
                    node,
                    text,
                    "leave it a task; --force makes its caller do the work",
                );
                return;
            }
        }
    }
}

/// Returns a unit's name in its usual spelling, from its lower-case name.
fn spelt(unit: &str) -> String {
    let mut begins = true;
    unit.chars()
        .map(|c| {
            let spelt = if begins { c.to_ascii_uppercase() } else { c };
            begins = matches!(c, '.' | '_');
            spelt
        })
        .collect()
}

/// Returns the nodes that are executed or evaluated at a point.
pub fn code_at(cx: &Context, point: Point) -> Vec<NodeId> {
    let tree = cx.tree();
    match point {
        Point::Before(node) if cx.flow.is_plain(node) => vec![node],
        Point::Before(node) => match tree.kind(node) {
            "if_statement" | "exit_statement" => {
                let own = tree.role(node, "condition");
                own.into_iter()
                    .chain(
                        tree.all(node, "elsif_statement_item")
                            .filter_map(|e| tree.role(e, "condition")),
                    )
                    .collect()
            }
            "case_statement" => tree.child(node, "expression").into_iter().collect(),
            "block_statement" => tree
                .child(node, "non_empty_declarative_part")
                .into_iter()
                .collect(),
            _ => vec![],
        },
        Point::LoopTop(node) => tree.child(node, "iteration_scheme").into_iter().collect(),
        _ => vec![],
    }
}

pub(super) fn is_nested_wait(cx: &Context, effect: &Effect) -> bool {
    effect.at.file == cx.task.body.file
        && (matches!(
            cx.tree().kind(effect.at.node),
            "accept_statement" | "selective_accept"
        ) || cx
            .tree()
            .parent(effect.at.node)
            .is_some_and(|p| cx.tree().kind(p) == "delay_alternative"))
}
