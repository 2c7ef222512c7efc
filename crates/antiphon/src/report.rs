//! `antiphon report`: runs as a page, a workbook or text.

use crate::cli::{Cli, Report};
use crate::exit::{Exit, Missing};
use crate::output::{print_file, say, text_options};
use crate::store;
use antiphon_lab::RunRecord;
use antiphon_report::document::Document;
use antiphon_report::{compose_together, export};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Writes every requested format, by default the page.
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
    check_page(options.html.as_deref(), options.open)?;
    let runs = store::load(cli, &options.runs)?;
    let document = compose_together(&runs);
    let default = PathBuf::from(PAGE);
    let html = (given.is_empty() || options.open).then_some(&default);
    let html = options.html.as_ref().or(html);
    if let Some(path) = html {
        write_page(path, &document)?;
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
    if let Some(path) = html.filter(|_| options.open) {
        open(path)?;
    }
    Ok(Exit::Done)
}

/// The page's file, unless another is named.
const PAGE: &str = "antiphon-report.html";

/// Writes the page of runs to its usual file, and shows it.
pub fn write_and_open(runs: &[RunRecord]) -> Result<()> {
    write_page(Path::new(PAGE), &compose_together(runs))?;
    open(Path::new(PAGE))
}

/// Writes the page, after the largest findings of its suites.
fn write_page(path: &Path, document: &Document) -> Result<()> {
    let largest = export::text::largest(document, text_options());
    if !largest.is_empty() {
        say(format_args!(
            "The largest differences:\n{}",
            largest.trim_end()
        ));
    }
    write(path, export::html::render(document).as_bytes())
}

/// Refuses to show a page that goes to standard output.
pub fn check_page(html: Option<&Path>, open: bool) -> Result<()> {
    if open && html.is_some_and(is_stdout) {
        bail!("`--open` shows a file, and no standard output; give `--html` the name of one");
    }
    Ok(())
}

/// Opens a page in the first browser of `$BROWSER`, else by `xdg-open`, without waiting for it.
pub fn open(page: &Path) -> Result<()> {
    let named = std::env::var("BROWSER").unwrap_or_default();
    let browsers = named.split(':').filter(|name| !name.is_empty());
    let page = page.canonicalize().unwrap_or_else(|_| page.to_owned());
    for browser in browsers.chain(["xdg-open"]) {
        let started = Command::new(browser)
            .arg(&page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if started.is_ok() {
            return Ok(());
        }
    }
    let text = "no browser can be started; name one in `$BROWSER`, or install xdg-utils";
    Err(Missing(text.into()).into())
}

/// Writes a file and prints where. `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        return print_file(bytes);
    }
    antiphon_outside::write(path, bytes)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    say(format_args!("Report: {}", whole.display()));
    Ok(())
}

pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}
