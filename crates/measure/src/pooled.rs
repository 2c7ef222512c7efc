//! Percentiles of the values of several rounds together, from their histograms.
//!
//! The median of each round's percentile hides an event in fewer than half of the rounds, such as a
//! pause. One histogram of all rounds shows it.

use crate::Interval;
use crate::latency::supports;
use crate::whole_run::{LEVEL, student};

/// Least number of rounds that shows the difference between rounds; with fewer the interval covers
/// each round's value.
const FEW: usize = 6;

/// Each value that occurred with how many are not above it, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counted(Vec<(u64, u64)>);

impl Counted {
    /// Collects values with their counts, in any order and with repetitions.
    fn of(mut pairs: Vec<(u64, u64)>) -> Self {
        pairs.sort_unstable();
        let mut counted: Vec<(u64, u64)> = Vec::with_capacity(pairs.len());
        let mut total = 0_u64;
        for (value, count) in pairs.into_iter().filter(|(_, count)| *count > 0) {
            total = total.saturating_add(count);
            match counted.last_mut().filter(|last| last.0 == value) {
                Some(last) => last.1 = total,
                None => counted.push((value, total)),
            }
        }
        Counted(counted)
    }

    fn count(&self) -> u64 {
        self.0.last().map_or(0, |last| last.1)
    }

    /// Returns the value that this share of all does not exceed; the largest from 1 on, 0 without
    /// values.
    fn at(&self, share: f64) -> u64 {
        let wanted = (share * self.count() as f64 - 1e-6).ceil();
        let place = self.0.partition_point(|(_, upto)| (*upto as f64) < wanted);
        let found = self.0.get(place).or(self.0.last());
        found.map_or(0, |(value, _)| *value)
    }

    fn above(&self, value: u64) -> u64 {
        let place = self.0.partition_point(|(of, _)| *of <= value);
        let upto = place.checked_sub(1).map_or(0, |last| self.0[last].1);
        self.count() - upto
    }
}

/// The values of several rounds together, such as latencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Pooled {
    all: Counted,
    rounds: Vec<Counted>,
}

impl Pooled {
    /// Pools the histograms of rounds: values with their counts. Rounds without values do not
    /// count.
    pub fn of(rounds: impl IntoIterator<Item = Vec<(u64, u64)>>) -> Self {
        let (mut all, mut each) = (Vec::new(), Vec::new());
        for round in rounds {
            all.extend_from_slice(&round);
            each.push(Counted::of(round));
        }
        each.retain(|round| round.count() > 0);
        Pooled {
            all: Counted::of(all),
            rounds: each,
        }
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.all.count()
    }

    /// Returns the largest value; `None` without values.
    pub fn longest(&self) -> Option<u64> {
        self.all.0.last().map(|(value, _)| *value)
    }

    /// Returns a percentile of all values, with its interval; `None` if they are too few for it
    /// (see [`supports`]).
    ///
    /// The interval is that of Woodruff for samples in clusters, which the rounds are. It bounds
    /// the share of values above the percentile by the differences between rounds, and takes the
    /// percentiles at either end. It is never narrower than for values independent of their rounds.
    /// It ends at the longest value if all values above the percentile may be chance. With fewer
    /// than six rounds it covers the value of each round; one round has no limits.
    pub fn at(&self, percentile: f64) -> Option<Interval> {
        if !supports(percentile, self.count()) {
            return None;
        }
        let share = percentile / 100.0;
        let value = self.all.at(share) as f64;
        let (low, high) = match self.rounds.len() {
            0..=1 => return Some(Interval::open(value)),
            2..FEW => self.range(share),
            _ => self.woodruff(share),
        };
        Some(Interval {
            value,
            low: value.min(low),
            high: value.max(high),
        })
    }

    fn range(&self, share: f64) -> (f64, f64) {
        let each = || self.rounds.iter().map(|round| round.at(share) as f64);
        (
            each().fold(f64::INFINITY, f64::min),
            each().fold(0.0, f64::max),
        )
    }

