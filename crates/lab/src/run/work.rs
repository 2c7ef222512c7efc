//! Equal work: tests that claim it, in any subject, must give equal checksums.

use super::engine::Engine;
use super::{Item, RunError};
use crate::protocol::TestInfo;
use crate::record::Outcome;
use antiphon_measure::{Batch, Role, WorkSample, unequal_work};

/// Checksums of tests that claim equal work.
#[derive(Default)]
pub(super) struct Claims {
    samples: Vec<(usize, WorkSample)>,
}

impl Claims {
    /// Notes the checksums of a batch, one for each number of iterations, if its test claims equal
    /// work.
    pub(super) fn note(
        &mut self,
        test: Option<&TestInfo>,
        item: &Item,
        position: usize,
        batch: &Batch,
    ) {
        let Some(work) = test.and_then(|test| test.work.as_ref()) else {
            return;
        };
        for slice in batch.slices.iter().filter(|slice| slice.role == Role::Test) {
            let sample = WorkSample {
                work: work.clone(),
                claimed_by: format!("{} {}", item.identity.subject, item.identity.test),
                iterations: slice.iterations,
                arg: item.identity.arg,
                checksum: slice.checksum,
            };
            // The newest are the likeliest to be equal to the next.
            let known = self
                .samples
                .iter()
                .rev()
                .any(|(of, known)| *of == position && *known == sample);
            if !known {
                self.samples.push((position, sample));
            }
        }
    }
}

/// Adds a finding to the result of every test whose claim does not hold.
pub(super) fn check(engine: &mut Engine<'_, '_>) -> Result<(), RunError> {
    let claims = std::mem::take(&mut engine.claims).samples;
    let mut works: Vec<_> = claims
        .iter()
        .map(|(_, sample)| sample.work.clone())
        .collect();
    works.sort();
    works.dedup();
    for work in works {
        let of_work: Vec<_> = claims
            .iter()
            .filter(|(_, sample)| sample.work == work)
            .collect();
        let samples: Vec<_> = of_work.iter().map(|(_, sample)| sample.clone()).collect();
        // One finding says it; the others are the same for other numbers of iterations.
        let Some(finding) = unequal_work(&samples).into_iter().next() else {
            continue;
        };
        let mut positions: Vec<_> = of_work.iter().map(|(position, _)| *position).collect();
        positions.sort_unstable();
        positions.dedup();
        for position in positions {
            let Some(result) = engine.result(position) else {
                continue;
            };
            let mut result = result.clone();
            if let Outcome::Frame(estimate) = &mut result.outcome
                && !estimate
                    .findings
                    .iter()
                    .any(|known| known.kind == finding.kind)
            {
                estimate.findings.push(finding.clone());
                engine.replace(position, result)?;
            }
        }
    }
    Ok(())
}
