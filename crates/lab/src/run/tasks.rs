//! Task of a suite's row in a subject.

use super::plan::Task;
use crate::protocol::{TestInfo, TestKind};
use crate::record::{Absence, LoadTask};
use crate::session::Listing;
use crate::suite::{Instance, LoadRow, ProgramRow, Row, RowKind, fill};

/// A program that takes longer in a quick run hangs, s.
const QUICK_LIMIT_S: u64 = 30;

/// Returns the runs of a program; `None` if the subject does not have it.
pub(super) fn program_task(
    row: &ProgramRow,
    instance: &Instance,
    listing: &Listing,
    quick: bool,
) -> Option<Task> {
    let program = fill(&row.program, &instance.values);
    let arguments = match quick {
        true => &row.quick_arguments,
        false => &row.arguments,
    };
    let arguments = arguments
        .iter()
        .map(|word| fill(word, &instance.values))
        .collect();
    listing
        .programs
        .contains(&program)
        .then_some(Task::Program {
            program,
            arguments,
            limit_s: match quick {
                true => row.limit_s.min(QUICK_LIMIT_S),
                false => row.limit_s,
            },
            rounds: row.rounds,
        })
}

/// Returns the load on a server; `None` if the subject is none.
pub(super) fn load_task(
    row: &LoadRow,
    instance: &Instance,
    listing: &Listing,
    quick: bool,
) -> Option<Task> {
    if !listing.serves {
        return None;
    }
    let filled = |template: &String| fill(template, &instance.values);
    let percent = row.percent_of_closed.as_ref().map(filled);
    Some(Task::Load(LoadTask {
        path: row.path.clone(),
        body: row.body.clone(),
        // The suite was checked for it to be a number.
        connections: filled(&row.connections).parse().unwrap_or(1),
        keep_alive: row.keep_alive,
        per_second: row.per_second,
        percent_of_closed: percent.and_then(|percent| percent.parse().ok()),
        freeze_ms: row.freeze_ms,
        by: row.by,
        sleeps: row.sleeps,
        seconds: match quick {
            true => row.quick_seconds,
            false => row.seconds,
        },
    }))
}

/// Returns the task of a test that the subject lists.
pub(super) fn test_task(kind: &RowKind, row: &Row, test: &TestInfo, quick: bool) -> Task {
    if let Some(why) = &test.absent {
        return Task::Absent(Absence::not_meant(why));
    }
    let wanted = match kind {
        RowKind::Latency { .. } => TestKind::Latency,
        RowKind::Series { .. } => TestKind::Series,
        _ => TestKind::Frame,
    };
    if test.kind != wanted {
        return Task::absent(
            format!(
                "the suite measures it as `{}`, and the subject lists it as {:?}",
                kind.name(),
                test.kind
            ),
            "make the suite's `kind` and the subject's agree",
        );
    }
    let takes_delay = test.arg.as_deref() == Some("ns");
    match kind {
        RowKind::DelayCurve(_) if !takes_delay => Task::absent(
            "a delay curve needs a test with `arg=ns`",
            "let the subject list it so",
        ),
        RowKind::DelayCurve(sweep) => Task::DelayCurve {
            points: super::delays::points(sweep, quick),
            seconds: if quick {
                sweep.quick_seconds
            } else {
                sweep.seconds
            },
        },
        _ if test.arg.is_some() && row.arg.is_none() => Task::absent(
            format!(
                "the test takes an argument in {}",
                test.arg.as_deref().unwrap_or_default()
            ),
            "give the row an `arg` in the suite",
        ),
        RowKind::Latency { count, interval_ns } => Task::Latency {
            count: *count,
            interval_ns: *interval_ns,
        },
        RowKind::Series {
            count,
            memory_limit_mib,
        } => Task::Series {
            count: *count,
            memory_limit_mib: *memory_limit_mib,
        },
        _ => Task::Frame,
    }
}
