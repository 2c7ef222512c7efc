//! SQLite by rusqlite, over the system's library, or its own with the feature `sqlite-bundled`.

use crate::database::{expect, told};
use antiphon_kit::Failure;
use rusqlite::Rows;
use std::cell::RefCell;
use std::time::Duration;

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
