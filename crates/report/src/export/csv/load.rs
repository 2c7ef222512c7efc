//! Load on servers, one line a figure.

use super::record::{Record, keep_last};
use antiphon_lab::{LoadOutcome, LoadRound};
use antiphon_measure::Interval;

/// Name of a figure that is the median of rounds, its unit, and its value in a round. The value is
/// `None` if the generator does not tell it.
type Figure = (&'static str, &'static str, fn(&LoadRound) -> Option<f64>);

const FIGURES: [Figure; 13] = [
    ("load_cpu", "ns", |round| Some(round.cpu_ns())),
    ("load_per_second", "", |round| Some(round.per_second)),
    ("load_closed_per_second", "", |round| {
        Some(round.closed?.per_second)
    }),
    ("load_starved", "", |round| {
        round
            .tells_connections()
            .then_some(round.starved.len() as f64)
    }),
    ("load_fairness", "", |round| {
        round.fairness.filter(|_| round.tells_connections())
    }),
    ("load_pss", "bytes", |round| Some(round.pss_bytes as f64)),
    ("load_peak", "bytes", |round| Some(round.peak_bytes as f64)),
    ("load_threads", "", |round| Some(round.threads as f64)),
    ("load_voluntary_switches", "", LoadRound::voluntary),
    ("load_involuntary_switches", "", LoadRound::involuntary),
    ("load_generator_share", "", |round| {
        Some(round.generator_share)
    }),
    ("load_empty_polls", "ns", |round| {
        Some(round.empty_polls_ns? as f64)
    }),
    ("load_foreign_share", "", |round| Some(round.foreign_share)),
];

pub(super) fn records(
    outcome: &LoadOutcome,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let record = |name, unit: &str| {
        let record = start(name, unit).with("blocks", outcome.rounds.len());
        let mut record = record.with("arg", outcome.task.connections);
        keep_last(&mut record, "arg");
        record
    };
    let medians = FIGURES.iter().filter_map(|(name, unit, of)| {
        Some(record(name, unit).with_interval(&outcome.reported(of)?))
    });
    let cold = super::processor_time::cold_starts(&outcome.warm_ups, start);
    medians
        .chain(latencies(outcome, &record))
        .chain(cold)
        .collect()
}

/// Percentiles of all requests, the longest latency, and the raw histogram with how many are in it.
fn latencies(outcome: &LoadOutcome, record: &impl Fn(&'static str, &str) -> Record) -> Vec<Record> {
    let all = outcome.latencies();
    let standing = match all.are_pooled {
        true => "resolved",
        false => "by_rounds",
    };
    let percentile = |(name, of): (&'static str, Option<Interval>)| {
        let record = record(name, "ns").with_interval(&of?);
        Some(record.with("standing", standing))
    };
    let percentiles = [
        ("load_p50", all.p50),
        ("load_p99", all.p99),
        ("load_p999", all.p999),
    ];
    let longest = all
        .longest
        .map(|longest| record("load_longest", "ns").with("value", longest));
    let histogram = outcome.histogram().map(|histogram| {
        let count: u64 = histogram.pairs().into_iter().flatten().map(|of| of.1).sum();
        record("load_latencies", "")
            .with("value", count)
            .with("histogram", histogram.as_str())
    });
    let percentiles = percentiles.into_iter().filter_map(percentile);
    percentiles.chain(longest).chain(histogram).collect()
}
