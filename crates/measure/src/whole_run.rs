//! Whole runs of programs: the time of several runs of one program, and the ratio of two programs
//! that took turns.

use crate::Interval;
use crate::statistics::Ranked;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// The level of the intervals.
pub(crate) const LEVEL: f64 = 0.95;

/// One run of a program, from its start to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeRun {
    /// Round of the run: compared programs run once in each.
    pub round: u32,
    /// The time that the program took by its own account, ns: without its start and its end.
    pub elapsed_ns: u64,
    /// Time from just before the program was loaded to its end, ns.
    pub wall_ns: u64,
    /// Processor time in user mode, ns.
    pub user_ns: u64,
    /// Processor time in the system, ns.
    pub system_ns: u64,
    /// Largest resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Memory of the laboratory at the program's start, from which the system begins to count,
    /// bytes; `None` in runs that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rss_floor_bytes: Option<u64>,
    /// The system's context switches because the program waited.
    pub voluntary: u64,
    /// The system's context switches because it was made to give way.
    pub involuntary: u64,
    /// Counters of the program or its run-time system, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}

/// Possible growth of the starting process before the program is loaded, bytes: four times the
/// observed one.
const FLOOR_SLACK_BYTES: u64 = 512 << 10;

impl WholeRun {
    /// Checks whether the largest resident memory may be that of the starting process, so that it
    /// only says "at most this".
    pub fn peak_is_bound(&self) -> bool {
        let floor = self.peak_rss_floor_bytes;
        floor.is_none_or(|floor| self.peak_rss_bytes <= floor.saturating_add(FLOOR_SLACK_BYTES))
    }
}

/// Figure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFigure {
    /// Its time, ns.
    Time,
    /// Its time divided by the `operations` that it counted, ns.
    TimePerOperation,
    /// The `cpu_ns` that it counted, divided by its `operations`, ns.
    CpuPerOperation,
    /// One of its counters as a share of another.
    Share {
        /// The counter that is divided.
        of: String,
        /// The counter that it is divided by.
        whole: String,
    },
}

impl RunFigure {
    /// Returns the figure of one run; `None` if a counter is missing, or the divisor is zero.
    pub fn of(&self, run: &WholeRun) -> Option<f64> {
        let counter = |name: &str| run.counters.get(name).map(|count| *count as f64);
        let (part, whole) = match self {
            RunFigure::Time => return Some(run.elapsed_ns as f64),
            RunFigure::TimePerOperation => (run.elapsed_ns as f64, counter("operations")?),
            RunFigure::CpuPerOperation => (counter("cpu_ns")?, counter("operations")?),
            RunFigure::Share { of, whole } => (counter(of)?, counter(whole)?),
        };
        (whole > 0.0).then(|| part / whole)
    }
}

/// Least number of runs with a sign-test interval. The range of fewer holds the median too seldom,
/// of three runs three times in four.
const FEW: usize = 6;

/// Returns the median time of runs, ns, with its interval; `None` without runs.
///
/// The interval is by the sign test, or by Student's t for fewer than six runs. One run has no
/// limits.
pub fn run_time_ns(runs: &[WholeRun]) -> Option<Interval> {
    run_figure(runs, &RunFigure::Time)
}

/// Returns the median of a figure of runs, with its interval as above; `None` if no run has it.
pub fn run_figure(runs: &[WholeRun], figure: &RunFigure) -> Option<Interval> {
    let values: Vec<f64> = runs.iter().filter_map(|run| figure.of(run)).collect();
    // A part that was never more than its whole is no more in another run.
    let is_part = matches!(figure, RunFigure::Share { .. }) && values.iter().all(|of| *of <= 1.0);
    let found = interval(values)?;
    Some(match found.limits() {
        Some((_, high)) if is_part => Interval {
            high: high.min(1.0),
            ..found
        },
        _ => found,
    })
}

/// Returns the median ratio of two programs' figures in their common rounds, with its interval;
/// `None` without such a round.
pub fn run_ratio(of: &[WholeRun], to: &[WholeRun], figure: &RunFigure) -> Option<Interval> {
    let in_round = |run: &WholeRun| to.iter().find(|other| other.round == run.round);
    let ratio = |run: &WholeRun| {
        let other = figure.of(in_round(run)?)?;
        (other > 0.0).then_some(figure.of(run)? / other)
    };
    interval(of.iter().filter_map(ratio).collect())
}

