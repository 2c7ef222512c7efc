//! Who measures a run: one process at a time, told by a lock on a file beside the store.
//!
//! The system gives the lock back when the process ends, in whatever way, so a run that was killed can be resumed at once. The file says
//! who holds it; it is removed at the end, and one that a killed process left means nothing by itself.

use super::{Store, StoreError, now};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Whoever lists runs tries the locks for a moment; that is no reason to refuse one.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(10);

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
        // While the lock is held, so that nobody's but our own file is removed. One that stays is harmless.
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
            // Between opening and locking, the one who had it may have removed the file: then the lock is on nothing.
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

    /// Who measures a run now.
    pub(super) fn holder(&self, run: i64) -> Option<Holder> {
        let path = self.lease_path(run);
        let file = File::open(&path).ok()?;
        match try_lock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(true) | Err(_) => None,
            Ok(false) => Some(read_who(&path)),
        }
    }

    fn lease_path(&self, run: i64) -> PathBuf {
        // By whichever name the store was opened.
        let store = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let mut name = store.into_os_string();
        name.push(format!("-run{run}"));
        name.into()
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    // What another has written there says who it is.
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Whether the lock was to be had.
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
    let mut text = String::new();
    let read = File::open(path).and_then(|mut file| file.read_to_string(&mut text));
    let told = read.ok().and_then(|_| serde_json::from_str(&text).ok());
    told.unwrap_or(Holder {
        process: None,
        since: String::new(),
    })
}
