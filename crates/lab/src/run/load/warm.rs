//! Warming up: a server is under load until its cost a request no longer falls, by a rule that is the same for all.
//!
//! The load comes in slices, each of which lasts until the server has used so much of its processor: so a busy machine does not pass for
//! a warm server. A server is warm when the mean cost of the last three slices is at most 3 % below that of the three before. Slices are
//! kept, so that the curve can be shown; none of their time is in any figure.

use super::processors::Places;
use super::server::Server;
use crate::record::{LoadTask, WarmSlice, WarmUp};
use crate::run::tree::Tree;
use antiphon_load::{Error, Expected, Load, Target, run};
use std::time::{Duration, Instant};

/// Connections of the load.
const CONNECTIONS: usize = 16;

/// Slices whose means are compared.
const SLICES: usize = 3;

/// A server whose cost falls by no more is warm.
const FALL: f64 = 0.03;

/// The shortest load of which slices are made.
const LOAD: Duration = Duration::from_millis(40);

/// The server's processor time in a slice, ns, and how long warming takes at most, in a quick and a full run.
const QUICK: (u64, Duration) = (40_000_000, Duration::from_secs(2));
const FULL: (u64, Duration) = (150_000_000, Duration::from_secs(20));

/// Makes a server warm.
pub(super) fn up(
    server: &Server,
    target: &Target,
    task: &LoadTask,
    places: &Places,
    quick: bool,
    round: u32,
) -> Result<WarmUp, Error> {
    let (slice_ns, most) = if quick { QUICK } else { FULL };
    let expected = Expected {
        status: 200,
        body: task.body.clone().into_bytes(),
    };
    let load = Load {
        connections: CONNECTIONS,
        duration: LOAD,
        processor: places.generator,
        ..Load::new(target.clone(), expected)
    };
    let begun = Instant::now();
    let mut slices: Vec<WarmSlice> = Vec::new();
    while begun.elapsed() < most && !is_warm(&slices) {
        let tree = Tree::of(server.process());
        let before_ns = tree.cpu_ns();
        let (mut used_ns, mut per_second): (u64, f64);
        let mut answered = 0;
        loop {
            let measured = run(&load)?;
            used_ns = tree.cpu_ns().saturating_sub(before_ns);
            answered += measured.answered;
            per_second = measured.per_second();
            if used_ns >= slice_ns || begun.elapsed() >= most {
                break;
            }
        }
        slices.push(WarmSlice {
            at_ns: begun.elapsed().as_nanos() as u64,
            cpu_ns: used_ns as f64 / (answered as f64).max(1.0),
            per_second,
        });
    }
    Ok(WarmUp {
        round,
        is_warm: is_warm(&slices),
        slices,
    })
}

/// The rule: the mean cost of the last slices is hardly below that of those before.
pub(in crate::run) fn is_warm(slices: &[WarmSlice]) -> bool {
    let Some(first) = slices.len().checked_sub(2 * SLICES) else {
        return false;
    };
    let mean =
        |part: &[WarmSlice]| part.iter().map(|slice| slice.cpu_ns).sum::<f64>() / part.len() as f64;
    let (before, last) = slices[first..].split_at(SLICES);
    mean(last) >= (1.0 - FALL) * mean(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(costs: &[f64]) -> Vec<WarmSlice> {
        let slice = |cost: &f64| WarmSlice {
            at_ns: 0,
            cpu_ns: *cost,
            per_second: 0.0,
        };
        costs.iter().map(slice).collect()
    }

    #[test]
    fn a_cost_that_falls_is_waited_for() {
        assert!(!is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 9.0])));
        assert!(is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 9.0, 9.0])));
        assert!(!is_warm(&slices(&[90.0, 70.0, 50.0, 40.0, 30.0, 20.0])));
        assert!(is_warm(&slices(&[
            90.0, 70.0, 50.0, 20.0, 20.0, 20.0, 20.0, 20.0, 20.0
        ])));
        // Others may slow a slice: a cost that rises is no reason to wait.
        assert!(is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 30.0, 9.0])));
    }
}
