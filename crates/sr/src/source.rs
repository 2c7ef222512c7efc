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
    /// Its text in SR. Bytes that are not UTF-8 are taken for Latin-1, as old programs have it.
    pub text: String,
    /// Offsets of the lines' beginnings.
    lines: Vec<u32>,
    /// What was written, if the text was made from another notation: places are places in that.
    written: Option<Box<Written>>,
}

/// A text in another notation.
#[derive(Debug, Clone)]
struct Written {
    source: Source,
    /// Where the parts of the SR text come from, in order.
    parts: Vec<Part>,
}

/// A part of a text that was made from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its first byte.
    pub start: u32,
    /// The first byte of what it was made from.
    pub from: u32,
    /// One past the last byte of that.
    pub to: u32,
    /// Whether it was copied, byte for byte.
    pub is_copied: bool,
}

/// The files of a program.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
    /// Whether comments that say a region are no more than comments.
    ignores_regions: bool,
}

/// A file's content as text.
pub(crate) fn decoded(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|e| e.into_bytes().into_iter().map(char::from).collect())
}

impl Source {
    fn new(path: PathBuf, text: String) -> Source {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let lines = std::iter::once(0)
            .chain(breaks.map(|(at, _)| at as u32 + 1))
            .collect();
        Source {
            path,
            text,
            lines,
            written: None,
        }
    }

    /// Line and column of an offset, both from 1; the column counts characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        if let Some(written) = &self.written {
            return written.source.position(written.range(offset, offset).0);
        }
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.lines[line - 1] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// A line's text without its end, counted from 1.
    pub fn line(&self, number: usize) -> &str {
        if let Some(written) = &self.written {
            return written.source.line(number);
        }
        let start = self
            .lines
            .get(number - 1)
            .map_or(self.text.len(), |&s| s as usize);
        let rest = &self.text[start..];
        rest.lines().next().unwrap_or_default()
    }

    /// What was written between two offsets.
    pub fn excerpt(&self, start: u32, end: u32) -> &str {
        let Some(written) = &self.written else {
            return &self.text[start as usize..end as usize];
        };
        let (from, to) = written.range(start, end);
        &written.source.text[from as usize..to as usize]
    }
}

impl Written {
    /// What a range of the SR text was made from.
    fn range(&self, start: u32, end: u32) -> (u32, u32) {
        let part = |offset| {
            let index = self.parts.partition_point(|part| part.start <= offset);
            self.parts.get(index.saturating_sub(1))
        };
        let length = self.source.text.len() as u32;
        let from = part(start).map_or(0, |part| match part.is_copied {
            true => (part.from + (start - part.start)).min(part.to),
            false => part.from,
        });
        // The last byte of the range, not the one after it, says what the end was made from.
        let last = end.max(start + 1) - 1;
        let to = part(last).map_or(from, |part| match part.is_copied {
            true => (part.from + (last - part.start) + 1).min(part.to),
            false => part.to,
        });
        (from.min(length), to.clamp(from, length))
    }
}

impl Sources {
    /// Adds a file; gives its number.
    pub fn add(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>) -> u32 {
        self.files
            .push(Source::new(path.as_ref().to_path_buf(), decoded(bytes)));
        self.files.len() as u32 - 1
    }

    /// Adds a file that was written in another notation, as the SR text that was made from it.
    pub(crate) fn add_made(
        &mut self,
        path: &Path,
        written: String,
        text: String,
        parts: Vec<Part>,
    ) -> u32 {
        let mut source = Source::new(path.to_path_buf(), text);
        source.written = Some(Box::new(Written {
            source: Source::new(path.to_path_buf(), written),
            parts,
        }));
        self.files.push(source);
        self.files.len() as u32 - 1
    }

    /// All files, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// From now on, comments that say a region are read as comments.
    pub fn ignore_regions(&mut self) {
        self.ignores_regions = true;
    }

    /// Whether comments that say a region are read as comments.
    pub(crate) fn ignores_regions(&self) -> bool {
        self.ignores_regions
    }

    /// A file by its number.
    pub fn file(&self, number: u32) -> &Source {
        &self.files[number as usize]
    }

    /// The text of a part.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }
}
