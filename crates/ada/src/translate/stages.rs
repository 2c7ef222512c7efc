//! The representation of the task's place: nothing, a Boolean or an enumeration.

use std::collections::{BTreeSet, HashSet};

use super::accepting::Server;
use super::context::Context;
use super::machine::Stages;
use crate::flow::Point;
use crate::names::Names;
use crate::syntax::NodeId;

impl<'a> Server<'a> {
    pub(super) fn choose_stages(&mut self, closes: bool) {
        let held = self.held();
        let states =
            self.waits.len() + held.len() + usize::from(closes) + usize::from(self.start.is_some());
        let cx = &self.cx;
        // After the end of a calling server, its clients wait for ever, as at an accept that is
        // never called.
        let closed_names: &[&str] = match self.inverted {
            Some(_) => &["All_Given", "All_Were_Given"],
            None => &["Closed", "Is_Closed"],
        };
        let timers = self.timing.iter().flat_map(|t| &t.procedures);
        let timers = timers.map(|(&w, name)| (w, format!("{name};"))).collect();
        if states <= 1 {
            self.stages.timers = timers;
            return;
        }
        let free = |wanted: &[&str]| {
            let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            cx.free_name(&wanted, false, &self.moved.taken)
        };
        if self.waits.len() <= 1 && states == 2 && closes {
            self.stages = Stages {
                component: free(closed_names),
                closed: Some("True".into()),
                is_boolean: true,
                ..Stages::default()
            };
        } else if self.waits.len() == 1 && states == 2 {
            let waits = self
                .waits
                .iter()
                .map(|&w| (w, "True".to_string()))
                .collect();
            self.stages = Stages {
                component: free(&["Started", "Is_Started"]),
                waits,
                is_boolean: true,
                ..Stages::default()
            };
        } else {
            let component = free(&["Stage", "Current_Stage"]);
            let mut used: HashSet<String> = HashSet::new();
            let mut literal = |wanted: String| {
                let name = cx.free_name(&[wanted], true, &used);
                used.insert(Names::key(&name));
                name
            };
            let starting = self.start.as_ref().map(|_| literal("Not_Started".into()));
            let waits = self
                .waits
                .iter()
                .map(|&w| (w, literal(wait_name(cx, w))))
                .collect();
            let closed = closes.then(|| literal(closed_names[0].into()));
            self.stages = Stages {
                component,
                waits,
                closed,
                starting,
                resumed: self
                    .resumed()
                    .into_iter()
                    .map(|p| (p, literal(resumed_name(cx, p))))
                    .collect(),
                held: held
                    .into_iter()
                    .map(|(call, name)| (call, literal(format!("Finishing_{name}"))))
                    .collect(),
                ..Stages::default()
            };
            let mut taken = self.moved.taken.clone();
            taken.insert(Names::key(&self.stages.component));
            let name = cx.free_name(&[format!("{}_Stage", cx.task.name)], true, &taken);
            self.moved.declare_outside(&name);
            self.stage_type = Some(name);
        }
        self.stages.timers = timers;
        let component = Names::key(&self.stages.component);
        self.moved.taken.insert(component);
    }

    /// Returns the calls during which the server must wait for its client, with the names of their
    /// entries.
    pub(super) fn held(&self) -> Vec<(NodeId, String)> {
        let Some(inverted) = &self.inverted else {
            return vec![];
        };
        let sites = self.cx.flow.sites.iter();
        sites
            .filter(|s| self.waits.contains(&s.wait) && inverted.opened[s.entry].is_held)
            .map(|s| (s.accept, inverted.opened[s.entry].name.clone()))
            .collect()
    }

    /// Returns the points at which an outer accept's caller continues after an inner one was
    /// served.
    pub(super) fn resumed(&self) -> BTreeSet<Point> {
        let flow = self.cx.flow;
        let mut found = BTreeSet::new();
        for &wait in &self.waits {
            let around = flow.owner(flow.waits[wait].node);
            if around.is_some_and(|a| self.nested.finishing.contains_key(&a)) {
                found.extend(
                    flow.left(wait)
                        .into_iter()
                        .filter(|&p| flow.owner_at(p) == around),
                );
            }
        }
        let inner = self.nested.finishing.keys().map(|&a| flow.after(a));
        found.extend(inner.filter(|&p| flow.owner_at(p).is_some()));
        // If the server just waits again, the outer caller has nothing to do.
        found.retain(|&p| {
            !matches!(p, Point::Before(n) if flow.wait_at(n).is_some_and(|w| flow.otherwise(w).is_none()))
        });
        found
    }

    /// Returns the initial value of the stage.
    pub(super) fn initial_stage(&self) -> String {
        if self.stages.is_boolean {
            return "False".into();
        }
        let wait = self.initial.and_then(|w| self.stages.waits.get(&w));
        self.stages
            .starting
            .as_ref()
            .or(wait)
            .cloned()
            .unwrap_or_default()
    }
}

fn resumed_name(cx: &Context, point: Point) -> String {
    let accept = cx.flow.owner_at(point);
    let site = cx.flow.sites.iter().find(|s| Some(s.accept) == accept);
    site.map_or("Finishing".into(), |s| {
        format!("Finishing_{}", cx.task.entries[s.entry].name)
    })
}

fn wait_name(cx: &Context, wait: usize) -> String {
    let mut entries: Vec<&str> = cx.flow.waits[wait]
        .sites
        .iter()
        .map(|&s| cx.task.entries[cx.flow.sites[s].entry].name.as_str())
        .collect();
    entries.dedup();
    match entries[..] {
        [one] => format!("Awaiting_{one}"),
        [one, two] => format!("Awaiting_{one}_Or_{two}"),
        _ => "Serving".into(),
    }
}
