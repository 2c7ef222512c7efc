//! CSV for programs and spreadsheets: one line a figure, flat, times in ns.
//!
//! Text that a spreadsheet would take for a formula is preceded by an apostrophe.

mod load;
mod spent;

use crate::comparison::Comparison;
use crate::compose::figure;
use crate::compose::peak_run;
use crate::compose::view::View;
use crate::document::Standing;
use crate::layout::Layout;
use antiphon_lab::{Outcome, ResultRecord, RunRecord};
use antiphon_measure::{
    ClockEstimate, Distribution, Estimate, Finding, Interval, WholeRun, run_counter, run_time_ns,
};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why no CSV was written.
#[derive(Debug, Error)]
pub enum CsvError {
    /// A record could not be written.
    #[error("the CSV could not be written: {0}")]
    Write(#[from] csv::Error),
    /// The buffer could not be taken back.
    #[error("the CSV could not be finished: {0}")]
    Finish(String),
}

const HEADINGS: [&str; 36] = [
    "group",
    "label",
    "test",
    "arg",
    "subject",
    "policy",
    "placement",
    "figure",
    "unit",
    "value",
    "low",
    "high",
    "standing",
    "sign_low",
    "sign_high",
    "ratio_to_control",
    "ratio_to_reference",
    "minima_difference",
    "mean_raw",
    "mean_corrected",
    "clock_accuracy",
    "voluntary",
    "involuntary",
    "minor_faults",
    "major_faults",
    "instructions",
    "iterations",
    "blocks",
    "total_iterations",
    "stopped",
    "findings",
    "reason",
    "mend",
    "suite",
    "run",
    "histogram",
];

/// One record by column name; columns that it does not name are empty.
#[derive(Default)]
struct Record(Vec<(&'static str, String)>);

impl Record {
    fn with(mut self, column: &'static str, value: impl ToString) -> Self {
        self.0.push((column, value.to_string()));
        self
    }

    fn with_text(self, column: &'static str, text: &str) -> Self {
        self.with(column, harmless(text))
    }

    fn with_interval(self, interval: &Interval) -> Self {
        self.with("value", interval.value)
            .with_limits("low", "high", interval)
    }

    /// Empty where no limits are known.
    fn with_limits(self, low: &'static str, high: &'static str, interval: &Interval) -> Self {
        match interval.limits() {
            Some((lower, upper)) => self.with(low, lower).with(high, upper),
            None => self,
        }
    }

    fn fields(&self) -> impl Iterator<Item = &str> {
        HEADINGS.iter().map(|heading| {
            let found = self.0.iter().find(|(column, _)| column == heading);
            found.map_or("", |(_, value)| value.as_str())
        })
    }
}

/// Every figure of a run.
///
/// # Errors
/// Writing into memory failed.
pub fn run(run: &RunRecord) -> Result<String, CsvError> {
    runs(std::slice::from_ref(run))
}

/// Every figure of these runs.
///
/// # Errors
/// Writing into memory failed.
pub fn runs(runs: &[RunRecord]) -> Result<String, CsvError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADINGS)?;
    for run in runs {
        let layout = Layout::from_suite_text(&run.suite_toml).unwrap_or_default();
        let view = View::new(run, &layout);
        for result in &run.results {
            for record in records(&view, result) {
                let record = record.with_text("suite", &run.suite).with("run", run.id);
                writer.write_record(record.fields())?;
            }
        }
    }
    finish(writer)
}

fn finish(writer: csv::Writer<Vec<u8>>) -> Result<String, CsvError> {
    let bytes = writer
        .into_inner()
        .map_err(|error| CsvError::Finish(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| CsvError::Finish(error.to_string()))
}

/// An apostrophe before text that a spreadsheet would compute.
fn harmless(text: &str) -> String {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text.to_string(),
    }
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
        Outcome::Program { runs, counted, .. } => program(runs, counted, &start),
        Outcome::Load(load) => load::records(load, &start),
        Outcome::Absent {
            reason,
            mend,
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
                    .with_text("mend", mend),
            ]
        }
    };
    records.extend(spent::records(result, &start));
    records
}

fn keep_last(record: &mut Record, column: &str) {
    let last = record.0.iter().rposition(|(name, _)| *name == column);
    let mut index = 0;
    record.0.retain(|(name, _)| {
        index += 1;
        *name != column || Some(index - 1) == last
    });
}

