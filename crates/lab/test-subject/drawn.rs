//! Times drawn from a known distribution, in place of real work. Tests of comparisons thus hold on
//! a busy machine.
//!
//! `drawn-SEED-DEVIATION-SLOWER`: an iteration takes 100 ns, longer by SLOWER tenths of a per cent.
//! All iterations of one start share a normal factor with a deviation of DEVIATION tenths of a per
//! cent. The factor depends on seed and test. Like a real one, it also depends on the beginning of
//! the stack, through the length of `ANTIPHON_SHIFT`.

use std::cell::Cell;

/// Time of an iteration without any factor, ns.
const EACH_NS: f64 = 100.0;

/// Source of times.
pub struct Drawn {
    seed: u64,
    deviation: f64,
    slower: f64,
    now_ns: Cell<u64>,
}

impl Drawn {
    /// Parses such a word; `None` if it is none.
    pub fn of(word: &str) -> Option<Drawn> {
        let mut numbers = word.strip_prefix("drawn-")?.split('-');
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let (seed, deviation, slower) = (next()?, next()?, next()?);
        Some(Drawn {
            seed,
            deviation: deviation as f64 / 1000.0,
            slower: slower as f64 / 1000.0,
            now_ns: Cell::new(1),
        })
    }

    /// Returns the begin of a slice and its duration, ns.
    pub fn slice(&self, test: &str, iterations: u64) -> (u64, u64) {
        let shift = std::env::var("ANTIPHON_SHIFT").map_or(0, |shift| shift.len());
        let name = test.bytes().fold(shift as u64, |hash, byte| {
            hash.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let mut state = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ name;
        // The formula avoids logarithms: libm's memory would blur the evidence of a leak.
        let start = 1.0 + self.deviation * normal(&mut state);
        let each = EACH_NS * (1.0 + self.slower) * start;
        let (begin, elapsed) = (self.now_ns.get(), (iterations as f64 * each) as u64);
        self.now_ns.set(begin + elapsed + 10_000);
        (begin, elapsed)
    }
}

/// Returns a nearly standard normal number: twelve uniforms.
fn normal(state: &mut u64) -> f64 {
    (0..12).map(|_| uniform(state)).sum::<f64>() - 6.0
}

fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}
