//! An item is measured while the processors are watched. In a full run a frame that others disturb is measured again, and of the attempts
//! that is kept which they disturbed least.

use super::Task;
use super::engine::{Engine, Failure};
use super::foreign::Watch;
use super::gate::{ATTEMPTS, Attempt, calmest};
use super::measured::Measured;
use crate::record::Foreign;

/// What came out of an item, and what others used meanwhile.
pub(super) fn measure(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    share: f64,
) -> Result<(Measured, Option<Foreign>), Failure> {
    let item = &engine.items[position];
    if let Task::Absent(_) = &item.task {
        return Ok((engine.measure(position, start, share)?, None));
    }
    // Where time is short, each item's share of it is spent once.
    let repeats = item.task == Task::Frame && !engine.quick && share >= 1.0;
    let most = if repeats { ATTEMPTS } else { 1 };
    engine.seats.place_server(&item.identity);
    let placement = engine.seats.processors.placement(&item.identity.placement);
    let attempt = |before: u32| {
        if before > 0 {
            if engine.interrupted() {
                return Ok::<_, Failure>(None);
            }
            // Another attempt begins anew, and not with what was read before the run was interrupted.
            engine.stored[position].retain(|(of, _)| *of != start);
        }
        let watch = Watch::begin(placement);
        let measured = engine.measure(position, start, share)?;
        let foreign = watch.end().foreign(1);
        Ok(Some(Attempt {
            of: (measured, foreign),
            share: foreign.share,
            was_disturbed: foreign.was_disturbed(),
        }))
    };
    let best = calmest(most, attempt)?;
    let ((measured, foreign), attempts) = best.ok_or(Failure::Interrupted)?;
    Ok((
        measured,
        Some(Foreign {
            attempts,
            ..foreign
        }),
    ))
}
