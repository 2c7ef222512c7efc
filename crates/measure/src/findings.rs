//! Remarks on a figure for its reader, each finding in one sentence with its numbers.

use crate::evaluate::{Evidence, Question};
use crate::statistics::{at_least, median, modes, quantile, trend};
use crate::work::reference_checksum;
use crate::{Estimate, Finding, FindingKind, Role, Slice};

/// Effect of a loop's place in memory on a dual-loop figure, ns per operation. No statistic can see
/// below it.
pub const PLACEMENT_FLOOR_NS: f64 = 0.5;

/// The shortest time between two ticks of a usual kernel, ns.
const TICK_NS: f64 = 1e6;

/// Share of outlying slices from which the median of pairs is no longer far from them.
const MANY_OUTLIERS: f64 = 0.1;

/// Text of the finding on a cost of one block.
pub(crate) const ONE_BLOCK: &str =
    "one block only, which tells no limits: another may give another cost";

type Check = fn(&Question, &Estimate) -> Option<Finding>;

/// Returns the findings, the gravest first.
pub(crate) fn all(question: &Question, estimate: &Estimate) -> Vec<Finding> {
    let checks: &[Check] = &[
        wrong_placement,
        unverified,
        unequal_work,
        wrong_reference,
        below_the_floor,
        dearer_control,
        unexpected_switches,
        few_blocks,
        drift,
        several_modes,
        outliers,
        short_slices,
    ];
    let mut findings: Vec<Finding> = checks
        .iter()
        .filter_map(|check| check(question, estimate))
        .collect();
    let evidence = question.evidence;
    findings.extend(
        evidence
            .notes
            .iter()
            .map(|note| finding(FindingKind::Note, note.clone())),
    );
    if evidence.dropped > 0 {
        let text = format!(
            "{} slices belonged to no whole block and were left out",
            evidence.dropped
        );
        findings.push(finding(FindingKind::Note, text));
    }
    findings
}

fn finding(kind: FindingKind, text: String) -> Finding {
    Finding { kind, text }
}

fn wrong_placement(question: &Question, _: &Estimate) -> Option<Finding> {
    let expected = question.expected;
    let mut broken: Vec<String> = question
        .evidence
        .threads
        .iter()
        .filter_map(|report| expected.broken_by(report))
        .collect();
    if let Some(processor) = expected.placement.processor("main") {
        let elsewhere = question
            .evidence
            .slices
            .iter()
            .filter(|s| s.processor.is_some_and(|p| p != processor))
            .count();
        if elsewhere > 0 {
            broken.push(format!(
                "{elsewhere} slices ended on another processor than {processor}"
            ));
        }
    }
    (!broken.is_empty()).then(|| finding(FindingKind::WrongPlacement, broken.join("; ")))
}

fn unverified(question: &Question, _: &Estimate) -> Option<Finding> {
    question.expected.unverified(&question.evidence.threads)
}

fn unequal_work(question: &Question, _: &Estimate) -> Option<Finding> {
    let work = question.expected.work.as_ref()?;
    let mut sums: Vec<u64> = question
        .evidence
        .of(Role::Test)
        .map(|s| s.checksum)
        .collect();
    sums.sort_unstable();
    sums.dedup();
    (sums.len() > 1).then(|| {
        let text = format!(
            "the test claims the work {work}, and its slices of equal iterations returned {} different checksums, such as {} and {}",
            sums.len(),
            sums[0],
            sums[1]
        );
        finding(FindingKind::UnequalWork, text)
    })
}

fn wrong_reference(question: &Question, _: &Estimate) -> Option<Finding> {
    let wrong = question
        .evidence
        .of(Role::Reference)
        .find(|s| s.checksum != reference_checksum(s.iterations))?;
    let text = format!(
        "the reference returned {} for {} iterations where its chain gives {}: it is not the operation of the protocol, and ratios to it mean nothing",
        wrong.checksum,
        wrong.iterations,
        reference_checksum(wrong.iterations)
    );
    Some(finding(FindingKind::UnequalWork, text))
}

