//! `antiphon compare`: two runs, or two builds interleaved in one.

use crate::cli::{Cli, Compare, Placement, Policy};
use crate::exit::Exit;
use crate::home::{home, store_path};
use crate::interruption::interruption;
use crate::progress::{Progress, width};
use crate::subjects::{self, Chosen};
use antiphon_lab::build::Cache;
use antiphon_lab::store::Store;
use antiphon_lab::{Live, LiveOptions, Patterns, RunRecord, compare_runs};
use antiphon_measure::{ComparisonSettings, FrameSettings, PairSettings};
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::export::text::TextOptions;
use antiphon_report::{compose_comparison, export};
use anyhow::{Context, Result};
use std::io::IsTerminal;

/// Confidence of all verdicts together.
const CONFIDENCE: f64 = 0.95;

/// Compares, prints, and says by the exit code whether there is a regression.
pub fn run(cli: &Cli, options: &Compare) -> Result<Exit> {
    let comparison = match options.live {
        true => live(cli, options)?,
        false => stored(cli, options)?,
    };
    if options.json {
        println!("{}", export::json::comparison(&comparison)?);
    } else {
        let terminal = std::io::stdout().is_terminal();
        let text = TextOptions {
            width: u16::try_from(width()).unwrap_or(u16::MAX),
            colour: terminal,
        };
        print!(
            "{}",
            export::text::render(&compose_comparison(&comparison), text)
        );
    }
    Ok(match comparison.count(Verdict::Dearer) {
        0 => Exit::Done,
        _ => Exit::No,
    })
}

/// Two runs of the store.
fn stored(cli: &Cli, options: &Compare) -> Result<Comparison> {
    let store = Store::open(&store_path(cli)?)?;
    let load = |which: &str| -> Result<RunRecord> {
        let number = which.parse().with_context(|| {
            format!("`{which}` is no number of a run; see `antiphon runs`, or compare subjects with --live")
        })?;
        Ok(store.load(number)?)
    };
    let (a, b) = (load(&options.a)?, load(&options.b)?);
    let settings = ComparisonSettings {
        threshold: options.threshold / 100.0,
        confidence: CONFIDENCE,
        ..ComparisonSettings::default()
    };
    let patterns = Patterns::new(&options.only)?;
    let mut rows = compare_runs(&a, &b, &renamed(&a, &b), &settings);
    rows.retain(|row| {
        let identity = row.a.as_ref().or(row.b.as_ref());
        identity.is_some_and(|identity| patterns.fit(&identity.test))
    });
    Ok(Comparison::of_runs(&a, &b, &rows, &settings))
}

/// Runs of one subject each are compared although the subjects differ, as two compilers do.
fn renamed(a: &RunRecord, b: &RunRecord) -> Vec<(String, String)> {
    match (a.subjects.as_slice(), b.subjects.as_slice()) {
        ([one], [other]) if one.id != other.id => vec![(one.id.clone(), other.id.clone())],
        _ => Vec::new(),
    }
}

/// Two subjects in one run.
fn live(cli: &Cli, options: &Compare) -> Result<Comparison> {
    let subjects = match home(cli) {
        Ok(home) => subjects::all(&home)?,
        // Both may be folders, which need no home.
        Err(_) => Vec::new(),
    };
    let a = subjects::choose(&subjects, &options.a)?;
    let b = subjects::choose(&subjects, &options.b)?;
    let stop = interruption()?;
    let mut live = Live {
        cache: &Cache::of_user(),
        observer: &mut Progress::new(),
        stop: &stop,
    };
    let rows = live.compare(
        (&a.subject, &a.variant),
        (&b.subject, &b.variant),
        &live_options(options),
    )?;
    let (mut before, mut after) = (side(&a), side(&b));
    if before.name == after.name {
        before.name.push_str(" (A)");
        after.name.push_str(" (B)");
    }
    let threshold = options.threshold / 100.0;
    Ok(Comparison::of_live(
        before, after, &rows, threshold, CONFIDENCE,
    ))
}

fn side(chosen: &Chosen) -> Side {
    Side {
        name: format!("{}/{}", chosen.subject.name, chosen.variant.name),
        lines: vec![
            chosen.subject.folder.display().to_string(),
            chosen.variant.flags.join(" "),
        ],
    }
}

fn live_options(options: &Compare) -> LiveOptions {
    let policy = match options.policy {
        Policy::Other => "other",
        Policy::Fifo => "fifo",
    };
    let placement = match options.placement {
        Placement::Same => "same",
        Placement::Across => "across",
        Placement::Free => "free",
    };
    let frame = FrameSettings {
        budget_ns: (options.seconds * 1e9) as u64,
        confidence: CONFIDENCE,
        ..PairSettings::default().frame
    };
    LiveOptions {
        only: options.only.clone(),
        policy: policy.to_owned(),
        placement: placement.to_owned(),
        settings: PairSettings {
            frame,
            ..PairSettings::default()
        },
        ..LiveOptions::default()
    }
}
