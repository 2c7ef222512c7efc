//! Load on servers, one line a figure.

use super::{Record, keep_last};
use antiphon_lab::{LoadOutcome, LoadRound};

/// A figure's name, its unit, and what it is of a round.
type Figure = (&'static str, &'static str, fn(&LoadRound) -> f64);

const FIGURES: [Figure; 13] = [
    ("load_cpu", "ns", LoadRound::cpu_ns),
    ("load_per_second", "", |round| round.per_second),
    ("load_p50", "ns", |round| round.p50_ns as f64),
    ("load_p99", "ns", |round| round.p99_ns as f64),
    ("load_p999", "ns", |round| round.p999_ns as f64),
    ("load_longest", "ns", |round| round.longest_ns as f64),
    ("load_starved", "", |round| round.starved.len() as f64),
    ("load_fairness", "", |round| round.fairness),
    ("load_pss", "bytes", |round| round.pss_bytes as f64),
    ("load_peak", "bytes", |round| round.peak_bytes as f64),
    ("load_threads", "", |round| round.threads as f64),
    ("load_generator_share", "", |round| round.generator_share),
    ("load_foreign_share", "", |round| round.foreign_share),
];

pub(super) fn records(
    outcome: &LoadOutcome,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let record = |(name, unit, of): &Figure| {
        let interval = outcome.median(of)?;
        let mut record = start(name, unit)
            .with_interval(&interval)
            .with("blocks", outcome.rounds.len())
            .with("arg", outcome.task.connections);
        keep_last(&mut record, "arg");
        Some(record)
    };
    FIGURES.iter().filter_map(record).collect()
}
