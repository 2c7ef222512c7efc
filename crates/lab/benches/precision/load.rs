//! Other work on every processor.

use antiphon_runner::{Process, Program};
use std::env;
use std::time::{Duration, Instant};

/// Longest duration of a load that is not ended.
const LONGEST: Duration = Duration::from_secs(600);

/// Starts children that spin, one a processor; they end when this is dropped.
pub fn start() -> Vec<Process> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let this = env::current_exe().expect("a running program has a path");
    (0..processors)
        .map(|processor| {
            Program::new(&this)
                .arg("spin")
                .affinity([processor])
                .time_limit(LONGEST)
                .spawn()
                .expect("this program can be started again")
        })
        .collect()
}

/// Does the work of such a child: arithmetic and memory traffic.
pub fn spin() {
    let start = Instant::now();
    let mut memory = vec![1u64; 1 << 20];
    let mut x = 1u64;
    while start.elapsed() < LONGEST {
        for _ in 0..100_000 {
            x = super::chain::chain::<1>(x);
            let place = (x >> 44) as usize;
            memory[place] = memory[place].wrapping_add(x);
        }
    }
    println!("{}", memory[0]);
}
