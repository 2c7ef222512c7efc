//! More starts, in the remaining time, of subjects whose costs differ between starts of their
//! process.
//!
//! A start fixes the code that a virtual machine compiles and the moments of its collector. More
//! rounds of one start therefore agree with each other, and still differ from another run. A
//! subject gets another start if the existing ones leave open whether another run would agree. Its
//! bases get one too, in the tests concerned. These starts serve costs alone, because times were
//! measured before.

use super::{is_same_test, take_turns, tell_how_slow};
use crate::agreement::WANTED;
use crate::record::{CostRound, Costs, Starts};
use crate::run::engine::{Engine, Failure};
use crate::run::{RunError, Task};
use std::time::{Duration, Instant};

/// Starts of a process, at most.
const STARTS_MOST: usize = 16;

/// Weight of all tests of a subject in the deviation of one test, as a number of starts. Two starts
/// may be alike by chance.
const WORTH_OF_ALL: f64 = 3.0;

/// Part of the run's previous duration that more starts may take, if the run's time is not limited.
const PART_OF_RUN: f64 = 0.5;

/// A subject in a test, and its base: the first subject with the same database that it is compared
/// with.
struct Pair {
    position: usize,
    base: usize,
    subject: String,
    starts: Starts,
}

/// Starts processes again until runs like this one should agree, or the time is over.
pub(in crate::run) fn go_on(engine: &mut Engine<'_, '_>) -> Result<(), RunError> {
    let until = match engine.budget.remaining() {
        Some(seconds) => Instant::now() + Duration::from_secs_f64(seconds),
        None => Instant::now() + engine.begun_at.elapsed().mul_f64(PART_OF_RUN),
    };
    let goes_on = |engine: &Engine<'_, '_>| !engine.interrupted() && Instant::now() < until;
    while goes_on(engine) {
        let wanted = wanted(&pairs(engine));
        if wanted.is_empty() {
            break;
        }
        let start = next_start(engine);
        for test in by_test(engine, &wanted) {
            if !goes_on(engine) {
                break;
            }
            let mut ready = Vec::new();
            for position in test {
                if make_ready(engine, position, start)? {
                    ready.push(position);
                }
            }
            if ready.len() > 1 && !engine.interrupted() {
                take_turns(engine, &ready, start)?;
            }
        }
        tell_how_slow(engine)?;
        engine.processes.end(start);
        if next_start(engine) == start {
            break; // Nothing came of it, and nothing would of another one.
        }
    }
    Ok(())
}

/// Checks whether a test's suite permits more starts of it. Their need is known only after the
/// measurement ([`pairs`]).
pub(super) fn may_differ_by_starts(engine: &Engine<'_, '_>, position: usize) -> bool {
    let identity = &engine.items[position].identity;
    identity.placement != "free" && !engine.waits_for_disk.contains(&identity.test)
}

/// Returns the number of the next start.
fn next_start(engine: &Engine<'_, '_>) -> u32 {
    let results = (0..engine.items.len()).filter_map(|position| engine.result(position));
    let held = results
        .flat_map(|result| &result.costs)
        .flat_map(|costs| &costs.held);
    let next = held.map(|held| held.start + 1).max();
    next.unwrap_or_default().max(engine.starts())
}

/// Returns every subject that is compared with another one in turns.
fn pairs(engine: &Engine<'_, '_>) -> Vec<Pair> {
    let both = |round: &CostRound| Some(round.both_ns());
    let costs = |position: usize| engine.result(position)?.costs.as_ref();
    let pair = |position: usize| {
        let own = costs(position)?;
        let item = &engine.items[position];
        let is_base = |other: &usize| {
            let with = &engine.items[*other];
            is_same_test(item, with)
                && engine
                    .compare
                    .allows(&item.identity.subject, &with.identity.subject)
                && costs(*other).is_some_and(|base| database(base) == database(own))
        };
        let base = (0..engine.items.len()).find(is_base)?;
        // Operations that wait, or that the system places, vary with other work on the machine and
        // not with starts.
        let is_steady = !own.waits() && item.identity.placement != "free";
        let starts = own.starts(costs(base)?, both)?;
        (base != position && is_steady).then(|| Pair {
            position,
            base,
            subject: item.identity.subject.clone(),
            starts,
        })
    };
    let frames = (0..engine.items.len()).filter(|of| engine.items[*of].task == Task::Frame);
    frames.filter_map(pair).collect()
}

fn database(costs: &Costs) -> Option<&str> {
    let held = costs.held.first()?;
    Some(held.server.as_ref()?.name.as_str())
}

