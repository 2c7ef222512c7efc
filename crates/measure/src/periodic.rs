//! Periodic functions among gaps: chains of gaps of like duration at equal distances.

use crate::PeriodicFunction;
use crate::statistics::median_of;

/// Least occurrences of a function, which is two equal distances …
const FEWEST: usize = 3;
/// … and in this share of the places where it is due.
const OCCUPANCY: f64 = 0.8;
/// A gap belongs to a chain if it is within this part of the period of where it is due.
const TOLERANCE: f64 = 0.05;
/// Chains that are looked for.
const MOST_FUNCTIONS: usize = 8;
/// Periods that are tried for a cluster of durations.
const MOST_PERIODS: usize = 12;
/// Most gaps of a cluster that are searched; more of them only repeat these.
const MOST_GAPS: usize = 20_000;

/// A gap: where it starts and how long it is, ns.
pub(crate) type Gap = (f64, f64);

/// Returns the periodic functions among gaps in order of time, the largest share of the time first.
/// `grain_ns` is the precision of the gaps' starts.
pub(crate) fn functions(gaps: &[Gap], grain_ns: f64) -> Vec<PeriodicFunction> {
    let mut found = Vec::new();
    let mut left = Vec::new();
    for cluster in clusters(gaps) {
        left.extend(chains(cluster, grain_ns, &mut found));
    }
    // Widely varying durations are separated although one function causes them; the rest is
    // therefore tried all together.
    in_time(&mut left);
    chains(left, grain_ns, &mut found);
    let share = |f: &PeriodicFunction| f.duration_ns / f.period_ns;
    found.sort_by(|a, b| share(b).total_cmp(&share(a)));
    found
}

/// Takes the chains out of a cluster, one after another; returns the rest.
fn chains(mut rest: Vec<Gap>, grain_ns: f64, found: &mut Vec<PeriodicFunction>) -> Vec<Gap> {
    rest.truncate(MOST_GAPS);
    while found.len() < MOST_FUNCTIONS {
        let Some(chain) = best_chain(&rest, grain_ns) else {
            break;
        };
        found.push(chain.function(&rest));
        let mut members = chain.members.into_iter().peekable();
        let mut index = 0;
        rest.retain(|_| {
            let taken = members.next_if_eq(&index).is_some();
            index += 1;
            !taken
        });
    }
    rest
}

/// Groups gaps of like duration, in order of time, the longest first. Durations are cut where
/// neighbours differ by more than half.
fn clusters(gaps: &[Gap]) -> Vec<Vec<Gap>> {
    let mut by_duration = gaps.to_vec();
    by_duration.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut clusters: Vec<Vec<Gap>> = by_duration
        .chunk_by(|a, b| a.1 <= 1.5 * b.1)
        .map(<[Gap]>::to_vec)
        .collect();
    clusters.iter_mut().for_each(|cluster| in_time(cluster));
    clusters
}

fn in_time(gaps: &mut [Gap]) {
    gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
}

struct Chain {
    period_ns: f64,
    members: Vec<usize>,
}

impl Chain {
    fn function(&self, gaps: &[Gap]) -> PeriodicFunction {
        let durations: Vec<f64> = self.members.iter().map(|i| gaps[*i].1).collect();
        PeriodicFunction {
            period_ns: self.period_ns,
            duration_ns: median_of(&durations),
            occurrences: self.members.len(),
        }
    }
}

/// Returns the chain with the most members over all likely periods.
fn best_chain(gaps: &[Gap], grain_ns: f64) -> Option<Chain> {
    let observed = gaps.last()?.0 - gaps.first()?.0;
    let mut best: Option<Chain> = None;
    for period in likely_periods(gaps) {
        // Among dense gaps, chance puts one near every due place, so that a chain says nothing.
        let by_chance =
            gaps.len() as f64 / observed.max(1.0) * 2.0 * (TOLERANCE * period + grain_ns);
        if by_chance > 0.6 {
            continue;
        }
        for start in 0..gaps.len().min(4) {
            let longer = |chain: &Chain| {
                best.as_ref()
                    .is_none_or(|b| chain.members.len() > b.members.len())
            };
            if let Some(chain) = chain(gaps, start, period, grain_ns).filter(longer) {
                best = Some(chain);
            }
        }
    }
    best
}