/// Returns the median of a counter over runs; `None` if no run has it.
pub fn run_counter(runs: &[WholeRun], name: &str) -> Option<f64> {
    let counts = runs.iter().filter_map(|run| run.counters.get(name));
    let counts: Vec<f64> = counts.map(|count| *count as f64).collect();
    median_interval(&counts).map(|found| found.value)
}

fn interval(values: Vec<f64>) -> Option<Interval> {
    let median = median_interval(&values)?;
    Some(match values.len() {
        2..FEW => of_few(median, &values),
        _ => median,
    })
}

/// Returns the interval of the mean by Student's t, extended to the whole range.
///
/// Each run is another start, so nothing else tells the possible distance of the next one. Times
/// and ratios vary by factors, so it is the mean of their logarithms if they have them.
fn of_few(range: Interval, values: &[f64]) -> Interval {
    if range.low == range.high {
        return range; // Logarithms would add what rounding leaves.
    }
    let (low, high) = match values.iter().all(|value| *value > 0.0) {
        true => {
            let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            let (low, high) = of_mean(&logarithms);
            (low.exp(), high.exp())
        }
        false => of_mean(values),
    };
    // A figure that was never negative is not negative in another run.
    let least = if range.low >= 0.0 {
        0.0
    } else {
        f64::NEG_INFINITY
    };
    Interval {
        low: low.max(least).min(range.low),
        high: high.max(range.high),
        ..range
    }
}

fn of_mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let off = student(count - 1.0, LEVEL) * error;
    (mean - off, mean + off)
}

/// Returns the median of figures, one a round, with its exact interval; `None` without figures.
///
/// The interval is that of the sign test, or the whole range if they are too few for it. One figure
/// has no limits, because nothing tells the distance of another from it.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    match values {
        [] => None,
        [one] => Some(Interval::open(*one)),
        _ => Some(Ranked::new(values).sign(LEVEL)),
    }
}

