//! What keeps a task from becoming a protected object.

use std::collections::{BTreeSet, HashSet};

use super::Io;
use super::context::Context;
use crate::effects::{Effect, Effects};
use crate::flow::{Point, Wait};
use crate::names::{At, EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

/// Reasons against, and notes for a reader of the translation.
#[derive(Debug, Default)]
pub struct Found {
    /// What stands in the way.
    pub reasons: Vec<Reason>,
    /// What a reader should know.
    pub notes: Vec<Reason>,
}

/// Looks for everything that stands in the way of section 6.1 of the paper.
pub fn find(cx: &Context) -> Found {
    let mut found = Found::default();
    if cx.flow.sites.is_empty() {
        let text = format!("task {} accepts no call", cx.task.name);
        found.reasons.push(cx.reason(
            Rule::NoAccept,
            cx.task.body.node,
            text,
            "nothing: a task that works on its own is what tasks are for",
        ));
        return found;
    }
    found.declaration(cx);
    found.uses(cx);
    found.statements(cx);
    found.between(cx);
    found.accepts(cx);
    found.guards(cx);
    for wait in cx.flow.reachable_waits() {
        found.alternatives(cx, &cx.flow.waits[wait]);
    }
    found.handlers(cx);
    found.handshake(cx);
    found.elaboration(cx);
    found.unique();
    found
}

impl Found {
    fn refuse(
        &mut self,
        cx: &Context,
        rule: Rule,
        node: NodeId,
        text: impl Into<String>,
        mend: &str,
    ) {
        self.reasons.push(cx.reason(rule, node, text, mend));
    }

    fn note(
        &mut self,
        cx: &Context,
        rule: Rule,
        node: NodeId,
        text: impl Into<String>,
        mend: &str,
    ) {
        self.notes.push(cx.reason(rule, node, text, mend));
    }

    fn unique(&mut self) {
        let mut seen = HashSet::new();
        self.reasons.retain(|r| seen.insert((r.rule, r.at)));
        self.reasons.sort_by_key(|r| r.at);
        let mut seen = HashSet::new();
        self.notes.retain(|r| seen.insert((r.rule, r.at)));
        self.notes.sort_by_key(|r| r.at);
    }

    /// Interfaces, representation clauses, pragmas and aspects of the declaration.
    fn declaration(&mut self, cx: &Context) {
        let declaration = cx.task.declaration;
        let source = &cx.program.sources[declaration.file];
        let tree = &source.tree;
        let at = |node| At {
            node,
            ..declaration
        };
        if let Some(word) = tree.child(declaration.node, "new") {
            let text = "the task implements an interface; a protected type can implement it only if it is not a task interface";
            self.reasons.push(Reason {
                rule: Rule::Interface,
                at: at(word),
                text: text.into(),
                mend: "make the interface synchronized, and translate by hand".into(),
            });
        }
        for node in tree.walk(declaration.node) {
            match tree.kind(node) {
                "attribute_definition_clause" | "at_clause" => {
                    let word = tree
                        .child(node, "attribute_designator")
                        .map_or(String::new(), |n| Names::key(source.text(n)));
                    if word != "storage_size" {
                        let text =
                            "a representation clause: an interrupt entry or the like".to_string();
                        self.reasons.push(Reason {
                            rule: Rule::Representation,
                            at: at(node),
                            text,
                            mend:
                                "attach a protected procedure to the interrupt by hand (RM C.3.1)"
                                    .into(),
                        });
                    }
                }
                "pragma_g" => {
                    let name = tree
                        .child(node, "identifier")
                        .map_or("", |n| source.text(n));
                    self.dropped(Names::key(name), name, at(node));
                }
                "aspect_association" => {
                    let name = tree
                        .child(node, "identifier")
                        .map_or("", |n| source.text(n));
                    self.dropped(Names::key(name), name, at(node));
                }
                _ => {}
            }
        }
    }

    /// A pragma or aspect of the task that a protected object has no use for.
    fn dropped(&mut self, key: String, name: &str, at: At) {
        match key.as_str() {
            "priority" => {
                let text = "the priority is dropped: a ceiling must not be below any caller's, and the default, Priority'Last, is above all (RM D.3)";
                let mend = "set the ceiling to the highest priority of the callers if the program uses Ceiling_Locking";
                self.notes.push(Reason {
                    rule: Rule::Ceiling,
                    at,
                    text: text.into(),
                    mend: mend.into(),
                });
            }
            "storage_size" | "task_name" | "relative_deadline" | "cpu" | "dispatching_domain"
            | "unreferenced" | "warnings" => {}
            _ => {
                let text = format!(
                    "`{name}` is for tasks, or its effect on a protected object is not known"
                );
                self.reasons.push(Reason {
                    rule: Rule::Representation,
                    at,
                    text,
                    mend: "remove it, or translate by hand".into(),
                });
            }
        }
    }

    fn uses(&mut self, cx: &Context) {
        for found in cx.task.uses_as_task(cx.program, cx.names, cx.suspects) {
            let text = format!("{} needs a task", found.what);
            let mend = "give the server an entry that asks or ends it, and use that";
            self.reasons.push(Reason {
                rule: Rule::UsedAsTask,
                at: found.at,
                text,
                mend: mend.into(),
            });
        }
    }

    /// Statements that the graph cannot follow.
    fn statements(&mut self, cx: &Context) {
        let tree = cx.tree();
        for node in tree.walk(cx.task.body.node) {
            match tree.kind(node) {
                "goto_statement" if !cx.flow.is_plain(node) => self.refuse(
                    cx,
                    Rule::Goto,
                    node,
                    "a goto between synchronization points",
                    "use a loop or an exit",
                ),
                "label" if tree.parent(node).is_some_and(|p| !cx.flow.is_plain(p)) => {
                    self.refuse(
                        cx,
                        Rule::Goto,
                        node,
                        "a label between synchronization points",
                        "use a loop or an exit",
                    );
                }
                "accept_statement" if !cx.flow.sites.iter().any(|s| s.accept == node) => {
                    self.refuse(
                        cx,
                        Rule::Unresolved,
                        node,
                        "the entry that is accepted here could not be resolved",
                        "check that the file compiles",
                    );
                }
                "gnatprep_if_statement" | "gnatprep_declarative_if_statement" => {
                    self.refuse(
                        cx,
                        Rule::Unresolved,
                        node,
                        "preprocessor lines in the task body",
                        "preprocess the file first (gnatprep)",
                    );
                }
                _ => {}
            }
        }
        for wait in cx.flow.waits.iter().filter(|w| w.is_nested) {
            self.refuse(
                cx,
                Rule::NestedAccept,
                wait.node,
                "an accept inside an accept keeps the outer caller waiting for an inner one",
                "split the outer entry in two",
            );
        }
        if tree
            .walk(cx.task.body.node)
            .any(|n| tree.kind(n) == "asynchronous_select")
        {
            self.refuse(
                cx,
                Rule::BlocksBetween,
                cx.task.body.node,
                "an asynchronous select in the task body",
                "move it into the clients",
            );
        }
    }

    /// The code between waits.
    fn between(&mut self, cx: &Context) {
        let start: BTreeSet<Point> = cx.flow.reach(cx.flow.start());
        let mut all = BTreeSet::new();
        for root in cx.flow.roots() {
            all.extend(cx.flow.reach(root));
        }
        let mut runs_in_caller = None;
        for point in all {
            let nodes = self.code_at(cx, point);
            if nodes.is_empty() {
                continue;
            }
            let effects = cx.oracle.of_all(cx.task.body.file, &nodes);
            let is_before = start.contains(&point);
            self.report_between(cx, &effects, is_before);
            let is_statement = matches!(point, Point::Before(n) if cx.flow.is_plain(n) && cx.tree().kind(n) != "null_statement");
            if !is_before && is_statement && runs_in_caller.is_none() {
                runs_in_caller = nodes.first().copied();
            }
        }
        if let Some(node) = runs_in_caller {
            let text = "statements after an accept now run before the caller goes on, in the protected action";
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

    /// What is executed or evaluated at a point.
    fn code_at(&self, cx: &Context, point: Point) -> Vec<NodeId> {
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

    fn report_between(&mut self, cx: &Context, effects: &Effects, is_before: bool) {
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

    fn push(&mut self, effect: &Effect, rule: Rule, text: String, mend: &str) {
        self.reasons.push(Reason {
            rule,
            at: effect.at,
            text,
            mend: mend.into(),
        });
    }

    fn report_common(&mut self, cx: &Context, effects: &Effects) {
        for effect in &effects.unknown {
            let text = format!(
                "{}: it may block, and that cannot be known here",
                effect.what
            );
            self.push(effect, Rule::UnknownCall, text, "give its source too");
        }
        for effect in &effects.identity {
            let text = format!(
                "{}: in an entry body it would be another task's (RM C.7.1 (17))",
                effect.what
            );
            self.push(
                effect,
                Rule::Identity,
                text,
                "use the attribute 'Caller, or pass the identity as a parameter",
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
                    mend: "--io refuse keeps such tasks".into(),
                }),
            }
        }
    }

    /// The bodies of accept statements.
    fn accepts(&mut self, cx: &Context) {
        let tree = cx.tree();
        for site in &cx.flow.sites {
            let Some(body) = tree.child(site.accept, "handled_sequence_of_statements") else {
                continue;
            };
            let effects = cx.oracle.of(cx.at(body));
            for effect in effects.blocks.iter().filter(|e| !is_nested_wait(cx, e)) {
                let text = format!(
                    "{} inside the accept, which a protected action must not do (RM 9.5.1 (8))",
                    effect.what
                );
                self.push(
                    effect,
                    Rule::BlocksInAccept,
                    text,
                    "do it before or after the call, in the client",
                );
            }
            self.report_common(cx, &effects);
        }
    }

    /// What guards read: only what the task itself changes, or nothing does.
    fn guards(&mut self, cx: &Context) {
        for site in &cx.flow.sites {
            let Some(guard) = site.guard else { continue };
            self.condition(cx, guard);
        }
    }

    fn condition(&mut self, cx: &Context, guard: NodeId) {
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
        for variable in self.variables_read(cx, cx.at(guard)) {
            let entity = cx.names.entity(variable);
            let outside = cx.names.uses_of(variable).iter().find(|&&at| {
                let is_inside =
                    at.file == cx.task.body.file && cx.tree().is_within(at.node, cx.task.body.node);
                !is_inside && cx.is_written_at(at)
            });
            if let Some(&at) = outside {
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
    }

    /// Variables from outside the task that an expression reads, through known functions.
    fn variables_read(&self, cx: &Context, at: At) -> Vec<EntityId> {
        let mut found = Vec::new();
        let mut open = vec![at];
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            for (_, e) in cx.meanings(at) {
                let entity = cx.names.entity(e);
                match entity.kind {
                    Kind::Variable if !cx.is_local(e) && seen.insert(e) => found.push(e),
                    Kind::Subprogram if seen.insert(e) => open.extend(entity.body),
                    _ => {}
                }
            }
        }
        found
    }

    /// Delay, else and terminate alternatives.
    fn alternatives(&mut self, cx: &Context, wait: &Wait) {
        if let Some(otherwise) = wait.otherwise {
            if self.only_waits(cx, otherwise) && self.comes_back(cx, wait) {
                self.note(
                    cx,
                    Rule::Polling,
                    otherwise,
                    "the else part only polls and is dropped: a barrier needs no polling",
                    "nothing",
                );
            } else {
                self.refuse(
                    cx,
                    Rule::ElsePart,
                    otherwise,
                    "the else part does something while nobody calls",
                    "leave it a task: it works on its own",
                );
            }
        }
        if let Some(delay) = wait.delay {
            let statements = cx.tree().child(delay, "sequence_of_statements");
            if statements.is_none_or(|s| self.only_waits(cx, s)) && self.comes_back(cx, wait) {
                self.note(
                    cx,
                    Rule::Polling,
                    delay,
                    "the delay alternative only polls and is dropped: a barrier needs no polling",
                    "nothing",
                );
            } else {
                let text = "the delay alternative does something when nobody calls for a while";
                self.refuse(cx, Rule::DelayAlternative, delay, text, "give the time-out to the clients (timed entry calls), or use a timing event (RM D.15)");
            }
        }
        let ends = wait.has_terminate || cx.flow.can_end();
        if !ends && self.notes.iter().all(|n| n.rule != Rule::NeverEnds) {
            let text = "the original task waits here for ever, so its program never ends; the translation ends when its clients do";
            self.note(cx, Rule::NeverEnds, wait.node, text, "nothing");
        }
    }

    fn only_waits(&self, cx: &Context, sequence: NodeId) -> bool {
        let tree = cx.tree();
        tree.children(sequence)
            .all(|n| matches!(tree.kind(n), "null_statement" | "delay_relative_statement"))
    }

    /// Whether the way on after a select leads straight back to it.
    fn comes_back(&self, cx: &Context, wait: &Wait) -> bool {
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
                    // The condition held when the loop went round, and nothing in the task has changed it since.
                    let is_steady = condition.is_none_or(|c| {
                        cx.oracle.of(cx.at(c)).impure.is_empty()
                            && self.variables_read(cx, cx.at(c)).iter().all(|&v| {
                                cx.names.uses_of(v).iter().all(|&at| !cx.is_written_at(at))
                            })
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

    /// Handlers around waits.
    fn handlers(&mut self, cx: &Context) {
        let tree = cx.tree();
        for handled in handled_around_waits(cx) {
            for handler in tree.all(handled, "exception_handler") {
                let leaves = tree.walk(handler).find(|&n| {
                    matches!(
                        tree.kind(n),
                        "raise_statement" | "accept_statement" | "selective_accept"
                    ) || !cx.flow.is_plain(n)
                });
                if let Some(node) = leaves {
                    self.refuse(
                        cx,
                        Rule::Handler,
                        node,
                        "the handler raises, accepts or jumps",
                        "handle the exception inside the accept",
                    );
                }
                let effects = cx.oracle.of(cx.at(handler));
                self.report_between(cx, &effects, false);
            }
            let owner = tree.parent(handled).unwrap_or(handled);
            if tree.kind(owner) == "block_statement" {
                let goes_on = cx.flow.reach(cx.flow.after(owner)).into_iter().any(|p| matches!(p, Point::Before(n) if cx.flow.is_plain(n) && tree.kind(n) != "null_statement"));
                if goes_on {
                    self.refuse(
                        cx,
                        Rule::Handler,
                        owner,
                        "statements follow the block whose handler is around the accept",
                        "move them into the block",
                    );
                }
            }
        }
    }

    /// A task can be called before it is activated; the call waits. A protected object must not be called before its body is elaborated
    /// (RM 3.11 (10)), so no task may be activated between the two that might call it.
    fn elaboration(&mut self, cx: &Context) {
        let (declaration, body) = (cx.task.declaration, cx.task.body);
        let tree = cx.tree();
        let is_called_by_task = cx
            .task
            .entries
            .iter()
            .flat_map(|e| cx.names.uses_of(e.id))
            .any(|at| {
                let other = &cx.program.sources[at.file].tree;
                let inside = other.ancestor(at.node, &["task_body"]);
                inside.is_some_and(|node| At { node, ..*at } != body)
            });
        if declaration.file != body.file || !is_called_by_task {
            return;
        }
        let span = tree.end(declaration.node)..tree.end(body.node);
        let in_span = |n: NodeId| {
            tree.start(n) >= span.start && tree.start(n) < span.end && !tree.is_within(n, body.node)
        };
        for node in tree.walk(tree.root()).filter(|&n| in_span(n)) {
            if tree
                .ancestor(node, &["subprogram_body", "task_body", "entry_body"])
                .is_some_and(in_span)
            {
                continue;
            }
            let activates = match tree.kind(node) {
                "allocator" => !cx.oracle.of(cx.at(node)).blocks.is_empty(),
                "single_task_declaration" | "object_declaration" => {
                    let in_package = tree
                        .ancestor(node, &["package_body", "package_declaration"])
                        .is_some_and(in_span);
                    in_package && self.has_tasks(cx, node)
                }
                _ => false,
            };
            if activates {
                let text =
                    "a task is activated here, before the server's body, and may call it too early";
                self.refuse(
                    cx,
                    Rule::Prologue,
                    node,
                    text,
                    "declare the server's body before this",
                );
                return;
            }
        }
    }

    /// Whether a declaration makes a task, perhaps as a component of a record or array.
    fn has_tasks(&self, cx: &Context, declaration: NodeId) -> bool {
        let mut open = vec![cx.at(declaration)];
        let mut seen = HashSet::new();
        while let Some(at) = open.pop() {
            let tree = &cx.program.sources[at.file].tree;
            if tree.kind(at.node) == "single_task_declaration"
                || tree.child(at.node, "single_task_declaration").is_some()
            {
                return true;
            }
            for node in tree
                .walk(at.node)
                .filter(|&n| tree.field(n) == "subtype_mark")
            {
                let Some(id) = cx.names.meaning(cx.program, At { node, ..at }) else {
                    continue;
                };
                match cx.names.entity(id).kind {
                    Kind::TaskType => return true,
                    Kind::Type | Kind::Subtype if seen.insert(id) => {
                        open.push(cx.names.entity(id).at)
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// Accepts that only start the task's own work.
    fn handshake(&mut self, cx: &Context) {
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
                    Point::Before(node) if cx.flow.is_plain(node) => {
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

fn is_nested_wait(cx: &Context, effect: &Effect) -> bool {
    effect.at.file == cx.task.body.file
        && matches!(
            cx.tree().kind(effect.at.node),
            "accept_statement" | "selective_accept"
        )
}

fn name_of(cx: &Context, at: At) -> At {
    let tree = &cx.program.sources[at.file].tree;
    At {
        node: tree.role(at.node, "name").unwrap_or(at.node),
        ..at
    }
}

/// The handled sequences with handlers that have a wait inside, innermost last.
pub fn handled_around_waits(cx: &Context) -> Vec<NodeId> {
    let tree = cx.tree();
    let mut found: Vec<NodeId> = Vec::new();
    for wait in &cx.flow.waits {
        let around = tree
            .ancestors(wait.node)
            .take_while(|&n| n != cx.task.body.node);
        found.extend(around.filter(|&n| {
            tree.kind(n) == "handled_sequence_of_statements"
                && tree.child(n, "exception_handler").is_some()
        }));
    }
    found.sort_unstable();
    found.dedup();
    found.retain(|&n| {
        tree.parent(n)
            .is_some_and(|p| tree.kind(p) != "accept_statement")
    });
    found
}
