//! Where things are: suites, subjects and the store.

use crate::cli::Cli;
use crate::embedded;
use crate::exit::Missing;
use antiphon_lab::build::Cache;
use antiphon_outside::folder::is_trusted;
use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};

/// The current folder, as a candidate.
const HERE: &str = ".";

/// Returns the folder with `suites/` and `subjects/`: the given one, else the current folder, else
/// the one inside this command.
pub fn home(cli: &Cli) -> Result<PathBuf> {
    if let Some(given) = &cli.home {
        return match holds_suites(given) {
            true => whole(given),
            false => Err(Missing(none(given)).into()),
        };
    }
    let here = Path::new(HERE);
    if holds_suites(here) {
        let whole = whole(here)?;
        check_trust(&whole)?;
        return Ok(whole);
    }
    embedded::home(&Cache::of_user())
}

fn whole(folder: &Path) -> Result<PathBuf> {
    folder
        .canonicalize()
        .with_context(|| format!("cannot read {}", folder.display()))
}

/// Checks that the home can be trusted, because commands in its files are run. A home that another
/// user owns or may write is used only if it is named.
fn check_trust(home: &Path) -> Result<()> {
    for folder in [home, &home.join("suites"), &home.join("subjects")] {
        is_trusted(folder).map_err(|why| {
            let text = format!(
                "the suites and subjects in {} are not used: {why}; if you trust what it runs, give --home {}",
                home.display(),
                home.display()
            );
            Missing(text)
        })?;
    }
    Ok(())
}

fn none(given: &Path) -> String {
    format!(
        "no folders `suites` and `subjects` in {}; without --home and ANTIPHON_HOME the command takes its own",
        given.display()
    )
}

fn holds_suites(folder: &Path) -> bool {
    folder.join("suites").is_dir() && folder.join("subjects").is_dir()
}

/// Returns the store's file: the given one, else `antiphon/results.db` in the user's data folder.
pub fn store_path(cli: &Cli) -> Result<PathBuf> {
    if let Some(given) = &cli.store {
        return Ok(given.clone());
    }
    let data = env::var_os("XDG_DATA_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".local/share")))
        .context("neither XDG_DATA_HOME nor HOME is set; give --store FILE")?;
    Ok(data.join("antiphon/results.db"))
}
