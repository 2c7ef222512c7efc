//! Source files: their bytes, encoding, line ends, and syntax tree.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, SyntaxError};
use crate::input;
use crate::syntax::{self, Tree};

/// The encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, which includes plain ASCII.
    Utf8,
    /// Latin-1 (ISO 8859-1): GNAT's default, and that of Ada 83 and 95 sources.
    Latin1,
}

/// A line and column in a file, both from 1; the column counts characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file's path as given.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A source file with its syntax.
#[derive(Debug)]
pub struct Source {
    /// The path as given.
    pub path: PathBuf,
    /// The text with the byte-order mark removed and line ends as `\n`.
    pub text: String,
    /// The file's encoding; an edited file is written in the same one.
    pub encoding: Encoding,
    /// Whether the file begins with UTF-8's byte-order mark.
    pub has_bom: bool,
    /// Whether lines end with CR LF.
    pub has_crlf: bool,
    /// The syntax tree over `text`.
    pub tree: Tree,
    line_starts: Vec<usize>,
    stray_returns: Vec<usize>,
    step: OnceLock<String>,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

impl Source {
    /// Reads a file's bytes. Syntax errors are returned beside the source, so that a caller can
    /// report them all at once.
    pub fn parse(path: impl Into<PathBuf>, bytes: &[u8]) -> (Source, Vec<SyntaxError>) {
        let has_bom = bytes.starts_with(BOM);
        let bytes = if has_bom { &bytes[BOM.len()..] } else { bytes };
        let (decoded, encoding) = match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_string(), Encoding::Utf8),
            Err(_) => (bytes.iter().map(|&b| b as char).collect(), Encoding::Latin1),
        };
        let has_crlf = decoded.contains("\r\n");
        // A file with mixed line ends keeps them: each `\n` without a CR is recorded.
        let mut stray_returns = Vec::new();
        let text = if has_crlf {
            for (line, piece) in decoded.split('\n').enumerate() {
                if !piece.ends_with('\r') {
                    stray_returns.push(line);
                }
            }
            stray_returns.pop_if(|last| *last == decoded.matches('\n').count());
            decoded.replace("\r\n", "\n")
        } else {
            decoded
        };
        let line_starts = std::iter::once(0)
            .chain(
                text.bytes()
                    .enumerate()
                    .filter(|&(_, b)| b == b'\n')
                    .map(|(i, _)| i + 1),
            )
            .collect();
        let tree = syntax::parse_leniently(&text);
        let source = Source {
            path: path.into(),
            text,
            encoding,
            has_bom,
            has_crlf,
            tree,
            line_starts,
            stray_returns,
            step: OnceLock::new(),
        };
        let errors = syntax::errors(&source);
        (source, errors)
    }

    /// Returns one step of indentation, computed once.
    pub(crate) fn indent_step(&self, find: impl FnOnce(&str) -> String) -> &str {
        self.step.get_or_init(|| find(&self.text))
    }

    /// Returns the line and column of a byte of `text`.
    pub fn place(&self, byte: usize) -> Place {
        let line = self.line_starts.partition_point(|&start| start <= byte) - 1;
        let start = self.line_starts[line];
        let column = self
            .text
            .get(start..byte.min(self.text.len()))
            .map_or(0, |s| s.chars().count())
            + 1;
        Place {
            file: self.path.clone(),
            line: line + 1,
            column,
        }
    }

    /// Returns the first byte of the line that holds a byte.
    pub fn line_start(&self, byte: usize) -> usize {
        self.line_starts[self.line_starts.partition_point(|&start| start <= byte) - 1]
    }

    /// Returns the byte after the line's `\n`, or the end of the text.
    pub fn line_end(&self, byte: usize) -> usize {
        self.text[byte..]
            .find('\n')
            .map_or(self.text.len(), |i| byte + i + 1)
    }

    /// Blanks at the start of the line that holds a byte.
    pub fn indent(&self, byte: usize) -> &str {
        let line = &self.text[self.line_start(byte)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the bytes of an edited text, in the file's encoding.
    ///
    /// New text always fits Latin-1: it consists of the file's own words and of ASCII.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let mut text = text.to_string();
        if self.has_crlf {
            // The original's lines keep their own ends. Line numbers of the exceptions are valid
            // only for the original text.
            text = if text == self.text && !self.stray_returns.is_empty() {
                let mut lines = text.split('\n').enumerate().peekable();
                let mut joined = String::with_capacity(text.len() + text.len() / 16);
                while let Some((number, line)) = lines.next() {
                    joined.push_str(line);
                    if lines.peek().is_some() {
                        joined.push_str(if self.stray_returns.contains(&number) {
                            "\n"
                        } else {
                            "\r\n"
                        });
                    }
                }
                joined
            } else {
                text.replace('\n', "\r\n")
            };
        }
        let mut bytes = if self.has_bom {
            BOM.to_vec()
        } else {
            Vec::new()
        };
        match self.encoding {
            Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Latin1 => bytes.extend(
                text.chars()
                    .map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')),
            ),
        }
        bytes
    }
}

