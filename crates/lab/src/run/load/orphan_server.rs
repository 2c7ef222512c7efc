//! Servers that outlived their laboratory. The keeper ends a server after any end of the
//! laboratory. If the keeper is killed too, the next run finds the server here and ends it.
//!
//! Each running server has a file in the cache's folder `serving`, named after its process. The
//! file has the start time of the process, because numbers are reused, and the process of the
//! laboratory that it serves.

use antiphon_runner::ProcessStat;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Age of an unfinished note beyond which its writer is gone.
const UNFINISHED: Duration = Duration::from_secs(60);

/// A note that a server runs, which is taken away with this value.
pub(super) struct Note {
    file: PathBuf,
}

impl Note {
    /// Notes a server. One that cannot be noted is run all the same: its keeper ends it.
    pub(super) fn of(cache: &Path, server: u32) -> Note {
        let folder = cache.join("serving");
        let file = folder.join(server.to_string());
        let own = std::process::id();
        let words = [Some(u64::from(own)), began(own), began(server)];
        let text: Vec<String> = words
            .iter()
            .map(|word| word.unwrap_or(0).to_string())
            .collect();
        let _ = fs::create_dir_all(&folder).and_then(|()| put(&file, &text.join(" ")));
        Note { file }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Writes a note atomically: another run's sweep would remove half of one.
fn put(file: &Path, text: &str) -> io::Result<()> {
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, file)
}

/// Removes files that no run will finish any more.
fn remove_old(unfinished: &fs::DirEntry) {
    let changed = unfinished.metadata().and_then(|of| of.modified());
    let age = changed.ok().and_then(|at| at.elapsed().ok());
    if age.is_some_and(|age| age > UNFINISHED) {
        let _ = fs::remove_file(unfinished.path());
    }
}

/// Ends servers whose laboratory is gone.
pub(crate) fn sweep(cache: &Path) {
    for entry in fs::read_dir(cache.join("serving"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let Some(server) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            remove_old(&entry);
            continue;
        };
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let numbers: Vec<u64> = text
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let &[owner, owner_began, server_began] = &numbers[..] else {
            let _ = fs::remove_file(entry.path());
            continue;
        };
        if u32::try_from(owner).ok().and_then(began) == Some(owner_began) {
            continue; // Another run is measuring it.
        }
        if began(server) == Some(server_began)
            && let Some(group) = Pid::from_raw(server as i32)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = fs::remove_file(entry.path());
    }
}

/// Returns the start of a process in the kernel's ticks; `None` if there is none or it has ended.
fn began(process: u32) -> Option<u64> {
    let stat = ProcessStat::of(process).ok()?;
    stat.began_ticks().filter(|_| !stat.has_ended())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    fn sleeper() -> Child {
        Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    }

    fn write(cache: &Path, server: u32, words: [u64; 3]) {
        fs::create_dir_all(cache.join("serving")).unwrap();
        let text = words.map(|word| word.to_string()).join(" ");
        fs::write(cache.join("serving").join(server.to_string()), text).unwrap();
    }

    #[test]
    fn a_server_whose_laboratory_is_gone_is_ended() {
        let cache = tempfile::tempdir().unwrap();
        let mut server = sleeper();
        // No process has begun at this time.
        write(
            cache.path(),
            server.id(),
            [1, u64::MAX, began(server.id()).unwrap()],
        );
        sweep(cache.path());
        assert!(!server.wait().unwrap().success());
        assert_eq!(
            fs::read_dir(cache.path().join("serving")).unwrap().count(),
            0
        );
    }

    #[test]
    fn servers_of_others_and_processes_that_took_a_number_over_live_on() {
        let cache = tempfile::tempdir().unwrap();
        let mut server = sleeper();
        {
            let _note = Note::of(cache.path(), server.id());
            sweep(cache.path());
            assert_eq!(
                fs::read_dir(cache.path().join("serving")).unwrap().count(),
                1
            );
        }
        write(cache.path(), server.id(), [1, u64::MAX, 7]);
        sweep(cache.path());
        assert!(server.try_wait().unwrap().is_none());
        server.kill().unwrap();
        server.wait().unwrap();
    }

    fn noted(cache: &Path) -> Vec<String> {
        let entries = fs::read_dir(cache.join("serving")).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn notes_that_say_nothing_are_taken_away() {
        let cache = tempfile::tempdir().unwrap();
        fs::create_dir_all(cache.path().join("serving")).unwrap();
        fs::write(cache.path().join("serving/12"), "half").unwrap();
        sweep(cache.path());
        assert_eq!(noted(cache.path()), [""; 0]);
    }

    #[test]
    fn a_note_that_is_being_written_is_left_to_its_run() {
        let cache = tempfile::tempdir().unwrap();
        let serving = cache.path().join("serving");
        fs::create_dir_all(&serving).unwrap();
        fs::write(serving.join("12.unfinished"), "").unwrap();
        sweep(cache.path());
        assert_eq!(noted(cache.path()), ["12.unfinished"]);
        let long_ago = std::time::SystemTime::now() - 2 * UNFINISHED;
        let file = fs::File::options()
            .write(true)
            .open(serving.join("12.unfinished"));
        file.unwrap().set_modified(long_ago).unwrap();
        sweep(cache.path());
        assert_eq!(noted(cache.path()), [""; 0]);
        put(&serving.join("12"), "1 2 3").unwrap();
        assert_eq!(noted(cache.path()), ["12"]);
        assert_eq!(fs::read_to_string(serving.join("12")).unwrap(), "1 2 3");
    }
}
