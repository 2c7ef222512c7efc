//! The text of a protected object that takes a task's place.

use std::collections::BTreeSet;

use super::accepting::{Replacement, Server, contains_return};
use super::code::{self, Code};
use super::context::Context;
use super::exceptions;
use super::layout;
use super::machine::{self, Machine};
use crate::edit::Edit;
use crate::flow::{Point, Site};
use crate::names::{At, Kind, Names};
use crate::syntax::NodeId;
use crate::verdict::{Reason, Rule};

/// Lines longer than this are broken where the language lets us.
const WIDTH: usize = 79;

pub(super) fn write(server: &Server) -> Result<Replacement, Vec<Reason>> {
    let cx = &server.cx;
    let changes = server.moved.changes.clone();
    let mut machine = server.machine(&changes);
    let forced = server.forced(&mut machine);
    let roots = server.roots();
    let mut names = NameMaker {
        server,
        used: vec![],
    };
    machine.share(&roots, &forced, |p| names.procedure(p));
    check_sites(server, &mut machine)?;
    let mut writer = Writer {
        server,
        machine,
        step: layout::indent_step(cx.source()),
        accepts: vec![],
    };
    let body = writer.body()?;
    let mut edits = vec![writer.declaration(), body];
    edits.extend(writer.before_declaration());
    edits.extend(writer.before_body());
    edits.extend(
        server
            .start
            .iter()
            .map(|s| s.place.call(&format!("{}.{};", cx.task.name, s.name))),
    );
    edits.extend(stub(cx));
    edits.retain(|e| !(e.range.is_empty() && e.text.is_empty()));
    Ok(Replacement {
        edits,
        declared: server.moved.outside_names.clone(),
    })
}

/// What is copied into the middle of an accept must not leave the entry body early.
fn check_sites<'a>(server: &'a Server<'a>, machine: &mut Machine<'a>) -> Result<(), Vec<Reason>> {
    for site in &server.cx.flow.sites {
        let leaves =
            !machine::leaving(server.cx.source(), site.accept, "requeue_statement").is_empty();
        let code = machine.code_from(server.cx.flow.resume(site), Some(site.wait));
        let goes_on = server.cx.flow.reach(server.cx.flow.resume(site)).into_iter().any(|p| {
            matches!(p, Point::Before(n) if server.cx.flow.is_plain(n) && server.cx.tree().kind(n) != "null_statement")
        });
        // An exception of what follows would be taken for one of the accept.
        if (leaves && contains_return(&code))
            || (leaves && goes_on && exceptions::must_watch_accept(&server.cx, site))
        {
            let text = "the accept is left in its middle where the server has more to do";
            return Err(vec![server.cx.reason(
                Rule::Handler,
                site.accept,
                text,
                "leave the accept at its end",
            )]);
        }
    }
    Ok(())
}

struct NameMaker<'s> {
    server: &'s Server<'s>,
    used: Vec<String>,
}

impl NameMaker<'_> {
    fn procedure(&mut self, point: Point) -> String {
        let wanted = match point {
            Point::LoopTop(_) | Point::LoopNext(_) => ["Next_Round", "Next_Turn"],
            _ => ["Advance", "Go_On"],
        };
        let mut taken = self.server.moved.taken.clone();
        taken.extend(self.used.iter().cloned());
        let name = self
            .server
            .cx
            .free_name(&wanted.map(String::from), false, &taken);
        self.used.push(Names::key(&name));
        name
    }
}

struct Writer<'s> {
    server: &'s Server<'s>,
    machine: Machine<'s>,
    step: String,
    /// Procedures for accept bodies that return from their middle: the profile, and the whole.
    accepts: Vec<(String, Vec<String>)>,
}

impl<'s> Writer<'s> {
    fn cx(&self) -> &'s Context<'s> {
        &self.server.cx
    }

