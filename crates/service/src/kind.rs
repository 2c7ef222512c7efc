//! The databases that there are, and the settings that make their costs comparable.

use crate::{ServiceError, mariadb, postgresql};
use antiphon_runner::Program;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// How long a server may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

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

const STATEMENTS_OF_SQLITE: [Setting; 4] = [
    setting("isolation", "snapshot"),
    setting("commits", "autocommit"),
    setting("text", "compiled each time"),
    setting("prepared", "compiled once"),
];

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

    /// How subjects send statements, each by its driver: as text, or prepared once and executed by the protocol that is for that. Nobody has a
    /// transaction open that the test did not ask for. What a server tells of it is held against this (`crates/lab/tests/subjects/statements.rs`).
    pub fn statements(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite => &STATEMENTS_OF_SQLITE,
            Kind::Postgresql => &postgresql::STATEMENTS,
            Kind::Mariadb => &mariadb::STATEMENTS,
        }
    }

    /// The server's version, the settings, what clients are told, and how they send statements, in one line, for the record of a run.
    pub fn conditions(self) -> String {
        let version = self.server_version();
        let version = version.map(|version| format!("server={version}"));
        let settings = self.settings().iter().chain(self.client_environment());
        let settings = settings.chain(self.statements());
        let settings = settings.map(|setting| format!("{}={}", setting.name, setting.value));
        let words: Vec<_> = version.into_iter().chain(settings).collect();
        words.join(" ")
    }

    /// The version of the server that would be started, which is asked once; `None` where there is no server, or none is found.
    fn server_version(self) -> Option<&'static str> {
        static TOLD: [OnceLock<Option<String>>; Kind::ALL.len()] =
            [const { OnceLock::new() }; Kind::ALL.len()];
        let version = || self.ask_version();
        TOLD[self as usize].get_or_init(version).as_deref()
    }

    fn ask_version(self) -> Option<String> {
        let path = self.find(self.server()?.0).ok()?;
        let told = Program::new(path).args(["--version"]);
        let told = told.time_limit(VERSION_LIMIT).run();
        let told = told.and_then(antiphon_runner::Output::success).ok()?;
        version_in(told.text().ok()?).map(str::to_owned)
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

/// What a program tells of its version is the first word that begins with a digit.
fn version_in(told: &str) -> Option<&str> {
    let mut words = told.split_whitespace();
    words.find(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.title())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_servers_tell() {
        let postgres = "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)";
        assert_eq!(version_in(postgres), Some("15.14"));
        let mariadb = "mariadbd  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64";
        assert_eq!(version_in(mariadb), Some("10.11.14-MariaDB-0+deb12u2"));
        assert_eq!(version_in("no version"), None);
    }

    #[test]
    fn what_is_recorded_begins_with_the_version_of_a_server_that_is_there() {
        for kind in Kind::ALL {
            let is_there = kind.server().is_some() && kind.check().is_ok();
            let conditions = kind.conditions();
            assert_eq!(conditions.starts_with("server="), is_there, "{conditions}");
            assert!(conditions.contains("commits=autocommit"), "{conditions}");
        }
    }
}
