//! Blocks: the slices that ran close together, from which each pair is formed.

use crate::plan::{BatchRequest, ClockFacts};
use crate::statistics::mean;
use crate::{Batch, Role, Slice};
use std::collections::BTreeMap;

/// One ABBA block, reduced to the data of its pair. Times are in ns per iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Mean of the control slices. In ABBA order a linear drift over the block cancels in the
    /// difference.
    pub(crate) control_ns: f64,
    /// Mean of the test slices.
    pub(crate) test_ns: f64,
    /// Mean of the reference slices.
    pub(crate) reference_ns: Option<f64>,
    /// Mean of ln(test) less mean of ln(control).
    pub(crate) log_ratio: f64,
    /// Mean of ln(test) less mean of ln(reference).
    pub(crate) log_to_reference: Option<f64>,
    /// Test slices in the block.
    pub(crate) test_slices: u64,
    /// Timed time of the whole block.
    pub(crate) total_ns: f64,
}

impl Block {
    /// Returns the pair's difference: test less control.
    pub(crate) fn difference_ns(&self) -> f64 {
        self.test_ns - self.control_ns
    }
}

/// Returns the blocks of a batch that have both frames with the requested iterations, and the
/// number of dropped slices.
pub(crate) fn whole_blocks(
    batch: &Batch,
    request: &BatchRequest,
    clock: ClockFacts,
) -> (Vec<Block>, usize) {
    let mut grouped: BTreeMap<u32, Vec<&Slice>> = BTreeMap::new();
    let mut dropped = 0;
    for slice in &batch.slices {
        let asked = match slice.role {
            Role::Reference => request.reference_iterations,
            _ => request.iterations,
        };
        if slice.iterations == asked && asked > 0 {
            grouped.entry(slice.block).or_default().push(slice);
        } else {
            dropped += 1;
        }
    }
    let mut blocks = Vec::with_capacity(grouped.len());
    for slices in grouped.values() {
        match block(slices, clock) {
            Some(block) => blocks.push(block),
            None => dropped += slices.len(),
        }
    }
    (blocks, dropped)
}

fn block(slices: &[&Slice], clock: ClockFacts) -> Option<Block> {
    let control = Frame::of(slices, Role::Control, clock)?;
    let test = Frame::of(slices, Role::Test, clock)?;
    let reference = Frame::of(slices, Role::Reference, clock);
    Some(Block {
        control_ns: control.mean_ns,
        test_ns: test.mean_ns,
        reference_ns: reference.as_ref().map(|r| r.mean_ns),
        log_ratio: test.mean_log - control.mean_log,
        log_to_reference: reference.map(|r| test.mean_log - r.mean_log),
        test_slices: test.count,
        total_ns: slices.iter().map(|s| s.elapsed_ns as f64).sum(),
    })
}

struct Frame {
    mean_ns: f64,
    mean_log: f64,
    count: u64,
}

impl Frame {
    fn of(slices: &[&Slice], role: Role, clock: ClockFacts) -> Option<Self> {
        let own = || slices.iter().filter(move |s| s.role == role);
        let each: Vec<f64> = own()
            .map(|s| s.elapsed_ns as f64 / s.iterations as f64)
            .collect();
        // A slice of no ticks has no logarithm; it lasted some part of a tick.
        let logs: Vec<f64> = own()
            .map(|s| ((s.elapsed_ns as f64).max(clock.floor_ns()) / s.iterations as f64).ln())
            .collect();
        (!each.is_empty()).then(|| Frame {
            mean_ns: mean(&each),
            mean_log: mean(&logs),
            count: each.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Purpose;
    use crate::synthetic::slice;

    const CLOCK: ClockFacts = ClockFacts {
        resolution_ns: 1.0,
        cost_ns: 25.0,
    };

    fn request(iterations: u64) -> BatchRequest {
        BatchRequest {
            iterations,
            blocks: 1,
            reference_iterations: 0,
            warmup: 1,
            purpose: Purpose::Sample,
        }
    }

    #[test]
    fn a_straight_drift_cancels_within_a_block() {
        // Each slice is 100 ns slower than the one before; the test costs 1000 ns more.
        let times = [
            (Role::Control, 5000),
            (Role::Test, 6100),
            (Role::Test, 6200),
            (Role::Control, 5300),
        ];
        let slices = times.map(|(role, ns)| slice(0, role, 100, ns)).to_vec();
        let batch = Batch {
            slices,
            ..Batch::default()
        };
        let (blocks, dropped) = whole_blocks(&batch, &request(100), CLOCK);
        assert_eq!(dropped, 0);
        assert!((blocks[0].difference_ns() - 10.0).abs() < 1e-9);
        assert_eq!(blocks[0].test_slices, 2);
        assert_eq!(blocks[0].reference_ns, None);
    }

    #[test]
    fn slices_that_belong_to_no_whole_block_are_counted() {
        let slices = vec![
            slice(0, Role::Control, 100, 50),
            slice(0, Role::Test, 100, 0),
            slice(1, Role::Control, 100, 50),
            slice(2, Role::Test, 99, 50),
        ];
        let batch = Batch {
            slices,
            ..Batch::default()
        };
        let (blocks, dropped) = whole_blocks(&batch, &request(100), CLOCK);
        assert_eq!((blocks.len(), dropped), (1, 2));
        assert!(
            blocks[0].log_ratio.is_finite(),
            "a slice of no ticks has a finite logarithm"
        );
    }
}
