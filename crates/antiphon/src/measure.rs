//! `antiphon measure`: builds, measures, stores, prints.

use crate::cli::{Cli, Measure};
use crate::exit::{self, Exit, Missing};
use crate::home::{home, store_path};
use crate::interruption::interruption;
use crate::output::{print_json, print_line, print_styled, say, text_options};
use crate::progress::Progress;
use crate::{report, store, subjects};
use antiphon_lab::build::Cache;
use antiphon_lab::run::{Laboratory, Options, RunError};
use antiphon_lab::store::Store;
use antiphon_lab::subject::{Subject, select};
use antiphon_lab::suite::{Suite, names};
use antiphon_lab::{Outcome, RunRecord, clear_leftovers};
use antiphon_report::export;
use anyhow::Result;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Measures each suite in turn.
pub fn run(cli: &Cli, options: &Measure) -> Result<Exit> {
    let home = home(cli)?;
    if options.check {
        return check(&home, options);
    }
    let suites = match options.resume {
        // A resumed run keeps its suite.
        Some(_) => Vec::new(),
        None => suites(&home, options)
            .into_iter()
            .collect::<Result<Vec<_>>>()?,
    };
    let mut subjects = subjects::all(&home)?;
    if let Some(folder) = &options.with_sr {
        subjects::use_original_sr(&mut subjects, folder)?;
    }
    let cache = Cache::of_user();
    clear_leftovers(&cache);
    let mut store = Store::open(&store_path(cli)?)?;
    let mut progress = Progress::new();
    let stop = interruption()?;
    let mut laboratory = Laboratory {
        subjects: &subjects,
        cache: &cache,
        store: &mut store,
        observer: &mut progress,
        stop: &stop,
    };
    let mut runs = Vec::new();
    if let Some(which) = &options.resume {
        let run = resumed(laboratory.store, which)?;
        runs.push(laboratory.resume(run)?);
    }
    for (suite, text) in &suites {
        if !stop.load(Ordering::Relaxed) {
            match laboratory.measure(suite, text, &asked(suite, options)) {
                Ok(run) => runs.push(run),
                // The suites before the interruption still get their tables.
                Err(error @ RunError::Interrupted) if !runs.is_empty() => say(error),
                Err(error) => return Err(error.into()),
            }
        }
    }
    let runs = runs.into_iter().map(|run| store.load(run));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let exit = show(&runs, options.json, &stop)?;
    if options.open && !runs.is_empty() {
        report::write_and_open(&runs)?;
    }
    Ok(exit)
}

fn show(runs: &[RunRecord], json: bool, stop: &AtomicBool) -> Result<Exit> {
    for run in runs {
        match json {
            true => print_json(&export::json::run(run)?)?,
            false => tables(run)?,
        }
    }
    if runs.len() > 1 && !json {
        let numbers: Vec<String> = runs.iter().map(|run| run.id.to_string()).collect();
        print_line(format_args!(
            "All on one page: antiphon report {}",
            numbers.join(" ")
        ))?;
    }
    Ok(match runs.iter().all(measured_something) {
        _ if stop.load(Ordering::Relaxed) => Exit::Interrupted,
        true => Exit::Done,
        false => Exit::Missing,
    })
}

fn tables(run: &RunRecord) -> Result<()> {
    print_styled(&export::text::render_tables(run, text_options()))?;
    print_line(export::text::summary(run))?;
    if run.ended.is_none() {
        print_line(format_args!(
            "Go on with it: antiphon measure --resume {}",
            run.id
        ))?;
    }
    print_line(format_args!("See it whole:  antiphon report {}", run.id))
}

fn measured_something(run: &RunRecord) -> bool {
    let measured = |outcome: &Outcome| !matches!(outcome, Outcome::Absent { .. });
    run.results.iter().any(|result| measured(&result.outcome))
}

/// Returns the requested suites, each with its text. By default these are the suites that have a
/// first look.
fn suites(home: &Path, options: &Measure) -> Vec<Result<(Suite, String)>> {
    let folder = home.join("suites");
    let named = |name: &String| Ok(Suite::named(&folder, name)?);
    if !options.suites.is_empty() {
        return options.suites.iter().map(named).collect();
    }
    let all = names(&folder).into_iter();
    let all = all.map(|name| named(&name));
    let mut found: Vec<_> = all
        .filter(|suite| match suite {
            Ok((suite, _)) => suite.first_look.is_some(),
            Err(_) => true,
        })
        .collect();
    if found.is_empty() {
        let none = format!(
            "no suite in {} has a first look; name one, see `antiphon list`",
            folder.display()
        );
        found.push(Err(Missing(none).into()));
    }
    found
}

/// Returns the options of a run. If no suite was named, these are the suite's first look, except
/// for explicit options.
fn asked(suite: &Suite, options: &Measure) -> Options {
    let first_look = suite.first_look.as_ref();
    let first_look = first_look.filter(|_| options.suites.is_empty());
    let mut asked = Options {
        quick: options.quick || first_look.is_some(),
        time_budget_s: options.time_budget,
        only: options.only.clone(),
        subjects: options.subjects.clone(),
        starts: options.repetitions.map(u64::from),
        instructions_of_all: options.instructions,
        ..Options::default()
    };
    if let Some(first_look) = first_look {
        asked.time_budget_s.get_or_insert(first_look.seconds);
        if asked.subjects.is_empty() {
            asked.subjects.clone_from(&first_look.subjects);
        }
    }
    asked
}

/// Returns the run that `--resume` means.
fn resumed(store: &Store, which: &str) -> Result<i64> {
    if which != "last" {
        return store::number(which);
    }
    let runs = store.runs()?;
    match runs.iter().rev().find(|run| store::unfinished(run)) {
        Some(run) => Ok(run.id),
        None => {
            Err(Missing("no run of this store is unfinished; see `antiphon runs`".into()).into())
        }
    }
}

// --- Checking --------------------------------------------------------------------------------------------------------------

/// Prints every fault of the suites and of the subjects.
fn check(home: &Path, options: &Measure) -> Result<Exit> {
    let (subjects, errors) = Subject::discover(&home.join("subjects"));
    let mut sound = errors.is_empty();
    errors.iter().for_each(say);
    for suite in suites(home, options) {
        match suite {
            Ok((suite, _)) => sound &= check_subjects(&suite, &subjects, options)?,
            Err(error) => {
                say(exit::message(&error));
                sound = false;
            }
        }
    }
    Ok(if sound { Exit::Done } else { Exit::No })
}

/// Checks that all subjects of a sound suite are there.
fn check_subjects(suite: &Suite, subjects: &[Subject], options: &Measure) -> Result<bool> {
    let wanted = match options.subjects.is_empty() {
        true => &suite.subjects,
        false => &options.subjects,
    };
    let unknown = wanted
        .iter()
        .filter_map(|name| select(subjects, name).err());
    let unknown: Vec<_> = unknown.collect();
    for error in &unknown {
        say(format_args!("suite `{}`: {error}", suite.name));
    }
    if unknown.is_empty() {
        print_line(format_args!(
            "{}: {} groups, {} published tables, {} subjects: no fault found",
            suite.name,
            suite.groups.len(),
            suite.published.len(),
            wanted.len()
        ))?;
    }
    Ok(unknown.is_empty())
}
