//! The store: every run with its plan, raw readings and results, in one append-only SQLite file.
//!
//! Each addition is a separate transaction in a write-ahead log with `synchronous = NORMAL`. A
//! killed process loses at most its current addition. (A power failure may lose the last few
//! additions, and never the file.) Triggers refuse changes and deletions. A later result of the
//! same item replaces an earlier one.

mod access;
mod holders;
mod lease;
mod load;
mod pack;
mod raw;
mod schema;

pub use lease::{Holder, Lease};
pub use raw::Raw;

use crate::record::{Machine, ResultRecord, RunRecord, SubjectRecord};
use rusqlite::{Connection, ErrorCode, ffi, params};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A store, open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// Initial data of a run.
#[derive(Clone, Debug)]
pub struct NewRun<'r> {
    /// The suite's name.
    pub suite: &'r str,
    /// The text of the suite's file.
    pub suite_toml: &'r str,
    /// Whether the quick sizes are used.
    pub quick: bool,
    /// The machine.
    pub machine: &'r Machine,
    /// Everything else that decides the plan, as JSON, so that the run can be resumed.
    pub options: &'r str,
}

/// A run as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its number.
    pub id: i64,
    /// The suite's name.
    pub suite: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; `None` while it goes on or after a crash.
    pub ended: Option<String>,
    /// Whether the quick sizes were used.
    pub quick: bool,
    /// Items planned.
    pub planned: usize,
    /// Items with a result.
    pub done: usize,
    /// Open part of a run that has not ended.
    pub open: Option<OpenRun>,
}

/// Open part of a run. A frame is measured in each of its process starts, all else in the first
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenRun {
    /// Starts of each subject's process.
    pub starts: u64,
    /// Measurements of items in process starts, in all.
    pub measurements: u64,
    /// Number of finished measurements; an absence counts as finished.
    pub measured: u64,
    /// Process that measures it now.
    pub held_by: Option<Holder>,
}

/// Stored state of an interrupted run.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The run as it would be read now.
    pub record: RunRecord,
    /// The options that it began with.
    pub options: String,
    /// The planned items, as they were given to [`Store::plan`].
    pub items: Vec<String>,
    /// Whether each item has a result.
    pub done: Vec<bool>,
    /// Measurements of each item: the process start and the reading, in the order of time.
    pub raw: Vec<Vec<(u32, Raw)>>,
}

