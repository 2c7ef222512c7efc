//! Tests of databases for Rust: rusqlite for SQLite, postgres for PostgreSQL, mysql for MariaDB, or sqlx for each. Database and driver are
//! built in by a feature.

mod clients;
mod database;
mod reading;
mod writing;

#[cfg_attr(
    any(feature = "sqlite", feature = "sqlite-sqlx"),
    path = "dialect/sqlite.rs"
)]
#[cfg_attr(
    any(feature = "postgresql", feature = "postgresql-sqlx"),
    path = "dialect/postgresql.rs"
)]
#[cfg_attr(
    any(feature = "mariadb", feature = "mariadb-sqlx"),
    path = "dialect/mariadb.rs"
)]
mod dialect;

#[cfg_attr(feature = "sqlite", path = "sqlite.rs")]
#[cfg_attr(feature = "postgresql", path = "postgresql.rs")]
#[cfg_attr(feature = "mariadb", path = "mariadb.rs")]
#[cfg_attr(feature = "sqlx", path = "sqlx.rs")]
mod driver;

use antiphon_kit::Subject;
use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = reading::tests()
        .chain(writing::tests())
        .chain(clients::tests());
    tests
        .fold(Subject::new("Rust"), |subject, test| subject.test(test))
        .serve()
}
