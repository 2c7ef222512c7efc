//! Entry bodies: barriers from guards and stages, bodies from accepts and the code after them.

use std::collections::BTreeSet;

use super::Writer;
use crate::flow::Site;
use crate::names::{Names, values};
use crate::syntax::NodeId;
use crate::translate::code::{self, Code, grouped};
use crate::translate::{exceptions, layout, machine};

impl<'s> Writer<'s> {
    pub(super) fn sites(&self, entry: usize) -> Vec<&'s Site> {
        let cx = self.cx();
        cx.flow
            .sites
            .iter()
            .filter(|s| s.entry == entry && self.server.waits.contains(&s.wait))
            .collect()
    }

    pub(super) fn entry_body(&mut self, entry: usize) -> Vec<String> {
        let cx = self.cx();
        let name = &cx.task.entries[entry].name;
        let sites = self.sites(entry);
        let index = cx.task.entries[entry].index.map(|_| self.index_name());
        let mut lines: Vec<String> = sites.iter().flat_map(|s| self.comments_of(s)).collect();
        let codes: Vec<Vec<Code>> = sites.iter().map(|s| self.site(s)).collect();
        let mut body = Vec::new();
        if let Some(closed) = self.closed_test() {
            let arms = vec![(
                format!("if {closed} then"),
                vec![Code::line("raise Tasking_Error;")],
            )];
            body.push(Code::Compound {
                open: None,
                arms,
                close: "end if;".into(),
                is_tail: false,
            });
            body.push(Code::Lines(vec![String::new()]));
        }
        if !sites.is_empty() {
            body.extend(self.first_use(name, index.as_deref()));
        }
        let by_index = index
            .as_deref()
            .and_then(|i| self.by_index(entry, i, &sites, &codes));
        match by_index {
            Some(code) => body.push(code),
            None => {
                let tests = sites.iter().map(|s| self.condition(s, index.as_deref()));
                body.extend(chosen(tests.zip(codes)));
            }
        }
        while body.last() == Some(&Code::Lines(vec![String::new()])) {
            body.pop();
        }
        let barrier = self.flagged(entry, self.barrier(&sites, index.as_deref()));
        let header = if self.may_be_procedure(entry, &barrier, &body) {
            self.procedures.insert(entry);
            self.procedure_head(entry)
        } else {
            let head = self.entry_head(entry, index.as_deref());
            self.with_barrier(&head, &barrier)
        };
        let declarations = self.unreferenced(entry, &body);
        lines.extend(self.kept_up(&header, name, &declarations, &body));
        lines
    }

    /// Returns a case statement on a family's index, if each accept has a static one. The barrier
    /// has tested the guards, so the case only chooses among accepts of the same member.
    fn by_index(
        &self,
        entry: usize,
        index: &str,
        sites: &[&Site],
        codes: &[Vec<Code>],
    ) -> Option<Code> {
        let cx = self.cx();
        let tree = cx.tree();
        let mut members: Vec<(i128, String, Vec<usize>)> = Vec::new();
        for (number, site) in sites.iter().enumerate() {
            let node = tree.role(site.accept, "entry_index")?;
            let value = cx.names.static_value(cx.program, cx.at(node))?;
            match members.iter_mut().find(|(known, ..)| *known == value) {
                Some((.., own)) => own.push(number),
                None => members.push((value, self.text(node), vec![number])),
            }
        }
        if members.len() < 2 {
            return None;
        }
        let is_whole = self.family_size(entry) == Some(members.len() as i128);
        let mut arms: Vec<(String, Vec<Code>)> = Vec::new();
        for (_, text, own) in members {
            let tests = own.iter().map(|&n| self.condition(sites[n], None));
            let code = chosen(tests.zip(own.iter().map(|&n| codes[n].clone())));
            match arms.iter_mut().find(|(_, other)| *other == code) {
                Some((known, _)) => *known = format!("{known} | {text}"),
                None => arms.push((text, code)),
            }
        }
        let mut arms: Vec<(String, Vec<Code>)> = arms
            .into_iter()
            .map(|(choices, code)| (format!("when {choices} =>"), code))
            .collect();
        // The barrier is closed for all other members.
        if !is_whole {
            arms.push(("when others =>".into(), vec![]));
        }
        Some(Code::Compound {
            open: Some(format!("case {index} is")),
            arms,
            close: "end case;".into(),
            is_tail: true,
        })
    }

    /// Returns the number of members of a family with static bounds.
    fn family_size(&self, entry: usize) -> Option<i128> {
        let cx = self.cx();
        let declaration = cx.names.entity(cx.task.entries[entry].id).at;
        let bounds = cx.names.subtype_bounds(cx.program, declaration);
        bounds.map(values::count)
    }

    /// Returns the comments above an accept, and those above its select statement and its loops if
    /// these contain no accept of another entry.
    pub(super) fn comments_of(&self, site: &Site) -> Vec<String> {
        let cx = self.cx();
        let source = cx.source();
        let tree = &source.tree;
        let guard = site.guard.and_then(|g| tree.parent(g));
        let own = layout::comments_above(source, tree.start(guard.unwrap_or(site.accept)));
        let around = tree
            .ancestors(site.accept)
            .take_while(|&n| n != cx.task.body.node)
            .filter(|&n| matches!(tree.kind(n), "selective_accept" | "loop_statement"))
            .map(|n| (n, layout::comments_above(source, tree.start(n))))
            .filter(|(n, lines)| !lines.is_empty() && cx.flow.explains(*n) == Some(site.accept));
        let mut comments: Vec<String> = around.flat_map(|(_, lines)| lines).collect();
        comments.extend(own);
        comments
    }

    pub(super) fn site(&mut self, site: &Site) -> Vec<Code> {
        let cx = self.cx();
        let (mut body, mut after) = self.machine.site_code(site);
        // A return from the middle of a body that waits inside is handled there.
        if !cx.flow.waits_inside(site.accept)
            && let Some(call) = self.out_of_line(site, &after)
        {
            body = vec![call];
        }
        if exceptions::must_watch_accept(cx, site) {
            body = vec![exceptions::watched(
                cx,
                &mut self.machine,
                body,
                Some(site.accept),
                true,
            )];
        }
        if exceptions::must_watch_rest(cx, cx.flow.resume(site)) {
            after = vec![exceptions::watched(
                cx,
                &mut self.machine,
                after,
                Some(site.accept),
                false,
            )];
        }
        body.extend(after);
        body
    }

    /// Turns an accept body that returns from its middle into a procedure, if more code must run
    /// after it.
    pub(super) fn out_of_line(&mut self, site: &Site, after: &[Code]) -> Option<Code> {
        let cx = self.cx();
        let (tree, source) = (cx.tree(), cx.source());
        let has = |kind| !machine::leaving(source, site.accept, kind).is_empty();
        let is_last = code::is_empty(after) && !self.has_flags();
        if !has("simple_return_statement") || has("requeue_statement") || is_last {
            return None;
        }
        let handled = tree.child(site.accept, "handled_sequence_of_statements")?;
        let taken = self.server.moved.taken.iter().cloned().chain(
            self.accepts
                .iter()
                .map(|(p, _)| Names::key(p.split([' ', ';']).nth(1).unwrap_or(""))),
        );
        let name = cx.free_name(
            &[format!("Accept_{}", cx.task.entries[site.entry].name)],
            false,
            &taken.collect(),
        );
        let formals = tree.child(site.accept, "formal_part");
        let profile = formals.map_or(String::new(), |f| {
            format!(
                " {}",
                layout::dedent(source.text(f), source.indent(tree.start(f))).join("\n")
            )
        });
        let actuals: Vec<&str> = formals
            .into_iter()
            .flat_map(|f| tree.all(f, "parameter_specification"))
            .flat_map(|p| {
                tree.children(p)
                    .take_while(|&n| tree.kind(n) != ":")
                    .filter(|&n| tree.kind(n) == "identifier")
            })
            .map(|n| cx.text(n))
            .collect();
        let changes = self.machine.changes;
        let body = self.machine.handled_code(handled, changes);
        let whole = self.subprogram(&format!("procedure {name}{profile} is"), &name, &[], &body);
        self.accepts
            .push((format!("procedure {name}{profile};"), whole));
        let actuals = if actuals.is_empty() {
            String::new()
        } else {
            format!(" ({})", actuals.join(", "))
        };
        Some(Code::line(format!("{name}{actuals};")))
    }

    /// Returns the code of the object's first call: it runs the task's actions before its first
    /// accept, and is queued again.
    fn first_use(&self, entry: &str, index: Option<&str>) -> Vec<Code> {
        let Some(test) = self.unstarted_test() else {
            return vec![];
        };
        let start = self.server.start.as_ref().map_or("", |s| s.name.as_str());
        let member = index.map_or(String::new(), |i| format!(" ({i})"));
        let code = vec![
            Code::line(format!("{start};")),
            Code::Requeue(format!("requeue {entry}{member} with abort;")),
        ];
        vec![
            Code::line("--  The first call does what the task did when it was activated"),
            Code::Compound {
                open: None,
                arms: vec![(format!("if {test} then"), code)],
                close: "end if;".into(),
                is_tail: false,
            },
            Code::Lines(vec![String::new()]),
        ]
    }

    /// Returns the test that the object has not been used yet, if that matters.
    fn unstarted_test(&self) -> Option<String> {
        let stages = &self.server.stages;
        if !self.server.starts_on_first_use() {
            return None;
        }
        Some(match &stages.starting {
            Some(literal) => format!("{} = {literal}", stages.component),
            None => format!("not {}", stages.component),
        })
    }

    pub(super) fn closed_test(&self) -> Option<String> {
        let stages = &self.server.stages;
        let closed = stages.closed.as_ref()?;
        Some(if stages.is_boolean {
            stages.component.clone()
        } else {
            format!("{} = {closed}", stages.component)
        })
    }

    /// Returns the test that the server waits at a site's wait; empty if it always does.
    pub(super) fn stage_test(&self, wait: usize) -> String {
        let stages = &self.server.stages;
        match stages.waits.get(&wait) {
            None => String::new(),
            Some(_) if stages.is_boolean => stages.component.clone(),
            Some(literal) => format!("{} = {literal}", stages.component),
        }
    }

    pub(super) fn condition(&self, site: &Site, index: Option<&str>) -> String {
        let mut parts = vec![self.stage_test(site.wait)];
        let tree = self.cx().tree();
        if let (Some(index), Some(value)) = (index, tree.role(site.accept, "entry_index")) {
            parts.push(format!("{index} = {}", grouped(&self.text(value))));
        }
        if let Some(guard) = site.guard {
            let text = self.text(guard);
            if !text.eq_ignore_ascii_case("true") {
                parts.push(text);
            }
        }
        parts.retain(|p| !p.is_empty());
        if parts.len() > 1 {
            parts
                .iter()
                .map(|p| grouped(p))
                .collect::<Vec<_>>()
                .join(" and then ")
        } else {
            parts.pop().unwrap_or_default()
        }
    }

    pub(super) fn text(&self, node: NodeId) -> String {
        let source = self.cx().source();
        let text = self.machine.changes.apply(source, source.tree.range(node));
        let without_comments = text
            .lines()
            .map(|l| l.split("--").next().unwrap_or(""))
            .collect::<Vec<_>>()
            .join(" ");
        without_comments
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(super) fn barrier(&self, sites: &[&Site], index: Option<&str>) -> Vec<String> {
        let stages = &self.server.stages;
        let closed = self.closed_test();
        let mut terms: Vec<String> = Vec::new();
        for site in sites {
            let term = self.condition(site, index);
            if term.is_empty() {
                return vec!["True".into()];
            }
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        // Open wherever the server waits, so there is no test.
        let open: BTreeSet<usize> = sites
            .iter()
            .filter(|s| self.condition(s, index) == self.stage_test(s.wait))
            .map(|s| s.wait)
            .collect();
        if open == self.server.waits
            && stages.starting.is_none()
            && stages.resumed.is_empty()
            && !(stages.is_boolean && closed.is_none())
            && !sites.is_empty()
        {
            return vec!["True".into()];
        }
        let unstarted = self.unstarted_test().filter(|_| !sites.is_empty());
        if stages.is_boolean && unstarted.is_some() && terms.contains(&stages.component) {
            return vec!["True".into()];
        }
        if stages.is_boolean && unstarted.is_some() {
            let known = format!("{} and then ", stages.component);
            terms = terms.iter().map(|t| t.replacen(&known, "", 1)).collect();
        }
        terms.splice(0..0, unstarted);
        terms.extend(closed);
        if terms.is_empty() {
            terms.push("False".into());
        }
        if terms.len() > 1 {
            terms.iter().map(|t| grouped(t)).collect()
        } else {
            terms
        }
    }
}

/// Returns the first piece of code whose test holds; one without a test always holds. Among several
/// open alternatives the choice is arbitrary (RM 9.7.1 (16)).
fn chosen(pieces: impl Iterator<Item = (String, Vec<Code>)>) -> Vec<Code> {
    let mut arms: Vec<(String, Vec<Code>)> = Vec::new();
    for (test, code) in pieces {
        match arms.iter_mut().find(|(_, other)| *other == code) {
            Some((known, _)) if known.is_empty() || test.is_empty() => known.clear(),
            Some((known, _)) => *known = format!("{} or else {}", grouped(known), grouped(&test)),
            None => arms.push((test, code)),
        }
    }
    if let Some(last) = arms.iter().position(|(test, _)| test.is_empty()) {
        arms.truncate(last + 1);
    }
    match arms.len() {
        0 => vec![],
        1 => arms.remove(0).1,
        _ => vec![choice(arms)],
    }
}

pub(super) fn choice(arms: Vec<(String, Vec<Code>)>) -> Code {
    let last = arms.len() - 1;
    let arms = arms
        .into_iter()
        .enumerate()
        .map(|(i, (test, body))| {
            let header = match i {
                0 => format!("if {test} then"),
                i if i == last => "else".into(),
                _ => format!("elsif {test} then"),
            };
            (header, body)
        })
        .collect();
    Code::Compound {
        open: None,
        arms,
        close: "end if;".into(),
        is_tail: true,
    }
}
