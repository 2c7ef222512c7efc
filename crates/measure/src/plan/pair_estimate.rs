//! What a pair gives.

use super::pair::PairBlock;
use crate::findings::of_few_blocks;
use crate::statistics::{Ranked, median_of, trend};
use crate::{Finding, FindingKind, Interval, Stopped};
use serde::{Deserialize, Serialize};

/// Two subjects against each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairEstimate {
    /// Median of ln(B / A), the test frames' times per iteration, with its sign-test interval. Above zero: B is slower.
    pub log_ratio: Interval,
    /// The same as a ratio B / A.
    pub ratio: Interval,
    /// Median of (test − control) of B less the same of A, ns per operation; `None` where no controls ran.
    pub cost_difference_ns: Option<Interval>,
    /// Median of the test frames of A and B, ns per iteration.
    pub test_ns: (f64, f64),
    /// Median of the control frames of A and B, ns per iteration; `None` where no controls ran.
    pub control_ns: Option<(f64, f64)>,
    /// Iterations of a slice of A and of B.
    pub iterations: (u64, u64),
    /// Blocks that the ratio rests on.
    pub blocks: usize,
    /// Why measuring stopped.
    pub stopped: Stopped,
    /// Everything that a reader must know of the ratio.
    pub findings: Vec<Finding>,
}

/// The estimate of at least one block; `edge` is what the edges of slices may move the logarithm by.
pub(crate) fn estimate(
    blocks: &[PairBlock],
    level: f64,
    edge: f64,
    controls: bool,
) -> PairEstimate {
    let of = |f: &dyn Fn(&PairBlock) -> f64| blocks.iter().map(f).collect::<Vec<f64>>();
    let logs = of(&|b| b.log_ratio);
    let known = |interval: Interval| match blocks.len() {
        0 | 1 => Interval::open(interval.value),
        _ => interval,
    };
    let log_ratio = known(Ranked::new(&logs).sign(level).widened(edge));
    let costs = of(&|b| (b.test_ns[1] - b.control_ns[1]) - (b.test_ns[0] - b.control_ns[0]));
    let middle = |f: &dyn Fn(&PairBlock) -> f64| median_of(&of(f));
    PairEstimate {
        log_ratio,
        ratio: Interval {
            value: log_ratio.value.exp(),
            low: log_ratio.low.exp(),
            high: log_ratio.high.exp(),
        },
        cost_difference_ns: controls.then(|| known(Ranked::new(&costs).sign(level))),
        test_ns: (middle(&|b| b.test_ns[0]), middle(&|b| b.test_ns[1])),
        control_ns: controls.then(|| (middle(&|b| b.control_ns[0]), middle(&|b| b.control_ns[1]))),
        iterations: (0, 0),
        blocks: blocks.len(),
        stopped: Stopped::Interrupted,
        findings: findings(&logs, log_ratio),
    }
}

/// What a ratio of one block is told with.
const ONE_BLOCK: &str = "one block only, which tells no limits: another may give another ratio";

fn findings(logs: &[f64], interval: Interval) -> Vec<Finding> {
    let few_blocks = of_few_blocks(logs.len(), "ratio", ONE_BLOCK);
    let mut findings: Vec<Finding> = few_blocks.into_iter().collect();
    if let Some(trend) = trend(logs)
        && trend.significant
        && trend.change.abs() > (interval.high - interval.low).max(0.001)
    {
        findings.push(Finding {
            kind: FindingKind::Drift,
            text: format!(
                "the ratio drifted by {:+.2} % from the first block to the last",
                100.0 * trend.change.exp_m1()
            ),
        });
    }
    findings
}
