//! The general scheme: tasks remain tasks, and their rendezvous go through protected objects
//! (section 5 of the paper, figures 3 and 4).
//!
//! Clients call a protected object that has the task's name and entries. An entry is open while the
//! task waits for a call of it, so conditional and timed calls keep their meaning (RM 9.7.2,
//! 9.7.3). An accepted call is requeued without abort until the task has finished it, so that a
//! rendezvous that has begun is not cancelled (RM 9.5.2).

mod accept_bodies;
mod accepts;
mod clients;
mod constraints;
mod ending;
mod entry;
mod failing;
mod gate;
mod gate_body;
mod gate_entries;
mod layout_of;
mod library;
mod masters;
mod names_inside;
mod obstacles;
mod parameters;
mod plan;
mod polling;
mod quiet;
mod rendezvous;
mod server;
mod words;

use std::collections::{BTreeMap, HashSet};

use crate::analysis::Analysis;
use crate::edit::Edit;
use crate::effects::Oracle;
use crate::flow::Flow;
use crate::names::EntityId;
use crate::translate::ceiling;
use crate::translate::context::Context;
use crate::translate::layout::Substitutions;
use crate::verdict::{Class, Reason, Rule, Verdict};
use accepts::Accepts;
pub use plan::Form;
use plan::Plan;

/// Returns a verdict for the general scheme, which is meant for every task with entries.
pub fn judge(cx: Context, form: Form) -> Verdict {
    let mut reasons = obstacles::find(&cx, form);
    let mut notes = library::notes(&cx);
    notes.extend(ceiling::note(&cx));
    if reasons.is_empty() {
        match Plan::of(cx, form, &mut HashSet::new()) {
            Ok(plan) => {
                reasons.extend(clients::obstacles(&plan));
                let clashes = plan.entries.iter();
                reasons.extend(clashes.filter_map(|e| rendezvous::clash(&plan, e)));
                notes.extend(polling::notes(&plan));
                let entries = plan.entries.iter();
                reasons.extend(entries.filter_map(|e| constraints::obstacle(&cx, e)));
            }
            Err(more) => reasons.extend(more),
        }
    }
    let class = if reasons.is_empty() {
        Class::Rendezvous
    } else {
        Class::Kept
    };
    Verdict {
        class,
        reasons,
        notes,
    }
}

/// Withdraws the verdict of tasks whose terminate alternative can only be replaced together with
/// others that stay.
pub fn reconsider(analysis: &mut Analysis) {
    loop {
        let Some((task, other)) = left_alone(analysis) else {
            return;
        };
        let other = analysis.names.entity(other).name.clone();
        let report = &mut analysis.tasks[task];
        let body = report.task.body;
        report.verdict.class = Class::Kept;
        report.verdict.reasons.push(Reason {
            rule: Rule::Terminate,
            at: body,
            text: format!("task {other}, of the same unit, keeps its terminate alternative, and each would wait for the other to end"),
            help: format!("see what keeps {other}, or give one of them an entry that ends it"),
        });
    }
}

/// Returns a task with a terminate alternative that would be replaced, and a task of the same unit
/// whose alternative would not.
fn left_alone(analysis: &Analysis) -> Option<(usize, EntityId)> {
    let oracle = Oracle::new(analysis.program, &analysis.names, &analysis.options.assumed);
    let is_replaced = |t: &&crate::analysis::TaskReport| {
        t.verdict.class == Class::Rendezvous && analysis.options.wants(&t.task.name)
    };
    let replaced: Vec<EntityId> = analysis
        .tasks
        .iter()
        .filter(is_replaced)
        .map(|t| t.task.id)
        .collect();
    let mut tasks = analysis
        .tasks
        .iter()
        .enumerate()
        .filter(|(_, t)| is_replaced(t));
    tasks.find_map(|(index, report)| {
        let flow = Flow::of(analysis.program, &analysis.names, &report.task);
        let cx = Context {
            program: analysis.program,
            names: &analysis.names,
            oracle: &oracle,
            task: &report.task,
            flow: &flow,
            suspects: &[],
            options: &analysis.options,
        };
        let other = masters::companions(&cx)
            .into_iter()
            .find(|c| !replaced.contains(c))?;
        Some((index, other))
    })
}

/// Returns the edits of all wanted tasks that can be translated, and their names. They are made
/// together, because one task may call another.
pub fn translate(analysis: &Analysis, form: Form) -> (Vec<Edit>, Vec<String>) {
    let oracle = Oracle::new(analysis.program, &analysis.names, &analysis.options.assumed);
    let suspects = crate::model::suspects(analysis.program, &analysis.names);
    let wanted: Vec<_> = analysis
        .tasks
        .iter()
        .filter(|t| t.verdict.class == Class::Rendezvous && analysis.options.wants(&t.task.name))
        .collect();
    let flows: Vec<Flow> = wanted
        .iter()
        .map(|t| Flow::of(analysis.program, &analysis.names, &t.task))
        .collect();
    let mut taken = HashSet::new();
    let mut plans: Vec<Plan> = wanted
        .iter()
        .zip(&flows)
        .filter_map(|(report, flow)| {
            let cx = Context {
                program: analysis.program,
                names: &analysis.names,
                oracle: &oracle,
                task: &report.task,
                flow,
                suspects: &suspects,
                options: &analysis.options,
            };
            Plan::of(cx, form, &mut taken).ok()
        })
        .collect();
    let mut edits = Vec::new();
    let mut changes: BTreeMap<usize, Substitutions> = BTreeMap::new();
    for plan in &plans {
        clients::rewrite(plan, &mut changes);
    }
    for plan in &mut plans {
        let changes = changes.entry(plan.cx.task.body.file).or_default();
        plan.name_targets(changes);
    }
    for plan in &mut plans {
        let body = plan.cx.task.body;
        let changes = changes.entry(body.file).or_default();
        Accepts { plan, changes }.rewrite();
        let source = plan.cx.source();
        plan.server_text = changes.apply(source, source.tree.range(body.node));
    }
    for plan in &plans {
        edits.push(plan.declaration_edit());
        edits.extend(plan.body_edits());
    }
    edits.extend(ending::edits(&plans));
    edits.extend(clients::with_clauses(&plans));
    edits.extend(library::with_clauses(&plans));
    for (file, changes) in &changes {
        edits.extend(changes.outermost(*file));
    }
    let names = plans.iter().map(|p| p.cx.task.name.clone()).collect();
    (edits, names)
}
