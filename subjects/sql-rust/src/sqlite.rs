//! SQLite by rusqlite, over the system's library, or its own with the feature `sqlite-bundled`.

use crate::database::{expect, told};
use antiphon_kit::Failure;
use rusqlite::Rows;
use std::cell::RefCell;
use std::time::Duration;

pub const COLUMNS: &str = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER";
pub const PARAMETER: &str = "?";
pub const NO_RESULT: &str = "PRAGMA query_only = OFF";

pub struct Connection(rusqlite::Connection);

pub struct Statement<'a> {
    on: &'a Connection,
    prepared: RefCell<rusqlite::Statement<'a>>,
}

impl Connection {
    pub fn open() -> Result<Self, Failure> {
        let connection = rusqlite::Connection::open(told("FILE")?)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        Ok(Connection(connection))
    }

    pub fn close(self) -> Result<(), Failure> {
        self.0.close().map_err(|(_, error)| Failure::from(error))
    }

    /// The journal's mode belongs to the file; that each commit is written through is the library's default.
    pub fn settle(&self) -> Result<(), Failure> {
        let answer = |row: &rusqlite::Row<'_>| row.get(0);
        let mode: String = self.0.query_row("PRAGMA journal_mode = wal", [], answer)?;
        let answer = |row: &rusqlite::Row<'_>| row.get(0);
        let synchronous: u32 = self.0.query_row("PRAGMA synchronous", [], answer)?;
        if mode == "wal" && synchronous == 2 {
            return self.lengthen_log();
        }
        let found = format!("journal_mode {mode}, synchronous {synchronous}");
        Err(Failure(format!("{found} in place of wal, 2")))
    }

    /// As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor.
    fn lengthen_log(&self) -> Result<(), Failure> {
        self.execute(
            "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros",
            0,
        )?;
        self.execute("DROP TABLE filler", 0)
    }

    pub fn execute(&self, text: &str, rows: u64) -> Result<(), Failure> {
        self.0.execute_batch(text)?;
        self.changed(rows)
    }

    fn changed(&self, rows: u64) -> Result<(), Failure> {
        match rows {
            0 => Ok(()),
            _ => expect(self.0.changes(), rows),
        }
    }

    pub fn query(&self, text: &str, rows: u64) -> Result<u64, Failure> {
        let mut statement = self.0.prepare(text)?;
        let columns = statement.column_count();
        added(statement.query([])?, columns, rows)
    }

    pub fn prepare(&self, text: &str) -> Result<Statement<'_>, Failure> {
        let prepared = RefCell::new(self.0.prepare(text)?);
        Ok(Statement { on: self, prepared })
    }
}

impl Statement<'_> {
    pub fn execute(&self, value: i64, rows: u64) -> Result<(), Failure> {
        self.prepared.borrow_mut().execute([value])?;
        self.on.changed(rows)
    }

    pub fn query(&self, value: i64, rows: u64) -> Result<u64, Failure> {
        let mut prepared = self.prepared.borrow_mut();
        let columns = prepared.column_count();
        added(prepared.query([value])?, columns, rows)
    }
}

/// Every column of every row, added up.
fn added(mut rows: Rows<'_>, columns: usize, wanted: u64) -> Result<u64, Failure> {
    let (mut sum, mut count) = (0, 0);
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            sum += row.get::<_, i64>(column)? as u64;
        }
        count += 1;
    }
    expect(count, wanted)?;
    Ok(sum)
}
