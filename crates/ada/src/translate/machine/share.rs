//! Private procedures for code that several entries would repeat.

use std::collections::{BTreeMap, BTreeSet};

use super::Machine;
use crate::flow::Point;
use crate::translate::code;

impl<'a> Machine<'a> {
    /// Makes private procedures of code that several entries would repeat; code of one or two lines
    /// is repeated.
    pub fn share(
        &mut self,
        roots: &[Point],
        forced: &BTreeSet<Point>,
        mut name: impl FnMut(Point) -> String,
    ) {
        let mut candidates = self.joins(roots);
        candidates.extend(forced);
        // The remaining procedures get names at the end.
        self.procedures = candidates
            .iter()
            .map(|&p| (p, "Advance".to_string()))
            .collect();
        loop {
            let before = self.procedures.len();
            for &point in &candidates {
                if self.procedures.contains_key(&point)
                    && !forced.contains(&point)
                    && code::size(&self.procedure_body(point)) <= 2
                {
                    self.procedures.remove(&point);
                }
            }
            self.count_calls(roots);
            let calls = self.calls.clone();
            self.procedures
                .retain(|p, _| forced.contains(p) || calls.get(p).copied().unwrap_or(0) > 1);
            if self.procedures.len() == before {
                self.procedures
                    .iter_mut()
                    .for_each(|(&point, own)| *own = name(point));
                return;
            }
        }
    }

    pub(super) fn count_calls(&mut self, roots: &[Point]) {
        self.calls.clear();
        for &root in roots {
            self.code_from(root, None);
        }
        let points: Vec<Point> = self.procedures.keys().copied().collect();
        for point in points {
            self.procedure_body(point);
        }
    }

    /// Returns points at which the code of several roots joins.
    pub(super) fn joins(&self, roots: &[Point]) -> BTreeSet<Point> {
        let mut users: BTreeMap<Point, BTreeSet<usize>> = BTreeMap::new();
        for (index, &root) in roots.iter().enumerate() {
            for point in self.flow.reach(root) {
                users.entry(point).or_default().insert(index);
            }
        }
        let mut found: BTreeSet<Point> = roots
            .iter()
            .copied()
            .filter(|p| users[p].len() > 1)
            .collect();
        for (point, own) in &users {
            found.extend(
                self.flow
                    .next(*point)
                    .into_iter()
                    .filter(|p| users[p].len() > 1 && users[p] != *own),
            );
        }
        found.extend(self.exits(users.keys().copied()));
        // Inside an accept the caller's parameters are accessible, but in a procedure they would
        // not be.
        found.retain(|&p| self.flow.owner_at(p).is_none());
        found.retain(|&p| match p {
            Point::Before(node) => self.flow.wait_at(node).is_none(),
            Point::End => false,
            _ => true,
        });
        found
    }

    /// Returns points after loops with several exits: each exit would repeat the code that follows.
    pub(super) fn exits(&self, points: impl Iterator<Item = Point>) -> Vec<Point> {
        let tree = &self.source.tree;
        let mut ways: BTreeMap<Point, usize> = BTreeMap::new();
        let mut loops = BTreeSet::new();
        for point in points {
            self.flow
                .next(point)
                .into_iter()
                .for_each(|next| *ways.entry(next).or_default() += 1);
            if let Point::LoopTop(node) = point {
                loops.insert(node);
            }
        }
        let left = loops.into_iter().filter(|&n| {
            tree.walk(n)
                .any(|e| tree.kind(e) == "exit_statement" && self.flow.exit_target(e) == Some(n))
        });
        left.map(|n| self.flow.after(n))
            .filter(|p| ways.get(p).is_some_and(|&w| w > 1))
            .collect()
    }
}
