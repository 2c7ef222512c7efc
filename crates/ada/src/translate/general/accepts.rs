//! Accept statements and selective accepts, as calls of the object that takes the task's place before its clients.

use super::gate::nest;
use super::layout_of::{WIDTH, call_list};
use super::plan::{Form, Plan, can_fail, can_only_elapse, counts};
use super::rendezvous::passed;
use crate::flow::{Site, Wait};
use crate::names::{EntityId, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::context::Context;
use crate::translate::layout::{self, Substitutions};
use crate::translate::machine;

/// The entry of the same task that a requeue statement names.
pub(super) fn own_target(cx: &Context, node: NodeId) -> Option<usize> {
    let tree = cx.tree();
    let name = tree.role(node, "name")?;
    let name = if tree.kind(name) == "function_call" {
        tree.role(name, "name")?
    } else {
        name
    };
    let id = cx.names.meaning(cx.program, cx.at(name))?;
    cx.task.entries.iter().position(|e| e.id == id)
}

/// Rewrites what a task's body does with its entries, in the text of the body.
pub(super) struct Accepts<'p> {
    pub plan: &'p Plan<'p>,
    pub changes: &'p mut Substitutions,
}

impl Accepts<'_> {
    /// Records the changes; inner statements first, so that outer ones are made of them.
    pub(super) fn rewrite(&mut self) {
        self.counts();
        self.expanded_locals();
        self.expanded_parameters();
        let flow = self.plan.cx.flow;
        for wait in flow.waits.iter().rev() {
            for &site in &wait.sites {
                self.leaving(wait, &flow.sites[site]);
            }
            let lines = self.wait(wait);
            let source = self.plan.cx.source();
            let start = source.tree.start(wait.node);
            let text = layout::indented(&lines, source.indent(start));
            let range = source.tree.range(wait.node);
            self.changes.add(range, text.trim());
        }
    }

    fn counts(&mut self) {
        let cx = &self.plan.cx;
        let tree = cx.tree();
        let mut found = Vec::new();
        for entry in self.plan.entries.iter().filter(|e| e.is_counted) {
            for prefix in counts(cx, entry.id) {
                let index = tree
                    .child(prefix, "actual_parameter_part")
                    .map_or(String::new(), |n| format!(" {}", cx.text(n)));
                let end = tree.next(prefix).and_then(|t| tree.next(t));
                let range = tree.start(prefix)..end.map_or(tree.end(prefix), |d| tree.end(d));
                let text = format!("{}.{}_Count{index}", self.plan.gate_in_server(), entry.name);
                found.push((range, text));
            }
        }
        for (range, text) in found {
            self.changes.add(range, text);
        }
    }

    /// `E.X` inside an accept of `E` is its parameter, also where an inner `X` hides it.
    fn expanded_parameters(&mut self) {
        let plan = self.plan;
        let (cx, tree) = (&plan.cx, plan.cx.tree());
        for entry in &plan.entries {
            for whole in expanded(cx, entry.id) {
                let selector = tree.role(whole, "selector_name").map_or("", |n| cx.text(n));
                let parameter = entry
                    .parameters
                    .iter()
                    .find(|p| Names::key(&p.name) == Names::key(selector));
                let Some(parameter) = parameter else { continue };
                let text = match plan.form {
                    Form::Merged => format!("{}.{}", plan.words.data, entry.field(parameter)),
                    Form::Apart => format!("{}.{}", block_name(&entry.name), parameter.name),
                };
                self.changes.add(tree.range(whole), text);
            }
        }
    }

    /// `T.X` inside the body of `T`, where `X` is declared in it.
    fn expanded_locals(&mut self) {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        for at in cx.names.uses_of(cx.task.id) {
            let is_here =
                at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node);
            let whole = tree.parent(at.node).filter(|&p| {
                tree.kind(p) == "selected_component" && tree.field(at.node) == "prefix"
            });
            let meaning = whole.and_then(|w| cx.names.meaning(cx.program, cx.at(w)));
            let is_local =
                meaning.is_some_and(|e| cx.is_local(e) && cx.names.entity(e).kind != Kind::Entry);
            if is_here && is_local {
                self.changes
                    .add(tree.range(at.node), self.plan.server.clone());
            }
        }
    }

    /// Requeue statements, and returns that are the last statement anyway.
    fn leaving(&mut self, wait: &Wait, site: &Site) {
        let source = self.plan.cx.source();
        let needs_procedure = self.needs_procedure(site.accept);
        for node in machine::leaving(source, site.accept, "requeue_statement") {
            let mut text = self.requeue(wait, site, node);
            if needs_procedure {
                text = format!("{text}\n{}return;", source.indent(source.tree.start(node)));
            }
            self.changes.add(source.tree.range(node), text);
        }
        if !needs_procedure {
            for node in machine::leaving(source, site.accept, "simple_return_statement") {
                self.changes.add(source.tree.range(node), "null;");
            }
        }
    }

    fn requeue(&self, wait: &Wait, site: &Site, node: NodeId) -> String {
        let (plan, w) = (self.plan, &self.plan.words);
        let entry = plan.entry_of(site.accept);
        let way = &plan.ways[&node];
        if plan.form == Form::Merged {
            let data = if plan.has_data() {
                format!(", {}", w.data)
            } else {
                String::new()
            };
            let chosen = self.chosen(wait);
            return format!(
                "{}.{} ({chosen}, {way}{data});",
                plan.gate_in_server(),
                w.accept_requeue
            );
        }
        let mut actuals = vec![way.clone()];
        actuals.extend(passed(entry, "in").into_iter().map(|p| p.0));
        format!(
            "{}.Accept_Requeue ({});",
            plan.rendezvous(entry),
            actuals.join(", ")
        )
    }

    /// Whether an accept's body is left in its middle, so that it must become a procedure.
    fn needs_procedure(&self, accept: NodeId) -> bool {
        let source = self.plan.cx.source();
        let tree = &source.tree;
        let mut leaving = machine::leaving(source, accept, "requeue_statement");
        leaving.extend(machine::leaving(source, accept, "simple_return_statement"));
        let handled = tree.child(accept, "handled_sequence_of_statements");
        let last = handled
            .and_then(|h| tree.child(h, "sequence_of_statements"))
            .and_then(|s| tree.children(s).last());
        match leaving[..] {
            [] => false,
            [one] => Some(one) != last,
            _ => true,
        }
    }

    /// Whether an accept's body always ends with a requeue.
    fn ends_in_requeue(&self, accept: NodeId) -> bool {
        let source = self.plan.cx.source();
        !machine::leaving(source, accept, "requeue_statement").is_empty()
            && !self.needs_procedure(accept)
    }

    fn depth(&self, wait: &Wait) -> usize {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        tree.ancestors(wait.node)
            .take_while(|&n| n != cx.task.body.node)
            .filter(|&n| tree.kind(n) == "accept_statement")
            .count()
    }

    /// The variable that says which call was accepted. While an outer rendezvous goes on, an inner one has a variable of its own.
    fn chosen(&self, wait: &Wait) -> String {
        let name = &self.plan.words.chosen;
        match self.depth(wait) {
            _ if !self.plan.has_ends() => name.clone(),
            0 => name.clone(),
            1 => format!("Inner_{name}"),
            depth => format!("Inner_{name}_{depth}"),
        }
    }

    /// The statements that take the place of an accept statement or selective accept.
    fn wait(&self, wait: &Wait) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        let is_inner = plan.has_ends() && self.depth(wait) > 0;
        let mut lines = self.members(wait);
        let statements = match (wait.delay, wait.otherwise) {
            (Some(delay), _) => self.timed(wait, delay),
            (None, Some(otherwise)) => {
                let mut lines = self.call(wait, &w.accept_now);
                lines.extend(self.dispatch(wait, Some(otherwise)));
                lines
            }
            (None, None) => {
                let mut lines = self.call(wait, &w.accept_next);
                lines.extend(self.dispatch(wait, None));
                lines
            }
        };
        if is_inner {
            let name = self.chosen(wait);
            lines.extend(["declare".to_string()]);
            lines.push(format!(
                "{}{name} : {} := {};",
                plan.step, plan.call_type, w.no_call
            ));
            lines.push("begin".into());
            lines.extend(nest(&statements, &plan.step));
            lines.push("end;".into());
        } else {
            lines.extend(statements);
        }
        lines
    }

    /// The members of families that are accepted.
    fn members(&self, wait: &Wait) -> Vec<String> {
        let (plan, tree) = (self.plan, self.plan.cx.tree());
        let sites = wait.sites.iter().map(|&s| &plan.cx.flow.sites[s]);
        sites
            .filter_map(|site| {
                let index = tree.role(site.accept, "entry_index")?;
                let member = plan.entries[site.entry].member();
                let value = self.changes.apply(plan.cx.source(), tree.range(index));
                Some(format!("{}.Set_{member} ({value});", plan.gate_in_server()))
            })
            .collect()
    }

    fn call(&self, wait: &Wait, name: &str) -> Vec<String> {
        let plan = self.plan;
        let items = self.open_entries(wait);
        let mut rest = vec![self.chosen(wait)];
        if plan.has_data() {
            rest.push(plan.words.data.clone());
        }
        let head = format!("{}.{name}", plan.gate_in_server());
        let whole = format!("{head} (({}), {});", items.join(", "), rest.join(", "));
        if whole.chars().count() + self.indentation(wait) <= WIDTH {
            return vec![whole];
        }
        let mut lines = vec![head];
        for (position, item) in items.iter().enumerate() {
            let open = if position == 0 { "  ((" } else { "    " };
            let close = if position + 1 == items.len() {
                "),"
            } else {
                ","
            };
            lines.push(format!("{open}{item}{close}"));
        }
        lines.push(format!("   {});", rest.join(", ")));
        lines
    }

    /// How far in the call of an accept stands.
    fn indentation(&self, wait: &Wait) -> usize {
        let source = self.plan.cx.source();
        let outer = source.indent(source.tree.start(wait.node)).chars().count();
        let is_inner = self.plan.has_ends() && self.depth(wait) > 0;
        let deeper = usize::from(wait.delay.is_some()) + usize::from(is_inner);
        outer + deeper * self.plan.step.chars().count()
    }

    /// The aggregate of what is open: guards are evaluated here, once (RM 9.7.1 (14)).
    fn open_entries(&self, wait: &Wait) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        let sites: Vec<&Site> = wait.sites.iter().map(|&s| &plan.cx.flow.sites[s]).collect();
        let no_call =
            wait.has_terminate || (plan.checks_open && can_only_elapse(wait, plan.cx.flow));
        let uses_no_call = plan.has_terminate || plan.checks_open;
        let has_guards = sites.iter().any(|s| s.guard.is_some());
        if !has_guards && sites.len() == plan.entries.len() && (no_call || !uses_no_call) {
            return vec!["others => True".into()];
        }
        let mut free: Vec<&str> = Vec::new();
        let mut items = Vec::new();
        if no_call {
            free.push(&w.no_call);
        }
        for site in &sites {
            let literal = plan.entries[site.entry].literal.as_str();
            match site.guard {
                None => free.push(literal),
                Some(guard) => {
                    let text = self
                        .changes
                        .apply(plan.cx.source(), plan.cx.tree().range(guard));
                    items.push(format!("{literal} => {}", without_comments(&text)));
                }
            }
        }
        if !free.is_empty() {
            items.insert(0, format!("{} => True", free.join(" | ")));
        }
        if sites.len() + usize::from(no_call) <= plan.entries.len() {
            items.push("others => False".into());
        }
        items
    }

    /// What is done with the call that was chosen.
    fn dispatch(&self, wait: &Wait, otherwise: Option<NodeId>) -> Vec<String> {
        let plan = self.plan;
        let step = &plan.step;
        let chosen = self.chosen(wait);
        let sites: Vec<&Site> = wait.sites.iter().map(|&s| &plan.cx.flow.sites[s]).collect();
        let rest = otherwise.map(|n| self.otherwise(n));
        if let ([site], None) = (&sites[..], &rest) {
            return self.alternative(wait, site);
        }
        let literal = |site: &Site| plan.entries[site.entry].literal.clone();
        let mut lines = Vec::new();
        if let ([site], Some(rest)) = (&sites[..], &rest) {
            lines.push(format!("if {chosen} = {} then", literal(site)));
            lines.extend(nest(&or_null(self.alternative(wait, site)), step));
            if !rest.iter().all(|l| l == "null;") {
                lines.push("else".into());
                lines.extend(nest(rest, step));
            }
            lines.push("end if;".into());
            return lines;
        }
        lines.push(format!("case {chosen} is"));
        for site in &sites {
            lines.push(format!("{step}when {} =>", literal(site)));
            lines.extend(nest(
                &or_null(self.alternative(wait, site)),
                &step.repeat(2),
            ));
        }
        lines.push(format!("{step}when others =>"));
        let rest = or_null(rest.unwrap_or_default());
        lines.extend(nest(&rest, &step.repeat(2)));
        lines.push("end case;".into());
        lines
    }

    fn timed(&self, wait: &Wait, delay: NodeId) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        let tree = plan.cx.tree();
        let mut inner = self.call(wait, &w.accept_next);
        inner.extend(self.dispatch(wait, None));
        let mut lines = vec!["select".to_string()];
        lines.extend(nest(&inner, &plan.step));
        lines.push("or".into());
        let first = tree.children(delay).next().unwrap_or(delay);
        let mut late = self.block(tree.range(first));
        if plan.has_ends() && self.depth(wait) == 0 {
            late.push(format!("{} := {};", w.chosen, w.no_call));
        }
        late.extend(self.block(tree.end(first)..self.end_of_alternative(delay)));
        lines.extend(nest(&late, &plan.step));
        lines.push("end select;".into());
        lines
    }

    fn otherwise(&self, sequence: NodeId) -> Vec<String> {
        let tree = self.plan.cx.tree();
        let start = tree
            .previous(sequence)
            .map_or(tree.start(sequence), |e| tree.end(e));
        let end = tree
            .next(sequence)
            .map_or(tree.end(sequence), |e| tree.start(e));
        self.block(start..end)
    }

    /// Where the text of an alternative ends: before the `or`, `else` or `end` that follows it.
    fn end_of_alternative(&self, alternative: NodeId) -> usize {
        let tree = self.plan.cx.tree();
        let mut outer = alternative;
        while let Some(parent) = tree
            .parent(outer)
            .filter(|&p| tree.kind(p) != "selective_accept")
        {
            outer = parent;
        }
        tree.next(outer).map_or(tree.end(outer), |n| tree.start(n))
    }

    /// The accept and the statements after it.
    fn alternative(&self, wait: &Wait, site: &Site) -> Vec<String> {
        let tree = self.plan.cx.tree();
        if wait.node == site.accept {
            return self.accept(wait, site);
        }
        let alternative = tree.parent(site.accept).unwrap_or(site.accept);
        let outer = tree.parent(alternative).unwrap_or(alternative);
        let start = tree
            .previous(outer)
            .map_or(tree.start(outer), |n| tree.end(n));
        let mut lines = self.block(start..tree.start(site.accept));
        lines.retain(|l| l.starts_with("--"));
        lines.extend(self.accept(wait, site));
        let end = self.end_of_alternative(alternative);
        lines.extend(self.block(tree.end(site.accept)..end));
        lines
    }

    /// The rendezvous itself.
    fn accept(&self, wait: &Wait, site: &Site) -> Vec<String> {
        match self.plan.form {
            Form::Merged => self.merged(wait, site),
            Form::Apart => self.apart(site),
        }
    }

    fn merged(&self, wait: &Wait, site: &Site) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        let entry = &plan.entries[site.entry];
        let used = self.used(site.accept);
        let renames: Vec<String> = plan
            .fields(entry)
            .into_iter()
            .filter(|p| used.contains(&Names::key(&p.name)))
            .map(|p| {
                format!(
                    "{} : {} renames {}.{};",
                    p.name,
                    bare(&p.subtype),
                    w.data,
                    entry.field(p)
                )
            })
            .collect();
        let failed = format!(
            "{}.{} ({}, {});",
            plan.gate_in_server(),
            w.accept_failed,
            self.chosen(wait),
            w.occurrence
        );
        let mut lines = self.frame(site.accept, &renames, &[], &failed);
        if entry.has_body && !self.ends_in_requeue(site.accept) && !self.is_merged(wait, site) {
            let mut actuals = vec![self.chosen(wait)];
            if plan.has_data() {
                actuals.push(w.data.clone());
            }
            let actuals: Vec<&str> = actuals.iter().map(String::as_str).collect();
            lines.extend(call_list(
                &format!("{}.{} ", plan.gate_in_server(), w.accept_end),
                &actuals,
                ";",
            ));
        }
        lines
    }

    fn apart(&self, site: &Site) -> Vec<String> {
        let plan = self.plan;
        let entry = &plan.entries[site.entry];
        let object = plan.rendezvous(entry);
        let list = |mode| {
            let names: Vec<String> = passed(entry, mode).into_iter().map(|p| p.0).collect();
            if names.is_empty() {
                String::new()
            } else {
                format!(" ({})", names.join(", "))
            }
        };
        let locals: Vec<String> = entry
            .parameters
            .iter()
            .map(|p| format!("{} : {};", p.name, p.subtype))
            .collect();
        let begin = format!("{object}.Accept_Begin{};", list("out"));
        let end = format!("{object}.Accept_End{};", list("in"));
        let failed = format!("{object}.Accept_Failed ({});", plan.words.occurrence);
        let mut inner = vec![begin];
        inner.extend(self.frame(site.accept, &[], &[], &failed));
        if !self.ends_in_requeue(site.accept) {
            inner.push(end);
        }
        if locals.is_empty() {
            return inner;
        }
        let name = block_name(&entry.name);
        let is_named =
            expanded(&plan.cx, entry.id).any(|n| plan.cx.tree().is_within(n, site.accept));
        let (open, close) = if is_named {
            (format!("{name} : declare"), format!("end {name};"))
        } else {
            ("declare".into(), "end;".into())
        };
        let mut lines = vec![open];
        lines.extend(nest(&locals, &plan.step));
        lines.push("begin".into());
        lines.extend(nest(&inner, &plan.step));
        lines.push(close);
        lines
    }

    /// The accept's body in a block of its own, as far as it needs one.
    fn frame(
        &self,
        accept: NodeId,
        declarations: &[String],
        before: &[String],
        failed: &str,
    ) -> Vec<String> {
        let (plan, tree) = (self.plan, self.plan.cx.tree());
        let step = &plan.step;
        let Some(handled) = tree.child(accept, "handled_sequence_of_statements") else {
            return before.to_vec();
        };
        let mut body = self.body(accept);
        let has_handlers = tree.child(handled, "exception_handler").is_some();
        let mut declarations = declarations.to_vec();
        if self.needs_procedure(accept) {
            if !declarations.is_empty() {
                declarations.push(String::new());
            }
            declarations.extend(["procedure Serve is".to_string(), "begin".into()]);
            declarations.extend(if has_handlers {
                body
            } else {
                nest(&body, step)
            });
            declarations.push("end Serve;".into());
            body = vec!["Serve;".into()];
        } else if has_handlers {
            body.insert(0, "begin".into());
            body.push("end;".into());
        }
        let mut lines = before.to_vec();
        let can_fail = can_fail(&plan.cx, accept);
        if !declarations.is_empty() {
            lines.push("declare".into());
            lines.extend(nest(&declarations, step));
        } else if !can_fail {
            if !body.iter().all(|l| l == "null;") {
                lines.extend(body);
            }
            return lines;
        }
        lines.push("begin".into());
        lines.extend(nest(&body, step));
        if can_fail {
            lines.push("exception".into());
            lines.push(format!("{step}when {} : others =>", plan.words.occurrence));
            lines.push(format!("{step}{step}{failed}"));
            lines.push(format!("{step}{step}raise;"));
        }
        lines.push("end;".into());
        lines
    }

    /// The statements between `do` and `end`; those of a handler stand below them, `exception` one step further out.
    fn body(&self, accept: NodeId) -> Vec<String> {
        let tree = self.plan.cx.tree();
        let (Some(from), Some(to)) = (tree.child(accept, "do"), tree.child(accept, "end")) else {
            return vec![];
        };
        self.block(tree.end(from)..tree.start(to))
    }

    /// The lower-case names that an accept's body uses, without those that an inner accept declares.
    fn used(&self, accept: NodeId) -> Vec<String> {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        let is_hidden = |node: NodeId, key: &str| {
            tree.ancestors(node)
                .take_while(|&n| n != accept)
                .filter(|&n| tree.kind(n) == "accept_statement")
                .filter_map(|n| tree.child(n, "formal_part"))
                .flat_map(|f| tree.walk(f))
                .any(|n| tree.kind(n) == "identifier" && Names::key(cx.text(n)) == key)
        };
        let handled = tree.child(accept, "handled_sequence_of_statements");
        let nodes = handled.into_iter().flat_map(|h| tree.walk(h));
        nodes
            .filter(|&n| tree.kind(n) == "identifier" && tree.field(n) != "selector_name")
            .map(|n| (n, Names::key(cx.text(n))))
            .filter(|(n, key)| !is_hidden(*n, key))
            .map(|(_, key)| key)
            .collect()
    }

    /// Text with its changes, as lines without the indentation they share and without blank lines around them.
    fn block(&self, range: std::ops::Range<usize>) -> Vec<String> {
        let source = self.plan.cx.source();
        let is_line_start = source.text[source.line_start(range.start)..range.start]
            .trim()
            .is_empty();
        let text = self.changes.apply(source, range.clone());
        let mut lines: Vec<String> = text.split('\n').map(|l| l.trim_end().to_string()).collect();
        let mut first = None;
        if is_line_start {
            let indent = source.indent(range.start);
            if !lines[0].starts_with(' ') {
                lines[0] = format!("{indent}{}", lines[0]);
            }
        } else {
            first = Some(lines.remove(0).trim().to_string()).filter(|l| !l.is_empty());
        }
        let blanks = |l: &str| l.len() - l.trim_start().len();
        let common = lines
            .iter()
            .filter(|l| !l.is_empty())
            .map(|l| blanks(l))
            .min()
            .unwrap_or(0);
        let mut lines: Vec<String> = lines
            .iter()
            .map(|l| l.get(common..).unwrap_or("").to_string())
            .collect();
        if let Some(first) = first {
            lines.insert(0, first);
        }
        while lines.first().is_some_and(String::is_empty) {
            lines.remove(0);
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    /// Whether the end of a rendezvous can be left to the next accept: nothing stands between them that takes time or can fail.
    fn is_merged(&self, wait: &Wait, site: &Site) -> bool {
        self.depth(wait) == 0 && super::quiet::leads_on(&self.plan.cx, site)
    }
}

/// The names `E.X` inside a task's body, where `E` is an entry of it.
fn expanded<'c>(cx: &'c Context, entry: EntityId) -> impl Iterator<Item = NodeId> + 'c {
    let tree = cx.tree();
    let uses = cx.names.uses_of(entry).iter();
    uses.filter(|at| at.file == cx.task.body.file && tree.is_within(at.node, cx.task.body.node))
        .filter_map(move |at| {
            let mut prefix = at.node;
            if tree.field(prefix) == "selector_name" {
                prefix = tree.parent(prefix)?;
            }
            let whole = tree.parent(prefix)?;
            (tree.kind(whole) == "selected_component" && tree.field(prefix) == "prefix")
                .then_some(whole)
        })
}

/// The name of the block whose variables are an accept's parameters.
fn block_name(entry: &str) -> String {
    format!("Accept_{entry}")
}

/// A subtype without its null exclusion, which a renaming does not repeat.
fn bare(subtype: &str) -> &str {
    subtype.strip_prefix("not null ").unwrap_or(subtype)
}

fn or_null(lines: Vec<String>) -> Vec<String> {
    let is_empty = lines
        .iter()
        .all(|l| l.trim_start().starts_with("--") || l.is_empty());
    let mut lines = lines;
    if is_empty {
        lines.push("null;".into());
    }
    lines
}

/// A condition on one line, without the comments in it.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|l| l.split("--").next().unwrap_or(l));
    lines
        .collect::<Vec<_>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
