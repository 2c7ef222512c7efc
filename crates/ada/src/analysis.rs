//! The analysis of a program: its names, its tasks, and a verdict for each task.

use std::collections::{HashMap, HashSet};

use crate::effects::{Opened, Oracle};
use crate::flow::Flow;
use crate::model::{self, Suspect, Task};
use crate::names::{At, EntityId, Names};
use crate::source::Program;
use crate::translate::accepting::{self, Replacement};
use crate::translate::ceiling::{self, Ceiling};
use crate::translate::context::Context;
use crate::translate::{Options, calling, exceptions, general, obstacles};
use crate::verdict::{Class, Reason, Rule, Verdict};

/// A task and its verdict.
#[derive(Debug, Clone)]
pub struct TaskReport {
    /// The task.
    pub task: Task,
    /// The translation that is possible, and why.
    pub verdict: Verdict,
}

/// The analysis of a program.
#[derive(Debug)]
pub struct Analysis<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its names.
    pub names: Names,
    /// Its tasks, in order of their bodies.
    pub tasks: Vec<TaskReport>,
    /// Task bodies whose declarations were not given.
    pub orphans: Vec<At>,
    /// The options on which the verdicts depend.
    pub options: Options,
    /// Server entries that become procedures.
    opened: HashMap<EntityId, Opened>,
    /// Servers that call such procedures, numbered so that callees come first.
    callers: HashMap<EntityId, usize>,
}

