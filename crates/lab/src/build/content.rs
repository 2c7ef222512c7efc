//! Hash of a subject's build inputs.

use crate::subject::Subject;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Hashes the sources of a subject.
///
/// The hash covers all files of `sources` and every file that a command or a flag names as
/// `{source}/…`. It includes names, contents and executable bits. An error has the file that
/// could not be read.
pub(super) fn of(subject: &Subject) -> Result<String, (PathBuf, io::Error)> {
    let mut files = BTreeSet::new();
    for source in subject
        .sources
        .iter()
        .map(String::as_str)
        .chain(named(subject))
    {
        collect(&subject.folder.join(source), &mut files)?;
    }
    let mut hasher = blake3::Hasher::new();
    for path in files {
        let name = path.strip_prefix(&subject.folder).unwrap_or(&path);
        add(&mut hasher, name, &path).map_err(|error| (path.clone(), error))?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn add(hasher: &mut blake3::Hasher, name: &Path, path: &Path) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let executable = path.metadata()?.permissions().mode() & 0o111 != 0;
    let name = name.as_os_str().as_encoded_bytes();
    // Lengths first, so that no two sets of files give the same stream.
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name);
    hasher.update(&[u8::from(executable)]);
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(&bytes);
    Ok(())
}

/// Collects all files below `path`, or `path` itself. Links to folders are not followed: they might
/// lead in a circle.
fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let at = |error| (path.to_owned(), error);
    if path.is_file() {
        files.insert(path.to_owned());
    } else if path.is_dir() {
        for entry in std::fs::read_dir(path).map_err(at)? {
            let entry = entry.map_err(at)?;
            let link = entry.file_type().map_err(at)?.is_symlink();
            if !(link && entry.path().is_dir()) {
                collect(&entry.path(), files)?;
            }
        }
    }
    Ok(())
}

/// Returns the files that commands and flags name.
fn named(subject: &Subject) -> impl Iterator<Item = &str> {
    let of_variants = subject.variants.iter().flat_map(|variant| &variant.flags);
    let of_policies = subject.policies.values().flatten();
    let words = subject
        .build
        .iter()
        .flatten()
        .chain(&subject.run)
        .chain(of_variants)
        .chain(of_policies);
    words.filter_map(|word| word.split_once("{source}/").map(|(_, path)| path))
}
