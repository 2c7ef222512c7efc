//! Check that the frames grow with N.

use super::calibrating::MOST_RECALIBRATIONS;
use super::{FramePlan, GROWTH_TIMES, Phase, longer_ns};
use crate::block::Block;
use crate::plan::calibration::Fit;
use crate::plan::growth::{self, Growth};
use crate::plan::{BatchRequest, FrameError};
use crate::{Batch, Role, Slice};

/// Longest slice of a growth check, as a multiple of the longest slice: there are only a few of
/// them.
const GROWTH_LONGEST: f64 = 4.0;

impl FramePlan {
    /// Begins the check of growth. A slow frame's calibration already measures N; 2 N is tried only
    /// if the budget has room.
    pub(super) fn begin_growth(&mut self, once: Vec<Slice>) {
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

    pub(super) fn grow(
        &mut self,
        request: &BatchRequest,
        batch: &Batch,
        blocks: Vec<Block>,
        once: Vec<Slice>,
        times: u64,
    ) -> Result<(), FrameError> {
        if once.is_empty() {
            // Calibration used one block. If an interruption hit both its test slices, these slices
            // are the first true ones.
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
        let disturbed = judged.iter().find_map(|growth| match growth {
            Growth::Disturbed(few, many) => Some((*few, *many)),
            _ => None,
        });
        for growth in judged {
            if let Growth::Dead(error) = growth {
                return Err(error);
            }
        }
        match disturbed {
            // The search restarts, because the same disturbance misled the search for N, too.
            Some(_) if self.recalibrations < MOST_RECALIBRATIONS && !self.is_far_overrun() => {
                self.trial = (0, 0.0);
                self.calibrate_anew(1);
                return Ok(());
            }
            Some(((few, few_ns), (many, many_ns))) => self.evidence.notes.push(format!(
                "whether the frames grow with their iterations could not be told: {few} took {few_ns:.0} ns and {many} took {many_ns:.0} ns, so \
                 something else had the processor meanwhile; measure again when the machine is less busy"
            )),
            None => self.evidence.notes.push(format!(
                "a slice of {} iterations takes hardly longer than one of {}, and there is no room for more iterations that would tell",
                request.iterations, self.iterations
            )),
        }
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

    /// Returns this multiple of N, or the most that the test permits.
    pub(super) fn times_n(&self, times: u64) -> u64 {
        self.iterations
            .saturating_mul(times)
            .min(self.settings.most())
    }

    /// Checks that slices of `iterations` are short enough for a growth check, and more than
    /// before.
    ///
    /// A spent budget does not matter: these slices are few, and a dead frame must not pass for a
    /// fast one.
    fn has_room(&self, once: &[Slice], more: &[Slice], iterations: u64) -> bool {
        let present = longer_ns(more, f64::min);
        let longest = GROWTH_LONGEST * self.settings.longest_slice_ns(self.clock);
        let is_more = more
            .iter()
            .all(|s| s.iterations < iterations || s.role == Role::Reference);
        is_more && growth::expected_ns(once, more, iterations) <= longest.max(1.5 * present)
    }
}