    fn nest(&self, lines: Vec<String>) -> Vec<String> {
        lines
            .into_iter()
            .map(|l| {
                if l.is_empty() {
                    l
                } else {
                    format!("{}{l}", self.step)
                }
            })
            .collect()
    }

    // ---- the declaration ----

    fn declaration(&self) -> Edit {
        let cx = self.cx();
        let at = cx.task.declaration;
        let source = &cx.program.sources[at.file];
        let tree = &source.tree;
        let step = layout::indent_step(source);
        let indent = source.indent(tree.start(at.node)).to_string();
        let mut lines = vec![self.origin()];
        let discriminants = tree
            .child(at.node, "known_discriminant_part")
            .map_or(String::new(), |n| format!(" {}", source.text(n)));
        let word = if cx.task.is_type {
            "protected type"
        } else {
            "protected"
        };
        lines.extend(layout::dedent(
            &format!("{word} {}{discriminants} is", cx.task.name),
            &indent,
        ));
        let (public, private) = self.items(at);
        lines.extend(public.iter().map(|l| nested(l, &step)));
        if let Some(start) = &self.server.start {
            lines.push(format!("{step}procedure {};", start.name));
        }
        let private = self.private_part(private);
        if !private.is_empty() {
            lines.push("private".into());
            lines.extend(private.iter().map(|l| nested(l, &step)));
        }
        lines.push(format!("end {};", cx.task.name));
        let text = layout::indented(&lines, &indent);
        Edit {
            file: at.file,
            range: tree.range(at.node),
            text: text.trim_end().trim_start().to_string(),
        }
    }

    fn origin(&self) -> String {
        let cx = self.cx();
        let kind = if cx.task.is_type { "task type" } else { "task" };
        format!(
            "--  Was {kind} {}, which did nothing but serve these calls (antiphon translate)",
            cx.task.name
        )
    }

    /// The items of the task definition before and after `private`, without what only tasks have.
    fn items(&self, at: At) -> (Vec<String>, Vec<String>) {
        let source = &self.cx().program.sources[at.file];
        let tree = &source.tree;
        let (mut public, mut private) = (Vec::new(), Vec::new());
        let mut is_private = false;
        let Some(definition) = tree.child(at.node, "task_definition") else {
            return (public, private);
        };
        let mut last_line = usize::MAX;
        for item in tree.children_and_comments(definition) {
            let lines = match tree.kind(item) {
                "private" => {
                    is_private = true;
                    continue;
                }
                "comment" => {
                    let is_behind = !source.text
                        [source.line_start(tree.start(item))..tree.start(item)]
                        .trim()
                        .is_empty();
                    if is_behind
                        || last_line == usize::MAX
                            && source.line_start(tree.start(item))
                                == source.line_start(tree.start(definition))
                    {
                        continue;
                    }
                    vec![source.text(item).to_string()]
                }
                "entry_declaration" => {
                    let mut text = source.text(item).to_string();
                    if let Some(comment) = layout::comment_behind(source, tree.end(item)) {
                        text.push_str("  ");
                        text.push_str(comment);
                    }
                    layout::dedent(&text, source.indent(tree.start(item)))
                }
                _ => continue,
            };
            last_line = source.line_start(tree.end(item));
            let target = if is_private {
                &mut private
            } else {
                &mut public
            };
            if !target.is_empty()
                && source.text[..source.line_start(tree.start(item))].ends_with("\n\n")
            {
                target.push(String::new());
            }
            target.extend(lines);
        }
        (public, private)
    }

    fn private_part(&self, entries: Vec<String>) -> Vec<String> {
        let server = self.server;
        let mut lines = entries;
        lines.extend(server.moved.operations.iter().flatten().cloned());
        lines.extend(
            self.machine
                .procedures
                .values()
                .map(|name| format!("procedure {name};")),
        );
        lines.extend(
            self.accepts
                .iter()
                .flat_map(|(profile, _)| profile.split('\n'))
                .map(String::from),
        );
        if !server.stages.component.is_empty() {
            let subtype = server.stage_type.as_deref().unwrap_or("Boolean");
            lines.push(format!(
                "{} : {subtype} := {};",
                server.stages.component,
                server.initial_stage()
            ));
        }
        lines.extend(server.moved.components.iter().flatten().cloned());
        lines
    }

