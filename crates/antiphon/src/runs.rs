//! `antiphon runs`: what the store holds.

use crate::cli::{Cli, Runs};
use crate::exit::Exit;
use crate::home::store_path;
use crate::output::{print, print_document, say};
use crate::store;
use antiphon_lab::store::{OpenRun, RunSummary};
use antiphon_outside as outside;
use anyhow::Result;
use serde_json::json;

/// Lists the runs.
pub fn run(cli: &Cli, options: &Runs) -> Result<Exit> {
    let runs = match store::open_existing(cli)? {
        Some(store) => store.runs()?,
        None => Vec::new(),
    };
    if options.json {
        print_document("antiphon.run-list", 1, json!({ "runs": runs }))?;
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

/// Returns the description of a run that has not ended.
fn end(run: &RunSummary, open: &OpenRun) -> String {
    let state = match open {
        OpenRun {
            measured,
            measurements,
            ..
        } if measured == measurements => ", all measured and not ended".to_owned(),
        OpenRun { starts: 1, .. } => ", not finished".to_owned(),
        OpenRun {
            starts,
            measured,
            measurements,
            ..
        } => format!(
            ", not finished: {measured} of {measurements} measurements, as frames are measured in {starts} starts of each process"
        ),
    };
    match &open.held_by {
        Some(holder) => format!("{state}; being measured by {holder}"),
        None => format!("{state}; go on: antiphon measure --resume {}", run.id),
    }
}

fn line(run: &RunSummary) -> String {
    let sizes = if run.quick { "quick" } else { "full" };
    let end = run
        .open
        .as_ref()
        .map_or(String::new(), |open| end(run, open));
    format!(
        "{:>5}  {:20}  {:12}  {sizes:6}  {} of {}{end}\n",
        run.id,
        outside::line(&run.started),
        outside::line(&run.suite),
        run.done,
        run.planned
    )
}
