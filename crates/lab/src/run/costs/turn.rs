//! One turn of a subject: its slices, and the readings around them.

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

/// Takes one turn, in a calm moment if one comes in time. Use by others is read before and after
/// it.
///
/// Slow moments are mostly shorter than a round, so single turns are calm more often than whole
/// rounds.
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
            // Programs that ran while we waited disturbed no turn.
            watch.next();
        }
        let mut turn = turn(engine, member, start)?;
        let slowed = turn.slowed(&engine.gauge);
        taken += 1;
        after = Some((turn.held_bytes, std::mem::take(&mut turn.mappings)));
        Ok(((turn, watch.next()), slowed))
    })?;
    // The held memory is that after the last attempt, whichever attempt counts.
    kept.taken = taken;
    if let Some((held_bytes, mappings)) = after {
        (kept.held_bytes, kept.mappings) = (held_bytes, mappings);
    }
    Ok((kept, seen))
}

/// Takes one turn, with a probe of the processors around each slice. Slow moments may be shorter
/// than its two test slices.
///
/// No clock is read between those two, so that work beside an operation counts, too.
fn turn(engine: &mut Engine<'_, '_>, member: &Member, start: u32) -> Result<Turn, SessionError> {
    let count = member.iterations;
    // Other programs had the processor's caches since its last turn. The cost to fill them again
    // depends on these programs.
    slice(engine, member, start, Role::Test, member.uncounted)?;
    // The process resumes before its clocks are read, so that no slice includes this. They are read
    // with idle compilers, which a stopped process may never have.
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
    // A process may end only after the slice that began it, in one of the control's. Only the fact
    // that any ended counts.
    used.subject.ended_faults = test.subject.ended_faults;
    used.server.ended_faults = test.server.ended_faults;
    let (held_bytes, mappings) = match member.is_watched {
        true => (trees.subject.anonymous_bytes(), trees.subject.mappings()),
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

/// Probes the processors of an item. It does nothing under FIFO, because we would wait for a
/// polling subject.
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

/// Runs a slice and returns its time by the subject's own clock, ns.
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
    // The process was alive a moment ago. A new one is not started here, because it would inherit
    // the priority of the turns.
    let over = || SessionError::Over {
        subject: identity.subject.clone(),
        cause: "it was given up".to_owned(),
    };
    if engine.processes.process(&identity, start).is_none() {
        return Err(over());
    }
    engine.processes.live(&identity, start).map_err(|_| over())
}
