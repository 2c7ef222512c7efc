//! Real servers: started, asked, stopped, killed with their owner. A server that is not installed
//! is skipped with a message.

use antiphon_service::{Kind, Place, Service, ServiceError};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const OWNER: &str = env!("CARGO_BIN_EXE_service-test-owner");

/// Far more than it takes. A test waits this long only to fail.
const PATIENCE: Duration = Duration::from_secs(60);

type Checked = Result<(), Box<dyn Error>>;

/// Creates a separate place for the test, open to the account that servers run as.
fn place() -> Result<(tempfile::TempDir, Place), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711))?;
    let place = Place::at(folder.path().to_owned())?;
    Ok((folder, place))
}

fn installed(kind: Kind) -> bool {
    let found = kind.check();
    if let Err(error) = &found {
        println!("skipped: {error}");
    }
    found.is_ok()
}

fn entries(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let entries = std::fs::read_dir(folder)?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect()
}

fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn variable(service: &Service, name: &str) -> String {
    let environment = service.address().environment();
    let found = environment.into_iter().find(|(found, _)| found == name);
    found.map(|(_, value)| value).unwrap_or_default()
}

/// Segments of the system's table.
fn segments() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let number = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    table.lines().filter_map(number).collect()
}

fn starts_and_stops(kind: Kind) -> Checked {
    if !installed(kind) {
        return Ok(());
    }
    let (folder, place) = place()?;
    let service = Service::start(kind, &place)?;
    let other = Service::start(kind, &place)?; // two at once do not meet
    let port: u16 = variable(&service, "ANTIPHON_SQL_PORT").parse()?;
    assert_ne!(port, variable(&other, "ANTIPHON_SQL_PORT").parse::<u16>()?);
    TcpStream::connect(("127.0.0.1", port))?;
    assert_ne!(
        variable(&service, "ANTIPHON_SQL_TABLE"),
        variable(&service, "ANTIPHON_SQL_TABLE"),
        "each program has tables of its own"
    );
    let processes = [service.process(), other.process()].map(Option::unwrap);
    assert!(processes.iter().all(|process| runs(*process)));
    service.stop()?;
    drop(other);
    assert!(!processes.iter().any(|process| runs(*process)));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    assert_eq!(entries(folder.path())?, Vec::<String>::new());
    Ok(())
}

/// Returns the command lines of a process's children.
fn children(process: u32) -> Result<Vec<String>, Box<dyn Error>> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = std::fs::read_to_string(path)?;
    let name = |child: &str| std::fs::read_to_string(format!("/proc/{child}/cmdline"));
    Ok(children.split_whitespace().flat_map(name).collect())
}

#[test]
fn postgresql_starts_no_workers_that_vacuum() -> Checked {
    let kind = Kind::Postgresql;
    assert!(
        kind.conditions().contains("autovacuum=off"),
        "it is recorded"
    );
    if !installed(kind) {
        return Ok(());
    }
    let (_folder, place) = place()?;
    let service = Service::start(kind, &place)?;
    let server = service.process().unwrap();
    let own = std::fs::read_to_string(format!("/proc/{server}/cmdline"))?;
    let since = Instant::now();
    let names = loop {
        let names = children(server)?;
        let is_there = |what: &str| names.iter().any(|name| name.contains(what));
        // A process that was just started still has the server's name. The launcher of autovacuum
        // would begin together with the second of these.
        let are_named = !names.contains(&own);
        if are_named && is_there("checkpointer") && is_there("walwriter") {
            break names;
        }
        assert!(since.elapsed() < PATIENCE, "{names:?}");
        std::thread::sleep(Duration::from_millis(10));
    };
    let vacuums =
        |name: &String| name.contains("autovacuum launcher") || name.contains("autovacuum worker");
    assert!(!names.iter().any(vacuums), "{names:?}");
    service.stop()?;
    Ok(())
}

