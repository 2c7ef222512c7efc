//! Opening the store, and finding runs in it.

use crate::cli::Cli;
use crate::exit::Missing;
use crate::home::store_path;
use antiphon_lab::RunRecord;
use antiphon_lab::store::{RunSummary, Store};
use anyhow::{Context, Result};

const MAKE_ONE: &str = "make one with `antiphon measure features --quick`";

/// Opens the store for a verb that only reads, which creates none. Returns `None` if there is none
/// at the default place.
///
/// # Errors
/// There is none at the requested place, or it cannot be read.
pub fn open_existing(cli: &Cli) -> Result<Option<Store>> {
    let path = store_path(cli)?;
    // A file whose existence cannot be checked may be there.
    let exists = path.try_exists().with_context(|| {
        format!(
            "cannot read {}; name another file with --store",
            path.display()
        )
    })?;
    if exists {
        return Ok(Some(Store::open_to_read(&path)?));
    }
    match &cli.store {
        Some(given) => {
            Err(Missing(format!("there is no store {}; {MAKE_ONE}", given.display())).into())
        }
        None => Ok(None),
    }
}

/// Opens the store for a verb that needs a run.
pub fn open_filled(cli: &Cli) -> Result<Store> {
    match open_existing(cli)? {
        Some(store) => Ok(store),
        None => Err(no_run(cli)?),
    }
}

/// Returns the runs that the user named, by number or by suite. A suite means its newest run.
/// Without names it returns the last run.
pub fn load(cli: &Cli, named: &[String]) -> Result<Vec<RunRecord>> {
    let store = open_filled(cli)?;
    let mut numbers: Vec<i64> = named
        .iter()
        .map(|name| meant(&store, name))
        .collect::<Result<_>>()?;
    if named.is_empty() {
        match store.newest(None)? {
            Some(last) => numbers.push(last),
            None => return Err(no_run(cli)?),
        }
    }
    let runs = numbers.into_iter().map(|number| Ok(store.load(number)?));
    runs.collect()
}

/// Returns the run of this number, or the newest run of this suite.
fn meant(store: &Store, name: &str) -> Result<i64> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    store.newest(Some(name))?.with_context(|| {
        format!(
            "`{name}` is neither the number of a run nor a suite that was measured; see `antiphon runs`"
        )
    })
}

/// Reads the number that the user gave for a run.
pub fn number(which: &str) -> Result<i64> {
    which
        .parse()
        .ok()
        .with_context(|| format!("`{which}` is no number of a run; see `antiphon runs`"))
}

/// Returns whether a run was begun and not finished.
pub fn unfinished(run: &RunSummary) -> bool {
    run.ended.is_none()
}

fn no_run(cli: &Cli) -> Result<anyhow::Error> {
    let path = store_path(cli)?;
    Ok(Missing(format!("{} holds no run yet; {MAKE_ONE}", path.display())).into())
}
