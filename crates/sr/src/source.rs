//! Source files and places in them.

use std::path::{Path, PathBuf};

/// A part of a source file: byte offsets from the first of `start` to before `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The number of the file in its [`Sources`].
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the beginning of this to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A source file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name, as it is shown.
    pub path: PathBuf,
    /// Its text. Bytes that are not UTF-8 are taken for Latin-1, as old programs have it.
    pub text: String,
    /// Offsets of the lines' beginnings.
    lines: Vec<u32>,
}

/// The files of a program.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Source {
    fn new(path: PathBuf, bytes: Vec<u8>) -> Source {
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect());
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let lines = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at as u32 + 1))
            .collect();
        Source { path, text, lines }
    }

    /// Line and column of an offset, both from 1; the column counts characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.lines[line - 1] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// A line's text without its end, counted from 1.
    pub fn line(&self, number: usize) -> &str {
        let start = self
            .lines
            .get(number - 1)
            .map_or(self.text.len(), |&s| s as usize);
        let rest = &self.text[start..];
        rest.lines().next().unwrap_or_default()
    }
}

impl Sources {
    /// Adds a file; gives its number.
    pub fn add(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>) -> u32 {
        self.0.push(Source::new(path.as_ref().to_path_buf(), bytes));
        self.0.len() as u32 - 1
    }

    /// A file by its number.
    pub fn file(&self, number: u32) -> &Source {
        &self.0[number as usize]
    }

    /// The text of a part.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }
}
