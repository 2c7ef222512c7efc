//! Rounds in which nothing slowed the processors.

/// A processor that is slower by no more is not slowed.
pub(crate) const CALM: f64 = 0.08;

/// Least number of rounds that count. Too few calm rounds are replaced by the least slowed ones of
/// each start. The number is small because with more a slowed round would stand beside calm ones.
const FEW: usize = 3;

/// Selects the rounds that count.
///
/// A round is given as (start, slowness of its processors, figure). The calm rounds count. If there
/// are fewer than `FEW`, the least slowed ones of each start count instead. Returned are the
/// (start, figure) pairs, and the slowness of the worst start; it is 0 if enough rounds were calm.
///
/// Slowness does not affect all programs alike, so a mixture of both kinds of rounds would give
/// varying results. A start without a calm moment therefore does not count beside one that had
/// some. The choice depends on a loop of known work, not on the figure: a round with an expensive
/// collection stays.
pub(super) fn rounds(all: Vec<(u32, f64, f64)>) -> (Vec<(u32, f64)>, f64) {
    let calm = all.iter().filter(|(_, slowed, _)| *slowed <= CALM);
    let calm: Vec<(u32, f64)> = calm.map(|(start, _, figure)| (*start, *figure)).collect();
    match calm.len() {
        0..FEW => least_slowed(&all),
        _ => (calm, 0.0),
    }
}

/// Returns the least slowed rounds of each start, and the slowness of the worst start.
fn least_slowed(all: &[(u32, f64, f64)]) -> (Vec<(u32, f64)>, f64) {
    let mut starts: Vec<u32> = all.iter().map(|(start, ..)| *start).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut worst: f64 = 0.0;
    let mut kept = Vec::new();
    for start in starts {
        let own = || all.iter().filter(move |(of, ..)| *of == start);
        let mut slowed: Vec<f64> = own().map(|(_, slowed, _)| *slowed).collect();
        slowed.sort_by(f64::total_cmp);
        let most = slowed[FEW.min(slowed.len()) - 1].max(CALM);
        let counted: Vec<f64> = slowed
            .into_iter()
            .filter(|slowed| *slowed <= most)
            .collect();
        let middle = counted[counted.len() / 2];
        if middle > CALM {
            worst = worst.max(middle);
        }
        kept.extend(
            own()
                .filter(|(_, slowed, _)| *slowed <= most)
                .map(|(start, _, figure)| (*start, *figure)),
        );
    }
    (kept, worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_rounds_count_and_else_the_calmest() {
        let of = |slowed: &[f64]| {
            let round = |(at, slowed): (usize, &f64)| (0, *slowed, at as f64);
            rounds(slowed.iter().enumerate().map(round).collect())
        };
        let figures = |of: &[(u32, f64)]| of.iter().map(|(_, figure)| *figure).collect::<Vec<_>>();
        let (kept, slowed) = of(&[0.0, 0.5, 0.01, 0.02, 0.6, 0.0, 0.03, 0.05, 0.07]);
        assert_eq!(figures(&kept), [0.0, 2.0, 3.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(slowed, 0.0);
        // Three calm ones are enough, and two are not.
        let (kept, slowed) = of(&[0.9, 0.0, 0.5, 0.07, 0.01]);
        assert_eq!((figures(&kept), slowed), (vec![1.0, 3.0, 4.0], 0.0));
        let (kept, slowed) = of(&[0.9, 0.5, 0.4, 0.01, 0.6, 0.5, 0.7, 0.3]);
        assert_eq!(figures(&kept), [2.0, 3.0, 7.0]);
        assert_eq!(slowed, 0.3);
        assert_eq!(of(&[]), (Vec::new(), 0.0));
    }

    #[test]
    fn each_start_has_its_rounds_where_none_was_calm() {
        let first = (0..10).map(|at| (0, 0.2, f64::from(at)));
        let second = (0..10).map(|at| (1, 0.4, f64::from(at)));
        let (kept, slowed) = rounds(first.chain(second).collect());
        assert_eq!((kept.len(), slowed), (20, 0.4));
    }

    #[test]
    fn a_start_that_met_no_calm_moment_does_not_count_beside_one_that_did() {
        let first = (0..10).map(|at| (0, 0.4, f64::from(at)));
        let second = (0..6).map(|at| (1, 0.01, f64::from(at)));
        let (kept, slowed) = rounds(first.chain(second).collect());
        assert_eq!((kept.len(), slowed), (6, 0.0));
        assert!(kept.iter().all(|(start, _)| *start == 1));
    }
}
