//! Comparison of two subjects in one start of both, slice by slice: A B B A. A noisy machine hits
//! both alike.
//!
//! One start of each is one draw of addresses, environment and place. Its ratio is one value of
//! [`compare_pairs`](crate::compare_pairs), and no verdict by itself.

use super::calibration::{self, Fit, Trial};
use super::{ClockFacts, FrameError, FrameSettings};
use crate::statistics::{Ranked, median_of};
use crate::{Interval, Role, Slice};
use serde::{Deserialize, Serialize};

/// Most blocks of a pair; it bounds the memory of a plan.
const MOST_BLOCKS: usize = 1 << 14;

/// Slices of N that must agree before it is taken.
const CONFIRMATIONS: usize = 3;

/// A side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The baseline.
    A,
    /// The side compared with the baseline.
    B,
}

impl Side {
    pub(crate) fn index(self) -> usize {
        match self {
            Side::A => 0,
            Side::B => 1,
        }
    }

    /// Returns the other side.
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

/// Next step of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairStep {
    /// Run one slice of the test frame (the protocol's `slice`) and give it to [`PairPlan::take`].
    Slice {
        /// Side to run.
        side: Side,
        /// Iterations of the slice.
        iterations: u64,
        /// Untimed iterations before it.
        warmup: u64,
    },
    /// Nothing more: ask for the estimate.
    Done,
}

/// The slices of a block: symmetric about the middle, so that a straight drift cancels.
const PLACES: [Side; 4] = [Side::A, Side::B, Side::B, Side::A];

/// One block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PairBlock {
    /// ns per iteration of A and of B.
    test_ns: [f64; 2],
    /// ln(B / A).
    log_ratio: f64,
}

/// Two subjects against each other in one start of both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairEstimate {
    /// Median of ln(B / A), the test frames' times per iteration, with its sign-test interval.
    /// Above zero: B is slower.
    pub log_ratio: Interval,
    /// Median of the test frames of A and B, ns per iteration.
    pub test_ns: (f64, f64),
    /// Iterations of a slice of A and of B.
    pub iterations: (u64, u64),
    /// Blocks that the ratio rests on.
    pub blocks: usize,
}

/// State of a measurement of two subjects: its next step and its evidence so far.
#[derive(Clone, Debug)]
pub struct PairPlan {
    clocks: [ClockFacts; 2],
    settings: FrameSettings,
    phase: Phase,
    iterations: [u64; 2],
    /// The last trial of each side's calibration.
    trials: [Trial; 2],
    /// Slices of the block that is under way.
    under_way: Vec<Slice>,
    blocks: Vec<PairBlock>,
    spent: Spent,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// The side, and times of slices of its present N, ns.
    Calibrating(Side, Vec<f64>),
    Sampling,
    Stopped,
    Failed(FrameError),
}

impl PairPlan {
    /// Creates a plan without measurements, for the clocks of A and B.
    ///
    /// Of the settings it follows the length of slices, the budget and the confidence. It ends when
    /// the budget is spent, and has at least one block.
    pub fn new(a: ClockFacts, b: ClockFacts, settings: FrameSettings) -> Self {
        PairPlan {
            clocks: [a.sound(), b.sound()],
            settings,
            phase: Phase::Calibrating(Side::A, Vec::new()),
            iterations: [1, 1],
            trials: [(0, 0.0); 2],
            under_way: Vec::new(),
            blocks: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// Returns the next step, without a change of the plan.
    pub fn next(&self) -> PairStep {
        let side = match &self.phase {
            Phase::Calibrating(side, _) => *side,
            Phase::Sampling => self.place(self.under_way.len()),
            Phase::Stopped | Phase::Failed(_) => return PairStep::Done,
        };
        let iterations = self.iterations[side.index()];
        // Caches have served the other subject since this one's last slice; a quarter of a slice
        // restores them. The rest varies, so that slices do not fall into step with a period of the
        // system.
        let turn = (7 * self.blocks.len() + self.under_way.len()) as u64 % 4;
        let warmup = (iterations / 4 + turn * (iterations / 16)).max(1);
        PairStep::Slice {
            side,
            iterations,
            warmup,
        }
    }

    /// Returns the side of a slice in this place of the block. Either side begins every other
    /// block.
    fn place(&self, position: usize) -> Side {
        match self.blocks.len() % 2 {
            0 => PLACES[position],
            _ => PLACES[position].other(),
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
                iterations,
                ..
            } if (s, Role::Test, iterations) == (side, slice.role, slice.iterations) => iterations,
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
                if self.under_way.len() == PLACES.len() {
                    self.end_block();
                }
                Ok(())
            }
        }
    }

