//! PostgreSQL.

use crate::address::USER;
use crate::kind::{Setting, setting};
use crate::server::{CONNECTIONS_MOST, Setup};
use crate::{Kind, ServiceError};
use antiphon_runner::Program;
use std::path::{Path, PathBuf};

pub(crate) const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// The signal for a "fast shutdown": connections are closed, and the database stays intact. Linux
/// uses the same number on all architectures.
pub(crate) const STOP: i32 = 2;

/// Settings. Shared memory is in files and anonymous pages, so that a killed server leaves only its
/// folder and one small segment.
///
/// Autovacuum is off: once a minute a worker of the server would end in some turn, and count as a
/// child of the measurement.
pub(crate) const SETTINGS: [Setting; 8] = [
    setting("password_encryption", "scram-sha-256"),
    setting("fsync", "on"),
    setting("synchronous_commit", "on"),
    setting("full_page_writes", "on"),
    setting("default_transaction_isolation", "read committed"),
    setting("autovacuum", "off"),
    setting("shared_memory_type", "mmap"),
    setting("dynamic_shared_memory_type", "mmap"),
];

/// Setting of libpq, which otherwise looks for Kerberos tickets before it connects. That costs
/// processor time of each connection, and bindings such as GNATCOLL's have no parameter for it.
pub(crate) const CLIENTS: [Setting; 1] = [setting("PGGSSENCMODE", "disable")];

pub(crate) const STATEMENTS: [Setting; 3] = [
    setting("commits", "autocommit"),
    setting("text", "simple protocol"),
    setting("prepared", "extended protocol"),
];

/// Returns the folders of Debian's versions, the newest first.
pub(crate) fn folders() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/usr/lib/postgresql");
    let names = entries.into_iter().flatten().flatten();
    let mut versions: Vec<u32> = names
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    let folder = |version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"));
    versions.into_iter().map(folder).collect()
}

/// The superuser. It logs in only over the socket, by a password that never goes over a port.
const ADMINISTRATOR: &str = "administrator";

/// Returns the rules of login. A client on the port proves its password without sending it (SCRAM).
fn host_based_authentication() -> String {
    format!(
        "local all {ADMINISTRATOR} scram-sha-256\n\
         host postgres {USER} 127.0.0.1/32 scram-sha-256\n"
    )
}

pub(crate) fn set_up(setup: &Setup) -> Result<(), ServiceError> {
    let password = setup.write("password", &format!("{}\n", setup.administrator))?;
    setup.write("hba.conf", &host_based_authentication())?;
    let initdb = setup.program(Kind::Postgresql, "initdb")?;
    let initdb = initdb
        .args(["-D", "data", "-U", ADMINISTRATOR, "--auth=scram-sha-256"])
        .args(["--encoding=UTF8", "--locale=C", "--no-instructions"])
        .arg("--no-sync") // of an empty database; from here on it is as durable as any
        .arg(format!("--pwfile={}", password.display()));
    setup.prepare(Kind::Postgresql, initdb)
}

pub(crate) fn server(setup: &Setup) -> Result<Program, ServiceError> {
    let folder = setup.folder.display();
    let mut server = setup
        .logged(Kind::Postgresql, "postgres")?
        .args(["-D", "data", "-h", "127.0.0.1", "-p"])
        .arg(setup.port.to_string())
        .arg("-k")
        .arg(&setup.folder)
        .arg("-c")
        .arg(format!("hba_file={folder}/hba.conf"))
        .arg("-c")
        .arg(format!("max_connections={CONNECTIONS_MOST}"));
    for Setting { name, value } in SETTINGS {
        server = server.arg("-c").arg(format!("{name}={value}"));
    }
    Ok(server)
}

/// Returns the query of the settings, a line each.
pub(crate) fn settings_query() -> String {
    let names: Vec<_> = SETTINGS.iter().map(|s| format!("'{}'", s.name)).collect();
    format!(
        "SELECT name, setting FROM pg_settings WHERE name IN ({});",
        names.join(", ")
    )
}

/// Returns the statements for the role of programs, which may make tables and is no superuser.
pub(crate) fn admit(password: &str) -> String {
    format!(
        "CREATE ROLE {USER} LOGIN PASSWORD '{password}';\n\
         GRANT CREATE ON SCHEMA public TO {USER};\n"
    )
}

/// Runs statements as the administrator, over the socket in the private folder.
pub(crate) fn client(setup: &Setup, statements: &str) -> Result<Program, ServiceError> {
    let client = setup.program(Kind::Postgresql, "psql")?;
    Ok(client
        .args(["-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1"])
        .arg("-h")
        .arg(&setup.folder)
        .args(["-p", &setup.port.to_string(), "-w"])
        .args(["-U", ADMINISTRATOR, "-d", "postgres"])
        .env("PGPASSWORD", &setup.administrator)
        .input(statements))
}

/// Removes the small System V segment of a killed server. A server uses it to see whether another
/// one uses its data.
///
/// `folder` is that of the service. The segment is identified by the server's own note of its key
/// and number, and has no attached process. Returns `false` as long as a process is attached.
pub(crate) fn forget_shared_memory(folder: &Path) -> bool {
    let note = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap_or_default();
    let Some((key, number)) = segment(&note) else {
        return true;
    };
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    match attached(&table, key, number) {
        None => true,
        Some(0) => {
            // Without `ipcrm` the segment stays, 56 bytes until the next boot.
            let number = number.to_string();
            let _ = Program::new("ipcrm").args(["-m", &number]).run();
            true
        }
        Some(_) => false,
    }
}

/// Returns key and number of the segment in the text of a `postmaster.pid`: its seventh line.
fn segment(note: &str) -> Option<(i32, u32)> {
    let mut words = note.lines().nth(6)?.split_whitespace();
    // The key is written as an unsigned number there, and as a signed one in the system's table.
    let key = words.next()?.parse::<u32>().ok()? as i32;
    let number = words.next()?.parse().ok()?;
    Some((key, number))
}

/// Returns the number of processes attached to a segment; `None` if the system's table has none of
/// this key and number.
fn attached(table: &str, key: i32, number: u32) -> Option<u32> {
    table.lines().find_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let named = [key.to_string(), number.to_string()];
        (words.get(..2)? == named).then(|| words.get(6)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str =
        "4242\n/data\n1700000000\n5432\n/data\n127.0.0.1\n  4294967290   65537\nready\n";

    #[test]
    fn the_segment_is_the_one_that_the_server_noted() {
        assert_eq!(segment(NOTE), Some((-6, 65537)));
        assert_eq!(segment("4242\n/data\n"), None);
    }

    #[test]
    fn a_segment_is_known_by_key_and_number() {
        let head = "       key      shmid perms size  cpid  lpid nattch\n";
        let row = |key: i32, number: u32, attached: u32| {
            format!("{head} {key} {number} 600 56 1 1 {attached} 1 1 1 1 0 0 0 0 0\n")
        };
        assert_eq!(attached(&row(-6, 65537, 0), -6, 65537), Some(0));
        assert_eq!(attached(&row(-6, 65537, 1), -6, 65537), Some(1));
        assert_eq!(attached(&row(7, 65537, 0), -6, 65537), None);
        assert_eq!(attached(&row(-6, 3, 0), -6, 65537), None);
    }
}
