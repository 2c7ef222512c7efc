//! The body of the object that is called in a task's stead.

use super::gate::{nest, one_line};
use super::layout_of::profile;
use super::plan::{EntryPlan, Form, Plan};
use crate::syntax::NodeId;

impl Plan<'_> {
    /// The body of the protected object or type.
    pub(super) fn body(&self) -> Vec<String> {
        let mut units: Vec<Vec<String>> = vec![self.takes(), self.take()];
        if self.has_ends() {
            units.extend([self.release(), self.finish()]);
        }
        units.extend(self.entries.iter().map(|e| self.call(e)));
        if self.form == Form::Merged {
            units.extend(
                self.entries
                    .iter()
                    .filter(|e| e.has_body)
                    .map(|e| self.end(e)),
            );
        }
        units.extend(
            self.entries
                .iter()
                .filter(|e| e.is_counted)
                .map(|e| self.count(e)),
        );
        for (head, formals) in self.operations() {
            let word = head
                .split_whitespace()
                .last()
                .unwrap_or_default()
                .to_string();
            units.push(self.operation(&head, &word, &formals));
        }
        units.push(self.waiting());
        let mut lines = vec![format!("protected body {} is", self.gate), String::new()];
        for unit in units {
            lines.extend(nest(&unit, &self.step));
            lines.push(String::new());
        }
        lines.push(format!("end {};", self.gate));
        lines
    }

    fn unit(
        &self,
        head: Vec<String>,
        declarations: &[String],
        statements: &[String],
        name: &str,
    ) -> Vec<String> {
        let mut lines = head;
        lines.extend(nest(declarations, &self.step));
        lines.push("begin".into());
        lines.extend(nest(statements, &self.step));
        lines.push(format!("end {name};"));
        lines
    }

    /// Whether the task waits for a call of an entry.
    fn takes(&self) -> Vec<String> {
        let w = &self.words;
        let (formal, step) = (&w.call, &self.step);
        let ended = if self.has_ends() {
            format!("{step}and then {} = {}", w.ended, w.no_call)
        } else {
            String::new()
        };
        let mut statements = vec![
            format!("return {} ({formal})", w.is_open),
            format!("{step}and then {}'Count > 0", w.waiting),
            ended,
        ];
        statements.retain(|l| !l.is_empty());
        if let Some(last) = statements.last_mut() {
            last.push(';');
        }
        let head = format!(
            "function {} ({formal} : {}) return Boolean is",
            w.takes, self.call_type
        );
        self.unit(vec![head], &[], &statements, &w.takes)
    }

    /// What each accepted call begins with.
    fn take(&self) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        let formal = &w.call;
        let statements = [
            format!("if {} then", w.closed),
            format!("{step}raise Tasking_Error;"),
            "end if;".into(),
            format!("{} := (others => False);", w.is_open),
            format!("{} := {formal};", w.called),
        ];
        let head = format!("procedure {} ({formal} : in {}) is", w.take, self.call_type);
        self.unit(vec![head], &[], &statements, &w.take)
    }

    /// Lets the caller of an accept with a body go.
    fn release(&self) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        let formal = &w.call;
        let without: Vec<&str> = self
            .entries
            .iter()
            .filter(|e| !e.has_body)
            .map(|e| e.literal.as_str())
            .collect();
        let set = format!("{} := {formal};", w.ended);
        let statements = if without.is_empty() {
            vec![set]
        } else {
            vec![
                format!("case {formal} is"),
                format!("{step}when {} =>", without.join(" | ")),
                format!("{step}{step}null;  --  no accept body, so the caller has gone"),
                format!("{step}when others =>"),
                format!("{step}{step}{set}"),
                "end case;".into(),
            ]
        };
        let head = format!(
            "procedure {} ({formal} : in {}) is",
            w.release, self.call_type
        );
        self.unit(vec![head], &[], &statements, &w.release)
    }

    /// What the end of each rendezvous begins with.
    fn finish(&self) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        let mut statements = vec![format!("{} := {};", w.ended, w.no_call)];
        if !self.ways.is_empty() {
            statements.push(format!("{} := {};", w.way, w.back));
        }
        if self.fails {
            statements.extend([
                format!("if {} then", w.has_failed),
                format!("{step}{} := False;", w.has_failed),
                format!("{step}Ada.Exceptions.Reraise_Occurrence ({});", w.failure),
                "end if;".into(),
            ]);
        }
        self.unit(
            vec![format!("procedure {} is", w.finish)],
            &[],
            &statements,
            &w.finish,
        )
    }

    /// The entry that clients call.
    fn call(&self, entry: &EntryPlan) -> Vec<String> {
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

    /// The private entry at which a caller waits for the end of the accept.
    fn end(&self, entry: &EntryPlan) -> Vec<String> {
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

    /// The requeue statements of an entry's accepts, chosen by `way`.
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

    /// A requeue statement as it stands in the object: an entry of the same task is one of the same object.
    fn requeue_text(&self, node: NodeId) -> String {
        let text = one_line(self.cx.text(node));
        let abort = if text.to_ascii_lowercase().ends_with("with abort;") {
            " with abort"
        } else {
            ""
        };
        match super::accepts::own_target(&self.cx, node) {
            Some(entry) => {
                let name = &self.entries[entry].name;
                match self.form {
                    Form::Merged => format!("requeue {name}{abort};"),
                    Form::Apart if self.cx.task.is_type => {
                        format!("requeue {}.{name}{abort};", self.gate_in_server())
                    }
                    Form::Apart => format!("requeue {}.{name}{abort};", self.gate),
                }
            }
            None => {
                let name = self.targets.get(&node).cloned().unwrap_or_default();
                format!("requeue {name}{abort};")
            }
        }
    }

    fn count(&self, entry: &EntryPlan) -> Vec<String> {
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

    /// An operation for the task itself.
    fn operation(
        &self,
        head: &str,
        name: &str,
        formals: &[(String, &'static str, String)],
    ) -> Vec<String> {
        let w = &self.words;
        if name == w.at_rest {
            let statements = ["null;".to_string()];
            let head = vec![
                format!("entry {name}"),
                format!(
                    "{}when {} or else ({} ({}) and then {}'Count > 0)",
                    self.step, w.closed, w.is_open, w.no_call, w.waiting
                ),
                "is".into(),
            ];
            return self.unit(head, &[], &statements, name);
        }
        let is_entry = head.starts_with("entry");
        let end = if is_entry { " when True is" } else { " is" };
        let statements = self.operation_statements(name);
        self.unit(profile(head, formals, end), &[], &statements, name)
    }

    fn operation_statements(&self, name: &str) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        if let Some(entry) = self
            .entries
            .iter()
            .find(|e| name == format!("Set_{}", e.member()))
        {
            return vec![format!("{} := {};", entry.member(), w.member)];
        }
        let keep = if self.has_data() {
            format!("{} := {};", w.kept, w.data)
        } else {
            String::new()
        };
        let release = if self.has_ends() {
            format!("{} ({});", w.release, w.chosen)
        } else {
            String::new()
        };
        let over = format!("{} := {};", w.chosen, w.no_call);
        let mut lines = Vec::new();
        if name == w.accept_next {
            if self.checks_open {
                lines.extend([
                    format!("if {} = {}'(others => False) then", w.open, self.open_type),
                    format!("{step}raise Program_Error;  --  all alternatives are closed"),
                    "end if;".into(),
                ]);
            }
            lines.extend([keep, release, format!("{} := {};", w.is_open, w.open)]);
            lines.push(format!("requeue {} with abort;", w.waiting));
        } else if name == w.accept_now {
            lines.extend([keep, release]);
            lines.extend(self.is_someone_there());
            lines.extend([
                format!("{step}{} := {};", w.is_open, w.open),
                format!("{step}requeue {};", w.waiting),
                "end if;".into(),
                over,
            ]);
        } else if name == w.accept_end {
            lines.extend([keep, release, over]);
        } else if name == w.accept_failed {
            lines.extend([
                format!("{} := True;", w.has_failed),
                format!(
                    "Ada.Exceptions.Save_Occurrence ({}, {});",
                    w.failure, w.occurrence
                ),
                release,
                over,
            ]);
        } else if name == w.accept_requeue {
            lines.extend([keep, format!("{} := {}_On;", w.way, w.way), release, over]);
        } else {
            if self.has_ends() {
                lines.extend([keep, release, over]);
            }
            lines.push(format!("{} := True;", w.closed));
        }
        lines.retain(|l| !l.is_empty());
        lines
    }

    /// The condition that an open entry has a caller.
    fn is_someone_there(&self) -> Vec<String> {
        let w = &self.words;
        let mut lines = Vec::new();
        for (position, entry) in self.entries.iter().enumerate() {
            let lead = if position == 0 { "if" } else { "  or else" };
            let member = if entry.index.is_some() {
                format!(" ({})", entry.member())
            } else {
                String::new()
            };
            lines.push(format!(
                "{lead} ({} ({}) and then {}{member}'Count > 0)",
                w.open, entry.literal, entry.name
            ));
        }
        lines.push("then".into());
        lines
    }

    /// The private entry at which the task waits for a call.
    fn waiting(&self) -> Vec<String> {
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

/// Parameters that an entry has only because its profile asks for them.
pub(super) fn unreferenced(names: &[&str]) -> Vec<String> {
    if names.is_empty() {
        vec![]
    } else {
        vec![format!("pragma Unreferenced ({});", names.join(", "))]
    }
}
