//! The operating system's interference: its period Tp, duration Tos and share β (equations 13–21).

use crate::clock::{differences, gap_limit};
use crate::periodic::{self, Gap};
use crate::statistics::quantile;
use crate::{ClockError, ClockEstimate};
use serde::{Deserialize, Serialize};

/// What took the processor away during a series of clock readings. Times in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interference {
    /// Length of the series.
    pub observed_ns: f64,
    /// Share of the time that was lost: β, from all gaps (or all shortened zero strings) together.
    pub beta: f64,
    /// Which of the paper's two cases applied.
    pub case: InterferenceCase,
    /// Periodic functions found, the largest share first.
    pub periodic: Vec<PeriodicFunction>,
    /// Every gap, for a plot: start (ns from the beginning of the series) and duration, the longest 2000 in order of time.
    pub gaps: Vec<(f64, f64)>,
    /// Share of the time that the thread was ready but not running by `/proc/self/schedstat`; `None` where absent.
    pub schedstat_beta: Option<f64>,
}

/// One periodic function of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodicFunction {
    /// Tp, ns.
    pub period_ns: f64,
    /// Tos, ns.
    pub duration_ns: f64,
    /// How many times it was seen.
    pub occurrences: usize,
}

/// The two cases of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterferenceCase {
    /// Tos ≫ τ: each interruption is a gap in the readings (equation 21).
    Gaps,
    /// Tos < τ: interruptions shorten the strings of zeros in the differences.
    ShortenedZeroStrings,
}

/// Gaps that are kept for a plot.
const MOST_GAPS: usize = 2000;
/// Share of zero strings that must be within one of the typical length for shortening to mean interference.
const REGULAR: f64 = 0.5;

impl Interference {
    /// Analyses successive clock readings in ns, taken in a tight loop with a clock that calls nothing of varying time.
    ///
    /// `wait_ns` is how long `/proc/thread-self/schedstat` says that the thread was ready but not running meanwhile.
    ///
    /// # Errors
    /// [`ClockError`], where the readings tell nothing.
    pub fn from_readings(readings: &[i64], wait_ns: Option<u64>) -> Result<Self, ClockError> {
        let first = differences(readings);
        let (tau, cost) = match ClockEstimate::from_readings(readings) {
            Ok(clock) => (clock.resolution, clock.cost),
            // A series without any variation is one without interference.
            Err(ClockError::NoVariation { difference }) => (difference as f64, difference as f64),
            Err(error) => return Err(error),
        };
        let observed_ns = first
            .iter()
            .filter(|d| **d > 0)
            .map(|d| *d as f64)
            .sum::<f64>()
            .max(1.0);
        let gaps = gaps(&first, cost, gap_limit(&first, tau));
        let lost: f64 = gaps.iter().map(|g| g.1).sum();
        let shortened = if cost < tau {
            shortened_strings(&first, tau, cost)
        } else {
            None
        };
        // A coarse clock sees long interruptions as gaps and short ones as shortened strings; where it sees no gap, strings decide.
        let (case, functions, share) = match shortened {
            Some(hidden) if gaps.is_empty() => {
                let share = hidden.iter().map(|g| g.1).sum::<f64>() / observed_ns;
                (
                    InterferenceCase::ShortenedZeroStrings,
                    periodic::functions(&hidden, tau),
                    share,
                )
            }
            _ => (
                InterferenceCase::Gaps,
                periodic::functions(&gaps, tau),
                lost / observed_ns,
            ),
        };
        Ok(Interference {
            observed_ns,
            // The sum of no gaps is −0.
            beta: share.clamp(0.0, 1.0) + 0.0,
            case,
            periodic: functions,
            gaps: longest(gaps),
            schedstat_beta: wait_ns.map(|wait| (wait as f64 / observed_ns).clamp(0.0, 1.0)),
        })
    }
}

/// Every first difference above the limit, as its start and what it is longer than the loop (equation 21).
fn gaps(first: &[i64], cost: f64, limit: f64) -> Vec<Gap> {
    let mut now = 0.0;
    let mut gaps = Vec::new();
    for difference in first {
        let length = *difference as f64;
        if length > limit {
            gaps.push((now, (length - cost).max(0.0)));
        }
        now += length.max(0.0);
    }
    gaps
}

