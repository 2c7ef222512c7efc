//! What an operation costs beside its time: processor time of the subject's processes and of its database's, by their own clocks.
//!
//! When a test was timed in all its subjects, these take turns once more, forth and back (A B B A). A turn is four slices, control, test,
//! test, control; the clocks are read between them, and no slice is timed. What a request costs beside its iterations is in control and
//! test alike and cancels. A ratio of two subjects is taken within rounds, so that a moment at which the machine is slow hits both.

mod clocks;
mod member;

use super::conditions::Raised;
use super::engine::Engine;
use super::tree::Parents;
use super::{Event, Item, RunError, Task};
use crate::record::{Costs, HeldAfter, Outcome, ServerHeld};
use crate::session::SessionError;
use antiphon_measure::Role;
use clocks::Roots;
use member::{Member, Turn};
use std::time::{Duration, Instant};

/// The part of a row's time that the rounds take, beside it.
pub(super) const PART: f64 = 0.4;

/// Rounds that are made however long they take, those that may take a multiple of their time, and those after which more would not change what
/// is read from them.
const ROUNDS_EVER: u32 = 6;
const ROUNDS_LEAST: u32 = 10;
const ROUNDS_MOST: u32 = 25;
const OVERDRAWN: f64 = 2.0;

/// Processor time of a slice of the test, and its time at most, ns, in a quick and a full run. A slice should be shorter than the time that
/// a busy machine gives to one program at a turn: then most slices are whole, and the median is of such.
const QUICK: (f64, f64) = (3e6, 40e6);
const FULL: (f64, f64) = (5e6, 200e6);

/// Lets the subjects of the test that ends at `position` of the plan take turns. Nothing is done within a test's items.
pub(super) fn after(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
) -> Result<(), RunError> {
    let own = &engine.items[position];
    let next = engine.items.get(position + 1);
    if own.task != Task::Frame || next.is_some_and(|next| is_same_test(own, next)) {
        return Ok(());
    }
    let due =
        |other: &usize| is_same_test(own, &engine.items[*other]) && is_due(engine, *other, start);
    let positions: Vec<usize> = (0..=position).filter(due).collect();
    if positions.is_empty() || engine.interrupted() {
        return Ok(());
    }
    take_turns(engine, &positions, start)
}

fn is_same_test(a: &Item, b: &Item) -> bool {
    let test = |item: &Item| {
        let identity = item.identity.clone();
        (
            identity.test,
            identity.arg,
            identity.policy,
            identity.placement,
        )
    };
    b.task == Task::Frame && test(a) == test(b)
}

/// Whether a frame has a figure of this start, and no costs yet.
fn is_due(engine: &Engine<'_, '_>, position: usize, start: u32) -> bool {
    engine.result(position).is_some_and(|result| {
        let costs = result.costs.iter().flat_map(|costs| &costs.held);
        result.starts.len() > start as usize && costs.into_iter().all(|held| held.start != start)
    })
}

fn take_turns(
    engine: &mut Engine<'_, '_>,
    positions: &[usize],
    start: u32,
) -> Result<(), RunError> {
    let begun = Instant::now();
    let share = engine.budget.share();
    let nominal = PART * engine.sizes.seconds_per_row;
    let mut members: Vec<Member> = positions
        .iter()
        .filter_map(|position| member(engine, *position, start))
        .collect();
    let seconds = nominal * share * members.len() as f64;
    let raised = Raised::of(
        members
            .iter()
            .flat_map(|member| member.roots.all())
            .collect(),
    );
    tell_if_refused(engine, &raised);
    let mut round = 0;
    while wants_round(round, begun.elapsed().as_secs_f64(), seconds) {
        let mut order: Vec<usize> = (0..members.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            if engine.interrupted() {
                break;
            }
            visit(engine, &mut members[index], start, round);
        }
        members.iter_mut().for_each(Member::lengthen);
        round += 1;
    }
    drop(raised);
    let took = begun.elapsed().as_secs_f64() / positions.len() as f64;
    for member in members {
        keep(engine, member, start)?;
    }
    for _ in positions {
        engine.budget.spent(nominal, share, took);
    }
    Ok(())
}

/// Whether another round is made after so many, which took so long where so much was meant, s.
fn wants_round(rounds: u32, took: f64, seconds: f64) -> bool {
    let most = match rounds {
        0..ROUNDS_EVER => return true,
        ROUNDS_EVER..ROUNDS_LEAST => OVERDRAWN * seconds,
        _ => seconds,
    };
    rounds < ROUNDS_MOST && took < most
}

/// Says once that others may disturb.
fn tell_if_refused(engine: &mut Engine<'_, '_>, raised: &Raised) {
    if !raised.is_permitted && !std::mem::replace(&mut engine.told_of_priority, true) {
        engine.tell(Event::Warning(
            "processor time is measured at the ordinary priority, since a higher one is not permitted: on a busy machine it is less exact \
             (run as root, or give this command CAP_SYS_NICE)",
        ));
    }
}

