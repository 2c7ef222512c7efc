//! Plans run against subjects of known truth, for tests of figures and of conduct.

use crate::synthetic_subject::{Subject, Truth, run};
use crate::{ClockFacts, Estimate, Expected, FindingKind, FrameError, FramePlan, FrameSettings};

pub const CLOCK: ClockFacts = ClockFacts {
    resolution_ns: 1.0,
    cost_ns: 25.0,
};

pub fn clock(truth: &Truth) -> ClockFacts {
    ClockFacts {
        resolution_ns: truth.resolution_ns,
        cost_ns: truth.reading_ns,
    }
}

pub fn measure_with(
    truth: &Truth,
    expected: Expected,
    settings: FrameSettings,
    seed: u64,
) -> Result<Estimate, FrameError> {
    let mut plan = FramePlan::new(clock(truth), expected, settings);
    run(&mut plan, &mut Subject::new(truth.clone(), seed))?;
    plan.estimate(None)
}

pub fn measure(truth: &Truth, seed: u64) -> Estimate {
    measure_with(truth, Expected::default(), FrameSettings::default(), seed).unwrap()
}

pub fn has(estimate: &Estimate, kind: FindingKind) -> bool {
    estimate.findings.iter().any(|f| f.kind == kind)
}

/// Returns short slices in a machine that is interrupted, hit, and changes its speed.
pub fn busy() -> Truth {
    Truth {
        interruption: Some((1e6, 10_000.0)),
        turbo: Some((7e6, 1.25)),
        hits: 1.0,
        noise: 0.002,
        ..Truth::default()
    }
}
