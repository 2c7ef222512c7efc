//! Where builds are kept.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of all builds.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in this folder.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache {
            folder: folder.into(),
        }
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
        Cache { folder }
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

    /// Takes the lock of one build, and waits for it; it is given back when the file is closed, also by a kill.
    pub(super) fn lock(&self, place: &Path) -> io::Result<File> {
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let file = File::create(place.with_extension("lock"))?;
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(file)
    }
}
