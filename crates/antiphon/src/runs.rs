//! `antiphon runs`: what the store holds.

use crate::cli::{Cli, Runs};
use crate::exit::Exit;
use crate::home::store_path;
use antiphon_lab::RunRecord;
use antiphon_lab::store::Store;
use anyhow::Result;

/// Lists the runs.
pub fn run(cli: &Cli, options: &Runs) -> Result<Exit> {
    let runs = Store::open(&store_path(cli)?)?.runs()?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&runs)?);
        return Ok(Exit::Done);
    }
    println!(
        "{:>5}  {:20}  {:12}  {:6}  {}",
        "run", "started", "suite", "sizes", "results"
    );
    for run in runs {
        let sizes = if run.quick { "quick" } else { "full" };
        let end = if run.ended.is_some() {
            ""
        } else {
            ", not finished (measure --resume)"
        };
        println!(
            "{:>5}  {:20}  {:12}  {sizes:6}  {} of {}{end}",
            run.id,
            first_chars(&run.started, 20),
            run.suite,
            run.done,
            run.planned
        );
    }
    Ok(Exit::Done)
}

fn first_chars(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}

/// The run of this number, or the last.
pub fn load(cli: &Cli, number: Option<i64>) -> Result<RunRecord> {
    let path = store_path(cli)?;
    let store = Store::open(&path)?;
    let number = match number {
        Some(number) => number,
        None => newest(&store, &path)?,
    };
    Ok(store.load(number)?)
}

/// The number of the last run.
pub fn newest(store: &Store, path: &std::path::Path) -> Result<i64> {
    match store.newest(None)? {
        Some(number) => Ok(number),
        None => anyhow::bail!(
            "{} holds no run yet; make one with `antiphon measure features --quick`",
            path.display()
        ),
    }
}
