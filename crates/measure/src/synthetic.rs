//! Subjects of known truth for tests: slices and clock series made from a formula and a seed.

use crate::{Role, Slice};

/// Returns a slice with nothing but its time.
pub(crate) fn slice(block: u32, role: Role, iterations: u64, elapsed_ns: u64) -> Slice {
    Slice {
        block,
        role,
        iterations,
        start_ns: 0,
        elapsed_ns,
        voluntary: 0,
        involuntary: 0,
        minor_faults: 0,
        major_faults: 0,
        wait_ns: Some(0),
        processor: Some(0),
        checksum: 0,
    }
}

/// Repeatable noise: uniform in [0, 1).
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Self {
        Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a nearly standard normal number: twelve uniforms.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Returns an exponential number of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }
}

/// Something that takes the processor away: each `period_ns` for `duration_ns`.
#[derive(Clone, Copy)]
pub(crate) struct Periodic {
    pub(crate) period_ns: f64,
    pub(crate) duration_ns: f64,
    pub(crate) phase_ns: f64,
}

/// Returns readings of a clock of the given resolution in a loop of `cost_ns` ± `jitter_ns`, with
/// interruptions (equation 1).
pub(crate) fn clock_readings(
    count: usize,
    resolution_ns: f64,
    cost_ns: f64,
    jitter_ns: f64,
    interruptions: &[Periodic],
    seed: u64,
) -> Vec<i64> {
    let mut noise = Noise::new(seed);
    let mut now = 0.0_f64;
    let mut due: Vec<f64> = interruptions.iter().map(|i| i.phase_ns).collect();
    (0..count)
        .map(|_| {
            now += (cost_ns + jitter_ns * noise.normal()).max(0.1 * cost_ns);
            for (next, interruption) in due.iter_mut().zip(interruptions) {
                while *next <= now {
                    now += interruption.duration_ns;
                    *next += interruption.period_ns;
                }
            }
            ((now / resolution_ns).floor() * resolution_ns).floor() as i64
        })
        .collect()
}
