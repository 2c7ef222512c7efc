//! Address by which a program finds its database.

use crate::Kind;
use std::path::PathBuf;

/// A database's address for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) kind: Kind,
    pub(crate) access: Access,
    /// The beginning of its table names, which no other program gets.
    pub(crate) table: String,
}

/// The way to reach a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its file.
    File(PathBuf),
    /// The loopback interface. All drivers support it, so all use the same path.
    Port { port: u16, password: String },
}

/// The user name in each server.
pub(crate) const USER: &str = "antiphon";

impl Address {
    /// Returns the name of the database. PostgreSQL has one from the start, and MariaDB gets one.
    fn database(&self) -> &'static str {
        match self.kind {
            Kind::Postgresql => "postgres",
            Kind::Sqlite | Kind::Mariadb => USER,
        }
    }

    /// Returns the environment variables of the address (docs/reference/subjects.md).
    ///
    /// They are `ANTIPHON_SQL_DATABASE` and `ANTIPHON_SQL_TABLE`, and `ANTIPHON_SQL_FILE` for
    /// SQLite. For servers they are `ANTIPHON_SQL_HOST`, `_PORT`, `_USER`, `_PASSWORD` and `_NAME`,
    /// and the variables that drivers read by themselves ([`Kind::client_environment`]).
    pub fn environment(&self) -> Vec<(String, String)> {
        let mut environment = vec![
            ("DATABASE", self.kind.name().to_owned()),
            ("TABLE", self.table.clone()),
        ];
        match &self.access {
            Access::File(path) => environment.push(("FILE", path.to_string_lossy().into_owned())),
            Access::Port { port, password } => environment.extend([
                ("HOST", "127.0.0.1".to_owned()),
                ("PORT", port.to_string()),
                ("USER", USER.to_owned()),
                ("PASSWORD", password.clone()),
                ("NAME", self.database().to_owned()),
            ]),
        }
        let variable = |(name, value)| (format!("ANTIPHON_SQL_{name}"), value);
        let of_drivers = self.kind.client_environment().iter();
        let of_drivers = of_drivers.map(|set| (set.name.to_owned(), set.value.to_owned()));
        let own = environment.into_iter().map(variable);
        own.chain(of_drivers).collect()
    }
}
