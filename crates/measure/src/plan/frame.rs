//! Plan of one frame: calibrate, check that it grows, then sample until the interval is narrow
//! enough or the time is spent.

mod calibrating;
mod growing;

use super::calibration::{self, Trial};
use super::looks::Looks;
use super::{BatchRequest, ClockFacts, FrameError, FrameSettings, Purpose, Step};
use crate::block::{Block, whole_blocks};
use crate::evaluate::{self, Evidence};
use crate::{Batch, Estimate, Expected, Role, Slice, Stopped};

/// A request lasts about so long, so that a crash loses little.
const REQUEST_NS: f64 = 20e6;
/// Blocks of a growth batch.
const GROWTH_BLOCKS: u32 = 3;
/// Multiples of N at which growth is checked, one after the other while there is room, before a
/// frame is called dead.
const GROWTH_TIMES: [u64; 4] = [2, 8, 32, 128];
/// Least number of blocks for an interval …
const FEWEST_BLOCKS: usize = 3;
/// … and for one of the wanted confidence …
const INTERVAL_BLOCKS: usize = 6;
/// … for which the budget may be overrun by this factor.
const OVERRUN: f64 = 4.0;
/// One block tells no limits, so a second one is made in any case if it takes no longer, ns.
const SECOND_BLOCK_NS: f64 = 1e8;
/// Most blocks of a figure; it bounds the memory of a plan.
const MOST_BLOCKS: usize = 1 << 14;

/// State of one frame's measurement: its next step and its evidence so far.
#[derive(Clone, Debug)]
pub struct FramePlan {
    clock: ClockFacts,
    expected: Expected,
    settings: FrameSettings,
    phase: Phase,
    /// Iterations of a slice: the trial while calibrating, then N.
    iterations: u64,
    reference_iterations: u64,
    /// The last trial of calibration with fewer iterations than now.
    trial: Trial,
    recalibrations: u32,
    looks: Looks,
    spent_ns: u64,
    evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Calibrating,
    /// `once` holds slices of N once there are any; then slices of `times` N are asked for.
    Growing {
        once: Vec<Slice>,
        times: u64,
    },
    Sampling,
    Stopped(Stopped),
    Failed(FrameError),
}

impl FramePlan {
    /// Creates a plan without measurements.
    pub fn new(clock: ClockFacts, expected: Expected, settings: FrameSettings) -> Self {
        let clock = clock.sound();
        let reference_iterations = if settings.reference {
            calibration::reference_iterations(&[], &settings, clock)
        } else {
            0
        };
        FramePlan {
            clock,
            expected,
            settings,
            phase: Phase::Calibrating,
            iterations: 1,
            reference_iterations,
            trial: (0, 0.0),
            recalibrations: 0,
            looks: Looks::within(0),
            spent_ns: 0,
            evidence: Evidence::default(),
        }
    }

    /// Returns the next step, without a change of the plan.
    pub fn next(&self) -> Step {
        let (iterations, blocks, purpose) = match &self.phase {
            Phase::Calibrating => (self.iterations, 1, Purpose::Calibrate),
            Phase::Growing { once, times } => {
                let n = if once.is_empty() {
                    self.iterations
                } else {
                    self.times_n(*times)
                };
                let blocks = if self.is_slow() { 1 } else { GROWTH_BLOCKS };
                (n, blocks, Purpose::Growth)
            }
            Phase::Sampling => (self.iterations, self.sample_blocks(), Purpose::Sample),
            Phase::Stopped(_) | Phase::Failed(_) => return Step::Done,
        };
        Step::Run(BatchRequest {
            iterations,
            blocks,
            reference_iterations: self.reference_iterations,
            warmup: self.warmup(iterations),
            purpose,
        })
    }

