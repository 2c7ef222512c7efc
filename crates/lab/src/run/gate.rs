//! Gate against other programs: a disturbed measurement is repeated, and the least disturbed
//! attempt is kept.

/// Attempts at a disturbed measurement, if it may be repeated.
pub(super) const ATTEMPTS: u32 = 3;

/// A measurement that was made.
pub(super) struct Attempt<T> {
    pub(super) of: T,
    /// The part of the processors in use that others had meanwhile.
    pub(super) share: f64,
    /// Whether that disturbed it.
    pub(super) was_disturbed: bool,
}

/// Measures until others do not disturb it, at most `most` times. Returns the least disturbed
/// attempt and the number of attempts.
///
/// `attempt` receives the number of earlier attempts, and returns `None` to stop.
pub(super) fn calmest<T, E>(
    most: u32,
    mut attempt: impl FnMut(u32) -> Result<Option<Attempt<T>>, E>,
) -> Result<Option<(T, u32)>, E> {
    let mut best: Option<Attempt<T>> = None;
    let mut made = 0;
    while made < most {
        let Some(now) = attempt(made)? else { break };
        made += 1;
        let was_disturbed = now.was_disturbed;
        if best.as_ref().is_none_or(|best| now.share < best.share) {
            best = Some(now);
        }
        if !was_disturbed {
            break;
        }
    }
    Ok(best.map(|best| (best.of, made)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the outcome of attempts with these shares of others; more than a tenth disturbs. An
    /// attempt is its number.
    fn of_shares(most: u32, shares: &[f64]) -> Option<(u32, u32)> {
        let attempt = |before: u32| {
            let share = shares.get(before as usize);
            let made = share.map(|share| Attempt {
                of: before,
                share: *share,
                was_disturbed: *share > 0.1,
            });
            Ok::<_, ()>(made)
        };
        calmest(most, attempt).unwrap()
    }

    #[test]
    fn a_calm_attempt_is_the_last() {
        assert_eq!(of_shares(3, &[0.0, 0.0, 0.0]), Some((0, 1)));
        assert_eq!(of_shares(3, &[0.5, 0.05, 0.0]), Some((1, 2)));
    }

    #[test]
    fn of_disturbed_ones_the_least_disturbed_is_kept() {
        assert_eq!(of_shares(3, &[0.5, 0.2, 0.3, 0.0]), Some((1, 3)));
        assert_eq!(of_shares(1, &[0.5, 0.0]), Some((0, 1)));
    }

    #[test]
    fn what_ends_the_attempts_leaves_what_there_was() {
        assert_eq!(of_shares(3, &[0.5]), Some((0, 1)));
        assert_eq!(of_shares(3, &[]), None);
        let fails = calmest(3, |_| Err::<Option<Attempt<()>>, _>("broken"));
        assert_eq!(fails, Err("broken"));
    }
}
