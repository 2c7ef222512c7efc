//! What an operation costs beside its time: processor time of the subject's processes and of its database's, by their own clocks.
//!
//! When a test was timed in all its subjects, these take turns once more, forth and back (A B B A). A turn is four slices, control, test,
//! test, control; the clocks are read between them, and each is timed by the subject's own clock. What a request costs beside its iterations is in control and
//! test alike and cancels. A ratio of two subjects is taken within rounds, so that a moment at which the machine is slow hits both.

mod again;
mod calm;
mod clocks;
mod gauge;
mod loops;
mod member;
mod time;
mod walked;

use super::awake::Awake;
use super::conditions::Raised;
use super::engine::Engine;
use super::foreign::{self, Seen, Watch};
use super::seats::Live;
use super::tree::Parents;
use super::{Item, RunError, Task};
use crate::record::{Costs, HeldAfter, Outcome, ServerHeld};
use crate::session::SessionError;
pub(super) use again::go_on;
use antiphon_measure::Role;
pub(super) use calm::{Gauged, tell_how_slow};
use clocks::Roots;
pub(super) use gauge::Gauge;
use gauge::Moment;
use member::{Member, Turn};
use std::time::{Duration, Instant};
use time::{Rounds, Time};

/// The part of a row's time that the rounds take, beside it.
const PART: f64 = 0.4;

/// Processor time of a slice of the test, and its time at most, ns, in a quick and a full run. A slice should be shorter than the time that
/// a busy machine gives to one program at a turn: then most slices are whole, and the median is of such.
const QUICK: (f64, f64) = (3e6, 40e6);
const FULL: (f64, f64) = (5e6, 200e6);

/// Where a subject's slices are long since its file says so, a slice takes at most this multiple of its processor time on the wall, or what those of others may.
const LONG_WALL: f64 = 1.5;

/// A slice is sought by at most so many trials, each at most so many times as long as the one before; one that need not be longer by more than this is
/// known well enough.
const TRIALS: u32 = 12;
const STRIDE: f64 = 16.0;
const WELL_KNOWN: f64 = 1.5;

/// Processors that are asked how fast they are, where the system places threads on any of many.
const GAUGED: usize = 4;

