//! Items that are series: readings of a clock, the system's interference, latencies, and storage
//! loops.

use super::analysis::UNKNOWN_CLOCK;
use super::engine::{Engine, Failure};
use super::placement_check;
use crate::protocol::{ClockUnit, GAPS_TIME_NS, READINGS_MAX};
use crate::record::{Absence, Outcome};
use crate::session::SeriesAnswer;
use crate::store::Raw;
use antiphon_measure::{
    ClockError, ClockEstimate, GapLoop, Interference, LatencyEstimate, StorageEstimate,
    StorageOutcome, gap_threshold_ns,
};
use antiphon_runner::Limits;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Process start of all series: the first one.
const START: u32 = 0;

/// Readings that show the typical turn of the loop, before the search for gaps.
const TYPICAL_READINGS: u64 = 20_000;

/// Readings of a coarse clock for one item of interference: for each second, and at most. Each
/// takes a byte in the store and eight in memory, and all are kept.
const READINGS_PER_SECOND: f64 = 4e6;
const MOST_READINGS: f64 = 2e7;

/// Returns the unit's word in the protocol.
pub(super) fn unit_word(unit: ClockUnit) -> &'static str {
    match unit {
        ClockUnit::Nanoseconds => "ns",
        ClockUnit::Ticks => "ticks",
    }
}

/// Turns an estimate's error into an absence.
fn absent(error: impl Display) -> Failure {
    Failure::Absent(Absence::of_message(error))
}

/// Readings of a clock of the subject, stored.
fn read(
    engine: &mut Engine<'_, '_>,
    position: usize,
    clock: &str,
    count: u64,
) -> Result<Vec<i64>, Failure> {
    let identity = engine.items[position].identity.clone();
    let limit = engine.processes.hang_limit + Duration::from_micros(20 * count);
    let live = engine
        .processes
        .live(&identity, START)
        .map_err(Failure::Absent)?;
    let answer = live.session.clock(clock, count, limit);
    let reported = engine.took(position, START, answer)?;
    let readings = placement_check::kept(engine, position, START, reported)?;
    let raw = Raw::Readings {
        clock: clock.to_owned(),
        readings: readings.clone(),
    };
    engine.append(position, START, &raw)?;
    Ok(readings)
}

/// Reading time of a coarse clock: a hundred ticks of one that moves each 4 ms.
const COARSE_TIME: Duration = Duration::from_millis(400);

/// Checks whether readings hold too few ticks of a clock for its resolution.
fn ticks_seldom(estimate: &Result<ClockEstimate, ClockError>) -> bool {
    match estimate {
        Ok(estimate) => estimate.is_upper_bound(),
        Err(error) => matches!(error, ClockError::StoodStill { .. }),
    }
}

pub(super) fn clock(
    engine: &mut Engine<'_, '_>,
    position: usize,
    count: u64,
    unit: &str,
) -> Result<Outcome, Failure> {
    let name = engine.items[position].identity.test.clone();
    let readings = read(engine, position, &name, count.min(READINGS_MAX))?;
    let mut estimate = ClockEstimate::from_readings(&readings);
    if ticks_seldom(&estimate) {
        estimate = coarse(engine, position, &name, unit, estimate)?;
    }
    let estimate = estimate.map_err(absent)?;
    Ok(Outcome::Clock {
        unit: unit.to_owned(),
        estimate,
    })
}

/// Estimates a clock that ticks each few ms.
///
/// The estimate needs time, not a number of readings. The clock is read for a while, and every
/// tick is kept as a gap. A subject without such a loop keeps the estimate of the series.
fn coarse(
    engine: &mut Engine<'_, '_>,
    position: usize,
    name: &str,
    unit: &str,
    first: Result<ClockEstimate, ClockError>,
) -> Result<Result<ClockEstimate, ClockError>, Failure> {
    match gap_loop(engine, position, name, 0, COARSE_TIME)? {
        None => Ok(first),
        Some(mut seen) => {
            // The wait of the reader is unknown in units other than nanoseconds.
            seen.wait_ns = seen
                .wait_ns
                .filter(|_| unit == unit_word(ClockUnit::Nanoseconds));
            Ok(ClockEstimate::from_tick_loop(&seen))
        }
    }
}

/// Measures interference by a loop of `seconds` that keeps gaps. A clock too coarse for gaps gives
/// as many readings instead.
pub(super) fn interference(
    engine: &mut Engine<'_, '_>,
    position: usize,
    seconds: f64,
) -> Result<Outcome, Failure> {
    let identity = engine.items[position].identity.clone();
    let live = engine
        .processes
        .live(&identity, START)
        .map_err(Failure::Absent)?;
    let clock = live.session.hello().clock.clone();
    let typical = read(engine, position, &clock, TYPICAL_READINGS)?;
    if engine.interrupted() {
        return Err(Failure::Interrupted);
    }
    let estimate = match gap_threshold_ns(&typical).map_err(absent)? {
        Some(over_ns) => gaps(engine, position, &clock, over_ns, seconds)?,
        None => zero_strings(engine, position, &clock, seconds)?,
    };
    engine
        .betas
        .insert((identity.subject, identity.policy), estimate.beta);
    Ok(Outcome::Interference(estimate))
}

/// Measures the system's interference by the gaps of a loop.
fn gaps(
    engine: &mut Engine<'_, '_>,
    position: usize,
    clock: &str,
    over_ns: u64,
    seconds: f64,
) -> Result<Interference, Failure> {
    let most = Duration::from_nanos(*GAPS_TIME_NS.end());
    let time = Duration::try_from_secs_f64(seconds).map_or(most, |time| time.min(most));
    match gap_loop(engine, position, clock, over_ns, time)? {
        Some(seen) => Interference::from_gaps(&seen).map_err(absent),
        None => Err(absent(
            "the subject has no loop that keeps the gaps of its clock; `antiphon doctor --subject` says what the protocol asks",
        )),
    }
}

