//! Attempts at an item, with the processors under watch. In a full run a disturbed frame is
//! measured again, and the least disturbed attempt is kept.

use super::Task;
use super::engine::{Engine, Failure};
use super::foreign::Watch;
use super::gate::{ATTEMPTS, Attempt, calmest};
use super::measured::Measured;
use crate::machine::typical_core_to_core_ns;
use crate::record::{CoreToCore, Foreign};
use antiphon_measure::Placement;

/// State of the processors around an item.
#[derive(Default)]
pub(super) struct Around {
    /// Use of the processors by others.
    pub(super) foreign: Option<Foreign>,
    /// Core distance of the processors.
    pub(super) core_to_core_ns: Option<CoreToCore>,
}

/// Measures an item, and watches the processors meanwhile.
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
    // In a short run there is one attempt, which has all of the item's share of time.
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
            // Another attempt begins without the readings stored before the run was interrupted.
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

/// Returns the core-to-core latency of a placement, ns; `None` if it has one processor, or both had
/// no turn at once.
fn distance_ns(placement: Placement) -> Option<f64> {
    let Placement::Across { main, partner } = placement else {
        return None;
    };
    typical_core_to_core_ns(main as usize, partner as usize)
}

/// Combines both readings; `None` without any.
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
