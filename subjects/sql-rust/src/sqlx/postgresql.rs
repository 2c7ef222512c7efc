//! PostgreSQL by sqlx: numbers of prepared statements in binary.

use crate::database::told;
use antiphon_kit::Failure;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

pub use sqlx::Postgres as Server;

pub fn options() -> Result<PgConnectOptions, Failure> {
    // There is no file of passwords to look for.
    Ok(PgConnectOptions::new_without_pgpass()
        .host(&told("HOST")?)
        .port(told("PORT")?.parse()?)
        .username(&told("USER")?)
        .password(&told("PASSWORD")?)
        .database(&told("NAME")?)
        .ssl_mode(PgSslMode::Disable))
}
