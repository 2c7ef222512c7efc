//! Ratios of two figures from the same rounds, of one start of the processes or of several.

use antiphon_measure::{Interval, median_interval, student};

/// Assumed standard deviation of a cost ratio between starts, before starts show it: 1.4 % for each
/// side (docs/explanation/noise.md). It counts as much as `WORTH` starts beyond the first.
const DEVIATION: f64 = std::f64::consts::SQRT_2 * 0.014;
const WORTH: f64 = 4.0;

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// Starts whose medians alone say nothing of the others: fewer, and the interval holds them all.
const FEW: usize = 6;

/// Rounds from which a start counts, if some start has as many.
const ROUNDS: usize = 3;

/// Multiple of a run's standard deviation that the difference of two runs stays within, nine times
/// in ten.
const NINE_IN_TEN: f64 = 1.645;

/// Summary of the rounds of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Their median: of rounds in which a collector is at work or is not, and which come in dozens.
    Median,
    /// The median of the means of any two rounds (Hodges and Lehmann), for few rounds with varied
    /// errors.
    Centre,
}

/// Ratios of the starts of the processes, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Starts {
    /// Summary of each start's rounds: their median, or the Hodges-Lehmann estimate for servers
    /// under load.
    pub medians: Vec<f64>,
}

impl Starts {
    /// Summarises rounds, each given with its start.
    pub(super) fn of(rounds: &[(u32, f64)], within: Within) -> Starts {
        let mut starts: Vec<u32> = rounds.iter().map(|(start, _)| *start).collect();
        starts.sort_unstable();
        starts.dedup();
        let own = |start: &u32| {
            let own = rounds.iter().filter(|(of, _)| of == start);
            own.map(|(_, ratio)| *ratio).collect::<Vec<_>>()
        };
        let mut each: Vec<Vec<f64>> = starts.iter().map(own).collect();
        if each.iter().any(|own| own.len() >= ROUNDS) {
            each.retain(|own| own.len() >= ROUNDS);
        }
        let of_start = |own: &Vec<f64>| match within {
            Within::Median => Some(median_interval(own)?.value),
            Within::Centre => centre(own),
        };
        Starts {
            medians: each.iter().filter_map(of_start).collect(),
        }
    }

    /// Returns the Hodges-Lehmann estimate of all starts: the median of the means of any two, each
    /// with itself included.
    ///
    /// If starts have one of two states, their plain median jumps between both. A mean would follow
    /// a single outlying start.
    pub fn centre(&self) -> f64 {
        centre(&self.medians).unwrap_or_default()
    }

    fn mean(&self) -> f64 {
        self.medians.iter().sum::<f64>() / self.medians.len().max(1) as f64
    }

    /// Returns the relative standard deviation between starts; `None` of one start, which shows
    /// nothing of it.
    pub fn deviation(&self) -> Option<f64> {
        let more = self.medians.len().checked_sub(1).filter(|more| *more > 0)?;
        Some((self.squares() / more as f64).sqrt())
    }

    /// Returns the range of the starts, relative to the ratio.
    pub fn range(&self) -> f64 {
        let least = self.medians.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.medians.iter().copied().fold(0.0, f64::max);
        (most - least) / self.centre().abs().max(f64::MIN_POSITIVE)
    }

    /// Returns the largest likely distance of two such runs, nine times in ten, if starts differ by
    /// this deviation.
    pub fn apart(&self, deviation: f64) -> f64 {
        let starts = self.medians.len().max(1) as f64;
        NINE_IN_TEN * std::f64::consts::SQRT_2 * deviation / starts.sqrt()
    }

    /// Returns the sum of the squared relative deviations of starts from their mean.
    fn squares(&self) -> f64 {
        let mean = self.mean();
        let off = self.medians.iter().map(|of| (of / mean - 1.0).powi(2));
        off.sum()
    }

    /// Returns the possible relative error of the mean by differences between starts.
    ///
    /// It is Student's t, with general knowledge of starts beside these ones, because few starts
    /// show little.
    fn unseen(&self) -> f64 {
        let starts = self.medians.len() as f64;
        let freedom = WORTH + starts - 1.0;
        let variance = (WORTH * DEVIATION.powi(2) + self.squares()) / freedom;
        student(freedom, LEVEL) * (variance / starts).sqrt()
    }
}

/// Returns the median of the means of any two values, each with itself included (Hodges and
/// Lehmann); `None` of none.
fn centre(values: &[f64]) -> Option<f64> {
    let firsts = values.iter().enumerate();
    let means = firsts.flat_map(|(at, a)| values[at..].iter().map(|b| f64::midpoint(*a, *b)));
    Some(median_interval(&means.collect::<Vec<f64>>())?.value)
}

