//! The case of reserved words and names, adapted to the file: text for a file in capitals is also
//! in capitals.

use std::collections::HashSet;

use super::context::is_reserved;
use crate::edit::Edit;
use crate::source::{Program, Source};

/// The case of one kind of word in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    Mixed,
}

/// The style of a file.
struct Style<'s> {
    reserved: Case,
    names: Case,
    /// The names as the file spells them, which stay unchanged.
    known: HashSet<&'s str>,
}

/// Returns edits with words in the case of their files.
pub fn fit(program: &Program, edits: Vec<Edit>) -> Vec<Edit> {
    let mut styles: Vec<Option<Style>> = program.sources.iter().map(|_| None).collect();
    edits
        .into_iter()
        .map(|edit| {
            let source = &program.sources[edit.file];
            let style = styles[edit.file].get_or_insert_with(|| Style::of(source));
            let text = style.apply(&edit.text);
            Edit { text, ..edit }
        })
        .collect()
}

impl<'s> Style<'s> {
    fn of(source: &'s Source) -> Style<'s> {
        let tree = &source.tree;
        let (mut reserved, mut names) = (Vec::new(), Vec::new());
        for node in tree.walk(tree.root()).filter(|&n| tree.is_leaf(n)) {
            let text = source.text(node);
            if tree.kind(node) == "identifier" {
                names.push(text);
            } else if is_reserved(&text.to_lowercase()) {
                reserved.push(text);
            }
        }
        Style {
            reserved: case_of(&reserved),
            names: case_of(&names),
            known: names.into_iter().collect(),
        }
    }

    fn apply(&self, text: &str) -> String {
        if self.reserved != Case::Upper && self.names == Case::Mixed {
            return text.to_string();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut last = ' ';
        while let Some(first) = rest.chars().next() {
            let length = token(rest, last);
            let (word, more) = rest.split_at(length);
            if first.is_alphabetic() {
                out.push_str(&self.word(word, last == '\''));
            } else {
                out.push_str(word);
            }
            last = word.chars().last().unwrap_or(' ');
            rest = more;
        }
        out
    }

    fn word(&self, word: &str, is_attribute: bool) -> String {
        let is_name = is_attribute || !is_reserved(&word.to_lowercase());
        let case = match is_name {
            true if self.known.contains(word) => Case::Mixed,
            true => self.names,
            false => self.reserved,
        };
        match case {
            Case::Upper => word.to_uppercase(),
            Case::Lower => word.to_lowercase(),
            Case::Mixed => word.to_string(),
        }
    }
}

/// Returns the case of nearly all of some words. A name of one letter may be a capital in any
/// style.
fn case_of(words: &[&str]) -> Case {
    let telling: Vec<&&str> = words.iter().filter(|w| w.len() > 1).collect();
    let count = |is: fn(char) -> bool| {
        let all = telling.iter().filter(|w| !w.chars().any(is));
        all.count() * 20
    };
    let enough = telling.len() * 19;
    if telling.is_empty() {
        Case::Mixed
    } else if count(char::is_lowercase) >= enough {
        Case::Upper
    } else if count(char::is_uppercase) >= enough {
        Case::Lower
    } else {
        Case::Mixed
    }
}

/// Returns the length of the first token: a comment, a literal, a word, or one character.
fn token(text: &str, last: char) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let upto = |end: Option<usize>| end.unwrap_or(text.len());
    if text.starts_with("--") {
        return upto(text.find('\n'));
    }
    if let Some(inner) = text.strip_prefix('"') {
        return upto(inner.find('"').map(|i| i + 2));
    }
    let mut ahead = text.chars().skip(1);
    // A tick after a name begins an attribute, elsewhere a character literal (RM 2.2, 2.5).
    let is_literal = text.starts_with('\'')
        && !(last.is_alphanumeric() || last == ')')
        && ahead.next().is_some()
        && ahead.next() == Some('\'');
    if is_literal {
        return text.chars().take(3).map(char::len_utf8).sum();
    }
    if text.starts_with(char::is_alphabetic) {
        return upto(text.find(|c: char| !c.is_alphanumeric() && c != '_'));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(file: &str, text: &str) -> String {
        let (source, _) = Source::parse("p.adb", file.as_bytes());
        Style::of(&source).apply(text)
    }

    #[test]
    fn capitals_stay_among_capitals() {
        let file = "PROCEDURE MAIN IS\n   COUNT : INTEGER := 0;\nBEGIN\n   NULL;\nEND MAIN;\n";
        assert_eq!(
            fitted(
                file,
                "if Count > 0 and then C /= 'x' then -- it's in use\n Put (\"so be it\"); H := Time_Out'Access;"
            ),
            "IF COUNT > 0 AND THEN C /= 'x' THEN -- it's in use\n PUT (\"so be it\"); H := TIME_OUT'ACCESS;"
        );
        let lower = "procedure main is\n   count : integer := 0;\nbegin\n   null;\nend main;\n";
        assert_eq!(fitted(lower, "Stage := Closed;"), "stage := closed;");
    }

    #[test]
    fn other_files_keep_what_is_written() {
        let file = "PROCEDURE Main IS\n   Count : Integer := 0;\nBEGIN\n   NULL;\nEND Main;\n";
        assert_eq!(fitted(file, "if Stage then"), "IF Stage THEN");
        let usual = "procedure Main is\n   Count : Integer := 0;\nbegin\n   null;\nend Main;\n";
        assert_eq!(fitted(usual, "if Stage then"), "if Stage then");
    }
}
