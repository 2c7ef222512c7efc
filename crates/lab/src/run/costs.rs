//! Costs of an operation beside its time: processor time of the subject's processes and its
//! database, by their own clocks.
//!
//! After a test was timed in all its subjects, these take turns once more, forth and back (A B B
//! A). A turn is four slices: control, test, test, control. The clocks are read between them, and
//! the subject's own clock times each. The cost of a request itself is in control and test alike,
//! and cancels. A ratio of two subjects is taken within rounds, so that a slow moment of the
//! machine hits both.

mod adaptive_starts;
mod calm;
mod clocks;
mod length;
mod loops;
mod member;
mod processor_speed;
mod time;
mod touched_buffers;
mod turn;

use super::conditions::Raised;
use super::engine::Engine;
use super::foreign::{self, Seen, Watch};
use super::idle_prevention::IdlePrevention;
use super::tree::Parents;
use super::{Item, RunError, Task};
use crate::record::{Costs, HeldAfter, Outcome, ServerHeld};
pub(super) use adaptive_starts::go_on;
pub(super) use calm::{Gauged, tell_how_slow};
use clocks::Roots;
pub(super) use clocks::Servers;
use length::{fit, stretch};
use member::Member;
pub(super) use processor_speed::Gauge;
use std::collections::BTreeSet;
use time::{Rounds, Time};
use turn::visit;

/// The part of a row's time that the rounds take, beside it.
const PART: f64 = 0.4;

/// Processor time of a slice of the test, and its longest elapsed time, ns, in a quick and a full
/// run.
///
/// A slice should be shorter than the time slice that a busy machine gives a program. Most slices
/// are then uninterrupted, and so is their median.
const QUICK: (f64, f64) = (3e6, 40e6);
const FULL: (f64, f64) = (5e6, 200e6);

/// Lets the subjects take turns, if their test ends at `position` of the plan; does nothing within
/// a test's items.
pub(super) fn after(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
) -> Result<(), RunError> {
    let own = &engine.items[position];
    let mut later = engine.items[position + 1..].iter();
    if own.task != Task::Frame || later.any(|later| is_same_test(own, later)) {
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
    b.task == Task::Frame && a.identity.is_beside(&b.identity)
}

/// Checks whether a frame has a figure of this start but no costs yet.
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
    let share = engine.budget.share();
    let time = Time::of(engine, positions, share);
    // The busy loop starts before our priority rises, because it would inherit that.
    let awake = awake(engine, positions)?;
    // Priorities rise before the search for a slice's length: a subject that waits for its turn
    // seems slower than it is.
    let raised = raised(engine, positions, start)?;
    let mut members: Vec<Member> = positions
        .iter()
        .filter_map(|position| member(engine, *position, start, &time, &raised))
        .collect();
    let placement = &engine.items[positions[0]].identity.placement;
    let mut watch = Watch::in_turns(engine.processes.processors.placement(placement));
    let mut rounds = Rounds::default();
    while time.wants_round(rounds) {
        visit_all(
            engine,
            &mut members,
            start,
            rounds.made,
            &time,
            &raised,
            &mut watch,
        );
        let lengthened = members.iter_mut().map(Member::lengthen);
        let are_forgotten = lengthened.filter(|is_longer| *is_longer).count() > 0;
        let was_calm = was_calm(engine, &members, rounds.made);
        let slowed = members.iter().map(|member| member.slowed(&engine.gauge));
        rounds.add(are_forgotten, slowed.max().unwrap_or_default());
        if !was_calm && time.waits_after(rounds) {
            calm::wait(engine, positions[0], time.until());
        }
    }
    drop(raised);
    let are_awake = awake.is_some();
    drop(awake);
    let took = time.took() / positions.len() as f64;
    for member in members {
        keep(engine, member, start, are_awake)?;
    }
    for position in positions {
        let nominal = nominal(engine, *position);
        engine.budget.spent(nominal, share, took);
    }
    Ok(())
}

