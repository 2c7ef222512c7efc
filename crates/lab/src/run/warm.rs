//! Warming up: a subject whose language compiles while it runs does operations until their cost no longer falls, by the rule that servers
//! are warmed by.
//!
//! Operations come in slices, each of which lasts until the subject's processes, its compiler's threads among them, have used so much
//! processor time. Slices are kept, so that the curve can be shown; none of their time is in any figure.

use super::engine::{Engine, Failure};
use super::load::warm::is_warm;
use super::tree::Tree;
use crate::record::{WarmSlice, WarmUp};
use crate::session::SessionError;
use antiphon_measure::Role;
use std::time::{Duration, Instant};

/// Processor time of a slice, ns, and how long warming for a test takes at most, in a quick and a full run.
const QUICK: (u64, Duration) = (4_000_000, Duration::from_millis(300));
const FULL: (u64, Duration) = (20_000_000, Duration::from_secs(5));

/// Makes the process of an item warm for its test, where its subject needs that.
pub(super) fn up(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
) -> Result<Option<WarmUp>, Failure> {
    let identity = engine.items[position].identity.clone();
    let build = (identity.subject.clone(), identity.policy.clone());
    let warms = engine
        .seats
        .builds
        .get(&build)
        .is_some_and(|built| built.warms);
    if !warms || engine.interrupted() {
        return Ok(None);
    }
    let most_iterations = engine
        .test(&engine.items[position])
        .and_then(|test| test.most);
    let sizes = if engine.quick { QUICK } else { FULL };
    let limit = engine.seats.hang_limit + sizes.1;
    let live = engine
        .seats
        .live(&identity, start)
        .map_err(Failure::Absent)?;
    let (process, session) = (live.session.process(), &mut live.session);
    let slice = |iterations| {
        let slice = session.slice(
            &identity.test,
            Role::Test,
            iterations,
            0,
            identity.arg,
            limit,
        );
        slice.map(|_| ())
    };
    let most_iterations = most_iterations.unwrap_or(u64::MAX);
    let warmed = slices(process, sizes, most_iterations, slice);
    let slices = engine.took(position, start, warmed)?;
    Ok(Some(WarmUp {
        round: start,
        is_warm: is_warm(&slices),
        slices,
    }))
}

/// Slices until the rule holds or the time is over. `run` does so many operations.
fn slices(
    process: u32,
    (slice_ns, most): (u64, Duration),
    most_iterations: u64,
    mut run: impl FnMut(u64) -> Result<(), SessionError>,
) -> Result<Vec<WarmSlice>, SessionError> {
    // The first operation prepares the test.
    run(1)?;
    let begun = Instant::now();
    let mut slices: Vec<WarmSlice> = Vec::new();
    let mut iterations = 1;
    while begun.elapsed() < most && !is_warm(&slices) {
        let tree = Tree::of(process);
        let (before_ns, slice_begun) = (tree.cpu_ns(), Instant::now());
        let (mut done, mut used_ns) = (0, 0);
        while used_ns < slice_ns && begun.elapsed() < most {
            let request_begun = Instant::now();
            run(iterations)?;
            done += iterations;
            used_ns = tree.cpu_ns().saturating_sub(before_ns);
            // A request should be most of a slice, or what it costs beside its operations would be.
            if (request_begun.elapsed().as_nanos() as u64) < slice_ns / 2 {
                iterations = (iterations * 2).min(most_iterations);
            }
        }
        slices.push(WarmSlice {
            at_ns: begun.elapsed().as_nanos() as u64,
            cpu_ns: used_ns as f64 / (done as f64).max(1.0),
            per_second: done as f64 / slice_begun.elapsed().as_secs_f64(),
        });
    }
    Ok(slices)
}
