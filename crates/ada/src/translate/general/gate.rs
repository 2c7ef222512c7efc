//! The declaration of the object that clients call in the task's place: its types, its entries, and
//! the operations for its own task.

use super::entry::EntryPlan;
use super::layout_of::{call_list, profile};
use super::plan::{Form, Plan};
use crate::translate::layout;

/// Formal parameters: name, mode, subtype mark.
pub(super) type Formals = Vec<(String, &'static str, String)>;

impl Plan<'_> {
    /// Returns the types that the object and its task share.
    pub(super) fn types(&self) -> Vec<String> {
        if !self.chooses() {
            return self.way_declaration();
        }
        let w = &self.words;
        let literals: Vec<&str> = std::iter::once(w.no_call.as_str())
            .chain(self.entries.iter().map(|e| e.literal.as_str()))
            .collect();
        let mut lines = call_list(&format!("type {} is ", self.call_type), &literals, ";");
        lines.push(format!(
            "type {} is array ({}) of Boolean;",
            self.open_type, self.call_type
        ));
        lines.extend(self.entries.iter().filter_map(EntryPlan::index_declaration));
        lines.extend(self.way_declaration());
        if self.has_data() {
            lines.push(format!("type {} is record", self.data_type));
            for entry in &self.entries {
                for parameter in self.fields(entry) {
                    lines.push(format!(
                        "{}{} : {};",
                        self.step,
                        entry.field(parameter),
                        parameter.subtype
                    ));
                }
            }
            lines.push("end record;".into());
        }
        lines
    }

    /// Returns the type for the targets of requeued callers.
    fn way_declaration(&self) -> Vec<String> {
        if self.ways.is_empty() {
            return vec![];
        }
        let mut ways: Vec<&str> = self.ways.values().map(String::as_str).collect();
        ways.sort_unstable();
        ways.dedup();
        ways.insert(0, &self.words.back);
        call_list(&format!("type {} is ", self.way_type), &ways, ";")
    }

    /// Returns the formal parameters of an accept: the open entries, the choice, the data.
    pub(super) fn accept_formals(&self) -> Formals {
        let w = &self.words;
        let choice = if self.has_ends() { "in out" } else { "out" };
        let mut found = vec![
            (w.open.clone(), "in", self.open_type.clone()),
            (w.chosen.clone(), choice, self.call_type.clone()),
        ];
        if self.has_data() {
            found.push((w.data.clone(), "in out", self.data_type.clone()));
        }
        found
    }

    fn end_formals(&self) -> Formals {
        let w = &self.words;
        let mut found = vec![(w.chosen.clone(), "in out", self.call_type.clone())];
        if self.has_data() {
            found.push((w.data.clone(), "in", self.data_type.clone()));
        }
        found
    }

    fn failed_formals(&self) -> Formals {
        let w = &self.words;
        let occurrence = "Ada.Exceptions.Exception_Occurrence".to_string();
        vec![
            (w.chosen.clone(), "in out", self.call_type.clone()),
            (w.occurrence.clone(), "in", occurrence),
        ]
    }

    fn requeue_formals(&self) -> Formals {
        let mut found = self.end_formals();
        found.insert(
            1,
            (self.words.way.clone() + "_On", "in", self.way_type.clone()),
        );
        found
    }

    /// Returns the formal parameters of the closing operation, which may also end the last
    /// rendezvous of a task that completes.
    fn close_formals(&self) -> Formals {
        if self.has_ends() {
            self.end_formals()
        } else {
            vec![]
        }
    }

    /// Returns the operations for the task itself: their keyword and name, and their formal
    /// parameters.
    pub(super) fn operations(&self) -> Vec<(String, Formals)> {
        let w = &self.words;
        let mut found = Vec::new();
        for entry in self.entries.iter().filter(|e| e.index.is_some()) {
            let mark = entry.index_name();
            let formals = vec![(w.member.clone(), "in", mark)];
            found.push((format!("procedure Set_{}", entry.member()), formals.clone()));
            if entry.is_way {
                found.push((format!("procedure Set_{}", entry.way()), formals));
            }
        }
        found.push((format!("entry {}", w.accept_next), self.accept_formals()));
        found.push((format!("entry {}", w.accept_now), self.accept_formals()));
        found.push((format!("procedure {}", w.accept_end), self.end_formals()));
        found.push((
            format!("procedure {}", w.accept_failed),
            self.failed_formals(),
        ));
        found.push((
            format!("procedure {}", w.accept_requeue),
            self.requeue_formals(),
        ));
        let gate = self.gate_in_server();
        found.retain(|(head, _)| {
            let name = head.split(' ').next_back().unwrap_or_default();
            self.is_called(&gate, name)
        });
        if self.has_terminate {
            found.push((format!("entry {}", w.at_rest), vec![]));
        }
        found.push((format!("procedure {}", w.close), self.close_formals()));
        found
    }

    /// Returns the declaration of the protected object or type.
    pub(super) fn specification(&self) -> Vec<String> {
        if self.is_polling() {
            return self.rest_specification();
        }
        let step = &self.step;
        let keyword = if self.cx.task.is_type {
            "protected type"
        } else {
            "protected"
        };
        let mut lines = vec![format!(
            "{keyword} {}{} is",
            self.gate,
            self.gate_discriminant()
        )];
        let mut inner: Vec<String> = Vec::new();
        for entry in &self.entries {
            inner.extend(self.entry_declaration(entry));
        }
        for entry in self.entries.iter().filter(|e| e.is_counted) {
            inner.push(format!(
                "function {} return Natural;",
                self.count_function(entry, true)
            ));
        }
        for entry in self.ways_read() {
            let mark = entry.index_name();
            inner.push(format!("function {}_On return {mark};", entry.way()));
        }
        inner.push(String::new());
        inner.push(format!("--  For {} alone:", self.server));
        for (head, formals) in self.operations() {
            inner.extend(profile(&head, &formals, ";"));
        }
        inner.extend(self.ceiling_pragma());
        lines.extend(nest(&inner, step));
        lines.push("private".into());
        lines.extend(nest(&self.private_part(), step));
        lines.push(format!("end {};", self.gate));
        lines
    }

    /// Returns the families to whose members rendezvous in separate objects are requeued.
    pub(super) fn ways_read(&self) -> impl Iterator<Item = &EntryPlan> {
        let is_apart = self.is_apart();
        self.entries.iter().filter(move |e| is_apart && e.is_way)
    }

    /// Returns the entry as the task declared it.
    fn entry_declaration(&self, entry: &EntryPlan) -> Vec<String> {
        let at = self.cx.names.entity(entry.id).at;
        let source = &self.cx.program.sources[at.file];
        layout::dedent(
            source.text(at.node),
            source.indent(source.tree.start(at.node)),
        )
    }

    /// `E_Count`, with the index of a family.
    pub(super) fn count_function(&self, entry: &EntryPlan, is_declaration: bool) -> String {
        match &entry.index_mark {
            Some(mark) if is_declaration => {
                format!("{}_Count ({} : {mark})", entry.name, self.words.member)
            }
            _ => format!("{}_Count", entry.name),
        }
    }

    fn private_part(&self) -> Vec<String> {
        let w = &self.words;
        let mut lines = Vec::new();
        if self.form == Form::Merged {
            for entry in self.entries.iter().filter(|e| e.has_body) {
                let formals = entry.formals.iter().filter(|_| entry.end_has_formals());
                let formals: String = formals.map(|f| format!(" {}", one_line(f))).collect();
                lines.push(format!("entry {}{formals};", entry.end()));
            }
        }
        lines.extend(profile(
            &format!("entry {}", w.waiting),
            &self.accept_formals(),
            ";",
        ));
        let mut components = vec![
            (
                w.is_open.clone(),
                format!("{} := (others => False)", self.open_type),
            ),
            (
                w.called.clone(),
                format!("{} := {}", self.call_type, w.no_call),
            ),
        ];
        if self.has_ends() {
            components.push((
                w.ended.clone(),
                format!("{} := {}", self.call_type, w.no_call),
            ));
        }
        for entry in self.entries.iter().filter(|e| e.index.is_some()) {
            let mark = entry.index_name();
            if entry.is_way {
                components.push((entry.way(), mark.clone()));
            }
            components.push((entry.member(), mark));
        }
        if self.has_data() {
            components.push((w.kept.clone(), self.data_type.clone()));
        }
        if self.has_ends() && !self.ways.is_empty() {
            components.push((w.way.clone(), format!("{} := {}", self.way_type, w.back)));
        }
        if self.has_ends() && self.fails {
            components.push((w.has_failed.clone(), "Boolean := False".into()));
            components.push((
                w.failure.clone(),
                "Ada.Exceptions.Exception_Occurrence".into(),
            ));
        }
        components.push((w.closed.clone(), "Boolean := False".into()));
        let width = components
            .iter()
            .map(|c| c.0.chars().count())
            .max()
            .unwrap_or(0);
        lines.extend(
            components
                .iter()
                .map(|(name, ty)| format!("{name:width$} : {ty};")),
        );
        lines
    }

    /// Returns the discriminant by which a gate finds the rendezvous of its own task.
    pub(super) fn gate_discriminant(&self) -> String {
        if self.cx.task.is_type && self.is_apart() {
            format!(" ({} : access {})", self.words.owner, self.cx.task.name)
        } else {
            String::new()
        }
    }
}

/// Returns a formal part on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns lines one step further in.
pub(super) fn nest(lines: &[String], step: &str) -> Vec<String> {
    lines
        .iter()
        .map(|l| {
            if l.is_empty() {
                String::new()
            } else {
                format!("{step}{l}")
            }
        })
        .collect()
}
