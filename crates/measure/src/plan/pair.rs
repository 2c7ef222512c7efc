//! Two subjects against each other in one run, slice by slice: A B B A. A noisy machine hits both alike.

use super::calibration::{self, Fit, Trial};
use super::looks::Looks;
use super::pair_estimate::{self, PairEstimate};
use super::{ClockFacts, FrameError, FrameSettings};
use crate::statistics::Ranked;
use crate::{Role, Slice, Stopped};
use serde::{Deserialize, Serialize};

/// Most blocks of a pair; it bounds the memory of a plan.
const MOST_BLOCKS: usize = 1 << 14;
/// A pair goes on to this many blocks although the budget is spent, up to four times the budget.
const FEWEST_BLOCKS: usize = 3;

/// Slices of N that must agree before it is taken.
const CONFIRMATIONS: usize = 3;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The one that is compared with: the baseline.
    A,
    /// The one that is compared.
    B,
}

impl Side {
    pub(crate) fn index(self) -> usize {
        match self {
            Side::A => 0,
            Side::B => 1,
        }
    }
}

/// How exact the ratio is to be, and what may be spent on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairSettings {
    /// Length of slices, accuracy, budget and confidence, as for a frame; `reference` has no meaning here.
    pub frame: FrameSettings,
    /// Whether control slices run too, which gives the difference of the costs beside the ratio of the test frames.
    pub controls: bool,
}