/// Returns the possible error of a mean at a level, in standard errors, by Student's t with these
/// degrees of freedom. It is infinite without any.
pub fn student(freedom: f64, level: f64) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom);
    student.map_or(f64::INFINITY, |of| {
        of.inverse_cdf(f64::midpoint(1.0, level))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(times: &[u64]) -> Vec<WholeRun> {
        let run = |(round, elapsed_ns): (usize, &u64)| WholeRun {
            round: round as u32,
            elapsed_ns: *elapsed_ns,
            counters: [("switches".to_owned(), round as u64)].into(),
            ..WholeRun::default()
        };
        times.iter().enumerate().map(run).collect()
    }

    #[test]
    fn a_peak_near_what_started_the_program_is_a_bound() {
        let of = |peak_rss_bytes, peak_rss_floor_bytes| WholeRun {
            peak_rss_bytes,
            peak_rss_floor_bytes,
            ..WholeRun::default()
        };
        let floor = 12 << 20;
        assert!(of(floor, Some(floor)).peak_is_bound());
        assert!(of(floor + (132 << 10), Some(floor)).peak_is_bound());
        assert!(!of(floor + (1 << 20), Some(floor)).peak_is_bound());
        assert!(of(60 << 20, None).peak_is_bound());
        let stored = serde_json::to_string(&of(floor, None)).unwrap();
        assert!(!stored.contains("floor"), "{stored}");
        assert_eq!(
            serde_json::from_str::<WholeRun>(&stored).unwrap(),
            of(floor, None)
        );
    }

    #[test]
    fn of_few_runs_the_interval_holds_what_another_may_take() {
        let time = run_time_ns(&runs(&[110, 100, 121])).unwrap();
        assert_eq!(time.value, 110.0);
        // The logarithms are 0.0953 apart: 4.303 standard errors of the mean of three.
        let off = f64::exp(4.3027 * 1.1_f64.ln() / 3.0_f64.sqrt());
        assert!((time.high / 110.0 / off - 1.0).abs() < 1e-4, "{time:?}");
        assert!((110.0 / time.low / off - 1.0).abs() < 1e-4, "{time:?}");
        // One that is like none of the others is within it nevertheless.
        let time = run_time_ns(&runs(&[100, 100, 100, 100, 1000])).unwrap();
        assert!(time.low < 100.0 && time.high >= 1000.0, "{time:?}");
        let same = run_time_ns(&runs(&[100, 100])).unwrap();
        assert_eq!((same.low, same.high), (100.0, 100.0));
        // Figures without a logarithm have limits, too.
        let none = run_time_ns(&runs(&[0, 0, 3])).unwrap();
        assert!(
            none.low == 0.0 && none.value == 0.0 && none.high > 3.0,
            "{none:?}"
        );
        assert_eq!(run_time_ns(&[]), None);
    }

    #[test]
    fn the_interval_of_three_holds_the_truth_as_often_as_it_says() {
        // A generator of its own, so that the test is the same everywhere.
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // Twelve of them are nearly normal, around 0 and with a deviation of 1.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let tries = 4000;
        let held = (0..tries).filter(|_| {
            let times = [(); 3].map(|()| (1e9 * (0.2 * normal()).exp()) as u64);
            let time = run_time_ns(&runs(&times)).unwrap();
            time.low <= 1e9 && 1e9 <= time.high
        });
        let part = held.count() as f64 / f64::from(tries);
        assert!((0.93..0.98).contains(&part), "{part}");
    }

    #[test]
    fn one_run_does_not_tell_how_far_another_may_be_from_it() {
        let time = run_time_ns(&runs(&[30])).unwrap();
        assert_eq!((time.value, time.limits()), (30.0, None));
        let ratio = run_ratio(&runs(&[30]), &runs(&[10, 20]), &RunFigure::Time).unwrap();
        assert_eq!((ratio.value, ratio.limits()), (3.0, None));
    }

    #[test]
    fn a_ratio_pairs_rounds_and_so_ignores_what_slowed_a_whole_round() {
        // The second round was ten times slower for both.
        let ratio = run_ratio(
            &runs(&[20, 200, 20]),
            &runs(&[10, 100, 10]),
            &RunFigure::Time,
        )
        .unwrap();
        assert_eq!((ratio.low, ratio.value, ratio.high), (2.0, 2.0, 2.0));
    }

    #[test]
    fn rounds_that_one_of_them_missed_do_not_count() {
        let late = &runs(&[1, 1, 50])[2..];
        assert_eq!(
            run_ratio(late, &runs(&[10, 10, 25]), &RunFigure::Time)
                .unwrap()
                .value,
            2.0
        );
        assert_eq!(run_ratio(late, &runs(&[10, 10]), &RunFigure::Time), None);
    }

    #[test]
    fn a_mean_of_few_may_be_farther_off() {
        assert!((student(4.0, 0.95) - 2.776).abs() < 1e-3);
        assert!((student(1e6, 0.95) - 1.960).abs() < 1e-3);
        assert_eq!(student(0.0, 0.95), f64::INFINITY);
    }

    #[test]
    fn more_runs_give_a_narrower_interval_than_their_range() {
        let time = run_time_ns(&runs(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])).unwrap();
        assert!(time.low > 1.0 && time.high < 12.0, "{time:?}");
    }

    #[test]
    fn runs_of_a_fixed_time_are_compared_by_the_operation() {
        let counting = |operations: u64| WholeRun {
            elapsed_ns: 1000,
            counters: [
                ("operations".to_owned(), operations),
                ("kept".to_owned(), 50),
                ("cpu_ns".to_owned(), 3000),
            ]
            .into(),
            ..WholeRun::default()
        };
        let (slow, fast) = ([counting(100)], [counting(200)]);
        let each = &RunFigure::TimePerOperation;
        assert_eq!(run_figure(&slow, each).unwrap().value, 10.0);
        assert_eq!(run_ratio(&slow, &fast, each).unwrap().value, 2.0);
        let cpu = &RunFigure::CpuPerOperation;
        assert_eq!(run_figure(&slow, cpu).unwrap().value, 30.0);
        assert_eq!(run_figure(&runs(&[7]), cpu), None);
        let kept = &RunFigure::Share {
            of: "kept".into(),
            whole: "operations".into(),
        };
        assert_eq!(run_figure(&fast, kept).unwrap().value, 0.25);
        let unlike = [counting(50), counting(100), counting(200)];
        assert_eq!(run_figure(&unlike, kept).unwrap().high, 1.0);
        // One run has no limits.
        assert_eq!(run_figure(&fast, kept).unwrap().high, f64::INFINITY);
        assert_eq!(run_figure(&[counting(0)], kept), None);
        assert_eq!(run_figure(&runs(&[7]), kept), None);
    }

    #[test]
    fn counters_are_taken_by_name() {
        let all = runs(&[5, 5, 5]);
        assert_eq!(run_counter(&all, "switches"), Some(1.0));
        assert_eq!(run_counter(&all, "nothing"), None);
    }
}
