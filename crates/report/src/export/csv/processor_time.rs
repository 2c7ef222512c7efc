//! Costs of operations beside their time, one line a figure.

use super::record::Record;
use antiphon_lab::{CostRound, HeldAfter, ResultRecord, WarmUp};
use antiphon_measure::Interval;

type OfRound = (&'static str, fn(&CostRound) -> Option<f64>);
type OfHeld = (&'static str, &'static str, fn(&HeldAfter) -> Option<u64>);

const TIMES: [OfRound; 3] = [
    ("cost_cpu", |round| Some(round.subject_ns)),
    ("cost_server_cpu", |round| round.server_ns),
    ("cost_both_cpu", |round| Some(round.both_ns())),
];

const HELD: [OfHeld; 6] = [
    ("cost_pss", "bytes", |held| Some(held.subject.pss_bytes)),
    ("cost_peak", "bytes", |held| Some(held.subject.peak_bytes)),
    ("cost_threads", "", |held| Some(held.subject.threads)),
    ("cost_server_pss", "bytes", |held| {
        Some(held.server.as_ref()?.held.pss_bytes)
    }),
    ("cost_server_peak", "bytes", |held| {
        held.server.as_ref()?.peak_bytes()
    }),
    ("cost_server_threads", "", |held| {
        Some(held.server.as_ref()?.held.threads)
    }),
];

pub(super) fn records(
    result: &ResultRecord,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let mut records = Vec::new();
    if let Some(costs) = &result.costs {
        records.extend(TIMES.iter().filter_map(|(name, of)| {
            let interval = costs.median(of)?;
            Some(
                start(name, "ns")
                    .with_interval(&interval)
                    .with("blocks", costs.rounds.len()),
            )
        }));
        records.extend(HELD.iter().filter_map(|(name, unit, of)| {
            Some(start(name, unit).with_interval(&costs.held(of)?))
        }));
    }
    records.extend(cold_starts(&result.warm_ups, start));
    let shares = result.foreign.iter();
    records.extend(shares.map(|foreign| start("foreign_share", "").with("value", foreign.share)));
    records.extend(result.apart().map(|apart| {
        start("core_to_core", "ns").with_interval(&Interval {
            value: apart.median_ns,
            low: apart.least_ns,
            high: apart.most_ns,
        })
    }));
    records
}

/// Returns the number of starts, and of those after which the subject or server was not warm;
/// nothing without warm-ups.
pub(super) fn cold_starts(
    warm_ups: &[WarmUp],
    start: &impl Fn(&'static str, &str) -> Record,
) -> Option<Record> {
    let cold = warm_ups.iter().filter(|warm_up| !warm_up.is_warm).count();
    let record = || start("cold_starts", "").with("blocks", warm_ups.len());
    (!warm_ups.is_empty()).then(|| record().with("value", cold))
}
