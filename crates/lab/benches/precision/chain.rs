//! The operation: the subject protocol's reference chain, in Rust for the rivals.

use std::hint::black_box;

/// A dependent chain of multiply-adds.
#[inline(always)]
pub fn chain<const STEPS: u32>(mut x: u64) -> u64 {
    for _ in 0..STEPS {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    x
}

/// Cheap and dear.
pub const STEPS: [u32; 2] = [20, 21];

/// A whole program that does one of the two operations many times, for a tool that times programs.
pub fn run_program(steps: &str, iterations: &str) {
    let iterations: u64 = iterations.parse().expect("called by this program itself");
    let mut x = 1;
    for _ in 0..iterations {
        x = match steps {
            "20" => black_box(chain::<20>(x)),
            _ => black_box(chain::<21>(x)),
        };
    }
    println!("{x}");
}