/// A subject that is ready for its turns; `None` if it failed.
fn member(engine: &mut Engine<'_, '_>, position: usize, start: u32) -> Option<Member> {
    let identity = engine.items[position].identity.clone();
    let mut member = Member {
        position,
        roots: Roots {
            subject: engine.seats.process(&identity, start)?,
            server: engine.seats.server(&identity),
        },
        iterations: 1,
        most: u64::MAX,
        lengthened: false,
        failed: false,
        turns: Vec::new(),
    };
    let Outcome::Frame(estimate) = &engine.result(position)?.outcome else {
        return None;
    };
    let test_ns = estimate.frames.test_ns.max(1.0);
    let most = engine
        .test(&engine.items[position])
        .and_then(|test| test.most);
    member.most = most.unwrap_or(u64::MAX).max(1);
    let most = member.most;
    let at_most = |iterations: f64| (iterations as u64).clamp(1, most);
    let (slice_cpu_ns, slice_wall_ns) = if engine.quick { QUICK } else { FULL };
    let first = at_most(slice_cpu_ns / test_ns);
    match try_out(engine, &member, start, first) {
        Ok((cpu_ns, wall_ns)) => {
            let longer = (slice_cpu_ns / cpu_ns).min(slice_wall_ns / wall_ns);
            member.iterations = at_most(first as f64 * longer.max(1.0));
            Some(member)
        }
        Err(error) => {
            engine.seats.failed(&identity, start, &error);
            None
        }
    }
}

/// One turn, if it takes any.
fn visit(engine: &mut Engine<'_, '_>, member: &mut Member, start: u32, round: u32) {
    if member.failed {
        return;
    }
    match turn(engine, member, start) {
        Ok(turn) => member.turns.push((round, turn)),
        Err(error) => {
            let identity = engine.items[member.position].identity.clone();
            engine.seats.failed(&identity, start, &error);
            member.failed = true;
        }
    }
}

/// Slices that are not counted: the first of a test prepares it. Gives the processor time of so many
/// iterations of the test, and their time, ns.
fn try_out(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    iterations: u64,
) -> Result<(f64, f64), SessionError> {
    slice(engine, member, start, Role::Control, 1)?;
    slice(engine, member, start, Role::Test, 1)?;
    let mut trees = member.roots.trees();
    let (before, begun) = (trees.read(), Instant::now());
    slice(engine, member, start, Role::Test, iterations)?;
    let wall_ns = (begun.elapsed().as_nanos() as f64).max(1.0);
    let used = trees.read().less(before);
    let cpu_ns = (used.subject.all_ns + used.server.all_ns).max(1.0);
    Ok((cpu_ns, wall_ns))
}

/// One turn.
fn turn(engine: &mut Engine<'_, '_>, member: &Member, start: u32) -> Result<Turn, SessionError> {
    let count = member.iterations;
    let mut trees = member.roots.trees();
    let begin = trees.read();
    slice(engine, member, start, Role::Control, count)?;
    let (before, from) = (trees.read(), Instant::now());
    slice(engine, member, start, Role::Test, count)?;
    slice(engine, member, start, Role::Test, count)?;
    let wall_ns = from.elapsed().as_nanos() as f64;
    let after = trees.read();
    slice(engine, member, start, Role::Control, count)?;
    let end = trees.read();
    let test = after.less(before);
    Ok(Turn {
        used: test.less(end.less(begin).less(test)),
        wall_ns,
    })
}

fn slice(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    role: Role,
    iterations: u64,
) -> Result<(), SessionError> {
    let identity = engine.items[member.position].identity.clone();
    let limit =
        engine.seats.hang_limit + Duration::from_secs_f64(10.0 * engine.sizes.seconds_per_row);
    // It was alive a moment ago. If it is not, it is not started again here: it would inherit the priority of those that take turns.
    let over = || SessionError::Over {
        subject: identity.subject.clone(),
        cause: "it was given up".to_owned(),
    };
    if engine.seats.process(&identity, start).is_none() {
        return Err(over());
    }
    let live = engine.seats.live(&identity, start).map_err(|_| over())?;
    let session = &mut live.session;
    session.slice(&identity.test, role, iterations, 0, identity.arg, limit)?;
    Ok(())
}

/// Stores what a member cost. One that failed on the way has its time, and no costs.
fn keep(engine: &mut Engine<'_, '_>, member: Member, start: u32) -> Result<(), RunError> {
    let Some(result) = engine
        .result(member.position)
        .filter(|_| !member.turns.is_empty())
    else {
        return Ok(());
    };
    let mut result = result.clone();
    let costs = result.costs.get_or_insert_with(Costs::default);
    costs.rounds.extend(member.rounds(start));
    let parents = Parents::now();
    costs.held.push(HeldAfter {
        start,
        subject: parents.tree(member.roots.subject).held(),
        server: member.roots.server.map(|(kind, server)| ServerHeld {
            name: kind.title().to_owned(),
            held: parents.tree(server).held(),
        }),
    });
    engine.amend(member.position, result)
}
