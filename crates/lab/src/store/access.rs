//! Whether a store may be written, and how one is named to SQLite that may only be read.

use super::StoreError;
use rusqlite::OpenFlags;
use rustix::fs::{Access, AtFlags, CWD, access, accessat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Whether the file may be written, or made, and others beside it: SQLite keeps what was added last in them, and so is who measures a run.
///
/// The system is asked. Opening the file to see it would give up all locks that this process has on it, and a try by SQLite makes files
/// beside one that it then cannot write; they are of the reader, and keep the writer out.
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

/// What forbids to write; `None` also where it cannot be known, such as of what is not there: SQLite tells then.
fn refusal(path: &Path) -> Option<std::io::Error> {
    let asked = match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        // Containers have filters of system calls that do not know the newer one, and say so by this.
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

/// The log with what was added last, if there is something in it. It lies beside the file itself, not beside a link to it.
pub(super) fn log(file: &Path) -> Option<PathBuf> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let log = PathBuf::from(log);
    let filled = std::fs::metadata(&log).is_ok_and(|log| log.len() > 0);
    filled.then_some(log)
}

pub(super) const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// The file's name as SQLite reads it without making anything beside it.
pub(super) fn read_only_name(file: &Path, log: Option<&Path>) -> PathBuf {
    let how = match log {
        Some(_) => "?readonly_shm=1",
        // Without a log the file is whole by itself, and is not changed before there is a log of some size. Who begins to write in the few
        // milliseconds of a report does not come to that.
        None => "?immutable=1",
    };
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
