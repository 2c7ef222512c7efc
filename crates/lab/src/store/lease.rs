//! Lease of a run: one process at a time measures it, with a lock on a file beside the store.
//!
//! The system releases the lock at any end of the process, so a killed run can be resumed at once.
//! The file names the holder and is removed at the end. A file without a lock, left by a killed
//! process, has no effect.

use super::{Store, StoreError, now};
use antiphon_outside::read_text;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Attempts at a lock. A listing of runs holds the locks for a moment, which must not refuse a
/// lease.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(10);

/// Largest note of a holder, bytes.
const NOTE_MAX: u64 = 4096;

/// A process that measures a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its number; `None` where it did not come to say so yet.
    pub process: Option<u32>,
    /// Since when, RFC 3339, UTC.
    pub since: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(out, "process {process} since {}", self.since),
            None => write!(out, "another process"),
        }
    }
}

/// The right to add to a run, until it is dropped.
#[derive(Debug)]
pub struct Lease {
    /// Holds the lock while it is open.
    _file: File,
    path: PathBuf,
}

impl Drop for Lease {
    fn drop(&mut self) {
        // The lock is still held, so that only our own file is removed. A remaining file is
        // harmless.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// Takes the lease of a run for this process.
    ///
    /// # Errors
    /// [`StoreError::Held`], if another has it.
    pub fn hold(&self, run: i64) -> Result<Lease, StoreError> {
        let path = self.lease_path(run);
        let failed = |source| StoreError::Lease {
            path: path.clone(),
            source,
        };
        for _ in 0..TRIES {
            let mut file = open(&path).map_err(failed)?;
            let locked = try_lock(&file, FlockOperation::NonBlockingLockExclusive);
            // The former holder may have removed the file between open and lock; the lock is then
            // on nothing.
            if locked.map_err(failed)? && is_at(&file, &path) {
                say_who(&mut file).map_err(failed)?;
                return Ok(Lease { _file: file, path });
            }
            std::thread::sleep(BETWEEN);
        }
        Err(StoreError::Held {
            run,
            by: read_who(&path),
        })
    }

    /// Returns the process that measures a run now.
    pub(super) fn holder(&self, run: i64) -> Option<Holder> {
        let path = self.lease_path(run);
        let file = File::open(&path).ok()?;
        match try_lock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(true) | Err(_) => None,
            Ok(false) => Some(read_who(&path)),
        }
    }

    fn lease_path(&self, run: i64) -> PathBuf {
        // The canonical name counts, for any name of the store.
        let store = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let mut name = store.into_os_string();
        name.push(format!("-run{run}"));
        name.into()
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // The content is kept, because it may name another holder.
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Tries the lock, and returns whether it was free.
fn try_lock(file: &File, how: FlockOperation) -> io::Result<bool> {
    match flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let number = |metadata: io::Result<std::fs::Metadata>| metadata.ok().map(|data| data.ino());
    number(file.metadata()) == number(std::fs::metadata(path))
}

fn say_who(file: &mut File) -> io::Result<()> {
    let who = Holder {
        process: Some(std::process::id()),
        since: now(),
    };
    file.set_len(0)?;
    file.write_all(super::json(&who).as_bytes())
}

fn read_who(path: &Path) -> Holder {
    let text = read_text(path, NOTE_MAX).ok();
    let reported = text.and_then(|text| serde_json::from_str(&text).ok());
    reported.unwrap_or(Holder {
        process: None,
        since: String::new(),
    })
}
