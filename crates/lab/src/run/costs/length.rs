//! Search for the number of iterations that gives a slice its due length.

use super::member::Member;
use super::turn::slice;
use crate::run::engine::Engine;
use crate::session::SessionError;
use antiphon_measure::Role;
use std::time::Instant;

/// Limit of a long slice's elapsed time, as a multiple of its processor time (`slice_ms`). The
/// limit of ordinary slices applies if it is larger.
const LONG_WALL: f64 = 1.5;

/// Limits of the search for a slice: the number of trials, and the growth from one trial to the
/// next. A slice whose length is right within the last factor is known well enough.
const TRIALS: u32 = 12;
const STRIDE: f64 = 16.0;
const WELL_KNOWN: f64 = 1.5;

/// Finds the number of iterations for a slice, by uncounted slices; the first of a test prepares
/// it.
///
/// Each number is tried before it is believed. On a busy machine an operation's time was a hundred
/// times its processor time. A request for few operations costs more than they do. Slices of 0.3 ms
/// made subjects seem 50 % more expensive than slices of 5 ms.
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

/// Extends an ordinary slice to a long one, by one trial of each length.
///
/// In a short slice an operation seems more expensive, because of the request's cost and cold
/// state.
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

/// Returns the factor that extends an ordinary slice with these times. An operation that mostly
/// waits is limited by its elapsed time.
fn times_as_long(cpu_ns: f64, wall_ns: f64, slice_ms: u64, ordinary: (f64, f64)) -> f64 {
    let long_ns = slice_ms as f64 * 1e6;
    let most_ns = ordinary.1.max(LONG_WALL * long_ns);
    (long_ns / cpu_ns).min(most_ns / wall_ns).max(1.0)
}

/// Returns the iterations for the length due, from a trial slice, and whether they are known well
/// enough.
fn longer(iterations: u64, cpu_ns: f64, wall_ns: f64, length: (f64, f64)) -> (u64, bool) {
    let times = (length.0 / cpu_ns).min(length.1 / wall_ns);
    let next = iterations as f64 * times.min(STRIDE);
    (next as u64, times < WELL_KNOWN)
}

/// Returns the processor time of a slice of the test, and its elapsed time, ns.
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

    /// Returns the fitted iterations, for an operation of `each_ns` processor time and a request of
    /// `request_ns`.
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
