//! What a program is told so that it finds its database.

use crate::Kind;
use std::path::PathBuf;

/// A database's address for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) kind: Kind,
    pub(crate) access: Access,
    /// The beginning of the names of its tables, which no other program is given.
    pub(crate) table: String,
}

/// How a database is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// By its file.
    File(PathBuf),
    /// By the loopback interface, which all drivers speak, so that all are measured over the same.
    Port { port: u16, password: String },
}

/// The user that a server knows.
pub(crate) const USER: &str = "antiphon";

impl Address {
    /// PostgreSQL comes with a database, MariaDB is given one.
    fn database(&self) -> &'static str {
        match self.kind {
            Kind::Postgresql => "postgres",
            Kind::Sqlite | Kind::Mariadb => USER,
        }
    }

    /// The environment variables that tell it (docs/subjects.md): `ANTIPHON_SQL_DATABASE` and `ANTIPHON_SQL_TABLE`; `ANTIPHON_SQL_FILE`
    /// for SQLite; `ANTIPHON_SQL_HOST`, `_PORT`, `_USER`, `_PASSWORD` and `_NAME` for servers; and what drivers read by themselves
    /// ([`Kind::client_environment`]).
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
