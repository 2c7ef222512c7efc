//! `antiphon report`: a run as a page, a workbook or text.

use crate::cli::{Cli, Report};
use crate::exit::Exit;
use crate::runs;
use antiphon_report::{compose, export};
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes every format that was asked for; the page if none was.
pub fn run(cli: &Cli, options: &Report) -> Result<Exit> {
    let record = runs::load(cli, options.run)?;
    let document = compose(&record);
    let others = [
        &options.xlsx,
        &options.csv,
        &options.json,
        &options.markdown,
    ];
    let html = match (&options.html, others.iter().all(|path| path.is_none())) {
        (None, true) => Some(PathBuf::from("antiphon-report.html")),
        (given, _) => given.clone(),
    };
    if let Some(path) = html {
        write(&path, export::html::render(&document).as_bytes())?;
    }
    if let Some(path) = &options.xlsx {
        write(path, &export::xlsx::render(&document)?)?;
    }
    if let Some(path) = &options.csv {
        write(path, export::csv::run(&record)?.as_bytes())?;
    }
    if let Some(path) = &options.json {
        write(path, export::json::run(&record)?.as_bytes())?;
    }
    if let Some(path) = &options.markdown {
        write(path, export::markdown::render(&document).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Writes a file and says where; `-` is standard output.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return std::io::stdout()
            .write_all(bytes)
            .context("cannot write to standard output");
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    eprintln!("Report: {}", whole.display());
    Ok(())
}
