//! Conclusions from storage loops about an implementation, in sentences.

use super::StorageEstimate;

/// Returns the conclusions from one loop of any kind.
pub(super) fn of_loop(estimate: &StorageEstimate) -> Vec<String> {
    let mut verdict = Vec::new();
    let mib = estimate.total_bytes() as f64 / f64::from(1 << 20);
    verdict.push(match &estimate.exhausted {
        Some(text) => format!(
            "storage ran out ({text}) after {} allocations, {mib:.1} MiB",
            estimate.completed
        ),
        None => format!(
            "{} allocations, {mib:.1} MiB in all, were granted",
            estimate.completed
        ),
    });
    if let Some((distance, excess)) = estimate.growth {
        let kib = distance * estimate.object_bytes as f64 / 1024.0;
        verdict.push(format!(
            "each {distance:.0} allocations ({kib:.0} KiB) one is {:.2} µs dearer",
            excess / 1e3
        ));
    }
    for (index, before, after) in estimate.level_changes.iter().take(5) {
        let mib = *index as f64 * estimate.object_bytes as f64 / f64::from(1 << 20);
        verdict.push(format!("from allocation {index} on ({mib:.1} MiB) one costs {after:.0} ns instead of {before:.0} ns"));
    }
    verdict
}

/// Returns the conclusions from the three loops together, one sentence each.
///
/// The loops keep all pointers (L4), two pointers only, and two pointers with explicit deallocation
/// (`Unchecked_Deallocation`, `free`).
pub fn storage_verdict(
    kept: &StorageEstimate,
    two_pointers: &StorageEstimate,
    deallocated: &StorageEstimate,
) -> Vec<String> {
    let mut sentences: Vec<String> = growth_of(kept).into_iter().collect();
    if kept.exhausted.is_none() {
        sentences.push(format!(
            "the loop that keeps its storage was granted all {} allocations, so that nothing can be said of reclaiming; lower the memory limit or raise the count",
            kept.completed
        ));
        return sentences;
    }
    let limit = kept.total_bytes();
    let reclaimed = |other: &StorageEstimate| {
        other.exhausted.is_none() && other.total_bytes() > limit + limit / 10
    };
    let same_point = |other: &StorageEstimate| {
        other.exhausted.is_some() && other.total_bytes().abs_diff(limit) <= limit / 10
    };
    sentences.push(if reclaimed(two_pointers) {
        "storage that no pointer reaches is reclaimed implicitly: the loop with two pointers was granted more than the limit".to_owned()
    } else if same_point(two_pointers) {
        "storage that no pointer reaches is kept: the loop with two pointers ran out where the one that keeps all did, so there is no collector".to_owned()
    } else {
        undecided("two pointers", two_pointers, kept)
    });
    if reclaimed(two_pointers) && !two_pointers.steps.is_empty() {
        let dearest = two_pointers.steps.iter().map(|s| s.1).fold(0.0, f64::max);
        sentences.push(format!(
            "reclaiming shows as {} dear turns of up to {:.1} µs: a collector that runs at times of its own",
            two_pointers.steps.len(),
            dearest / 1e3
        ));
    }
    sentences.push(if reclaimed(deallocated) {
        "explicit deallocation reclaims storage: the loop that deallocates was granted more than the limit".to_owned()
    } else if same_point(deallocated) {
        "explicit deallocation does not reclaim storage: the loop that deallocates ran out where the one that keeps all did".to_owned()
    } else {
        undecided("deallocation", deallocated, kept)
    });
    sentences
}

/// Returns the meaning of regular dear turns in the loop that keeps its storage. In the other loops
/// they mean no growth.
fn growth_of(kept: &StorageEstimate) -> Option<String> {
    let (distance, excess) = kept.growth?;
    let kib = distance * kept.object_bytes as f64 / 1024.0;
    Some(format!(
        "storage that is kept grows in steps of {kib:.0} KiB, each {:.2} µs dear: the allocator asks the system for more, or pages are touched for the first time",
        excess / 1e3
    ))
}

fn undecided(name: &str, other: &StorageEstimate, kept: &StorageEstimate) -> String {
    let end = if other.exhausted.is_some() {
        "ran out"
    } else {
        "ended"
    };
    format!(
        "the loop with {name} {end} after {} allocations, and the one that keeps all ran out after {}: that does not decide whether storage is reclaimed",
        other.completed, kept.completed
    )
}
