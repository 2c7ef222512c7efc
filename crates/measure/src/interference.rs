//! The operating system's interference: its period Tp, duration Tos and share β (equations 13–21).

use crate::clock::{differences, gap_limit};
use crate::periodic::{self, Gap};
use crate::statistics::quantile;
use crate::{ClockError, ClockEstimate, GapLoop};
use serde::{Deserialize, Serialize};

/// Losses of the processor during a series of clock readings. Times are in ns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interference {
    /// Length of the series.
    pub observed_ns: f64,
    /// Share of the time that was lost: β, from all gaps (or all shortened zero strings) together.
    pub beta: f64,
    /// Applicable case of the paper's two.
    pub case: InterferenceCase,
    /// Periodic functions found, the largest share first.
    pub periodic: Vec<PeriodicFunction>,
    /// Every gap, for a plot: start (ns from the beginning of the series) and duration, the longest
    /// 2000 in order of time.
    pub gaps: Vec<(f64, f64)>,
    /// Share of the time that the thread was ready but not running by `/proc/self/schedstat`;
    /// `None` where absent.
    pub schedstat_beta: Option<f64>,
}

/// One periodic function of the operating system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeriodicFunction {
    /// Tp, ns.
    pub period_ns: f64,
    /// Tos, ns.
    pub duration_ns: f64,
    /// Number of occurrences.
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
/// Share of zero strings that must be within one of the typical length for shortening to mean
/// interference.
const REGULAR: f64 = 0.5;

impl Interference {
    /// Analyses a loop that kept only the gaps of its clock. The time of an undisturbed turn does
    /// not count as lost.
    ///
    /// This covers seconds of real time in little memory, for clocks with a limit by
    /// [`crate::gap_threshold_ns`].
    ///
    /// # Errors
    /// [`ClockError`], where the loop was too short or its clock stood still.
    pub fn from_gaps(seen: &GapLoop) -> Result<Self, ClockError> {
        let readings = usize::try_from(seen.readings).unwrap_or(usize::MAX);
        if seen.readings < 2 {
            return Err(ClockError::TooFew { readings });
        }
        if seen.elapsed_ns == 0 {
            return Err(ClockError::StoodStill { readings });
        }
        let turn_ns = seen.turn_ns();
        let without_turn = |ns: u64, turns: u64| (ns as f64 - turn_ns * turns as f64).max(0.0);
        let gaps: Vec<Gap> = seen
            .kept
            .iter()
            .map(|gap| (gap.start_ns as f64, without_turn(gap.duration_ns, 1)))
            .collect();
        let observed_ns = seen.elapsed_ns as f64;
        let share = |ns: f64| (ns / observed_ns).clamp(0.0, 1.0);
        Ok(Interference {
            observed_ns,
            beta: share(without_turn(seen.lost_ns, seen.gaps)),
            case: InterferenceCase::Gaps,
            periodic: periodic::functions(&gaps, turn_ns),
            gaps: longest(gaps),
            schedstat_beta: seen.wait_ns.map(|wait| share(wait as f64)),
        })
    }

    /// Analyses successive clock readings in ns, taken in a tight loop with a clock that calls
    /// nothing of varying time.
    ///
    /// `wait_ns` is the time that the thread was ready but not running meanwhile, by
    /// `/proc/thread-self/schedstat`.
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
        // A coarse clock shows long interruptions as gaps and short ones as shortened strings.
        // Without gaps, strings decide.
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

/// Returns every first difference above the limit, as its start and its excess over the loop
/// (equation 21).
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

/// Analyses the paper's second case, for a clock coarser than the loop. `None` if the strings are
/// too irregular.
///
/// It finds strings of zeros between ticks that are shorter than the typical one by more than one.
/// Each is given as its end and its loss.
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

/// Returns the longest gaps, in order of time.
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
    use crate::{ClockGap, gap_threshold_ns};
    use proptest::prelude::*;

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

