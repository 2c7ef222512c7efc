//! The text of a protected object that replaces a task.

mod barriers;
mod body;
mod declaration;
mod entries;
mod finishing;
mod given;
mod header;
mod procedures;
mod timers;

use std::collections::BTreeSet;

use barriers::Flags;

use crate::edit::Edit;
use crate::flow::{Point, Site};
use crate::names::{At, Names};
use crate::translate::accepting::{Replacement, Server};
use crate::translate::code;
use crate::translate::context::Context;
use crate::translate::exceptions;
use crate::translate::layout;
use crate::translate::machine::{self, Machine};
use crate::translate::obstacles::interfaces;
use crate::translate::timing;
use crate::translate::unsynchronized;
use crate::verdict::{Reason, Rule};

/// Longer lines are broken where the language allows it.
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
        procedures: BTreeSet::new(),
        flags: Flags::default(),
    };
    writer.choose_flags();
    let body = writer.body()?;
    if writer.machine.is_too_long {
        let text = "the ways from one wait to the next are too many to be written out";
        let help = "leave loops in one place each";
        let reason = cx.reason(Rule::LoopShape, cx.task.body.node, text, help);
        return Err(vec![reason]);
    }
    if let Some(node) = writer.machine.cut_short {
        let text = "the accept is left in its middle where the server has more to do";
        let reason = cx.reason(
            Rule::NestedAccept,
            node,
            text,
            "leave the accept at its end",
        );
        return Err(vec![reason]);
    }
    let mut edits = vec![writer.declaration(), body];
    edits.extend(server.moved.edits.iter().cloned());
    edits.extend(writer.before_declaration());
    edits.extend(writer.before_body());
    let starts = server.start.iter().flat_map(|s| &s.places);
    edits.extend(starts.map(|(place, lines)| place.call(lines)));
    edits.extend(stub(cx));
    let units = server.moved.units.iter();
    edits.extend(units.filter_map(|unit| timing::with_clause(cx, unit)));
    edits.extend(interfaces::loosened(cx));
    edits.extend(unsynchronized::constants(cx));
    if server.timing.is_some() {
        edits.extend(timing::with_clause(cx, "Ada.Real_Time.Timing_Events"));
    }
    edits.retain(|e| !(e.range.is_empty() && e.text.is_empty()));
    Ok(Replacement {
        edits,
        declared: server.moved.outside_names.clone(),
        procedures: writer
            .procedures
            .iter()
            .map(|&e| cx.task.entries[e].id)
            .collect(),
        notes: vec![],
    })
}

/// Checks that code in the middle of an accept does not leave the entry body early.
fn check_sites<'a>(server: &'a Server<'a>, machine: &mut Machine<'a>) -> Result<(), Vec<Reason>> {
    let inside = |s: &&Site| !server.cx.flow.waits_inside(s.accept);
    for site in server.cx.flow.sites.iter().filter(inside) {
        let leaves =
            !machine::leaving(server.cx.source(), site.accept, "requeue_statement").is_empty();
        let code = machine.way_on(server.cx.flow.resume(site), Some(site.wait));
        let goes_on = server.cx.flow.reach(server.cx.flow.resume(site)).into_iter().any(|p| {
            matches!(p, Point::Before(n) if server.cx.flow.is_plain(n) && server.cx.tree().kind(n) != "null_statement")
        });
        // An exception of the code that follows would be taken for one of the accept.
        if (leaves && code::contains_return(&code))
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
    /// Procedures for accept bodies that return from their middle: the profile, and the whole text.
    accepts: Vec<(String, Vec<String>)>,
    /// Entries that become procedures.
    procedures: BTreeSet<usize>,
    /// Components that replace barriers.
    flags: Flags,
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
}

fn nested(line: &str, step: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        format!("{step}{line}")
    }
}

/// Returns an edit that inserts lines above a node and the comments directly above it.
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

/// Returns the stub of a body that is a subunit.
fn stub_of(cx: &Context) -> Option<At> {
    let tree = cx.tree();
    let is_subunit = tree
        .parent(cx.task.body.node)
        .is_some_and(|p| tree.kind(p) == "subunit");
    if !is_subunit {
        return None;
    }
    let key = Names::key(&cx.task.name);
    let named = cx.names.files_with(&key).iter().flat_map(|&file| {
        let found = cx.names.occurrences(file, &key).iter();
        found.map(move |&node| At { file, node })
    });
    named
        .filter_map(|at| {
            let node = cx.program.sources[at.file].tree.parent(at.node)?;
            Some(At { node, ..at })
        })
        .find(|at| cx.program.sources[at.file].tree.kind(at.node) == "task_body_stub")
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
