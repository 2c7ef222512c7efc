//! Errors in reading and writing Ada sources.

use std::path::PathBuf;

use crate::source::Place;

/// Why sources cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be read or written.
    #[error("{}: {cause}; check that the path exists and that you may use it", path.display())]
    File {
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The inputs contain no Ada file.
    #[error("{}: no Ada source (.adb, .ads, .ada, .adt) there; subfolders are not looked into without /**", path.display())]
    NoSource {
        /// The directory or project file as given.
        path: PathBuf,
    },
    /// A project file uses a name that it does not define.
    #[error("{}:{line}: {text}", path.display())]
    Project {
        /// The project file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The error and a possible correction.
        text: String,
    },
    /// The files have syntax errors and were not changed.
    #[error("{}", list(.0))]
    Syntax(Vec<SyntaxError>),
}

/// A place that is not Ada as this crate parses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The place.
    pub place: Place,
    /// The text at the place.
    pub found: String,
    /// The missing text, if it is known.
    pub missing: Option<String>,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.missing {
            Some(missing) => write!(
                f,
                "{}: syntax error: {missing} is missing before {}",
                self.place, self.found
            ),
            None => write!(f, "{}: syntax error at {}", self.place, self.found),
        }
    }
}

fn list(errors: &[SyntaxError]) -> String {
    let mut lines: Vec<String> = errors.iter().take(5).map(ToString::to_string).collect();
    if errors.len() > 5 {
        lines.push(format!("and {} more", errors.len() - 5));
    }
    lines.push(
        "files with syntax errors are left alone; make them compile first, or leave them out"
            .into(),
    );
    lines.join("\n")
}
