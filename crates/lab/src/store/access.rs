//! Permission to write a store, and SQLite's name for one that is only read.

use super::StoreError;
use rusqlite::OpenFlags;
use rustix::fs::{Access, AtFlags, CWD, access, accessat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Checks that the file can be written or created, and others beside it. SQLite keeps the last
/// additions in them; the holder of a run has a file there, too.
///
/// The system is asked directly. Opening the file would release all locks of this process on it. A
/// trial by SQLite creates files that belong to the reader and keep the writer out.
pub(super) fn may_write(path: &Path) -> Result<(), StoreError> {
    let refused = |why| StoreError::NotWritable {
        path: path.to_owned(),
        why,
    };
    let file = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(why) = refusal(&file) {
        return Err(refused(why.to_string()));
    }
    match refusal(folder(&file)) {
        Some(why) => Err(refused(format!("its folder: {why}"))),
        None => Ok(()),
    }
}

/// Returns the system's refusal to write. `None` also means unknown, as for missing files: SQLite
/// reports these.
fn refusal(path: &Path) -> Option<std::io::Error> {
    let asked = match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        // Containers have system call filters without the newer call, which they refuse with this
        // error.
        Err(Errno::PERM) => access(path, Access::WRITE_OK),
        asked => asked,
    };
    let error = asked.err()?;
    matches!(error, Errno::ACCESS | Errno::PERM | Errno::ROFS).then(|| error.into())
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the log of the last additions, if it has any content. It lies beside the file itself,
/// not beside a link to it.
pub(super) fn log(file: &Path) -> Option<PathBuf> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let filled = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    filled.then_some(log)
}

pub(super) const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// Returns the name with which SQLite reads the file without creating others beside it.
pub(super) fn read_only_name(file: &Path, log: Option<&Path>) -> PathBuf {
    let how = match log {
        Some(_) => "?readonly_shm=1",
        // Without a log the file is complete by itself. It does not change before a log has some
        // size, which a writer does not reach in the few milliseconds of a report.
        None => "?immutable=1",
    };
    name(file, how)
}

/// Returns the file's name as a URI for SQLite, with its mode.
pub(super) fn name(file: &Path, how: &str) -> PathBuf {
    let mut name = b"file:".to_vec();
    for &byte in file.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => name.extend(format!("%{byte:02x}").bytes()),
            _ => name.push(byte),
        }
    }
    name.extend(how.bytes());
    OsString::from_vec(name).into()
}
