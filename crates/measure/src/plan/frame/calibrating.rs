//! Search for the number of iterations of a slice, and the end of a frame that no number suits.

use super::{FramePlan, GROWTH_TIMES, INTERVAL_BLOCKS, Phase, longer_ns};
use crate::block::Block;
use crate::evaluate::Evidence;
use crate::plan::calibration::{self, Aim, Fit, Trial};
use crate::plan::{BatchRequest, FrameError};
use crate::{Batch, Slice, Stopped};

/// Slices of N may be longer than the longest by this factor where fewer iterations would not do.
const FAR_TOO_LONG: f64 = 10.0;
/// Most new choices of N. The cost of some operations is not in proportion to N, and some vary
/// between cheap and dear.
pub(super) const MOST_RECALIBRATIONS: u32 = 2;
/// Least growing part of a live frame. One with less may be dead, and has no figure without a
/// further check.
const LEAST_GROWING: f64 = 0.25;
/// A slice of a confirmed N may fall short of the target by this factor.
const CONFIRMED: f64 = 0.7;

impl FramePlan {
    pub(super) fn calibrate(
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
            // The search ends only if blocks are dear. A busy machine spends the time on waits, and
            // the slices so far are too short to tell anything.
            Fit::Longer(_) if self.is_far_overrun() && self.is_dear(&blocks) => {
                self.end_calibrating(request, batch, blocks, last);
                return Ok(());
            }
            Fit::Longer(iterations) => {
                self.trial = last;
                self.iterations = iterations;
                self.phase = Phase::Calibrating;
                return Ok(());
            }
            // Fewer iterations were far too short before; slices that are too long are better.
            Fit::Fits(fewer)
                if fewer < request.iterations
                    && self.recalibrations >= MOST_RECALIBRATIONS
                    && last.1 <= FAR_TOO_LONG * self.aim().longest_ns => {}
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

    /// Checks whether the blocks of an interval, none of which will be shorter than these, would
    /// exceed the budget alone.
    fn is_dear(&self, blocks: &[Block]) -> bool {
        let longest = blocks.iter().map(|b| b.total_ns).fold(0.0, f64::max);
        INTERVAL_BLOCKS as f64 * longest > self.settings.budget_ns as f64
    }

    /// Ends the search for N when time is up. The present block has a figure, unless its frames
    /// visibly stood still.
    fn end_calibrating(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
        last: Trial,
    ) {
        let growing = calibration::growing_ns(self.trial, last);
        if growing > LEAST_GROWING * last.1 {
            self.evidence.notes.push(format!(
                "the time was spent while the iterations of a slice were still sought: the only block has {} of them",
                request.iterations
            ));
            self.keep(request, batch, blocks);
        }
        self.phase = Phase::Stopped(Stopped::BudgetSpent);
    }

    /// Decides between one iteration and a second trial with two. A suitable slice of one iteration
    /// may be all constant part; two iterations tell, if they are not long.
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

    /// Judges slices of the present N, reduced to one by `reduce`, with some tolerance about the
    /// target.
    pub(super) fn fit_of(&self, slices: &[Slice], reduce: fn(f64, f64) -> f64) -> Fit {
        let aim = self.aim();
        let aim = Aim {
            target_ns: CONFIRMED * aim.target_ns,
            ..aim
        };
        let last = (self.iterations, longer_ns(slices, reduce));
        calibration::fit(self.trial, last, aim)
    }

    /// Returns a better N if even the longest of a batch's slices is far too short: calibration
    /// then met an interruption.
    pub(super) fn much_too_short(&self, slices: &[Slice]) -> Option<u64> {
        match self.fit_of(slices, f64::max) {
            Fit::Longer(iterations) if iterations >= 4 * self.iterations => Some(iterations),
            _ => None,
        }
    }

    /// Decides whether N may be chosen anew. Otherwise the figure says that N does not suit it.
    pub(super) fn may_recalibrate(&mut self) -> bool {
        let may = self.recalibrations < MOST_RECALIBRATIONS && !self.is_far_overrun();
        let note = "slices of equal iterations took very different times, so that no number of iterations suits all of them";
        if !may && !self.evidence.notes.iter().any(|known| known == note) {
            self.evidence.notes.push(note.to_owned());
        }
        may
    }

    pub(super) fn calibrate_anew(&mut self, iterations: u64) {
        let threads = std::mem::take(&mut self.evidence.threads);
        self.evidence = Evidence {
            threads,
            ..Evidence::default()
        };
        self.recalibrations += 1;
        self.iterations = iterations;
        self.phase = Phase::Calibrating;
    }
}