/// Returns the pairs for which agreement with another run is open, as positions of subject and
/// base.
fn wanted(pairs: &[Pair]) -> Vec<(usize, usize)> {
    let is_wanted = |pair: &&Pair| {
        let starts = pair.starts.medians.len();
        let of_subject = pairs.iter().filter(|other| other.subject == pair.subject);
        let all = typical(of_subject.filter_map(|other| other.starts.deviation()));
        let apart = |all| pair.starts.apart(together(&pair.starts, all));
        starts < STARTS_MOST && all.map(apart).is_none_or(|apart| apart > WANTED)
    };
    let wanted = pairs.iter().filter(is_wanted);
    wanted.map(|pair| (pair.position, pair.base)).collect()
}

/// Returns the root mean square of deviations; `None` of none.
fn typical(deviations: impl Iterator<Item = f64>) -> Option<f64> {
    let squares: Vec<f64> = deviations.map(|of| of * of).collect();
    let sum: f64 = squares.iter().sum();
    (!squares.is_empty()).then(|| (sum / squares.len() as f64).sqrt())
}

/// Returns the deviation of a test's starts, from their own and from that of all tests of its
/// subject.
fn together(starts: &Starts, all: f64) -> f64 {
    let freedom = starts.medians.len() as f64 - 1.0;
    let own = starts.deviation().unwrap_or_default();
    let squares = freedom * own * own + WORTH_OF_ALL * all * all;
    (squares / (freedom + WORTH_OF_ALL)).sqrt()
}

/// Returns the positions that take turns in each test, in the order of the plan.
fn by_test(engine: &Engine<'_, '_>, wanted: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut positions: Vec<usize> = wanted.iter().flat_map(|(of, base)| [*of, *base]).collect();
    positions.sort_unstable();
    positions.dedup();
    let mut tests: Vec<Vec<usize>> = Vec::new();
    for position in positions {
        let item = &engine.items[position];
        let own = |test: &&mut Vec<usize>| is_same_test(item, &engine.items[test[0]]);
        match tests.iter_mut().find(own) {
            Some(test) => test.push(position),
            None => tests.push(vec![position]),
        }
    }
    tests
}

/// Starts and warms the process of an item for its test, if necessary. Returns whether it can take
/// turns.
fn make_ready(engine: &mut Engine<'_, '_>, position: usize, start: u32) -> Result<bool, RunError> {
    if engine.interrupted() {
        return Ok(false);
    }
    let item = engine.items[position].clone();
    engine.tell_started_again(&item);
    let identity = item.identity;
    engine.processes.place_server(&identity);
    if engine.processes.live(&identity, start).is_err() {
        return Ok(false);
    }
    match crate::run::warm::up(engine, position, start) {
        Ok(warm_up) => {
            if let Some(warm_up) = warm_up {
                engine.add_warm_up(position, warm_up)?;
            }
            Ok(true)
        }
        Err(Failure::Fatal(error)) => Err(*error),
        // It has the costs of its other starts.
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(position: usize, subject: &str, medians: &[f64]) -> Pair {
        Pair {
            position,
            base: 0,
            subject: subject.to_owned(),
            starts: Starts {
                medians: medians.to_vec(),
            },
        }
    }

    fn positions(pairs: &[Pair]) -> Vec<usize> {
        wanted(pairs).into_iter().map(|(of, _)| of).collect()
    }

    #[test]
    fn one_start_leaves_open_whether_another_agrees() {
        assert_eq!(positions(&[pair(1, "a", &[2.0])]), [1]);
        assert_eq!(positions(&[]), [0; 0]);
    }

    #[test]
    fn whoever_differs_from_start_to_start_is_started_again() {
        let pairs = [
            pair(1, "steady", &[2.0, 2.01]),
            pair(2, "moody", &[2.0, 2.4]),
            // Its two starts were alike by chance, as its other test shows.
            pair(3, "moody", &[3.0, 3.0]),
        ];
        assert_eq!(positions(&pairs), [2, 3]);
    }

    #[test]
    fn enough_starts_make_up_for_it() {
        let of = |starts: usize, apart: f64| {
            let medians: Vec<f64> = (0..starts)
                .map(|start| 1.0 + apart * (start % 2) as f64)
                .collect();
            positions(&[pair(1, "a", &medians)]).len()
        };
        assert_eq!((of(4, 0.06), of(12, 0.06)), (1, 0));
        assert_eq!(of(STARTS_MOST, 1.0), 0, "it has an end");
    }
}