/// Returns the common value of several ratios of the same two subjects.
///
/// It is the median of the geometric means of any two ratios, each with itself included (Hodges and
/// Lehmann, of their logarithms). It is inverse if the two subjects are exchanged, and one outlying
/// ratio affects it little.
///
/// Errors of the ratios depend on each other, as those of one process do. The estimate rises with
/// each ratio. If all ratios are within their limits, it is therefore between the estimates of all
/// lower and of all upper limits. Independence is not assumed to narrow them. No cost is negative,
/// so a limit below zero counts as zero.
pub fn typical(ratios: &[Interval]) -> Option<Interval> {
    let of = |limit: fn(&Interval) -> f64| {
        let logarithm = |ratio| f64::ln(limit(ratio).max(0.0));
        let logarithms: Vec<f64> = ratios.iter().map(logarithm).collect();
        Some(centre(&logarithms)?.exp())
    };
    Some(Interval {
        value: of(|ratio| ratio.value)?,
        low: of(|ratio| ratio.low)?,
        high: of(|ratio| ratio.high)?,
    })
}

/// Returns the ratio over all rounds, each given with its start; `None` of no rounds.
///
/// Rounds of one start share its state, so each start counts once, by its summary. The interval
/// covers the difference between starts and the uncertainty within them. With few starts it covers
/// the summary of every one.
pub(super) fn over_starts(rounds: &[(u32, f64)], within_start: Within) -> Option<Interval> {
    let starts = Starts::of(rounds, within_start);
    let all: Vec<f64> = rounds.iter().map(|(_, ratio)| *ratio).collect();
    let within = median_interval(&all)?;
    let value = starts.centre();
    let held: &[f64] = match starts.medians.len() {
        0..FEW => &starts.medians,
        _ => &[],
    };
    let (mut low, mut high) = (value.min(within.low), value.max(within.high));
    for median in held {
        (low, high) = (low.min(*median), high.max(*median));
    }
    let whole = Interval { value, low, high };
    Some(widened(whole, value.abs() * starts.unseen()))
}

/// Widens limits by an amount on either side. A limit above zero stays there, because no cost is
/// negative.
pub(super) fn widened(interval: Interval, by: f64) -> Interval {
    let low = interval.low - by;
    Interval {
        low: match interval.low >= 0.0 {
            true => low.max(0.0),
            false => low,
        },
        high: interval.high + by,
        ..interval
    }
}

/// Widens the limits of a ratio by a factor in either direction.
pub(super) fn times(ratio: Interval, factor: f64) -> Interval {
    Interval {
        low: ratio.low / if ratio.low > 0.0 { factor } else { 1.0 },
        high: ratio.high * factor,
        ..ratio
    }
}

