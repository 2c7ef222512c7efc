//! Latencies of all rounds of a load together. An event in few rounds, such as a pause, is lost in
//! medians over rounds.

use super::{LoadOutcome, LoadRound};
use antiphon_load::{Latency, Packed};
use antiphon_measure::{Interval, Pooled, median_interval, supports};

/// Latencies of a load, ns; `None` if the generator does not tell them or there are too few.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// Latency that half of the requests do not exceed.
    pub p50: Option<Interval>,
    /// Latency that 99 per cent do not exceed.
    pub p99: Option<Interval>,
    /// Latency that 99.9 per cent do not exceed.
    pub p999: Option<Interval>,
    /// The longest of all rounds.
    pub longest: Option<f64>,
    /// Whether they pool all requests of all rounds. Other generators and older runs give no
    /// histogram; they have medians over rounds.
    pub are_pooled: bool,
}

impl LoadOutcome {
    /// Latencies of all requests of all rounds.
    pub fn latencies(&self) -> Latencies {
        let longest = self.rounds.iter().filter_map(|round| round.longest_ns);
        let longest = longest.max().map(|ns| ns as f64);
        match self.histograms() {
            Some(rounds) => {
                let pooled = Pooled::of(rounds);
                Latencies {
                    p50: pooled.at(50.0),
                    p99: pooled.at(99.0),
                    p999: pooled.at(99.9),
                    longest,
                    are_pooled: true,
                }
            }
            None => Latencies {
                p50: self.by_rounds(50.0, |round| round.p50_ns),
                p99: self.by_rounds(99.0, |round| round.p99_ns),
                p999: self.by_rounds(99.9, |round| round.p999_ns),
                longest,
                are_pooled: false,
            },
        }
    }

    /// Returns the raw histogram of all rounds together; `None` if a round has none.
    pub fn histogram(&self) -> Option<Packed> {
        Latency::from(self.histograms()?.concat()).packed()
    }

    /// Returns the latencies of each round with their counts; `None` if a round has none.
    fn histograms(&self) -> Option<Vec<Vec<(u64, u64)>>> {
        let rounds = self.rounds.iter();
        let histograms: Option<Vec<_>> = rounds
            .map(|round| round.latencies.as_ref()?.pairs())
            .collect();
        histograms.filter(|rounds| !rounds.is_empty())
    }

    /// Returns the median over the rounds that have enough answers for the percentile.
    fn by_rounds(&self, percentile: f64, of: fn(&LoadRound) -> Option<u64>) -> Option<Interval> {
        let telling = self.rounds.iter();
        let telling = telling.filter(|round| supports(percentile, round.answered));
        let reported: Vec<f64> = telling.filter_map(of).map(|ns| ns as f64).collect();
        median_interval(&reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Generator, LoadTask};

    /// Creates a round of 400 requests of 0.3 ms. With a pause, 40 of them waited up to 100 ms for
    /// its end.
    fn round(number: u32, paused: bool) -> LoadRound {
        let mut latency = Latency::default();
        for request in 0..400 {
            latency.record(match (paused, request) {
                (true, 0..40) => 100_000_000 - request * 2_500_000,
                _ => 300_000,
            });
        }
        LoadRound {
            round: number,
            answered: 400,
            ..LoadRound::default().with_latency(&latency)
        }
    }

    fn load(paused: &[bool]) -> LoadOutcome {
        let rounds = (0..).zip(paused);
        LoadOutcome {
            task: LoadTask {
                path: "/".into(),
                body: String::new(),
                connections: 64,
                keep_alive: true,
                per_second: Some(2000.0),
                percent_of_closed: None,
                freeze_ms: None,
                by: Generator::Antiphon,
                sleeps: false,
                seconds: 0.2,
            },
            rounds: rounds.map(|(at, paused)| round(at, *paused)).collect(),
            again: Vec::new(),
            again_failed: None,
            warm_ups: Vec::new(),
        }
    }

    #[test]
    fn a_pause_in_a_minority_of_rounds_is_in_the_latencies() {
        let reported = load(&[false, true, false, false, true]).latencies();
        let p99 = reported.p99.unwrap();
        // 20 of 2000 waited longer: ten each, the tenth of which waited 77.5 ms.
        assert!((p99.value / 75e6 - 1.0).abs() < 0.01, "{p99:?}");
        assert!(p99.low < 0.31e6 && p99.high > 80e6, "{p99:?}");
        assert!(reported.p999.unwrap().value > 97e6, "{reported:?}");
        assert!((reported.longest.unwrap() / 100e6 - 1.0).abs() < 0.001);
        assert!(reported.p50.unwrap().value < 0.31e6 && reported.are_pooled);
    }

    #[test]
    fn a_percentile_needs_as_many_requests_as_leave_one_above_it() {
        assert_eq!(load(&[false; 2]).latencies().p999, None);
        assert!(load(&[false; 3]).latencies().p999.is_some());
        // A round of 400 requests is too small for its own percentile, too.
        assert_eq!(round(0, true).p999_ns, None);
        assert!(round(0, true).p99_ns.is_some());
    }

    #[test]
    fn older_runs_have_medians_of_what_each_round_says() {
        let mut old = load(&[false, true, false]);
        for round in &mut old.rounds {
            round.latencies = None;
            round.p999_ns = round.longest_ns;
        }
        let reported = old.latencies();
        assert!(!reported.are_pooled && reported.p99.unwrap().value < 0.31e6);
        // Older runs told this one for any number of requests.
        assert_eq!(reported.p999, None);
        assert!((reported.longest.unwrap() / 100e6 - 1.0).abs() < 0.001);
        assert_eq!(old.histogram(), None);
        // A round without, as of a run that an older version began, makes it so for all.
        let mut mixed = load(&[false, true, false]);
        mixed.rounds[0].latencies = None;
        assert!(!mixed.latencies().are_pooled);
    }

    #[test]
    fn the_raw_histogram_has_every_request() {
        let pairs = load(&[false, true]).histogram().unwrap().pairs().unwrap();
        assert_eq!(pairs.iter().map(|(_, count)| count).sum::<u64>(), 800);
        assert!(pairs.iter().filter(|(ns, _)| *ns > 400_000).count() == 40);
    }
}
