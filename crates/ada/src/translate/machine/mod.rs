//! The state machine of a server: the code between two waits, for an entry body or a private procedure.
//!
//! The paper's stage counter (section 6.1, figure 5) is here the wait the task would stand at. Code is made by following the points of
//! [`Flow`]: plain statements are copied, branches keep their shape, a loop that can go round without waiting stays a loop, and
//! a wait becomes an assignment to the stage. Loops that wait in each round need no loop any more (figure 6).

mod accept;
mod loops;
mod nested;
mod share;
mod statements;

pub use accept::leaving;
pub use loops::{is_left_from_inside, step};
pub use nested::Nested;

use std::collections::{BTreeMap, HashMap};

use crate::flow::{Flow, Point};
use crate::source::Source;
use crate::syntax::NodeId;
use crate::translate::code::{self, Code, grouped};
use crate::translate::layout::Substitutions;

/// The longest way, in points, that is written out for one wait.
const STEPS_MAX: usize = 5_000;

/// How the place of the task is kept.
#[derive(Debug, Clone, Default)]
pub struct Stages {
    /// The component's name; empty if one wait is all there is.
    pub component: String,
    /// A literal for each wait (by index in the flow), if the stage is an enumeration.
    pub waits: BTreeMap<usize, String>,
    /// The literal, or for a Boolean component the assignment's value, of a completed server.
    pub closed: Option<String>,
    /// The literal of a server whose `Start` was not called yet.
    pub starting: Option<String>,
    /// Whether the component is a Boolean that says one thing.
    pub is_boolean: bool,
    /// A literal for each point at which the caller of an outer accept goes on after an inner one.
    pub resumed: BTreeMap<Point, String>,
    /// A literal for each call of a client that the server waits for until the client is done.
    pub held: BTreeMap<NodeId, String>,
    /// The call that sets the timer, for each wait with a delay alternative.
    pub timers: BTreeMap<usize, String>,
}

/// The variable that a `for` loop with waits inside becomes.
#[derive(Debug, Clone)]
pub struct Counter {
    /// The component.
    pub name: String,
    /// Its subtype.
    pub subtype: String,
    /// The first and last value in the loop's own order.
    pub first: String,
    /// The last value.
    pub last: String,
    /// The attribute's prefix for `Succ` and `Pred`, or `None` for integers.
    pub discrete: Option<String>,
    /// Whether it counts down.
    pub is_reverse: bool,
    /// Whether the range cannot be empty.
    pub is_entered: bool,
    /// Whether the first value may stand in the component's declaration.
    pub has_static_first: bool,
    /// A component that keeps a last value that must be computed when the loop is entered, its subtype and the value.
    pub bound: Option<(String, String, String)>,
}

/// Generates the code between waits.
#[derive(Debug)]
pub struct Machine<'a> {
    /// The graph.
    pub flow: &'a Flow<'a>,
    /// The file of the body.
    pub source: &'a Source,
    /// Changes of names in copied code.
    pub changes: &'a Substitutions,
    /// How the place is kept.
    pub stages: &'a Stages,
    /// The counters of `for` loops.
    pub counters: &'a HashMap<NodeId, Counter>,
    /// Assignments that stand for the declarations of blocks.
    pub block_starts: &'a HashMap<NodeId, Vec<String>>,
    /// The accepts that wait inside.
    pub nested: &'a Nested,
    /// Private procedures, by the point they go on from.
    pub procedures: BTreeMap<Point, String>,
    /// How often each procedure was called by what was generated.
    pub calls: BTreeMap<Point, usize>,
    /// A requeue that would be skipped, since what the server does before it can end early.
    pub cut_short: Option<NodeId>,
    /// Whether some code was given up since it would be too long.
    pub is_too_long: bool,
    steps: usize,
    defining: Option<Point>,
    real_loops: Vec<NodeId>,
}

impl<'a> Machine<'a> {
    /// A machine without procedures yet.
    pub fn new(
        flow: &'a Flow<'a>,
        source: &'a Source,
        changes: &'a Substitutions,
        stages: &'a Stages,
        counters: &'a HashMap<NodeId, Counter>,
        block_starts: &'a HashMap<NodeId, Vec<String>>,
        nested: &'a Nested,
    ) -> Self {
        let (procedures, calls) = (BTreeMap::new(), BTreeMap::new());
        Machine {
            flow,
            source,
            changes,
            stages,
            counters,
            block_starts,
            nested,
            procedures,
            calls,
            cut_short: None,
            is_too_long: false,
            steps: 0,
            defining: None,
            real_loops: vec![],
        }
    }