    fn woodruff(&self, share: f64) -> (f64, f64) {
        let off = self.off(share);
        (
            self.all.at((share - off).max(0.0)) as f64,
            self.all.at(share + off) as f64,
        )
    }

    /// Returns the possible error of the share of values up to this percentile.
    fn off(&self, share: f64) -> f64 {
        let (value, rounds) = (self.all.at(share), self.rounds.len() as f64);
        let alone = share * (1.0 - share) / self.count() as f64;
        // Among many equal values, rounds may differ in those that have the value, or in those
        // beyond it.
        let between = self
            .between(value)
            .max(self.between(value.saturating_sub(1)));
        student(rounds - 1.0, LEVEL) * between.max(alone).sqrt()
    }

    /// Returns the variance of the share of values above this one, by the differences between
    /// rounds.
    fn between(&self, value: u64) -> f64 {
        let (count, rounds) = (self.count() as f64, self.rounds.len() as f64);
        let above = self.all.above(value) as f64 / count;
        let missed = |round: &Counted| round.above(value) as f64 - above * round.count() as f64;
        let squares: f64 = self.rounds.iter().map(|of| missed(of).powi(2)).sum();
        rounds / (rounds - 1.0) * squares / count.powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    /// Returns 100 values from 1000 up, and `paused` of 1 000 000.
    fn round(paused: u64) -> Vec<(u64, u64)> {
        let mut values: Vec<(u64, u64)> = (0..100).map(|at| (1000 + at, 1)).collect();
        values.push((1_000_000, paused));
        values
    }

    #[test]
    fn a_pause_in_a_minority_of_rounds_is_seen() {
        let rounds = |paused: [u64; 8]| Pooled::of(paused.map(round));
        let calm = rounds([0; 8]).at(99.0).unwrap();
        assert!(calm.value < 1100.0 && calm.high < 1100.0, "{calm:?}");
        let paused = rounds([0, 0, 10, 0, 0, 10, 0, 0]).at(99.0).unwrap();
        assert_eq!(paused.value, 1_000_000.0);
        // It may be chance that there were two.
        assert!(paused.low < 1100.0 && paused.high == 1_000_000.0);
        let always = rounds([10; 8]).at(99.0).unwrap();
        assert_eq!(always.low, 1_000_000.0);
    }

    #[test]
    fn few_rounds_hold_what_each_says_and_one_has_no_limits() {
        let three = Pooled::of([0, 10, 0].map(round)).at(99.0).unwrap();
        assert_eq!(
            (three.low, three.value, three.high),
            (1098.0, 1_000_000.0, 1_000_000.0)
        );
        let one = Pooled::of([round(5), Vec::new()]).at(99.0).unwrap();
        assert_eq!(one.limits(), None);
    }

    #[test]
    fn a_percentile_needs_values_above_it() {
        let of = |rounds: usize| Pooled::of(vec![round(0); rounds]);
        assert_eq!(of(9).count(), 900);
        assert_eq!(of(9).at(99.9), None);
        assert!(of(10).at(99.9).is_some() && of(9).at(99.0).is_some());
        let nothing = Pooled::of([Vec::new()]);
        assert_eq!((nothing.at(50.0), nothing.longest()), (None, None));
        assert_eq!(of(2).longest(), Some(1099));
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut noise = Noise::new(7);
        let held = (0..400)
            .filter(|_| {
                // Rounds that have something in common: exponential values, longer in some rounds.
                let rounds = (0..12).map(|_| {
                    let scale = 1e6 * (0.9 + 0.2 * noise.uniform());
                    let value = |at: f64| (-scale * at.max(1e-12).ln()) as u64;
                    (0..300).map(|_| (value(noise.uniform()), 1)).collect()
                });
                let p90 = Pooled::of(rounds.collect::<Vec<_>>()).at(90.0).unwrap();
                (p90.low..=p90.high).contains(&2.3037e6)
            })
            .count();
        assert!(held >= 368, "{held} of 400");
    }
}
