//! `antiphon compare`: two runs, or two builds interleaved in one.

use crate::cli::{Cli, Compare, Placement, Policy};
use crate::exit::{Exit, Missing};
use crate::interruption::interruption;
use crate::output::{print_json, print_line, print_styled, text_options};
use crate::progress::Progress;
use crate::report;
use crate::store;
use crate::subjects::{self, Chosen};
use antiphon_lab::build::Cache;
use antiphon_lab::{
    Live, LiveOptions, Patterns, RunRecord, agreements, clear_leftovers, compare_runs,
};
use antiphon_measure::ComparisonSettings;
use antiphon_report::comparison::{Comparison, Side, Verdict};
use antiphon_report::document::Document;
use antiphon_report::{agrees, compose_agreement, compose_comparison, export};
use anyhow::{Result, anyhow, bail};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Compares two runs, prints the result, and returns whether there is a regression.
pub fn run(cli: &Cli, options: &Compare) -> Result<Exit> {
    report::check_page(options.html.as_deref(), options.open)?;
    if options.json && options.html.as_deref().is_some_and(report::is_stdout) {
        bail!("standard output can take one format only; give `--html` the name of a file");
    }
    if options.ratios {
        return ratios(cli, options);
    }
    let stop = interruption()?;
    let comparison = match options.live {
        true => live(cli, options, &stop)?,
        false => stored(cli, options)?,
    };
    let exit = verdict(&comparison, options.live);
    let document = compose_comparison(&comparison);
    match options.json {
        true => print_json(&json(&comparison, options, exit)?)?,
        false => show(options, &document)?,
    }
    write_page(options, &document)?;
    Ok(match stop.load(Ordering::Relaxed) {
        true => Exit::Interrupted,
        false => exit,
    })
}

/// Prints a document, unless standard output takes its page.
fn show(options: &Compare, document: &Document) -> Result<()> {
    match options.html.as_deref() {
        Some(path) if report::is_stdout(path) => Ok(()),
        _ => print_styled(&export::text::render(document, text_options())),
    }
}

/// Writes the page that the options ask for, and shows it.
fn write_page(options: &Compare, document: &Document) -> Result<()> {
    let default = options.open.then(|| PathBuf::from(PAGE));
    let Some(path) = options.html.clone().or(default) else {
        return Ok(());
    };
    report::write(&path, export::html::render(document).as_bytes())?;
    match options.open {
        true => report::open(&path),
        false => Ok(()),
    }
}

/// The page's file, unless another is named.
const PAGE: &str = "antiphon-compare.html";

/// Returns the comparison as JSON, with the request and the overall answer.
fn json(comparison: &Comparison, options: &Compare, exit: Exit) -> Result<String> {
    let mut all: serde_json::Value = serde_json::from_str(&export::json::comparison(comparison)?)?;
    all["asked"] = json!({
        "a": options.a,
        "b": options.b,
        "live": options.live,
        "only": options.only,
        "threshold": options.threshold / 100.0,
    });
    if options.live {
        let live = live_options(options);
        all["asked"]["starts"] = live.starts.into();
        all["asked"]["seconds"] = live.seconds.into();
        all["asked"]["policy"] = live.policy.into();
        all["asked"]["placement"] = live.placement.into();
    }
    all["answer"] = match exit {
        Exit::No => "slower",
        Exit::CannotTell => "cannot_tell",
        Exit::Missing => "missing",
        _ => "not_slower",
    }
    .into();
    Ok(serde_json::to_string_pretty(&all)?)
}

/// Returns the overall answer. A gate must not pass what it could not measure. Live, each test
/// exists on both sides, so a test without a figure has failed. Stored runs may have measured other
/// tests, or on processors at another distance. Such rows neither fail a gate nor suffice to pass
/// it.
fn verdict(comparison: &Comparison, live: bool) -> Exit {
    let count = |verdict| comparison.count(verdict);
    let missing = count(Verdict::Missing);
    let without = missing + count(Verdict::Incomparable);
    if count(Verdict::Slower) > 0 {
        Exit::No
    } else if without == comparison.rows.len() || (live && missing > 0) {
        Exit::Missing
    } else if count(Verdict::CannotTell) > 0 {
        Exit::CannotTell
    } else {
        Exit::Done
    }
}

/// Compares two runs of the store by their ratios between subjects.
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
    show(options, &document)?;
    write_page(options, &document)?;
    Ok(match agrees(&agreements, threshold) {
        true => Exit::Done,
        false => Exit::No,
    })
}

/// Compares two runs of the store.
fn stored(cli: &Cli, options: &Compare) -> Result<Comparison> {
    let number = |which| {
        store::number(which).map_err(|error| anyhow!("{error}; to compare subjects, give --live"))
    };
    let (a, b) = (number(&options.a)?, number(&options.b)?);
    let store = store::open_filled(cli)?;
    let (a, b) = (store.load(a)?, store.load(b)?);
    let settings = judging(options);
    let patterns = Patterns::new(&options.only)?;
    let rows = compare_runs(&a, &b, &renamed(&a, &b), &patterns, &settings);
    // A test with a figure on one side only is a row that says why. If no test is in both runs, the
    // rows say nothing.
    if !rows.iter().any(|row| row.a.is_some() && row.b.is_some()) {
        return Err(Missing(nothing(&a, &b, &patterns)).into());
    }
    Ok(Comparison::of_runs(&a, &b, &rows, &settings))
}

