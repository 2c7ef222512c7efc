//! The task itself: its declaration without entries, and its body around the rewritten accepts.

use super::gate::nest;
use super::plan::Plan;
use crate::edit::Edit;
use crate::names::{At, Names};
use crate::syntax::NodeId;
use crate::translate::layout;

impl Plan<'_> {
    /// Returns the replacement of the task's declaration.
    pub(super) fn declaration_edit(&self) -> Edit {
        let at = self.declaration();
        let source = &self.cx.program.sources[at.file];
        let name = &self.cx.task.name;
        let (what, server) = (
            if self.cx.task.is_type {
                "task type"
            } else {
                "task"
            },
            &self.server,
        );
        let called = if self.cx.task.is_type {
            format!("the {} of a {name}", self.words.gate_part)
        } else {
            format!("the protected object {name}")
        };
        let called = if self.is_polling() {
            "the rendezvous of its entries".to_string()
        } else {
            called
        };
        let mut lines = vec![
            format!("--  Was {what} {name}. Its clients call {called}, and"),
            format!("--  {server} accepts their calls (antiphon translate)"),
        ];
        if self.cx.task.is_type {
            lines.extend(self.incomplete_type());
        }
        lines.extend(self.types());
        lines.push(String::new());
        for rendezvous in self.rendezvous_types() {
            lines.extend(rendezvous);
            lines.push(String::new());
        }
        let objects = self.rendezvous_objects();
        if !self.cx.task.is_type && !objects.is_empty() {
            lines.extend(objects);
            lines.push(String::new());
        }
        let specification = self.specification();
        if !specification.is_empty() {
            lines.extend(specification);
            lines.push(String::new());
        }
        lines.extend(self.server_declaration());
        if self.cx.task.is_type {
            lines.push(String::new());
            lines.extend(self.record());
        }
        let text = layout::indented(&lines, source.indent(source.tree.start(at.node)));
        Edit {
            file: at.file,
            range: source.tree.range(at.node),
            text: text.trim().to_string(),
        }
    }

    /// `type T;`, so that its task can name it, unless a private or incomplete declaration exists.
    fn incomplete_type(&self) -> Vec<String> {
        let names = self.cx.names;
        let scope = names.scope(names.entity(self.cx.task.id).scope);
        let is_declared = scope.entities.iter().any(|&e| {
            e != self.cx.task.id
                && Names::key(&names.entity(e).name) == Names::key(&self.cx.task.name)
        });
        if is_declared {
            return vec![];
        }
        vec![format!(
            "type {}{};",
            self.cx.task.name,
            self.discriminants(false)
        )]
    }

    /// Returns the known discriminants of a task type, with parentheses. For its task they follow
    /// the access to its record.
    fn discriminants(&self, is_server: bool) -> String {
        let at = self.declaration();
        let source = &self.cx.program.sources[at.file];
        let own = source
            .tree
            .child(at.node, "known_discriminant_part")
            .map(|n| super::gate::one_line(source.text(n)));
        let access = format!("{} : access {}", self.words.owner, self.cx.task.name);
        match (own, is_server) {
            (None, false) => String::new(),
            (None, true) => format!(" ({access})"),
            (Some(own), false) => format!(" {own}"),
            (Some(_), true) => format!(" ({access}; {})", self.plain_discriminants()),
        }
    }

    /// Returns the task without entries, with its pragmas and aspects.
    fn server_declaration(&self) -> Vec<String> {
        let at = self.declaration();
        let source = &self.cx.program.sources[at.file];
        let tree = &source.tree;
        let kept: Vec<String> = tree
            .child(at.node, "task_definition")
            .into_iter()
            .flat_map(|d| tree.children(d))
            .filter(|&n| tree.kind(n) == "pragma_g")
            .map(|n| super::gate::one_line(source.text(n)))
            .collect();
        let head = if self.cx.task.is_type {
            format!("task type {}{}", self.server, self.discriminants(true))
        } else {
            format!("task {}", self.server)
        };
        let aspects = tree
            .child(at.node, "aspect_specification")
            .map_or(String::new(), |n| {
                format!(" {}", super::gate::one_line(source.text(n)))
            });
        if kept.is_empty() {
            return vec![format!("{head}{aspects};")];
        }
        let mut lines = vec![format!("{head}{aspects} is")];
        lines.extend(nest(&kept, &self.step));
        lines.push(format!("end {};", self.server));
        lines
    }

    /// Returns the record that replaces a task type: the object that clients call, and the task.
    fn record(&self) -> Vec<String> {
        let (w, step) = (&self.words, &self.step);
        let name = &self.cx.task.name;
        let mut actuals = vec![format!("{name}'Access")];
        actuals.extend(self.discriminant_names());
        let mut components = Vec::new();
        if self.is_apart() {
            for entry in &self.entries {
                let own = if entry.requeues.is_empty() {
                    String::new()
                } else {
                    format!(" ({name}'Access)")
                };
                components.push(format!(
                    "{} : {}{own};",
                    entry.rendezvous, entry.rendezvous_type
                ));
            }
            components.push(format!("{} : {} ({name}'Access);", w.gate_part, self.gate));
        } else {
            components.push(format!("{} : {};", w.gate_part, self.gate));
        }
        components.push(format!(
            "{} : {} ({});",
            w.server_part,
            self.server,
            actuals.join(", ")
        ));
        let mut lines = vec![format!(
            "type {name}{} is limited record",
            self.discriminants(false)
        )];
        lines.extend(nest(&components, step));
        lines.push("end record;".into());
        lines
    }

    /// Returns the discriminants without default values: all must have defaults or none (RM 3.7
    /// (9)), and the access to the record has none.
    fn plain_discriminants(&self) -> String {
        let at = self.declaration();
        let source = &self.cx.program.sources[at.file];
        let tree = &source.tree;
        let specifications = tree
            .walk(at.node)
            .filter(|&n| tree.kind(n) == "discriminant_specification")
            .map(|n| {
                let end = tree.child(n, ":=").map_or(tree.end(n), |a| tree.start(a));
                source.text[tree.start(n)..end].trim().to_string()
            });
        specifications.collect::<Vec<_>>().join("; ")
    }

    fn discriminant_names(&self) -> Vec<String> {
        let at = self.declaration();
        let source = &self.cx.program.sources[at.file];
        let tree = &source.tree;
        tree.walk(at.node)
            .filter(|&n| tree.kind(n) == "discriminant_specification")
            .flat_map(|d| {
                tree.children(d)
                    .take_while(|&n| tree.kind(n) != ":")
                    .filter(|&n| tree.kind(n) == "identifier")
                    .map(|n| source.text(n).to_string())
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Returns the declarations above the task's body, and the changes in it except those of its
    /// accepts.
    pub(super) fn body_edits(&self) -> Vec<Edit> {
        let (cx, tree) = (&self.cx, self.cx.tree());
        let body = cx.task.body;
        let mut edits = vec![self.bodies_edit()];
        let idents = tree
            .children(body.node)
            .filter(|&n| tree.kind(n) == "identifier");
        edits.extend(idents.map(|n| self.edit(tree.range(n), &self.server)));
        edits.extend(self.variables_edit());
        edits.extend(self.closing_edits());
        edits
    }

    fn edit(&self, range: std::ops::Range<usize>, text: &str) -> Edit {
        Edit {
            file: self.cx.task.body.file,
            range,
            text: text.into(),
        }
    }

    fn bodies_edit(&self) -> Edit {
        let source = self.cx.source();
        let start = source.tree.start(self.cx.task.body.node);
        let mut lines = Vec::new();
        for rendezvous in self.rendezvous_bodies() {
            lines.extend(rendezvous);
            lines.push(String::new());
        }
        let body = self.body();
        if !body.is_empty() {
            lines.extend(body);
            lines.push(String::new());
        }
        lines.extend(self.watch());
        let indent = source.indent(start).to_string();
        let comments = layout::comments_above(source, start).len();
        let mut line = source.line_start(start);
        if !source.text[line..start].trim().is_empty() {
            return self.edit(start..start, &(lines.join("\n") + "\n"));
        }
        for _ in 0..comments {
            line = source.line_start(line - 1);
        }
        self.edit(line..line, &layout::indented(&lines, &indent))
    }

    /// Returns the declaration of variables that are passed in calls of the object.
    fn variables_edit(&self) -> Option<Edit> {
        let (w, source) = (&self.words, self.cx.source());
        let tree = &source.tree;
        let begin = tree.child(self.cx.task.body.node, "begin").or_else(|| {
            let handled = tree.child(self.cx.task.body.node, "handled_sequence_of_statements")?;
            tree.previous(handled)
        })?;
        let initial = if self.has_ends() {
            format!(" := {}", w.no_call)
        } else {
            String::new()
        };
        let mut lines = Vec::new();
        if self.chooses() {
            lines.push(format!("{} : {}{initial};", w.chosen, self.call_type));
        }
        if self.has_data() {
            lines.push(format!("{} : {};", w.data, self.data_type));
        }
        lines.extend(self.independence());
        if self.is_polling() {
            lines.extend(self.poll_procedure());
        }
        let start = tree.start(begin);
        let outer = source
            .indent(tree.start(self.cx.task.body.node))
            .to_string();
        let line = source.line_start(start);
        let text = layout::indented(&lines, &format!("{outer}{}", self.step));
        Some(if source.text[line..start].trim().is_empty() {
            self.edit(line..line, &text)
        } else {
            self.edit(start..start, &format!("\n{text}{outer}"))
        })
    }

    /// Returns edits that close the object when the task completes. Then its callers get
    /// Tasking_Error, as from a completed task (RM 9.5.3 (21)).
    fn closing_edits(&self) -> Vec<Edit> {
        let (w, source) = (&self.words, self.cx.source());
        let tree = &source.tree;
        let body = self.cx.task.body.node;
        let Some(handled) = tree.child(body, "handled_sequence_of_statements") else {
            return vec![];
        };
        let actuals = match (self.has_ends(), self.has_data()) {
            (true, true) => format!(" ({}, {})", w.chosen, w.data),
            (true, false) => format!(" ({})", w.chosen),
            (false, _) => String::new(),
        };
        let close = if self.is_polling() {
            self.close_objects()
        } else {
            vec![format!("{}.{}{actuals};", self.gate_in_server(), w.close)]
        };
        let mut edits = Vec::new();
        let sequence = tree.child(handled, "sequence_of_statements");
        if self.cx.flow.can_end() {
            edits.extend(sequence.and_then(|s| self.append(s, &close)));
        }
        let handlers: Vec<NodeId> = tree.all(handled, "exception_handler").collect();
        let mut has_others = false;
        for &handler in &handlers {
            has_others |= tree
                .child(handler, "exception_choice_list")
                .is_some_and(|n| source.text(n).trim().eq_ignore_ascii_case("others"));
            let inner = tree.child(handler, "sequence_of_statements");
            let raises = tree
                .walk(handler)
                .filter(|&n| tree.kind(n) == "raise_statement");
            for raise in raises {
                let start = tree.start(raise);
                let indent = source.indent(start);
                let line = |c: &String| format!("{c}\n{indent}");
                let text: String = close.iter().map(line).collect();
                edits.push(self.edit(start..start, &text));
            }
            let last = inner.and_then(|s| tree.children(s).last());
            if last.is_some_and(|n| tree.kind(n) != "raise_statement") {
                edits.extend(inner.and_then(|s| self.append(s, &close)));
            }
        }
        if !has_others {
            let outer = source.indent(tree.start(body)).to_string();
            let step = &self.step;
            let mut text = String::new();
            if handlers.is_empty() {
                text += &format!("{outer}exception\n");
            }
            text += &format!("{outer}{step}when others =>\n");
            for line in close.iter().map(String::as_str).chain(["raise;"]) {
                text += &format!("{outer}{step}{step}{line}\n");
            }
            if let Some(end) = tree.all(body, "end").last() {
                let start = tree.start(end);
                let line = source.line_start(start);
                edits.push(if source.text[line..start].trim().is_empty() {
                    self.edit(line..line, &text)
                } else {
                    self.edit(start..start, &format!("\n{text}{outer}"))
                });
            }
        }
        edits
    }

    /// Appends statements to a sequence.
    fn append(&self, sequence: NodeId, statements: &[String]) -> Option<Edit> {
        let source = self.cx.source();
        let last = source.tree.children(sequence).last()?;
        let end = source.tree.end(last);
        let indent = source.indent(source.tree.start(last));
        let line = |s: &String| format!("\n{indent}{s}");
        let text: String = statements.iter().map(line).collect();
        let rest = &source.text[end..source.line_end(end)];
        if rest.trim().starts_with("--") {
            let end = end + rest.trim_end_matches('\n').len();
            return Some(self.edit(end..end, &text));
        }
        Some(self.edit(end..end, &text))
    }

    /// Whether a place is in the task's own body or declaration, for code that looks for uses
    /// elsewhere.
    pub(super) fn is_own(&self, at: At) -> bool {
        let within = |outer: At| {
            at.file == outer.file
                && self.cx.program.sources[at.file]
                    .tree
                    .is_within(at.node, outer.node)
        };
        within(self.cx.task.body) || within(self.cx.task.declaration)
    }
}