    /// Returns the loop that would have kept these readings' gaps.
    fn gap_loop(readings: &[i64], over: i64) -> GapLoop {
        let gaps = readings.windows(2).filter(|w| w[1] - w[0] > over);
        let kept: Vec<ClockGap> = gaps
            .map(|w| ClockGap {
                start_ns: (w[0] - readings[0]) as u64,
                duration_ns: (w[1] - w[0]) as u64,
            })
            .collect();
        GapLoop {
            readings: readings.len() as u64,
            elapsed_ns: (readings[readings.len() - 1] - readings[0]) as u64,
            wait_ns: None,
            gaps: kept.len() as u64,
            lost_ns: kept.iter().map(|gap| gap.duration_ns).sum(),
            kept,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// Gaps alone give the same result as all readings, and both the truth.
        #[test]
        fn gaps_tell_the_period_duration_and_share(
            period_ns in 5e4..3e5_f64,
            share in 0.005..0.3_f64,
            cost_ns in 15.0..80.0_f64,
            seed in any::<u64>(),
        ) {
            let duration_ns = share * period_ns;
            // A duration of up to eight turns of the loop is no gap (`gap_limit`), and turns vary.
            prop_assume!(duration_ns > 10.0 * cost_ns);
            // At least six periods of it.
            let count = (6.0 * period_ns / cost_ns) as usize;
            let at = interruption(period_ns, duration_ns);
            let readings = clock_readings(count, 1.0, cost_ns, 0.03 * cost_ns, &[at], seed);
            let over = gap_threshold_ns(&readings[..1000]).unwrap().unwrap();
            let seen = Interference::from_gaps(&gap_loop(&readings, over as i64)).unwrap();
            let whole = Interference::from_readings(&readings, None).unwrap();
            prop_assert!((seen.beta - whole.beta).abs() < 1e-4, "{} {}", seen.beta, whole.beta);
            // A period more or less in some six.
            prop_assert!((seen.beta / share - 1.0).abs() < 0.25, "{} {share}", seen.beta);
            prop_assert_eq!(seen.periodic.len(), 1, "{:?}", seen.periodic);
            prop_assert!((seen.periodic[0].period_ns / period_ns - 1.0).abs() < 0.01);
            prop_assert!((seen.periodic[0].duration_ns - duration_ns).abs() < 2.0 * cost_ns);
        }
    }

    #[test]
    fn seconds_of_a_throttled_thread_show_its_throttle() {
        // SCHED_FIFO shows this pattern: 50 ms lost in each second, and a timer interrupt of 3 µs
        // each 4 ms.
        let every = |period: u64, duration: u64| {
            (1..=3_200_000_000 / period).map(move |i| ClockGap {
                start_ns: i * period - duration,
                duration_ns: duration + 25,
            })
        };
        let mut kept: Vec<ClockGap> = every(1_000_000_000, 50_000_000)
            .chain(every(4_000_000, 3_000))
            .collect();
        kept.sort_by_key(|gap| gap.start_ns);
        let lost_ns = kept.iter().map(|gap| gap.duration_ns).sum();
        let elapsed_ns = 3_200_000_000;
        let gaps = kept.len() as u64;
        let seen = Interference::from_gaps(&GapLoop {
            readings: (elapsed_ns - lost_ns) / 25 + gaps + 1,
            elapsed_ns,
            wait_ns: Some(150_000_000),
            gaps,
            lost_ns,
            kept,
        })
        .unwrap();
        let first = seen.periodic[0];
        assert!((first.period_ns / 1e9 - 1.0).abs() < 1e-6, "{first:?}");
        assert!((first.duration_ns / 5e7 - 1.0).abs() < 1e-6, "{first:?}");
        assert!(
            (seen.periodic[1].period_ns / 4e6 - 1.0).abs() < 1e-3,
            "{seen:?}"
        );
        assert!((seen.schedstat_beta.unwrap() - 0.046_875).abs() < 1e-9);
        assert!(
            (seen.beta - 0.046_875 - 3e3 / 4e6).abs() < 1e-4,
            "{}",
            seen.beta
        );
    }

    #[test]
    fn a_loop_without_gaps_lost_nothing() {
        let mut seen = GapLoop {
            readings: 1_000_001,
            elapsed_ns: 25_000_000,
            ..GapLoop::default()
        };
        let quiet = Interference::from_gaps(&seen).unwrap();
        assert_eq!((quiet.beta, quiet.schedstat_beta), (0.0, None));
        assert!(quiet.periodic.is_empty() && quiet.gaps.is_empty());
        seen.elapsed_ns = 0;
        let still = Interference::from_gaps(&seen).unwrap_err();
        assert_eq!(
            still,
            ClockError::StoodStill {
                readings: 1_000_001
            }
        );
        seen.readings = 1;
        let few = Interference::from_gaps(&seen).unwrap_err();
        assert_eq!(few, ClockError::TooFew { readings: 1 });
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