/// Lets the subjects of the test that ends at `position` of the plan take turns. Nothing is done within a test's items.
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
    let share = engine.budget.share();
    let time = Time::of(engine, positions, share);
    // What keeps them awake is started before our priority is raised, which it would take over.
    let awake = awake(engine, positions)?;
    // Before anything is tried: how long a slice must be is seen wrongly by one who has to wait for his turn.
    let raised = raised(engine, positions, start)?;
    let mut members: Vec<Member> = positions
        .iter()
        .filter_map(|position| member(engine, *position, start, &time, &raised))
        .collect();
    let mut rounds = Rounds::default();
    while time.wants_round(rounds) {
        visit_all(engine, &mut members, start, rounds.made, &time, &raised);
        let lengthened = members.iter_mut().map(Member::lengthen);
        let are_forgotten = lengthened.filter(|is_longer| *is_longer).count() > 0;
        let was_calm = was_calm(engine, &members, rounds.made);
        rounds.add(are_forgotten, was_calm);
        if !was_calm && rounds.wait() {
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

/// The time that the suite gives to the turns of an item in one start, s.
pub(super) fn nominal(engine: &Engine<'_, '_>, position: usize) -> f64 {
    let slice_ms = engine.seats.slice_ms(&engine.items[position].identity);
    PART * engine.sizes.seconds_per_row + slice_ms.map_or(0.0, time::of_long_slices)
}

/// Keeps the processors of these items awake, and says, once, if that cannot be; not where the system places threads, which it would do otherwise.
fn awake(engine: &mut Engine<'_, '_>, positions: &[usize]) -> Result<Option<Awake>, RunError> {
    let placement = &engine.items[positions[0]].identity.placement;
    if placement == "free" {
        return Ok(None);
    }
    let processors = foreign::processors(engine.seats.processors.placement(placement));
    match Awake::keep(&processors) {
        Ok(awake) => Ok(Some(awake)),
        Err(_) if std::mem::replace(&mut engine.told_of_sleep, true) => Ok(None),
        Err(error) => {
            engine.warn(&format!(
                "processors are not kept awake while turns wait, since {error}: what waits for a disk or for another processor is charged with waking its own"
            ))?;
            Ok(None)
        }
    }
}

/// Puts the processes of a test's subjects, which are to take turns, before others, and says, once, what of that is refused.
fn raised(
    engine: &mut Engine<'_, '_>,
    positions: &[usize],
    start: u32,
) -> Result<Raised, RunError> {
    let of_position = |position: &usize| roots(engine, *position, start);
    let all = positions.iter().filter_map(of_position);
    let mut raised = Raised::of(all.flat_map(Roots::all).collect());
    let identity = &engine.items[positions[0]].identity;
    if identity.placement != "free" && identity.policy != "fifo" {
        // Threads that the system places would contend as on a machine of their own: in Python for its lock, at 18 times the processor time. And who is
        // measured under FIFO comes before everything ordinary as it is.
        raised = raised.real_time();
    }
    tell_if_refused(engine, &raised)?;
    Ok(raised)
}

/// A turn of each, forth in one round and back in the next. Until then calm moments are sought for it.
fn visit_all(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    start: u32,
    round: u32,
    time: &Time,
    raised: &Raised,
) {
    let Some(first) = members.first() else {
        return;
    };
    let placement = &engine.items[first.position].identity.placement;
    let mut watch = Watch::in_turns(engine.seats.processors.placement(placement));
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
        // Who failed is ended in it, too.
        let visited = watch.through(|watch| {
            visit(engine, member, start, time.until(), watch).map_err(|error| {
                let identity = engine.items[member.position].identity.clone();
                engine.seats.failed(&identity, start, &error)
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

/// Whether nothing slowed the processors in any turn of a round.
fn was_calm(engine: &Engine<'_, '_>, members: &[Member], round: u32) -> bool {
    let was_calm = |member: &Member| member.was_calm(round, &engine.gauge);
    members.iter().all(was_calm)
}

/// Says, each once, what others may disturb.
fn tell_if_refused(engine: &mut Engine<'_, '_>, raised: &Raised) -> Result<(), RunError> {
    if raised.is_refused() && !std::mem::replace(&mut engine.told_of_priority, true) {
        engine.warn(
            "processor time is measured at the ordinary priority where turns are not in real time, since a higher one is not permitted: on a busy \
             machine it is less exact (run as root, or give this command CAP_SYS_NICE)",
        )?;
    }
    if let Some(refused) = raised.refused
        && !std::mem::replace(&mut engine.told_of_real_time, true)
    {
        engine.warn(&refused.to_string())?;
    }
    Ok(())
}

/// The processes that a subject's clocks are read of; `None` if its own does not live.
fn roots(engine: &mut Engine<'_, '_>, position: usize, start: u32) -> Option<Roots> {
    let identity = &engine.items[position].identity;
    Some(Roots {
        subject: engine.seats.process(identity, start)?,
        server: engine.seats.server(identity),
    })
}

/// A subject that is ready for its turns; `None` if it failed.
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
    let slice_ms = engine.seats.slice_ms(&engine.items[position].identity);
    let mut member = Member {
        position,
        roots,
        iterations: 1,
        uncounted: 1,
        most: most.unwrap_or(u64::MAX).max(1),
        slice_ms,
        // Long slices hold what ended as they are.
        lengthened: slice_ms.is_some(),
        stood_aside: None,
        seen: Seen::default(),
        is_ordinary: raised.is_real_time() && is_ordinary(engine, position),
        is_watched: !engine.seats.warms(&engine.items[position].identity),
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
            engine.seats.failed(&identity, start, &error);
            None
        }
    }
}

/// One turn, in a calm moment if one comes in time: what slows a processor mostly does so for less than a round lasts, so that a whole round is hardly ever calm
/// where single turns are. What others use is read before and after it.
fn visit(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    until: Instant,
    watch: &mut Watch,
) -> Result<(Turn, Seen), SessionError> {
    let (mut taken, mut after) = (0, None);
    let (mut kept, seen) = calm::calmest_turn(until, || {
        if calm::wait_for_turn(engine, member.position, until) {
            // Who ran while we waited disturbed no turn.
            watch.next();
        }
        let mut turn = turn(engine, member, start)?;
        let slowed = turn.slowed(&engine.gauge);
        taken += 1;
        after = Some((turn.held_bytes, std::mem::take(&mut turn.mappings)));
        Ok(((turn, watch.next()), slowed))
    })?;
    // Whichever counts, what the subject holds is that after the last.
    kept.taken = taken;
    if let Some((held_bytes, mappings)) = after {
        (kept.held_bytes, kept.mappings) = (held_bytes, mappings);
    }
    Ok((kept, seen))
}

/// Whether an item's turns are not in real time where those of others are: its subject looks for other work while a server answers. What waits for a disk waits for long in
/// any case, and needs its processor at once when the disk has answered.
fn is_ordinary(engine: &Engine<'_, '_>, position: usize) -> bool {
    let item = &engine.items[position];
    engine.seats.looks_for_work(&item.identity)
        && !engine.waits_for_disk.contains(&item.identity.test)
}

/// How many iterations make a slice, by slices that are not counted: the first of a test prepares it.
///
/// Each is tried before it is believed. On a busy machine an operation was timed at a hundred times what it uses of a processor, and a request that
/// is answered within a few operations costs more than they do: subjects that were given slices of 0.3 ms, where others had 5 ms, seemed
/// dearer by half.
fn fit(
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
fn stretch(
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
    let (before, begun) = (trees.read(), Instant::now());
    slice(engine, member, start, Role::Test, iterations)?;
    let wall_ns = (begun.elapsed().as_nanos() as f64).max(1.0);
    let used = trees.read().less(before);
    let cpu_ns = (used.subject.all_ns + used.server.all_ns).max(1.0);
    Ok((cpu_ns, wall_ns))
}

/// One turn. Around each of its slices it is asked how fast the processors are: what slows them may last for less than the two of the test. No clock is read between
/// those, so that what works beside an operation is counted there, too.
fn turn(engine: &mut Engine<'_, '_>, member: &Member, start: u32) -> Result<Turn, SessionError> {
    let count = member.iterations;
    // Others had the processor's caches since its last turn. What filling them again costs depends on who they were.
    slice(engine, member, start, Role::Test, member.uncounted)?;
    // Its clocks are read when its compilers are idle, which they never are while it rests; and going on is no part of a slice.
    live(engine, member, start)?;
    let mut trees = member.roots.trees();
    let mut moments = vec![probe(engine, member.position)];
    let mut read = Vec::new();
    let mut time_ns = 0.0;
    for slices in [&[Role::Control][..], &[Role::Test; 2], &[Role::Control]] {
        let (before, mut wall_ns) = (trees.read(), 0.0);
        for (at, role) in slices.iter().enumerate() {
            if at > 0 {
                moments.push(probe(engine, member.position));
            }
            let begun = Instant::now();
            let elapsed_ns = slice(engine, member, start, *role, count)?;
            time_ns += match role {
                Role::Test => elapsed_ns,
                _ => -elapsed_ns,
            };
            wall_ns += begun.elapsed().as_nanos() as f64;
        }
        read.push((trees.read().less(before), wall_ns));
        moments.push(probe(engine, member.position));
    }
    let (test, wall_ns) = read[1];
    let mut used = test.less(read[0].0.and(read[2].0));
    // A process may end when the slice that began it is over, in one of the control's: what counts is whether any ended.
    used.subject.ended_faults = test.subject.ended_faults;
    used.server.ended_faults = test.server.ended_faults;
    let (held_bytes, mappings) = match member.is_watched {
        true => (trees.subject.held().pss_bytes, trees.subject.mappings()),
        false => (0, Vec::new()),
    };
    Ok(Turn {
        used,
        wall_ns,
        time_ns,
        held_bytes,
        mappings,
        moments,
        taken: 1,
    })
}

/// How fast the processors of an item are now. Not asked of one under FIFO: if it polls, we would wait for it.
fn probe(engine: &mut Engine<'_, '_>, position: usize) -> Moment {
    let identity = &engine.items[position].identity;
    if identity.policy == "fifo" {
        return Moment::new();
    }
    let placement = engine.seats.processors.placement(&identity.placement);
    let processors = foreign::processors(placement);
    let some = processors.into_iter().take(GAUGED);
    let processors: Vec<u32> = some.map(|cpu| cpu as u32).collect();
    engine.gauge.probe(&processors)
}

/// A slice; what it took by the subject's own clock, ns.
fn slice(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    role: Role,
    iterations: u64,
) -> Result<f64, SessionError> {
    let identity = engine.items[member.position].identity.clone();
    let limit =
        engine.seats.hang_limit + Duration::from_secs_f64(10.0 * engine.sizes.seconds_per_row);
    let session = &mut live(engine, member, start)?.session;
    let slice = session.slice(&identity.test, role, iterations, 0, identity.arg, limit)?;
    Ok(slice.elapsed_ns as f64)
}

/// Begins a member's turn, or goes on with it.
fn live<'l>(
    engine: &'l mut Engine<'_, '_>,
    member: &Member,
    start: u32,
) -> Result<&'l mut Live, SessionError> {
    let identity = engine.items[member.position].identity.clone();
    // It was alive a moment ago. If it is not, it is not started again here: it would inherit the priority of those that take turns.
    let over = || SessionError::Over {
        subject: identity.subject.clone(),
        cause: "it was given up".to_owned(),
    };
    if engine.seats.process(&identity, start).is_none() {
        return Err(over());
    }
    engine.seats.live(&identity, start).map_err(|_| over())
}

/// Stores what a member cost. One that failed on the way has its time, and no costs.
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

#[cfg(test)]
mod tests {
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
