//! The run-time that programs are linked with: a static library and its headers, which this library carries.

use std::path::PathBuf;

use super::BuildError;
use super::cache::Cache;

/// The static library's name.
pub(super) const ARCHIVE: &str = "libantiphon_sr_rt.a";

/// The static library and its headerss, by name.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/runtime_files.rs"));

/// The run-time of this library.
#[derive(Debug, Clone)]
pub(super) struct Runtime {
    key: String,
}

impl Default for Runtime {
    fn default() -> Runtime {
        // Its build says what is in it, so that the archive need not be read to know it.
        Runtime {
            key: env!("ANTIPHON_SR_RUNTIME").to_owned(),
        }
    }
}

impl Runtime {
    /// A name that no other run-time has.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// The folder with library and headers; they are written once for each run-time.
    pub(super) fn unpacked(&self, cache: &Cache) -> Result<PathBuf, BuildError> {
        let place = cache.place(&format!("runtime-{}", self.key));
        if place.is_dir() {
            return Ok(place);
        }
        let folder = cache.unfinished()?;
        for (name, bytes) in FILES {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).map_err(BuildError::file(&path))?;
        }
        cache.move_to(folder, &place)?;
        Ok(place)
    }
}