fn is_missed_when_it_is_killed(kind: Kind) -> Checked {
    if !installed(kind) {
        return Ok(());
    }
    let (folder, place) = place()?;
    let mut service = Service::start(kind, &place)?;
    assert!(service.lost().is_none());
    let server = service.process().unwrap();
    Command::new("kill")
        .args(["-KILL", &server.to_string()])
        .status()?;
    let since = Instant::now();
    let lost = loop {
        match service.lost() {
            Some(lost) => break lost,
            None => assert!(since.elapsed() < PATIENCE),
        }
    };
    let reported = format!(
        "{} was ended by SIGKILL (9) while it was used",
        kind.title()
    );
    assert_eq!(lost.reason(), reported);
    assert!(!lost.last_words().is_empty(), "it has a log");
    assert!(service.lost().is_none(), "it is told once");
    drop(service);
    assert_eq!(entries(folder.path())?, Vec::<String>::new());
    Ok(())
}

#[test]
fn servers_are_missed_when_they_are_killed() -> Checked {
    is_missed_when_it_is_killed(Kind::Postgresql)?;
    is_missed_when_it_is_killed(Kind::Mariadb)
}

fn leaves_nothing_when_its_owner_is_killed(kind: Kind) -> Checked {
    if !installed(kind) {
        return Ok(());
    }
    let (folder, place) = place()?;
    let mut owner = Command::new(OWNER)
        .arg(folder.path())
        .arg(kind.name())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line)?;
    let server: u32 = line.trim().parse()?;
    let noted = note_of_segment(folder.path());
    assert!(runs(server));
    assert_eq!(place.sweep()?, 0, "what is in use is no refuse");
    owner.kill()?; // SIGKILL
    owner.wait()?;
    let until = Instant::now() + PATIENCE;
    while runs(server) {
        assert!(Instant::now() < until, "the server survived its owner");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The owner's keeper may hold the lock a moment longer than the server lives.
    while place.sweep()? == 0 {
        assert!(Instant::now() < until, "the folder was not swept");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(entries(folder.path())?, Vec::<String>::new());
    if let Some(number) = noted {
        assert!(!segments().contains(&number), "segment {number} was left");
    }
    Ok(())
}

/// Returns the number of the segment that a PostgreSQL server in a place has noted.
fn note_of_segment(place: &Path) -> Option<String> {
    let mut folders = std::fs::read_dir(place).ok()?.flatten();
    let note = folders
        .find_map(|entry| std::fs::read_to_string(entry.path().join("data/postmaster.pid")).ok())?;
    let number = note.lines().nth(6)?.split_whitespace().nth(1)?.to_owned();
    assert!(segments().contains(&number), "the note names no segment");
    Some(number)
}

#[test]
fn postgresql_starts_and_stops() -> Checked {
    starts_and_stops(Kind::Postgresql)
}

#[test]
fn mariadb_starts_and_stops() -> Checked {
    starts_and_stops(Kind::Mariadb)
}

#[test]
fn postgresql_leaves_nothing_when_its_owner_is_killed() -> Checked {
    leaves_nothing_when_its_owner_is_killed(Kind::Postgresql)
}

#[test]
fn mariadb_leaves_nothing_when_its_owner_is_killed() -> Checked {
    leaves_nothing_when_its_owner_is_killed(Kind::Mariadb)
}

#[test]
fn sqlite_has_a_folder_that_goes_with_it() -> Checked {
    let (folder, place) = place()?;
    let service = Service::start(Kind::Sqlite, &place)?;
    let file = variable(&service, "ANTIPHON_SQL_FILE");
    std::fs::write(&file, "data")?;
    assert_eq!(service.process(), None);
    drop(service);
    assert_eq!(entries(folder.path())?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_place_that_others_may_write_to_is_refused() -> Checked {
    let folder = tempfile::tempdir()?;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    let refused = Place::at(folder.path().to_owned());
    assert!(matches!(refused, Err(ServiceError::NotOurs { .. })));
    Ok(())
}
