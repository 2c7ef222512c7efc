//! What an operation costs beside its time: processor time of the subject's processes and of its database's, by their own clocks.
//!
//! When a test was timed in all its subjects, these take turns once more, forth and back (A B B A). A turn is four slices, control, test,
//! test, control; the clocks are read between them, and no slice is timed. What a request costs beside its iterations is in control and
//! test alike and cancels. A ratio of two subjects is taken within rounds, so that a moment at which the machine is slow hits both.

mod clocks;

use super::busy::TICK_NS;
use super::conditions::Raised;
use super::engine::Engine;
use super::tree::Parents;
use super::{Event, Item, RunError, Task};
use crate::record::{CostRound, Costs, HeldAfter, Outcome, ServerHeld};
use crate::session::SessionError;
use antiphon_measure::Role;
use clocks::{Clock, Reading, Roots};
use std::time::{Duration, Instant};

/// The part of a row's time that the rounds take, beside it.
pub(super) const PART: f64 = 0.4;

/// Rounds that are made however long they take, and after which more would not change what is read from them.
const ROUNDS_LEAST: u32 = 6;
const ROUNDS_MOST: u32 = 25;

/// Processor time of a slice of the test, and its time at most, ns, in a quick and a full run. A slice should be shorter than the time that
/// a busy machine gives to one program at a turn: then most slices are whole, and the median is of such.
const QUICK: (f64, f64) = (3e6, 40e6);
const FULL: (f64, f64) = (5e6, 200e6);

/// By so much slices are longer where what a test starts ends in them: what that used is told in coarse steps.
const LONGER: u64 = 8;

/// A subject that takes turns.
struct Member {
    position: usize,
    roots: Roots,
    /// Of each slice.
    iterations: u64,
    /// The most that a slice of the test may have.
    most: u64,
    /// Whether slices were made longer.
    lengthened: bool,
    /// Whether it takes no more turns.
    failed: bool,
    /// Test less control, with the numbers of the rounds.
    turns: Vec<(u32, Reading)>,
}

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
    while round < ROUNDS_LEAST || (round < ROUNDS_MOST && begun.elapsed().as_secs_f64() < seconds) {
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
    let trees = member.roots.trees();
    let (before, begun) = (trees.read(), Instant::now());
    slice(engine, member, start, Role::Test, iterations)?;
    let wall_ns = (begun.elapsed().as_nanos() as f64).max(1.0);
    let used = trees.read().less(before);
    let cpu_ns = (used.subject.all_ns + used.server.all_ns).max(1.0);
    Ok((cpu_ns, wall_ns))
}

/// One turn.
fn turn(engine: &mut Engine<'_, '_>, member: &Member, start: u32) -> Result<Reading, SessionError> {
    let count = member.iterations;
    let trees = member.roots.trees();
    let begin = trees.read();
    slice(engine, member, start, Role::Control, count)?;
    let before = trees.read();
    slice(engine, member, start, Role::Test, count)?;
    slice(engine, member, start, Role::Test, count)?;
    let after = trees.read();
    slice(engine, member, start, Role::Control, count)?;
    let end = trees.read();
    let test = after.less(before);
    Ok(test.less(end.less(begin).less(test)))
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

impl Member {
    /// Makes the slices longer, once, if children ended in one of them; what was read before is forgotten.
    fn lengthen(&mut self) {
        let has_ended =
            |(_, turn): &(u32, Reading)| turn.subject.ended_ns + turn.server.ended_ns > 0.0;
        if !self.lengthened && self.turns.iter().any(has_ended) {
            self.lengthened = true;
            self.iterations = self.iterations.saturating_mul(LONGER).min(self.most);
            self.turns.clear();
        }
    }

    /// What the steps in which the kernel tells of ended children may make of an operation's time: two of each kind of time, shared by all
    /// turns; 0 where none ended.
    fn step_ns(&self, operations: f64) -> f64 {
        let ended = self
            .turns
            .iter()
            .map(|(_, turn)| turn.subject.ended_ns + turn.server.ended_ns);
        match ended.sum::<f64>() > 0.0 {
            true => 2.0 * TICK_NS as f64 / (operations * self.turns.len() as f64),
            false => 0.0,
        }
    }

    /// Its turns as they are kept. Where children of a process ended on the way, the steps in which the kernel tells what they used are
    /// coarser than a turn: then their part is that of all turns together.
    fn rounds(&self, start: u32) -> Vec<CostRound> {
        let operations = 2.0 * self.iterations as f64;
        let each = |clock: fn(&Reading) -> Clock| {
            let ended = self.turns.iter().map(|(_, turn)| clock(turn).ended_ns);
            let ended = ended.sum::<f64>() / self.turns.len() as f64;
            let of =
                |turn: &Reading| (clock(turn).all_ns - clock(turn).ended_ns + ended) / operations;
            self.turns
                .iter()
                .map(|(_, turn)| of(turn))
                .collect::<Vec<_>>()
        };
        let (subject, server) = (each(|turn| turn.subject), each(|turn| turn.server));
        let rounds = self.turns.iter().zip(subject).zip(server);
        rounds
            .map(|(((round, _), subject_ns), server_ns)| CostRound {
                start,
                round: *round,
                iterations: self.iterations,
                subject_ns,
                server_ns: self.roots.server.map(|_| server_ns),
                step_ns: self.step_ns(operations),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_service::Kind;

    fn member(turns: &[(f64, f64)], server: Option<(Kind, u32)>) -> Member {
        let turn = |(all_ns, ended_ns): &(f64, f64)| {
            let clock = Clock {
                all_ns: *all_ns,
                ended_ns: *ended_ns,
            };
            Reading {
                subject: clock,
                server: clock,
            }
        };
        Member {
            position: 0,
            roots: Roots { subject: 1, server },
            iterations: 5,
            most: u64::MAX,
            lengthened: false,
            failed: false,
            turns: (0..).zip(turns.iter().map(turn)).collect(),
        }
    }

    #[test]
    fn an_operation_is_one_of_two_slices() {
        let rounds = member(&[(1000.0, 0.0), (1100.0, 0.0)], None).rounds(3);
        let of = |index: usize| {
            (
                rounds[index].round,
                rounds[index].subject_ns,
                rounds[index].server_ns,
            )
        };
        assert_eq!((of(0), of(1)), ((0, 100.0, None), (1, 110.0, None)));
        assert!(
            rounds
                .iter()
                .all(|round| (round.start, round.step_ns) == (3, 0.0))
        );
    }

    #[test]
    fn coarse_steps_are_shared_among_all_turns() {
        // The kernel told of what ended in one step of 10 ms, in the second of four turns.
        let steps = [
            (1000.0, 0.0),
            (10_001_000.0, 10_000_000.0),
            (1000.0, 0.0),
            (1000.0, 0.0),
        ];
        for round in member(&steps, Some((Kind::Postgresql, 2))).rounds(0) {
            assert_eq!(round.server_ns, Some(250_100.0));
            assert_eq!(round.step_ns, 500_000.0);
        }
    }
}
