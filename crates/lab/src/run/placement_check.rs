//! Check of policy and placement: the promise of a result's name against the threads' own reports.
//!
//! The estimate of a frame makes this check itself. This module is for all other answers of a
//! subject, and for live comparisons, whose single slices have no reports.

use super::engine::{Engine, Failure};
use super::frames;
use crate::record::Absence;
use crate::session::Reported;
use crate::store::Raw;
use antiphon_measure::{Expected, Finding, ThreadReport};

/// The name under which reports are stored, before the readings that they came with.
const REPORTS: &str = "threads";

const HELP: &str = "`antiphon doctor --subject` checks its placement; under FIFO the build must keep that policy for its threads";

/// Thread reports of the current item.
#[derive(Default)]
pub(super) struct ItemReports {
    reports: Option<Vec<ThreadReport>>,
    pub(super) findings: Vec<Finding>,
}

/// Returns the answer after its reports are stored and keep the promise.
pub(super) fn kept<T>(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    reported: Reported<T>,
) -> Result<T, Failure> {
    let Reported { answer, threads } = reported;
    // Many looks at a coarse clock say the same.
    if engine.reported.reports.as_ref() != Some(&threads) {
        let json = serde_json::to_string(&threads).expect("reports are always writable as JSON");
        let name = REPORTS.to_owned();
        engine.append(position, start, &Raw::Note { name, json })?;
    }
    hold(engine, position, &threads)?;
    engine.reported.reports = Some(threads);
    Ok(answer)
}

/// Fails if a report breaks the promise, because the figure would have a wrong name. Notes threads
/// without their report.
pub(super) fn hold(
    engine: &mut Engine<'_, '_>,
    position: usize,
    threads: &[ThreadReport],
) -> Result<(), Failure> {
    let expected = frames::expected(engine, &engine.items[position]);
    if let Some(absence) = broken(&expected, threads) {
        return Err(Failure::Absent(absence));
    }
    let findings = &mut engine.reported.findings;
    let new = expected.unverified(threads);
    findings.extend(new.filter(|new| !findings.contains(new)));
    Ok(())
}

/// Returns the absence of a figure whose promise a report breaks.
pub(crate) fn broken(expected: &Expected, threads: &[ThreadReport]) -> Option<Absence> {
    let broken = threads
        .iter()
        .find_map(|report| expected.broken_by(report))?;
    Some(Absence::new(broken, HELP))
}
