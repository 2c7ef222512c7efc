//! Folders that a killed process leaves behind no longer than until the next start.
//!
//! Beside each folder lies a lock file, which its owner holds. The system gives a lock back when a process ends in whatever way, so a
//! lock that can be had means a folder that nobody needs.

use crate::{FileSystem, ServiceError, postgresql};
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A server that is just being killed may still write while its folder is removed.
const TRIES: u32 = 40;
const BETWEEN: Duration = Duration::from_millis(50);

/// Where services of this user keep their folders, and whoever else has some for a while.
#[derive(Clone, Debug)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// The user's own, in the system's folder for temporary files (`TMPDIR`), or in /var/tmp where the former is in memory and the latter is not: a
    /// commit is to be on a disk. Its path must be short, for sockets, and open to the account that servers run as.
    ///
    /// # Errors
    /// It cannot be made, or is another user's.
    pub fn of_user() -> Result<Place, ServiceError> {
        Place::at(path_of_user())
    }

    /// Clears the user's own away as [`sweep`](Self::sweep) does, if it is there; the number of folders.
    ///
    /// # Errors
    /// As [`of_user`](Self::of_user) and [`sweep`](Self::sweep).
    pub fn sweep_of_user() -> Result<usize, ServiceError> {
        let path = path_of_user();
        match path.exists() {
            true => Place::at(path)?.sweep(),
            false => Ok(0),
        }
    }

    /// What it lies on; `None` where the system does not tell.
    pub fn file_system(&self) -> Option<FileSystem> {
        FileSystem::of(&self.folder)
    }

    /// Another one.
    ///
    /// # Errors
    /// It cannot be made, or is another user's.
    pub fn at(folder: PathBuf) -> Result<Place, ServiceError> {
        let failed = |source| ServiceError::File {
            path: folder.clone(),
            source,
        };
        match std::fs::DirBuilder::new().mode(0o711).create(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        // A name that others know could have been taken by them, or be a link.
        let found = std::fs::symlink_metadata(&folder).map_err(failed)?;
        let ours = found.uid() == nix::unistd::Uid::effective().as_raw();
        if !found.is_dir() || !ours || found.mode() & 0o022 != 0 {
            return Err(ServiceError::NotOurs { path: folder });
        }
        Ok(Place { folder })
    }

    /// Clears away the folders that nobody owns any more, and what their servers held besides; their number.
    ///
    /// # Errors
    /// The place cannot be read. A folder that cannot be removed now is left to the next time.
    pub fn sweep(&self) -> Result<usize, ServiceError> {
        let failed = |source| ServiceError::File {
            path: self.folder.clone(),
            source,
        };
        let mut swept = 0;
        for entry in std::fs::read_dir(&self.folder).map_err(failed)?.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "lock") {
                continue;
            }
            // The lock is held until the folder is gone, so that two sweeps do not meet.
            let Some(_lock) = lock(&path) else { continue };
            if remove(&path.with_extension("")).is_ok() && std::fs::remove_file(&path).is_ok() {
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// A new folder, which nobody else may enter, with the name at the beginning of its own.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn folder(&self, name: &str) -> Result<Folder, ServiceError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{name}-{}-{number}", std::process::id());
            let path = self.folder.join(name);
            let lock_path = path.with_extension("lock");
            let failed = |source| ServiceError::File {
                path: path.clone(),
                source,
            };
            File::create(&lock_path).map_err(failed)?;
            // A sweep may have come between; then the name is given up.
            let Some(lock) = lock(&lock_path) else {
                continue;
            };
            if let Err(source) = std::fs::DirBuilder::new().mode(0o700).create(&path) {
                let _ = std::fs::remove_file(&lock_path);
                return Err(failed(source));
            }
            return Ok(Folder {
                path,
                lock_path,
                _lock: lock,
            });
        }
    }
}

fn path_of_user() -> PathBuf {
    let user = nix::unistd::Uid::effective();
    let temporary = std::env::temp_dir();
    let within = on_disk(&[&temporary, Path::new("/var/tmp")]);
    within.join(format!("antiphon-services-{user}"))
}

/// The first folder that is not in memory; else the first.
fn on_disk<'f>(folders: &[&'f Path]) -> &'f Path {
    let is_on_disk = |folder: &&&Path| FileSystem::of(folder).is_some_and(|of| !of.in_memory);
    folders.iter().find(is_on_disk).unwrap_or(&folders[0])
}

/// A folder of ours; dropping it removes it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: Flock<File>,
}

impl Folder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed now is found by the next sweep, through the lock file.
        if remove(&self.path).is_ok() {
            let _ = std::fs::remove_file(&self.lock_path);
        }
    }
}

/// The lock, if it is to be had and still lies at its path.
fn lock(path: &Path) -> Option<Flock<File>> {
    let file = File::options().write(true).open(path).ok()?;
    let held = Flock::lock(file, FlockArg::LockExclusiveNonblock).ok()?;
    let ours = held.metadata().ok()?.ino();
    let there = std::fs::metadata(path).ok()?.ino();
    (ours == there).then_some(held)
}

/// Removes a folder, and what a server that was killed there holds in the system's tables.
fn remove(path: &Path) -> io::Result<()> {
    let mut result = Err(io::ErrorKind::WouldBlock.into());
    for _ in 0..TRIES {
        // The note of what is held lies in the folder, so that goes last.
        if postgresql::forget_shared_memory(path) {
            result = std::fs::remove_dir_all(path);
            match &result {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                _ => return result,
            }
        }
        std::thread::sleep(BETWEEN);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_passed_over_for_a_disk() {
        let (memory, none) = (Path::new("/dev/shm"), Path::new("/no/such/folder"));
        let disk = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(on_disk(&[none, disk]), disk);
        assert_eq!(on_disk(&[none]), none);
        if FileSystem::of(memory).is_some_and(|of| of.in_memory) {
            assert_eq!(on_disk(&[memory, disk]), disk);
            assert_eq!(on_disk(&[memory, none]), memory);
        }
    }
}
