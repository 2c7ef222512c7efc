//! SQLite by sqlx, over the system's library. A thread of the driver's own has the connection, without the library's lock.

use crate::database::told;
use antiphon_kit::Failure;
use sqlx::sqlite::SqliteConnectOptions;
use std::time::Duration;

pub use sqlx::Sqlite as Server;

pub fn options() -> Result<SqliteConnectOptions, Failure> {
    Ok(SqliteConnectOptions::new()
        .filename(told("FILE")?)
        .create_if_missing(true)
        .busy_timeout(Duration::from_secs(10)))
}
