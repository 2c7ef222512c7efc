//! Source files and places in them.

use std::fs::File;
use std::io::Read;
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
    /// Returns the span from the beginning of this one to the end of another in the same file.
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
    /// The text that is parsed.
    pub text: String,
    /// Whether the file is in Latin-1: a character of the text is a byte of the file.
    pub is_latin1: bool,
    /// Offsets of the lines' beginnings.
    lines: Vec<u32>,
    /// The file's own text, if `text` was generated from it. Positions refer to the file's own
    /// text.
    written: Option<Box<Written>>,
}

/// A file from which the parsed text was generated.
#[derive(Debug, Clone)]
struct Written {
    source: Source,
    /// The origins of the parts of the generated text, in order.
    origins: Vec<Origin>,
}

/// The origin of a part of a generated text. The part ends where the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The part's first byte in the generated text.
    pub start: u32,
    /// The first byte that it was generated from, in the file.
    pub from: u32,
    /// One past the last byte that it was generated from.
    pub to: u32,
    /// Whether the part is a copy, byte for byte.
    pub is_copied: bool,
}

/// The files of a program.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<Source>,
}

/// Why a source file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too large for offsets.
    #[error("{}: the file has more than 1 GiB", .0.display())]
    TooLarge(PathBuf),
    /// The file is in UTF-16.
    #[error("{}: the file is in UTF-16; save it in UTF-8", .0.display())]
    Utf16(PathBuf),
}

/// The most bytes of a source file. Texts generated from it are longer, and offsets have 32 bits.
const LARGEST: usize = 1 << 30;

/// Reads a source file.
///
/// # Errors
/// The file cannot be read, or is larger than 1 GiB.
pub fn read(path: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| {
        // A file that is not regular, such as a device, may have no end.
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes)
    });
    read.map_err(|source| ReadError::File {
        path: path.to_path_buf(),
        source,
    })?;
    if bytes.len() > LARGEST {
        return Err(ReadError::TooLarge(path.to_path_buf()));
    }
    if is_utf16(&bytes) {
        return Err(ReadError::Utf16(path.to_path_buf()));
    }
    Ok(bytes)
}

/// Returns whether a file begins with the byte order mark of UTF-16, or with an ASCII character in
/// it.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, 1..=0x7f, ..] | [1..=0x7f, 0, ..]
    )
}

/// The byte order mark with which a file in UTF-8 may begin.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a file's content as text, and whether it is in Latin-1. Content that is not UTF-8 is
/// taken for Latin-1, in which old programs are written. A byte order mark is left out.
pub fn decode(mut bytes: Vec<u8>) -> (String, bool) {
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(e) => (e.into_bytes().into_iter().map(char::from).collect(), true),
    }
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
            is_latin1: false,
            lines,
            written: None,
        }
    }

    /// Returns line and column of an offset, both from 1. The column counts characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        if let Some(written) = &self.written {
            return written.source.position(written.range(offset, offset).0);
        }
        let line = self.lines.partition_point(|&start| start <= offset);
        let start = self.lines[line - 1] as usize;
        let before = self.text.get(start..offset as usize).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// Returns a line's text without its end. Lines are counted from 1.
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

    /// Returns whether the text was generated from the file's own.
    pub fn is_generated(&self) -> bool {
        self.written.is_some()
    }

    /// Returns the file's text behind the generated part at an offset. Returns `None` for a copied
    /// part, and for a file that is parsed as it is.
    pub fn made_of(&self, offset: u32) -> Option<&str> {
        let written = self.written.as_ref()?;
        let origin = written.origin(offset).filter(|o| !o.is_copied)?;
        written
            .source
            .text
            .get(origin.from as usize..origin.to as usize)
    }

    /// Returns the file's text between two offsets of the parsed text.
    pub fn excerpt(&self, start: u32, end: u32) -> &str {
        let Some(written) = &self.written else {
            return &self.text[start as usize..end as usize];
        };
        let (from, to) = written.range(start, end);
        &written.source.text[from as usize..to as usize]
    }
}

impl Written {
    /// Returns the origin of the part at an offset of the generated text.
    fn origin(&self, offset: u32) -> Option<&Origin> {
        let index = self
            .origins
            .partition_point(|origin| origin.start <= offset);
        self.origins.get(index.saturating_sub(1))
    }

