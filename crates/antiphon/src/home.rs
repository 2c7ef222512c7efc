//! Where things are: suites, subjects and the store.

use crate::cli::Cli;
use crate::exit::Missing;
use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};

/// The folder with `suites/` and `subjects/`: the one given, else the current folder, else the one installed beside the command.
pub fn home(cli: &Cli) -> Result<PathBuf> {
    let candidates = match &cli.home {
        Some(given) => vec![given.clone()],
        None => {
            let beside = env::current_exe()
                .ok()
                .and_then(|exe| Some(exe.parent()?.parent()?.join("share/antiphon")));
            [Some(PathBuf::from(".")), beside]
                .into_iter()
                .flatten()
                .collect()
        }
    };
    match candidates.iter().find(|folder| holds_suites(folder)) {
        Some(folder) => folder
            .canonicalize()
            .with_context(|| format!("cannot read {}", folder.display())),
        None => Err(Missing(none(&candidates)).into()),
    }
}

fn none(candidates: &[PathBuf]) -> String {
    let names: Vec<_> = candidates
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    format!(
        "no folders `suites` and `subjects` in {}; run in the project's folder, install with `make install`, or give --home DIR",
        names.join(" or ")
    )
}

fn holds_suites(folder: &Path) -> bool {
    folder.join("suites").is_dir() && folder.join("subjects").is_dir()
}

/// The store's file: the one given, else `antiphon/results.db` in the user's data folder.
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
