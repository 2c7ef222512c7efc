//! What is SQLite's own in the statements, whatever driver sends them.

use crate::driver::Connection;
use antiphon_kit::Failure;

pub const COLUMNS: &str = "id INTEGER PRIMARY KEY AUTOINCREMENT, value INTEGER";
pub const PARAMETER: &str = "?";
/// How a prepared statement asks for so many rows: newer libraries prepare one anew whenever the parameter of its LIMIT is bound.
pub const FIRST: &str = "WHERE id <=";
pub const NO_RESULT: &str = "PRAGMA query_only = OFF";

/// The journal's mode belongs to the file; that each commit is written through is the library's default.
pub fn settle(on: &Connection) -> Result<(), Failure> {
    on.execute("PRAGMA journal_mode = wal", 0)?;
    for (pragma, wanted) in [("journal_mode", "'wal'"), ("synchronous", "2")] {
        let asked = format!("SELECT {pragma} = {wanted} FROM pragma_{pragma}");
        if on.query(&asked, 1)? != 1 {
            return Err(Failure(format!("{pragma} is not {wanted}")));
        }
    }
    lengthen_log(on)
}

/// As long as it becomes before it is written over: a commit that makes it longer uses twice as much of the processor.
fn lengthen_log(on: &Connection) -> Result<(), Failure> {
    on.execute(
        "CREATE TABLE filler AS SELECT zeroblob(8388608) AS zeros",
        0,
    )?;
    on.execute("DROP TABLE filler", 0)
}