    /// Takes the subject's answer to the request from [`next`](Self::next).
    ///
    /// # Errors
    /// [`FrameError::DeadCode`] and [`FrameError::NoWholeBlock`] end the plan;
    /// [`FrameError::NotAsked`] leaves it as it was.
    pub fn take(&mut self, request: &BatchRequest, batch: &Batch) -> Result<(), FrameError> {
        let step = self.next();
        if step != Step::Run(request.clone()) {
            return Err(FrameError::NotAsked {
                given: request.iterations,
                asked: match step {
                    Step::Run(asked) => {
                        format!("{} iterations ({:?})", asked.iterations, asked.purpose)
                    }
                    Step::Done => "nothing more".to_owned(),
                },
            });
        }
        let taken = self.advance(request, batch);
        if let Err(error) = &taken {
            self.phase = Phase::Failed(error.clone());
        }
        taken
    }

    /// Ends the plan in its present state; the measurements are kept.
    pub fn interrupt(&mut self) {
        if !matches!(self.phase, Phase::Stopped(_) | Phase::Failed(_)) {
            self.phase = Phase::Stopped(Stopped::Interrupted);
        }
    }

    /// Estimates from all blocks so far, also during the measurement (`stopped` is then
    /// `Interrupted`).
    ///
    /// `beta` is the share of the time that the system's interference took; it corrects the
    /// long-loop mean only.
    ///
    /// # Errors
    /// The error that ended the plan, or [`FrameError::NothingMeasured`].
    pub fn estimate(&self, beta: Option<f64>) -> Result<Estimate, FrameError> {
        let stopped = match &self.phase {
            Phase::Failed(error) => return Err(error.clone()),
            Phase::Stopped(stopped) => *stopped,
            _ => Stopped::Interrupted,
        };
        if self.evidence.blocks.is_empty() {
            return Err(FrameError::NothingMeasured);
        }
        Ok(evaluate::estimate(&evaluate::Question {
            evidence: &self.evidence,
            expected: &self.expected,
            clock: self.clock,
            level: self.looks.level(self.settings.confidence),
            stopped,
            beta,
        }))
    }

    /// Blocks that the figure rests on so far.
    pub fn blocks(&self) -> usize {
        self.evidence.blocks.len()
    }

    /// Returns the elapsed time so far, ns.
    pub fn spent_ns(&self) -> u64 {
        self.spent_ns
    }

    fn advance(&mut self, request: &BatchRequest, batch: &Batch) -> Result<(), FrameError> {
        self.evidence.add_threads(&batch.threads);
        self.spent_ns = self.spent_ns.saturating_add(wall_ns(batch));
        let (blocks, dropped) = whole_blocks(batch, request, self.clock);
        self.evidence.dropped += dropped;
        if blocks.is_empty() {
            return Err(FrameError::NoWholeBlock {
                blocks: request.blocks,
                slices: batch.slices.len(),
                iterations: request.iterations,
            });
        }
        match std::mem::replace(&mut self.phase, Phase::Sampling) {
            Phase::Calibrating => self.calibrate(request, batch, blocks),
            Phase::Growing { once, times } => self.grow(request, batch, blocks, once, times),
            Phase::Sampling => {
                if let Some(iterations) = self.much_too_short(&batch.slices)
                    && self.may_recalibrate()
                {
                    self.calibrate_anew(iterations);
                    return Ok(());
                }
                self.keep(request, batch, blocks);
                self.decide();
                Ok(())
            }
            ended => {
                self.phase = ended;
                Ok(())
            }
        }
    }

    fn is_far_overrun(&self) -> bool {
        self.spent_ns as f64 >= OVERRUN * self.settings.budget_ns as f64
    }

    fn begin_sampling(&mut self) {
        let left = self.settings.budget_ns.saturating_sub(self.spent_ns) as f64;
        let fitting = (left / self.evidence.block_ns.max(1.0)).min(MOST_BLOCKS as f64) as usize;
        self.looks = Looks::within(self.evidence.blocks.len() + fitting);
        self.phase = Phase::Sampling;
        self.decide();
    }

