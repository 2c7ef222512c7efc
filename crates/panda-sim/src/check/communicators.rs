//! Checks of collective operations. A process that ends one well has the right values of processes
//! that had all begun it. It fails only if a process is lost, and it ends in time.

use super::ports::has_lost;
use crate::History;
use crate::communicator::{Calls, Communicator, Done, Task, Turn, given, own};
use crate::world::COLLECT_LIMIT;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::requests::Failure;

pub(super) fn communicators(history: &History, end: Time) -> Result<(), String> {
    for (which, communicator) in history.communicators.iter().enumerate() {
        let may_fail = may_fail(history, communicator);
        let may_hang = was_succeeded(history, communicator);
        for (place, turns) in communicator.turns.iter().enumerate() {
            for (number, turn) in turns.iter().enumerate() {
                let fault = match &turn.ended {
                    Some((at, Done::Well(values))) => {
                        well(communicator, number, place, *at, values)
                    }
                    Some((_, Done::Failed(failure))) => failed(communicator, failure, may_fail),
                    None if history.lives[communicator.lives[place]].is_over || may_hang => Ok(()),
                    None => Err("did not end".into()),
                };
                let in_time = || in_time(communicator, number, turn, end);
                fault
                    .and_then(|()| if may_hang { Ok(()) } else { in_time() })
                    .map_err(|fault| {
                        let calls = communicator.tasks[number].calls;
                        let (rank, ranks) = (communicator.ranks[place], &communicator.ranks);
                        format!("rank {rank}'s {calls:?}, number {number} of communicator {which} of {ranks:?}, {fault}")
                    })?;
            }
        }
    }
    Ok(())
}

/// Returns whether a member of a communicator crashed or lost another.
fn may_fail(history: &History, communicator: &Communicator) -> bool {
    let lives = || communicator.lives.iter().map(|life| &history.lives[*life]);
    lives().any(|life| life.is_over) || lives().any(|a| lives().any(|b| has_lost(a, b, Time::ZERO)))
}

/// Returns whether a rank of a communicator lives again. A member that is not told of its crash
/// waits for the later life, which knows nothing.
fn was_succeeded(history: &History, communicator: &Communicator) -> bool {
    let is_later = |life: usize| {
        let rank = history.lives[life].rank;
        history.lives[life + 1..].iter().any(|it| it.rank == rank)
    };
    communicator.lives.iter().any(|life| is_later(*life))
}

fn well(
    communicator: &Communicator,
    number: usize,
    place: usize,
    at: Time,
    values: &[Option<u64>],
) -> Result<(), String> {
    let task = communicator.tasks[number];
    let expected = expected(task, number, place, communicator.ranks.len());
    if !values
        .iter()
        .copied()
        .eq(expected.iter().copied().map(Some))
    {
        return Err(format!("came to {values:?}, not to {expected:?}"));
    }
    let needs = |other: usize| match task.calls {
        Calls::Barrier | Calls::AllReduce | Calls::AllReduceNumbers => true,
        Calls::Broadcast | Calls::Scatter => other == task.root,
        Calls::Gather | Calls::Reduce | Calls::ReduceNumbers => place == task.root,
    };
    let has_begun = |other: usize| {
        communicator.turns[other]
            .get(number)
            .is_some_and(|it| it.at <= at)
    };
    match (0..communicator.ranks.len()).find(|other| needs(*other) && !has_begun(*other)) {
        Some(other) => Err(format!(
            "ended before rank {} began it",
            communicator.ranks[other]
        )),
        None => Ok(()),
    }
}

fn expected(task: Task, number: usize, place: usize, count: usize) -> Vec<u64> {
    let is_root = place == task.root;
    let all = || (0..count).map(|place| own(number, place));
    match task.calls {
        Calls::Broadcast => vec![own(number, task.root)],
        Calls::Scatter => vec![given(number, place)],
        Calls::Gather if is_root => all().collect(),
        Calls::AllReduce | Calls::AllReduceNumbers => vec![all().sum()],
        Calls::Reduce | Calls::ReduceNumbers if is_root => vec![all().sum()],
        Calls::Barrier | Calls::Gather | Calls::Reduce | Calls::ReduceNumbers => Vec::new(),
    }
}

fn failed(communicator: &Communicator, failure: &Failure, may_fail: bool) -> Result<(), String> {
    match failure {
        Failure::Lost { rank, .. } if may_fail && communicator.ranks.contains(rank) => Ok(()),
        failure => Err(format!("failed with {failure:?} without a reason")),
    }
}

/// Checks that an operation ends in a bounded time once all have begun it. A process that crashed
/// before is noticed in the end.
fn in_time(
    communicator: &Communicator,
    number: usize,
    turn: &Turn,
    end: Time,
) -> Result<(), String> {
    let begun = communicator
        .turns
        .iter()
        .map(|turns| turns.get(number).map(|it| it.at));
    let latest: Option<Vec<Time>> = begun.collect();
    let ended = turn.ended.as_ref().map_or(end, |(at, _)| *at);
    let is_late = latest.is_some_and(|begun| {
        begun
            .into_iter()
            .max()
            .is_some_and(|begun| ended > begun + COLLECT_LIMIT)
    });
    match is_late && turn.ended.is_some() {
        true => Err(format!("ended only at {ended:?}")),
        false => Ok(()),
    }
}
