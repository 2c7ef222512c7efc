//! Delay alternatives by timing events (RM D.15, since Ada 2005).
//!
//! Where the task would arrive at the select, the object sets its event. The handler, a protected
//! procedure, runs the alternative's code and continues to the next wait. Nothing needs to be
//! cancelled. If an event comes after the object has continued, the handler finds another stage. If
//! it comes after the timer was set again, the handler finds that it is set.

use std::collections::BTreeMap;

use super::context::Context;
use super::declarations::Moved;
use crate::edit::Edit;
use crate::flow::Wait;
use crate::names::{At, Kind, Names};
use crate::profile;
use crate::syntax::{NodeId, Tree};
use crate::verdict::{Reason, Rule};

/// GNAT's run-time checks timing events at this interval (`a-rttiev.adb`).
const GRANULARITY_S: f64 = 0.1;

/// The names that timing events need.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The timing event, a component.
    pub event: String,
    /// Its handler.
    pub handler: String,
    /// The procedure that sets the event, for each wait with a delay alternative.
    pub procedures: BTreeMap<usize, String>,
}

/// Returns the waits with a delay alternative that does not only poll.
pub fn waits(cx: &Context) -> Vec<usize> {
    let reachable = cx.flow.reachable_waits().into_iter();
    reachable
        .filter(|&w| cx.flow.elapsed(w).is_some())
        .collect()
}

/// Chooses names; none if the task has no delay alternatives.
pub fn plan(cx: &Context, moved: &mut Moved) -> Option<Timing> {
    let waits = waits(cx);
    if waits.is_empty() {
        return None;
    }
    let mut name = |wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        moved.private_name(cx, &wanted)
    };
    Some(Timing {
        event: name(&["Timer", "Server_Timer"]),
        handler: name(&["Time_Out", "On_Time_Out"]),
        procedures: waits
            .into_iter()
            .map(|w| (w, name(&["Set_Timer"])))
            .collect(),
    })
}

/// Returns the delay statement of a wait.
fn delay(tree: &Tree, wait: &Wait) -> Option<NodeId> {
    tree.children(wait.delay?)
        .find(|&n| tree.kind(n).starts_with("delay_"))
}

/// Returns reasons against a timing event for a wait's delay alternative, or else a note.
pub fn judge(cx: &Context, wait: &Wait) -> Result<Reason, Reason> {
    let tree = cx.tree();
    let alternative = wait.delay.unwrap_or(wait.node);
    let refuse =
        |text: String, help: &str| Err(cx.reason(Rule::DelayAlternative, alternative, text, help));
    if wait.has_several_delays {
        let text = "the select has several delay alternatives, and an object one timer".to_string();
        return refuse(text, "compute the shortest delay, and test which it was");
    }
    let Some(statement) = delay(tree, wait) else {
        return refuse(
            "the delay alternative cannot be read".into(),
            "check that the file compiles",
        );
    };
    let effects = cx.oracle.of(cx.at(statement));
    // The delay statement itself is the first blocking operation.
    if let Some(effect) = effects.blocks.iter().skip(1).chain(&effects.unknown).next() {
        let text = format!("{} in the delay alternative's time", effect.what);
        return refuse(text, "compute the time before the select statement");
    }
    if is_until(tree, statement) && clock(cx, statement).is_none() {
        let text = "it cannot be told whether the delay is until a time of the calendar or of Ada.Real_Time";
        return refuse(
            text.into(),
            "declare the time as a variable of the task, with the full name of its type",
        );
    }
    let seconds = expression(tree, statement).and_then(|e| static_seconds(cx, e));
    match seconds.filter(|_| !is_until(tree, statement)) {
        Some(s) if s < GRANULARITY_S => refuse(
            format!(
                "the delay of {s} s is shorter than the {GRANULARITY_S} s at which GNAT looks at timing events (RM D.15)"
            ),
            "give the time-out to the clients (timed entry calls), or leave it a task",
        ),
        Some(_) => {
            let text = "the delay alternative becomes a timing event (RM D.15), which GNAT handles up to 0.1 s late";
            Ok(cx.reason(
                Rule::TimerStep,
                alternative,
                text,
                "nothing, if that is early enough",
            ))
        }
        None => {
            let text = "the delay alternative becomes a timing event (RM D.15), which GNAT handles up to 0.1 s late; this delay is computed and may be shorter than that";
            let help = "see that the delay is not much shorter than 0.1 s";
            Ok(cx.reason(Rule::TimerStep, alternative, text, help))
        }
    }
}

