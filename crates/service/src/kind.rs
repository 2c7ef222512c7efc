//! The supported databases, and the settings that make their costs comparable.

use crate::{ServiceError, mariadb, postgresql};
use antiphon_runner::Program;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Time limit of a server's version command.
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

/// Setting of a database, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value, in the database's own form.
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

/// A program applies these if its driver has other defaults. It reads them back for the record of
/// its database.
const SQLITE: [Setting; 2] = [setting("journal_mode", "wal"), setting("synchronous", "2")];

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Sqlite, Kind::Postgresql, Kind::Mariadb];

    /// Returns its word in subjects' files and in `ANTIPHON_SQL_DATABASE`.
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

    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns its settings: each commit is on the disk before its answer, and a transaction reads
    /// committed data.
    ///
    /// SQLite knows one isolation only, a separate snapshot for each reader.
    pub fn settings(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite => &SQLITE,
            Kind::Postgresql => &postgresql::SETTINGS,
            Kind::Mariadb => &mariadb::SETTINGS,
        }
    }

    /// Returns variables that clients' libraries read by themselves. All drivers then behave alike,
    /// also those without such an option.
    pub fn client_environment(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite | Kind::Mariadb => &[],
            Kind::Postgresql => &postgresql::CLIENTS,
        }
    }

    /// Returns the way in which subjects send statements by their drivers: as text, or prepared
    /// once and then executed.
    ///
    /// Prepared statements use the protocol's own form. No subject has a transaction open that the
    /// test did not ask for. A test checks this against the servers' reports
    /// (`crates/lab/tests/subjects/statements.rs`).
    pub fn statements(self) -> &'static [Setting] {
        match self {
            Kind::Sqlite => &STATEMENTS_OF_SQLITE,
            Kind::Postgresql => &postgresql::STATEMENTS,
            Kind::Mariadb => &mariadb::STATEMENTS,
        }
    }

    /// Returns the server's version, all settings of servers and clients, and the form of
    /// statements. It is one line, for the record of a run.
    pub fn conditions(self) -> String {
        let version = self.server_version();
        let version = version.map(|version| format!("server={version}"));
        let settings = self.settings().iter().chain(self.client_environment());
        let settings = settings.chain(self.statements());
        let settings = settings.map(|setting| format!("{}={}", setting.name, setting.value));
        let words: Vec<_> = version.into_iter().chain(settings).collect();
        words.join(" ")
    }

    /// Returns the version of the server to start, which is read once; `None` without a server.
    fn server_version(self) -> Option<&'static str> {
        static TOLD: [OnceLock<Option<String>>; Kind::ALL.len()] =
            [const { OnceLock::new() }; Kind::ALL.len()];
        let version = || self.ask_version();
        TOLD[self as usize].get_or_init(version).as_deref()
    }

    fn ask_version(self) -> Option<String> {
        let path = self.find(self.server()?.0).ok()?;
        let reported = Program::new(path).args(["--version"]);
        let reported = reported.time_limit(VERSION_LIMIT).run();
        let reported = reported.and_then(antiphon_runner::Output::success).ok()?;
        version_in(reported.text().ok()?).map(str::to_owned)
    }

    /// Returns the server's program and the Debian packages that bring everything for its start;
    /// `None` without a server.
    pub fn server(self) -> Option<(&'static str, &'static str)> {
        match self {
            Kind::Sqlite => None,
            Kind::Postgresql => Some(("postgres", "postgresql")),
            Kind::Mariadb => Some(("mariadbd", "mariadb-server-core mariadb-client-core")),
        }
    }

    /// Checks that this machine can start it.
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

    /// Returns the path of one of its programs.
    pub(crate) fn find(self, program: &'static str) -> Result<PathBuf, ServiceError> {
        let own = std::env::var_os("PATH").unwrap_or_default();
        // Servers are often in folders that only administrators search, and Debian separates
        // PostgreSQL's by version.
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
            help: format!(
                "`apt-get install {}` as root",
                self.server().map_or("", |(_, packages)| packages)
            ),
        })
    }
}

/// Returns the version in a program's output: the first word that begins with a digit.
fn version_in(reported: &str) -> Option<&str> {
    let mut words = reported.split_whitespace();
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
