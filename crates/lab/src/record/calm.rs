//! Rounds in which nothing slowed the processors.

/// A processor that is slower by no more is not slowed.
pub(crate) const CALM: f64 = 0.08;

/// Rounds that count at least, of each start the least slowed ones where others were not calm: as few as a start must have to count. With more a slowed
/// round would stand beside calm ones wherever there are not many.
const FEW: usize = 3;

/// Of rounds, each with its start, by how much its processors were slowed, and a figure: the calm ones, or else the least slowed of each start,
/// without what slowed them; and by how much those that count were slowed in the start that fared worst, 0 where enough were calm.
///
/// What slows a processor does not slow all programs alike, so rounds of both kinds together say now the one and now the other: a start that met no calm
/// moment does not count beside one that did. They are chosen by a loop of known work, not by what they cost: a round that a collector made dear stays.
pub(super) fn rounds(all: Vec<(u32, f64, f64)>) -> (Vec<(u32, f64)>, f64) {
    let calm = all.iter().filter(|(_, slowed, _)| *slowed <= CALM);
    let calm: Vec<(u32, f64)> = calm.map(|(start, _, figure)| (*start, *figure)).collect();
    match calm.len() {
        0..FEW => least_slowed(&all),
        _ => (calm, 0.0),
    }
}

/// The rounds of each start that were slowed least, and by how much in the start that fared worst.
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