fn is_until(tree: &Tree, statement: NodeId) -> bool {
    tree.kind(statement) == "delay_until_statement"
}

fn expression(tree: &Tree, statement: NodeId) -> Option<NodeId> {
    tree.children(statement)
        .find(|&n| !matches!(tree.kind(n), "delay" | "until" | ";"))
}

/// Returns the value of a literal, or of a constant or named number with a literal value.
fn static_seconds(cx: &Context, node: NodeId) -> Option<f64> {
    let literal = |text: &str| text.replace('_', "").trim().parse::<f64>().ok();
    if let Some(value) = literal(cx.text(node)) {
        return Some(value);
    }
    let tree = cx.tree();
    let named = tree
        .walk(node)
        .filter(|&n| tree.kind(n) == "identifier")
        .collect::<Vec<_>>();
    let [name] = named[..] else { return None };
    if tree.range(name) != tree.range(node) {
        return None;
    }
    let entity = cx.names.entity(cx.names.meaning(cx.program, cx.at(name))?);
    let source = &cx.program.sources[entity.at.file];
    let is_constant = source.tree.kind(entity.at.node) == "number_declaration"
        || source.tree.child(entity.at.node, "constant").is_some();
    let value = source.tree.child(entity.at.node, "expression")?;
    literal(source.text(value)).filter(|_| is_constant)
}

/// The clock of a `delay until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clock {
    RealTime,
    Calendar,
}

/// Determines the clock from the names in the expression and the types of its variables, otherwise
/// from the packages that the file names.
fn clock(cx: &Context, statement: NodeId) -> Option<Clock> {
    let tree = cx.tree();
    let mut names: Vec<String> = Vec::new();
    let is_whole = |n: NodeId| {
        let parent = tree.parent(n).map_or("", |p| tree.kind(p));
        matches!(tree.kind(n), "identifier" | "selected_component")
            && parent != "selected_component"
    };
    for node in tree.walk(statement).filter(|&n| is_whole(n)) {
        match cx.names.meaning(cx.program, cx.at(node)) {
            Some(id) => {
                let at = cx.names.entity(id).at;
                let other = &cx.program.sources[at.file].tree;
                let mark = other.role(at.node, "subtype_mark");
                names.extend(mark.into_iter().flat_map(|node| {
                    let at = At { node, ..at };
                    cx.names.external_names(cx.program, at)
                }));
            }
            None => names.extend(cx.names.external_names(cx.program, cx.at(node))),
        }
    }
    let of = |names: &[String], package: &str| {
        names
            .iter()
            .any(|n| n.strip_prefix(package).is_some_and(|r| r.starts_with('.')))
    };
    let is_calendar = of(&names, "ada.calendar") || of(&names, "calendar");
    match (of(&names, "ada.real_time"), is_calendar) {
        (true, false) => Some(Clock::RealTime),
        (false, true) => Some(Clock::Calendar),
        _ => by_context(cx),
    }
}

/// Returns the clock of that one of the two packages that a with clause of the body's file names.
fn by_context(cx: &Context) -> Option<Clock> {
    let tree = cx.tree();
    let named: Vec<String> = tree
        .walk(tree.root())
        .filter(|&n| tree.kind(n) == "with_clause")
        .map(|n| Names::key(cx.text(n)))
        .collect();
    let has = |package: &str| named.iter().any(|n| n.contains(package));
    match (has("real_time"), has("calendar")) {
        (true, false) => Some(Clock::RealTime),
        (false, true) => Some(Clock::Calendar),
        _ => None,
    }
}

