//! Time during which processors were busy, by any program.

use std::fs;

/// Nanoseconds of a tick of `/proc`. The unit is the same on all Linux architectures that we
/// support.
pub(super) const TICK_NS: u64 = 10_000_000;

/// Returns the busy time of these processors since boot, ns, in steps of 10 ms.
pub(super) fn busy_ns(processors: &[usize]) -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks(&text, processors) * TICK_NS
}

/// Ticks of these processors that were neither idle nor waits for devices.
fn busy_ticks(stat: &str, processors: &[usize]) -> u64 {
    let of_line = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let processor: usize = name.strip_prefix("cpu")?.parse().ok()?;
        if !processors.contains(&processor) {
            return None;
        }
        // The fields are user nice system idle iowait irq softirq steal; later ones are part of the
        // first two.
        let counts: Vec<u64> = numbers
            .split_whitespace()
            .take(8)
            .filter_map(|word| word.parse().ok())
            .collect();
        let idle = counts.get(3)? + counts.get(4)?;
        Some(counts.iter().sum::<u64>() - idle)
    };
    stat.lines().filter_map(of_line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 1000 50 4 5 6 1 0\ncpu1 10 0 0 7 0 0 0 0 0 0\ncpu10 5 0 0 0 0 0 0 0 0 0\nintr 7\n";

    #[test]
    fn idle_time_and_other_processors_do_not_count() {
        assert_eq!(busy_ticks(STAT, &[0]), 21);
        assert_eq!(busy_ticks(STAT, &[0, 1]), 31);
        assert_eq!(busy_ticks(STAT, &[10]), 5);
        assert_eq!(busy_ticks("", &[0]), 0);
    }
}
