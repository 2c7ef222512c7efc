//! `antiphon compare`: two runs, or two builds interleaved in one.

use crate::cli::{Cli, Compare, Placement, Policy};
use crate::exit::Exit;
use crate::home::{home, store_path};
use crate::interruption::interruption;
use crate::progress::{Progress, width};
use crate::subjects;
use antiphon_lab::build::Cache;
use antiphon_lab::store::Store;
use antiphon_lab::{Live, LiveOptions, LiveRow, Outcome, Patterns, RunRecord, compare_runs};
use antiphon_measure::{ComparisonSettings, FrameSettings, Interval, PairEstimate, PairSettings};
use antiphon_report::comparison::{Comparison, ComparisonRow, Side, Verdict};
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

// --- Two runs of the store -------------------------------------------------------------------------------------------------

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
    let wanted = |row: &antiphon_lab::ComparisonRow| {
        let identity = row.a.as_ref().or(row.b.as_ref());
        identity.is_some_and(|identity| patterns.fit(&identity.test))
    };
    let rows = compare_runs(&a, &b, &renamed(&a, &b), &settings);
    let rows = rows
        .into_iter()
        .filter(wanted)
        .map(|row| stored_row(&a, &b, row))
        .collect();
    Ok(Comparison {
        before: side(&a),
        after: side(&b),
        basis: "Two runs at different times, by the ratio of each cost to the reference operation of its own run; \
                the variance between process starts is in the intervals. To gate, compare --live."
            .to_owned(),
        threshold: settings.threshold,
        confidence: settings.confidence,
        rows,
    })
}

/// Runs of one subject each are compared although the subjects differ, as two compilers do.
fn renamed(a: &RunRecord, b: &RunRecord) -> Vec<(String, String)> {
    match (a.subjects.as_slice(), b.subjects.as_slice()) {
        ([one], [other]) if one.id != other.id => vec![(one.id.clone(), other.id.clone())],
        _ => Vec::new(),
    }
}

fn side(run: &RunRecord) -> Side {
    let compilers = run
        .subjects
        .iter()
        .map(|subject| format!("{}: {} {}", subject.id, subject.compiler, subject.flags));
    let machine = format!(
        "{} ({}), {}",
        run.machine.host, run.machine.processor, run.machine.kernel
    );
    Side {
        name: format!("run {}", run.id),
        lines: [run.started.clone(), machine]
            .into_iter()
            .chain(compilers)
            .collect(),
    }
}

fn stored_row(a: &RunRecord, b: &RunRecord, row: antiphon_lab::ComparisonRow) -> ComparisonRow {
    let identity = row.a.as_ref().or(row.b.as_ref());
    let cost = |run: &RunRecord, identity: &Option<antiphon_lab::Identity>| {
        let result = run
            .results
            .iter()
            .find(|result| Some(&result.identity) == identity.as_ref())?;
        match &result.outcome {
            Outcome::Frame(estimate) => Some(estimate.cost_ns),
            _ => None,
        }
    };
    let notes = row.comparison.as_ref().map(|c| {
        c.findings
            .iter()
            .map(|f| f.text.as_str())
            .collect::<Vec<_>>()
            .join("; ")
    });
    let verdict = match &row.comparison {
        None => Verdict::Missing,
        Some(comparison) => match comparison.verdict {
            antiphon_measure::Verdict::Regression => Verdict::Dearer,
            antiphon_measure::Verdict::Improvement => Verdict::Cheaper,
            antiphon_measure::Verdict::Indistinguishable if comparison.equivalent => Verdict::Same,
            antiphon_measure::Verdict::Indistinguishable => Verdict::Undecided,
        },
    };
    ComparisonRow {
        group: identity
            .map(|identity| group(&identity.test))
            .unwrap_or_default(),
        label: identity.map(label).unwrap_or_default(),
        before_ns: cost(a, &row.a),
        after_ns: cost(b, &row.b),
        log_ratio: row
            .comparison
            .as_ref()
            .map(|comparison| comparison.log_ratio),
        verdict,
        note: notes.unwrap_or(row.why_not),
    }
}

fn label(identity: &antiphon_lab::Identity) -> String {
    format!(
        "{} {} {}.{}",
        identity.test, identity.subject, identity.policy, identity.placement
    )
}

/// The first word of a test's name is its area.
fn group(test: &str) -> String {
    test.split('.').next().unwrap_or(test).to_owned()
}

// --- Two subjects in one run -----------------------------------------------------------------------------------------------

fn live(cli: &Cli, options: &Compare) -> Result<Comparison> {
    let subjects = match home(cli) {
        Ok(home) => subjects::all(&home)?,
        // Both may be folders, which need no home.
        Err(_) => Vec::new(),
    };
    let a = subjects::choose(&subjects, &options.a)?;
    let b = subjects::choose(&subjects, &options.b)?;
    let mut progress = Progress::new();
    let stop = interruption()?;
    let cache = Cache::of_user();
    let mut live = Live {
        cache: &cache,
        observer: &mut progress,
        stop: &stop,
    };
    let settings = live_options(options);
    let rows = live.compare(
        (&a.subject, &a.variant),
        (&b.subject, &b.variant),
        &settings,
    )?;
    let threshold = options.threshold / 100.0;
    let name = |chosen: &subjects::Chosen| Side {
        name: format!("{}/{}", chosen.subject.name, chosen.variant.name),
        lines: vec![
            chosen.subject.folder.display().to_string(),
            chosen.variant.flags.join(" "),
        ],
    };
    let (mut before, mut after) = (name(&a), name(&b));
    if before.name == after.name {
        before.name.push_str(" (A)");
        after.name.push_str(" (B)");
    }
    Ok(Comparison {
        before,
        after,
        basis: format!(
            "Interleaved slice by slice in one run (A B B A), {}.{}; ratios of whole test frames.",
            settings.policy, settings.placement
        ),
        threshold,
        confidence: CONFIDENCE,
        rows: rows
            .into_iter()
            .map(|row| live_row(row, threshold))
            .collect(),
    })
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

fn live_row(row: LiveRow, threshold: f64) -> ComparisonRow {
    let exact = |ns: f64| {
        Some(Interval {
            value: ns,
            low: ns,
            high: ns,
        })
    };
    let blank = ComparisonRow {
        group: group(&row.test),
        label: row.test.clone(),
        before_ns: None,
        after_ns: None,
        log_ratio: None,
        verdict: Verdict::Missing,
        note: String::new(),
    };
    match row.outcome {
        Ok(pair) => ComparisonRow {
            before_ns: exact(pair.test_ns.0),
            after_ns: exact(pair.test_ns.1),
            log_ratio: Some(pair.log_ratio),
            verdict: live_verdict(&pair, threshold),
            note: pair
                .findings
                .iter()
                .map(|finding| finding.text.as_str())
                .collect::<Vec<_>>()
                .join("; "),
            ..blank
        },
        Err(Outcome::Absent { reason, mend, .. }) => {
            let note = if mend.is_empty() {
                reason
            } else {
                format!("{reason}; {mend}")
            };
            ComparisonRow { note, ..blank }
        }
        Err(_) => blank,
    }
}

/// Intervals are corrected for the number of tests already, so each verdict is where its interval lies.
fn live_verdict(pair: &PairEstimate, threshold: f64) -> Verdict {
    let limit = threshold.ln_1p();
    let Interval { low, high, .. } = pair.log_ratio;
    if low > limit {
        Verdict::Dearer
    } else if high < -limit {
        Verdict::Cheaper
    } else if low > -limit && high < limit {
        Verdict::Same
    } else {
        Verdict::Undecided
    }
}
