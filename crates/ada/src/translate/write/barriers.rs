//! Barriers in the form that the profiles require: the name of a Boolean component
//! (Simple_Barriers, RM D.7), or only components and literals (Pure_Barriers).
//!
//! A component says whether an entry is open. Each operation that may change that updates the
//! component at its end.

use std::collections::HashMap;

use super::Writer;
use crate::flow::Site;
use crate::names::{Kind, Names};
use crate::profile::Profile;
use crate::syntax::NodeId;
use crate::translate::code::{self, Code, pieces};
use crate::translate::{exceptions, machine, visibility};

/// The component that replaces a barrier.
#[derive(Debug, Clone)]
pub(super) struct Flag {
    name: String,
    /// The barrier itself, one condition per line.
    value: Vec<String>,
    initial: String,
}

/// The components, and the procedure that updates them.
#[derive(Debug, Default)]
pub(super) struct Flags {
    by_entry: HashMap<usize, Flag>,
    update: String,
}

impl Writer<'_> {
    /// Chooses the barriers that become components.
    pub(super) fn choose_flags(&mut self) {
        let cx = self.cx();
        let Some(profile) = cx.options.profile else {
            return;
        };
        let requeues = cx
            .flow
            .sites
            .iter()
            .any(|s| !machine::leaving(cx.source(), s.accept, "requeue_statement").is_empty());
        let is_simple_server = self.server.inverted.is_none()
            && !self.server.starts_on_first_use()
            && self.server.nested.finishing.is_empty();
        // A handler may leave its operation in the middle.
        if requeues || !is_simple_server || exceptions::can_close(cx) {
            return;
        }
        let mut taken = self.server.moved.taken.clone();
        taken.extend(self.machine.procedures.values().map(|n| Names::key(n)));
        for entry in 0..cx.task.entries.len() {
            if cx.task.entries[entry].index.is_some() {
                continue;
            }
            let sites = self.sites(entry);
            let value = self.barrier(&sites, None);
            if !self.needs_flag(profile, &sites, &value) {
                continue;
            }
            let Some(initial) = self.initial_value(&sites, &value) else {
                continue;
            };
            let wanted = format!("{}_Is_Open", cx.task.entries[entry].name);
            let name = cx.free_name(&[wanted], false, &taken);
            taken.insert(Names::key(&name));
            let flag = Flag {
                name,
                value,
                initial,
            };
            self.flags.by_entry.insert(entry, flag);
        }
        let wanted = ["Update_Barriers", "Update_All_Barriers"].map(String::from);
        self.flags.update = cx.free_name(&wanted, false, &taken);
    }

    fn needs_flag(&self, profile: Profile, sites: &[&Site], value: &[String]) -> bool {
        let cx = self.cx();
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_static = matches!(value, [only] if only == "True" || only == "False");
        let is_simple = matches!(value, [only] if is_name(only));
        let is_pure = |guard: NodeId| {
            let tree = cx.tree();
            tree.walk(guard).all(|n| {
                let meaning = cx.names.meaning(cx.program, cx.at(n));
                let is_changing = meaning.is_some_and(|e| {
                    let kind = cx.names.entity(e).kind;
                    kind == Kind::Subprogram || kind == Kind::Variable && !cx.is_local(e)
                });
                tree.kind(n) != "function_call" && !is_changing
            })
        };
        match profile {
            _ if is_static => false,
            Profile::Ravenscar => !is_simple,
            Profile::Jorvik => !sites.iter().filter_map(|s| s.guard).all(is_pure),
        }
    }

    /// Returns a barrier's value before the first call, computed from the initial values of the
    /// components. Returns none if it cannot be computed, or if it changes without a call.
    fn initial_value(&self, sites: &[&Site], value: &[String]) -> Option<String> {
        let cx = self.cx();
        let guards = || sites.iter().filter_map(|s| s.guard);
        let asks_queue = guards().any(|g| {
            let tree = cx.tree();
            tree.walk(g).any(|n| {
                tree.kind(n) == "attribute_designator" && Names::key(cx.text(n)) == "count"
            })
        });
        if asks_queue {
            return None;
        }
        // All entries are closed until Start has run, and that sets the components.
        if self.server.start.is_some() {
            return Some("False".into());
        }
        let calls = guards().any(|g| {
            cx.meanings(cx.at(g))
                .iter()
                .any(|&(_, e)| cx.names.entity(e).kind == Kind::Subprogram)
        });
        if calls || !guards().all(|g| visibility::is_all_shown(cx, g)) {
            return None;
        }
        let known = self.initial_values();
        let mut terms = Vec::new();
        for line in value {
            let mut term = String::new();
            for piece in pieces(line) {
                let key = Names::key(piece.text);
                match known.get(&key).filter(|_| piece.is_simple_name) {
                    Some(Some(initial)) => term.push_str(&code::enclosed(initial)),
                    Some(None) => return None,
                    None if key == Names::key(&cx.task.name) => return None,
                    None => term.push_str(piece.text),
                }
            }
            terms.push(term);
        }
        terms.retain(|t| self.known_value(t) != Some(false));
        if terms.iter().any(|t| self.known_value(t) == Some(true)) {
            return Some("True".into());
        }
        if terms.is_empty() {
            return Some("False".into());
        }
        Some(terms.join(" or else "))
    }

    /// Returns the value of a literal, or of a comparison of two stages.
    fn known_value(&self, term: &str) -> Option<bool> {
        let stages = &self.server.stages;
        let is_stage = |word: &str| {
            let waits = stages.waits.values();
            waits
                .chain(&stages.closed)
                .chain(&stages.starting)
                .any(|known| known == word)
        };
        match term {
            "True" => Some(true),
            "False" => Some(false),
            _ => {
                let (left, right) = term.split_once(" = ")?;
                (is_stage(left) && is_stage(right)).then_some(left == right)
            }
        }
    }

    /// Returns the components by their lower-case names, with their initial values.
    fn initial_values(&self) -> HashMap<String, Option<String>> {
        let mut known = HashMap::new();
        let stages = &self.server.stages;
        if !stages.component.is_empty() {
            let initial = Some(self.server.initial_stage());
            known.insert(Names::key(&stages.component), initial);
        }
        for lines in &self.server.moved.components {
            let without = |l: &String| l.split("--").next().unwrap_or("").trim().to_string();
            let text = lines.iter().map(without).collect::<Vec<_>>().join(" ");
            let Some((names, rest)) = text.split_once(':') else {
                continue;
            };
            let initial = rest.split_once(":=").map(|(_, v)| v.trim());
            let initial = initial.map(|v| v.trim_end_matches(';').trim().to_string());
            for name in names.split(',') {
                known.insert(Names::key(name.trim()), initial.clone());
            }
        }
        known
    }

    /// Returns the barrier of an entry for the body.
    pub(super) fn flagged(&self, entry: usize, barrier: Vec<String>) -> Vec<String> {
        match self.flags.by_entry.get(&entry) {
            Some(flag) => vec![flag.name.clone()],
            None => barrier,
        }
    }

    /// Whether operations update components.
    pub(super) fn has_flags(&self) -> bool {
        !self.flags.by_entry.is_empty()
    }

    /// Returns the declarations of the components and of the procedure.
    pub(super) fn flag_declarations(&self) -> (Vec<String>, Vec<String>) {
        if !self.has_flags() {
            return (vec![], vec![]);
        }
        let operations = vec![format!("procedure {};", self.flags.update)];
        let flags = self.flags_in_order();
        let components = flags
            .iter()
            .map(|f| format!("{} : Boolean := {};", f.name, f.initial));
        (operations, components.collect())
    }

    /// Returns the procedure that updates the components.
    pub(super) fn update_body(&self) -> Option<Vec<String>> {
        if !self.has_flags() {
            return None;
        }
        let flags = self.flags_in_order().into_iter();
        let lines = flags.flat_map(|flag| {
            let line = format!("{} := {};", flag.name, flag.value.join(" or else "));
            if line.len() + 2 * self.step.len() <= super::WIDTH {
                return vec![line];
            }
            let mut lines = vec![format!("{} :=", flag.name)];
            for (number, term) in flag.value.iter().enumerate() {
                let word = if number == 0 { "" } else { "or else " };
                lines.push(format!("  {word}{term}"));
            }
            if let Some(last) = lines.last_mut() {
                last.push(';');
            }
            lines
        });
        let name = &self.flags.update;
        let header = format!("procedure {name} is");
        Some(self.subprogram(&header, name, &[], &[Code::Lines(lines.collect())]))
    }

    fn flags_in_order(&self) -> Vec<&Flag> {
        let mut entries: Vec<_> = self.flags.by_entry.iter().collect();
        entries.sort_by_key(|(entry, _)| **entry);
        entries.into_iter().map(|(_, flag)| flag).collect()
    }

    /// Returns an operation that updates the components wherever it ends, including by an
    /// exception.
    pub(super) fn kept_up(
        &self,
        header: &str,
        name: &str,
        declarations: &[String],
        body: &[Code],
    ) -> Vec<String> {
        if !self.has_flags() || code::is_empty(body) {
            return self.subprogram(header, name, declarations, body);
        }
        let may_raise = code::may_raise(body);
        let update = Code::line(format!("{};", self.flags.update));
        let mut body = body.to_vec();
        code::before_returns(&mut body, &update);
        if !code::always_returns(&body) {
            body.push(update);
        }
        let mut lines = self.subprogram(header, name, declarations, &body);
        if may_raise {
            let end = lines.pop();
            let step = &self.step;
            lines.push("exception".into());
            lines.push(format!("{step}when others =>"));
            lines.push(format!("{step}{step}{};", self.flags.update));
            lines.push(format!("{step}{step}raise;"));
            lines.extend(end);
        }
        lines
    }
}
