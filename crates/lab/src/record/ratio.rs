//! Ratios of two figures that were taken in the same rounds, by one start of the processes or by several.

use antiphon_measure::{Interval, median_interval};

/// By how much a ratio of two costs may differ from start to start of the processes, at 95 %: each side's by 1.4 % (docs/method.md, section 9).
pub(super) const STARTS: f64 = 1.96 * std::f64::consts::SQRT_2 * 0.014;

/// The median of the ratios of all rounds, each with the start that it is of; `None` of no rounds.
///
/// Rounds of one start have its state in common, so that their own interval is too narrow: it is widened to what the starts' medians have
/// between them, and by what starts may differ by where they are too few to show it.
pub(super) fn over_starts(rounds: &[(u32, f64)]) -> Option<Interval> {
    let all: Vec<f64> = rounds.iter().map(|(_, ratio)| *ratio).collect();
    let within = median_interval(&all)?;
    let mut starts: Vec<u32> = rounds.iter().map(|(start, _)| *start).collect();
    starts.sort_unstable();
    starts.dedup();
    let median_of = |start: &u32| {
        let own = rounds.iter().filter(|(of, _)| of == start);
        Some(median_interval(&own.map(|(_, ratio)| *ratio).collect::<Vec<_>>())?.value)
    };
    let medians: Vec<f64> = starts.iter().filter_map(median_of).collect();
    let between = median_interval(&medians)?;
    let unseen = within.value.abs() * STARTS / (starts.len() as f64).sqrt();
    Some(Interval {
        value: within.value,
        low: within.low.min(between.low) - unseen,
        high: within.high.max(between.high) + unseen,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_what_every_start_says() {
        // Two hundred rounds that agree within a start, and starts that do not agree.
        let of_start = |(start, ratio): (u32, f64)| (0..70).map(move |_| (start, ratio));
        let rounds: Vec<(u32, f64)> = [(0, 1.66), (1, 1.37), (2, 1.36)]
            .into_iter()
            .flat_map(of_start)
            .collect();
        let ratio = over_starts(&rounds).unwrap();
        assert_eq!(ratio.value, 1.37);
        assert!(ratio.low < 1.36 && ratio.high > 1.66, "{ratio:?}");
    }

    #[test]
    fn one_start_does_not_show_how_far_starts_differ() {
        let of = |starts: u32| {
            let rounds: Vec<(u32, f64)> = (0..12).map(|round| (round % starts, 2.0)).collect();
            over_starts(&rounds).unwrap()
        };
        assert_eq!(of(1).high, 2.0 + 2.0 * STARTS);
        assert_eq!(of(4).high, 2.0 + STARTS);
        assert_eq!(over_starts(&[]), None);
    }
}
