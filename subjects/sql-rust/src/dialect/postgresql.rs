//! What is PostgreSQL's own in the statements, whatever driver sends them.

use crate::driver::Connection;
use antiphon_kit::Failure;

pub const COLUMNS: &str = "id SERIAL PRIMARY KEY, value INTEGER";
pub const PARAMETER: &str = "$1";
/// How a prepared statement asks for so many rows.
pub const FIRST: &str = "LIMIT";
pub const NO_RESULT: &str = "SET statement_timeout TO 0";

/// The server has confirmed its settings.
pub fn settle(_: &Connection) -> Result<(), Failure> {
    Ok(())
}