/// The paper's second case, for a clock coarser than the loop: strings of zeros between ticks that are shorter than the typical
/// by more than one, each as where it ends and what it lost. `None` where the strings are too irregular to say.
fn shortened_strings(first: &[i64], tau: f64, cost: f64) -> Option<Vec<Gap>> {
    let mut strings: Vec<(f64, f64)> = Vec::new();
    let (mut now, mut zeros) = (0.0, 0.0);
    for difference in first {
        if *difference > 0 {
            now += *difference as f64;
            strings.push((now, zeros));
            zeros = 0.0;
        } else {
            zeros += 1.0;
        }
    }
    // The first string began before the series did.
    strings.drain(..strings.len().min(1));
    let mut lengths: Vec<f64> = strings.iter().map(|s| s.1).collect();
    lengths.sort_by(f64::total_cmp);
    let typical = quantile(&lengths, 0.75);
    let regular = lengths
        .iter()
        .filter(|l| (**l - typical).abs() <= 1.0)
        .count();
    if lengths.len() < 8 || (regular as f64) < REGULAR * lengths.len() as f64 {
        return None;
    }
    let uninterrupted = tau / (typical + 1.0).max(1.0);
    let loop_ns = uninterrupted.min(cost);
    Some(
        strings
            .iter()
            .filter(|s| typical - s.1 > 1.0)
            .map(|s| (s.0, (typical - s.1) * loop_ns))
            .collect(),
    )
}

/// The longest gaps, in order of time.
fn longest(mut gaps: Vec<Gap>) -> Vec<Gap> {
    if gaps.len() > MOST_GAPS {
        gaps.sort_by(|a, b| b.1.total_cmp(&a.1));
        gaps.truncate(MOST_GAPS);
        gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Periodic, clock_readings};

    fn interruption(period_ns: f64, duration_ns: f64) -> Periodic {
        Periodic {
            period_ns,
            duration_ns,
            phase_ns: 0.37 * period_ns,
        }
    }

    #[test]
    fn long_interruptions_are_gaps() {
        let readings = clock_readings(200_000, 1.0, 50.0, 2.0, &[interruption(1e6, 40_000.0)], 1);
        let seen = Interference::from_readings(&readings, Some(400_000)).unwrap();
        assert_eq!(seen.case, InterferenceCase::Gaps);
        assert!((seen.beta - 0.04).abs() < 0.005, "{}", seen.beta);
        assert_eq!(seen.periodic.len(), 1);
        assert!(
            (seen.periodic[0].period_ns / 1e6 - 1.0).abs() < 0.05,
            "{:?}",
            seen.periodic
        );
        assert!((seen.periodic[0].duration_ns / 40_000.0 - 1.0).abs() < 0.01);
        assert!((seen.schedstat_beta.unwrap() - 0.04).abs() < 0.005);
    }

    #[test]
    fn short_interruptions_shorten_the_strings_of_zeros() {
        // A clock of 10 ms read each 100 µs, and a function of 500 µs each 45 ms: β is 1.1 %.
        let readings = clock_readings(200_000, 1e7, 1e5, 0.0, &[interruption(4.5e7, 5e5)], 1);
        let seen = Interference::from_readings(&readings, None).unwrap();
        assert_eq!(seen.case, InterferenceCase::ShortenedZeroStrings);
        assert!((seen.beta / 0.0111 - 1.0).abs() < 0.25, "{}", seen.beta);
        assert!(
            (seen.periodic[0].period_ns / 4.5e7 - 1.0).abs() < 0.05,
            "{:?}",
            seen.periodic
        );
        assert_eq!(seen.schedstat_beta, None);
    }

    #[test]
    fn a_quiet_machine_has_no_interference() {
        for (tau, cost) in [(1.0, 25.0), (1000.0, 30.0), (100.0, 237.0)] {
            let seen =
                Interference::from_readings(&clock_readings(50_000, tau, cost, 0.0, &[], 1), None);
            let Ok(seen) = seen else { continue };
            assert!(seen.beta < 1e-3, "{tau} {cost}: {}", seen.beta);
            assert!(seen.periodic.is_empty());
        }
        let still = Interference::from_readings(&[5; 100], None);
        assert_eq!(still.unwrap_err(), ClockError::StoodStill { readings: 100 });
    }

    #[test]
    fn only_the_longest_gaps_are_kept_but_all_count() {
        let readings = clock_readings(400_000, 1.0, 50.0, 1.0, &[interruption(5000.0, 1000.0)], 1);
        let seen = Interference::from_readings(&readings, None).unwrap();
        assert_eq!(seen.gaps.len(), MOST_GAPS);
        assert!((seen.beta - 0.2).abs() < 0.02, "{}", seen.beta);
        assert!(seen.gaps.is_sorted_by(|a, b| a.0 < b.0));
    }
}