/// All the sources of one program.
#[derive(Debug, Default)]
pub struct Program {
    /// The files, in the order given.
    pub sources: Vec<Source>,
    /// The compiler's switches of the projects that were given.
    pub switches: Vec<String>,
    /// Descriptions of inputs that are not among the sources.
    pub left_out: Vec<String>,
}

impl Program {
    /// Reads files, directories (their Ada files), GNAT project files and Alire crates. Files that
    /// are not Ada are left out and reported.
    ///
    /// # Errors
    /// A path that cannot be read, a directory without Ada files, a project that cannot be
    /// understood, or syntax errors if every file has some.
    pub fn read(inputs: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Program, Error> {
        let mut program = Program::default();
        let mut files = Vec::new();
        for given in inputs {
            let path = given.as_ref();
            let failed = |path: &Path, cause| Error::File {
                path: path.into(),
                cause,
            };
            if !input::is_collection(path) {
                let bytes = std::fs::read(path).map_err(|cause| failed(path, cause))?;
                files.push((path.to_path_buf(), bytes));
                continue;
            }
            let input = input::read(path)?;
            program.switches.extend(input.switches);
            program.left_out.extend(input.missing);
            for file in input.files {
                match std::fs::read(&file) {
                    Ok(bytes) => files.push((file, bytes)),
                    Err(cause) => program.left_out.push(failed(&file, cause).to_string()),
                }
            }
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        files.dedup_by(|a, b| a.0 == b.0);
        let mut wrong = Vec::new();
        for (path, bytes) in files {
            let (source, errors) = Source::parse(path, &bytes);
            match errors.first() {
                None => program.sources.push(source),
                Some(first) => {
                    program
                        .left_out
                        .push(format!("{first}; the file is left out"));
                    wrong.extend(errors);
                }
            }
        }
        if program.sources.is_empty() && !wrong.is_empty() {
            return Err(Error::Syntax(wrong));
        }
        Ok(program)
    }

    /// Makes a program from texts that are already in memory.
    ///
    /// # Errors
    /// All syntax errors.
    pub fn parse(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Result<Program, Error> {
        let mut program = Program::default();
        let mut wrong = Vec::new();
        for (path, bytes) in files {
            let (source, errors) = Source::parse(path, &bytes);
            wrong.extend(errors);
            program.sources.push(source);
        }
        if wrong.is_empty() {
            Ok(program)
        } else {
            Err(Error::Syntax(wrong))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(bytes: &[u8]) -> Source {
        let (source, errors) = Source::parse("p.adb", bytes);
        assert_eq!(errors, []);
        assert_eq!(source.encode(&source.text), bytes);
        source
    }

    #[test]
    fn encodings_and_line_ends_survive() {
        assert_eq!(
            round_trip(b"package P is\r\nend P;\r\n").text,
            "package P is\nend P;\n"
        );
        assert_eq!(
            round_trip(b"-- caf\xe9\npackage P is end P;\n").encoding,
            Encoding::Latin1
        );
        assert_eq!(
            round_trip("-- café\npackage P is end P;\n".as_bytes()).encoding,
            Encoding::Utf8
        );
        assert!(round_trip(b"\xEF\xBB\xBFpackage P is end P;").has_bom);
        round_trip(b"package P is\r\n--  a line without a return\nend P;\r\n");
        round_trip(b"package P is\nend P;\r\n");
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        let (_, errors) = Source::parse("p.adb", b"procedure P is\nbegin\n   X := ;\nend P;\n");
        assert_eq!(errors[0].place.to_string(), "p.adb:3:8");
        let (_, errors) = Source::parse("p.adb", b"procedure P is\nbegin\n   null\nend P;\n");
        assert_eq!(errors[0].place.line, 3, "{errors:?}");
    }
}