    fn before_declaration(&self) -> Option<Edit> {
        let cx = self.cx();
        let at = cx.task.declaration;
        let source = &cx.program.sources[at.file];
        let mut lines: Vec<String> = self
            .server
            .moved
            .before_declaration
            .iter()
            .flatten()
            .cloned()
            .collect();
        if let Some(name) = &self.server.stage_type {
            let stages = &self.server.stages;
            let literals: Vec<&str> = stages
                .starting
                .iter()
                .chain(stages.waits.values())
                .chain(&stages.closed)
                .map(String::as_str)
                .collect();
            lines.push(format!("--  Where task {} would be waiting", cx.task.name));
            let line = format!("type {name} is ({});", literals.join(", "));
            if line.len() + source.indent(source.tree.start(at.node)).len() <= WIDTH {
                lines.push(line);
            } else {
                lines.push(format!("type {name} is"));
                lines.push(format!(
                    "{}({});",
                    "  ",
                    literals.join(&format!(
                        ",\n{}   ",
                        source.indent(source.tree.start(at.node))
                    ))
                ));
            }
        }
        insertion_above(cx, at, lines)
    }

    fn before_body(&self) -> Option<Edit> {
        let cx = self.cx();
        let lines: Vec<String> = self
            .server
            .moved
            .before_body
            .iter()
            .flatten()
            .cloned()
            .collect();
        let place = stub_of(cx).unwrap_or(cx.task.body);
        insertion_above(cx, place, lines)
    }

    // ---- the body ----

    fn body(&mut self) -> Result<Edit, Vec<Reason>> {
        let cx = self.cx();
        let source = cx.source();
        let indent = source
            .indent(source.tree.start(cx.task.body.node))
            .to_string();
        let mut lines = vec![format!("protected body {} is", cx.task.name)];
        let mut operations: Vec<Vec<String>> = self.server.moved.operation_bodies.clone();
        operations.extend(self.start_body()?);
        operations.extend(self.procedure_bodies());
        for entry in 0..cx.task.entries.len() {
            operations.push(self.entry_body(entry));
        }
        operations.splice(0..0, self.accepts.iter().map(|(_, whole)| whole.clone()));
        let written = operations
            .iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        let lost = self.lost_comments(&written);
        if !lost.is_empty() {
            lines.push(String::new());
            lines.extend(self.nest(lost));
        }
        for operation in operations {
            lines.push(String::new());
            lines.extend(self.nest(operation));
        }
        lines.push(String::new());
        lines.push(format!("end {};", cx.task.name));
        let text = layout::indented(&lines, &indent);
        Ok(Edit {
            file: cx.task.body.file,
            range: source.tree.range(cx.task.body.node),
            text: text.trim().to_string(),
        })
    }

    /// Comments of the task's body that stood beside what the object does not need any more.
    fn lost_comments(&self, written: &str) -> Vec<String> {
        let source = self.cx().source();
        let moved = [
            &self.server.moved.before_body,
            &self.server.moved.before_declaration,
            &self.server.moved.components,
        ];
        let elsewhere: String = moved
            .iter()
            .flat_map(|m| m.iter().flatten())
            .cloned()
            .collect::<Vec<_>>()
            .join("\n");
        let tree = &source.tree;
        let comments = tree
            .walk(self.cx().task.body.node)
            .filter(|&n| tree.kind(n) == "comment")
            .map(|n| source.text(n).trim_end().to_string());
        let is_rule = |c: &str| c.trim_start_matches('-').trim().is_empty();
        comments
            .filter(|c| {
                !is_rule(c) && !written.contains(c.as_str()) && !elsewhere.contains(c.as_str())
            })
            .collect()
    }

