//! What a result's name promises of policy and placement, held against what the threads said of themselves. The estimate of a frame
//! does so itself; this is for everything else that a subject answers, and for live comparisons, whose single slices say nothing.

use super::engine::{Engine, Failure};
use super::frames;
use crate::record::Absence;
use crate::session::Reported;
use crate::store::Raw;
use antiphon_measure::{Expected, Finding, ThreadReport};

/// The name under which reports are stored, before the readings that they came with.
const REPORTS: &str = "threads";

const MEND: &str = "`antiphon doctor --subject` checks its placement; under FIFO the build must keep that policy for its threads";

/// What the threads of the item in hand said.
#[derive(Default)]
pub(super) struct Told {
    reports: Option<Vec<ThreadReport>>,
    pub(super) findings: Vec<Finding>,
}

/// The answer, once the reports that came with it are stored and hold.
pub(super) fn kept<T>(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    reported: Reported<T>,
) -> Result<T, Failure> {
    let Reported { answer, threads } = reported;
    // Many looks at a coarse clock say the same.
    if engine.told.reports.as_ref() != Some(&threads) {
        let json = serde_json::to_string(&threads).expect("reports are always writable as JSON");
        let name = REPORTS.to_owned();
        engine.append(position, start, &Raw::Note { name, json })?;
    }
    hold(engine, position, &threads)?;
    engine.told.reports = Some(threads);
    Ok(answer)
}

/// Fails if a report breaks the promise: the figure would be one of another name. Notes who should have reported and did not.
pub(super) fn hold(
    engine: &mut Engine<'_, '_>,
    position: usize,
    threads: &[ThreadReport],
) -> Result<(), Failure> {
    let expected = frames::expected(engine, &engine.items[position]);
    if let Some(absence) = broken(&expected, threads) {
        return Err(Failure::Absent(absence));
    }
    let findings = &mut engine.told.findings;
    let new = expected.unverified(threads);
    findings.extend(new.filter(|new| !findings.contains(new)));
    Ok(())
}

/// The absence of the figure whose promise a report breaks.
pub(crate) fn broken(expected: &Expected, threads: &[ThreadReport]) -> Option<Absence> {
    let broken = threads
        .iter()
        .find_map(|report| expected.broken_by(report))?;
    Some(Absence::new(broken, MEND))
}