    /// Ends the plan where it stands; whole blocks are kept.
    pub fn interrupt(&mut self) {
        if !matches!(self.phase, Phase::Failed(_)) {
            self.phase = Phase::Stopped;
        }
    }

    /// Returns the ratio from all whole blocks so far.
    ///
    /// # Errors
    /// The error that ended the plan, or [`FrameError::NothingMeasured`].
    pub fn estimate(&self) -> Result<PairEstimate, FrameError> {
        if let Phase::Failed(error) = &self.phase {
            return Err(error.clone());
        }
        if self.blocks.is_empty() {
            return Err(FrameError::NothingMeasured);
        }
        let of = |f: fn(&PairBlock) -> f64| self.blocks.iter().map(f).collect::<Vec<f64>>();
        let logs = Ranked::new(&of(|b| b.log_ratio)).sign(self.settings.confidence);
        Ok(PairEstimate {
            log_ratio: match self.blocks.len() {
                1 => Interval::open(logs.value),
                _ => logs.widened(self.edge()),
            },
            test_ns: (
                median_of(&of(|b| b.test_ns[0])),
                median_of(&of(|b| b.test_ns[1])),
            ),
            iterations: (self.iterations[0], self.iterations[1]),
            blocks: self.blocks.len(),
        })
    }

    /// Returns the effect of slice edges on the logarithm.
    fn edge(&self) -> f64 {
        let of = |i: usize| {
            let each = self.blocks.iter().map(|b| b.test_ns[i]);
            let each = each.reduce(f64::min).unwrap_or(0.0);
            let slice = (each * self.iterations[i] as f64).max(self.clocks[i].floor_ns());
            self.clocks[i].edge_ns() / slice
        };
        of(0).max(of(1)).ln_1p()
    }

    fn calibrate(
        &mut self,
        side: Side,
        iterations: u64,
        times: Vec<f64>,
    ) -> Result<(), FrameError> {
        let clock = self.clocks[side.index()];
        let target = self.settings.target_slice_ns(clock);
        let elapsed = times.iter().copied().fold(f64::INFINITY, f64::min);
        let (before, last) = (self.trials[side.index()], (iterations, elapsed));
        if calibration::is_empty(iterations, calibration::growing_ns(before, last), target) {
            let error = calibration::dead(before, last);
            self.phase = Phase::Failed(error.clone());
            return Err(error);
        }
        match calibration::fit(before, last, self.settings.aim(clock, 1)) {
            Fit::Longer(more) => {
                self.trials[side.index()] = last;
                self.iterations[side.index()] = more;
                self.phase = Phase::Calibrating(side, Vec::new());
            }
            // A slice that an interruption made long enough is found out by the next.
            Fit::Fits(_)
                if times.len() < CONFIRMATIONS
                    && elapsed < self.settings.budget_ns as f64 / 10.0 =>
            {
                self.phase = Phase::Calibrating(side, times);
            }
            Fit::Fits(fits) => {
                self.iterations[side.index()] = fits;
                match side {
                    Side::A => self.phase = Phase::Calibrating(Side::B, Vec::new()),
                    Side::B => self.begin_sampling(),
                }
            }
        }
        Ok(())
    }

    fn begin_sampling(&mut self) {
        // Similar sides get equal N: the cost of a slice beside its iterations is then the same for
        // both.
        let [a, b] = self.iterations;
        if a.max(b) <= 2 * a.min(b) {
            self.iterations = [a.min(b); 2];
        }
        self.phase = Phase::Sampling;
    }

    fn end_block(&mut self) {
        let slices = std::mem::take(&mut self.under_way);
        let mut block = PairBlock::default();
        for (position, slice) in slices.iter().enumerate() {
            let side = self.place(position);
            let i = side.index();
            let iterations = slice.iterations.max(1) as f64;
            // Each side has two slices in a block.
            block.test_ns[i] += slice.elapsed_ns as f64 / iterations / 2.0;
            let at_least = (slice.elapsed_ns as f64).max(self.clocks[i].floor_ns());
            let log = (at_least / iterations).ln() / 2.0;
            block.log_ratio += if side == Side::B { log } else { -log };
        }
        self.blocks.push(block);
        if self.spent.ns() >= self.settings.budget_ns || self.blocks.len() >= MOST_BLOCKS {
            self.phase = Phase::Stopped;
        }
    }
}

/// Elapsed time by the slices' own clocks: from first start to last end of a side, or the timed
/// part if that is more.
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
