//! The body of the object that clients call in the task's place.

use super::gate::nest;
use super::layout_of::profile;
use super::plan::{Form, Plan};

impl Plan<'_> {
    /// Returns the body of the protected object or type.
    pub(super) fn body(&self) -> Vec<String> {
        if self.is_polling() {
            return self.rest_body();
        }
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
        for entry in self.ways_read() {
            let name = format!("{}_On", entry.way());
            let mark = entry.index_name();
            let statements = [format!("return {};", entry.way())];
            let head = format!("function {name} return {mark} is");
            units.push(self.unit(vec![head], &[], &statements, &name));
        }
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

    pub(super) fn unit(
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

    /// Returns the first statements for each accepted call.
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

    /// Releases the caller of an accept with a body.
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

    /// Returns the first statements at the end of each rendezvous.
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

    /// Returns an operation for the task itself.
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
        let families = self.entries.iter().filter(|e| e.index.is_some());
        let mut settable = families.flat_map(|e| [e.member(), e.way()]);
        if let Some(component) = settable.find(|c| name == format!("Set_{c}")) {
            return vec![format!("{component} := {};", w.member)];
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

    /// Returns the condition that an open entry has a caller.
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
}
