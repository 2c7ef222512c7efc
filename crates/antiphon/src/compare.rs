//! `antiphon compare`: two runs, or two builds interleaved in one.

use crate::cli::{Cli, Compare, Placement, Policy};
use crate::exit::Exit;
use crate::interruption::interruption;
use crate::output::{print, print_line, text_options};
use crate::progress::Progress;
use crate::store;
use crate::subjects::{self, Chosen};
use antiphon_lab::build::Cache;
use antiphon_lab::{
    Live, LiveOptions, Patterns, RunRecord, agreements, clear_leftovers, compare_runs,
};
use antiphon_measure::{ComparisonSettings, FrameSettings, PairSettings};
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::{agrees, compose_agreement, compose_comparison, export};
use anyhow::{Result, anyhow};
use std::sync::atomic::{AtomicBool, Ordering};

/// Confidence of all verdicts together.
const CONFIDENCE: f64 = 0.95;

/// Compares, prints, and says by the exit code whether there is a regression.
pub fn run(cli: &Cli, options: &Compare) -> Result<Exit> {
    if options.ratios {
        return ratios(cli, options);
    }
    let stop = interruption()?;
    let comparison = match options.live {
        true => live(cli, options, &stop)?,
        false => stored(cli, options)?,
    };
    match options.json {
        true => print_line(export::json::comparison(&comparison)?)?,
        false => print(&export::text::render(
            &compose_comparison(&comparison),
            text_options(),
        ))?,
    }
    Ok(match stop.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => verdict(&comparison, options.live),
    })
}

/// A gate must not pass what it could not measure: live, each test is there on both sides, so one without a figure has failed. Stored
/// runs need not have measured the same tests, nor on processors at the same distance: such rows neither fail a gate nor are enough to pass it.
fn verdict(comparison: &Comparison, live: bool) -> Exit {
    let missing = comparison.count(Verdict::Missing);
    let without = missing + comparison.count(Verdict::Incomparable);
    match comparison.count(Verdict::Dearer) {
        0 if without == comparison.rows.len() || (live && missing > 0) => Exit::Missing,
        0 => Exit::Done,
        _ => Exit::No,
    }
}

/// Whether two runs of the store agree in their ratios between subjects.
fn ratios(cli: &Cli, options: &Compare) -> Result<Exit> {
    let (a, b) = (store::number(&options.a)?, store::number(&options.b)?);
    let store = store::open_filled(cli)?;
    let first = store.load(a)?;
    let mut agreements = agreements(&first, &store.load(b)?);
    let patterns = Patterns::new(&options.only)?;
    agreements.retain(|of| patterns.fit(&of.identity.test));
    if agreements.is_empty() {
        print_line("no subject is compared with another in both runs")?;
        return Ok(Exit::Missing);
    }
    let threshold = options.threshold / 100.0;
    let document = compose_agreement(&agreements, threshold, &first, b);
    print(&export::text::render(&document, text_options()))?;
    Ok(match agrees(&agreements, threshold) {
        true => Exit::Done,
        false => Exit::No,
    })
}

/// Two runs of the store.
fn stored(cli: &Cli, options: &Compare) -> Result<Comparison> {
    let number = |which| {
        store::number(which).map_err(|error| anyhow!("{error}; to compare subjects, give --live"))
    };
    let (a, b) = (number(&options.a)?, number(&options.b)?);
    let store = store::open_filled(cli)?;
    let (a, b) = (store.load(a)?, store.load(b)?);
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
fn live(cli: &Cli, options: &Compare, stop: &AtomicBool) -> Result<Comparison> {
    let [a, b] = subjects::pair(cli, [&options.a, &options.b])?;
    let cache = Cache::of_user();
    clear_leftovers(&cache);
    let mut live = Live {
        cache: &cache,
        observer: &mut Progress::new(),
        stop,
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

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_report::comparison::ComparisonRow;

    fn exit(verdicts: &[Verdict]) -> Exit {
        let row = |verdict: &Verdict| ComparisonRow {
            group: String::new(),
            label: String::new(),
            before_ns: None,
            after_ns: None,
            log_ratio: None,
            verdict: *verdict,
            note: String::new(),
        };
        let comparison = Comparison {
            before: Side::default(),
            after: Side::default(),
            basis: String::new(),
            suite_fault: None,
            threshold: 0.02,
            confidence: CONFIDENCE,
            rows: verdicts.iter().map(row).collect(),
        };
        verdict(&comparison, false)
    }

    #[test]
    fn what_the_machine_made_differ_neither_fails_nor_passes_a_gate() {
        use Verdict::{Dearer, Incomparable, Missing, Same};
        assert_eq!(exit(&[Same, Incomparable]), Exit::Done);
        assert_eq!(exit(&[Dearer, Incomparable]), Exit::No);
        assert_eq!(exit(&[Incomparable, Missing]), Exit::Missing);
        assert_eq!(exit(&[Same, Missing]), Exit::Done);
    }
}
