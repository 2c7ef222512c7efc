//! Random numbers that are the same for the same seed, in every version: SplitMix64 (Steele, Lea
//! and Flood, 2014).

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Makes the stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// Returns a number from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns true that many times in a thousand.
    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}
