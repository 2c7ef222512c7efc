//! Several starts of a subject's process, summed up in one estimate.

use antiphon_measure::{Estimate, Finding};

/// Returns the figure of all starts, with a remark on instruction counts. `None` without starts.
pub(super) fn sum_up(starts: &[Estimate]) -> Option<Estimate> {
    let mut sum = widened(starts)?;
    sum.tell_instructions();
    Some(sum)
}

/// Returns the start with the median cost, its interval widened to the costs of all starts; `None`
/// without starts.
///
/// A figure differs between process starts by more than within one, because addresses do.
fn widened(starts: &[Estimate]) -> Option<Estimate> {
    let mut by_cost: Vec<&Estimate> = starts.iter().collect();
    by_cost.sort_by(|a, b| a.cost_ns.value.total_cmp(&b.cost_ns.value));
    let mut sum = (*by_cost.get((by_cost.len().max(1) - 1) / 2)?).clone();
    if by_cost.len() < 2 {
        return Some(sum);
    }
    let lowest = by_cost[0].cost_ns.value;
    let highest = by_cost[by_cost.len() - 1].cost_ns.value;
    for interval in [&mut sum.cost_ns, &mut sum.sign_cost_ns] {
        // A start of one block has no limits; the differences between starts replace them.
        let (low, high) = interval.limits().unwrap_or((lowest, highest));
        interval.low = low.min(lowest);
        interval.high = high.max(highest);
    }
    sum.relative_half_width = sum.cost_ns.relative_half_width();
    sum.outliers = starts.iter().map(|start| start.outliers).sum();
    // Any start's count will do where the median one has none, as after an interruption.
    let counted = starts.iter().find_map(|start| start.resources.instructions);
    sum.resources.instructions = sum.resources.instructions.or(counted);
    let others = starts.iter().flat_map(|start| &start.findings);
    let mut missing: Vec<Finding> = Vec::new();
    for finding in others {
        // Findings of any start are reported, once a kind.
        let reported =
            |findings: &[Finding]| findings.iter().any(|known| known.kind == finding.kind);
        if !reported(&sum.findings) && !reported(&missing) {
            missing.push(finding.clone());
        }
    }
    sum.findings.extend(missing);
    // The widened interval may hold zero although no start's does, and a single start may be
    // indistinguishable.
    sum.hold_against_zero();
    Some(sum)
}
