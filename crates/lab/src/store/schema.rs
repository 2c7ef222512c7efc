//! The store's tables and their versions.

use super::{StoreError, access};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `Anti` in ASCII: identifies our files.
const APPLICATION_ID: i64 = 0x416e_7469;

/// One step from each version of the schema to the next. Released steps are never edited.
const STEPS: [&str; 2] = [FIRST, WARNINGS];

const FIRST: &str = "
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    suite TEXT NOT NULL,
    suite_toml TEXT NOT NULL,
    started TEXT NOT NULL,     -- RFC 3339, UTC
    quick INTEGER NOT NULL,
    machine TEXT NOT NULL,     -- JSON of Machine
    options TEXT NOT NULL      -- JSON of what else decides the plan
);
CREATE TABLE subject (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run,
    subject TEXT NOT NULL      -- JSON of SubjectRecord
);
CREATE TABLE item (
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL, -- in the plan, from 0
    item TEXT NOT NULL,        -- JSON
    PRIMARY KEY (run, position)
) WITHOUT ROWID;
CREATE TABLE raw (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,    -- which start of the subject's process, from 0
    kind TEXT NOT NULL,        -- batch, readings, gaps, samples, series, note
    head TEXT NOT NULL,        -- JSON: the request and what came beside the numbers
    body BLOB NOT NULL         -- the numbers, packed
);
CREATE INDEX raw_of_run ON raw (run);
CREATE TABLE result (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL,
    made TEXT NOT NULL,
    result TEXT NOT NULL       -- JSON of ResultRecord
);
CREATE INDEX result_of_run ON result (run, position);
CREATE TABLE ending (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run,
    ended TEXT NOT NULL
);
CREATE INDEX ending_of_run ON ending (run);
";

const WARNINGS: &str = "
CREATE TABLE warning (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run,
    warning TEXT NOT NULL      -- as the user was told
);
CREATE INDEX warning_of_run ON warning (run);
CREATE TRIGGER warning_no_UPDATE BEFORE UPDATE ON warning BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
CREATE TRIGGER warning_no_DELETE BEFORE DELETE ON warning BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;
";

/// Tables of the first step.
const TABLES: [&str; 6] = ["run", "subject", "item", "raw", "result", "ending"];

/// The version of the schema that this program knows.
const NEWEST: i64 = STEPS.len() as i64;

/// Longest wait of a writer for another.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest wait of a reader. It waits for no commit, only while a log is taken up again or
/// finished.
const READERS_PATIENCE: Duration = Duration::from_secs(2);

/// Pause between two attempts for which SQLite does not wait by itself.
const BETWEEN: Duration = Duration::from_millis(5);

/// Opens the file to add to it, and makes it if it is not there.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    access::may_write(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let (connection, _) = connect(path, || {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    })?;
    ready(path, connection)
}

/// Opens a file that is there to read it. One that an earlier version wrote is first brought to
/// this one, if it may be written.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let file = std::fs::canonicalize(path).map_err(|source| StoreError::NotThere {
        path: path.to_owned(),
        source,
    })?;
    let log = access::log(&file);
    if access::may_write(&file).is_err() {
        let name = access::read_only_name(&file, log.as_deref());
        let opened = connect(path, || reader(&name));
        let (connection, owner) = opened.map_err(|error| of_log(error, log))?;
        return match owner.version() == NEWEST {
            true => Ok(connection),
            false => Err(StoreError::Older {
                path: path.to_owned(),
                found: owner.version(),
                known: NEWEST,
            }),
        };
    }
    let opened = match connect(path, || reader(&access::name(&file, ""))) {
        Err(StoreError::NoRoom { .. } | StoreError::NoSharedMemory { .. }) => {
            connect(path, || lone_reader(&file))
        }
        opened => opened,
    };
    // Without a log the file is complete by itself. Where a log cannot be created, there is no
    // writer.
    let opened = match opened {
        Err(StoreError::NoRoom { .. } | StoreError::NotOpened { .. }) if log.is_none() => {
            connect(path, || reader(&access::read_only_name(&file, None)))
        }
        opened => opened,
    };
    let (connection, owner) = opened?;
    if owner.version() == NEWEST {
        return Ok(connection);
    }
    drop(connection);
    drop(open(path)?);
    let (connection, _) = connect(path, || reader(&access::name(&file, "")))?;
    Ok(connection)
}

/// Opens a connection that only reads. Processes find the log's content by an index, in shared
/// memory beside it.
fn reader(name: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(name, access::READ_ONLY)?;
    connection.busy_timeout(READERS_PATIENCE)?;
    Ok(connection)
}

