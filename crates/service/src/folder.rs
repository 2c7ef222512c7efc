//! Folders that outlive a killed process only until the next start.
//!
//! Beside each folder lies a lock file, which its owner holds. The system releases a lock at any
//! end of its process, so a free lock means an unneeded folder.

use crate::{FileSystem, ServiceError, postgresql};
use nix::errno::Errno;
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

/// Place of this user's service folders, and of other temporary ones.
#[derive(Clone, Debug)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// Returns the user's own place: in the system's folder for temporary files (`TMPDIR`), or in
    /// /var/tmp.
    ///
    /// The latter is used if the former is in memory and the latter is not, because a commit must
    /// reach a disk. Its path must be short, for sockets, and open to the account that servers run
    /// as.
    ///
    /// # Errors
    /// It cannot be made, or is another user's.
    pub fn of_user() -> Result<Place, ServiceError> {
        Place::at(path_of_user())
    }

    /// Sweeps the user's own place, if it exists, as [`sweep`](Self::sweep) does; returns the
    /// number of folders.
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

    /// Returns its file system; `None` if the system does not tell.
    pub fn file_system(&self) -> Option<FileSystem> {
        FileSystem::of(&self.folder)
    }

    /// Returns another place.
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

    /// Removes the folders without an owner, and other remains of their servers; returns their
    /// number.
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
            let Ok(Some(_lock)) = lock(&path) else {
                continue;
            };
            if remove(&path.with_extension("")).is_ok() && std::fs::remove_file(&path).is_ok() {
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// Creates a folder that no other user may enter. Its own name begins with `name`.
    ///
    /// # Errors
    /// It cannot be made, or not be locked.
    pub fn folder(&self, name: &str) -> Result<Folder, ServiceError> {
        self.folder_by(lock, name)
    }

    fn folder_by(
        &self,
        lock: impl Fn(&Path) -> io::Result<Option<Flock<File>>>,
        name: &str,
    ) -> Result<Folder, ServiceError> {
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
            let lock = match lock(&lock_path) {
                Ok(Some(lock)) => lock,
                // A sweep came in between, so this name is given up.
                Ok(None) => continue,
                Err(source) => {
                    let _ = std::fs::remove_file(&lock_path);
                    let path = lock_path;
                    return Err(ServiceError::NoLock { path, source });
                }
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

/// Returns the first folder that is not in memory; else the first.
fn on_disk<'f>(folders: &[&'f Path]) -> &'f Path {
    let is_on_disk = |folder: &&&Path| FileSystem::of(folder).is_some_and(|of| !of.in_memory);
    folders.iter().find(is_on_disk).unwrap_or(&folders[0])
}

/// A folder of ours. Dropping it removes it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: Flock<File>,
}

impl Folder {
    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The next sweep finds a remaining folder through its lock file.
        if remove(&self.path).is_ok() {
            let _ = std::fs::remove_file(&self.lock_path);
        }
    }
}

/// Takes the lock; `None` if another process has it, or the file is no longer at its path.
fn lock(path: &Path) -> io::Result<Option<Flock<File>>> {
    let Some(file) = if_there(File::options().write(true).open(path))? else {
        return Ok(None);
    };
    let held = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(held) => held,
        Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
        Err((_, errno)) => return Err(errno.into()),
    };
    let ours = held.metadata()?.ino();
    let there = if_there(std::fs::metadata(path))?;
    Ok(there
        .is_some_and(|there| there.ino() == ours)
        .then_some(held))
}

fn if_there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes a folder, and a killed server's entries in the system's tables.
fn remove(path: &Path) -> io::Result<()> {
    let mut result = Err(io::ErrorKind::WouldBlock.into());
    for _ in 0..TRIES {
        // The note of these entries lies in the folder, so the folder goes last.
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

    fn place() -> (tempfile::TempDir, Place) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path().to_owned()).unwrap();
        (folder, place)
    }

    #[test]
    fn a_lock_is_had_once_and_where_it_lies() {
        let (folder, _) = place();
        let path = folder.path().join("a.lock");
        assert!(lock(&path).unwrap().is_none(), "it is not there");
        File::create(&path).unwrap();
        let held = lock(&path).unwrap();
        assert!(held.is_some());
        assert!(lock(&path).unwrap().is_none(), "another has it");
        // A folder is not a lock file, and a sweep leaves it alone.
        assert!(lock(folder.path()).is_err());
    }

    #[test]
    fn a_lock_that_the_system_refuses_is_told_and_leaves_nothing() {
        let (folder, place) = place();
        let refuses = |_: &Path| Err(Errno::ENOLCK.into());
        let error = place.folder_by(refuses, "a").unwrap_err();
        assert!(matches!(error, ServiceError::NoLock { .. }), "{error:?}");
        assert!(error.to_string().contains("cannot be locked"), "{error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_that_a_sweep_took_is_given_up_for_another() {
        let (_folder, place) = place();
        let times = std::cell::Cell::new(0);
        let second = |path: &Path| {
            times.set(times.get() + 1);
            match times.get() {
                1 => std::fs::remove_file(path).map(|()| None),
                _ => lock(path),
            }
        };
        let made = place.folder_by(second, "a").unwrap();
        assert!(made.path().is_dir());
        assert_eq!(times.get(), 2);
    }

    #[test]
    fn a_sweep_goes_on_past_what_cannot_be_locked() {
        let (folder, place) = place();
        std::fs::create_dir(folder.path().join("no-file.lock")).unwrap();
        File::create(folder.path().join("left.lock")).unwrap();
        std::fs::create_dir(folder.path().join("left")).unwrap();
        assert_eq!(place.sweep().unwrap(), 1);
        assert!(!folder.path().join("left").exists());
    }

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
