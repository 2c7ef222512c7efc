//! The cost of a frame.

use super::record::Record;
use super::{texts, word};
use crate::compose::figure;
use crate::document::Standing;
use antiphon_lab::ResultRecord;
use antiphon_measure::Estimate;

/// Returns the reliability of a cost: `resolved`, `like_control` (no number above zero is shown) or
/// `withheld` (an error is in it).
fn standing(result: &ResultRecord, e: &Estimate) -> &'static str {
    match figure::standing(result, e) {
        Standing::Withheld { .. } => "withheld",
        Standing::LikeControl => "like_control",
        Standing::Resolved => "resolved",
    }
}

/// Returns the time of an operation. If it is that of turns, all figures of frames are in a
/// separate line.
pub(super) fn frames(
    result: &ResultRecord,
    e: &Estimate,
    start: &impl Fn(&'static str, &str) -> Record,
) -> Vec<Record> {
    let reported = start("cost", "ns").with("standing", standing(result, e));
    match result.time_of_turns() {
        Some(time) => vec![
            reported.with_interval(&time),
            frame(start("cost_frames", "ns"), e),
        ],
        None => vec![frame(reported, e)],
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
