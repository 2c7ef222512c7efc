//! Accepting servers become protected objects (section 6.1 of the paper, figure 5).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::calling::Inverted;
use super::code;
use super::context::Context;
use super::declarations::{self, Moved};
use super::exceptions;
use super::layout::{self, Substitutions};
use super::machine::{self, Machine, Nested, Stages};
use super::timing::{self, Timing};
use super::{first_use, nested, place, visibility, write};
use crate::edit::Edit;
use crate::flow::Point;
use crate::names::{EntityId, Kind};
use crate::syntax::NodeId;
use crate::verdict::Reason;

/// The edits that replace a task by a protected object.
#[derive(Debug)]
pub struct Replacement {
    /// The edits.
    pub edits: Vec<Edit>,
    /// Names that the edits declare outside the protected object, in lower case.
    pub declared: HashSet<String>,
    /// Entries that become procedures.
    pub procedures: Vec<EntityId>,
    /// Notes for a reader of the translation that the verdict does not have.
    pub notes: Vec<Reason>,
}

/// A server on its way to becoming a protected object.
#[derive(Debug)]
pub(super) struct Server<'a> {
    pub cx: Context<'a>,
    pub moved: Moved,
    pub stages: Stages,
    /// The name of the enumeration of stages, if there is one.
    pub stage_type: Option<String>,
    /// The procedure that runs the code before the first accept.
    pub start: Option<Start>,
    pub initial: Option<usize>,
    pub waits: BTreeSet<usize>,
    /// The accepts that wait inside.
    pub nested: Nested,
    /// The timing event, if there are delay alternatives.
    pub timing: Option<Timing>,
    /// The data that a calling server passes and receives.
    pub inverted: Option<Inverted>,
}

/// The procedure that runs the code before the first accept.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub name: String,
    pub point: Point,
    /// Where and how it is called; empty if the first call of an entry does that.
    pub places: Vec<(place::Place, Vec<String>)>,
}

/// Plans and writes the replacement.
///
/// # Errors
/// The obstacles that could be seen only during planning.
pub fn replace(cx: Context, taken: &HashSet<String>) -> Result<Replacement, Vec<Reason>> {
    write::write(&plan(cx, taken, None)?)
}

/// Plans and writes the replacement of a calling server, whose waits are its calls.
///
/// # Errors
/// The obstacles that could be seen only during planning.
pub(super) fn replace_inverted(
    cx: Context,
    taken: &HashSet<String>,
    inverted: Inverted,
) -> Result<Replacement, Vec<Reason>> {
    write::write(&plan(cx, taken, Some(inverted))?)
}

fn plan<'a>(
    cx: Context<'a>,
    taken: &HashSet<String>,
    inverted: Option<Inverted>,
) -> Result<Server<'a>, Vec<Reason>> {
    let (folded, point) = fold(&cx);
    let mut moved = declarations::plan(&cx, folded, taken);
    if !moved.reasons.is_empty() {
        return Err(std::mem::take(&mut moved.reasons));
    }
    let nested = nested::plan(&cx, &mut moved);
    if !moved.reasons.is_empty() {
        return Err(std::mem::take(&mut moved.reasons));
    }
    let timing = timing::plan(&cx, &mut moved);
    let waits = cx.flow.reachable_waits();
    let initial = initial_wait(&cx, &mut moved, point);
    // The time of a delay alternative begins at the task's activation.
    let needs_start = initial
        .is_none_or(|w| cx.flow.elapsed(w).is_some() || cx.flow.otherwise(w).is_some())
        || !moved.start.is_empty();
    let closes = cx.flow.can_end() || exceptions::can_close(&cx);
    let mut server = Server {
        cx,
        moved,
        stages: Stages::default(),
        stage_type: None,
        start: None,
        initial,
        waits,
        nested,
        timing,
        inverted,
    };
    if needs_start {
        server.start = Some(start(&server, point)?);
    }
    server.choose_stages(closes);
    Ok(server)
}

fn start(server: &Server, point: Point) -> Result<Start, Vec<Reason>> {
    let cx = &server.cx;
    let wanted = ["Start".to_string(), format!("Start_{}", cx.task.name)];
    let name = cx.free_name(&wanted, false, &server.moved.taken);
    let places = place::starts(cx, &name).unwrap_or_default();
    if places.is_empty() {
        first_use::check(cx, point).map_err(|r| vec![r])?;
    }
    Ok(Start {
        name,
        point,
        places,
    })
}

/// Turns assignments of constant values to the task's variables at the very start into initial
/// values.
fn fold(cx: &Context) -> (HashMap<EntityId, String>, Point) {
    let tree = cx.tree();
    let mut folded = HashMap::new();
    let mut point = cx.flow.start();
    while let Point::Before(node) = point {
        match tree.kind(node) {
            "null_statement" | "pragma_g" if cx.flow.is_plain(node) => {}
            "assignment_statement" => match constant_assignment(cx, node) {
                Some((variable, value)) if !folded.contains_key(&variable) => {
                    folded.insert(variable, value);
                }
                _ => break,
            },
            _ => break,
        }
        point = cx.flow.after(node);
    }
    (folded, point)
}

