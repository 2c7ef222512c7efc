//! How many iterations make a slice that is as long as it should be.

use super::member::Member;
use super::turn::slice;
use crate::run::engine::Engine;
use crate::session::SessionError;
use antiphon_measure::Role;
use std::time::Instant;

/// Where a subject's slices are long since its file says so, a slice takes at most this multiple of its processor time on the wall, or what those of others may.
const LONG_WALL: f64 = 1.5;

/// A slice is sought by at most so many trials, each at most so many times as long as the one before; one that need not be longer by more than this is
/// known well enough.
const TRIALS: u32 = 12;
const STRIDE: f64 = 16.0;
const WELL_KNOWN: f64 = 1.5;

/// How many iterations make a slice, by slices that are not counted: the first of a test prepares it.
///
/// Each is tried before it is believed. On a busy machine an operation was timed at a hundred times what it uses of a processor, and a request that
/// is answered within a few operations costs more than they do: subjects that were given slices of 0.3 ms, where others had 5 ms, seemed
/// dearer by half.
pub(super) fn fit(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    test_ns: f64,
    length: (f64, f64),
) -> Result<u64, SessionError> {
    slice(engine, member, start, Role::Control, 1)?;
    slice(engine, member, start, Role::Test, 1)?;
    let mut iterations = ((length.0 / test_ns) as u64).clamp(1, member.most);
    for _ in 0..TRIALS {
        let (mut cpu_ns, mut wall_ns) = try_out(engine, member, start, iterations)?;
        if longer(iterations, cpu_ns, wall_ns, length).1 {
            // A collector or a compiler may have had it.
            let again = try_out(engine, member, start, iterations)?;
            (cpu_ns, wall_ns) = (cpu_ns.min(again.0), wall_ns.min(again.1));
        }
        let (next, is_last) = longer(iterations, cpu_ns, wall_ns, length);
        iterations = next.clamp(1, member.most);
        if is_last || iterations == member.most {
            break;
        }
    }
    Ok(iterations)
}

/// From iterations that make an ordinary slice to those of a long one, by an ordinary slice and then by one that is about as long: in a short one an operation
/// seems dearer, by what a request costs beside and by what is not warm yet.
pub(super) fn stretch(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    iterations: u64,
    slice_ms: u64,
    ordinary: (f64, f64),
) -> Result<u64, SessionError> {
    let mut stretched = iterations;
    for _ in 0..2 {
        let (cpu_ns, wall_ns) = try_out(engine, member, start, stretched)?;
        let times = times_as_long(cpu_ns, wall_ns, slice_ms, ordinary);
        stretched = ((stretched as f64 * times) as u64).clamp(1, member.most);
    }
    Ok(stretched)
}

/// How many times as long an ordinary slice that took so long is to be made. What mostly waits is not drawn out on the wall for it.
fn times_as_long(cpu_ns: f64, wall_ns: f64, slice_ms: u64, ordinary: (f64, f64)) -> f64 {
    let long_ns = slice_ms as f64 * 1e6;
    let most_ns = ordinary.1.max(LONG_WALL * long_ns);
    (long_ns / cpu_ns).min(most_ns / wall_ns).max(1.0)
}

/// From a slice of so many iterations that took so long to the iterations that take as long as `length` says, and whether they are
/// known well enough by it.
fn longer(iterations: u64, cpu_ns: f64, wall_ns: f64, length: (f64, f64)) -> (u64, bool) {
    let times = (length.0 / cpu_ns).min(length.1 / wall_ns);
    let next = iterations as f64 * times.min(STRIDE);
    (next as u64, times < WELL_KNOWN)
}

/// Processor time of a slice of the test, and its time, ns.
fn try_out(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    iterations: u64,
) -> Result<(f64, f64), SessionError> {
    let mut trees = member.roots.trees();
    let (before, begun) = (trees.read(&mut engine.servers), Instant::now());
    slice(engine, member, start, Role::Test, iterations)?;
    let wall_ns = (begun.elapsed().as_nanos() as f64).max(1.0);
    let used = trees.read(&mut engine.servers).less(before);
    let cpu_ns = (used.subject.all_ns + used.server.all_ns).max(1.0);
    Ok((cpu_ns, wall_ns))
}

#[cfg(test)]
mod tests {
    use super::super::{FULL, QUICK};
    use super::*;

    /// The iterations of a slice whose operations use `each_ns` of a processor and whose request uses `request_ns` beside.
    fn fitted(each_ns: f64, request_ns: f64, first: u64) -> u64 {
        let mut iterations = first;
        for _ in 0..TRIALS {
            let cpu_ns = request_ns + each_ns * iterations as f64;
            let (next, is_last) = longer(iterations, cpu_ns, cpu_ns, FULL);
            iterations = next.max(1);
            if is_last {
                break;
            }
        }
        iterations
    }

    #[test]
    fn a_slice_is_as_long_as_it_should_be_however_it_was_timed() {
        for (each_ns, request_ns, first) in [
            (20_000.0, 0.0, 250),
            (20_000.0, 1_000_000.0, 1),
            (20_000.0, 4_000.0, 100_000),
            (100.0, 300_000.0, 1),
        ] {
            let slice_ns = each_ns * fitted(each_ns, request_ns, first) as f64;
            assert!(
                (0.5 * FULL.0..=1.1 * FULL.0).contains(&slice_ns),
                "{each_ns} ns an operation, {request_ns} ns a request: {slice_ns} ns"
            );
        }
        assert_eq!(fitted(1e9, 0.0, 1), 1);
    }

    #[test]
    fn a_long_slice_uses_as_much_as_its_subject_says_and_is_no_longer_on_the_wall_than_that_takes()
    {
        let times = |cpu_ns, wall_ns| times_as_long(cpu_ns, wall_ns, 64, QUICK);
        assert_eq!(times(4e6, 4e6), 16.0);
        // Of 30 ms of a commit one tenth is the processor's.
        assert_eq!(times(3e6, 30e6), 3.2);
        assert_eq!(times(1e9, 1e9), 1.0);
    }
}
