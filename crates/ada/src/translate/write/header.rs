//! The layout of the profiles of entries and of their barriers.

use super::{WIDTH, Writer};
use crate::names::{At, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::code::{self, Code};
use crate::translate::context::Context;

impl Writer<'_> {
    pub(super) fn index_name(&self) -> String {
        let cx = self.cx();
        cx.free_name(
            &[
                "Index".to_string(),
                "Which".to_string(),
                "Family_Index".to_string(),
            ],
            false,
            &self.server.moved.taken,
        )
    }

    /// Returns a head followed by the formal part of an entry, as in the accept statements.
    ///
    /// If the parenthesis began a line, it does so again, indented by two columns. Later lines keep
    /// their position relative to it.
    pub(super) fn with_profile(&self, head: &str, entry: usize) -> String {
        let cx = self.cx();
        let declared = &cx.task.entries[entry];
        let at = cx.names.entity(declared.id).at;
        let formals = match self
            .sites(entry)
            .first()
            .and_then(|s| cx.tree().child(s.accept, "formal_part"))
        {
            Some(node) => Some((cx.task.body.file, node)),
            None => declared.formals.map(|node| (at.file, node)),
        };
        let Some((file, node)) = formals else {
            return head.to_string();
        };
        let source = &cx.program.sources[file];
        let start = source.tree.start(node);
        let text = source.text(node);
        let begins_line = source.text[source.line_start(start)..start]
            .trim()
            .is_empty();
        let (join, column) = if begins_line && text.contains('\n') {
            ("\n  ", 2)
        } else {
            (" ", head.chars().count() + 1)
        };
        let old = source.place(start).column - 1;
        let mut lines = text.lines();
        let mut out = format!("{head}{join}{}", lines.next().unwrap_or("").trim_end());
        for line in lines {
            let own = line.trim_start();
            let blanks = line.len() - own.len();
            let place = (column + blanks).saturating_sub(old);
            out.push_str(&format!("\n{}{}", " ".repeat(place), own.trim_end()));
        }
        out
    }

    /// `entry Name (for Index in …) (…)`.
    pub(super) fn entry_head(&self, entry: usize, index: Option<&str>) -> String {
        let cx = self.cx();
        let declared = &cx.task.entries[entry];
        let at = cx.names.entity(declared.id).at;
        let family = match (index, declared.index) {
            (Some(index), Some(node)) => format!(" (for {index} in {})", index_text(cx, at, node)),
            _ => String::new(),
        };
        self.with_profile(&format!("entry {}{family}", declared.name), entry)
    }

    /// Returns the head of an entry body with its barrier, in one line if it fits.
    pub(super) fn with_barrier(&self, head: &str, barrier: &[String]) -> String {
        let cx = self.cx();
        let outer = cx.source().indent(cx.tree().start(cx.task.body.node)).len();
        let room = WIDTH.saturating_sub(outer + self.step.len());
        let line = format!("{head} when {} is", barrier.join(" or else "));
        if !line.contains('\n') && line.chars().count() <= room {
            return line;
        }
        let when = format!("  when {}", barrier.join(" or else "));
        if when.chars().count() <= room {
            return format!("{head}\n{when}\nis");
        }
        format!("{head}\n  when {}\nis", barrier.join("\n    or else "))
    }

    /// Returns a pragma for formal parameters that an entry body does not use, of which GNAT would
    /// warn.
    pub(super) fn unreferenced(&self, entry: usize, body: &[Code]) -> Vec<String> {
        let cx = self.cx();
        let Some(inner) = cx.names.entity(cx.task.entries[entry].id).inner else {
            return vec![];
        };
        let words = code::names_in(&code::print(body, ""));
        let own = cx.names.scope(inner).entities.iter();
        let formals = own
            .map(|&e| cx.names.entity(e))
            .filter(|e| e.kind == Kind::Parameter);
        let unused: Vec<&str> = formals
            .map(|e| e.name.as_str())
            .filter(|name| !words.contains(&Names::key(name)))
            .collect();
        if unused.is_empty() {
            vec![]
        } else {
            vec![format!("pragma Unreferenced ({});", unused.join(", "))]
        }
    }
}

/// Returns the index subtype of a family, with its range.
pub(super) fn index_text(cx: &Context, at: At, node: NodeId) -> String {
    let source = &cx.program.sources[at.file];
    let tree = &source.tree;
    let mut end = tree.end(node);
    let mut next = tree.next(node);
    while let Some(more) = next.filter(|&n| tree.kind(n) != ")") {
        end = tree.end(more);
        next = tree.next(more);
    }
    source.text[tree.start(node)..end].to_string()
}
