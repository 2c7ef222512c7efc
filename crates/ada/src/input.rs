//! Which files a directory or a GNAT project file stands for.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// The Ada files of a directory (not of its subdirectories) or of a project's `Source_Dirs`, sorted.
///
/// # Errors
/// An unreadable path, or no Ada file at all.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    if path.is_dir() {
        collect(path, false, &mut found)?;
    } else {
        let text = std::fs::read(path).map_err(|cause| Error::File {
            path: path.into(),
            cause,
        })?;
        for (directory, is_deep) in source_dirs(path, &String::from_utf8_lossy(&text))? {
            collect(&directory, is_deep, &mut found)?;
        }
    }
    if found.is_empty() {
        return Err(Error::NoSource { path: path.into() });
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn collect(directory: &Path, is_deep: bool, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |cause| Error::File {
        path: directory.into(),
        cause,
    };
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if kind.is_dir() {
            // `file_type` does not follow links, so a link to a parent cannot make this endless.
            if is_deep {
                collect(&path, true, found)?;
            }
        } else if is_ada(&path) {
            found.push(path);
        }
    }
    Ok(())
}

fn is_ada(path: &Path) -> bool {
    path.extension().is_some_and(|e| {
        ["adb", "ads", "ada", "adt", "a"]
            .iter()
            .any(|x| e.eq_ignore_ascii_case(x))
    })
}

/// The directories that `Source_Dirs` names, and whether each is taken with its subdirectories (`dir/**`).
///
/// Only string literals (also joined by `&` in lists) are understood; expressions over variables are said to be beyond us.
fn source_dirs(path: &Path, text: &str) -> Result<Vec<(PathBuf, bool)>, Error> {
    let home = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let code: String = text
        .lines()
        .map(|l| strip_comment(l).to_string() + "\n")
        .collect();
    let lower = code.to_ascii_lowercase();
    let Some(at) = lower.find("for source_dirs use") else {
        return Ok(vec![(home.into(), false)]);
    };
    let line = code[..at].matches('\n').count() + 1;
    let value = &code[at + "for source_dirs use".len()..];
    let value = &value[..value.find(';').unwrap_or(value.len())];
    let parts: Vec<&str> = value.split('"').collect();
    let outside: String = parts.iter().step_by(2).copied().collect();
    if parts.len() < 3 || outside.chars().any(char::is_alphanumeric) {
        let text = "Source_Dirs is not a list of string literals; name the directories or files themselves".to_string();
        return Err(Error::Project {
            path: path.into(),
            line,
            text,
        });
    }
    Ok(parts
        .iter()
        .skip(1)
        .step_by(2)
        .map(|given| match given.strip_suffix("**") {
            Some(above) => (home.join(above.trim_end_matches('/')), true),
            None => (home.join(given), false),
        })
        .collect())
}

fn strip_comment(line: &str) -> &str {
    let mut is_quoted = false;
    for (i, c) in line.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '-' if !is_quoted && line[i..].starts_with("--") => return &line[..i],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_name_their_directories() {
        let dirs = |text| {
            source_dirs(Path::new("a/p.gpr"), text)
                .map(|d| d.into_iter().map(|x| x.0).collect::<Vec<_>>())
        };
        assert_eq!(dirs("project P is end P;").unwrap(), [PathBuf::from("a")]);
        let text = "project P is -- for Source_Dirs use (\"no\");\n for Source_Dirs use (\"src\", \"lib/**\"); end P;";
        assert_eq!(
            dirs(text).unwrap(),
            [PathBuf::from("a/src"), PathBuf::from("a/lib")]
        );
        let error = dirs("project P is\n for Source_Dirs use Common.Dirs; end P;").unwrap_err();
        assert!(error.to_string().starts_with("a/p.gpr:2: "), "{error}");
    }
}
