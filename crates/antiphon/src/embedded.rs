//! The suites and subjects inside the command, and the key of its own builds. The build script
//! packs the former and hashes the latter.

use antiphon_lab::build::Cache;
use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use std::io;
use std::path::{Path, PathBuf};
use tar::Archive;

/// The folders `suites` and `subjects`, packed.
static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/home.tar.gz"));

/// Changes with the archive.
const KEY: &str = env!("ANTIPHON_HOME_KEY");

/// Changes with the command's code, but not with its suites and subjects.
const CODE: &str = env!("ANTIPHON_CODE_KEY");

/// Returns the folder with the suites and subjects. The first call unpacks them into the cache.
pub fn home(cache: &Cache) -> Result<PathBuf> {
    let unpacked = cache.filled("home", KEY, unpack);
    unpacked.context("the suites and subjects that this command brings cannot be unpacked")
}

fn unpack(folder: &Path) -> io::Result<()> {
    let mut archive = Archive::new(GzDecoder::new(ARCHIVE));
    // The archive has the same time for all files, which would look older than any build's.
    archive.set_preserve_mtime(false);
    archive.unpack(folder)
}

/// Returns the identity of the builds that this command makes as a compiler: its version in the
/// first line, its code, and the run-time that it links.
pub fn identity() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let runtime = antiphon_runtimes::SR.key;
    format!("antiphon {version}\ncode {CODE}\nrun-time of SR {runtime}\n")
}