/// Widens the limits of a cost that was taken on processors slowed by this part.
///
/// Slowness is a factor on time, so a positive cost keeps positive limits. A subtraction would let
/// great slowness reduce the lower limit to nothing.
pub(super) fn slowed_by(interval: Interval, part: f64) -> Interval {
    match interval.low > 0.0 {
        true => times(interval, 1.0 + part),
        false => widened(interval, interval.value.abs() * part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(starts: &[f64]) -> Vec<(u32, f64)> {
        let of_start = |(start, ratio): (u32, f64)| (0..12).map(move |_| (start, ratio));
        (0..)
            .zip(starts.iter().copied())
            .flat_map(of_start)
            .collect()
    }

    #[test]
    fn each_start_counts_once_and_the_interval_holds_what_every_one_says() {
        // Rounds that agree within a start, and starts that do not agree.
        let ratio = over_starts(&rounds(&[1.66, 1.37, 1.36]), Within::Median).unwrap();
        assert!((ratio.value - 1.44).abs() < 1e-9, "{ratio:?}");
        assert!(ratio.low < 1.36 && ratio.high > 1.66, "{ratio:?}");
        // One that is like none of the others draws them little, and shows.
        let odd = over_starts(&rounds(&[0.72, 0.74, 0.72, 3.1]), Within::Median).unwrap();
        assert!(odd.value < 0.74 && odd.high > 3.1, "{odd:?}");
        // A start of many rounds says no more than one of few, and one of hardly any says nothing.
        let mut uneven = rounds(&[2.0, 1.0]);
        uneven.extend((0..90).map(|_| (0, 2.0)));
        uneven.push((2, 9.0));
        assert_eq!(over_starts(&uneven, Within::Median).unwrap().value, 1.5);
    }

    #[test]
    fn a_cost_on_slowed_processors_is_not_nothing() {
        let cost = Interval {
            value: 98.0,
            low: 59.0,
            high: 99.0,
        };
        let slowed = slowed_by(cost, 0.62);
        assert!(
            (slowed.low - 59.0 / 1.62).abs() < 1e-9 && (slowed.high - 99.0 * 1.62).abs() < 1e-9
        );
        let around_nothing = slowed_by(Interval { low: -1.0, ..cost }, 0.5);
        assert_eq!((around_nothing.low, around_nothing.high), (-50.0, 148.0));
    }

    #[test]
    fn a_few_rounds_are_best_told_by_all_of_them() {
        // A collector is in every third round: the median leaves it out.
        let of = |rounds: &[f64], within| {
            let rounds: Vec<(u32, f64)> = rounds.iter().map(|ratio| (0, *ratio)).collect();
            Starts::of(&rounds, within).medians[0]
        };
        let modes = [1.0, 1.0, 2.0, 1.0, 1.0, 2.0];
        assert_eq!(of(&modes, Within::Median), 1.0);
        // Five moments that differ, and one that something else spoilt.
        let moments = [1.00, 1.06, 1.02, 1.08, 1.04, 9.0];
        let centre = of(&moments, Within::Centre);
        assert!((1.03..1.08).contains(&centre), "{centre}");
        assert!((of(&moments[..5], Within::Centre) - 1.04).abs() < 1e-9);
    }

    #[test]
    fn what_ratios_have_in_common_is_drawn_little_by_one_and_is_the_same_both_ways() {
        let ratio = |value: f64| Interval {
            value,
            low: 0.9 * value,
            high: 1.2 * value,
        };
        let inverse = |of: &Interval| Interval {
            value: 1.0 / of.value,
            low: 1.0 / of.high,
            high: 1.0 / of.low,
        };
        let all = [2.0, 8.0, 4.0, 4.0].map(ratio);
        let common = typical(&all).unwrap();
        let is = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(is(common.value, 4.0), "{common:?}");
        assert!(is(common.low, 3.6) && is(common.high, 4.8), "{common:?}");
        let other_way = typical(&all.map(|of| inverse(&of))).unwrap();
        assert!(is(other_way.value, 0.25) && is(other_way.low, 1.0 / 4.8));
        let odd = typical(&[2.0, 2.1, 1.9, 2.0, 900.0].map(ratio)).unwrap();
        assert!(odd.value < 2.2, "{odd:?}");
        // Unknown limits make those of all unknown only from half of them on.
        let open = Interval {
            value: 1.0,
            low: 0.0,
            high: f64::INFINITY,
        };
        let mostly = typical(&[open, ratio(2.0), ratio(2.0), ratio(2.0)]).unwrap();
        assert!(mostly.low > 0.0 && mostly.high.is_finite(), "{mostly:?}");
        assert_eq!(typical(&[open]), Some(open));
        // A difference of two times may be below nothing.
        let below = Interval { low: -0.3, ..open };
        let some = typical(&[below, ratio(2.0), ratio(2.0), ratio(2.0)]).unwrap();
        assert_eq!(some, mostly);
        assert_eq!(typical(&[below; 3]).map(|of| of.low), Some(0.0));
        assert_eq!(typical(&[]), None);
    }

    #[test]
    fn one_start_does_not_show_how_far_starts_differ() {
        let half = |starts: &[f64]| {
            over_starts(&rounds(starts), Within::Median)
                .unwrap()
                .half_width()
        };
        let (one, four) = (half(&[2.0]), half(&[2.0; 4]));
        assert!(one > 2.0 * 1.96 * DEVIATION, "{one}");
        assert!(four < one / 2.0, "{four}");
        assert_eq!(over_starts(&[], Within::Median), None);
        assert_eq!(
            Starts::of(&rounds(&[2.0]), Within::Median).deviation(),
            None
        );
    }

    #[test]
    fn starts_that_disagree_show_in_the_interval_however_many_there_are() {
        let states =
            |count: usize| -> Vec<f64> { (0..count).map(|start| [2.0, 3.0][start % 2]).collect() };
        let many = over_starts(&rounds(&states(16)), Within::Median).unwrap();
        assert!(many.low < 2.3 && many.high > 2.7, "{many:?}");
        // One round alone has no limits.
        assert_eq!(
            over_starts(&[(0, 2.0)], Within::Median).unwrap().limits(),
            None
        );
    }

    #[test]
    fn how_far_two_runs_are_apart_falls_with_the_starts() {
        let two = Starts::of(&rounds(&[1.0, 1.1]), Within::Median);
        let deviation = two.deviation().unwrap();
        assert!((deviation - 0.1 / 1.05 / 2.0_f64.sqrt()).abs() < 1e-9);
        assert!((two.apart(deviation) - NINE_IN_TEN * deviation).abs() < 1e-9);
        assert!((two.range() - 0.1 / 1.05).abs() < 1e-9);
        let eight = Starts::of(&rounds(&[1.0; 8]), Within::Median);
        assert!((eight.apart(deviation) - two.apart(deviation) / 2.0).abs() < 1e-9);
    }
}
