//! One turn of a subject: its slices, and what is read around them.

use super::calm;
use super::member::{Member, Turn};
use super::processor_speed::Moment;
use crate::run::engine::Engine;
use crate::run::foreign::{self, Seen, Watch};
use crate::run::process_pool::Live;
use crate::session::SessionError;
use antiphon_measure::Role;
use std::time::{Duration, Instant};

/// Processors that are asked how fast they are, where the system places threads on any of many.
const GAUGED: usize = 4;

/// One turn, in a calm moment if one comes in time: what slows a processor mostly does so for less than a round lasts, so that a whole round is hardly ever calm
/// where single turns are. What others use is read before and after it.
pub(super) fn visit(
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
        let (before, mut wall_ns) = (trees.read(&mut engine.servers), 0.0);
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
        read.push((trees.read(&mut engine.servers).less(before), wall_ns));
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
pub(super) fn probe(engine: &mut Engine<'_, '_>, position: usize) -> Moment {
    let identity = &engine.items[position].identity;
    if identity.policy == "fifo" {
        return Moment::new();
    }
    let placement = engine.processes.processors.placement(&identity.placement);
    let processors = foreign::processors(placement);
    let some = processors.into_iter().take(GAUGED);
    let processors: Vec<u32> = some.map(|cpu| cpu as u32).collect();
    engine.gauge.probe(&processors)
}

/// A slice; what it took by the subject's own clock, ns.
pub(super) fn slice(
    engine: &mut Engine<'_, '_>,
    member: &Member,
    start: u32,
    role: Role,
    iterations: u64,
) -> Result<f64, SessionError> {
    let identity = engine.items[member.position].identity.clone();
    let limit =
        engine.processes.hang_limit + Duration::from_secs_f64(10.0 * engine.sizes.seconds_per_row);
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
    if engine.processes.process(&identity, start).is_none() {
        return Err(over());
    }
    engine.processes.live(&identity, start).map_err(|_| over())
}