/// Returns the suite's time for the turns of an item in one start, s.
pub(super) fn nominal(engine: &Engine<'_, '_>, position: usize) -> f64 {
    let slice_ms = engine.processes.slice_ms(&engine.items[position].identity);
    PART * engine.sizes.seconds_per_row + slice_ms.map_or(0.0, time::of_long_slices)
}

/// Keeps the processors of these items awake, or warns once if that fails.
///
/// It does nothing under `free`: a busy processor would then change where the system places
/// threads.
fn awake(
    engine: &mut Engine<'_, '_>,
    positions: &[usize],
) -> Result<Option<IdlePrevention>, RunError> {
    let placement = &engine.items[positions[0]].identity.placement;
    if placement == "free" {
        return Ok(None);
    }
    let processors = foreign::processors(engine.processes.processors.placement(placement));
    match IdlePrevention::keep(&processors) {
        Ok(awake) => Ok(Some(awake)),
        Err(_) if std::mem::replace(&mut engine.reported_sleep, true) => Ok(None),
        Err(error) => {
            engine.warn(&format!(
                "processors are not kept awake while turns wait, since {error}: what waits for a disk or for another processor is charged with waking its own"
            ))?;
            Ok(None)
        }
    }
}

/// Raises the processes of a test's subjects, which are to take turns, and warns once about
/// refusals.
fn raised(
    engine: &mut Engine<'_, '_>,
    positions: &[usize],
    start: u32,
) -> Result<Raised, RunError> {
    let of_position = |position: &usize| roots(engine, *position, start);
    let all = positions.iter().filter_map(of_position);
    // Several use one server, which may have hundreds of processes.
    let roots: BTreeSet<u32> = all.flat_map(Roots::all).collect();
    let mut raised = Raised::of(roots.into_iter().collect());
    let identity = &engine.items[positions[0]].identity;
    if identity.placement != "free" && identity.policy != "fifo" {
        // Real time is not for threads that the system places: they would contend as on a machine
        // of their own. Python's lock costs 18 times the processor time then. A subject under FIFO
        // already precedes everything ordinary.
        raised = raised.real_time();
    }
    tell_if_refused(engine, &raised)?;
    Ok(raised)
}

/// Takes a turn of each subject, forth in one round and back in the next. Each turn may wait for a
/// calm moment until its time is over.
fn visit_all(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    start: u32,
    round: u32,
    time: &Time,
    raised: &Raised,
    watch: &mut Watch,
) {
    // Programs that ran since the last round disturbed no turn.
    watch.next();
    let mut order: Vec<usize> = (0..members.len()).collect();
    if round % 2 == 1 {
        order.reverse();
    }
    for index in order {
        if engine.interrupted() {
            break;
        }
        let member = &mut members[index];
        if member.failed || member.stands_aside(round) {
            continue;
        }
        let _ordinary = member
            .is_ordinary
            .then(|| raised.ordinary(member.roots.all()));
        // A failed subject is ended within the call, so that its end disturbs no turn.
        let visited = watch.through(|watch| {
            visit(engine, member, start, time.until(), watch).map_err(|error| {
                let identity = engine.items[member.position].identity.clone();
                engine.processes.failed(&identity, start, &error)
            })
        });
        match visited {
            Ok((turn, seen)) => {
                member.seen = member.seen.and(seen);
                member.turns.push((round, turn));
            }
            Err(_) => member.failed = true,
        }
    }
}

/// Checks that nothing slowed the processors in any turn of a round.
fn was_calm(engine: &Engine<'_, '_>, members: &[Member], round: u32) -> bool {
    let was_calm = |member: &Member| member.was_calm(round, &engine.gauge);
    members.iter().all(was_calm)
}

