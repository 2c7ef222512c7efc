//! The plan of one frame: calibrate, check that it grows, then sample until the interval is narrow enough or the time is spent.

use super::calibration::{self, Fit, Trial};
use super::growth::{self, Growth};
use super::looks::Looks;
use super::{BatchRequest, ClockFacts, FrameError, FrameSettings, Purpose, Step};
use crate::block::{Block, whole_blocks};
use crate::evaluate::{self, Evidence};
use crate::{Batch, Estimate, Expected, Role, Slice, Stopped};

/// A request lasts about so long, so that a crash loses little.
const REQUEST_NS: f64 = 20e6;
/// Blocks of a growth batch.
const GROWTH_BLOCKS: u32 = 3;
/// How often growth is looked for, with N doubled each time, before a frame is called dead.
const GROWTH_ATTEMPTS: u32 = 3;
/// A figure needs at least so many blocks for an interval …
const FEWEST_BLOCKS: usize = 3;
/// … for which the budget may be overrun by this factor.
const OVERRUN: f64 = 4.0;
/// No figure needs more blocks; it bounds the memory of a plan.
const MOST_BLOCKS: usize = 1 << 14;

/// What is measured next of one frame, and what came out so far.
#[derive(Clone, Debug)]
pub struct FramePlan {
    clock: ClockFacts,
    expected: Expected,
    settings: FrameSettings,
    phase: Phase,
    /// Iterations of a slice: the trial while calibrating, then N.
    iterations: u64,
    reference_iterations: u64,
    /// The last trial of calibration.
    trial: Trial,
    looks: Looks,
    spent_ns: u64,
    evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Calibrating,
    /// `once` holds slices of N once there are any, and `attempt` counts from 0.
    Growing {
        once: Vec<Slice>,
        attempt: u32,
    },
    Sampling,
    Stopped(Stopped),
    Failed(FrameError),
}