/// Returns the settings of the comparison that the options ask for.
fn judging(options: &Compare) -> ComparisonSettings {
    ComparisonSettings {
        threshold: options.threshold / 100.0,
        ..ComparisonSettings::default()
    }
}

/// Returns why the two runs have nothing to compare, and what to do about it.
fn nothing(a: &RunRecord, b: &RunRecord, patterns: &Patterns) -> String {
    let tests = |run: &RunRecord| -> BTreeSet<String> {
        let results = run.results.iter();
        results.map(|result| result.identity.test.clone()).collect()
    };
    let (of_a, of_b) = (tests(a), tests(b));
    let common: Vec<&str> = of_a.intersection(&of_b).map(String::as_str).collect();
    if a.suite != b.suite && common.is_empty() {
        return format!(
            "run {} is of the suite {} and run {} of {}, which have no test in common; compare two runs of one suite (`antiphon runs` lists them)",
            a.id, a.suite, b.id, b.suite
        );
    }
    if common.is_empty() {
        return format!(
            "runs {} and {} have no test in common; measure both with the same choice of tests",
            a.id, b.id
        );
    }
    let (meant, others): (Vec<&str>, Vec<&str>) =
        common.iter().partition(|test| patterns.fit(test));
    if meant.is_empty() {
        return format!(
            "no test that both runs have fits --only; they have {}",
            some_of(&others)
        );
    }
    let subjects = |run: &RunRecord| -> BTreeSet<String> {
        run.subjects
            .iter()
            .map(|subject| subject.id.clone())
            .collect()
    };
    if subjects(a).is_disjoint(&subjects(b)) {
        let words = |run| subjects(run).into_iter().collect::<Vec<_>>().join(", ");
        return format!(
            "the runs have no subject in common: run {} measured {}, run {} {}; compare subjects with --live",
            a.id,
            words(a),
            b.id,
            words(b)
        );
    }
    format!(
        "nothing that both runs have is compared: costs, whole programs and servers are, under the same subject, policy and placement, \
         and not latencies, clocks and curves, such as {}; see both with `antiphon report {} {}`",
        some_of(&meant),
        a.id,
        b.id
    )
}

/// Returns the first of many words.
fn some_of(words: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = words.iter().take(SHOWN).copied().collect::<Vec<_>>();
    match words.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Pairs the subjects of two runs of one subject each. They are compared although they differ, as
/// two compilers do.
fn renamed(a: &RunRecord, b: &RunRecord) -> Vec<(String, String)> {
    match (a.subjects.as_slice(), b.subjects.as_slice()) {
        ([one], [other]) if one.id != other.id => vec![(one.id.clone(), other.id.clone())],
        _ => Vec::new(),
    }
}

/// Measures and compares two subjects in one run.
fn live(cli: &Cli, options: &Compare, stop: &AtomicBool) -> Result<Comparison> {
    let [a, b] = subjects::pair(cli, [&options.a, &options.b])?;
    let cache = Cache::of_user();
    clear_leftovers(&cache);
    let mut live = Live {
        cache: &cache,
        observer: &mut Progress::new(),
        stop,
    };
    let live_options = live_options(options);
    let rows = live.compare(
        (&a.subject, &a.variant),
        (&b.subject, &b.variant),
        &live_options,
    )?;
    let (mut before, mut after) = (side(&a), side(&b));
    if before.name == after.name {
        before.name.push_str(" (A)");
        after.name.push_str(" (B)");
    }
    Ok(Comparison::of_live(before, after, &rows, &live_options))
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
    LiveOptions {
        only: options.only.clone(),
        policy: policy.to_owned(),
        placement: placement.to_owned(),
        starts: options.starts,
        seconds: options.seconds,
        judging: judging(options),
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
            starts: None,
            limit: None,
            verdict: *verdict,
            same_within: None,
            note: String::new(),
        };
        let comparison = Comparison {
            before: Side::default(),
            after: Side::default(),
            basis: String::new(),
            suite_fault: None,
            threshold: 0.02,
            confidence: 0.99,
            rows: verdicts.iter().map(row).collect(),
        };
        verdict(&comparison, false)
    }

    #[test]
    fn what_the_machine_made_differ_neither_fails_nor_passes_a_gate() {
        use Verdict::{Incomparable, Missing, Same, Slower};
        assert_eq!(exit(&[Same, Incomparable]), Exit::Done);
        assert_eq!(exit(&[Slower, Incomparable]), Exit::No);
        assert_eq!(exit(&[Incomparable, Missing]), Exit::Missing);
        assert_eq!(exit(&[Same, Missing]), Exit::Done);
    }

    #[test]
    fn a_gate_passes_only_what_is_told_of_every_row() {
        use Verdict::{CannotTell, Faster, Missing, Same, Slower};
        assert_eq!(exit(&[Same, Faster]), Exit::Done);
        assert_eq!(exit(&[Same, CannotTell]), Exit::CannotTell);
        assert_eq!(exit(&[Slower, CannotTell]), Exit::No);
        assert_eq!(exit(&[Missing, CannotTell]), Exit::CannotTell);
    }
}
