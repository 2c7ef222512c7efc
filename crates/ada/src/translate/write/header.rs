//! The profiles of entries and their barriers, laid out.

use super::{WIDTH, Writer};
use crate::names::{At, Kind, Names};
use crate::syntax::NodeId;
use crate::translate::code::{self, Code};
use crate::translate::context::Context;
use crate::translate::layout;

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

    /// The formal part of an entry, as the accept statements have it, with a blank in front.
    pub(super) fn profile(&self, entry: usize) -> String {
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
        formals.map_or(String::new(), |(file, node)| {
            let source = &cx.program.sources[file];
            let indent = source.indent(source.tree.start(node));
            format!(" {}", layout::dedent(source.text(node), indent).join("\n"))
        })
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
        format!("entry {}{family}{}", declared.name, self.profile(entry))
    }

    /// The head of an entry body with its barrier, in one line if it fits.
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

    /// A pragma for formal parameters that an entry body does not mention: GNAT would warn.
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

/// The index subtype of a family, with its range.
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
