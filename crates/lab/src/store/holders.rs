//! Holders of a store, from the system's table of locks.

use super::Holder;
use antiphon_runner::ProcessStat;
use jiff::{SignedDuration, Timestamp};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Returns another process with a lock on a store's file or on the index of its log, preferably a
/// writer. `None` if the system does not tell.
pub(super) fn of(path: &Path) -> Option<Holder> {
    let file = std::fs::canonicalize(path).ok()?;
    let mut index = file.clone().into_os_string();
    index.push("-shm");
    let files: Vec<File> = [file, index.into()]
        .into_iter()
        .filter_map(|file: PathBuf| number(&file))
        .collect();
    let table = std::fs::read_to_string("/proc/locks").ok()?;
    let ours = std::process::id();
    let locks = table.lines().filter_map(lock);
    let mut locks: Vec<_> = locks
        .filter(|lock| lock.process != ours)
        .filter(|lock| files.iter().any(|(_, inode)| *inode == lock.file))
        .filter(|lock| has_open(lock.process, &files).unwrap_or(true))
        .collect();
    locks.sort_by_key(|lock| !lock.writes);
    let process = locks.first()?.process;
    Some(Holder {
        process: Some(process),
        since: began(process)?,
    })
}

/// Device and number within it.
type File = (u64, u64);

fn number(file: &Path) -> Option<File> {
    let found = std::fs::metadata(file).ok()?;
    Some((found.dev(), found.ino()))
}

/// Checks whether a process has one of these files open; `None` for another user's process.
///
/// The check is needed because the table of locks names some file systems' devices differently.
/// File numbers repeat between devices.
fn has_open(process: u32, files: &[File]) -> Option<bool> {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).ok()?;
    let mut open = open.flatten().filter_map(|link| number(&link.path()));
    Some(open.any(|file| files.contains(&file)))
}

#[derive(Debug, PartialEq)]
struct Lock {
    writes: bool,
    process: u32,
    file: u64,
}

/// Parses a line such as `1: POSIX  ADVISORY  WRITE 4242 08:01:131090 120 120`. A waiting process's
/// line has an arrow and gives no lock.
fn lock(line: &str) -> Option<Lock> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [_, "POSIX", _, access, process, file, ..] = words[..] else {
        return None;
    };
    Some(Lock {
        writes: access == "WRITE",
        process: process.parse().ok()?,
        file: file.rsplit(':').next()?.parse().ok()?,
    })
}

/// Returns the start time of a process, RFC 3339, UTC.
fn began(process: u32) -> Option<String> {
    let ticks = ProcessStat::of(process).ok()?.began_ticks()?;
    let each = rustix::param::clock_ticks_per_second();
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let age = uptime - ticks as f64 / each as f64;
    let age = SignedDuration::try_from_secs_f64(age.max(0.0)).ok()?;
    let began = Timestamp::now().checked_sub(age).ok()?;
    Some(began.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Store, StoreError};
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    #[test]
    fn a_lock_is_read_and_one_that_waits_is_none() {
        let held = "12: POSIX  ADVISORY  WRITE 4242 fd:00:131090 120 120";
        let expected = Lock {
            writes: true,
            process: 4242,
            file: 131_090,
        };
        assert_eq!(lock(held), Some(expected));
        assert_eq!(
            lock("12: -> POSIX  ADVISORY  WRITE 7 fd:00:131090 120 120"),
            None
        );
        assert_eq!(lock("3: FLOCK  ADVISORY  WRITE 7 fd:00:131090 0 EOF"), None);
        assert_eq!(lock(""), None);
    }

    /// Variable for the child of the next test: the store that it writes to.
    const CHILD: &str = "ANTIPHON_STORE_TEST_HOLDER";

    #[test]
    fn readers_do_not_wait_for_a_writer_and_its_process_is_named() {
        const NAME: &str =
            "store::holders::tests::readers_do_not_wait_for_a_writer_and_its_process_is_named";
        if let Some(path) = std::env::var_os(CHILD) {
            let writer = rusqlite::Connection::open(path).unwrap();
            let unfinished = "BEGIN IMMEDIATE;
                 INSERT INTO run (suite, suite_toml, started, quick, machine, options)
                 VALUES ('s', '', '', 0, '{}', '{}')";
            writer.execute_batch(unfinished).unwrap();
            println!("holds");
            loop {
                std::thread::park();
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(Store::open(&path).unwrap());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines
                .map_while(Result::ok)
                .any(|line| line.contains("holds"))
        );
        let store = Store::open_to_read(&path).unwrap();
        assert_eq!(store.runs().unwrap(), []);
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        let busy = rusqlite::Error::SqliteFailure(busy, None);
        let error = StoreError::of_sqlite(&path, busy);
        let named = format!("held by process {} since 20", child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(error.to_string().contains(&named), "{error}");
    }
}