    fn start_body(&mut self) -> Result<Option<Vec<String>>, Vec<Reason>> {
        let Some(start) = &self.server.start else {
            return Ok(None);
        };
        let cx = self.cx();
        let mut body = vec![Code::Lines(self.server.moved.start.clone())];
        let rest = self.machine.code_from(start.point, None);
        if exceptions::must_watch_rest(cx, start.point) {
            body.extend(rest);
            body = vec![exceptions::watched(
                cx,
                &mut self.machine,
                body,
                None,
                false,
            )];
        } else {
            body.extend(rest);
        }
        Ok(Some(self.subprogram(
            &format!("procedure {} is", start.name),
            &start.name,
            &[],
            &body,
        )))
    }

    fn procedure_bodies(&mut self) -> Vec<Vec<String>> {
        let procedures: Vec<(Point, String)> = self
            .machine
            .procedures
            .iter()
            .map(|(p, n)| (*p, n.clone()))
            .collect();
        let mut found = Vec::new();
        for (point, name) in procedures {
            let body = self.machine.procedure_body(point);
            found.push(self.subprogram(&format!("procedure {name} is"), &name, &[], &body));
        }
        found
    }

    fn subprogram(
        &self,
        header: &str,
        name: &str,
        declarations: &[String],
        body: &[Code],
    ) -> Vec<String> {
        let mut lines: Vec<String> = header.split('\n').map(String::from).collect();
        lines.extend(self.nest(declarations.to_vec()));
        lines.push("begin".into());
        let mut inner = code::print(body, &self.step);
        if inner.is_empty() {
            inner.push("null;".into());
        }
        lines.extend(self.nest(inner));
        lines.push(format!("end {name};"));
        lines
    }

