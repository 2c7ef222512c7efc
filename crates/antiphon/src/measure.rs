//! `antiphon measure`: builds, measures, stores, prints.

use crate::cli::{Cli, Measure};
use crate::exit::Exit;
use crate::home::{home, store_path};
use crate::interruption::interruption;
use crate::progress::{Progress, width};
use crate::subjects;
use antiphon_lab::build::Cache;
use antiphon_lab::run::{Laboratory, Options};
use antiphon_lab::store::Store;
use antiphon_lab::suite::Suite;
use antiphon_lab::{Outcome, RunRecord};
use antiphon_report::export;
use antiphon_report::export::text::TextOptions;
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Measures each suite in turn.
pub fn run(cli: &Cli, options: &Measure) -> Result<Exit> {
    let home = home(cli)?;
    let suites = options
        .suites
        .iter()
        .map(|name| Suite::load(&suite_path(&home, name)));
    let suites = suites.collect::<Result<Vec<_>, _>>()?;
    let subjects = subjects::all(&home)?;
    if options.check {
        for (suite, _) in &suites {
            println!(
                "{}: {} groups, {} published tables; no fault found",
                suite.name,
                suite.groups.len(),
                suite.published.len()
            );
        }
        return Ok(Exit::Done);
    }
    let path = store_path(cli)?;
    let mut store = Store::open(&path)?;
    let mut progress = Progress::new();
    let stop = interruption()?;
    let cache = Cache::of_user();
    let mut laboratory = Laboratory {
        subjects: &subjects,
        cache: &cache,
        store: &mut store,
        observer: &mut progress,
        stop: &stop,
    };
    let mut done = Vec::new();
    match &options.resume {
        Some(which) => {
            let run = resumed(laboratory.store, &path, which)?;
            done.push(laboratory.resume(run)?);
        }
        None => {
            for (suite, text) in &suites {
                done.push(laboratory.measure(suite, text, &asked(options))?);
            }
        }
    }
    let records = done
        .into_iter()
        .map(|run| store.load(run))
        .collect::<Result<Vec<_>, _>>()?;
    for record in &records {
        print(record, options.json)?;
    }
    Ok(match records.iter().all(measured_something) {
        true => Exit::Done,
        false => Exit::Missing,
    })
}

/// A suite by its name in `suites/`, or by its path.
fn suite_path(home: &Path, name: &str) -> PathBuf {
    match name.ends_with(".toml") {
        true => PathBuf::from(name),
        false => home.join("suites").join(format!("{name}.toml")),
    }
}

fn asked(options: &Measure) -> Options {
    Options {
        quick: options.quick,
        time_budget_s: options.time_budget,
        only: options.only.clone(),
        subjects: options.subjects.clone(),
        starts: options.repetitions.map(u64::from),
        ..Options::default()
    }
}

/// The run that `--resume` means.
fn resumed(store: &Store, path: &Path, which: &str) -> Result<i64> {
    if which != "last" {
        return which
            .parse()
            .with_context(|| format!("`{which}` is no number of a run; see `antiphon runs`"));
    }
    let unfinished = store
        .runs()?
        .into_iter()
        .rev()
        .find(|run| run.done < run.planned);
    match unfinished {
        Some(run) => Ok(run.id),
        None => bail!("every run in {} is finished", path.display()),
    }
}

fn print(record: &RunRecord, json: bool) -> Result<()> {
    if json {
        println!("{}", export::json::run(record)?);
        return Ok(());
    }
    let terminal = std::io::stdout().is_terminal();
    let options = TextOptions {
        width: u16::try_from(width()).unwrap_or(u16::MAX),
        colour: terminal,
    };
    print!("{}", export::text::render_tables(record, options));
    println!("{}", export::text::summary(record));
    println!(
        "Run {}: see it with `antiphon report {}`",
        record.id, record.id
    );
    Ok(())
}

fn measured_something(record: &RunRecord) -> bool {
    record
        .results
        .iter()
        .any(|result| !matches!(result.outcome, Outcome::Absent { .. }))
}