/// The standing of a figure that may be an upper bound.
fn bound(is_bound: bool) -> &'static str {
    match is_bound {
        true => "upper_bound",
        false => "resolved",
    }
}

/// How far a cost may be believed: `resolved`, `like_control` (no number above zero is shown) or `withheld` (an error is in it).
fn standing(result: &ResultRecord, e: &Estimate) -> &'static str {
    match figure::standing(result, e) {
        Standing::Withheld { .. } => "withheld",
        Standing::LikeControl => "like_control",
        Standing::Resolved => "resolved",
    }
}

/// The time of an operation; where it is that of turns, all that frames tell stands in a line of its own.
fn frames(
    result: &ResultRecord,
    e: &Estimate,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let told = start("cost", "ns").with("standing", standing(result, e));
    match result.time_of_turns() {
        Some(time) => vec![
            told.with_interval(&time),
            frame(start("cost_frames", "ns"), e),
        ],
        None => vec![frame(told, e)],
    }
}

fn frame(record: Record, e: &Estimate) -> Record {
    let optional = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    record
        .with_interval(&e.cost_ns)
        .with_limits("sign_low", "sign_high", &e.sign_cost_ns)
        .with("ratio_to_control", e.log_ratio.value.exp())
        .with(
            "ratio_to_reference",
            optional(e.log_ratio_to_reference.map(|log| log.value.exp())),
        )
        .with("minima_difference", e.paper.minima_difference_ns)
        .with("mean_raw", e.paper.mean_raw_ns)
        .with("mean_corrected", optional(e.paper.mean_corrected_ns))
        .with("clock_accuracy", e.paper.clock_accuracy_ns)
        .with("voluntary", e.resources.voluntary)
        .with("involuntary", e.resources.involuntary)
        .with("minor_faults", e.resources.minor_faults)
        .with("major_faults", e.resources.major_faults)
        .with(
            "instructions",
            optional(e.resources.instructions.map(|count| count.per_operation())),
        )
        .with("iterations", e.iterations)
        .with("blocks", e.blocks)
        .with("total_iterations", e.total_iterations)
        .with("stopped", word(&e.stopped))
        .with_text("findings", &texts(&e.findings))
}

fn texts(findings: &[Finding]) -> String {
    let texts: Vec<&str> = findings.iter().map(|f| f.text.as_str()).collect();
    texts.join("; ")
}

/// The stable word of an enumeration, as in JSON.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
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

/// The time of a program, and what was counted: in a run of its own, and in those that were timed.
fn program(
    runs: &[WholeRun],
    counted: &BTreeMap<String, u64>,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let Some(time) = run_time_ns(runs) else {
        return Vec::new();
    };
    let time = start("run_time", "ns").with_interval(&time);
    let mut records = vec![time.with("blocks", runs.len())];
    records.extend(peak_run(runs).map(|run| {
        let record = start("run_peak_rss", "bytes").with("value", run.peak_rss_bytes);
        record.with("standing", bound(run.peak_is_bound()))
    }));
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.counters.keys()).collect();
    let timed = names
        .into_iter()
        .filter_map(|name| Some((name, run_counter(runs, name)?)));
    let apart = counted.iter().map(|(name, count)| (name, *count as f64));
    records.extend(timed.chain(apart).map(|(name, count)| {
        let mut record = start("run_counter", "").with_text("arg", name);
        keep_last(&mut record, "arg");
        record.with("value", count)
    }));
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

/// The rows of a comparison.
///
/// # Errors
/// Writing into memory failed.
pub fn comparison(comparison: &Comparison) -> Result<String, CsvError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "group",
        "label",
        "before_ns",
        "before_low",
        "before_high",
        "after_ns",
        "after_low",
        "after_high",
        "log_ratio",
        "log_ratio_low",
        "log_ratio_high",
        "verdict",
        "note",
    ])?;
    for row in &comparison.rows {
        let mut fields = vec![harmless(&row.group), harmless(&row.label)];
        for interval in [row.before_ns, row.after_ns, row.log_ratio] {
            let value = interval.map(|i| i.value.to_string());
            let limits = interval.and_then(|i| i.limits());
            let limits = limits.map(|(low, high)| [low, high].map(|v| v.to_string()));
            fields.push(value.unwrap_or_default());
            fields.extend(limits.unwrap_or_default());
        }
        fields.extend([word(&row.verdict), harmless(&row.note)]);
        writer.write_record(&fields)?;
    }
    finish(writer)
}
