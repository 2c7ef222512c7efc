//! Clocks and interference of the system, read in this very process before any subject is built.

use crate::protocol::GAPS_MAX;
use antiphon_measure::{
    ClockError, ClockEstimate, ClockGap, ENOUGH_TICKS, GapLoop, Interference, gap_threshold_ns,
};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::time::Duration;

/// One clock of the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockReport {
    /// Its POSIX name.
    pub name: &'static str,
    /// Estimate from its readings, ns; `None` if they give none.
    pub estimate: Option<ClockEstimate>,
}

const CLOCKS: [(&str, ClockId); 6] = [
    ("CLOCK_MONOTONIC", ClockId::Monotonic),
    ("CLOCK_REALTIME", ClockId::Realtime),
    ("CLOCK_MONOTONIC_RAW", ClockId::MonotonicRaw),
    ("CLOCK_MONOTONIC_COARSE", ClockId::MonotonicCoarse),
    ("CLOCK_PROCESS_CPUTIME_ID", ClockId::ProcessCPUTime),
    ("CLOCK_THREAD_CPUTIME_ID", ClockId::ThreadCPUTime),
];

/// Readings of each clock that are kept.
const READINGS: usize = 200_000;
/// Longest time spent on one clock, for those that are expensive to read.
const LONGEST: Duration = Duration::from_millis(100);
/// The longest time in which a clock that ticks seldom is waited for.
const LONGEST_WAIT: Duration = Duration::from_millis(400);
/// Limit of kept readings in the search for interference, if the clock is too coarse to show gaps:
/// 16 MB.
const READINGS_MAX: usize = 2_000_000;

/// Measures resolution and cost of the system's clocks.
pub fn clock_reports() -> Vec<ClockReport> {
    CLOCKS
        .into_iter()
        .map(|(name, clock)| {
            let readings = readings(clock, READINGS, LONGEST);
            let estimate = ClockEstimate::from_readings(&readings).ok();
            let estimate = match estimate {
                Some(estimate) if !estimate.is_upper_bound() => Some(estimate),
                few => seldom(clock).or(few),
            };
            ClockReport { name, estimate }
        })
        .collect()
}

/// Estimates a clock that ticks a few hundred times a second from its ticks alone. The readings
/// between them would fill the memory.
fn seldom(clock: ClockId) -> Option<ClockEstimate> {
    const LOOK: usize = 1024;
    let begun = read(ClockId::Monotonic);
    let mut now = begun;
    let mut moved = vec![read(clock)];
    let mut looks: Vec<i64> = Vec::new();
    while moved.len() <= ENOUGH_TICKS && now - begun < LONGEST_WAIT.as_nanos() as i64 {
        for _ in 0..LOOK {
            let reading = read(clock);
            if moved.last() != Some(&reading) {
                moved.push(reading);
            }
        }
        let before = std::mem::replace(&mut now, read(ClockId::Monotonic));
        looks.push(now - before);
    }
    looks.sort_unstable();
    let estimate = ClockEstimate::from_ticks(&moved, LOOK * looks.len()).ok()?;
    // Other load lengthens some looks, and with them the time between two ticks.
    let cost = *looks.get(looks.len() / 2)? as f64 / LOOK as f64;
    Some(ClockEstimate { cost, ..estimate })
}

/// Measures the interruptions of this thread during a loop that only reads the clock.
///
/// # Errors
/// The readings tell nothing.
pub fn interference(time: Duration) -> Result<Interference, ClockError> {
    let typical = readings(ClockId::Monotonic, READINGS, LONGEST);
    let Some(over_ns) = gap_threshold_ns(&typical)? else {
        let coarse = readings(ClockId::Monotonic, READINGS_MAX, time);
        return Interference::from_readings(&coarse, None);
    };
    let wait = || super::System::at("/".as_ref()).waited_ns();
    let before = wait();
    let mut seen = gaps(time, over_ns);
    seen.wait_ns = before
        .zip(wait())
        .map(|(before, after)| after.saturating_sub(before));
    Interference::from_gaps(&seen)
}

/// Reads the monotonic clock for a time and keeps the gaps, in memory that has been touched before.
fn gaps(time: Duration, over_ns: u64) -> GapLoop {
    let touched = ClockGap {
        start_ns: 1,
        duration_ns: 1,
    };
    let mut seen = GapLoop {
        readings: 1,
        kept: vec![touched; GAPS_MAX as usize],
        ..GapLoop::default()
    };
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let first = read(ClockId::Monotonic);
    let mut before = first;
    while seen.elapsed_ns < time_ns {
        let now = read(ClockId::Monotonic);
        let step = now.abs_diff(before);
        if step > over_ns {
            if let Some(gap) = seen.kept.get_mut(seen.gaps as usize) {
                *gap = ClockGap {
                    start_ns: seen.elapsed_ns,
                    duration_ns: step,
                };
            }
            seen.gaps += 1;
            seen.lost_ns += step;
        }
        seen.readings += 1;
        seen.elapsed_ns = now.abs_diff(first);
        before = now;
    }
    seen.kept.truncate(seen.gaps as usize);
    seen
}

/// Returns successive readings in ns, in memory that has been touched before.
fn readings(clock: ClockId, most: usize, time: Duration) -> Vec<i64> {
    let mut readings = vec![1_i64; most];
    let end = read(ClockId::Monotonic).saturating_add(time.as_nanos() as i64);
    let mut count = 0;
    // The deadline is checked once a stretch, so that the loop is even between the checks.
    for stretch in readings.chunks_mut(4096) {
        for reading in stretch.iter_mut() {
            *reading = read(clock);
        }
        count += stretch.len();
        if read(ClockId::Monotonic) >= end {
            break;
        }
    }
    readings.truncate(count);
    readings
}

fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_of_the_system_gives_readings_and_the_monotonic_one_an_estimate() {
        let reports = clock_reports();
        assert_eq!(reports.len(), CLOCKS.len());
        let monotonic = reports[0].estimate.as_ref().expect("it ticks");
        assert!(monotonic.resolution > 0.0 && monotonic.cost > 0.0 && monotonic.steps_back == 0);
        let coarse = reports
            .iter()
            .find(|report| report.name == "CLOCK_MONOTONIC_COARSE");
        let coarse = coarse
            .and_then(|report| report.estimate.as_ref())
            .expect("it ticks at least some ten times in the time given");
        assert!(coarse.resolution >= monotonic.resolution && coarse.ticks > 0);
    }
}
