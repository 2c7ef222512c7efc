//! The system's clocks and its interference, read in this very process: what can be said before any subject is built.

use antiphon_measure::{ClockError, ClockEstimate, Interference};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::time::Duration;

/// One clock of the system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockReport {
    /// Its POSIX name.
    pub name: &'static str,
    /// What its readings told, in ns; `None` where they do not tell.
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

/// Readings of each clock: enough for one that ticks 250 times a second.
const READINGS: usize = 200_000;
/// The longest time that is spent on one clock, for those that are dear to read.
const LONGEST: Duration = Duration::from_millis(100);
/// The most readings that are kept to look for interference: 160 MB.
const READINGS_MAX: usize = 20_000_000;

/// Resolution and cost of the system's clocks.
pub fn clock_reports() -> Vec<ClockReport> {
    CLOCKS
        .into_iter()
        .map(|(name, clock)| {
            let readings = readings(clock, READINGS, LONGEST);
            let estimate = ClockEstimate::from_readings(&readings).ok();
            ClockReport { name, estimate }
        })
        .collect()
}

/// What interrupts this thread while it does nothing but read the clock.
///
/// # Errors
/// The readings tell nothing.
pub fn interference(time: Duration) -> Result<Interference, ClockError> {
    let wait = || super::System::at("/".as_ref()).waited_ns();
    let before = wait();
    let readings = readings(ClockId::Monotonic, READINGS_MAX, time);
    let waited = before
        .zip(wait())
        .map(|(before, after)| after.saturating_sub(before));
    Interference::from_readings(&readings, waited)
}

/// Successive readings in ns, into memory that has been touched before.
fn readings(clock: ClockId, most: usize, time: Duration) -> Vec<i64> {
    let mut readings = vec![1_i64; most];
    let end = read(ClockId::Monotonic).saturating_add(time.as_nanos() as i64);
    let mut count = 0;
    // Whether time is up is looked at once in a while, so that the loop is even between the looks.
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
    }
}