/// Returns the body of the procedure that sets the event of a wait. `text` returns the text of a
/// node for the object.
pub fn set(
    cx: &Context,
    timing: &Timing,
    wait: &Wait,
    step: &str,
    text: impl Fn(NodeId) -> String,
) -> Vec<String> {
    let tree = cx.tree();
    let Some(statement) = delay(tree, wait) else {
        return vec![];
    };
    let time = expression(tree, statement).map_or(String::new(), &text);
    let when = match clock(cx, statement).filter(|_| is_until(tree, statement)) {
        None => format!("In_Time => Ada.Real_Time.To_Time_Span ({time}),"),
        Some(Clock::RealTime) => format!("At_Time => {time},"),
        Some(Clock::Calendar) => format!(
            "In_Time => Ada.Real_Time.To_Time_Span\n{step}             (Ada.Calendar.\"-\" ({time}, Ada.Calendar.Clock)),"
        ),
    };
    // The type of handlers is declared at library level and outside of generics. So 'Access of the
    // procedure is not legal for a local object or one in a generic (RM 3.10.2 (32)).
    let access = if is_library_level(cx) {
        "Access"
    } else {
        "Unrestricted_Access"
    };
    let call = [
        "Ada.Real_Time.Timing_Events.Set_Handler".to_string(),
        format!("  (Event   => {},", timing.event),
        format!("   {when}"),
        format!("   Handler => {}'{access});", timing.handler),
    ];
    let call = call.iter().flat_map(|l| l.split('\n').map(String::from));
    let Some(guard) = wait.delay_guard else {
        return call.collect();
    };
    let mut lines = vec![format!("if {} then", text(guard))];
    lines.extend(call.map(|l| format!("{step}{l}")));
    lines.extend([
        "else".into(),
        format!("{step}Ada.Real_Time.Timing_Events.Set_Handler"),
        format!(
            "{step}  ({}, Ada.Real_Time.Time_First, null);",
            timing.event
        ),
        "end if;".into(),
    ]);
    lines
}

fn is_library_level(cx: &Context) -> bool {
    let at = cx.task.declaration;
    let tree = &cx.program.sources[at.file].tree;
    let scopes = cx.names.around(cx.names.entity(cx.task.id).scope);
    let is_in_generic = scopes.into_iter().any(|s| {
        let owner = cx.names.scope(s).owner.map(|o| cx.names.entity(o).kind);
        matches!(owner, Some(Kind::GenericPackage | Kind::GenericSubprogram))
    });
    profile::is_library_level(tree, at.node) && !is_in_generic
}

/// Returns the with clause of a library unit for the declaration's unit, if it is missing.
pub fn with_clause(cx: &Context, unit: &str) -> Option<Edit> {
    let at = cx.task.declaration;
    let source = &cx.program.sources[at.file];
    let tree = &source.tree;
    let own = tree.ancestor(at.node, &["compilation_unit"])?;
    // Each clause of the context is a unit of its own in the tree.
    let context: Vec<NodeId> = tree
        .children(tree.parent(own)?)
        .take_while(|&u| u != own)
        .collect();
    let is_clause = |u: &NodeId| {
        let item = tree.children(*u).next();
        item.is_some_and(|n| matches!(tree.kind(n), "with_clause" | "use_clause" | "pragma_g"))
    };
    let clauses: Vec<NodeId> = context.into_iter().rev().take_while(is_clause).collect();
    let named = |u: &NodeId| {
        let words = Names::key(source.text(*u));
        let mut names = words.split([',', ';', ' ', '\n']);
        names.any(|n| n == Names::key(unit))
    };
    if clauses.iter().any(named) {
        return None;
    }
    let last = clauses
        .into_iter()
        .find(|&u| tree.child(u, "with_clause").is_some());
    let blank = if last.is_some() { "" } else { "\n" };
    let byte = match last {
        Some(clause) => source.line_end(tree.end(clause)),
        None => source.line_start(tree.start(own)),
    };
    Some(Edit {
        file: at.file,
        range: byte..byte,
        text: format!("with {unit};\n{blank}"),
    })
}