    /// Maps a range of the generated text to the range of the file that it comes from.
    fn range(&self, start: u32, end: u32) -> (u32, u32) {
        let length = self.source.text.len() as u32;
        let from = self
            .origin(start)
            .map_or(0, |origin| match origin.is_copied {
                true => (origin.from + (start - origin.start)).min(origin.to),
                false => origin.from,
            });
        // The last byte of the range determines the end, not the one after it.
        let last = end.max(start + 1) - 1;
        let to = self
            .origin(last)
            .map_or(from, |origin| match origin.is_copied {
                true => (origin.from + (last - origin.start) + 1).min(origin.to),
                false => origin.to,
            });
        (from.min(length), to.clamp(from, length))
    }
}

impl Sources {
    /// Adds a file and returns its number.
    pub fn add(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>) -> u32 {
        let (text, is_latin1) = decode(bytes);
        let mut source = Source::new(path.as_ref().to_path_buf(), text);
        source.is_latin1 = is_latin1;
        self.push(source)
    }

    /// Adds a file whose parsed text was generated from `written`, as a preprocessor does, and
    /// returns its number. `written` is in the form of [`decode`], and `origins` are in the order
    /// of the generated text.
    pub fn add_generated(
        &mut self,
        path: &Path,
        written: (String, bool),
        text: String,
        origins: Vec<Origin>,
    ) -> u32 {
        let (written, is_latin1) = written;
        let mut source = Source::new(path.to_path_buf(), text);
        source.is_latin1 = is_latin1;
        source.written = Some(Box::new(Written {
            source: Source::new(path.to_path_buf(), written),
            origins,
        }));
        self.push(source)
    }

    fn push(&mut self, source: Source) -> u32 {
        self.files.push(source);
        self.files.len() as u32 - 1
    }

    /// Iterates over all files, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.files.iter()
    }

    /// Returns a file by its number.
    pub fn file(&self, number: u32) -> &Source {
        &self.files[number as usize]
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::default();
        let file = sources.add("a", "één\ntwo".as_bytes().to_vec());
        let source = sources.file(file);
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(4), (1, 3));
        assert_eq!(source.position(6), (2, 1));
        assert_eq!(source.line(2), "two");
        assert_eq!(source.line(3), "");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_latin1() {
        assert_eq!(decode(vec![b'a', 0xe9]), ("aé".into(), true));
        assert_eq!(decode("aé".as_bytes().to_vec()), ("aé".into(), false));
        assert_eq!(decode(b"\xef\xbb\xbfa".to_vec()), ("a".into(), false));
    }

    #[test]
    fn utf16_is_known_by_its_mark_or_its_zeroes() {
        for text in [&b"\xff\xfer\0"[..], b"\xfe\xff\0r", b"r\0e\0", b"\0r\0e"] {
            assert!(is_utf16(text), "{text:?}");
        }
        for text in [&b""[..], b"r", b"resource", "é".as_bytes(), b"\xe9t"] {
            assert!(!is_utf16(text), "{text:?}");
        }
    }

    #[test]
    fn positions_in_a_generated_text_are_those_of_the_file() {
        let mut sources = Sources::default();
        // `twice` was expanded; the rest was copied.
        let written = "a\n  twice b".to_owned();
        let origin = |start, from, to, is_copied| Origin {
            start,
            from,
            to,
            is_copied,
        };
        let origins = vec![
            origin(0, 0, 4, true),
            origin(4, 4, 9, false),
            origin(13, 9, 11, true),
        ];
        let file = sources.add_generated(
            Path::new("a"),
            (written, false),
            "a\n  once once b".into(),
            origins,
        );
        let source = sources.file(file);
        assert_eq!(source.position(9), (2, 3));
        assert_eq!(source.excerpt(9, 13), "twice");
        assert_eq!(
            (source.made_of(9), source.made_of(14)),
            (Some("twice"), None)
        );
        assert_eq!(source.position(14), (2, 9));
        assert_eq!(source.excerpt(14, 15), "b");
        assert_eq!(source.line(2), "  twice b");
    }
}
