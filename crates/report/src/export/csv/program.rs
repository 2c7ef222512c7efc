//! The time of a whole program.

use super::bound;
use super::record::{Record, keep_last};
use crate::compose::peak_run;
use antiphon_measure::{WholeRun, run_counter, run_time_ns};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the time of a program, and its counters: from a separate run, and from the timed ones.
pub(super) fn records(
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
