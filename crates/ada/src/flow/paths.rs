//! Successors of points, and the points that are reachable without waiting.

use std::collections::BTreeSet;

use super::{Flow, Point, Site};
use crate::syntax::NodeId;

impl<'p> Flow<'p> {
    /// Returns the point where the task continues after a call is accepted. It is the point after
    /// the accept statement, or the start of its body if the task waits inside.
    pub fn resume(&self, site: &Site) -> Point {
        if self.waits_inside(site.accept) {
            self.first_inside(site.accept)
        } else {
            self.after(site.accept)
        }
    }

    /// Returns the point where the task continues when the time of a delay alternative has passed.
    pub fn elapsed(&self, wait: usize) -> Option<Point> {
        let wait = &self.waits[wait];
        let delay = wait.delay.filter(|_| !wait.is_polling)?;
        let sequence = self.tree().child(delay, "sequence_of_statements");
        Some(self.first(delay, sequence))
    }

    /// Returns the point where the task continues at once if no call can be accepted.
    pub fn otherwise(&self, wait: usize) -> Option<Point> {
        let wait = &self.waits[wait];
        let sequence = wait.otherwise.filter(|_| !wait.is_polling)?;
        Some(self.first(wait.node, Some(sequence)))
    }

    /// Returns the points that follow a point; empty for waits and the end.
    pub fn next(&self, point: Point) -> Vec<Point> {
        match point {
            Point::End => vec![],
            Point::AcceptEnd(node) => vec![self.after(node)],
            Point::LoopTop(node) => {
                let body = self.first(node, self.tree().role(node, "statements"));
                if self.is_while(node) {
                    vec![body, self.after(node)]
                } else {
                    vec![body]
                }
            }
            Point::LoopNext(node) => {
                if self.is_for(node) {
                    vec![Point::LoopTop(node), self.after(node)]
                } else {
                    vec![Point::LoopTop(node)]
                }
            }
            Point::Before(node) => self.next_of_statement(node),
        }
    }

    fn next_of_statement(&self, node: NodeId) -> Vec<Point> {
        let tree = self.tree();
        if let Some(wait) = self.wait_at(node) {
            return self.otherwise(wait).into_iter().collect();
        }
        if self.is_plain(node) {
            return match tree.kind(node) {
                "raise_statement" => vec![Point::End],
                _ => vec![self.after(node)],
            };
        }
        match tree.kind(node) {
            "if_statement" | "case_statement" => {
                let mut found: Vec<Point> = self
                    .branches(node)
                    .into_iter()
                    .map(|s| self.first(node, Some(s)))
                    .collect();
                if !self.is_exhaustive(node) {
                    found.push(self.after(node));
                }
                found
            }
            "loop_statement" => {
                if self.is_for(node) && !self.is_entered(node) {
                    vec![Point::LoopTop(node), self.after(node)]
                } else {
                    vec![Point::LoopTop(node)]
                }
            }
            "block_statement" => vec![self.first(node, self.sequence(node))],
            "exit_statement" => {
                let target = self.exit_target(node).map_or(Point::End, |l| self.after(l));
                if tree.role(node, "condition").is_some() {
                    vec![target, self.after(node)]
                } else {
                    vec![target]
                }
            }
            "simple_return_statement" | "requeue_statement" => {
                vec![self.owner(node).map_or(Point::End, Point::AcceptEnd)]
            }
            _ => vec![Point::End],
        }
    }

    /// Returns the sequences of the branches of an if or case statement.
    pub fn branches(&self, node: NodeId) -> Vec<NodeId> {
        let tree = self.tree();
        let mut found = Vec::new();
        for child in tree.children(node) {
            match tree.kind(child) {
                "sequence_of_statements" => found.push(child),
                "elsif_statement_item" | "case_statement_alternative" => {
                    found.extend(tree.child(child, "sequence_of_statements"))
                }
                _ => {}
            }
        }
        found
    }

    /// Whether one of the branches is always taken.
    pub fn is_exhaustive(&self, node: NodeId) -> bool {
        let tree = self.tree();
        tree.kind(node) == "case_statement" || tree.child(node, "else").is_some()
    }

    /// Returns the points from which code runs: the start, the points after accept statements, and
    /// those after the time of a delay alternative.
    pub fn roots(&self) -> Vec<Point> {
        std::iter::once(self.start())
            .chain((0..self.waits.len()).flat_map(|w| self.left(w)))
            .collect()
    }

    /// Returns the points at which the task continues when it leaves a wait. If it waits inside an
    /// accept, it continues at the start of the accept's body, and after the accept's end.
    pub fn left(&self, wait: usize) -> Vec<Point> {
        let sites = self.waits[wait].sites.iter();
        sites
            .map(|&s| self.resume(&self.sites[s]))
            .chain(self.elapsed(wait))
            .collect()
    }

    /// Returns the points that are reachable from a point without waiting, including itself.
    pub fn reach(&self, from: Point) -> BTreeSet<Point> {
        let mut found = BTreeSet::new();
        let mut open = vec![from];
        while let Some(point) = open.pop() {
            if found.insert(point) {
                open.extend(self.next(point));
            }
        }
        found
    }

    /// Whether a loop can complete an iteration without waiting.
    pub fn goes_round(&self, node: NodeId) -> bool {
        self.next(Point::LoopTop(node))
            .into_iter()
            .any(|p| self.reach(p).contains(&Point::LoopTop(node)))
    }

    /// Returns the waits that the task can reach.
    pub fn reachable_waits(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![self.start()];
        while let Some(point) = open.pop() {
            for reached in self.reach(point) {
                let Point::Before(node) = reached else {
                    continue;
                };
                if let Some(wait) = self.wait_at(node)
                    && found.insert(wait)
                {
                    open.extend(self.left(wait));
                }
            }
        }
        found
    }

    /// Whether the task can complete.
    pub fn can_end(&self) -> bool {
        let waits = self.reachable_waits();
        std::iter::once(self.start())
            .chain(waits.iter().flat_map(|&w| self.left(w)))
            .any(|p| self.reach(p).contains(&Point::End))
    }
}