    /// The code from a point to the next waits.
    pub fn code_from(&mut self, point: Point, known: Option<usize>) -> Vec<Code> {
        let mut out = Vec::new();
        self.steps = 0;
        self.emit(point, None, known, &mut out);
        code::trim_returns(&mut out);
        code::prefer_else(&mut out);
        out
    }

    /// The body of the procedure of a point.
    pub fn procedure_body(&mut self, point: Point) -> Vec<Code> {
        self.defining = Some(point);
        self.code_from(point, None)
    }

    /// Follows points from `from`; true if `until` was reached, false if all paths came to a wait or the end.
    fn emit(
        &mut self,
        from: Point,
        until: Option<Point>,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> bool {
        let mut point = from;
        loop {
            if Some(point) == until {
                return true;
            }
            // Code that no procedure can share is repeated: loops behind loops with several exits multiply.
            self.steps += 1;
            if self.steps > STEPS_MAX {
                self.is_too_long = true;
                return false;
            }
            if self.defining.take() != Some(point)
                && let Some(name) = self.procedures.get(&point)
            {
                out.extend([Code::line(format!("{name};")), Code::Return]);
                *self.calls.entry(point).or_default() += 1;
                return false;
            }
            let next = match point {
                Point::End => {
                    self.close(out);
                    None
                }
                Point::AcceptEnd(accept) => self.accept_end(accept, out),
                Point::LoopTop(node) => self.loop_top(node, known, out),
                Point::LoopNext(node) => Some(self.loop_next(node, known, out)),
                Point::Before(node) => self.statement(node, known, out),
            };
            match next {
                Some(next) => point = next,
                None => return false,
            }
        }
    }

    fn close(&self, out: &mut Vec<Code>) {
        if let Some(closed) = &self.stages.closed {
            out.push(Code::line(format!(
                "{} := {closed};",
                self.stages.component
            )));
        }
        out.push(Code::Return);
    }

    /// Comes to a wait; gives the way on for a select whose else part is taken.
    fn wait(&mut self, wait: usize, known: Option<usize>, out: &mut Vec<Code>) -> Option<Point> {
        let Some(otherwise) = self.flow.otherwise(wait) else {
            self.stand(wait, known, out);
            return None;
        };
        let (mut standing, mut passing) = (Vec::new(), Vec::new());
        self.stand(wait, known, &mut standing);
        let join = self.flow.after(self.flow.waits[wait].node);
        let falls = self.emit(otherwise, Some(join), known, &mut passing);
        let header = format!("if {} then", self.called(wait));
        out.push(Code::Compound {
            open: None,
            arms: vec![(header, standing), ("else".into(), passing)],
            close: "end if;".into(),
            is_tail: true,
        });
        falls.then_some(join)
    }

    /// The condition that a call is queued that could be accepted.
    fn called(&self, wait: usize) -> String {
        let tree = &self.source.tree;
        let sites = self.flow.waits[wait].sites.iter();
        let terms: Vec<String> = sites
            .map(|&s| {
                let site = &self.flow.sites[s];
                let name = tree
                    .role(site.accept, "entry_direct_name")
                    .map_or(String::new(), |n| self.text(n));
                let index = tree
                    .role(site.accept, "entry_index")
                    .map_or(String::new(), |n| format!(" ({})", self.text(n)));
                let count = format!("{name}{index}'Count > 0");
                match site.guard {
                    Some(guard) => format!("({} and then {count})", grouped(&self.text(guard))),
                    None => count,
                }
            })
            .collect();
        terms.join(" or else ")
    }

    /// Stands at a wait: the stage, the timer, and the caller of an accept around it.
    fn stand(&self, wait: usize, known: Option<usize>, out: &mut Vec<Code>) {
        if known != Some(wait)
            && let Some(literal) = self.stages.waits.get(&wait)
        {
            out.push(Code::line(format!(
                "{} := {literal};",
                self.stages.component
            )));
        }
        out.extend(self.stages.timers.get(&wait).map(Code::line));
        if let Some(entry) = self.finishing(self.flow.waits[wait].node) {
            out.push(Code::Requeue(format!("requeue {entry};")));
        } else {
            out.push(Code::Return);
        }
    }
}
