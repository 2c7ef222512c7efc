//! The layout of a file: its indentation, and text taken from it with changes.

use std::collections::BTreeMap;

use crate::edit::Edit;
use crate::source::Source;
use crate::syntax::NodeId;

/// Changes of identifiers in copied text: first byte, byte after the last, new text.
#[derive(Debug, Clone, Default)]
pub struct Substitutions {
    changes: BTreeMap<usize, (usize, String)>,
}

impl Substitutions {
    /// Replaces a range wherever it is copied.
    pub fn add(&mut self, range: std::ops::Range<usize>, text: impl Into<String>) {
        self.changes.insert(range.start, (range.end, text.into()));
    }

    /// Whether a replacement begins at a byte.
    pub fn has(&self, byte: usize) -> bool {
        self.changes.contains_key(&byte)
    }

    /// Returns the changes that are not inside others, as edits of a file. Each includes the ones
    /// inside it.
    pub fn outermost(&self, file: usize) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        for (&start, (end, text)) in &self.changes {
            if edits.last().is_none_or(|e| e.range.end <= start) {
                edits.push(Edit {
                    file,
                    range: start..*end,
                    text: text.clone(),
                });
            }
        }
        edits
    }

    /// Returns the text of a range with its changes.
    pub fn apply(&self, source: &Source, range: std::ops::Range<usize>) -> String {
        let mut out = String::new();
        let mut at = range.start;
        for (&start, (end, text)) in self.changes.range(range.clone()) {
            if start < at || *end > range.end {
                continue;
            }
            out.push_str(&source.text[at..start]);
            out.push_str(text);
            at = *end;
        }
        out.push_str(&source.text[at..range.end]);
        out
    }
}

/// Returns one step of indentation of a file.
pub fn indent_step(source: &Source) -> String {
    source.indent_step(step_of).to_string()
}

/// Words at the end of a line after which the next line is indented by one step. Other lines with
/// more indentation are continuation lines.
const OPENING: [&str; 14] = [
    "is",
    "begin",
    "loop",
    "then",
    "else",
    "record",
    "declare",
    "private",
    "do",
    "select",
    "exception",
    "or",
    "generic",
    "=>",
];

/// Returns the most common indentation step after a line that opens a construct.
fn step_of(text: &str) -> String {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut above, mut tabs, mut opens) = (0, 0, false);
    for line in text
        .lines()
        .filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with("--"))
    {
        let blanks = &line[..line.len() - line.trim_start().len()];
        if blanks.starts_with('\t') {
            tabs += 1;
        }
        if opens && blanks.len() > above && blanks.len() - above <= 8 {
            *votes.entry(blanks.len() - above).or_default() += 1;
        }
        above = blanks.len();
        let code = line.split("--").next().unwrap_or(line).trim_end();
        let last = code.rsplit([' ', '\t']).next().unwrap_or("");
        opens = OPENING.iter().any(|word| last.eq_ignore_ascii_case(word));
    }
    let spaces: usize = votes.values().sum();
    if tabs > spaces {
        return "\t".into();
    }
    let best = votes
        .into_iter()
        .filter(|&(step, _)| (2..=8).contains(&step))
        .max_by_key(|&(step, count)| (count, std::cmp::Reverse(step)));
    " ".repeat(best.map_or(3, |(step, _)| step))
}

/// Returns lines from which the first line's indentation was removed.
pub fn dedent(text: &str, indent: &str) -> Vec<String> {
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or("").trim_end().to_string();
    let rest = lines.map(|line| {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        let common = line
            .bytes()
            .zip(indent.bytes())
            .take_while(|(a, b)| a == b)
            .count()
            .min(blanks);
        line[common..].trim_end().to_string()
    });
    std::iter::once(first).chain(rest).collect()
}

/// Returns the lines of a statement or declaration, with the comments directly above it and at the
/// end of its last line.
pub fn lines_of(source: &Source, node: NodeId, changes: &Substitutions) -> Vec<String> {
    let mut lines = comments_above(source, source.tree.start(node));
    let range = source.tree.range(node);
    let mut text = changes.apply(source, range.clone());
    if let Some(comment) = comment_behind(source, range.end) {
        text.push_str("  ");
        text.push_str(comment);
    }
    lines.extend(dedent(&text, source.indent(range.start)));
    lines
}

/// Returns the comment lines directly above the line of a byte, if nothing else begins that line.
pub fn comments_above(source: &Source, byte: usize) -> Vec<String> {
    let mut start = source.line_start(byte);
    if !source.text[start..byte].trim().is_empty() {
        return vec![];
    }
    let mut found = Vec::new();
    while start > 0 {
        let above = source.line_start(start - 1);
        let line = source.text[above..start].trim();
        if !line.starts_with("--") {
            break;
        }
        found.push(line.to_string());
        start = above;
    }
    found.reverse();
    found
}

/// Returns a comment after a byte on its line.
pub fn comment_behind(source: &Source, byte: usize) -> Option<&str> {
    let rest = source.text[byte..source.line_end(byte)].trim();
    rest.starts_with("--").then_some(rest)
}

/// Whether a blank line precedes the line of a byte, or the comments above it.
pub fn has_blank_above(source: &Source, byte: usize) -> bool {
    let mut start = source.line_start(byte);
    while start > 0 {
        let above = source.line_start(start - 1);
        let line = source.text[above..start].trim();
        if line.is_empty() {
            return true;
        }
        if !line.starts_with("--") {
            return false;
        }
        start = above;
    }
    false
}

/// Returns lines with an indentation, as text; empty lines stay empty.
pub fn indented(lines: &[String], indent: &str) -> String {
    let mut out = String::new();
    for line in lines {
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}
