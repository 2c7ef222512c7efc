//! What loops of frames are written with.

use std::arch::asm;

/// The hidden increment: a loop that counts with it has an end that no compiler sees, so it is neither unrolled nor worked out beforehand.
/// The counter stays in a register; through memory it would hide the cost of small operations beside it.
#[inline(always)]
pub fn increment(index: u64) -> u64 {
    hidden(index + 1)
}

/// One step of the dependent chain that the reference is made of: `x · 6364136223846793005 + 1442695040888963407`, mod 2⁶⁴. The
/// compiler is not told that `x` is unchanged between steps, since it may otherwise multiply several into one.
#[inline(always)]
pub fn chain_step(x: u64) -> u64 {
    hidden(
        x.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407),
    )
}

/// The same value, of which the compiler knows nothing. (`std::hint::black_box` would send it through memory.)
#[inline(always)]
fn hidden(mut value: u64) -> u64 {
    // SAFETY: no instruction at all; the register is only said to have changed.
    unsafe { asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// The operation of known cost that every subject has: 16 steps an iteration.
pub(crate) fn reference(iterations: u64) -> u64 {
    let mut x = 1;
    for _ in 0..iterations {
        for _ in 0..16 {
            x = chain_step(x);
        }
    }
    x
}
