//! The databases that there are, and the settings that make their costs comparable.

use crate::{ServiceError, mariadb, postgresql};
use std::fmt;
use std::path::PathBuf;

/// A database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// SQLite, within the program that uses it: the service is a folder for its file.
    Sqlite,
    /// A PostgreSQL server.
    Postgresql,
    /// A MariaDB server.
    Mariadb,
}

/// What a database is set to, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value, as the database itself tells it.
    pub value: &'static str,
}

pub(crate) const fn setting(name: &'static str, value: &'static str) -> Setting {
    Setting { name, value }
}

/// A program sees to these where its driver has others, and reads them back when it tells of its database.
const SQLITE: [Setting; 2] = [setting("journal_mode", "wal"), setting("synchronous", "2")];

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Sqlite, Kind::Postgresql, Kind::Mariadb];

    /// The word for it in subjects' files and in `ANTIPHON_SQL_DATABASE`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Sqlite => "sqlite",
            Kind::Postgresql => "postgresql",
            Kind::Mariadb => "mariadb",
        }
    }

    /// Its name, for people.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Sqlite => "SQLite",
            Kind::Postgresql => "PostgreSQL",
            Kind::Mariadb => "MariaDB",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it runs under: each commit is on the disk before it is answered, and what a transaction reads is committed. SQLite knows
    /// one isolation only, a snapshot of its own for each reader.
    pub fn settings(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite => &SQLITE,
            Kind::Postgresql => &postgresql::SETTINGS,
            Kind::Mariadb => &mariadb::SETTINGS,
        }
    }

    /// Variables that clients' libraries read by themselves: all drivers then go the same way, also those whose interface has no word for it.
    pub fn client_environment(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite | Kind::Mariadb => &[],
            Kind::Postgresql => &postgresql::CLIENTS,
        }
    }

    /// The settings, and what clients are told, in one line, for the record of a run.
    pub fn conditions(self) -> String {
        let settings = self.settings().iter().chain(self.client_environment());
        let words: Vec<_> = settings
            .map(|setting| format!("{}={}", setting.name, setting.value))
            .collect();
        words.join(" ")
    }

    /// The server's program, and the Debian packages that bring it with all that starting it takes; `None` where there is no server.
    pub fn server(self) -> Option<(&'static str, &'static str)> {
        match self {
            Kind::Sqlite => None,
            Kind::Postgresql => Some(("postgres", "postgresql")),
            Kind::Mariadb => Some(("mariadbd", "mariadb-server-core mariadb-client-core")),
        }
    }

    /// Whether this machine can start it.
    ///
    /// # Errors
    /// [`ServiceError::Missing`], with the command that installs it.
    pub fn check(self) -> Result<(), ServiceError> {
        let programs: &[&str] = match self {
            Kind::Sqlite => &[],
            Kind::Postgresql => &postgresql::PROGRAMS,
            Kind::Mariadb => &mariadb::PROGRAMS,
        };
        programs
            .iter()
            .try_for_each(|program| self.find(program).map(|_| ()))
    }

    /// Where one of its programs is.
    pub(crate) fn find(self, program: &'static str) -> Result<PathBuf, ServiceError> {
        let own = std::env::var_os("PATH").unwrap_or_default();
        // Servers are often where only administrators look, and Debian keeps PostgreSQL's apart by version.
        let versions = match self {
            Kind::Postgresql => postgresql::folders(),
            Kind::Sqlite | Kind::Mariadb => Vec::new(),
        };
        let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
        let mut folders = versions
            .into_iter()
            .chain(std::env::split_paths(&own))
            .chain(system);
        let found = folders.find_map(|folder| {
            let path = folder.join(program);
            path.is_file().then_some(path)
        });
        found.ok_or_else(|| ServiceError::Missing {
            title: self.title(),
            program,
            mend: format!(
                "`apt-get install {}` as root",
                self.server().map_or("", |(_, packages)| packages)
            ),
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.title())
    }
}