/// Reason why the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It was written by a later version.
    #[error("{} is of schema {found}, and this version knows {known}; use a newer antiphon, or another file", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// It is a database, but not ours.
    #[error("{} is a database of another program; name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// There is no such run.
    #[error("there is no run {id} in {}; {known}", path.display())]
    NoRun {
        /// The run that was asked for.
        id: i64,
        /// The file.
        path: PathBuf,
        /// Numbers of the existing runs.
        known: String,
    },
    /// Another process measures it.
    #[error("run {run} is being measured by {by}; wait for its end, or end it")]
    Held {
        /// The run.
        run: i64,
        /// Holder.
        by: Holder,
    },
    /// The file that names the holder of a run could not be written.
    #[error("{}: {source}; give access to the store's folder, or name another file with --store", path.display())]
    Lease {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// Unreadable content.
    #[error("run {run} in {}: {what} cannot be read: {why}; this version did not write it, or the file is damaged", path.display())]
    Unreadable {
        /// The run.
        run: i64,
        /// The file.
        path: PathBuf,
        /// Name of the content.
        what: &'static str,
        /// Cause.
        why: String,
    },
    /// It cannot be added to.
    #[error("the store {} cannot be written: {why}; give write access to it and to its folder, or name another file with --store", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Cause.
        why: String,
    },
    /// Only an existing store can be read.
    #[error("there is no store {}: {source}; name another file with --store", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// SQLite could not open it, or a file beside it.
    #[error("{} cannot be opened; give access to it and to its folder, or name another file with --store", path.display())]
    NotOpened {
        /// The file.
        path: PathBuf,
    },
    /// It may not be written, and its log cannot be read as it lies there.
    #[error(
        "{}: what was added last lies in {}, which cannot be read without writing; have one who may write the store run `antiphon runs`, \
         or copy both to a folder of yours and name the copy with --store",
        path.display(), log.display()
    )]
    Log {
        /// The file.
        path: PathBuf,
        /// Its log.
        log: PathBuf,
    },
    /// An earlier version wrote it, or it is empty, and it may not be written.
    #[error(
        "{} is of schema {found}, this version reads {known}, and it may not be written to be brought to that; have one who may \
         write it run `antiphon runs`, or copy it to a folder of yours and name the copy with --store",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema; 0 if it is empty.
        found: i64,
        /// Version that this program reads.
        known: i64,
    },
    /// Another process holds it.
    #[error("{} is held by {}; wait for its end, let it go on if it was stopped, or end it", path.display(), held(.by))]
    Locked {
        /// The file.
        path: PathBuf,
        /// Holder, if the system tells.
        by: Option<Holder>,
    },
    /// The disk is full.
    #[error("{}: there is no room on its disk; make some, or name a file on another disk with --store", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
    },
    /// Processes cannot share memory through the file system.
    #[error(
        "{}: its file system lets processes share no memory, as network folders often do not, and a store needs that; name a file on a disk of this machine with --store",
        path.display()
    )]
    NoSharedMemory {
        /// The file.
        path: PathBuf,
    },
    /// It is a database whose content is not whole.
    #[error(
        "{} is damaged: {why}; save what can be read with `sqlite3 {} .recover | sqlite3 NEW.db`, and go on with --store NEW.db",
        path.display(), path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Message of SQLite.
        why: String,
    },
    /// It is no database.
    #[error("{} is no store and no database; name another file with --store", path.display())]
    NoStore {
        /// The file.
        path: PathBuf,
    },
    /// SQLite's own error.
    #[error("{}: {source}; name another file with --store", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Error of SQLite.
        source: rusqlite::Error,
    },
    /// The folder could not be made.
    #[error("cannot make the folder of {}: {source}; name another file with --store", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl StoreError {
    /// Translates an error of SQLite about a file.
    fn of_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        let why = source.to_string();
        let extended = match &source {
            rusqlite::Error::SqliteFailure(error, _) => error.extended_code,
            _ => 0,
        };
        match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => StoreError::NotWritable { path, why },
            Some(ErrorCode::CannotOpen) => StoreError::NotOpened { path },
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed,
            ) => {
                let by = holders::of(&path);
                StoreError::Locked { path, by }
            }
            Some(ErrorCode::DiskFull) => StoreError::NoRoom { path },
            Some(ErrorCode::SystemIoFailure) => match extended {
                ffi::SQLITE_IOERR_SHMSIZE => StoreError::NoRoom { path },
                ffi::SQLITE_IOERR_SHMMAP
                | ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMLOCK => StoreError::NoSharedMemory { path },
                _ => StoreError::Sqlite { path, source },
            },
            Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, why },
            Some(ErrorCode::NotADatabase) => StoreError::NoStore { path },
            _ => StoreError::Sqlite { path, source },
        }
    }
}

fn held(by: &Option<Holder>) -> String {
    match by {
        Some(by) => by.to_string(),
        None => "another process".to_owned(),
    }
}

