//! All that is known about a program: its names, its tasks, and a verdict for each.

use std::collections::HashSet;

use crate::effects::Oracle;
use crate::flow::Flow;
use crate::model::{self, Task};
use crate::names::Names;
use crate::source::Program;
use crate::translate::accepting::{self, Replacement};
use crate::translate::context::Context;
use crate::translate::{Options, obstacles};
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
        analysis.tasks = tasks.into_iter().map(|task| analysis.judge(task)).collect();
        analysis
    }

    fn judge(&self, task: Task) -> TaskReport {
        let oracle = Oracle::new(self.program, &self.names);
        let flow = Flow::of(self.program, &self.names, &task);
        let cx = Context {
            program: self.program,
            names: &self.names,
            oracle: &oracle,
            task: &task,
            flow: &flow,
            options: &self.options,
        };
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

    /// The edits that replace a task, if its verdict allows it.
    pub(crate) fn replacement(
        &self,
        report: &TaskReport,
        taken: &HashSet<String>,
    ) -> Option<Result<Replacement, Vec<Reason>>> {
        if report.verdict.class != Class::Accepting {
            return None;
        }
        let oracle = Oracle::new(self.program, &self.names);
        let flow = Flow::of(self.program, &self.names, &report.task);
        let cx = Context {
            program: self.program,
            names: &self.names,
            oracle: &oracle,
            task: &report.task,
            flow: &flow,
            options: &self.options,
        };
        Some(accepting::replace(cx, taken))
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
