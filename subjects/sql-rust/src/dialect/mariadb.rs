//! What is MariaDB's own in the statements, whatever driver sends them.

use crate::driver::Connection;
use antiphon_kit::Failure;

pub const COLUMNS: &str = "id INTEGER PRIMARY KEY AUTO_INCREMENT, value INTEGER";
pub const PARAMETER: &str = "?";
/// How a prepared statement asks for so many rows.
pub const FIRST: &str = "LIMIT";
pub const NO_RESULT: &str = "DO 1";

/// The server has confirmed its settings.
pub fn settle(_: &Connection) -> Result<(), Failure> {
    Ok(())
}
