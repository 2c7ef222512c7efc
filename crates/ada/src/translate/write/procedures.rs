//! Entries that are always open become procedures. Calls of a procedure are cheaper, another
//! protected action may contain them (RM 9.5.1 (8)), and Ravenscar allows only one entry per
//! object.

use super::Writer;
use crate::names::At;
use crate::translate::callers;
use crate::translate::code::{Code, contains_requeue};

impl Writer<'_> {
    /// Whether an entry with this barrier and body can be a procedure.
    pub(super) fn may_be_procedure(&self, entry: usize, barrier: &[String], body: &[Code]) -> bool {
        let cx = self.cx();
        let declared = &cx.task.entries[entry];
        let asks_queue = cx
            .flow
            .waits
            .iter()
            .filter(|w| w.otherwise.is_some() && !w.is_polling)
            .flat_map(|w| &w.sites)
            .any(|&s| cx.flow.sites[s].entry == entry);
        // Only entries have families (RM 9.5.2 (2)), and only their bodies requeue (RM 9.5.4 (4)).
        barrier == ["True"]
            && declared.index.is_none()
            && !contains_requeue(body)
            && !asks_queue
            && callers::allow_procedure(cx, declared.id)
    }

    /// Returns the head of the procedure that an entry becomes.
    pub(super) fn procedure_head(&self, entry: usize) -> String {
        let name = &self.cx().task.entries[entry].name;
        let head = self.with_profile(&format!("procedure {name}"), entry);
        let join = if head.contains('\n') { "\n" } else { " " };
        format!("{head}{join}is")
    }

    /// Returns the declaration of the procedure that an entry becomes.
    pub(super) fn procedure_text(&self, item: At) -> Option<String> {
        let cx = self.cx();
        let entry = self
            .procedures
            .iter()
            .map(|&e| &cx.task.entries[e])
            .find(|e| cx.names.entity(e.id).at == item)?;
        let source = &cx.program.sources[item.file];
        let tree = &source.tree;
        let word = tree.child(item.node, "entry")?;
        let (start, end) = (tree.start(item.node), tree.end(word));
        let before = &source.text[start..tree.start(word)];
        let mut lines = source.text[end..tree.end(item.node)].split('\n');
        let mut out = format!("{before}procedure{}", lines.next().unwrap_or(""));
        // Lines under a parenthesis after the name keep their position relative to it.
        let line = source.line_start(tree.start(word));
        let follows_name = entry
            .formals
            .is_some_and(|f| source.line_start(tree.start(f)) == line);
        let formals_end = entry.formals.map_or(end, |f| tree.end(f));
        let shift = " ".repeat("procedure".len() - "entry".len());
        let mut at = source.line_end(end);
        for line in lines {
            let is_moved = follows_name && at < formals_end;
            let shift = if is_moved { shift.as_str() } else { "" };
            out.push_str(&format!("\n{shift}{line}"));
            at = source.line_end(at);
        }
        Some(out)
    }
}
