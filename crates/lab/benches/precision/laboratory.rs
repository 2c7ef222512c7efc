//! The laboratory's own try: one session with the C subject, one plan, and no more time than the
//! rivals have.

use antiphon_lab::build::Cache;
use antiphon_lab::subject::Subject;
use antiphon_lab::{Launch, Session};
use antiphon_measure::Placement;
use antiphon_measure::{ClockEstimate, ClockFacts, Expected, FramePlan, FrameSettings, Step};
use antiphon_runner::Policy;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The built C subject.
pub struct Laboratory {
    launch: Launch,
}

/// Conditions of a try.
#[derive(Clone, Copy)]
pub struct Conditions {
    policy: Policy,
    blocking: bool,
}

impl Conditions {
    /// Returns ordinary scheduling, with an operation that does not block.
    pub fn other() -> Self {
        Self {
            policy: Policy::Other,
            blocking: false,
        }
    }

    /// Returns FIFO scheduling, with an operation that blocks.
    pub fn fifo() -> Self {
        Self {
            policy: Policy::Fifo { priority: 50 },
            blocking: true,
        }
    }
}

impl Laboratory {
    /// Builds the subject, or takes it from the cache.
    pub fn build() -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/c");
        let subject = Subject::load(&folder).map_err(|error| error.to_string())?;
        let variant = subject.variant("O2").map_err(|error| error.to_string())?;
        let built = Cache::of_user()
            .build(&subject, variant, "other", &AtomicBool::new(false))
            .map_err(|error| error.to_string())?;
        Ok(Self {
            launch: Launch::new("c/O2", built.run, built.folder),
        })
    }

    /// Returns the ratio of the test frame to the control frame by one plan in one session.
    pub fn ratio(&self, test: &str, time: Duration, conditions: Conditions) -> Result<f64, String> {
        conditions.policy.permitted()?;
        let launch = Launch {
            policy: conditions.policy,
            placement: Placement::Same { processor: 0 },
            ..self.launch.clone()
        };
        let mut session = Session::start(&launch).map_err(|error| error.to_string())?;
        let clock = session
            .clock("CLOCK_MONOTONIC", 20_000, Duration::from_secs(5))
            .map_err(|error| error.to_string())?;
        let clock =
            ClockEstimate::from_readings(&clock.answer).map_err(|error| error.to_string())?;
        let clock = ClockFacts {
            resolution_ns: clock.resolution,
            cost_ns: clock.cost,
        };
        let settings = FrameSettings {
            budget_ns: time.as_nanos() as u64,
            relative_half_width: 0.0,
            absolute_half_width_ns: 0.0,
            reference: false,
            ..FrameSettings::default()
        };
        let expected = Expected {
            blocking: conditions.blocking,
            ..Expected::default()
        };
        let mut plan = FramePlan::new(clock, expected, settings);
        while let Step::Run(request) = plan.next() {
            let batch = session
                .batch(test, None, &request, Duration::from_secs(10))
                .map_err(|error| error.to_string())?;
            plan.take(&request, &batch)
                .map_err(|error| error.to_string())?;
        }
        let estimate = plan.estimate(None).map_err(|error| error.to_string())?;
        Ok(estimate.log_ratio.value.exp())
    }
}
