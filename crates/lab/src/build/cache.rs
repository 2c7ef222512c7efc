//! Where builds are kept.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// How often a lock that another process holds is tried again.
const LOOK: Duration = Duration::from_millis(50);

/// The folder of all builds.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Variables that are set for the commands of its builds.
    pub(super) environment: Vec<(String, String)>,
}

impl Cache {
    /// The cache in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
            environment: Vec::new(),
        }
    }

    /// The same folder for builds whose commands have further variables set, which are part of what each is kept by: a test that times nothing has its subjects
    /// compiled with little optimisation.
    pub fn with_environment<'v>(
        mut self,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Cache {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        self.environment.extend(variables.into_iter().map(owned));
        self
    }

    /// The user's cache: `$ANTIPHON_CACHE`, else `$XDG_CACHE_HOME/antiphon`, else `~/.cache/antiphon`, else a folder in the system's
    /// temporary one.
    pub fn of_user() -> Cache {
        let named = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let folder = named("ANTIPHON_CACHE")
            .or_else(|| named("XDG_CACHE_HOME").map(|folder| folder.join("antiphon")))
            .or_else(|| named("HOME").map(|folder| folder.join(".cache/antiphon")))
            .unwrap_or_else(|| std::env::temp_dir().join("antiphon-cache"));
        Cache::at(folder)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn place(&self, subject: &str, key: &str) -> PathBuf {
        // A build's commands run elsewhere, so the place must not depend on where we are.
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        folder.join("builds").join(subject).join(key)
    }

    /// Takes the lock of one build, and waits for it; it is given back when the file is closed, also by a kill. `None` if `stop` was set
    /// meanwhile.
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

/// A folder beside `place` to build in, which is removed unless it is kept. Whoever asks holds the lock of `place`, so that what is there
/// of an earlier one is the rest of a build that was killed.
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
