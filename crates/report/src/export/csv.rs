//! CSV for programs and spreadsheets: one line a figure, flat, times in ns.
//!
//! An unreadable suite has a line, too, because it leaves no groups and labels. Text that a
//! spreadsheet would take for a formula is preceded by an apostrophe.

mod comparison;
mod frames;
mod load;
mod processor_time;
mod program;
mod record;

use crate::compose::view::View;
use crate::layout::Layout;
use antiphon_lab::{Outcome, ResultRecord, RunRecord};
use antiphon_measure::{ClockEstimate, Distribution, Finding};
pub use comparison::comparison;
use frames::frames;
use record::{HEADINGS, Record, keep_last};
use thiserror::Error;

/// Reason for a missing CSV.
#[derive(Debug, Error)]
pub enum CsvError {
    /// A record could not be written.
    #[error("the CSV could not be written: {0}")]
    Write(#[from] csv::Error),
    /// The buffer could not be taken back.
    #[error("the CSV could not be finished: {0}")]
    Finish(String),
}

/// Writes every figure of a run.
///
/// # Errors
/// Writing into memory failed.
pub fn run(run: &RunRecord) -> Result<String, CsvError> {
    runs(std::slice::from_ref(run))
}

/// Writes every figure of these runs.
///
/// # Errors
/// Writing into memory failed.
pub fn runs(runs: &[RunRecord]) -> Result<String, CsvError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for run in runs {
        let (layout, fault) = Layout::of_run(run);
        let view = View::new(run, &layout);
        let figures = run.results.iter().flat_map(|result| records(&view, result));
        for record in fault.map(unread).into_iter().chain(figures) {
            let record = record.with_text("suite", &run.suite).with("run", run.id);
            writer.write_record(record.fields())?;
        }
    }
    finish(writer)
}

/// Returns the line before the figures of a run whose suite cannot be read.
fn unread(why: String) -> Record {
    Record::default()
        .with("figure", "suite_unread")
        .with_text("reason", &why)
}

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<String, CsvError> {
    let bytes = writer
        .into_inner()
        .map_err(|error| CsvError::Finish(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CsvError::Finish(error.to_string()))
}

fn identity(view: &View, result: &ResultRecord) -> Record {
    let id = &result.identity;
    let group = view
        .group_of(result)
        .map_or("", |index| view.layout.groups[index].id.as_str());
    Record::default()
        .with_text("group", group)
        .with_text("label", &view.label(id))
        .with_text("test", &id.test)
        .with("arg", id.arg.map_or(String::new(), |arg| arg.to_string()))
        .with_text("subject", &id.subject)
        .with_text("policy", &id.policy)
        .with_text("placement", &id.placement)
}

fn records(view: &View, result: &ResultRecord) -> Vec<Record> {
    let start = |figure: &'static str, unit: &str| {
        let record = identity(view, result)
            .with("figure", figure)
            .with_text("unit", unit);
        match result.findings.is_empty() {
            true => record,
            false => record.with_text("findings", &texts(&result.findings)),
        }
    };
    let ns = |figure, value: f64| start(figure, "ns").with("value", value);
    let mut records = match &result.outcome {
        Outcome::Frame(estimate) => frames(result, estimate, &start),
        Outcome::Latency(latency) => {
            let mut records = distribution(&latency.from_actual, "from_actual", &start);
            if latency.scheduled {
                records.extend(distribution(
                    &latency.from_intended,
                    "from_intended",
                    &start,
                ));
            }
            records.push(ns("latency_mean_less_overhead", latency.response_ns()));
            records.push(ns("latency_overhead", latency.overhead_ns));
            records
        }
        Outcome::DelayCurve(curve) => {
            let mut records = vec![
                ns("delay_resolution", curve.resolution_ns)
                    .with("standing", bound(curve.resolution_is_bound)),
                ns("delay_minimum", curve.minimum_ns),
                ns("delay_overhead", curve.overhead_ns),
                start("delay_slope", "").with("value", curve.slope),
            ];
            records.extend(curve.points.iter().map(|point| {
                start("delay_actual", "ns")
                    .with("arg", point.requested_ns)
                    .with_interval(&point.actual_ns)
            }));
            // The request takes the place of the test's own argument.
            records
                .iter_mut()
                .for_each(|record| keep_last(record, "arg"));
            records
        }
        Outcome::Storage(storage) => vec![
            ns("storage_typical", storage.typical_ns),
            start("storage_completed", "").with("value", storage.completed),
        ],
        Outcome::Clock { unit, estimate } => clock(unit, estimate, &start),
        Outcome::Interference(found) => {
            vec![start("interference_share", "").with("value", found.beta)]
        }
        Outcome::Program { runs, counted, .. } => program::records(runs, counted, &start),
        Outcome::Load(load) => load::records(load, &start),
        Outcome::Absent {
            reason,
            help,
            listed,
            ..
        } => {
            vec![
                start("absent", "")
                    .with(
                        "standing",
                        if *listed { "not_in_subject" } else { "failed" },
                    )
                    .with_text("reason", reason)
                    .with_text("mend", help),
            ]
        }
    };
    records.extend(processor_time::records(result, &start));
    records
}

fn distribution(
    found: &Distribution,
    from: &str,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let percentiles = found.percentiles.iter().map(|&(percentile, value)| {
        let figure = if from == "from_actual" {
            "latency_from_actual"
        } else {
            "latency_from_intended"
        };
        start(figure, "ns")
            .with("arg", percentile)
            .with("value", value)
    });
    let mut records: Vec<Record> = percentiles.collect();
    records
        .iter_mut()
        .for_each(|record| keep_last(record, "arg"));
    records
}

fn clock(
    unit: &str,
    estimate: &ClockEstimate,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    vec![
        start("clock_resolution", unit).with("value", estimate.resolution),
        start("clock_cost", unit).with("value", estimate.cost),
    ]
}

/// Returns the standing of a figure that may be an upper bound.
fn bound(is_bound: bool) -> &'static str {
    match is_bound {
        true => "upper_bound",
        false => "resolved",
    }
}

fn texts(findings: &[Finding]) -> String {
    let texts: Vec<&str> = findings.iter().map(|f| f.text.as_str()).collect();
    texts.join("; ")
}

/// Returns the stable word of an enumeration, as in JSON.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
