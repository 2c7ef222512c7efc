//! How fast a processor is at a moment, by a loop of known work.
//!
//! A processor is not always as fast as it was a second ago: its twin in the same core may be at work, for another virtual machine of the host, too,
//! and its frequency changes. That does not slow all programs alike: where SQLite called from C took 1.45 times its processor time, Python's calls of it
//! took 1.07 times. So a ratio of two costs is another one meanwhile, however close to each other both were measured, and each turn
//! keeps by how much its processor was slowed.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::time::Duration;

/// Turns of the loop, which make some 10 µs.
const TURNS: u64 = 7_000;

/// Loops that make a probe. The shortest counts: an interruption falls into one of them, and what slows a processor is in all.
const LOOPS: u32 = 4;

/// Probes before the first that counts, and the pause before each: what a processor mostly does is seen over some time only.
const FIRST: u32 = 60;
const PAUSE: Duration = Duration::from_millis(2);

/// The part of the probes that was faster than what others are compared with: not the very fastest, since a processor may have a rare state
/// in which it is faster than it can stay.
const FASTEST: f64 = 0.1;

/// Probes that are kept of a processor, so that a phase in which it was faster for long is forgotten.
const KEPT: usize = 2_000;

/// What loops took of late, by processor, ns.
#[derive(Default)]
pub(in crate::run) struct Gauge(HashMap<u32, VecDeque<f64>>);

impl Gauge {
    /// By how much the slowest of these processors is slower than when it was fast, as a part of that.
    pub(super) fn slowed(&mut self, processors: &[u32]) -> f64 {
        let slowed = processors.iter().map(|processor| self.of(*processor));
        slowed.fold(0.0, f64::max)
    }

    fn of(&mut self, processor: u32) -> f64 {
        let seen = self.0.entry(processor).or_insert_with(|| {
            let first = (0..FIRST).filter_map(|_| {
                std::thread::sleep(PAUSE);
                probe_on(processor)
            });
            first.collect()
        });
        match probe_on(processor) {
            Some(took_ns) => slower(seen, took_ns),
            None => 0.0,
        }
    }
}

/// By how much a loop was slower than fast ones, and notes what it took.
fn slower(seen: &mut VecDeque<f64>, took_ns: f64) -> f64 {
    seen.push_back(took_ns);
    if seen.len() > KEPT {
        seen.pop_front();
    }
    let mut all: Vec<f64> = seen.iter().copied().collect();
    let fast = (FASTEST * (all.len() - 1) as f64) as usize;
    let (_, fast_ns, _) = all.select_nth_unstable_by(fast, f64::total_cmp);
    (took_ns / *fast_ns - 1.0).max(0.0)
}

/// What the loop takes of a processor, ns; `None` where we may not run.
fn probe_on(processor: u32) -> Option<f64> {
    let own: Option<Pid> = None;
    let before = sched_getaffinity(own).ok()?;
    let mut there = CpuSet::new();
    there.set(processor as usize);
    sched_setaffinity(own, &there).ok()?;
    let took_ns = (0..LOOPS).map(|_| probe()).fold(f64::INFINITY, f64::min);
    // What was permitted before is permitted now.
    let _ = sched_setaffinity(own, &before);
    Some(took_ns)
}

/// The loop: several chains that a core follows at once, so that sharing it shows. Each turn takes as long as its longest chain: loops that keep all units of
/// a core busy were seen to have two stable speeds, with nothing else there.
fn probe() -> f64 {
    let [mut a, mut b, mut c, mut d, mut e, mut f] = black_box([1_u64, 2, 3, 4, 5, 6]);
    let begin = clock_gettime(ClockId::ThreadCPUTime);
    for turn in 0..TURNS {
        a = a.wrapping_mul(5).wrapping_add(turn);
        b = (b ^ turn).wrapping_add(b << 3);
        c = c.wrapping_add(turn ^ d);
        d = (d >> 1).wrapping_add(c);
        e = (e ^ (e << 5)).wrapping_add(turn);
        f = f.wrapping_mul(3).wrapping_add(1);
    }
    black_box([a, b, c, d, e, f]);
    let end = clock_gettime(ClockId::ThreadCPUTime);
    let ns = |time: rustix::time::Timespec| time.tv_sec as f64 * 1e9 + time.tv_nsec as f64;
    (ns(end) - ns(begin)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_held_against_fast_ones() {
        let mut seen = VecDeque::from([50.0]);
        seen.extend([100.0; 20]);
        seen.extend([180.0; 40]);
        // One was faster than the processor can stay; most were slow.
        assert_eq!(slower(&mut seen, 100.0), 0.0);
        assert!((slower(&mut seen, 150.0) - 0.5).abs() < 1e-9);
        assert_eq!(slower(&mut seen, 40.0), 0.0);
        assert_eq!(seen.len(), 64);
    }

    #[test]
    fn a_phase_that_was_faster_is_forgotten() {
        let mut seen = VecDeque::from(vec![100.0; KEPT]);
        let slowed: Vec<f64> = (0..KEPT).map(|_| slower(&mut seen, 120.0)).collect();
        assert!((slowed[0] - 0.2).abs() < 1e-9);
        assert_eq!((slowed[KEPT - 1], seen.len()), (0.0, KEPT));
    }

    #[test]
    fn where_we_may_run_is_as_it_was_before() {
        let before = sched_getaffinity(None).unwrap();
        let processors = crate::machine::allowed_processors();
        let first = processors[0] as u32;
        let mut gauge = Gauge::default();
        gauge.slowed(&[first]);
        assert_eq!(gauge.0[&first].len(), FIRST as usize + 1);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