impl FramePlan {
    /// A plan that has measured nothing yet.
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
            looks: Looks::within(0),
            spent_ns: 0,
            evidence: Evidence::default(),
        }
    }

    /// What to run next. Asking changes nothing.
    pub fn next(&self) -> Step {
        let (iterations, blocks, purpose) = match &self.phase {
            Phase::Calibrating => (self.iterations, 1, Purpose::Calibrate),
            Phase::Growing { once, attempt } => {
                let n = self.iterations << attempt;
                let n = if once.is_empty() { n } else { 2 * n };
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

    /// Takes what the subject answered to the request that [`next`](Self::next) gave.
    ///
    /// # Errors
    /// [`FrameError::DeadCode`] and [`FrameError::NoWholeBlock`] end the plan; [`FrameError::NotAsked`] leaves it as it was.
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

    /// Ends the plan where it stands; what was measured is kept.
    pub fn interrupt(&mut self) {
        if !matches!(self.phase, Phase::Stopped(_) | Phase::Failed(_)) {
            self.phase = Phase::Stopped(Stopped::Interrupted);
        }
    }

    /// The figure from all blocks so far, also while measuring goes on (`stopped` is then `Interrupted`). `beta` is the share of
    /// the time that the system's interference took; it corrects the long-loop mean only.
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

    /// Wall time spent so far, ns.
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
            Phase::Growing { once, attempt } => self.grow(request, batch, blocks, once, attempt),
            Phase::Sampling => {
                if let Some(iterations) = self.much_too_short(&batch.slices) {
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

    fn calibrate(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
    ) -> Result<(), FrameError> {
        let test = calibration::typical_ns(&batch.slices, Role::Test, f64::min);
        let target = self.settings.target_slice_ns(self.clock);
        if self.settings.reference {
            self.reference_iterations =
                calibration::reference_iterations(&batch.slices, &self.settings, self.clock);
        }
        if calibration::is_empty(request.iterations, test, target) {
            return Err(calibration::dead(self.trial, (request.iterations, test)));
        }
        self.trial = (request.iterations, test);
        match self.fit_of(&batch.slices, f64::min) {
            Fit::Longer(iterations) => {
                self.iterations = iterations;
                self.phase = if self.is_far_overrun() {
                    Phase::Stopped(Stopped::BudgetSpent)
                } else {
                    Phase::Calibrating
                };
                return Ok(());
            }
            Fit::Fits(iterations) => self.iterations = iterations,
        }
        self.evidence.block_ns = blocks.iter().map(|b| b.total_ns).fold(0.0, f64::max)
            * (self.iterations as f64 / request.iterations as f64);
        self.evidence.operation_ns = blocks[0].test_ns;
        if self.is_slow() && self.iterations == request.iterations {
            self.keep(request, batch, blocks);
            self.begin_growth(batch.slices.clone());
        } else {
            self.begin_growth(Vec::new());
        }
        Ok(())
    }

    /// What slices of the present N say of it, reduced to one by `reduce`; the longer frame counts.
    fn fit_of(&self, slices: &[Slice], reduce: fn(f64, f64) -> f64) -> Fit {
        let of = |role| calibration::typical_ns(slices, role, reduce);
        calibration::fit(
            self.iterations,
            of(Role::Test).max(of(Role::Control)),
            self.settings.target_slice_ns(self.clock),
            self.settings.longest_slice_ns(self.clock),
        )
    }

    /// Whether even the longest of a batch's slices is far shorter than a slice should be: calibration met an interruption. A
    /// better N, if so.
    fn much_too_short(&self, slices: &[Slice]) -> Option<u64> {
        match self.fit_of(slices, f64::max) {
            Fit::Longer(iterations) if iterations >= 4 * self.iterations => Some(iterations),
            _ => None,
        }
    }

    fn calibrate_anew(&mut self, iterations: u64) {
        let threads = std::mem::take(&mut self.evidence.threads);
        self.evidence = Evidence {
            threads,
            ..Evidence::default()
        };
        self.iterations = iterations;
        self.phase = if self.is_far_overrun() {
            Phase::Stopped(Stopped::BudgetSpent)
        } else {
            Phase::Calibrating
        };
    }

    fn is_far_overrun(&self) -> bool {
        self.spent_ns as f64 >= OVERRUN * self.settings.budget_ns as f64
    }

    /// A slow frame's calibration is its measurement of N, and 2 N is tried only where the budget has room for it.
    fn begin_growth(&mut self, once: Vec<Slice>) {
        let left = self.settings.budget_ns.saturating_sub(self.spent_ns) as f64;
        if self.is_slow() && 3.0 * self.evidence.block_ns > left / 4.0 {
            self.evidence.notes.push(format!(
                "growth with N was not checked: one operation takes {:.1} ms, which is a slice of its own",
                self.evidence.operation_ns / 1e6
            ));
            self.begin_sampling();
        } else {
            self.phase = Phase::Growing { once, attempt: 0 };
        }
    }

    fn grow(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
        once: Vec<Slice>,
        attempt: u32,
    ) -> Result<(), FrameError> {
        if once.is_empty() {
            // One block calibrated; if an interruption hit both its test slices, these slices are the first true ones.
            if attempt == 0
                && let Fit::Longer(iterations) = self.fit_of(&batch.slices, f64::min)
            {
                self.iterations = iterations;
                self.phase = Phase::Calibrating;
                return Ok(());
            }
            self.evidence.block_ns = blocks
                .iter()
                .map(|b| b.total_ns)
                .fold(f64::INFINITY, f64::min);
            if attempt == 0 && self.is_slow() {
                self.keep(request, batch, blocks);
            }
            self.phase = Phase::Growing {
                once: batch.slices.clone(),
                attempt,
            };
            return Ok(());
        }
        for role in [Role::Test, Role::Control] {
            if let Growth::Dead(error) = growth::judge(&once, &batch.slices, role, self.clock) {
                if attempt + 1 < GROWTH_ATTEMPTS {
                    self.phase = Phase::Growing {
                        once: batch.slices.clone(),
                        attempt: attempt + 1,
                    };
                    return Ok(());
                }
                return Err(error);
            }
        }
        self.begin_sampling();
        Ok(())
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
        let few = self.evidence.blocks.len() < FEWEST_BLOCKS;
        let affordable = spent + self.evidence.block_ns <= OVERRUN * budget;
        spent >= budget && !(few && affordable)
    }

    /// Whether one operation is longer than a slice.
    fn is_slow(&self) -> bool {
        self.iterations == 1
            && self.evidence.block_ns > 4.0 * self.settings.longest_slice_ns(self.clock)
    }

    fn sample_blocks(&self) -> u32 {
        let block_ns = self.evidence.block_ns.max(1.0);
        let left = self.settings.budget_ns.saturating_sub(self.spent_ns) as f64;
        let fitting = (REQUEST_NS.min(left) / block_ns).clamp(1.0, 512.0) as usize;
        // At most as many as there are: several requests precede the first look, each begun at another moment of the
        // system's own period, lest all blocks meet its interruptions in the same slice.
        let blocks = self.evidence.blocks.len();
        fitting
            .min(self.looks.until_next(blocks))
            .min(blocks.max(8)) as u32
    }

    /// About a slice of warm-up; one operation where that is long.
    fn warmup(&self, iterations: u64) -> u64 {
        iterations.min(self.iterations).max(1)
    }
}

fn wall_ns(batch: &Batch) -> u64 {
    let timed = batch
        .slices
        .iter()
        .fold(0_u64, |sum, s| sum.saturating_add(s.elapsed_ns));
    batch.wall_ns.max(timed)
}
