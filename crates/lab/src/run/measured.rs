//! Result of an item: from its measurement in one process start, and from earlier starts.

use super::starts;
use crate::record::{CoreToCore, Foreign, Identity, Outcome, ResultRecord, WarmUp, core_distance};
use antiphon_measure::{Estimate, Finding, FindingKind};

/// Measurement of an item.
pub(super) enum Measured {
    /// The estimate of one process start.
    Frame(Box<Estimate>),
    /// Anything else, which is measured in one start.
    Other(Outcome),
}

/// Remarks beside the measurement.
pub(super) struct Beside {
    pub(super) findings: Vec<Finding>,
    pub(super) foreign: Option<Foreign>,
    pub(super) warm_up: Option<WarmUp>,
    pub(super) core_to_core_ns: Option<CoreToCore>,
}

/// Returns the result after a start; `None` if there is none so far.
pub(super) fn result(
    identity: Identity,
    earlier: Option<ResultRecord>,
    start: u32,
    measured: Measured,
    beside: Beside,
) -> Option<ResultRecord> {
    let mut starts = Vec::new();
    let (mut foreign, mut warm_ups, mut costs) = (Vec::new(), Vec::new(), None);
    let mut core_to_core_ns = Vec::new();
    if let Some(earlier) = earlier {
        // A start that was interrupted is measured again and takes its place.
        starts = earlier.starts;
        foreign = earlier.foreign;
        foreign.truncate(start as usize);
        warm_ups = earlier.warm_ups;
        warm_ups.retain(|of: &WarmUp| of.round != start);
        core_to_core_ns = earlier.core_to_core_ns;
        core_to_core_ns.retain(|of: &CoreToCore| of.start < start);
        costs = earlier.costs;
    }
    core_to_core_ns.extend(beside.core_to_core_ns);
    let outcome = match measured {
        Measured::Frame(estimate) => {
            starts.truncate(start as usize);
            starts.push(*estimate);
            let mut sum = starts::sum_up(&starts)?;
            sum.findings.extend(processors_moved(&core_to_core_ns));
            Outcome::Frame(Box::new(sum))
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
        core_to_core_ns,
        ..ResultRecord::new(identity, outcome)
    })
}

fn processors_moved(starts: &[CoreToCore]) -> Option<Finding> {
    Some(Finding {
        kind: FindingKind::ProcessorsMoved,
        text: core_distance::reported(starts)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Absence;

    fn after(earlier: Option<ResultRecord>, start: u32, before_ns: f64) -> ResultRecord {
        let identity = Identity {
            test: "rendezvous.simple".into(),
            arg: None,
            subject: "ada/O2".into(),
            policy: "other".into(),
            placement: "across".into(),
        };
        let beside = Beside {
            findings: Vec::new(),
            foreign: None,
            warm_up: None,
            core_to_core_ns: Some(CoreToCore {
                start,
                before: Some(before_ns),
                after: None,
            }),
        };
        let measured = Measured::Other(Absence::not_meant("a test").into());
        result(identity, earlier, start, measured, beside).unwrap()
    }

    #[test]
    fn each_start_keeps_how_far_apart_its_processors_were_and_one_that_is_measured_again_its_last()
    {
        let first = after(None, 0, 120.0);
        let both = after(Some(first), 1, 330.0);
        let again = after(Some(both.clone()), 1, 125.0);
        let kept = |result: &ResultRecord| {
            let of = result.core_to_core_ns.iter();
            of.map(|of| (of.start, of.before)).collect::<Vec<_>>()
        };
        assert_eq!(kept(&both), [(0, Some(120.0)), (1, Some(330.0))]);
        assert_eq!(kept(&again), [(0, Some(120.0)), (1, Some(125.0))]);
    }

    #[test]
    fn processors_that_were_near_and_far_are_found() {
        let both = after(Some(after(None, 0, 120.0)), 1, 330.0);
        let found = processors_moved(&both.core_to_core_ns).unwrap();
        assert_eq!(found.kind, FindingKind::ProcessorsMoved);
        let again = after(Some(both), 1, 125.0);
        assert_eq!(processors_moved(&again.core_to_core_ns), None);
    }
}
