//! Delay curves: single delays of each requested length, and one length at random times (the
//! paper's second experiment).

use super::engine::{Engine, Failure};
use super::{frames, placement_check};
use crate::record::Outcome;
use crate::store::Raw;
use crate::suite::DelaySweep;
use antiphon_measure::{
    Batch, BatchRequest, DelayCurve, DelayPoint, Interval, Purpose, RandomStarts, Role,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Curves are measured in the first process start.
const START: u32 = 0;

/// Estimated overhead of a delay, for the budget, ns: timer slack and wake-up.
const OVERHEAD_NS: u64 = 80_000;

/// Delays of one length, at least and at most; each block has two.
const BLOCKS: (u64, u64) = (2, 200);

/// A request lasts at most about so long, so that an interruption loses little, ns.
const REQUEST_NS: u64 = 500_000_000;

/// The length that is started at random times: the first of the curve that is not shorter, ns.
const RANDOM_DELAY_NS: u64 = 1_000_000;

/// Points of a curve that is shown although it was interrupted.
const FEWEST_POINTS: usize = 3;

/// Range of random start times, in iterations of the reference, some 20 ns each. It exceeds a tick
/// of any usual kernel.
const RANDOM_ITERATIONS: u64 = 500_000;

/// Share of the curve's time that goes into random starts.
const RANDOM_SHARE: f64 = 0.2;

/// Returns the requested delays of a sweep, ns, at equal ratios.
pub(super) fn points(sweep: &DelaySweep, quick: bool) -> Vec<u64> {
    let per_decade = match quick {
        true => sweep.quick_points_per_decade,
        false => sweep.points_per_decade,
    } as f64;
    let (from, to) = (sweep.from_ns as f64, sweep.to_ns as f64);
    let steps = ((to / from).log10() * per_decade)
        .round()
        .clamp(0.0, 10_000.0) as u32;
    let mut points: Vec<u64> = (0..=steps)
        .map(|step| (from * 10f64.powf(f64::from(step) / per_decade)).round() as u64)
        .collect();
    points.dedup();
    points
}

pub(super) fn measure(
    engine: &mut Engine<'_, '_>,
    position: usize,
    points: &[u64],
    seconds: f64,
) -> Result<Outcome, Failure> {
    let for_curve_ns = seconds * (1.0 - RANDOM_SHARE) * 1e9;
    let mut before = stored(&engine.stored[position]);
    let mut measured = Vec::new();
    let mut left_ns = for_curve_ns;
    for (index, requested) in points.iter().enumerate() {
        // Time that short delays leave unused goes to the long ones.
        let share_ns = left_ns / (points.len() - index) as f64;
        let begun = std::time::Instant::now();
        let delays = before.remove(requested).unwrap_or_default();
        // Later delays were measured already: this point was whole when the run was cut off.
        let whole = !delays.is_empty() && !before.is_empty();
        let delays = match whole {
            true => delays,
            false => match single_delays(engine, position, *requested, share_ns as u64, delays) {
                Err(Failure::Interrupted) if measured.len() >= FEWEST_POINTS => break,
                delays => delays?,
            },
        };
        measured.extend(point(*requested, &delays));
        left_ns = (left_ns - begun.elapsed().as_nanos() as f64).max(0.0);
    }
    let random = match random_starts(engine, position, points, seconds * RANDOM_SHARE) {
        Err(Failure::Interrupted) if measured.len() >= FEWEST_POINTS => None,
        random => random?,
    };
    let random: Vec<_> = random.into_iter().collect();
    Ok(Outcome::DelayCurve(DelayCurve::classify(measured, &random)))
}

/// Returns the delays stored before an interruption, by requested length. Batches with a reference
/// are random starts.
fn stored(raws: &[(u32, Raw)]) -> BTreeMap<u64, Vec<f64>> {
    let mut delays: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (_, raw) in raws {
        if let Raw::Batch {
            arg: Some(requested),
            batch,
            ..
        } = raw
            && !batch.slices.iter().any(|s| s.role == Role::Reference)
        {
            let known = delays.entry(*requested).or_default();
            known.extend(delays_of(batch));
        }
    }
    delays
}

/// Measures delays of one length, each timed alone, less the control, ns; `delays` are the existing
/// ones.
fn single_delays(
    engine: &mut Engine<'_, '_>,
    position: usize,
    requested_ns: u64,
    share_ns: u64,
    mut delays: Vec<f64>,
) -> Result<Vec<f64>, Failure> {
    let block_ns = 2 * (requested_ns + OVERHEAD_NS);
    let wanted = (share_ns / block_ns).clamp(BLOCKS.0, BLOCKS.1);
    let mut blocks = wanted.saturating_sub(delays.len() as u64 / 2);
    let per_request = (REQUEST_NS / block_ns).max(1);
    while blocks > 0 {
        let now = blocks.min(per_request);
        let batch = batch(engine, position, requested_ns, now as u32, 0)?;
        delays.extend(delays_of(&batch));
        blocks -= now;
    }
    Ok(delays)
}

/// Runs blocks of single delays.
fn batch(
    engine: &mut Engine<'_, '_>,
    position: usize,
    requested_ns: u64,
    blocks: u32,
    reference: u64,
) -> Result<Batch, Failure> {
    if engine.interrupted() {
        return Err(Failure::Interrupted);
    }
    let mut item = engine.items[position].clone();
    item.identity.arg = Some(requested_ns);
    let request = BatchRequest {
        iterations: 1,
        blocks,
        reference_iterations: reference,
        warmup: 1,
        purpose: Purpose::Sample,
    };
    let block = Duration::from_nanos(2 * (requested_ns + OVERHEAD_NS) + 100 * reference);
    let limit = engine.processes.hang_limit + 20 * blocks * block;
    let live = engine
        .processes
        .live(&item.identity, START)
        .map_err(Failure::Absent)?;
    let answer = live
        .session
        .batch(&item.identity.test, item.identity.arg, &request, limit);
    let batch = engine.took(position, START, answer)?;
    placement_check::hold(engine, position, &batch.threads)?;
    engine.append(position, START, &frames::raw(&item, &request, &batch))?;
    Ok(batch)
}

/// Returns the test slices less the median control slice, ns.
fn delays_of(batch: &Batch) -> Vec<f64> {
    let of = |role| {
        let slices = batch.slices.iter().filter(move |slice| slice.role == role);
        slices.map(|slice| slice.elapsed_ns as f64)
    };
    let mut controls: Vec<f64> = of(Role::Control).collect();
    controls.sort_by(f64::total_cmp);
    let control = controls.get(controls.len() / 2).copied().unwrap_or(0.0);
    of(Role::Test).map(|elapsed| elapsed - control).collect()
}

/// Returns the median of the delays with its sign-test interval (order statistics, 95 %), and their
/// range.
fn point(requested_ns: u64, delays: &[f64]) -> Option<DelayPoint> {
    let mut sorted = delays.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let count = sorted.len();
    // Binomial(n, ½) by its normal limit; few delays give the extremes.
    let below = (count as f64 / 2.0 - 0.98 * (count as f64).sqrt())
        .floor()
        .max(0.0) as usize;
    Some(DelayPoint {
        requested_ns: requested_ns as f64,
        actual_ns: Interval {
            value: (sorted[(count - 1) / 2] + sorted[count / 2]) / 2.0,
            low: sorted[below],
            high: sorted[count - 1 - below],
        },
        range_ns: (first, last),
    })
}

/// Measures one delay at random times: a reference of random length runs before it.
fn random_starts(
    engine: &mut Engine<'_, '_>,
    position: usize,
    points: &[u64],
    seconds: f64,
) -> Result<Option<RandomStarts>, Failure> {
    let not_shorter = points.iter().find(|point| **point >= RANDOM_DELAY_NS);
    let Some(requested) = not_shorter.or(points.last()).copied() else {
        return Ok(None);
    };
    let begun = std::time::Instant::now();
    let mut state = engine.seed ^ position as u64;
    let mut delays = Vec::new();
    while delays.len() < 10 || (delays.len() < 200 && begun.elapsed().as_secs_f64() < seconds) {
        let reference = 1 + splitmix(&mut state) % RANDOM_ITERATIONS;
        let batch = batch(engine, position, requested, 1, reference)?;
        // The second delay of a block starts when the first has ended: only the first is random.
        delays.extend(delays_of(&batch).first());
    }
    delays.sort_by(f64::total_cmp);
    let at = |share: f64| delays[((delays.len() - 1) as f64 * share).round() as usize];
    Ok(Some(RandomStarts {
        requested_ns: requested as f64,
        range_ns: (at(0.1), at(0.9)),
        starts: delays.len() as u64,
    }))
}

/// Returns the next number of the generator SplitMix64 (Steele, Lea and Flood 2014). It is
/// repeatable from the run's seed.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_delays_come_back_by_length_and_random_starts_do_not() {
        let slice = |role, elapsed_ns| antiphon_measure::Slice {
            block: 0,
            role,
            iterations: 1,
            start_ns: 0,
            elapsed_ns,
            voluntary: 0,
            involuntary: 0,
            minor_faults: 0,
            major_faults: 0,
            wait_ns: None,
            processor: None,
            checksum: 0,
        };
        let raw = |arg, slices| {
            let batch = Batch {
                slices,
                ..Batch::default()
            };
            let raw = Raw::Batch {
                asked: String::new(),
                arg: Some(arg),
                batch,
            };
            (START, raw)
        };
        let single = vec![slice(Role::Control, 10), slice(Role::Test, 1010)];
        let random = vec![slice(Role::Reference, 99), slice(Role::Test, 5000)];
        let raws = [
            raw(1000, single.clone()),
            raw(1000, single),
            raw(2000, random),
        ];
        let known: Vec<_> = stored(&raws).into_iter().collect();
        assert_eq!(known, [(1000, vec![1000.0, 1000.0])]);
    }

    #[test]
    fn a_sweep_has_both_ends_and_equal_ratios() {
        let sweep = DelaySweep {
            from_ns: 1000,
            to_ns: 100_000_000,
            points_per_decade: 9,
            quick_points_per_decade: 3,
            seconds: 1.0,
            quick_seconds: 1.0,
        };
        let quick = points(&sweep, true);
        assert_eq!(quick.len(), 16);
        assert_eq!((quick[0], quick[3], quick[15]), (1000, 10_000, 100_000_000));
        assert_eq!(points(&sweep, false).len(), 46);
    }

    #[test]
    fn a_point_is_the_median_with_limits_between_the_extremes() {
        let delays: Vec<f64> = (0..=100).map(f64::from).collect();
        let point = point(5, &delays).unwrap();
        assert_eq!(point.actual_ns.value, 50.0);
        assert_eq!((point.actual_ns.low, point.actual_ns.high), (40.0, 60.0));
        assert_eq!(point.range_ns, (0.0, 100.0));
        assert_eq!(super::point(5, &[]), None);
    }
}
