//! All that is known about a program: its names, its tasks, and a verdict for each.

use std::collections::HashSet;

use crate::effects::Oracle;
use crate::flow::Flow;
use crate::model::{self, Suspect, Task};
use crate::names::{EntityId, Names};
use crate::source::Program;
use crate::translate::accepting::{self, Replacement};
use crate::translate::context::Context;
use crate::translate::{Options, calling, general, obstacles};
use crate::verdict::{Class, Reason, Rule, Verdict};

/// A task and its verdict.
#[derive(Debug, Clone)]
pub struct TaskReport {
    /// The task.
    pub task: Task,
    /// What can be done with it, and why.
    pub verdict: Verdict,
}

/// What is known about a program.
#[derive(Debug)]
pub struct Analysis<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its names.
    pub names: Names,
    /// Its tasks, in order of their bodies.
    pub tasks: Vec<TaskReport>,
    /// What the verdicts were asked under.
    pub options: Options,
}

impl<'p> Analysis<'p> {
    /// Resolves names and gives verdicts.
    pub fn of(program: &'p Program, options: Options) -> Analysis<'p> {
        let names = Names::of(program);
        let tasks = model::tasks(program, &names);
        let mut analysis = Analysis {
            program,
            names,
            tasks: vec![],
            options,
        };
        let (oracle, suspects) = (
            Oracle::new(program, &analysis.names),
            model::suspects(program),
        );
        let mut judged: Vec<TaskReport> = tasks
            .into_iter()
            .map(|task| analysis.judge(task, &oracle, &suspects))
            .collect();
        if analysis.options.form().is_none() {
            // Who calls servers is a client; only who calls tasks that stay tasks may be a server that calls.
            let servers: HashSet<EntityId> = judged
                .iter()
                .filter(|r| r.verdict.class == Class::Accepting)
                .map(|r| r.task.id)
                .collect();
            for report in &mut judged {
                analysis.judge_caller(report, &oracle, &suspects, &servers);
            }
        }
        analysis.tasks = judged;
        if analysis.options.form().is_some() {
            general::reconsider(&mut analysis);
        }
        analysis
    }

    /// What a translation of a task looks at.
    fn context<'a>(
        &'a self,
        task: &'a Task,
        flow: &'a Flow<'a>,
        oracle: &'a Oracle<'a>,
        suspects: &'a [Suspect],
    ) -> Context<'a> {
        Context {
            program: self.program,
            names: &self.names,
            oracle,
            task,
            flow,
            suspects,
            options: &self.options,
        }
    }

    fn judge(&self, task: Task, oracle: &Oracle, suspects: &[Suspect]) -> TaskReport {
        if let Some(form) = self.options.form() {
            return self.judge_generally(task, oracle, suspects, form);
        }
        let flow = self.flow(&task, oracle);
        let cx = self.context(&task, &flow, oracle, suspects);
        let mut found = obstacles::find(&cx);
        if found.reasons.is_empty()
            && let Err(more) = accepting::replace(cx, &HashSet::new())
        {
            found.reasons = more;
        }
        let class = classify(&found.reasons);
        TaskReport {
            task,
            verdict: Verdict {
                class,
                reasons: found.reasons,
                notes: found.notes,
            },
        }
    }

    /// Looks again at a task without entries: it may call its clients in turn.
    fn judge_caller(
        &self,
        report: &mut TaskReport,
        oracle: &Oracle,
        suspects: &[Suspect],
        servers: &HashSet<EntityId>,
    ) {
        let task = &report.task;
        let flow = self.flow(task, oracle);
        let cx = self.context(task, &flow, oracle, suspects);
        let clients = calling::clients_of(&cx);
        if clients.is_empty() || clients.iter().any(|c| servers.contains(c)) {
            return;
        }
        let mut notes = vec![];
        let mut reasons: Vec<Reason> = task
            .uses_as_task(self.program, &self.names, suspects)
            .into_iter()
            .map(|u| Reason {
                rule: Rule::UsedAsTask,
                at: u.at,
                text: format!("{} needs a task", u.what),
                mend: "do without it".into(),
            })
            .collect();
        if reasons.is_empty() {
            match calling::replace(cx, &HashSet::new()) {
                Ok(found) => notes = found.notes,
                Err(found) => reasons = found,
            }
        }
        let class = if reasons.is_empty() {
            Class::Calling
        } else {
            Class::Kept
        };
        report.verdict = Verdict {
            class,
            reasons,
            notes,
        };
    }

    /// A verdict for the general scheme, which every task with entries is meant for.
    fn judge_generally(
        &self,
        task: Task,
        oracle: &Oracle,
        suspects: &[Suspect],
        form: general::Form,
    ) -> TaskReport {
        let flow = Flow::of(self.program, &self.names, &task);
        let cx = self.context(&task, &flow, oracle, suspects);
        let verdict = general::judge(cx, form);
        TaskReport { task, verdict }
    }

    /// The graph of a task's body, without the alternatives that only poll.
    fn flow(&self, task: &Task, oracle: &Oracle) -> Flow<'p> {
        let mut flow = Flow::of(self.program, &self.names, task);
        let cx = self.context(task, &flow, oracle, &[]);
        let polling = obstacles::polling(&cx);
        flow.set_polling(&polling);
        flow
    }

    /// The edits that replace a task, if its verdict allows it.
    pub(crate) fn replacement(
        &self,
        report: &TaskReport,
        taken: &HashSet<String>,
    ) -> Option<Result<Replacement, Vec<Reason>>> {
        if !report.verdict.class.is_replaced() {
            return None;
        }
        let oracle = Oracle::new(self.program, &self.names);
        let flow = self.flow(&report.task, &oracle);
        let cx = self.context(&report.task, &flow, &oracle, &[]);
        Some(match report.verdict.class {
            Class::Calling => calling::replace(cx, taken),
            _ => accepting::replace(cx, taken),
        })
    }
}

fn classify(reasons: &[Reason]) -> Class {
    let has = |rules: &[Rule]| reasons.iter().any(|r| rules.contains(&r.rule));
    if reasons.is_empty() {
        Class::Accepting
    } else if has(&[
        Rule::NoAccept,
        Rule::UsedAsTask,
        Rule::Representation,
        Rule::Unresolved,
        Rule::Interface,
    ]) {
        Class::Kept
    } else if has(&[Rule::Handshake]) {
        Class::Handshake
    } else if has(&[
        Rule::BlocksBetween,
        Rule::BlocksInAccept,
        Rule::WorksBeside,
        Rule::ElsePart,
        Rule::DelayAlternative,
        Rule::NestedAccept,
    ]) {
        Class::General
    } else {
        Class::Kept
    }
}
