//! Evaluation of blocks into an estimate.

use crate::block::Block;
use crate::findings;
use crate::plan::ClockFacts;
use crate::statistics::{Ranked, mean, median_of};
use crate::{
    Estimate, Expected, FrameTimes, Interval, PaperFigures, Resources, Role, Slice, Stopped,
    ThreadReport,
};

/// Evidence of one frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// N of one slice.
    pub(crate) iterations: u64,
    pub(crate) blocks: Vec<Block>,
    /// The slices of those blocks.
    pub(crate) slices: Vec<Slice>,
    pub(crate) threads: Vec<ThreadReport>,
    /// Slices that belonged to no whole block.
    pub(crate) dropped: usize,
    /// Remarks of the plan.
    pub(crate) notes: Vec<String>,
    /// Timed time of one block, ns, as last seen before sampling.
    pub(crate) block_ns: f64,
    /// Time of one iteration of the test frame, ns, by calibration.
    pub(crate) operation_ns: f64,
}

impl Evidence {
    /// Adds reports, equal ones together.
    pub(crate) fn add_threads(&mut self, threads: &[ThreadReport]) {
        for report in threads {
            let same = |known: &&mut ThreadReport| {
                (
                    &known.role,
                    &known.policy,
                    known.priority,
                    known.processor,
                    &known.allowed,
                ) == (
                    &report.role,
                    &report.policy,
                    report.priority,
                    report.processor,
                    &report.allowed,
                )
            };
            match self.threads.iter_mut().find(same) {
                Some(known) => known.count = known.count.saturating_add(report.count),
                None => self.threads.push(report.clone()),
            }
        }
    }

    /// Returns the total iterations over all test slices: the N of equation 4.
    pub(crate) fn test_iterations(&self) -> u64 {
        let slices: u64 = self.blocks.iter().map(|b| b.test_slices).sum();
        slices.saturating_mul(self.iterations)
    }

    /// Returns the accuracy by the clock alone: τ / N (equation 4).
    pub(crate) fn clock_accuracy_ns(&self, clock: ClockFacts) -> f64 {
        clock.resolution_ns / self.test_iterations().max(1) as f64
    }

    /// Returns the part that neither more blocks nor more total iterations reduce: the edges of
    /// slices, or τ / N if that is more.
    fn floor_ns(&self, clock: ClockFacts) -> f64 {
        let edge = clock.edge_ns() / self.iterations.max(1) as f64;
        edge.max(self.clock_accuracy_ns(clock))
    }

    /// Returns the same floor for logarithms of frames, the shorter of which takes `shorter_ns` a
    /// slice.
    fn log_floor(clock: ClockFacts, shorter_ns: f64) -> f64 {
        (clock.edge_ns() / shorter_ns.max(clock.floor_ns())).ln_1p()
    }

    /// Returns the median of paired differences with its bootstrap interval, which is never
    /// narrower than the clock allows.
    pub(crate) fn cost(&self, level: f64, clock: ClockFacts) -> Interval {
        self.differences()
            .bootstrap(level)
            .widened(self.floor_ns(clock))
    }

    fn differences(&self) -> Ranked {
        let differences: Vec<f64> = self.blocks.iter().map(Block::difference_ns).collect();
        Ranked::new(&differences)
    }

    /// Times of the slices of a role, ns per iteration, in order of time.
    pub(crate) fn per_iteration(&self, role: Role) -> Vec<f64> {
        self.of(role)
            .map(|s| s.elapsed_ns as f64 / s.iterations.max(1) as f64)
            .collect()
    }

    /// Returns the slices of a role.
    pub(crate) fn of(&self, role: Role) -> impl Iterator<Item = &Slice> {
        self.slices.iter().filter(move |s| s.role == role)
    }
}

/// Input of an estimate.
pub(crate) struct Question<'a> {
    pub(crate) evidence: &'a Evidence,
    pub(crate) expected: &'a Expected,
    pub(crate) clock: ClockFacts,
    /// Level of each interval.
    pub(crate) level: f64,
    pub(crate) stopped: Stopped,
    pub(crate) beta: Option<f64>,
}