fn below_the_floor(_: &Question, estimate: &Estimate) -> Option<Finding> {
    let cost = estimate.cost_ns;
    let beside_zero = cost.low > 0.0 || cost.high < 0.0;
    (beside_zero && cost.value.abs() <= PLACEMENT_FLOOR_NS).then(|| {
        let text = format!(
            "{:.3} ns is within the ±{PLACEMENT_FLOOR_NS} ns by which the placement of loops alone moves such figures",
            cost.value
        );
        finding(FindingKind::WithinFloor, text)
    })
}

/// Reports a cost below zero beyond the effect of placement: the two frames do not differ by the
/// feature alone.
fn dearer_control(_: &Question, estimate: &Estimate) -> Option<Finding> {
    let cost = estimate.cost_ns;
    (cost.high < -PLACEMENT_FLOOR_NS).then(|| {
        let text = format!(
            "the control is dearer: its frame takes {:.3} ns more an operation ({:.3} to {:.3}) than the one with the feature, and the placement of loops explains {PLACEMENT_FLOOR_NS} ns of that; the two frames differ in more than the feature",
            -cost.value, -cost.high, -cost.low
        );
        finding(FindingKind::ControlDearer, text)
    })
}

fn unexpected_switches(question: &Question, _: &Estimate) -> Option<Finding> {
    let expected = question.expected.switches()?;
    let mut seen: Vec<f64> = Vec::new();
    let mut deviating = 0;
    for slice in question.evidence.of(Role::Test) {
        let switches = switches(slice, expected);
        let wanted = expected * slice.iterations as f64;
        let allowed = if expected == 0.0 {
            0.0
        } else {
            // Begin and end of a slice may add a switch to a blocking operation; one that does not
            // block has none at all.
            (0.01 * wanted).max(2.0)
        };
        let preempted = if expected == 0.0 {
            0.0
        } else {
            preemptions(slice)
        };
        if switches < wanted - allowed || switches > wanted + allowed + preempted {
            deviating += 1;
        }
        seen.push(switches / slice.iterations.max(1) as f64);
    }
    seen.sort_by(f64::total_cmp);
    let kind = if expected == 0.0 { "voluntary " } else { "" };
    (deviating > 0).then(|| {
        let text = format!(
            "{deviating} of {} test slices had another number of {kind}context switches than the expected {expected} per operation (median {:.3}, {:.3} to {:.3})",
            seen.len(),
            median(&seen),
            seen[0],
            seen[seen.len() - 1]
        );
        finding(FindingKind::UnexpectedSwitches, text)
    })
}

/// Returns the switches of a slice for the comparison with expected ones.
///
/// A run-time system may hand over by yielding, which counts as involuntary. An operation that
/// never hands over may be preempted, but makes no voluntary switch.
fn switches(slice: &Slice, expected: f64) -> f64 {
    let involuntary = if expected == 0.0 {
        0
    } else {
        slice.involuntary
    };
    slice.voluntary as f64 + involuntary as f64
}

/// Returns the possible preemptions of a slice by other load: with each of its rare wake-ups, and
/// with each tick.
fn preemptions(slice: &Slice) -> f64 {
    2.0 + slice.elapsed_ns as f64 / TICK_NS
}

fn few_blocks(_: &Question, estimate: &Estimate) -> Option<Finding> {
    of_few_blocks(estimate.blocks, "difference", ONE_BLOCK)
}

/// Returns the finding on few blocks, each of which gave a `what`. For a single block the text is
/// `one_block`.
pub(crate) fn of_few_blocks(blocks: usize, what: &str, one_block: &str) -> Option<Finding> {
    (blocks < 6).then(|| {
        let text = match blocks {
            1 => one_block.to_owned(),
            n => format!(
                "{n} blocks only: the limits are the smallest and largest {what} seen, which hold the median with a confidence of {:.0} %",
                100.0 * at_least(n)
            ),
        };
        finding(FindingKind::FewBlocks, text)
    })
}

