//! Where server and generator run, and what of these processors others used.

use antiphon_measure::Placement;
use std::fs;

/// Nanoseconds of a tick of /proc/stat, whose unit is the same on all of Linux's architectures that we run on.
const TICK_NS: u64 = 10_000_000;

/// The processors of a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Where the server is put.
    pub(super) server: Placement,
    /// The generator's processor; wherever the system puts it if not given.
    pub(super) generator: Option<usize>,
    /// The processors that either uses; all where that is left to the system.
    pub(super) used: Vec<usize>,
}

impl Places {
    /// `same`: server and generator on one processor. `across`: the server on one, the generator on another. `free`: as the system puts them.
    pub(super) fn of(placement: Placement) -> Places {
        match placement {
            Placement::Same { processor } => Places {
                server: placement,
                generator: Some(processor as usize),
                used: vec![processor as usize],
            },
            Placement::Across { main, partner } => Places {
                server: Placement::Same { processor: main },
                generator: Some(partner as usize),
                used: vec![main as usize, partner as usize],
            },
            Placement::Free => Places {
                server: placement,
                generator: None,
                used: crate::machine::allowed_processors(),
            },
        }
    }

    /// Time that the processors were not idle since the machine was started, ns. It goes in steps of 10 ms.
    pub(super) fn busy_ns(&self) -> u64 {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        busy_ticks(&text, &self.used) * TICK_NS
    }
}

/// Ticks of these processors that were neither idle nor waits for devices.
fn busy_ticks(stat: &str, processors: &[usize]) -> u64 {
    let of_line = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let processor: usize = name.strip_prefix("cpu")?.parse().ok()?;
        if !processors.contains(&processor) {
            return None;
        }
        // user nice system idle iowait irq softirq steal; what follows is part of the first two.
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

    #[test]
    fn a_server_across_from_its_generator_has_one_processor() {
        let places = Places::of(Placement::Across {
            main: 1,
            partner: 0,
        });
        assert_eq!(places.server, Placement::Same { processor: 1 });
        assert_eq!((places.generator, places.used), (Some(0), vec![1, 0]));
    }
}
