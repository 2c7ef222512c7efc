//! The plan of one frame: calibrate, check that it grows, then sample until the interval is narrow enough or the time is spent.

use super::calibration::{self, Aim, Fit, Trial};
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
/// How many times N growth is looked for, one after the other while there is room, before a frame is called dead.
const GROWTH_TIMES: [u64; 3] = [2, 8, 32];
/// A slice that looks for growth may last this many times the longest slice: there are but a few of them.
const GROWTH_LONGEST: f64 = 4.0;
/// How often N is chosen anew. The cost of some operations is not in proportion to N, and some are one time dear and one time cheap.
const MOST_RECALIBRATIONS: u32 = 2;
/// A slice of a confirmed N may fall short of the target by this factor.
const CONFIRMED: f64 = 0.7;
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
            recalibrations: 0,
            looks: Looks::within(0),
            spent_ns: 0,
            evidence: Evidence::default(),
        }
    }

    /// What to run next. Asking changes nothing.
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

    fn calibrate(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
    ) -> Result<(), FrameError> {
        let target = self.settings.target_slice_ns(self.clock);
        if self.settings.reference {
            self.reference_iterations =
                calibration::reference_iterations(&batch.slices, &self.settings, self.clock);
        }
        let last = (request.iterations, longer_ns(&batch.slices, f64::min));
        if calibration::is_empty(last.0, calibration::growing_ns(self.trial, last), target) {
            return Err(calibration::dead(self.trial, last));
        }
        let fit = calibration::fit(self.trial, last, self.aim());
        match self.second_trial(last, fit) {
            Fit::Longer(_) if self.is_far_overrun() => {
                self.evidence.notes.push(format!(
                    "the time was spent while the iterations of a slice were still sought: the only block has {} of them",
                    request.iterations
                ));
                self.keep(request, batch, blocks);
                self.phase = Phase::Stopped(Stopped::BudgetSpent);
                return Ok(());
            }
            Fit::Longer(iterations) => {
                self.trial = last;
                self.iterations = iterations;
                self.phase = Phase::Calibrating;
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

    /// Slices of one iteration that would do may be all constant part: two iterations tell, where they are not long.
    fn second_trial(&self, last: Trial, fit: Fit) -> Fit {
        let aim = self.aim();
        let is_known = self.trial.0 > 0 && self.trial.0 < last.0;
        if fit == Fit::Fits(1) && !is_known && aim.most >= 2 && 2.0 * last.1 <= aim.longest_ns {
            Fit::Longer(2)
        } else {
            fit
        }
    }

    fn aim(&self) -> Aim {
        self.settings.aim(self.clock, GROWTH_TIMES[0])
    }

    /// What slices of the present N say of it, reduced to one by `reduce`, where they may miss the target a little.
    fn fit_of(&self, slices: &[Slice], reduce: fn(f64, f64) -> f64) -> Fit {
        let aim = self.aim();
        let aim = Aim {
            target_ns: CONFIRMED * aim.target_ns,
            ..aim
        };
        let last = (self.iterations, longer_ns(slices, reduce));
        calibration::fit(self.trial, last, aim)
    }

    /// Whether even the longest of a batch's slices is far shorter than a slice should be: calibration met an interruption. A
    /// better N, if so.
    fn much_too_short(&self, slices: &[Slice]) -> Option<u64> {
        match self.fit_of(slices, f64::max) {
            Fit::Longer(iterations) if iterations >= 4 * self.iterations => Some(iterations),
            _ => None,
        }
    }

    /// Whether N may be chosen anew; once it may no longer, the figure says that N does not suit it.
    fn may_recalibrate(&mut self) -> bool {
        let may = self.recalibrations < MOST_RECALIBRATIONS && !self.is_far_overrun();
        let note = "slices of equal iterations took very different times, so that no number of iterations suits all of them";
        if !may && !self.evidence.notes.iter().any(|known| known == note) {
            self.evidence.notes.push(note.to_owned());
        }
        may
    }

    fn calibrate_anew(&mut self, iterations: u64) {
        let threads = std::mem::take(&mut self.evidence.threads);
        self.evidence = Evidence {
            threads,
            ..Evidence::default()
        };
        self.recalibrations += 1;
        self.iterations = iterations;
        self.phase = Phase::Calibrating;
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
            self.phase = Phase::Growing {
                once,
                times: GROWTH_TIMES[0],
            };
        }
    }

    fn grow(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
        once: Vec<Slice>,
        times: u64,
    ) -> Result<(), FrameError> {
        if once.is_empty() {
            // One block calibrated; if an interruption hit both its test slices, these slices are the first true ones.
            if let Fit::Longer(iterations) = self.fit_of(&batch.slices, f64::min)
                && self.may_recalibrate()
            {
                self.calibrate_anew(iterations);
                return Ok(());
            }
            self.evidence.block_ns = blocks
                .iter()
                .map(|b| b.total_ns)
                .fold(f64::INFINITY, f64::min);
            if self.is_slow() {
                self.keep(request, batch, blocks);
            }
            let once = batch.slices.clone();
            self.go_on_growing(once, times);
            return Ok(());
        }
        let judged = [Role::Test, Role::Control]
            .map(|role| growth::judge(&once, &batch.slices, role, self.clock));
        let settled = |growth: &Growth| matches!(growth, Growth::Grows | Growth::CannotTell);
        if judged.iter().all(settled) {
            self.begin_sampling();
            return Ok(());
        }
        let next = GROWTH_TIMES.into_iter().find(|more| *more > times);
        if let Some(next) = next
            && self.has_room(&once, &batch.slices, self.times_n(next))
        {
            self.go_on_growing(once, next);
            return Ok(());
        }
        for growth in judged {
            if let Growth::Dead(error) = growth {
                return Err(error);
            }
        }
        self.evidence.notes.push(format!(
            "a slice of {} iterations takes hardly longer than one of {}, and there is no room for more iterations that would tell",
            request.iterations, self.iterations
        ));
        self.begin_sampling();
        Ok(())
    }

    /// Looks for growth at `times` N, if the test permits more iterations than N at all.
    fn go_on_growing(&mut self, once: Vec<Slice>, times: u64) {
        if self.times_n(times) > self.iterations {
            self.phase = Phase::Growing { once, times };
        } else {
            self.evidence.notes.push(format!(
                "growth with N was not checked: the test permits {} iterations a slice",
                self.settings.most()
            ));
            self.begin_sampling();
        }
    }

    /// So many times N, or the most that the test permits.
    fn times_n(&self, times: u64) -> u64 {
        self.iterations
            .saturating_mul(times)
            .min(self.settings.most())
    }

    /// Whether slices of `iterations` are short enough to look for growth with them, and more than there were.
    fn has_room(&self, once: &[Slice], more: &[Slice], iterations: u64) -> bool {
        let present = longer_ns(more, f64::min);
        let longest = GROWTH_LONGEST * self.settings.longest_slice_ns(self.clock);
        let is_more = more
            .iter()
            .all(|s| s.iterations < iterations || s.role == Role::Reference);
        is_more
            && !self.is_far_overrun()
            && growth::expected_ns(once, more, iterations) <= longest.max(1.5 * present)
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

/// One time for the slices of the longer frame, ns, such as the shortest with `f64::min`.
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