/// Opens a connection that only reads, with the index of the log in its own memory.
///
/// It serves a full disk, or a file system without shared memory. No other connection may exist
/// meanwhile, which SQLite ensures by a lock.
fn lone_reader(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.busy_timeout(READERS_PATIENCE)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Attributes a failed read beside a log to the log, or to the file that SQLite would create for
/// it.
fn of_log(error: StoreError, log: Option<PathBuf>) -> StoreError {
    match (error, log) {
        (StoreError::NotOpened { path } | StoreError::NotWritable { path, .. }, Some(log)) => {
            StoreError::Log { path, log }
        }
        (error, _) => error,
    }
}

/// Connects to a file, unless it is another program's or a later version's. Errors call it by its
/// path.
fn connect(
    path: &Path,
    connection: impl FnOnce() -> rusqlite::Result<Connection>,
) -> Result<(Connection, Owner), StoreError> {
    let opened = (|| {
        let connection = connection()?;
        let owner = owner(&connection)?;
        Ok((connection, owner))
    })();
    let (connection, owner) = opened.map_err(|source| StoreError::of_sqlite(path, source))?;
    match owner {
        Owner::Foreign => Err(StoreError::Foreign {
            path: path.to_owned(),
        }),
        Owner::Ours(version) if version > NEWEST => Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: NEWEST,
        }),
        Owner::Ours(_) | Owner::Nobody => Ok((connection, owner)),
    }
}

/// Makes a connection ready to be written to.
fn ready(path: &Path, mut connection: Connection) -> Result<Connection, StoreError> {
    let done = configure(&connection, Instant::now() + PATIENCE)
        .and_then(|()| migrate(&mut connection, &STEPS));
    done.map_err(|source| StoreError::of_sqlite(path, source))?;
    Ok(connection)
}

#[derive(Clone, Copy)]
enum Owner {
    /// A new file.
    Nobody,
    /// Ours, of this version.
    Ours(i64),
    /// Another program's.
    Foreign,
}

impl Owner {
    /// Returns the version of our schema; 0 for a file without one.
    fn version(self) -> i64 {
        match self {
            Owner::Ours(version) => version,
            Owner::Nobody | Owner::Foreign => 0,
        }
    }
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    // In one statement, so that all three are of one moment: another process may be making the
    // tables.
    let found = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
                 FROM pragma_application_id, pragma_user_version";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (application, version, tables): (i64, i64, i64) = connection.query_row(found, [], read)?;
    Ok(match (application, tables) {
        (APPLICATION_ID, _) => Owner::Ours(version),
        (0, 0) => Owner::Nobody,
        _ => Owner::Foreign,
    })
}

fn configure(connection: &Connection, until: Instant) -> rusqlite::Result<()> {
    // SQLite does not wait here by itself while another process makes the same file.
    while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        if !is_busy || Instant::now() >= until {
            return Err(error);
        }
        std::thread::sleep(BETWEEN);
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Takes the file through the steps that it has not had, all in one transaction together with its
/// version number.
fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    let version = |connection: &Connection| -> rusqlite::Result<usize> {
        connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    };
    // A file with all steps waits for no writer.
    if version(connection)? >= steps.len() {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Read inside the transaction: another process may have taken the same steps meanwhile.
    let had = version(&transaction)?;
    for step in steps.iter().skip(had) {
        transaction.execute_batch(step)?;
    }
    if had == 0 {
        transaction.execute_batch(&append_only())?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    transaction.pragma_update(None, "user_version", had.max(steps.len()) as i64)?;
    transaction.commit()
}

/// Returns triggers that refuse changes of stored data.
fn append_only() -> String {
    let mut triggers = String::new();
    for table in TABLES {
        for verb in ["UPDATE", "DELETE"] {
            triggers += &format!(
                "CREATE TRIGGER {table}_no_{verb} BEFORE {verb} ON {table}
                 BEGIN SELECT RAISE(ABORT, 'the store is append-only'); END;\n"
            );
        }
    }
    triggers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn an_older_file_takes_the_steps_it_has_not_had() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &STEPS).unwrap();
        connection
            .execute_batch("INSERT INTO run (suite, suite_toml, started, quick, machine, options) VALUES ('s', '', '', 0, '{}', '{}')")
            .unwrap();
        let mut later = STEPS.to_vec();
        later.push("ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT 'none'");
        migrate(&mut connection, &later).unwrap();
        assert_eq!(version(&connection), later.len() as i64);
        let note: String = connection
            .query_row("SELECT note FROM run", [], |row| row.get(0))
            .unwrap();
        assert_eq!(note, "none");
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &STEPS).unwrap();
        let mut later = STEPS.to_vec();
        later.push("CREATE TABLE extra (a); CREATE TABLE run (a)");
        assert!(migrate(&mut connection, &later).is_err());
        assert_eq!(version(&connection), STEPS.len() as i64);
        assert!(connection.prepare("SELECT a FROM extra").is_err());
    }

    #[test]
    fn nothing_can_be_changed_or_deleted() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &STEPS).unwrap();
        connection
            .execute_batch(
                "INSERT INTO run (suite, suite_toml, started, quick, machine, options) VALUES ('s', '', '', 0, '{}', '{}');
                 INSERT INTO warning (run, warning) VALUES (1, 'w')",
            )
            .unwrap();
        for sql in [
            "UPDATE run SET suite = 't'",
            "DELETE FROM run",
            "UPDATE warning SET warning = 'v'",
            "DELETE FROM warning",
        ] {
            let refused = connection.execute_batch(sql).unwrap_err().to_string();
            assert!(refused.contains("append-only"), "{refused}");
        }
    }
}
