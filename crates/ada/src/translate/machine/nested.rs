//! Accepts inside accepts. The caller of the outer one is requeued to a private entry, where it
//! continues after the inner one was served.
//!
//! The requeue is without abort, because a rendezvous that has begun is not cancelled when its
//! caller is aborted or its time expires (RM 9.5.4, 9.7.2, 9.8). The private entry's barrier opens
//! at the end of the same protected action, so no other action comes in between.

use std::collections::{BTreeMap, HashMap};

use super::Machine;
use crate::flow::Point;
use crate::syntax::NodeId;
use crate::translate::code::{self, Code};

/// The parts that accepts with waits inside need.
#[derive(Debug, Clone, Default)]
pub struct Nested {
    /// The private entry to which the caller of each is requeued, except for callers that may go
    /// early.
    pub finishing: BTreeMap<NodeId, String>,
    /// Copies of formal parameters into components, at the start of the body.
    pub kept: HashMap<NodeId, Vec<String>>,
    /// Copies of components into formal parameters, at the end of the body.
    pub given: HashMap<NodeId, Vec<String>>,
}

impl Machine<'_> {
    /// Returns the private entry for the caller of the accept around a node.
    pub(super) fn finishing(&self, node: NodeId) -> Option<&String> {
        self.flow
            .owner(node)
            .and_then(|accept| self.nested.finishing.get(&accept))
    }

    /// Writes the end of the body of an accept that waits inside.
    pub(super) fn accept_end(&mut self, accept: NodeId, out: &mut Vec<Code>) -> Option<Point> {
        out.extend(self.nested.given.get(&accept).cloned().map(Code::Lines));
        let point = self.flow.after(accept);
        if self.flow.owner_at(point).is_none() {
            return Some(point);
        }
        out.extend(self.hand_over(point));
        out.push(Code::Return);
        None
    }

    /// Returns the code after a wait: up to the next one, or to the caller of the enclosing accept.
    pub fn way_on(&mut self, point: Point, known: Option<usize>) -> Vec<Code> {
        let around = known
            .and_then(|w| self.flow.owner(self.flow.waits[w].node))
            .filter(|a| self.nested.finishing.contains_key(a));
        if around.is_some() && self.flow.owner_at(point) == around {
            self.hand_over(point)
        } else {
            self.code_from(point, known)
        }
    }

    /// Leaves an inner accept for a point in the outer one's body. The outer caller continues
    /// there, or the server just waits again.
    pub fn hand_over(&self, point: Point) -> Vec<Code> {
        if let Point::Before(node) = point
            && let Some(wait) = self.flow.wait_at(node)
            && self.flow.otherwise(wait).is_none()
        {
            let literal = self.stages.waits.get(&wait).into_iter();
            let stage = literal.map(|l| Code::line(format!("{} := {l};", self.stages.component)));
            let timer = self.stages.timers.get(&wait).map(Code::line);
            return stage.chain(timer).collect();
        }
        let literal = self.stages.resumed.get(&point).into_iter();
        literal
            .map(|l| Code::line(format!("{} := {l};", self.stages.component)))
            .collect()
    }

    /// Writes a requeue or return inside the body of an accept that waits inside.
    pub(super) fn leave_accept(
        &mut self,
        node: NodeId,
        known: Option<usize>,
        out: &mut Vec<Code>,
    ) -> Option<Point> {
        let accept = self.flow.owner(node)?;
        if self.source.tree.kind(node) != "requeue_statement" {
            return Some(Point::AcceptEnd(accept));
        }
        // The server continues first; its caller leaves for the other entry at the end.
        let point = self.flow.after(accept);
        let mut on = Vec::new();
        if self.flow.owner_at(point).is_some() {
            on = self.hand_over(point);
        } else {
            self.emit(point, None, known, &mut on);
            code::trim_returns(&mut on);
        }
        if code::contains_return(&on) {
            self.cut_short = Some(node);
        }
        out.extend(on);
        out.push(Code::Requeue(self.text(node)));
        None
    }
}
