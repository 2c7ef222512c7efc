//! `antiphon` without a verb: the state of the store, and the next steps.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::home::store_path;
use crate::output::print;
use crate::store;
use antiphon_lab::store::RunSummary;
use antiphon_outside as outside;
use anyhow::Result;

/// Commands that are useful at any time.
const ALWAYS: &str = "  antiphon list                 \
what can be measured here, and what is missing
  antiphon doctor               what this machine can do, and what disturbs it
  antiphon sr run FILE.sr       run a program in SR
  antiphon translate FILE.adb   say which Ada tasks can become protected objects
  antiphon --help               all verbs
";

/// Prints the contents of the store, and the next steps.
pub fn run(cli: &Cli) -> Result<Exit> {
    let runs = match store::open_existing(cli)? {
        Some(store) => store.runs()?,
        None => Vec::new(),
    };
    let state = match &runs[..] {
        [] => format!("No run is stored yet (in {}).", store_path(cli)?.display()),
        [run] => format!("One run is stored: {}.", told(run)),
        [.., last] => format!("{} runs are stored; the last: {}.", runs.len(), told(last)),
    };
    let version = env!("CARGO_PKG_VERSION");
    print(&format!(
        "Antiphon {version}, a laboratory for concurrent programs.\n{state}\n\nNext:\n{}{ALWAYS}",
        next(&runs)
    ))?;
    Ok(Exit::Done)
}

fn told(run: &RunSummary) -> String {
    let sizes = if run.quick { "quick" } else { "full" };
    let (suite, started) = (outside::line(&run.suite), outside::line(&run.started));
    format!("run {} of {suite}, {sizes}, of {started}", run.id)
}

/// Returns the next steps for these runs.
fn next(runs: &[RunSummary]) -> String {
    const FIRST_LOOK: &str = "  antiphon measure              a first look at this machine\n";
    let Some(last) = runs.last() else {
        return FIRST_LOOK.to_owned();
    };
    let resume = match store::unfinished(last) {
        true => "  antiphon measure --resume     go on with that run\n",
        false => "",
    };
    format!("{resume}  antiphon report               see that run as a page\n{FIRST_LOOK}")
}
