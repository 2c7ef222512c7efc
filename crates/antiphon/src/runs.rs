//! `antiphon runs`: what the store holds.

use crate::cli::{Cli, Runs};
use crate::exit::Exit;
use crate::home::store_path;
use crate::output::{print, print_line, say};
use crate::store;
use antiphon_lab::store::RunSummary;
use anyhow::Result;

/// Lists the runs.
pub fn run(cli: &Cli, options: &Runs) -> Result<Exit> {
    let runs = match store::open_existing(cli)? {
        Some(store) => store.runs()?,
        None => Vec::new(),
    };
    if options.json {
        print_line(serde_json::to_string_pretty(&runs)?)?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        say(format_args!(
            "{} holds no run yet; make one with `antiphon measure features --quick`",
            store_path(cli)?.display()
        ));
        return Ok(Exit::Done);
    }
    let heading = format!(
        "{:>5}  {:20}  {:12}  {:6}  results\n",
        "run", "started", "suite", "sizes"
    );
    print(&runs.iter().fold(heading, |table, run| table + &line(run)))?;
    Ok(Exit::Done)
}

fn line(run: &RunSummary) -> String {
    let sizes = if run.quick { "quick" } else { "full" };
    let end = match store::unfinished(run) {
        true => format!(", not finished: antiphon measure --resume {}", run.id),
        false => String::new(),
    };
    format!(
        "{:>5}  {:20}  {:12}  {sizes:6}  {} of {}{end}\n",
        run.id, run.started, run.suite, run.done, run.planned
    )
}
