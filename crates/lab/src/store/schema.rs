//! The store's tables and their versions.

use super::{StoreError, access};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `Anti` in ASCII: tells our files from other programs'.
const APPLICATION_ID: i64 = 0x416e_7469;

/// One step from each version of the schema to the next. Steps that have been released are never edited.
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

/// Those of the first step.
const TABLES: [&str; 6] = ["run", "subject", "item", "raw", "result", "ending"];

/// Opens the file to add to it, and makes it if it is not there.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    access::may_write(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let (connection, _) = connect(path, path, flags)?;
    ready(path, connection)
}

/// Opens a file that is there: as [`open`] does if it may be written, so that it takes the steps it has not had; else it is only read.
pub(super) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    let file = std::fs::canonicalize(path).map_err(|source| StoreError::NotThere {
        path: path.to_owned(),
        source,
    })?;
    if access::may_write(&file).is_ok() {
        let (connection, _) = connect(path, &file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        return ready(path, connection);
    }
    let log = access::log(&file);
    let name = access::read_only_name(&file, log.as_deref());
    let opened = connect(path, &name, access::READ_ONLY);
    let (connection, owner) = opened.map_err(|error| of_log(error, log))?;
    let found = match owner {
        Owner::Ours(version) => version,
        Owner::Nobody | Owner::Foreign => 0,
    };
    match found == STEPS.len() as i64 {
        true => Ok(connection),
        false => Err(StoreError::Older {
            path: path.to_owned(),
            found,
            known: STEPS.len() as i64,
        }),
    }
}

/// What hinders reading beside a log is the log, or what SQLite would make for it.
fn of_log(error: StoreError, log: Option<PathBuf>) -> StoreError {
    match (error, log) {
        (StoreError::NotOpened { path } | StoreError::NotWritable { path, .. }, Some(log)) => {
            StoreError::Log { path, log }
        }
        (error, _) => error,
    }
}

/// Connects to the file of this name, unless it is another program's or a later version's. Errors call it by its path.
fn connect(path: &Path, name: &Path, flags: OpenFlags) -> Result<(Connection, Owner), StoreError> {
    let opened = (|| {
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(Duration::from_secs(20))?;
        let owner = owner(&connection)?;
        Ok((connection, owner))
    })();
    let (connection, owner) = opened.map_err(|source| StoreError::of_sqlite(path, source))?;
    match owner {
        Owner::Foreign => Err(StoreError::Foreign {
            path: path.to_owned(),
        }),
        Owner::Ours(version) if version > STEPS.len() as i64 => Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: STEPS.len() as i64,
        }),
        Owner::Ours(_) | Owner::Nobody => Ok((connection, owner)),
    }
}

/// Makes a connection ready to be written to.
fn ready(path: &Path, mut connection: Connection) -> Result<Connection, StoreError> {
    let done = configure(&connection).and_then(|()| migrate(&mut connection, &STEPS));
    done.map_err(|source| StoreError::of_sqlite(path, source))?;
    Ok(connection)
}

enum Owner {
    /// A new file.
    Nobody,
    /// Ours, of this version.
    Ours(i64),
    /// Another program's.
    Foreign,
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    Ok(match (application, tables) {
        (APPLICATION_ID, _) => Owner::Ours(number("PRAGMA user_version")?),
        (0, 0) => Owner::Nobody,
        _ => Owner::Foreign,
    })
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Takes the file through the steps that it has not had, each in one transaction together with its version number.
fn migrate(connection: &mut Connection, steps: &[&str]) -> rusqlite::Result<()> {
    loop {
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Read inside the transaction: another process may have taken the same step meanwhile.
        let version: usize = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let Some(step) = steps.get(version) else {
            return Ok(());
        };
        transaction.execute_batch(step)?;
        if version == 0 {
            transaction.execute_batch(&append_only())?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        transaction.pragma_update(None, "user_version", version as i64 + 1)?;
        transaction.commit()?;
    }
}

/// Triggers that refuse to change what was stored.
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
