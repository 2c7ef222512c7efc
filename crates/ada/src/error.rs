//! What can go wrong while Ada sources are read.

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
        /// What the system said.
        cause: std::io::Error,
    },
    /// No Ada file was found in what was given.
    #[error("{}: no Ada source (.adb, .ads, .ada, .adt) there; name the files themselves", path.display())]
    NoSource {
        /// The directory or project file as given.
        path: PathBuf,
    },
    /// A project file names what it does not define.
    #[error("{}:{line}: {text}", path.display())]
    Project {
        /// The project file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what would mend it.
        text: String,
    },
    /// Files with syntax errors are not touched.
    #[error("{}", list(.0))]
    Syntax(Vec<SyntaxError>),
}

/// One place that is not Ada as this crate reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where.
    pub place: Place,
    /// What stands there.
    pub found: String,
    /// What is missing, where that is known.
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