impl Store {
    /// Opens the store to add to it, and makes it if it is not there.
    ///
    /// # Errors
    /// [`StoreError::NotWritable`], if it may only be read: [`Store::open_to_read`] does that.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
                path: path.to_owned(),
                source,
            })?;
        }
        let connection = schema::open(path)?;
        Ok(Store {
            connection,
            path: path.to_owned(),
        })
    }

    /// Opens an existing store for reading. It waits for no writer and needs no room on the disk.
    ///
    /// It also reads a store without permission to write, and creates nothing beside it.
    pub fn open_to_read(path: &Path) -> Result<Store, StoreError> {
        let connection = schema::open_to_read(path)?;
        Ok(Store {
            connection,
            path: path.to_owned(),
        })
    }

    /// Begins a run and gives its number.
    pub fn begin(&mut self, run: &NewRun<'_>) -> Result<i64, StoreError> {
        let added = self.connection.execute(
            "INSERT INTO run (suite, suite_toml, started, quick, machine, options) VALUES (?, ?, ?, ?, ?, ?)",
            params![run.suite, run.suite_toml, now(), run.quick, json(run.machine), run.options],
        );
        self.sqlite(added)?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Adds a subject that was started.
    pub fn subject(&mut self, run: i64, subject: &SubjectRecord) -> Result<(), StoreError> {
        let added = self.connection.execute(
            "INSERT INTO subject (run, subject) VALUES (?, ?)",
            params![run, json(subject)],
        );
        self.sqlite(added).map(drop)
    }

    /// Sets the plan of a run: its items in order, each as JSON. All or none of them are stored.
    pub fn plan(&mut self, run: i64, items: &[String]) -> Result<(), StoreError> {
        let planned = (|| {
            let transaction = self.connection.transaction()?;
            for (position, item) in items.iter().enumerate() {
                transaction.execute(
                    "INSERT INTO item (run, position, item) VALUES (?, ?, ?)",
                    params![run, position, item],
                )?;
            }
            transaction.commit()
        })();
        self.sqlite(planned)
    }

    /// Adds one reading of an item, taken in a process start.
    pub fn append(
        &mut self,
        run: i64,
        item: usize,
        start: u32,
        raw: &Raw,
    ) -> Result<(), StoreError> {
        let added = self.connection.prepare_cached(
            "INSERT INTO raw (run, position, start, kind, head, body) VALUES (?, ?, ?, ?, ?, ?)",
        );
        let added = added.and_then(|mut statement| {
            let (head, body) = raw.pack();
            statement.execute(params![run, item, start, raw.kind(), head, body])
        });
        self.sqlite(added).map(drop)
    }

    /// Adds the result of an item.
    pub fn result(
        &mut self,
        run: i64,
        item: usize,
        result: &ResultRecord,
    ) -> Result<(), StoreError> {
        let added = self.connection.execute(
            "INSERT INTO result (run, position, made, result) VALUES (?, ?, ?, ?)",
            params![run, item, now(), json(result)],
        );
        self.sqlite(added).map(drop)
    }

    /// Adds a warning of a run, as the user saw it.
    pub fn warn(&mut self, run: i64, warning: &str) -> Result<(), StoreError> {
        let added = self.connection.execute(
            "INSERT INTO warning (run, warning) VALUES (?, ?)",
            params![run, warning],
        );
        self.sqlite(added).map(drop)
    }

    /// Ends a run. A resumed run ends again; the last end counts.
    pub fn finish(&mut self, run: i64) -> Result<(), StoreError> {
        let added = self.connection.execute(
            "INSERT INTO ending (run, ended) VALUES (?, ?)",
            params![run, now()],
        );
        self.sqlite(added).map(drop)
    }

    /// Asks SQLite whether the file is whole.
    pub fn check(&self) -> Result<(), StoreError> {
        let verdict = self
            .connection
            .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        match self.sqlite(verdict)? {
            verdict if verdict == "ok" => Ok(()),
            why => Err(StoreError::Damaged {
                path: self.path.clone(),
                why,
            }),
        }
    }

    fn unreadable(&self, run: i64, what: &'static str, why: String) -> StoreError {
        StoreError::Unreadable {
            run,
            path: self.path.clone(),
            what,
            why,
        }
    }

    fn sqlite<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|source| StoreError::of_sqlite(&self.path, source))
    }
}

/// Writes a record as JSON. Records have string keys and finite shapes, so this cannot fail.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a record is always writable as JSON")
}

fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