fn constant_assignment(cx: &Context, node: NodeId) -> Option<(EntityId, String)> {
    let tree = cx.tree();
    let target = tree
        .role(node, "variable_name")
        .filter(|&n| tree.kind(n) == "identifier")?;
    let value = tree.child(node, "expression")?;
    let variable = cx.names.meaning(cx.program, cx.at(target))?;
    let entity = cx.names.entity(variable);
    let is_own = entity.kind == Kind::Variable && entity.scope == cx.names.region(cx.task.body)?;
    // An initial value may use constants that move out, but no variable of the task.
    let uses_local = cx
        .meanings(cx.at(value))
        .iter()
        .any(|&(_, e)| cx.is_local(e) && cx.names.entity(e).kind != Kind::Literal);
    let old = tree.child(entity.at.node, "expression");
    let had_effects = old.is_some_and(|e| !cx.is_constant(e));
    let is_read_before = cx.declarations().iter().any(|&item| {
        tree.start(item) > tree.start(entity.at.node)
            && cx.meanings(cx.at(item)).iter().any(|&(_, e)| e == variable)
            && tree.kind(item) == "object_declaration"
    });
    let comments = layout::comments_above(cx.source(), tree.start(node));
    (is_own
        && !uses_local
        && !had_effects
        && !is_read_before
        && comments.is_empty()
        && cx.is_constant(value)
        && visibility::is_all_shown(cx, value))
    .then(|| {
        (
            variable,
            cx.text(value)
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        )
    })
}

/// Returns the first wait, if there is nothing to do before it.
fn initial_wait(cx: &Context, moved: &mut Moved, from: Point) -> Option<usize> {
    let tree = cx.tree();
    let mut point = from;
    let mut counters: Vec<(String, String)> = Vec::new();
    for _ in 0..100 {
        point = match point {
            Point::Before(node) => match cx.flow.wait_at(node) {
                Some(wait) => {
                    counters
                        .into_iter()
                        .for_each(|(name, first)| moved.set_initial(&name, &first));
                    return Some(wait);
                }
                None if tree.kind(node) == "loop_statement" => {
                    if cx.flow.is_for(node) {
                        let counter = moved
                            .counters
                            .get(&node)
                            .filter(|c| c.is_entered && c.has_static_first && c.bound.is_none())?;
                        counters.push((counter.name.clone(), counter.first.clone()));
                    }
                    Point::LoopTop(node)
                }
                None if tree.kind(node) == "null_statement" => cx.flow.after(node),
                None if tree.kind(node) == "block_statement"
                    && tree.child(node, "non_empty_declarative_part").is_none() =>
                {
                    cx.flow.first(node, cx.flow.sequence(node))
                }
                None => return None,
            },
            Point::LoopTop(node) if !cx.flow.is_while(node) && !cx.flow.goes_round(node) => {
                cx.flow.first(node, tree.role(node, "statements"))
            }
            _ => return None,
        };
    }
    None
}

impl<'a> Server<'a> {
    /// Whether the first call of an entry runs the code before the first accept.
    pub(super) fn starts_on_first_use(&self) -> bool {
        self.start.as_ref().is_some_and(|s| s.places.is_empty())
    }

    /// Returns a generator of code for this server.
    pub(super) fn machine(&'a self, changes: &'a Substitutions) -> Machine<'a> {
        Machine::new(
            self.cx.flow,
            self.cx.source(),
            changes,
            &self.stages,
            &self.moved.counters,
            &self.moved.block_starts,
            &self.nested,
        )
    }

    /// Returns the points from which the object's code runs.
    pub(super) fn roots(&self) -> Vec<Point> {
        let flow = self.cx.flow;
        let left = self.waits.iter().flat_map(|&w| {
            let around = flow.owner(flow.waits[w].node);
            let points = flow.left(w).into_iter();
            points.filter(move |&p| around.is_none() || flow.owner_at(p) != around)
        });
        let start = self.start.iter().map(|s| s.point);
        start
            .chain(left)
            .chain(self.stages.resumed.keys().copied())
            .collect()
    }

    /// Returns points that need a procedure, because a statement in the middle of an accept
    /// continues there.
    pub(super) fn forced(&'a self, machine: &mut Machine<'a>) -> BTreeSet<Point> {
        let mut found = BTreeSet::new();
        let tree = self.cx.tree();
        let loops = tree
            .walk(self.cx.task.body.node)
            .filter(|&n| tree.kind(n) == "loop_statement" && !self.cx.flow.is_plain(n));
        found.extend(
            loops
                .filter(|&n| {
                    self.cx.flow.owner(n).is_none()
                        && self.cx.flow.goes_round(n)
                        && machine::is_left_from_inside(self.cx.flow, n)
                })
                .map(Point::LoopTop),
        );
        for site in &self.cx.flow.sites {
            if machine::leaving(self.cx.source(), site.accept, "requeue_statement").is_empty()
                || self.cx.flow.waits_inside(site.accept)
                || self.cx.flow.owner(site.accept).is_some()
            {
                continue;
            }
            let point = self.cx.flow.resume(site);
            let code = machine.code_from(point, Some(site.wait));
            if code::size(&code) > 2 || code::contains_return(&code) {
                found.insert(point);
            }
        }
        found
    }
}
