//! The work that all languages do alike.

/// A loop of `work` dependent steps.
pub fn busy(seed: u32, work: usize) -> u32 {
    let step = |x: u32, i: usize| x.wrapping_mul(3).wrapping_add(i as u32);
    (1..=work).fold(seed, step)
}

/// Real work: `work` steps with a remainder each.
pub fn compute(value: i32, work: usize) -> i32 {
    let step = |x: i32, i: i32| x.wrapping_mul(3).wrapping_add(x % i);
    (1..=work as i32).fold(value, step)
}