impl Default for PairSettings {
    fn default() -> Self {
        let frame = FrameSettings {
            relative_half_width: 0.002,
            reference: false,
            ..FrameSettings::default()
        };
        PairSettings {
            frame,
            controls: false,
        }
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairStep {
    /// Run one slice (the protocol's `slice`) and give it to [`PairPlan::take`].
    Slice {
        /// Whose.
        side: Side,
        /// Which frame.
        role: Role,
        /// Iterations of the slice.
        iterations: u64,
        /// Untimed iterations before it.
        warmup: u64,
    },
    /// Nothing more: ask for the estimate.
    Done,
}

/// One place in a block.
type Place = (Side, Role);

/// Symmetric about its middle, so that a straight drift cancels.
const PLAIN: [Place; 4] = [
    (Side::A, Role::Test),
    (Side::B, Role::Test),
    (Side::B, Role::Test),
    (Side::A, Role::Test),
];
const WITH_CONTROLS: [Place; 8] = [
    (Side::A, Role::Control),
    (Side::B, Role::Control),
    (Side::A, Role::Test),
    (Side::B, Role::Test),
    (Side::B, Role::Test),
    (Side::A, Role::Test),
    (Side::B, Role::Control),
    (Side::A, Role::Control),
];

/// One block, ns per iteration by side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PairBlock {
    pub(crate) test_ns: [f64; 2],
    pub(crate) control_ns: [f64; 2],
    /// ln(B / A) of the test frames.
    pub(crate) log_ratio: f64,
}

/// What is measured next of two subjects, and what came out so far.
#[derive(Clone, Debug)]
pub struct PairPlan {
    clocks: [ClockFacts; 2],
    settings: PairSettings,
    phase: Phase,
    iterations: [u64; 2],
    /// The last trial of each side's calibration.
    trials: [Trial; 2],
    looks: Looks,
    /// Slices of the block that is under way.
    under_way: Vec<Slice>,
    blocks: Vec<PairBlock>,
    spent: Spent,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// The side, and what slices of its present N took, ns.
    Calibrating(Side, Vec<f64>),
    Sampling,
    Stopped(Stopped),
    Failed(FrameError),
}

impl PairPlan {
    /// A plan that has measured nothing yet, for the clocks of A and B.
    pub fn new(a: ClockFacts, b: ClockFacts, settings: PairSettings) -> Self {
        PairPlan {
            clocks: [a.sound(), b.sound()],
            settings,
            phase: Phase::Calibrating(Side::A, Vec::new()),
            iterations: [1, 1],
            trials: [(0, 0.0); 2],
            looks: Looks::within(0),
            under_way: Vec::new(),
            blocks: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// What to run next. Asking changes nothing.
    pub fn next(&self) -> PairStep {
        let (side, role) = match &self.phase {
            Phase::Calibrating(side, _) => (*side, Role::Test),
            Phase::Sampling => self.places()[self.under_way.len()],
            Phase::Stopped(_) | Phase::Failed(_) => return PairStep::Done,
        };
        let iterations = self.iterations[side.index()];
        // Caches have been the other subject's since this one's last slice: a quarter of a slice brings them back. The rest
        // varies, so that slices do not fall into step with a period of the system.
        let turn = (7 * self.blocks.len() + self.under_way.len()) as u64 % 4;
        let warmup = (iterations / 4 + turn * (iterations / 16)).max(1);
        PairStep::Slice {
            side,
            role,
            iterations,
            warmup,
        }
    }

    /// Takes the slice that [`next`](Self::next) asked for.
    ///
    /// # Errors
    /// [`FrameError::DeadCode`] ends the plan; [`FrameError::NotAsked`] leaves it as it was.
    pub fn take(&mut self, side: Side, slice: &Slice) -> Result<(), FrameError> {
        let asked = match self.next() {
            PairStep::Slice {
                side: s,
                role,
                iterations,
                ..
            } if (s, role, iterations) == (side, slice.role, slice.iterations) => iterations,
            step => {
                return Err(FrameError::NotAsked {
                    given: slice.iterations,
                    asked: format!("{step:?}"),
                });
            }
        };
        self.spent.add(side, slice);
        match std::mem::replace(&mut self.phase, Phase::Sampling) {
            Phase::Calibrating(_, mut times) => {
                times.push(slice.elapsed_ns as f64);
                self.calibrate(side, asked, times)
            }
            _ => {
                self.under_way.push(slice.clone());
                if self.under_way.len() == self.places().len() {
                    self.end_block();
                }
                Ok(())
            }
        }
    }

    /// Ends the plan where it stands; whole blocks are kept.
    pub fn interrupt(&mut self) {
        if !matches!(self.phase, Phase::Stopped(_) | Phase::Failed(_)) {
            self.phase = Phase::Stopped(Stopped::Interrupted);
        }
    }

    /// The ratio from all whole blocks so far.
    ///
    /// # Errors
    /// The error that ended the plan, or [`FrameError::NothingMeasured`].
    pub fn estimate(&self) -> Result<PairEstimate, FrameError> {
        let stopped = match &self.phase {
            Phase::Failed(error) => return Err(error.clone()),
            Phase::Stopped(stopped) => *stopped,
            _ => Stopped::Interrupted,
        };
        if self.blocks.is_empty() {
            return Err(FrameError::NothingMeasured);
        }
        let mut estimate = pair_estimate::estimate(
            &self.blocks,
            self.level(),
            self.edge(),
            self.settings.controls,
        );
        estimate.stopped = stopped;
        estimate.iterations = (self.iterations[0], self.iterations[1]);
        Ok(estimate)
    }

    fn level(&self) -> f64 {
        self.looks.level(self.settings.frame.confidence)
    }

    /// What the edges of slices may move the logarithm by.
    fn edge(&self) -> f64 {
        let of = |i: usize| {
            let each = self
                .blocks
                .iter()
                .map(|b| b.test_ns[i])
                .reduce(f64::min)
                .unwrap_or(0.0);
            let slice = (each * self.iterations[i] as f64).max(self.clocks[i].floor_ns());
            self.clocks[i].edge_ns() / slice
        };
        of(0).max(of(1)).ln_1p()
    }

    fn places(&self) -> &'static [Place] {
        if self.settings.controls {
            &WITH_CONTROLS
        } else {
            &PLAIN
        }
    }

    fn calibrate(
        &mut self,
        side: Side,
        iterations: u64,
        times: Vec<f64>,
    ) -> Result<(), FrameError> {
        let clock = self.clocks[side.index()];
        let target = self.settings.frame.target_slice_ns(clock);
        let elapsed = times.iter().copied().fold(f64::INFINITY, f64::min);
        let (before, last) = (self.trials[side.index()], (iterations, elapsed));
        if calibration::is_empty(iterations, calibration::growing_ns(before, last), target) {
            let error = calibration::dead(before, last);
            self.phase = Phase::Failed(error.clone());
            return Err(error);
        }
        match calibration::fit(before, last, self.settings.frame.aim(clock, 1)) {
            Fit::Longer(more) => {
                self.trials[side.index()] = last;
                self.iterations[side.index()] = more;
                self.phase = Phase::Calibrating(side, Vec::new());
            }
            // A slice that an interruption made long enough is found out by the next.
            Fit::Fits(_)
                if times.len() < CONFIRMATIONS
                    && elapsed < self.settings.frame.budget_ns as f64 / 10.0 =>
            {
                self.phase = Phase::Calibrating(side, times);
            }
            Fit::Fits(fits) => {
                self.iterations[side.index()] = fits;
                match side {
                    Side::A => self.phase = Phase::Calibrating(Side::B, Vec::new()),
                    Side::B => self.begin_sampling(elapsed * 4.0),
                }
            }
        }
        Ok(())
    }

    fn begin_sampling(&mut self, block_ns: f64) {
        // Equal N where the sides are alike: what a slice costs beside its iterations is then the same for both.
        let [a, b] = self.iterations;
        if a.max(b) <= 2 * a.min(b) {
            self.iterations = [a.min(b); 2];
        }
        let left = self
            .settings
            .frame
            .budget_ns
            .saturating_sub(self.spent.ns()) as f64;
        self.looks = Looks::within((left / block_ns.max(1.0)).min(MOST_BLOCKS as f64) as usize);
        self.phase = Phase::Sampling;
    }

    fn end_block(&mut self) {
        let slices = std::mem::take(&mut self.under_way);
        let mut block = PairBlock::default();
        for (place, slice) in self.places().iter().zip(&slices) {
            let (side, role) = *place;
            let i = side.index();
            // Each frame of a side has two slices in a block.
            let half = slice.elapsed_ns as f64 / slice.iterations.max(1) as f64 / 2.0;
            if role == Role::Test {
                block.test_ns[i] += half;
                let at_least = (slice.elapsed_ns as f64).max(self.clocks[i].floor_ns());
                let log = (at_least / slice.iterations.max(1) as f64).ln() / 2.0;
                block.log_ratio += if side == Side::B { log } else { -log };
            } else {
                block.control_ns[i] += half;
            }
        }
        self.blocks.push(block);
        self.decide();
    }

    fn decide(&mut self) {
        let count = self.blocks.len();
        if self.looks.arrive(count) && self.is_narrow() {
            self.phase = Phase::Stopped(Stopped::IntervalReached);
            return;
        }
        let budget = self.settings.frame.budget_ns;
        let limit = if count < FEWEST_BLOCKS {
            budget.saturating_mul(4)
        } else {
            budget
        };
        if self.spent.ns() >= limit || count >= MOST_BLOCKS {
            let narrow = count >= 6 && self.is_narrow();
            let stopped = if narrow {
                Stopped::IntervalReached
            } else {
                Stopped::BudgetSpent
            };
            self.phase = Phase::Stopped(stopped);
        }
    }

    fn is_narrow(&self) -> bool {
        let logs: Vec<f64> = self.blocks.iter().map(|b| b.log_ratio).collect();
        Ranked::new(&logs).sign(self.level()).half_width()
            <= self.settings.frame.relative_half_width
    }
}

/// Time spent, from the slices' own clocks: from the first start to the last end of a side, or what was timed if that is more.
#[derive(Clone, Debug, Default)]
struct Spent {
    timed_ns: u64,
    spans: [Option<(u64, u64)>; 2],
}

impl Spent {
    fn add(&mut self, side: Side, slice: &Slice) {
        self.timed_ns = self.timed_ns.saturating_add(slice.elapsed_ns);
        let end = slice.start_ns.saturating_add(slice.elapsed_ns);
        let span = self.spans[side.index()].get_or_insert((slice.start_ns, end));
        span.1 = span.1.max(end);
    }

    fn ns(&self) -> u64 {
        let spans = self
            .spans
            .iter()
            .flatten()
            .map(|(start, end)| end.saturating_sub(*start));
        spans.fold(self.timed_ns, u64::max)
    }
}
