//! The process's own connection and its tables. Each driver has a file with the same `Connection` and `Statement`, which call their
//! library as one does by hand.

use crate::dialect::{COLUMNS, settle};
use crate::driver::Connection;
use antiphon_kit::{Failure, increment};
use std::cell::Cell;

const ROWS_MOST: u64 = 1000;

/// What the laboratory says of the database.
pub fn told(name: &str) -> Result<String, Failure> {
    let value = std::env::var(format!("ANTIPHON_SQL_{name}")).unwrap_or_default();
    if value.is_empty() {
        return Err(Failure(format!(
            "ANTIPHON_SQL_{name} is not set: start the program by the laboratory, or name a database (docs/reference/subjects.md)"
        )));
    }
    Ok(value)
}

/// Of `ROWS_MOST` rows of known values, never changed.
pub fn rows_table() -> Result<String, Failure> {
    Ok(told("TABLE")? + "_rows")
}

/// For tests that write.
pub fn written_table() -> Result<String, Failure> {
    Ok(told("TABLE")? + "_written")
}

/// A statement that met other rows than it should is a failure, never a time.
pub fn expect(found: u64, wanted: u64) -> Result<(), Failure> {
    if found == wanted {
        return Ok(());
    }
    Err(Failure(format!("{found} rows in place of {wanted}")))
}

thread_local! {
    static OWN: Cell<Option<&'static Connection>> = const { Cell::new(None) };
}

/// Open from the first preparation to the process's end, so that SQLite's file never loses its last user, which would make it tidy up.
pub fn own() -> Result<&'static Connection, Failure> {
    if let Some(own) = OWN.get() {
        return Ok(own);
    }
    let connection = Connection::open()?;
    settle(&connection)?;
    fill(&connection)?;
    let own: &'static Connection = Box::leak(Box::new(connection));
    OWN.set(Some(own));
    Ok(own)
}

/// The row with key k holds 7919 k mod 10007, in all languages.
fn fill(connection: &Connection) -> Result<(), Failure> {
    let table = rows_table()?;
    connection.execute(&format!("DROP TABLE IF EXISTS {table}"), 0)?;
    connection.execute(&format!("CREATE TABLE {table} ({COLUMNS})"), 0)?;
    connection.execute("BEGIN", 0)?;
    for key in 1..=ROWS_MOST {
        let value = 7919 * key % 10007;
        let insert = format!("INSERT INTO {table} (id, value) VALUES ({key}, {value})");
        connection.execute(&insert, 1)?;
    }
    connection.execute("COMMIT", 0)
}

/// The control: the loop without the statement.
pub fn nothing(iterations: u64) -> u64 {
    let (mut sum, mut index) = (0, 0);
    while index < iterations {
        sum += index;
        index = increment(index);
    }
    sum
}
