//! Load on servers, one line a figure.

use super::{Record, keep_last};
use antiphon_lab::{LoadOutcome, LoadRound};

/// A figure's name, its unit, and what it is of a round; `None` where the generator does not tell it.
type Figure = (&'static str, &'static str, fn(&LoadRound) -> Option<f64>);

const FIGURES: [Figure; 13] = [
    ("load_cpu", "ns", |round| Some(round.cpu_ns())),
    ("load_per_second", "", |round| Some(round.per_second)),
    ("load_p50", "ns", |round| time(round.p50_ns)),
    ("load_p99", "ns", |round| time(round.p99_ns)),
    ("load_p999", "ns", |round| time(round.p999_ns)),
    ("load_longest", "ns", |round| time(round.longest_ns)),
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
    ("load_generator_share", "", |round| {
        Some(round.generator_share)
    }),
    ("load_foreign_share", "", |round| Some(round.foreign_share)),
];

fn time(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

pub(super) fn records(
    outcome: &LoadOutcome,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let record = |(name, unit, of): &Figure| {
        let interval = outcome.told(of)?;
        let mut record = start(name, unit)
            .with_interval(&interval)
            .with("blocks", outcome.rounds.len())
            .with("arg", outcome.task.connections);
        keep_last(&mut record, "arg");
        Some(record)
    };
    FIGURES.iter().filter_map(record).collect()
}
