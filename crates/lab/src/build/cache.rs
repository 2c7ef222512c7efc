//! Storage of builds.

use antiphon_outside::folder::{self, Distrust};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Reason why a folder of the cache could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The cache may hold another user's files.
    #[error("the cache is not trusted: {0}; remove it, or set ANTIPHON_CACHE to another folder")]
    NotOurs(#[from] Distrust),
    /// The folder could not be made or filled.
    #[error("cannot make {}: {source}; make room, or set ANTIPHON_CACHE to another folder", path.display())]
    File {
        /// The folder.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

/// Pause between two attempts at a lock that another process holds.
const LOOK: Duration = Duration::from_millis(50);

/// The folder of all builds.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Variables that are set for the commands of its builds.
    pub(super) environment: Vec<(String, String)>,
}

impl Cache {
    /// Creates a cache in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
            environment: Vec::new(),
        }
    }

    /// Returns this cache with more environment variables for build commands.
    ///
    /// The variables are part of each build's key. Tests without timing use this to compile
    /// subjects with little optimisation.
    pub fn with_environment<'v>(
        mut self,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Cache {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        self.environment.extend(variables.into_iter().map(owned));
        self
    }

    /// Returns the user's cache.
    ///
    /// It is `$ANTIPHON_CACHE`, else `$XDG_CACHE_HOME/antiphon`, else `~/.cache/antiphon`, else a
    /// folder with the user's number in the system's temporary one. Readers check that its content
    /// is this user's ([`Cache::ready`]).
    pub fn of_user() -> Cache {
        let named = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let folder = named("ANTIPHON_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|folder| folder.join("antiphon")))
            .or_else(|| named("HOME").map(|folder| folder.join(".cache/antiphon")))
            .unwrap_or_else(|| {
                let user = rustix::process::geteuid().as_raw();
                std::env::temp_dir().join(format!("antiphon-cache-{user}"))
            });
        Cache::at(folder)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder private to this user, or checks that it is: its content is executed.
    ///
    /// # Errors
    /// See [`Distrust`].
    pub fn ready(&self) -> Result<(), Distrust> {
        folder::private(&self.folder)
    }

    /// Checks for a finished build at `place`.
    ///
    /// # Errors
    /// There is one, and it is not this user's.
    pub(super) fn has(&self, place: &Path) -> Result<bool, Distrust> {
        match place.symlink_metadata().is_ok() {
            true => folder::is_ours(place).map(|()| true),
            false => Ok(false),
        }
    }

    pub(super) fn place(&self, subject: &str, key: &str) -> PathBuf {
        // A build's commands run elsewhere, so the place must not depend on where we are.
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        folder.join("builds").join(subject).join(key)
    }

    /// Returns the folder `kind/key` of the cache, which `fill` has filled: now, or in a process
    /// before.
    ///
    /// It is filled under another name and renamed, so a folder with this name is always complete.
    ///
    /// # Errors
    /// The cache is not trusted, or the folder cannot be made or filled.
    pub fn filled(
        &self,
        kind: &str,
        key: &str,
        fill: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<PathBuf, FillError> {
        self.ready()?;
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let place = folder.join(kind).join(key);
        if self.has(&place)? {
            return Ok(place);
        }
        let failed = |source| FillError::File {
            path: place.clone(),
            source,
        };
        let never = AtomicBool::new(false);
        let _lock = self.lock(&place, &never).map_err(failed)?;
        // The process that held the lock may have filled it.
        if !self.has(&place)? {
            let unfinished = unfinished(&place).map_err(failed)?;
            fill(unfinished.path()).map_err(failed)?;
            std::fs::rename(unfinished.path(), &place).map_err(failed)?;
            // The folder has its final name and is no longer a temporary one.
            let _ = unfinished.keep();
        }
        Ok(place)
    }

    /// Waits for the lock of one build and takes it; `None` if `stop` was set meanwhile. The lock
    /// ends when the file is closed, also by a kill.
    pub(super) fn lock(&self, place: &Path, stop: &AtomicBool) -> io::Result<Option<File>> {
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let file = File::create(place.with_extension("lock"))?;
        while !stop.load(Ordering::Relaxed) {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOOK),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Creates a folder beside `place` to build in, which is removed unless it is kept.
///
/// The caller holds the lock of `place`. An older folder there is therefore the rest of a killed
/// build and is removed.
pub(super) fn unfinished(place: &Path) -> io::Result<TempDir> {
    let parent = place.parent().unwrap_or(Path::new("."));
    let key = place.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("unfinished-{key}-");
    for entry in std::fs::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)
}