/// Distances of gaps to the next and the next but one, the most common first.
fn likely_periods(gaps: &[Gap]) -> Vec<f64> {
    let mut distances: Vec<f64> = [1, 2, 3]
        .iter()
        .flat_map(|lag| gaps.windows(lag + 1).map(move |w| w[*lag].0 - w[0].0))
        .filter(|d| *d > 0.0)
        .collect();
    distances.sort_by(f64::total_cmp);
    let mut groups: Vec<&[f64]> = distances.chunk_by(|a, b| b / a < 1.02).collect();
    groups.sort_by_key(|g| std::cmp::Reverse(g.len()));
    groups
        .iter()
        .take(MOST_PERIODS)
        .map(|g| median_of(g))
        .collect()
}

/// Follows a chain from `start`; the period is refined on the way from the whole distance covered.
fn chain(gaps: &[Gap], start: usize, period: f64, grain_ns: f64) -> Option<Chain> {
    let origin = gaps[start].0;
    let mut members = vec![start];
    let mut refined = period;
    let mut steps = 0_u64;
    let mut next = start + 1;
    while next < gaps.len() {
        let last = gaps[members[members.len() - 1]].0;
        let due = ((gaps[next].0 - last) / refined).round();
        let off = (gaps[next].0 - last - due * refined).abs();
        if due >= 1.0 && off <= TOLERANCE * refined * due.min(3.0) + grain_ns {
            steps = steps.saturating_add(due as u64);
            members.push(next);
            refined = (gaps[next].0 - origin) / steps as f64;
        }
        next += 1;
    }
    let places = gaps
        .last()
        .map_or(0.0, |g| (g.0 - origin) / refined)
        .max(steps as f64)
        + 1.0;
    let occupied = members.len() as f64 / places.floor().max(1.0);
    (members.len() >= FEWEST && occupied >= OCCUPANCY).then_some(Chain {
        period_ns: refined,
        members,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    fn comb(period: f64, duration: f64, count: usize, jitter: f64, seed: u64) -> Vec<Gap> {
        let mut noise = Noise::new(seed);
        (0..count)
            .map(|i| {
                (
                    1000.0 + period * i as f64 + jitter * noise.normal(),
                    duration * (1.0 + 0.1 * noise.uniform()),
                )
            })
            .collect()
    }

    fn merged(parts: &[Vec<Gap>]) -> Vec<Gap> {
        let mut all = parts.concat();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    #[test]
    fn one_function_is_found_with_its_period_and_duration() {
        let found = functions(&comb(4e6, 3000.0, 250, 2e4, 1), 1.0);
        assert_eq!(found.len(), 1);
        assert!((found[0].period_ns / 4e6 - 1.0).abs() < 1e-3);
        assert!((found[0].duration_ns / 3150.0 - 1.0).abs() < 0.05);
        assert_eq!(found[0].occurrences, 250);
    }

    #[test]
    fn several_functions_are_told_apart() {
        let gaps = merged(&[
            comb(4e6, 3000.0, 2500, 1e4, 1),
            comb(1e9, 5e7, 10, 1e4, 2),
            comb(3.1e7, 4e5, 300, 1e4, 3),
        ]);
        let found = functions(&gaps, 1.0);
        let has = |period: f64| {
            found
                .iter()
                .any(|f| (f.period_ns / period - 1.0).abs() < 0.01)
        };
        assert!(has(4e6) && has(1e9) && has(3.1e7), "{found:?}");
        assert!(
            (found[0].period_ns / 1e9 - 1.0).abs() < 0.01,
            "the largest share comes first"
        );
        assert_eq!(found.len(), 3, "none is told twice: {found:?}");
    }

    #[test]
    fn a_rare_function_is_found_among_very_many_gaps() {
        let gaps = merged(&[
            comb(1e4, 900.0, 100_000, 10.0, 1),
            comb(3e8, 5e7, 3, 1e3, 2),
        ]);
        let found = functions(&gaps, 1.0);
        assert!((found[0].period_ns / 3e8 - 1.0).abs() < 0.01, "{found:?}");
        assert!((found[1].period_ns / 1e4 - 1.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn gaps_at_random_are_no_function() {
        for seed in 0..20 {
            let mut noise = Noise::new(seed);
            let mut now = 0.0;
            let gaps: Vec<Gap> = (0..400)
                .map(|_| {
                    now += 1e6 * noise.exponential();
                    (now, 2000.0 + 100.0 * noise.uniform())
                })
                .collect();
            let found = functions(&gaps, 1.0);
            assert!(
                found.iter().map(|f| f.occurrences).sum::<usize>() < 20,
                "{seed}: {found:?}"
            );
        }
        assert!(functions(&[], 1.0).is_empty());
    }
}
