//! Warm-up of subjects that compile at run time: operations until their cost no longer falls, by
//! the rule for servers.
//!
//! Operations come in slices, each of which lasts until the subject's processes have used a fixed
//! processor time, compiler threads included. Slices are kept to show the curve; none of their time
//! is in any figure. The first test of a process is warmed for longer, because most compiled code
//! serves all tests.

use super::compilers::Compilers;
use super::conditions::Raised;
use super::engine::{Engine, Failure};
use super::load::warm::is_warm;
use super::tree::Tree;
use crate::record::{WarmSlice, WarmUp};
use crate::session::SessionError;
use antiphon_measure::Role;
use std::time::{Duration, Instant};

/// Length of a subject's warm-up.
#[derive(Clone, Copy)]
struct Length {
    /// Processor time of a slice, ns.
    slice_ns: u64,
    /// Least processor time, ns, for the first test of a process and for the others. The cost is
    /// constant for a while before a compiler begins.
    least_ns: (u64, u64),
    /// Time on the wall, at most, for the same.
    most: (Duration, Duration),
}

const QUICK: Length = Length {
    slice_ns: 4_000_000,
    least_ns: (600_000_000, 100_000_000),
    most: (Duration::from_millis(2000), Duration::from_millis(600)),
};

const FULL: Length = Length {
    slice_ns: 20_000_000,
    least_ns: (3_000_000_000, 500_000_000),
    most: (Duration::from_secs(10), Duration::from_secs(5)),
};

/// Most iterations of a request. Without a limit, a request of an operation that takes no time
/// would never be long enough.
const MOST: u64 = 1 << 40;

/// Warm-up time of a quick run: multiples of an item's share of the remaining time, and minima, s.
/// The first of each pair is for the first test of a process. Otherwise one of many such subjects
/// would spend half of its time on warm-up.
const DUE: (f64, f64) = (8.0, 2.0);
const LEAST_DUE: (f64, f64) = (0.4, 0.1);

/// Makes the process of an item warm for its test, where its subject needs that.
pub(super) fn up(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
) -> Result<Option<WarmUp>, Failure> {
    let identity = engine.items[position].identity.clone();
    if !engine.processes.warms(&identity) || engine.interrupted() {
        return Ok(None);
    }
    let most_iterations = engine
        .test(&engine.items[position])
        .and_then(|test| test.most);
    let length = if engine.quick { QUICK } else { FULL };
    let limit = engine.processes.hang_limit + length.most.0;
    let server = engine.processes.server(&identity).map(|(_, server)| server);
    let due = match engine.quick {
        true => engine.budget.allowance(engine.sizes.seconds_per_row),
        false => None,
    };
    let live = engine
        .processes
        .live(&identity, start)
        .map_err(Failure::Absent)?;
    let (process, session) = (live.session.process(), &mut live.session);
    let is_first = engine.warmed.insert(process);
    // Others would take from it the processor that its compiler needs.
    let raised = Raised::of(std::iter::once(process).chain(server).collect());
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
    let warmed = slices(process, length.of(is_first, due), most_iterations, slice);
    drop(raised);
    let slices = engine.took(position, start, warmed)?;
    Ok(Some(WarmUp {
        round: start,
        is_warm: is_warm(&slices),
        slices,
    }))
}

/// Length of a subject's warm-up for one test.
#[derive(Clone, Copy)]
struct OfTest {
    slice_ns: u64,
    least_ns: u64,
    most: Duration,
}

impl Length {
    /// Returns the length for the first test of a process, or another one. `due` is an item's share
    /// of the run's time, s, `None` without a limit.
    fn of(self, is_first: bool, due: Option<f64>) -> OfTest {
        let (least_ns, most, times, least_due) = match is_first {
            true => (self.least_ns.0, self.most.0, DUE.0, LEAST_DUE.0),
            false => (self.least_ns.1, self.most.1, DUE.1, LEAST_DUE.1),
        };
        let due = due.map(|due| Duration::from_secs_f64((times * due).max(least_due)));
        OfTest {
            slice_ns: self.slice_ns,
            least_ns,
            most: due.map_or(most, |due| due.min(most)),
        }
    }
}

/// Returns twice as many iterations, as far as the test permits that.
fn doubled(iterations: u64, most: u64) -> u64 {
    iterations.saturating_mul(2).min(most).min(MOST)
}

/// Runs slices until the rule holds or the time is over. `run` does a given number of operations.
fn slices(
    process: u32,
    length: OfTest,
    most_iterations: u64,
    mut run: impl FnMut(u64) -> Result<(), SessionError>,
) -> Result<Vec<WarmSlice>, SessionError> {
    // The first operation prepares the test.
    run(1)?;
    let begun = Instant::now();
    let mut slices: Vec<WarmSlice> = Vec::new();
    let (mut iterations, mut all_ns) = (1, 0);
    let mut compilers = Compilers::default();
    while begun.elapsed() < length.most && (all_ns < length.least_ns || !is_warm(&slices)) {
        let tree = Tree::of(process);
        let (before_ns, slice_begun) = (tree.cpu_ns(), Instant::now());
        let compiled_ns = compilers.used_ns(&tree);
        let (mut done, mut used_ns) = (0, 0);
        while used_ns < length.slice_ns && begun.elapsed() < length.most {
            let request_begun = Instant::now();
            run(iterations)?;
            done += iterations;
            used_ns = tree.cpu_ns().saturating_sub(before_ns);
            // A request must be most of a slice, or its overhead would be.
            if (request_begun.elapsed().as_nanos() as u64) < length.slice_ns / 2 {
                iterations = doubled(iterations, most_iterations);
            }
        }
        all_ns += used_ns;
        slices.push(WarmSlice {
            at_ns: begun.elapsed().as_nanos() as u64,
            cpu_ns: used_ns as f64 / (done as f64).max(1.0),
            per_second: done as f64 / slice_begun.elapsed().as_secs_f64(),
            compiling: compilers.part_since(compiled_ns, &tree, used_ns),
        });
    }
    Ok(slices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_an_operation_that_takes_nothing_have_an_end() {
        let many = (0..100).fold(1, |iterations, _| doubled(iterations, u64::MAX));
        assert_eq!(many, MOST);
        assert_eq!(doubled(1, 1), 1);
        assert_eq!(doubled(6, 10), 10);
    }

    #[test]
    fn who_has_little_time_warms_for_a_part_of_it() {
        let seconds = |is_first, due| QUICK.of(is_first, due).most.as_secs_f64();
        assert_eq!((seconds(true, None), seconds(false, None)), (2.0, 0.6));
        assert_eq!(
            (seconds(true, Some(9.0)), seconds(false, Some(9.0))),
            (2.0, 0.6)
        );
        assert_eq!(
            (seconds(true, Some(0.125)), seconds(false, Some(0.125))),
            (1.0, 0.25)
        );
        // A late run warms all the same.
        assert_eq!(
            (seconds(true, Some(0.0)), seconds(false, Some(0.0))),
            LEAST_DUE
        );
    }
}