fn drift(question: &Question, estimate: &Estimate) -> Option<Finding> {
    let costs: Vec<f64> = question
        .evidence
        .blocks
        .iter()
        .map(|b| b.difference_ns())
        .collect();
    let trend = trend(&costs)?;
    let (cost, frame) = (estimate.cost_ns, estimate.frames.test_ns);
    let least = (cost.high - cost.low)
        .max(0.005 * cost.value.abs())
        .max(0.001 * frame);
    (trend.significant && trend.change.abs() > least).then(|| {
        let text = format!(
            "the cost drifted by {:+.3} ns ({:+.1} % of the test frame) from the first block to the last",
            trend.change,
            100.0 * trend.change / nonzero(frame)
        );
        finding(FindingKind::Drift, text)
    })
}

fn several_modes(question: &Question, _: &Estimate) -> Option<Finding> {
    let mut times = question.evidence.per_iteration(Role::Test);
    times.sort_by(f64::total_cmp);
    let ticks = 3.0 * question.clock.resolution_ns / question.evidence.iterations.max(1) as f64;
    let typical = median(&times);
    let modes = modes(&times, ticks.max(0.02 * typical));
    (modes.len() > 1).then(|| {
        let each: Vec<String> = modes
            .iter()
            .map(|(centre, share)| format!("{centre:.3} ns ({:.0} %)", 100.0 * share))
            .collect();
        let text = format!(
            "the test frame has {} modes, {}: states of the processor or of the run-time system; pairs within a block share a state",
            modes.len(),
            each.join(", ")
        );
        finding(FindingKind::SeveralModes, text)
    })
}

/// Slices above the upper quartile of their frame by three times the quartile distance, and a tenth
/// above its median.
pub(crate) struct Outlying {
    pub(crate) count: usize,
    total: usize,
    /// The longest, as a multiple of its frame's median.
    worst: f64,
}

impl Outlying {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let mut outlying = Outlying {
            count: 0,
            total: 0,
            worst: 1.0,
        };
        for role in [Role::Control, Role::Test] {
            let mut times = evidence.per_iteration(role);
            times.sort_by(f64::total_cmp);
            let (quarter, three) = (quantile(&times, 0.25), quantile(&times, 0.75));
            let typical = median(&times);
            let fence = (three + 3.0 * (three - quarter)).max(1.1 * typical);
            let outside = times.len() - times.partition_point(|t| *t <= fence);
            outlying.total += times.len();
            outlying.count += outside;
            if outside > 0 && typical > 0.0 {
                outlying.worst = outlying.worst.max(times[times.len() - 1] / typical);
            }
        }
        outlying
    }
}

/// Reports outliers if they are many. A few move no median of pairs, and are only counted.
fn outliers(question: &Question, _: &Estimate) -> Option<Finding> {
    let Outlying {
        count,
        total,
        worst,
    } = Outlying::of(question.evidence);
    (count as f64 > MANY_OUTLIERS * total as f64).then(|| {
        let text = format!(
            "{count} of {total} slices are outliers (above the upper quartile by three times the quartile distance), the longest {worst:.1} times the median; they are kept, and with so many the operation itself may be dear at times"
        );
        finding(FindingKind::Outliers, text)
    })
}

fn short_slices(question: &Question, _: &Estimate) -> Option<Finding> {
    let shortest_allowed = 100.0 * question.clock.cost_ns;
    let longer =
        typical(question.evidence, Role::Test).max(typical(question.evidence, Role::Control));
    (longer < shortest_allowed).then(|| {
        let text = format!(
            "a slice lasts {longer:.0} ns, less than 100 readings of the clock ({shortest_allowed:.0} ns)"
        );
        finding(FindingKind::ShortSlice, text)
    })
}

fn typical(evidence: &Evidence, role: Role) -> f64 {
    let mut times: Vec<f64> = evidence.of(role).map(|s| s.elapsed_ns as f64).collect();
    times.sort_by(f64::total_cmp);
    median(&times)
}

fn nonzero(value: f64) -> f64 {
    if value.abs() < f64::MIN_POSITIVE {
        f64::MIN_POSITIVE
    } else {
        value
    }
}
