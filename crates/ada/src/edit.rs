//! Edits of files, and how they are shown and written.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::source::Program;

/// A replacement of a range of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file's index in the program.
    pub file: usize,
    /// The replaced bytes, from the first to the one after the last; empty for an insertion.
    pub range: std::ops::Range<usize>,
    /// The new text.
    pub text: String,
}

/// A file after its edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file's index in the program.
    pub file: usize,
    /// The new text, with line ends as `\n`.
    pub text: String,
}

/// Applies edits. Those of one file must not overlap. Insertions at one place keep their order.
pub fn apply(program: &Program, edits: &[Edit]) -> Vec<Edited> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|e| (e.file, e.range.start, e.range.end));
    let mut edited: Vec<Edited> = Vec::new();
    let mut at = 0;
    for (index, edit) in edits.iter().enumerate() {
        let source = &program.sources[edit.file];
        if edited.last().is_none_or(|e| e.file != edit.file) {
            edited.push(Edited {
                file: edit.file,
                text: String::new(),
            });
            at = 0;
        }
        let Some(last) = edited.last_mut() else {
            continue;
        };
        debug_assert!(edit.range.start >= at, "edits overlap");
        last.text
            .push_str(&source.text[at..edit.range.start.max(at)]);
        last.text.push_str(&edit.text);
        at = edit.range.end.max(at);
        if edits
            .get(index + 1)
            .is_none_or(|next| next.file != edit.file)
        {
            last.text.push_str(&source.text[at..]);
        }
    }
    edited
}

/// Returns a unified diff of edited files, with three lines around each change.
pub fn diff(program: &Program, edited: &[Edited]) -> String {
    let mut out = String::new();
    for file in edited {
        let source = &program.sources[file.file];
        let path = source.path.display().to_string();
        let path = path.trim_start_matches('/');
        let diff = similar::TextDiff::from_lines(&source.text, &file.text);
        out.push_str(
            &diff
                .unified_diff()
                .context_radius(3)
                .header(&format!("a/{path}"), &format!("b/{path}"))
                .to_string(),
        );
    }
    out
}

/// Writes edited files in place. Each is written beside the original and then renamed, so that a
/// crash loses nothing.
///
/// # Errors
/// The first file that cannot be written; its original is intact then.
pub fn write_in_place(program: &Program, edited: &[Edited]) -> Result<(), Error> {
    for file in edited {
        let source = &program.sources[file.file];
        write(&source.path, &source.encode(&file.text))?;
    }
    Ok(())
}

/// Writes all files of the program, edited or not, to a directory; returns the paths.
///
/// # Errors
/// A directory that cannot be made, a file that cannot be written, or two files of one name.
pub fn write_to(
    program: &Program,
    edited: &[Edited],
    directory: &Path,
) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(directory).map_err(|cause| Error::File {
        path: directory.into(),
        cause,
    })?;
    let texts: HashMap<usize, &String> = edited.iter().map(|e| (e.file, &e.text)).collect();
    let mut written = Vec::new();
    let mut names = HashSet::new();
    for (file, source) in program.sources.iter().enumerate() {
        let text = texts.get(&file).copied().unwrap_or(&source.text);
        let path = directory.join(source.path.file_name().unwrap_or(source.path.as_os_str()));
        if !names.insert(path.clone()) {
            let cause = std::io::Error::new(
                std::io::ErrorKind::AlreadyExists,
                "two of the given files have this name",
            );
            return Err(Error::File { path, cause });
        }
        write(&path, &source.encode(text))?;
        written.push(path);
    }
    Ok(written)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let failed = |cause| Error::File {
        path: path.into(),
        cause,
    };
    antiphon_outside::write(path, bytes).map_err(failed)
}