/// Warns, once for each cause, if refused priorities let others disturb the turns.
fn tell_if_refused(engine: &mut Engine<'_, '_>, raised: &Raised) -> Result<(), RunError> {
    if raised.is_refused() && !std::mem::replace(&mut engine.reported_priority, true) {
        engine.warn(
            "processor time is measured at the ordinary priority where turns are not in real time, since a higher one is not permitted: on a busy \
             machine it is less exact (run as root, or give this command CAP_SYS_NICE)",
        )?;
    }
    if let Some(refused) = raised.refused
        && !std::mem::replace(&mut engine.reported_real_time, true)
    {
        engine.warn(&refused.to_string())?;
    }
    Ok(())
}

/// Returns the processes whose clocks are read for a subject; `None` if its own is not alive.
fn roots(engine: &mut Engine<'_, '_>, position: usize, start: u32) -> Option<Roots> {
    let identity = &engine.items[position].identity;
    Some(Roots {
        subject: engine.processes.process(identity, start)?,
        server: engine.processes.server(identity),
    })
}

/// Returns a subject that is ready for its turns; `None` if it failed.
fn member(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    time: &Time,
    raised: &Raised,
) -> Option<Member> {
    let roots = roots(engine, position, start)?;
    let Outcome::Frame(estimate) = &engine.result(position)?.outcome else {
        return None;
    };
    let test_ns = estimate.frames.test_ns.max(1.0);
    let most = engine
        .test(&engine.items[position])
        .and_then(|test| test.most);
    let slice_ms = engine.processes.slice_ms(&engine.items[position].identity);
    let mut member = Member {
        position,
        roots,
        iterations: 1,
        uncounted: 1,
        most: most.unwrap_or(u64::MAX).max(1),
        slice_ms,
        // Long slices already include the use of ended children.
        lengthened: slice_ms.is_some(),
        stood_aside: None,
        seen: Seen::default(),
        is_ordinary: raised.is_real_time() && wants_ordinary_turns(engine, position),
        is_watched: !engine.processes.warms(&engine.items[position].identity),
        failed: false,
        turns: Vec::new(),
    };
    let length = time.slice_ns(engine.quick);
    let ordinary = member.is_ordinary.then(|| raised.ordinary(roots.all()));
    let fitted = fit(engine, &member, start, test_ns, length).and_then(|iterations| {
        member.uncounted = (iterations / 2).max(1);
        match slice_ms {
            Some(slice_ms) => stretch(engine, &member, start, iterations, slice_ms, length),
            None => Ok(iterations),
        }
    });
    drop(ordinary);
    match fitted {
        Ok(iterations) => {
            member.iterations = iterations;
            Some(member)
        }
        Err(error) => {
            let identity = engine.items[position].identity.clone();
            engine.processes.failed(&identity, start, &error);
            None
        }
    }
}

/// Checks whether an item's turns are ordinary where those of others are in real time.
///
/// Its subject then looks for other work while a server answers. An operation that waits for a disk
/// is excluded: it waits long in any case, and needs its processor at once after the answer.
fn wants_ordinary_turns(engine: &Engine<'_, '_>, position: usize) -> bool {
    let item = &engine.items[position];
    engine.processes.looks_for_work(&item.identity)
        && !engine.waits_for_disk.contains(&item.identity.test)
}

/// Stores a member's costs. One that failed on the way has its time, and no costs.
fn keep(
    engine: &mut Engine<'_, '_>,
    member: Member,
    start: u32,
    are_awake: bool,
) -> Result<(), RunError> {
    let Some(result) = engine
        .result(member.position)
        .filter(|_| !member.turns.is_empty())
    else {
        return Ok(());
    };
    let mut result = result.clone();
    let costs = result.costs.get_or_insert_with(Costs::default);
    costs.rounds.extend(member.rounds(start, &engine.gauge));
    costs.slice_ms = member.slice_ms;
    costs.awake = are_awake;
    costs.ordinary = member.is_ordinary;
    costs.foreign.push(member.seen.foreign(1));
    engine.gauged.push(Gauged::of(&member, start));
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
