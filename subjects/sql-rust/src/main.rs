//! Tests of databases for Rust: rusqlite for SQLite, postgres for PostgreSQL, mysql for MariaDB. The database is built in by its feature.

mod clients;
mod database;
mod reading;
mod writing;

#[cfg_attr(feature = "sqlite", path = "sqlite.rs")]
#[cfg_attr(feature = "postgresql", path = "postgresql.rs")]
#[cfg_attr(feature = "mariadb", path = "mariadb.rs")]
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