/// Runs a gap loop and stores it; `None` if the subject refuses.
fn gap_loop(
    engine: &mut Engine<'_, '_>,
    position: usize,
    clock: &str,
    over: u64,
    time: Duration,
) -> Result<Option<GapLoop>, Failure> {
    let identity = engine.items[position].identity.clone();
    // The loop ends by the clock, however little of the processor it gets. It then needs some more
    // to print.
    let limit = engine.processes.hang_limit + 2 * time;
    let live = engine
        .processes
        .live(&identity, START)
        .map_err(Failure::Absent)?;
    let answer = live.session.gaps(clock, time, over, limit);
    if matches!(&answer, Err(error) if error.lives_on()) {
        return Ok(None);
    }
    let reported = engine.took(position, START, answer)?;
    let seen = placement_check::kept(engine, position, START, reported)?;
    let raw = Raw::Gaps {
        clock: clock.to_owned(),
        over_ns: over,
        seen: seen.clone(),
    };
    engine.append(position, START, &raw)?;
    Ok(Some(seen))
}

/// Series of the most readings that one request gives, joined, of a coarse clock.
fn zero_strings(
    engine: &mut Engine<'_, '_>,
    position: usize,
    clock: &str,
    seconds: f64,
) -> Result<Interference, Failure> {
    let begun = Instant::now();
    let mut joined: Vec<i64> = Vec::new();
    // Printing and reading a series takes longer than taking it: the time is that of the whole.
    let enough = (seconds * READINGS_PER_SECOND).min(MOST_READINGS) as usize;
    while joined.len() < enough && (joined.is_empty() || begun.elapsed().as_secs_f64() < seconds) {
        if engine.interrupted() {
            break;
        }
        let series = read(engine, position, clock, READINGS_MAX)?;
        join(&mut joined, &series);
    }
    if joined.is_empty() {
        return Err(Failure::Interrupted);
    }
    Interference::from_readings(&joined, None).map_err(absent)
}

/// Appends a series directly after the last one. The time between two requests is the laboratory's,
/// not interference.
fn join(joined: &mut Vec<i64>, series: &[i64]) {
    let (Some(last), [first, second, ..]) = (joined.last().copied(), series) else {
        joined.extend_from_slice(series);
        return;
    };
    let ordinary = second.wrapping_sub(*first);
    let shift = last.wrapping_add(ordinary).wrapping_sub(*first);
    joined.extend(series.iter().map(|reading| reading.wrapping_add(shift)));
}

pub(super) fn latency(
    engine: &mut Engine<'_, '_>,
    position: usize,
    count: u64,
    interval_ns: u64,
) -> Result<Outcome, Failure> {
    let identity = engine.items[position].identity.clone();
    let meant = Duration::from_nanos(count.saturating_mul(interval_ns));
    let limit = engine.processes.hang_limit + 4 * meant + Duration::from_millis(count);
    let live = engine
        .processes
        .live(&identity, START)
        .map_err(Failure::Absent)?;
    let overhead_ns = match live.clock {
        UNKNOWN_CLOCK => 0.0,
        clock => clock.cost_ns,
    };
    let answer = live
        .session
        .latency(&identity.test, identity.arg, count, interval_ns, limit);
    let reported = engine.took(position, START, answer)?;
    let samples = placement_check::kept(engine, position, START, reported)?;
    engine.append(position, START, &Raw::Samples(samples.clone()))?;
    let estimate =
        LatencyEstimate::from_samples(&samples, interval_ns, overhead_ns).map_err(absent)?;
    Ok(Outcome::Latency(estimate))
}

/// Runs a storage loop in a separate process, so that its memory limit and remains do not affect
/// other tests.
pub(super) fn series(
    engine: &mut Engine<'_, '_>,
    position: usize,
    count: u64,
    memory_limit_mib: Option<u64>,
) -> Result<Outcome, Failure> {
    let identity = engine.items[position].identity.clone();
    let limits = Limits {
        address_space_bytes: memory_limit_mib.map(|mib| mib << 20),
        ..Limits::default()
    };
    let limit = engine.processes.hang_limit + Duration::from_micros(100 * count);
    let own = |error| Engine::own_failed(&error);
    engine.processes.rest();
    let mut live = engine.processes.begin(&identity, limits).map_err(own)?;
    let answer = live
        .session
        .series(&identity.test, identity.arg, count, limit)
        .map_err(own)?;
    live.end();
    let SeriesAnswer {
        readings,
        completed,
        exhausted,
    } = placement_check::kept(engine, position, START, answer)?;
    let raw = Raw::Series {
        readings: readings.clone(),
        completed,
        exhausted: exhausted.clone(),
    };
    engine.append(position, START, &raw)?;
    // One reading before the first turn and one after each.
    let outcome = StorageOutcome {
        completed,
        object_bytes: identity.arg.unwrap_or(0),
        exhausted,
    };
    let estimate = StorageEstimate::from_readings(&readings, outcome).map_err(absent)?;
    Ok(Outcome::Storage(estimate))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn joined_series_have_no_gap_between_them() {
        let mut joined = Vec::new();
        join(&mut joined, &[100, 125, 150]);
        join(&mut joined, &[9000, 9020, 9045]);
        assert_eq!(joined, [100, 125, 150, 170, 190, 215]);
    }
}
