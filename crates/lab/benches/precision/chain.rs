//! The operation, in Rust for the rivals: a chain as long and as slow as the subject's own.

use std::hint::black_box;

/// Runs a dependent chain. A step is a multiplication and one more operation, as in the subject
/// protocol's.
///
/// It is no multiply-add, because the compiler folds two of those into one.
#[inline(always)]
pub fn chain<const STEPS: u32>(mut x: u64) -> u64 {
    for _ in 0..STEPS {
        x = x.wrapping_mul(6_364_136_223_846_793_005) ^ (x >> 32);
    }
    x
}

/// Steps of the cheap operation and of the expensive one.
pub const STEPS: [u32; 2] = [20, 21];

/// Runs a whole program with many repetitions of one of the two operations, for a tool that times
/// programs.
pub fn run_program(steps: &str, iterations: &str) {
    let iterations: u64 = iterations.parse().expect("called by this program itself");
    let operation = if steps == "20" {
        repeat::<20>
    } else {
        repeat::<21>
    };
    println!("{}", operation(iterations));
}

/// Repeats the operation.
pub fn repeat<const STEPS: u32>(iterations: u64) -> u64 {
    (0..iterations).fold(1, |x, _| black_box(chain::<STEPS>(x)))
}
