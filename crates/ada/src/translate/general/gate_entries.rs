//! The bodies of the entries that clients call, and of those at which clients and the task wait.

use super::entry::EntryPlan;
use super::gate::one_line;
use super::layout_of::profile;
use super::names_inside::own_target;
use super::plan::{Form, Plan};
use crate::syntax::NodeId;

impl Plan<'_> {
    /// Returns the entry that clients call.
    pub(super) fn call(&self, entry: &EntryPlan) -> Vec<String> {
        let w = &self.words;
        let mut statements = vec![format!("{} ({});", w.take, entry.literal)];
        match self.form {
            Form::Merged => {
                for parameter in self.fields(entry).into_iter().filter(|p| p.goes_in) {
                    statements.push(format!(
                        "{}.{} := {};",
                        w.kept,
                        entry.field(parameter),
                        parameter.name
                    ));
                }
                if entry.has_body {
                    statements.push(format!("requeue {};", entry.end()));
                }
            }
            // Without a selector the gate is not called.
            Form::Polling => {}
            Form::Apart => statements.push(format!("requeue {}.Call;", self.rendezvous(entry))),
        }
        let family = entry
            .index
            .as_ref()
            .map(|i| format!(" (for {} in {i})", w.member));
        let formals = entry.formals.as_ref().map(|f| format!(" {}", one_line(f)));
        let member = if entry.index.is_some() {
            format!(
                "({} ({}) and then {} = {})",
                w.takes,
                entry.literal,
                w.member,
                entry.member()
            )
        } else {
            format!("{} ({})", w.takes, entry.literal)
        };
        let head = vec![
            format!(
                "entry {}{}{}",
                entry.name,
                family.unwrap_or_default(),
                formals.unwrap_or_default()
            ),
            format!("{}when {} or else {member}", self.step, w.closed),
            "is".into(),
        ];
        let unused: Vec<&str> = entry
            .parameters
            .iter()
            .filter(|_| self.form == Form::Merged && !entry.has_body)
            .map(|p| p.name.as_str())
            .collect();
        self.unit(head, &unreferenced(&unused), &statements, &entry.name)
    }

    /// Returns the private entry at which a caller waits for the end of the accept.
    pub(super) fn end(&self, entry: &EntryPlan) -> Vec<String> {
        let w = &self.words;
        let has_formals = entry.end_has_formals();
        let formals = entry
            .formals
            .as_ref()
            .filter(|_| has_formals)
            .map(|f| format!(" {}", one_line(f)));
        let head = format!(
            "entry {}{} when {} = {} is",
            entry.end(),
            formals.unwrap_or_default(),
            w.ended,
            entry.literal
        );
        let unused: Vec<&str> = entry
            .parameters
            .iter()
            .filter(|p| has_formals && p.is_in)
            .map(|p| p.name.as_str())
            .collect();
        let mut declarations = unreferenced(&unused);
        let mut statements = vec![format!("{};", w.finish)];
        for parameter in self.fields(entry).into_iter().filter(|p| p.comes_out) {
            statements.push(format!(
                "{} := {}.{};",
                parameter.name,
                w.kept,
                entry.field(parameter)
            ));
        }
        if !entry.requeues.is_empty() {
            let next = format!("{}_On", w.way);
            declarations.push(format!("{next} : constant {} := {};", self.way_type, w.way));
            statements.extend(self.onward(&next, entry));
        }
        self.unit(vec![head], &declarations, &statements, &entry.end())
    }

    /// Returns the requeue statements of an entry's accepts, chosen by `way`.
    pub(super) fn onward(&self, way: &str, entry: &EntryPlan) -> Vec<String> {
        let step = &self.step;
        let mut seen: Vec<&str> = Vec::new();
        let mut lines = vec![format!("case {way} is")];
        for node in &entry.requeues {
            let literal = self.ways[node].as_str();
            if seen.contains(&literal) {
                continue;
            }
            seen.push(literal);
            lines.push(format!("{step}when {literal} =>"));
            lines.push(format!("{step}{step}{}", self.requeue_text(*node)));
        }
        if seen.is_empty() {
            return vec![];
        }
        lines.push(format!("{step}when others =>"));
        lines.push(format!("{step}{step}null;"));
        lines.push("end case;".into());
        lines
    }

    /// Returns a requeue statement for the object: an entry of the same task is one of the same
    /// object.
    fn requeue_text(&self, node: NodeId) -> String {
        let text = one_line(self.cx.text(node));
        let abort = if text.to_ascii_lowercase().ends_with("with abort;") {
            " with abort"
        } else {
            ""
        };
        match own_target(&self.cx, node) {
            Some(entry) => {
                let entry = &self.entries[entry];
                let name = &entry.name;
                let gate = if self.cx.task.is_type {
                    self.gate_in_server()
                } else {
                    self.gate.clone()
                };
                let is_family = entry.index.is_some();
                match self.form {
                    Form::Merged if is_family => {
                        format!("requeue {name} ({}){abort};", entry.way())
                    }
                    Form::Merged => format!("requeue {name}{abort};"),
                    Form::Apart if is_family => {
                        format!("requeue {gate}.{name} ({gate}.{}_On){abort};", entry.way())
                    }
                    Form::Apart => format!("requeue {gate}.{name}{abort};"),
                    Form::Polling => format!("requeue {}.Call{abort};", entry.rendezvous),
                }
            }
            None => {
                let name = self.targets.get(&node).cloned().unwrap_or_default();
                format!("requeue {name}{abort};")
            }
        }
    }

    pub(super) fn count(&self, entry: &EntryPlan) -> Vec<String> {
        let name = self.count_function(entry, false);
        let what = if entry.index.is_some() {
            format!("{} ({})", entry.name, self.words.member)
        } else {
            entry.name.clone()
        };
        let head = format!(
            "function {} return Natural is",
            self.count_function(entry, true)
        );
        self.unit(vec![head], &[], &[format!("return {what}'Count;")], &name)
    }

    /// Returns the private entry at which the task waits for a call.
    pub(super) fn waiting(&self) -> Vec<String> {
        let w = &self.words;
        let head = profile(
            &format!("entry {}", w.waiting),
            &self.accept_formals(),
            &format!(" when {} /= {} is", w.called, w.no_call),
        );
        let mut statements = vec![format!("{} := {};", w.chosen, w.called)];
        if self.has_data() {
            statements.push(format!("{} := {};", w.data, w.kept));
        }
        statements.push(format!("{} := {};", w.called, w.no_call));
        self.unit(head, &unreferenced(&[&w.open]), &statements, &w.waiting)
    }
}

/// Returns pragmas for parameters that an entry has only because its profile requires them.
pub(super) fn unreferenced(names: &[&str]) -> Vec<String> {
    if names.is_empty() {
        vec![]
    } else {
        vec![format!("pragma Unreferenced ({});", names.join(", "))]
    }
}
