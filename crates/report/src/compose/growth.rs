//! Memory that grows without an end in sight, judged by successive readings.

/// Least growth of memory from one reading to the next, as a part of it.
const STEP_LEAST: f64 = 0.01;

/// A heap that settles grows less and less: the last step is at least this part of the first.
const LAST_TO_FIRST: f64 = 0.5;

/// Checks that memory grew from each reading to the next, and the last time about as much as the
/// first time.
pub fn goes_on(held: &[f64]) -> bool {
    let steps: Vec<f64> = held.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let each = held
        .windows(2)
        .all(|pair| pair[1] >= pair[0] * (1.0 + STEP_LEAST));
    let ends = steps.first().zip(steps.last());
    each && ends.is_some_and(|(first, last)| *last >= LAST_TO_FIRST * first)
}
