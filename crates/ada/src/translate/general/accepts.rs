//! Accept statements and selective accepts, as calls of the object that clients call in the task's
//! place.

use super::gate::nest;
use super::layout_of::WIDTH;
use super::plan::{Plan, can_only_elapse};
use super::polling::is_select;
use crate::flow::{Site, Wait};
use crate::syntax::NodeId;
use crate::translate::layout::{self, Substitutions};

/// Rewrites the uses of a task's entries in the text of its body.
pub(super) struct Accepts<'p> {
    pub plan: &'p Plan<'p>,
    pub changes: &'p mut Substitutions,
}

impl Accepts<'_> {
    /// Records the changes. Inner statements come first, because outer ones contain their new text.
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

    pub(super) fn depth(&self, wait: &Wait) -> usize {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        tree.ancestors(wait.node)
            .take_while(|&n| n != cx.task.body.node)
            .filter(|&n| tree.kind(n) == "accept_statement")
            .count()
    }

    /// Returns the variable for the accepted call. During an outer rendezvous an inner one has a
    /// variable of its own.
    pub(super) fn chosen(&self, wait: &Wait) -> String {
        let name = &self.plan.words.chosen;
        match self.depth(wait) {
            _ if !self.plan.has_ends() => name.clone(),
            0 => name.clone(),
            1 => format!("Inner_{name}"),
            depth => format!("Inner_{name}_{depth}"),
        }
    }

    /// Returns the statements that replace an accept statement or selective accept.
    fn wait(&self, wait: &Wait) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        if plan.is_polling() {
            return self.polled(wait);
        }
        let is_inner = plan.has_ends() && self.depth(wait) > 0;
        let mut lines = self.members(wait);
        let statements = match (wait.delay, wait.otherwise) {
            (Some(delay), _) => self.timed(wait, delay),
            (None, Some(otherwise)) => {
                let mut lines = self.call(wait, &w.accept_now);
                lines.extend(self.dispatch(wait, Some(self.otherwise(otherwise))));
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

    /// The same without a selector: an accept statement waits at the entry's object, a selective
    /// accept polls several objects.
    fn polled(&self, wait: &Wait) -> Vec<String> {
        let (plan, w) = (self.plan, &self.plan.words);
        if !is_select(wait, &plan.cx) {
            let sites = wait.sites.iter().map(|&s| &plan.cx.flow.sites[s]);
            return sites.flat_map(|s| self.accept(wait, s)).collect();
        }
        let tree = plan.cx.tree();
        let rest = match (wait.delay, wait.otherwise) {
            (Some(delay), _) => {
                let first = tree.children(delay).next().unwrap_or(delay);
                Some(self.block(tree.end(first)..self.end_of_alternative(delay)))
            }
            (None, otherwise) => otherwise.map(|n| self.otherwise(n)),
        };
        let mut lines = self.call(wait, &w.accept_next);
        lines.extend(self.dispatch(wait, rest));
        lines
    }

    /// Returns the time limit of a selective accept's polling, if it has one.
    fn limit(&self, wait: &Wait) -> Option<String> {
        let (cx, tree) = (&self.plan.cx, self.plan.cx.tree());
        let expression = |delay| {
            let statement = tree.children(delay).next()?;
            let value = tree
                .walk(statement)
                .find(|&n| tree.kind(n) == "expression")?;
            let text = self.changes.apply(cx.source(), tree.range(value));
            Some(without_comments(&text))
        };
        match (wait.delay, wait.otherwise) {
            (Some(delay), _) => expression(delay),
            (None, Some(_)) => Some("0.0".into()),
            (None, None) => None,
        }
        .filter(|_| self.plan.is_polling())
    }

    /// Returns the accepted members of families.
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
        rest.extend(self.limit(wait));
        let head = if plan.is_polling() {
            name.to_string()
        } else {
            format!("{}.{name}", plan.gate_in_server())
        };
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

    /// Returns the indentation of an accept in the call.
    fn indentation(&self, wait: &Wait) -> usize {
        let source = self.plan.cx.source();
        let outer = source.indent(source.tree.start(wait.node)).chars().count();
        let is_inner = self.plan.has_ends() && self.depth(wait) > 0;
        let deeper = usize::from(wait.delay.is_some()) + usize::from(is_inner);
        outer + deeper * self.plan.step.chars().count()
    }

    /// Returns the aggregate of open entries. Guards are evaluated here, once (RM 9.7.1 (14)).
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

    /// Returns the code for the chosen call.
    fn dispatch(&self, wait: &Wait, rest: Option<Vec<String>>) -> Vec<String> {
        let plan = self.plan;
        let step = &plan.step;
        let chosen = self.chosen(wait);
        let sites: Vec<&Site> = wait.sites.iter().map(|&s| &plan.cx.flow.sites[s]).collect();
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

    /// Returns the end of an alternative's text: before the `or`, `else` or `end` that follows it.
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

    /// Returns the accept and the statements after it.
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

    /// Returns text with its changes, as lines without common indentation and without blank lines
    /// around them.
    pub(super) fn block(&self, range: std::ops::Range<usize>) -> Vec<String> {
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
}

/// Returns the name of the block whose variables are an accept's parameters.
pub(super) fn block_name(entry: &str) -> String {
    format!("Accept_{entry}")
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

/// Returns a condition on one line, without its comments.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|l| l.split("--").next().unwrap_or(l));
    lines
        .collect::<Vec<_>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
