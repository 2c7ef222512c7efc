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

/// Probes of a stretch, and the part of them that was faster than what stands for it: not the very fastest, since a processor may have a rare state
/// in which it is faster than it can stay.
const STRETCH: usize = 100;
const FASTEST: f64 = 0.1;

/// Stretches that are kept of a processor, some minutes of turns: longer than what mostly slows it lasts, so that a slow minute does not pass for its
/// ordinary speed. A phase in which it was faster before that is forgotten.
const KEPT: usize = 600;

/// What the loop took of each processor of a member at one moment, ns.
pub(in crate::run) type Moment = Vec<(u32, f64)>;

/// What loops took of late, by processor.
#[derive(Default)]
pub(in crate::run) struct Gauge(HashMap<u32, Seen>);

/// What loops took of one processor, ns.
#[derive(Default)]
struct Seen {
    /// Those of the stretch that is not yet over.
    last: Vec<f64>,
    /// The fast ones of each stretch.
    stretches: VecDeque<f64>,
}

impl Gauge {
    /// Asks these processors how fast they are now.
    pub(super) fn probe(&mut self, processors: &[u32]) -> Moment {
        let took = processors.iter().map(|cpu| Some((*cpu, self.of(*cpu)?)));
        took.flatten().collect()
    }

    /// By how much the slowest of its processors was slower at a moment than when it was fast, as a part of that, by what is known of them now.
    pub(super) fn slowed(&self, moment: &Moment) -> f64 {
        let slowed = |(cpu, took_ns): &(u32, f64)| {
            let fast_ns = self.0.get(cpu).and_then(Seen::fast_ns);
            fast_ns.map_or(0.0, |fast_ns| took_ns / fast_ns - 1.0)
        };
        moment.iter().map(slowed).fold(0.0, f64::max)
    }

    fn of(&mut self, processor: u32) -> Option<f64> {
        let seen = self.0.entry(processor).or_insert_with(|| {
            let mut seen = Seen::default();
            for _ in 0..FIRST {
                std::thread::sleep(PAUSE);
                seen.note(probe_on(processor));
            }
            seen
        });
        let took_ns = probe_on(processor);
        seen.note(took_ns);
        took_ns
    }
}

#[cfg(test)]
impl Gauge {
    /// The gauge of processor 0 that has seen these probes.
    pub(super) fn of_one(probes: impl IntoIterator<Item = f64>) -> Gauge {
        let mut seen = Seen::default();
        probes
            .into_iter()
            .for_each(|took_ns| seen.note(Some(took_ns)));
        Gauge(HashMap::from([(0, seen)]))
    }
}

impl Seen {
    fn note(&mut self, took_ns: Option<f64>) {
        self.last.extend(took_ns);
        if self.last.len() < STRETCH {
            return;
        }
        self.stretches.extend(fast(&self.last));
        self.last.clear();
        if self.stretches.len() > KEPT {
            self.stretches.pop_front();
        }
    }

    /// What the loop takes when the processor is fast: in the fastest stretch of all. The last one counts when enough of it is there.
    fn fast_ns(&self) -> Option<f64> {
        let last = fast(&self.last).filter(|_| self.last.len() >= STRETCH / 2);
        let known = self.stretches.iter().copied().chain(last);
        known.min_by(f64::total_cmp)
    }
}

/// What the fast probes of a stretch took.
fn fast(probes: &[f64]) -> Option<f64> {
    let mut all = probes.to_vec();
    let at = (FASTEST * all.len().checked_sub(1)? as f64) as usize;
    Some(*all.select_nth_unstable_by(at, f64::total_cmp).1)
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

    fn slowed(gauge: &Gauge, took_ns: f64) -> f64 {
        gauge.slowed(&vec![(0, took_ns)])
    }

    #[test]
    fn a_loop_is_held_against_fast_ones() {
        // One was faster than the processor can stay; most were slow.
        let probes = [[50.0].as_slice(), &[100.0; 20], &[180.0; 40]].concat();
        let gauge = Gauge::of_one(probes);
        assert_eq!(slowed(&gauge, 100.0), 0.0);
        assert!((slowed(&gauge, 150.0) - 0.5).abs() < 1e-9);
        assert_eq!(slowed(&gauge, 40.0), 0.0);
        assert_eq!(gauge.slowed(&vec![(0, 100.0), (7, 900.0)]), 0.0);
    }

    #[test]
    fn a_slow_minute_does_not_pass_for_the_ordinary_speed() {
        let fast = std::iter::repeat_n(100.0, STRETCH);
        let gauge = Gauge::of_one(fast.chain(std::iter::repeat_n(150.0, 100 * STRETCH)));
        assert!((slowed(&gauge, 150.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_phase_that_was_faster_is_forgotten() {
        let fast = std::iter::repeat_n(100.0, STRETCH);
        let gauge = Gauge::of_one(fast.chain(std::iter::repeat_n(120.0, KEPT * STRETCH)));
        assert_eq!(slowed(&gauge, 120.0), 0.0);
        assert_eq!(gauge.0[&0].stretches.len(), KEPT);
    }

    #[test]
    fn where_we_may_run_is_as_it_was_before() {
        let before = sched_getaffinity(None).unwrap();
        let processors = crate::machine::allowed_processors();
        let first = processors[0] as u32;
        let mut gauge = Gauge::default();
        assert_eq!(gauge.probe(&[first]).len(), 1);
        assert_eq!(gauge.0[&first].last.len(), FIRST as usize + 1);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