    fn sites(&self, entry: usize) -> Vec<&'s Site> {
        let cx = self.cx();
        cx.flow
            .sites
            .iter()
            .filter(|s| s.entry == entry && self.server.waits.contains(&s.wait))
            .collect()
    }

    fn entry_body(&mut self, entry: usize) -> Vec<String> {
        let cx = self.cx();
        let name = &cx.task.entries[entry].name;
        let sites = self.sites(entry);
        let index = cx.task.entries[entry].index.map(|_| self.index_name());
        let mut lines: Vec<String> = sites.iter().flat_map(|s| self.comments_of(s)).collect();
        let mut arms: Vec<(String, Vec<Code>)> = Vec::new();
        for site in &sites {
            let code = self.site(site);
            let test = self.condition(site, index.as_deref());
            match arms.iter_mut().find(|(_, other)| *other == code) {
                Some((known, _)) if known.is_empty() || test.is_empty() => known.clear(),
                Some((known, _)) => {
                    *known = format!("{} or else {}", grouped(known), grouped(&test))
                }
                None => arms.push((test, code)),
            }
        }
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
        match &arms[..] {
            [] => {}
            [(_, only)] => body.extend(only.iter().cloned()),
            _ => body.push(choice(arms.clone())),
        }
        let barrier = self.barrier(&sites, index.as_deref());
        let unused = self.unused_formals(entry, &sites);
        let declarations: Vec<String> = if unused.is_empty() {
            vec![]
        } else {
            vec![format!("pragma Unreferenced ({});", unused.join(", "))]
        };
        let header = self.entry_header(entry, &sites, index.as_deref(), &barrier);
        let body = if body.len() == 2 && arms.iter().all(|a| code::is_empty(&a.1)) {
            body[..1].to_vec()
        } else {
            body
        };
        lines.extend(self.subprogram(&header, name, &declarations, &body));
        lines
    }

    fn comments_of(&self, site: &Site) -> Vec<String> {
        let source = self.cx().source();
        let tree = &source.tree;
        let guard = site.guard.and_then(|g| tree.parent(g));
        layout::comments_above(source, tree.start(guard.unwrap_or(site.accept)))
    }

    fn site(&mut self, site: &Site) -> Vec<Code> {
        let cx = self.cx();
        let (mut body, mut after) = self.machine.site_code(site);
        if let Some(call) = self.out_of_line(site, &after) {
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

    /// An accept body that returns from its middle becomes a procedure where more is to be done after it.
    fn out_of_line(&mut self, site: &Site, after: &[Code]) -> Option<Code> {
        let cx = self.cx();
        let (tree, source) = (cx.tree(), cx.source());
        let has = |kind| !machine::leaving(source, site.accept, kind).is_empty();
        if !has("simple_return_statement") || has("requeue_statement") || code::is_empty(after) {
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

    fn closed_test(&self) -> Option<String> {
        let stages = &self.server.stages;
        let closed = stages.closed.as_ref()?;
        Some(if stages.is_boolean {
            stages.component.clone()
        } else {
            format!("{} = {closed}", stages.component)
        })
    }

    /// The test that the server waits where a site is; empty if it always does.
    fn stage_test(&self, wait: usize) -> String {
        let stages = &self.server.stages;
        match stages.waits.get(&wait) {
            None => String::new(),
            Some(_) if stages.is_boolean => stages.component.clone(),
            Some(literal) => format!("{} = {literal}", stages.component),
        }
    }

    fn condition(&self, site: &Site, index: Option<&str>) -> String {
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

    fn text(&self, node: NodeId) -> String {
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

    fn barrier(&self, sites: &[&Site], index: Option<&str>) -> Vec<String> {
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
        // Open wherever the server waits: no test at all.
        let open: BTreeSet<usize> = sites
            .iter()
            .filter(|s| self.condition(s, index) == self.stage_test(s.wait))
            .map(|s| s.wait)
            .collect();
        if open == self.server.waits
            && stages.starting.is_none()
            && !(stages.is_boolean && closed.is_none())
            && !sites.is_empty()
        {
            return vec!["True".into()];
        }
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

    fn index_name(&self) -> String {
        let cx = self.cx();
        cx.free_name(
            &[
                "Index".to_string(),
                "Which".to_string(),
                "Family_Index".to_string(),
            ],
            false,
            &self.server.moved.taken,
        )
    }

    fn entry_header(
        &self,
        entry: usize,
        sites: &[&Site],
        index: Option<&str>,
        barrier: &[String],
    ) -> String {
        let cx = self.cx();
        let declared = &cx.task.entries[entry];
        let at = cx.names.entity(declared.id).at;
        let formals = match sites
            .first()
            .and_then(|s| cx.tree().child(s.accept, "formal_part"))
        {
            Some(node) => Some((cx.task.body.file, node)),
            None => declared.formals.map(|node| (at.file, node)),
        };
        let mut header = format!("entry {}", declared.name);
        if let (Some(index), Some(node)) = (index, declared.index) {
            header.push_str(&format!(" (for {index} in {})", index_text(cx, at, node)));
        }
        if let Some((file, node)) = formals {
            let source = &cx.program.sources[file];
            header.push(' ');
            header.push_str(
                &layout::dedent(source.text(node), source.indent(source.tree.start(node)))
                    .join("\n"),
            );
        }
        let room = WIDTH.saturating_sub(
            cx.source().indent(cx.tree().start(cx.task.body.node)).len() + self.step.len(),
        );
        let line = format!("{header} when {} is", barrier.join(" or else "));
        if !line.contains('\n') && line.chars().count() <= room {
            return line;
        }
        let when = format!("  when {}", barrier.join(" or else "));
        if when.chars().count() <= room {
            return format!("{header}\n{when}\nis");
        }
        format!("{header}\n  when {}\nis", barrier.join("\n    or else "))
    }

    /// Formal `in` parameters that no accept body mentions: GNAT would warn.
    fn unused_formals(&self, entry: usize, sites: &[&Site]) -> Vec<String> {
        let cx = self.cx();
        let Some(inner) = cx.names.entity(cx.task.entries[entry].id).inner else {
            return vec![];
        };
        let formals = cx
            .names
            .scope(inner)
            .entities
            .iter()
            .filter(|&&e| cx.names.entity(e).kind == Kind::Parameter);
        let mut unused = Vec::new();
        for &formal in formals {
            let name = &cx.names.entity(formal).name;
            let is_used = sites.iter().any(|s| {
                let body = cx.tree().child(s.accept, "handled_sequence_of_statements");
                body.is_some_and(|b| {
                    cx.tree().walk(b).any(|n| {
                        cx.tree().kind(n) == "identifier"
                            && Names::key(cx.text(n)) == Names::key(name)
                    })
                })
            });
            if !is_used {
                unused.push(name.clone());
            }
        }
        unused
    }
}

fn nested(line: &str, step: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("{step}{line}")
    }
}

/// The index subtype of a family, with its range.
fn index_text(cx: &Context, at: At, node: NodeId) -> String {
    let source = &cx.program.sources[at.file];
    let tree = &source.tree;
    let mut end = tree.end(node);
    let mut next = tree.next(node);
    while let Some(more) = next.filter(|&n| tree.kind(n) != ")") {
        end = tree.end(more);
        next = tree.next(more);
    }
    source.text[tree.start(node)..end].to_string()
}

fn choice(arms: Vec<(String, Vec<Code>)>) -> Code {
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

/// In parentheses, if an operator around it could take it apart.
pub(super) fn grouped(text: &str) -> String {
    let lower = format!(" {} ", text.to_ascii_lowercase().replace(['(', ')'], " "));
    let is_compound = [" and ", " or ", " xor ", " if ", " not in ", " in "]
        .iter()
        .any(|w| lower.contains(w));
    if is_compound {
        format!("({text})")
    } else {
        text.to_string()
    }
}

/// Lines inserted above a node and the comments directly above it.
fn insertion_above(cx: &Context, at: At, lines: Vec<String>) -> Option<Edit> {
    if lines.is_empty() {
        return None;
    }
    let source = &cx.program.sources[at.file];
    let start = source.tree.start(at.node);
    let indent = source.indent(start).to_string();
    let comments = layout::comments_above(source, start).len();
    let mut line = source.line_start(start);
    for _ in 0..comments {
        line = source.line_start(line - 1);
    }
    let is_first_on_line = source.text[source.line_start(start)..start]
        .trim()
        .is_empty();
    if !is_first_on_line {
        let text = lines.join("\n") + "\n";
        return Some(Edit {
            file: at.file,
            range: start..start,
            text,
        });
    }
    Some(Edit {
        file: at.file,
        range: line..line,
        text: layout::indented(&lines, &indent) + "\n",
    })
}

/// The stub of a body that is a subunit.
fn stub_of(cx: &Context) -> Option<At> {
    let tree = cx.tree();
    let is_subunit = tree
        .parent(cx.task.body.node)
        .is_some_and(|p| tree.kind(p) == "subunit");
    if !is_subunit {
        return None;
    }
    let key = Names::key(&cx.task.name);
    cx.program
        .sources
        .iter()
        .enumerate()
        .find_map(|(file, source)| {
            let tree = &source.tree;
            tree.walk(tree.root())
                .find(|&n| {
                    tree.kind(n) == "task_body_stub"
                        && tree
                            .child(n, "identifier")
                            .is_some_and(|i| Names::key(source.text(i)) == key)
                })
                .map(|node| At { file, node })
        })
}

fn stub(cx: &Context) -> Option<Edit> {
    let at = stub_of(cx)?;
    let source = &cx.program.sources[at.file];
    let word = source.tree.child(at.node, "task")?;
    Some(Edit {
        file: at.file,
        range: source.tree.range(word),
        text: "protected".into(),
    })
}
