//! An item is measured while the processors are watched. In a full run a frame that others disturb is measured again, and of the attempts
//! that is kept which they disturbed least.

use super::Task;
use super::engine::{Engine, Failure};
use super::foreign::Watch;
use super::gate::{ATTEMPTS, Attempt, calmest};
use super::measured::Measured;
use crate::machine::typical_core_to_core_ns;
use crate::record::{CoreToCore, Foreign};
use antiphon_measure::Placement;

/// What was seen of the processors around an item.
#[derive(Default)]
pub(super) struct Around {
    /// What others used of them.
    pub(super) foreign: Option<Foreign>,
    /// How far apart they were.
    pub(super) core_to_core_ns: Option<CoreToCore>,
}

/// What came out of an item, and what was seen of the processors meanwhile.
pub(super) fn measure(
    engine: &mut Engine<'_, '_>,
    position: usize,
    start: u32,
    share: f64,
) -> Result<(Measured, Around), Failure> {
    let item = &engine.items[position];
    if let Task::Absent(_) = &item.task {
        return Ok((engine.measure(position, start, share)?, Around::default()));
    }
    // Where time is short, each item's share of it is spent once.
    let repeats = item.task == Task::Frame && !engine.quick && share >= 1.0;
    let most = if repeats { ATTEMPTS } else { 1 };
    engine.processes.place_server(&item.identity);
    let placement = engine
        .processes
        .processors
        .placement(&item.identity.placement);
    let is_frame = item.task == Task::Frame;
    let distance = || is_frame.then(|| distance_ns(placement)).flatten();
    let attempt = |tried: u32| {
        if tried > 0 {
            if engine.interrupted() {
                return Ok::<_, Failure>(None);
            }
            // Another attempt begins anew, and not with what was read before the run was interrupted.
            engine.stored[position].retain(|(of, _)| *of != start);
        }
        let before = distance();
        let watch = Watch::begin(placement);
        let measured = engine.measure(position, start, share)?;
        let foreign = watch.end().foreign(1);
        let core_to_core_ns = around(start, before, distance());
        Ok(Some(Attempt {
            of: (measured, foreign, core_to_core_ns),
            share: foreign.share,
            was_disturbed: foreign.was_disturbed(),
        }))
    };
    let best = calmest(most, attempt)?;
    let ((measured, foreign, core_to_core_ns), attempts) = best.ok_or(Failure::Interrupted)?;
    let foreign = Some(Foreign {
        attempts,
        ..foreign
    });
    let around = Around {
        foreign,
        core_to_core_ns,
    };
    Ok((measured, around))
}

/// Core-to-core latency between the processors of a placement, ns; `None` where it has not two, or they had no turn at the same time.
fn distance_ns(placement: Placement) -> Option<f64> {
    let Placement::Across { main, partner } = placement else {
        return None;
    };
    typical_core_to_core_ns(main as usize, partner as usize)
}

/// What is kept of both readings; nothing where there is none.
fn around(start: u32, before: Option<f64>, after: Option<f64>) -> Option<CoreToCore> {
    before.or(after)?;
    Some(CoreToCore {
        start,
        before,
        after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_without_two_processors_have_no_distance() {
        assert_eq!(distance_ns(Placement::Free), None);
        assert_eq!(distance_ns(Placement::Same { processor: 0 }), None);
        let alone = Placement::Across {
            main: 0,
            partner: 0,
        };
        assert_eq!(distance_ns(alone), None);
    }

    #[test]
    fn one_reading_is_kept_and_none_is_not() {
        assert_eq!(around(1, None, None), None);
        let kept = around(1, None, Some(120.0)).unwrap();
        assert_eq!(
            (kept.start, kept.before, kept.after),
            (1, None, Some(120.0))
        );
    }
}