/// Makes the estimate from evidence of at least one block.
pub(crate) fn estimate(question: &Question) -> Estimate {
    let Question {
        evidence,
        clock,
        level,
        ..
    } = *question;
    let blocks = &evidence.blocks;
    let cost_ns = evidence.cost(level, clock);
    let sign_cost_ns = evidence
        .differences()
        .sign(level)
        .widened(evidence.floor_ns(clock));
    let frames = frame_times(blocks);
    let logs: Vec<f64> = blocks.iter().map(|b| b.log_ratio).collect();
    let to_reference: Vec<f64> = blocks.iter().filter_map(|b| b.log_to_reference).collect();
    let slice_ns = |each_ns: f64| each_ns * evidence.iterations as f64;
    let log_floor = Evidence::log_floor(clock, slice_ns(frames.control_ns.min(frames.test_ns)));
    let reference_floor = Evidence::log_floor(clock, slice_ns(frames.test_ns));
    let mut estimate = Estimate {
        cost_ns,
        sign_cost_ns,
        log_ratio: Ranked::new(&logs).sign(level).widened(log_floor),
        log_ratio_to_reference: (!to_reference.is_empty()).then(|| {
            Ranked::new(&to_reference)
                .sign(level)
                .widened(reference_floor)
        }),
        paper: paper_figures(question),
        frames,
        resources: resources(evidence),
        iterations: evidence.iterations,
        blocks: blocks.len(),
        total_iterations: evidence.test_iterations(),
        outliers: findings::Outlying::of(evidence).count,
        stopped: question.stopped,
        relative_half_width: cost_ns.relative_half_width(),
        findings: Vec::new(),
    };
    estimate.open_if_one_block();
    estimate.findings = findings::all(question, &estimate);
    estimate.hold_against_zero();
    estimate
}

fn frame_times(blocks: &[Block]) -> FrameTimes {
    let median = |of: fn(&Block) -> f64| median_of(&blocks.iter().map(of).collect::<Vec<_>>());
    let reference: Vec<f64> = blocks.iter().filter_map(|b| b.reference_ns).collect();
    FrameTimes {
        control_ns: median(|b| b.control_ns),
        test_ns: median(|b| b.test_ns),
        reference_ns: (!reference.is_empty()).then(|| median_of(&reference)),
    }
}

fn paper_figures(question: &Question) -> PaperFigures {
    let evidence = question.evidence;
    let (control, test) = (
        evidence.per_iteration(Role::Control),
        evidence.per_iteration(Role::Test),
    );
    let minimum = |times: &[f64]| times.iter().copied().reduce(f64::min).unwrap_or(0.0);
    let mean_raw_ns = mean(&test) - mean(&control);
    PaperFigures {
        minimum_control_ns: minimum(&control),
        minimum_test_ns: minimum(&test),
        minima_difference_ns: minimum(&test) - minimum(&control),
        mean_raw_ns,
        mean_corrected_ns: question
            .beta
            .filter(|b| (0.0..1.0).contains(b))
            .map(|beta| mean_raw_ns * (1.0 - beta)),
        clock_accuracy_ns: evidence.clock_accuracy_ns(question.clock),
    }
}

/// Returns the resources of test less control, per operation.
fn resources(evidence: &Evidence) -> Resources {
    let less = |of: fn(&Slice) -> f64| {
        let per_iteration = |role| {
            let used: f64 = evidence.of(role).map(of).sum();
            let iterations: f64 = evidence.of(role).map(|s| s.iterations as f64).sum();
            used / iterations.max(1.0)
        };
        per_iteration(Role::Test) - per_iteration(Role::Control)
    };
    let waits_known = evidence.slices.iter().all(|s| s.wait_ns.is_some());
    Resources {
        voluntary: less(|s| s.voluntary as f64),
        involuntary: less(|s| s.involuntary as f64),
        minor_faults: less(|s| s.minor_faults as f64),
        major_faults: less(|s| s.major_faults as f64),
        wait_ns: waits_known.then(|| less(|s| s.wait_ns.unwrap_or(0) as f64)),
        instructions: None,
    }
}
