//! Instructions beside every time, by the processor's counters, where the kernel gives them.

use super::Event;
use super::engine::Engine;
use crate::instructions::{CountRequest, NoCount, ProcessorCounters};
use antiphon_measure::{CountedBy, Estimate, InstructionCount};
use std::time::Duration;

/// Approximate duration of one count's requests, in multiples of N iterations of a frame.
const ITERATIONS_OF_A_COUNT: f64 = 20.0;
/// A count may take this part of a row's time.
const PART: f64 = 0.25;

/// Counts the instructions of a frame in the process that has just measured it.
///
/// If counting fails, the cost stands without it. The reason is reported once, and there is no
/// second attempt.
pub(super) fn add(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    estimate: &mut Estimate,
    limit: Duration,
) {
    if !engine.counts_by_processor || engine.interrupted() {
        return;
    }
    // Other processes may do the measured work, and the counters see one.
    let subject = &engine.items[position].identity.subject;
    if engine.processes.counts_switches(subject) {
        return;
    }
    match count(engine, position, start, estimate, limit) {
        Ok(counted) => estimate.resources.instructions = counted,
        Err(error) => {
            engine.counts_by_processor = false;
            engine.tell(Event::Warning(&error.to_string()));
        }
    }
}

fn count(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    estimate: &Estimate,
    limit: Duration,
) -> Result<Option<InstructionCount>, NoCount> {
    let item = engine.items[position].clone();
    let frame_ns = estimate.frames.test_ns.max(estimate.frames.control_ns);
    let most = engine.test(&item).and_then(|test| test.most);
    let by = CountedBy::Processor;
    let Some(iterations) = InstructionCount::iterations(by, frame_ns, most) else {
        return Ok(None);
    };
    let seconds = ITERATIONS_OF_A_COUNT * iterations as f64 * frame_ns / 1e9;
    if seconds > PART * engine.sizes.seconds_per_row {
        return Ok(None);
    }
    let request = CountRequest {
        test: &item.identity.test,
        arg: item.identity.arg,
        iterations,
        limit,
    };
    // It was alive a moment ago; if it is not available now, the next item will say so.
    let Ok(live) = engine.processes.live(&item.identity, start) else {
        return Ok(None);
    };
    let mut counters = ProcessorCounters::open(live.session.process())?;
    match counters.count(&mut live.session, &request) {
        Ok(counted) => Ok(Some(counted)),
        Err(NoCount::Session(error)) => {
            // A subject that fails here keeps its figure from batches. Its process is started anew
            // for the next item.
            engine.processes.failed(&item.identity, start, &error);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