    fn keep(&mut self, request: &BatchRequest, batch: &Batch, blocks: Vec<Block>) {
        self.evidence.iterations = request.iterations;
        self.evidence.blocks.extend(blocks);
        self.evidence.slices.extend(batch.slices.iter().cloned());
    }

    /// Stops if the interval is narrow enough at a look, or the time is spent.
    fn decide(&mut self) {
        let blocks = self.evidence.blocks.len();
        if self.looks.arrive(blocks) && self.is_narrow() {
            self.phase = Phase::Stopped(Stopped::IntervalReached);
        } else if self.is_spent() || blocks >= MOST_BLOCKS {
            let narrow = blocks >= 6 && self.is_narrow();
            let stopped = if narrow {
                Stopped::IntervalReached
            } else {
                Stopped::BudgetSpent
            };
            self.phase = Phase::Stopped(stopped);
        }
    }

    fn is_narrow(&self) -> bool {
        let cost = self
            .evidence
            .cost(self.looks.level(self.settings.confidence), self.clock);
        let wanted = self.settings.wanted_half_width(cost.value);
        let total = self.evidence.test_iterations();
        cost.half_width() <= wanted
            && total >= self.settings.total_iterations(self.clock, cost.value)
    }

    fn is_spent(&self) -> bool {
        let budget = self.settings.budget_ns as f64;
        let spent = self.spent_ns as f64;
        let blocks = self.evidence.blocks.len();
        let affordable = blocks == 0
            || (blocks == 1 && self.evidence.block_ns <= SECOND_BLOCK_NS)
            || self.is_cheap()
            || spent + self.evidence.block_ns <= OVERRUN * budget;
        spent >= budget && !(blocks < self.fewest() && affordable)
    }

    /// Checks whether an interval's blocks are so short that they are measured in any case. A busy
    /// machine may have spent the time on the search for N.
    fn is_cheap(&self) -> bool {
        INTERVAL_BLOCKS as f64 * self.evidence.block_ns <= self.settings.budget_ns as f64
    }

    /// Returns the number of blocks that are measured even after the budget is spent, if they are
    /// affordable.
    fn fewest(&self) -> usize {
        if self.is_cheap() {
            INTERVAL_BLOCKS
        } else {
            FEWEST_BLOCKS
        }
    }

    /// Checks whether one operation is longer than a slice.
    fn is_slow(&self) -> bool {
        self.iterations == 1
            && self.evidence.block_ns > 4.0 * self.settings.longest_slice_ns(self.clock)
    }

    fn sample_blocks(&self) -> u32 {
        let block_ns = self.evidence.block_ns.max(1.0);
        let left = self.settings.budget_ns.saturating_sub(self.spent_ns) as f64;
        let fitting = (REQUEST_NS.min(left) / block_ns).clamp(1.0, 512.0) as usize;
        let owed = self.fewest().saturating_sub(self.evidence.blocks.len());
        let fitting = if self.is_cheap() {
            fitting.max(owed)
        } else {
            fitting
        };
        // A request has at most as many blocks as there are. Several requests therefore precede the
        // first look, each at another phase of the system's own period. Otherwise its interruptions
        // might hit the same slice of all blocks.
        let blocks = self.evidence.blocks.len();
        fitting
            .min(self.looks.until_next(blocks))
            .min(blocks.max(8)) as u32
    }

    /// Returns the iterations of the warm-up: about a slice, or one operation if that is long.
    fn warmup(&self, iterations: u64) -> u64 {
        iterations.min(self.iterations).max(1)
    }
}

/// Returns one time for the slices of the longer frame, ns, such as the shortest with `f64::min`.
fn longer_ns(slices: &[Slice], reduce: fn(f64, f64) -> f64) -> f64 {
    let of = |role| calibration::typical_ns(slices, role, reduce);
    of(Role::Test).max(of(Role::Control))
}

fn wall_ns(batch: &Batch) -> u64 {
    let timed = batch
        .slices
        .iter()
        .fold(0_u64, |sum, s| sum.saturating_add(s.elapsed_ns));
    batch.wall_ns.max(timed)
}
