//! From what came out of an item in one process start to its result, with what came out in the starts before it.

use super::starts;
use crate::record::{Foreign, Identity, Outcome, ResultRecord, WarmUp};
use antiphon_measure::{Estimate, Finding};

/// What came out of an item.
pub(super) enum Measured {
    /// The estimate of one process start.
    Frame(Box<Estimate>),
    /// Anything else, which is measured in one start.
    Other(Outcome),
}

/// What is told beside it.
pub(super) struct Beside {
    pub(super) findings: Vec<Finding>,
    pub(super) foreign: Option<Foreign>,
    pub(super) warm_up: Option<WarmUp>,
}

/// The result after a start; `None` if nothing came out so far.
pub(super) fn result(
    identity: Identity,
    earlier: Option<ResultRecord>,
    start: u32,
    measured: Measured,
    beside: Beside,
) -> Option<ResultRecord> {
    let mut starts = Vec::new();
    let (mut foreign, mut warm_ups, mut costs) = (Vec::new(), Vec::new(), None);
    if let Some(earlier) = earlier {
        // A start that was interrupted is measured again and takes its place.
        starts = earlier.starts;
        foreign = earlier.foreign;
        foreign.truncate(start as usize);
        warm_ups = earlier.warm_ups;
        warm_ups.retain(|of: &WarmUp| of.round != start);
        costs = earlier.costs;
    }
    let outcome = match measured {
        Measured::Frame(estimate) => {
            starts.truncate(start as usize);
            starts.push(*estimate);
            Outcome::Frame(Box::new(starts::sum_up(&starts)?))
        }
        Measured::Other(outcome) => outcome,
    };
    foreign.extend(beside.foreign);
    warm_ups.extend(beside.warm_up);
    Some(ResultRecord {
        starts,
        findings: beside.findings,
        costs,
        foreign,
        warm_ups,
        ..ResultRecord::new(identity, outcome)
    })
}
