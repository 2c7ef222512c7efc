//! `antiphon report`: runs as a page, a workbook or text.

use crate::cli::{Cli, Report};
use crate::exit::Exit;
use crate::output::{print_bytes, say};
use crate::store;
use antiphon_report::{compose_together, export};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes every format that was asked for; the page if none was.
pub fn run(cli: &Cli, options: &Report) -> Result<Exit> {
    let given = [
        &options.html,
        &options.xlsx,
        &options.csv,
        &options.json,
        &options.markdown,
    ];
    let given: Vec<&PathBuf> = given.into_iter().flatten().collect();
    if given.iter().filter(|path| is_stdout(path)).count() > 1 {
        bail!("standard output (`-`) can take one format only; give the others files");
    }
    let runs = store::load(cli, &options.runs)?;
    let document = compose_together(&runs);
    let default = PathBuf::from("antiphon-report.html");
    let html = given.is_empty().then_some(&default);
    if let Some(path) = options.html.as_ref().or(html) {
        write(path, export::html::render(&document).as_bytes())?;
    }
    if let Some(path) = &options.xlsx {
        write(path, &export::xlsx::render(&document)?)?;
    }
    if let Some(path) = &options.csv {
        write(path, export::csv::runs(&runs)?.as_bytes())?;
    }
    if let Some(path) = &options.json {
        let json = match &runs[..] {
            [run] => export::json::run(run)?,
            runs => export::json::runs(runs)?,
        };
        write(path, json.as_bytes())?;
    }
    if let Some(path) = &options.markdown {
        write(path, export::markdown::render(&document).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Writes a file and says where; `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        return print_bytes(bytes);
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    say(format_args!("Report: {}", whole.display()));
    Ok(())
}

fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
