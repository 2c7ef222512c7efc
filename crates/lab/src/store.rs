//! The store: every run with its plan, its raw readings and its results, in one SQLite file that is only ever added to.
//!
//! Each addition is a transaction of its own in a write-ahead log with `synchronous = NORMAL`: a process that is killed at any moment loses
//! at most the addition it was making. (A machine that loses power may lose the last few, and never the file.) Triggers refuse to
//! change or delete anything. A later result of the same item counts instead of an earlier one.

mod access;
mod lease;
mod load;
mod pack;
mod raw;
mod schema;

pub use lease::{Holder, Lease};
pub use raw::Raw;

use crate::record::{Machine, ResultRecord, RunRecord, SubjectRecord};
use rusqlite::{Connection, ErrorCode, params};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A store, open.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

/// What a run begins with.
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
    /// What is open of a run that has not ended.
    pub open: Option<OpenRun>,
}

/// What is open of a run: a frame is measured in each of its process starts, all else in the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenRun {
    /// How often each subject's process is started.
    pub starts: u64,
    /// Measurements of items in process starts, in all.
    pub measurements: u64,
    /// How many of them are done; what is absent counts as done.
    pub measured: u64,
    /// Who measures it now.
    pub held_by: Option<Holder>,
}

/// What the store knows of an interrupted run.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The run as it would be read now.
    pub record: RunRecord,
    /// The options that it began with.
    pub options: String,
    /// The planned items, as they were given to [`Store::plan`].
    pub items: Vec<String>,
    /// For each item, whether it has a result.
    pub done: Vec<bool>,
    /// For each item, what was measured: the process start and the reading, in the order of time.
    pub raw: Vec<Vec<(u32, Raw)>>,
}

/// Why the store did not do what was asked.
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
        /// Which runs there are.
        known: String,
    },
    /// Another process measures it.
    #[error("run {run} is being measured by {by}; wait for its end, or end it")]
    Held {
        /// The run.
        run: i64,
        /// Who.
        by: Holder,
    },
    /// The file that tells who measures a run could not be written.
    #[error("{}: {source}; give access to the store's folder, or name another file with --store", path.display())]
    Lease {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What it holds cannot be read.
    #[error("run {run} in {}: {what} cannot be read: {why}; this version did not write it, or the file is damaged", path.display())]
    Unreadable {
        /// The run.
        run: i64,
        /// The file.
        path: PathBuf,
        /// What.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// It cannot be added to.
    #[error("the store {} cannot be written: {why}; give write access to it and to its folder, or name another file with --store", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Only what is there can be read.
    #[error("there is no store {}: {source}; name another file with --store", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// SQLite could not open it, or what lies beside it.
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
        /// The one that is read here.
        known: i64,
    },
    /// SQLite's own error.
    #[error("{}: {source}; if it is no store, or a damaged one, name another file with --store", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The folder could not be made.
    #[error("cannot make the folder of {}: {source}; name another file with --store", path.display())]
    Folder {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl StoreError {
    /// What SQLite said of a file. Where it was not let at the file, nothing is wrong with what the file holds.
    fn of_sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::ReadOnly) => StoreError::NotWritable {
                path,
                why: source.to_string(),
            },
            Some(ErrorCode::CannotOpen) => StoreError::NotOpened { path },
            _ => StoreError::Sqlite { path, source },
        }
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

    /// Opens a store that is there to read it, also where it may not be written. Then nothing is made beside it either.
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

    /// Adds a warning of a run, as the user was told.
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
            why => Err(self.unreadable(0, "the file", why)),
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

/// JSON of a record. Records have string keys and finite shapes, so writing them cannot fail.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a record is always writable as JSON")
}

fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