/// A verdict, and the entries that become procedures if the task becomes an object.
struct Judged {
    report: TaskReport,
    opened: Vec<(EntityId, Opened)>,
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
            orphans: vec![],
            options,
            opened: HashMap::new(),
            callers: HashMap::new(),
        };
        analysis.orphans = model::orphans(program, &analysis.names);
        let (oracle, suspects) = (
            Oracle::new(program, &analysis.names, &analysis.options.assumed),
            model::suspects(program, &analysis.names),
        );
        let mut judged: Vec<TaskReport> = Vec::with_capacity(tasks.len());
        let mut opened = Vec::new();
        for task in tasks {
            let found = analysis.judge(task, &oracle, &suspects);
            judged.push(found.report);
            opened.extend(found.opened);
        }
        let mut callers = HashMap::new();
        let all_opened =
            analysis.judge_again(&mut judged, opened, &oracle, &suspects, &mut callers);
        if analysis.options.form().is_none() {
            // A task that calls servers is a client. It may be a calling server only if the tasks
            // that it calls stay tasks.
            let servers: HashSet<EntityId> = judged
                .iter()
                .filter(|r| r.verdict.class == Class::Accepting)
                .map(|r| r.task.id)
                .collect();
            for report in &mut judged {
                analysis.judge_caller(report, &oracle, &suspects, &servers);
            }
        }
        analysis.opened = all_opened;
        analysis.callers = callers;
        analysis.tasks = judged;
        if analysis.options.form().is_some() {
            general::reconsider(&mut analysis);
        }
        analysis
    }

    /// Returns the context for the translation of a task.
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

    /// Returns an oracle that knows which entries become procedures.
    pub(crate) fn oracle(&self) -> Oracle<'_> {
        let oracle = Oracle::new(self.program, &self.names, &self.options.assumed);
        oracle.open(self.opened.iter().map(|(&id, &opened)| (id, opened)));
        oracle
    }

    /// Whether a server calls other servers, and so must be translated together with them.
    pub(crate) fn calls_servers(&self, task: EntityId) -> bool {
        self.callers.contains_key(&task)
    }

    /// Returns the tasks; those that call servers come last.
    pub(crate) fn callees_first(&self) -> Vec<&TaskReport> {
        let mut tasks: Vec<&TaskReport> = self.tasks.iter().collect();
        tasks.sort_by_key(|t| self.callers.get(&t.task.id).copied().unwrap_or(0));
        tasks
    }

    /// Judges tasks again that were refused because they call entries that become procedures. A
    /// server only calls servers that were found before it, so objects never call each other in a
    /// cycle.
    fn judge_again(
        &self,
        judged: &mut [TaskReport],
        opened: Vec<(EntityId, Opened)>,
        oracle: &Oracle,
        suspects: &[Suspect],
        callers: &mut HashMap<EntityId, usize>,
    ) -> HashMap<EntityId, Opened> {
        let mut all: HashMap<EntityId, Opened> = HashMap::new();
        let mut new = opened;
        while !new.is_empty() {
            all.extend(new.iter().copied());
            oracle.open(new.iter().copied());
            let candidates = self.refused_callers(judged, &new);
            new = vec![];
            for index in candidates {
                let task = judged[index].task.clone();
                let again = self.judge(task, oracle, suspects);
                if !self.may_call(&again.report.task, oracle, &all) {
                    continue;
                }
                if again.report.verdict.class == Class::Accepting {
                    callers.insert(again.report.task.id, callers.len() + 1);
                }
                judged[index] = again.report;
                new.extend(again.opened);
            }
        }
        all
    }

    /// Returns the tasks that were refused because they block, and that may call one of some
    /// entries.
    fn refused_callers(&self, judged: &[TaskReport], opened: &[(EntityId, Opened)]) -> Vec<usize> {
        let mut bodies: HashSet<At> = HashSet::new();
        let mut any = false;
        let uses = opened.iter().flat_map(|&(e, _)| self.names.uses_of(e));
        for at in uses {
            let tree = &self.program.sources[at.file].tree;
            let around = tree.ancestor(at.node, &["task_body", "subprogram_body"]);
            match around.filter(|&n| tree.kind(n) == "task_body") {
                Some(node) => drop(bodies.insert(At { node, ..*at })),
                // A subprogram may be called by any task.
                None => any = true,
            }
        }
        let blocks = |r: &Reason| matches!(r.rule, Rule::BlocksBetween | Rule::BlocksInAccept);
        judged
            .iter()
            .enumerate()
            .filter(|(_, t)| t.verdict.reasons.iter().any(blocks))
            .filter(|(_, t)| any || bodies.contains(&t.task.body))
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether a server's ceiling allows the calls of other objects that it may make (RM D.3 (13)).
    fn may_call(&self, task: &Task, oracle: &Oracle, opened: &HashMap<EntityId, Opened>) -> bool {
        let flow = self.flow(task, oracle);
        let cx = self.context(task, &flow, oracle, &[]);
        let own = ceiling::of(&cx);
        let is_called = |entry: EntityId| {
            self.names.uses_of(entry).iter().any(|at| {
                let tree = &self.program.sources[at.file].tree;
                let around = tree.ancestor(at.node, &["task_body", "subprogram_body"]);
                around.is_none_or(|node| {
                    tree.kind(node) != "task_body" || At { node, ..*at } == task.body
                })
            })
        };
        own == Ceiling::NotLooked
            || opened
                .iter()
                .filter(|&(&entry, _)| is_called(entry))
                .all(|(_, opened)| own.is_at_most(opened.ceiling))
    }

    fn judge(&self, task: Task, oracle: &Oracle, suspects: &[Suspect]) -> Judged {
        if let Some(form) = self.options.form() {
            let report = self.judge_generally(task, oracle, suspects, form);
            return Judged {
                report,
                opened: vec![],
            };
        }
        let flow = self.flow(&task, oracle);
        let cx = self.context(&task, &flow, oracle, suspects);
        let mut found = obstacles::find(&cx);
        let mut opened = Vec::new();
        if found.reasons.is_empty() {
            match accepting::replace(cx, &HashSet::new()) {
                Ok(replacement) if self.options.wants(&task.name) => {
                    let procedure = Opened {
                        raises: flow.can_end() || exceptions::can_close(&cx),
                        does_io: found.notes.iter().any(|n| n.rule == Rule::InputOutput),
                        ceiling: ceiling::of(&cx),
                    };
                    let entries = replacement.procedures.iter();
                    opened.extend(entries.map(|&e| (e, procedure)));
                }
                Ok(_) => {}
                Err(more) => found.reasons = more,
            }
        }
        let class = classify(&found.reasons);
        let verdict = Verdict {
            class,
            reasons: found.reasons,
            notes: found.notes,
        };
        Judged {
            report: TaskReport { task, verdict },
            opened,
        }
    }

    /// Judges a task without entries again: it may call its clients in turn.
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
                help: "do without it".into(),
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

    /// Returns a verdict for the general scheme, which is meant for every task with entries.
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

    /// Returns the graph of a task's body, without alternatives that only poll.
    fn flow(&self, task: &Task, oracle: &Oracle) -> Flow<'p> {
        let mut flow = Flow::of(self.program, &self.names, task);
        let cx = self.context(task, &flow, oracle, &[]);
        let polling = obstacles::polling(&cx);
        flow.set_polling(&polling);
        flow
    }

    /// Returns the edits that replace a task, if its verdict allows it.
    pub(crate) fn replacement(
        &self,
        report: &TaskReport,
        taken: &HashSet<String>,
        oracle: &Oracle,
    ) -> Option<Result<Replacement, Vec<Reason>>> {
        if !report.verdict.class.is_replaced() {
            return None;
        }
        let flow = self.flow(&report.task, oracle);
        let cx = self.context(&report.task, &flow, oracle, &[]);
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
