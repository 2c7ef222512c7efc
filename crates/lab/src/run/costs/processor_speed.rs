//! Speed of a processor at a moment, by loops of known work.
//!
//! A processor's speed changes within a second. Its twin in the same core may be at work, also for
//! another virtual machine of the host, and its frequency changes. The effect differs between
//! programs: SQLite called from C took 1.45 times its processor time, but called from Python 1.07
//! times. A ratio of two costs is therefore different meanwhile, however close together both were
//! measured. Each turn keeps the slowness of its processor.

use super::loops::{Loops, Work};
use crate::machine::set_of;
use rustix::process::Pid;
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

/// Probes before the first turn, and the pause before each. A processor's usual state shows only
/// over some time.
const FIRST: u32 = 60;
const PAUSE: Duration = Duration::from_millis(2);

/// Probes of a stretch.
const STRETCH: usize = 100;

/// Stretches kept for a processor, some minutes of turns. That is longer than most slow phases, so
/// that a slow minute does not pass for the ordinary speed. Older fast phases are forgotten.
const KEPT: usize = 600;

/// Times of each loop on each processor of a member at one moment, ns.
pub(in crate::run) type Moment = Vec<((u32, Work), f64)>;

/// Recent times of loops, by processor.
#[derive(Default)]
pub(in crate::run) struct Gauge {
    loops: Loops,
    /// Processors that were asked at all: we may not run on some of them.
    asked: HashSet<u32>,
    seen: HashMap<(u32, Work), Seen>,
}

/// Times of a loop on one processor, ns.
#[derive(Default)]
struct Seen {
    /// Probes of the unfinished stretch.
    last: Vec<f64>,
    /// The fast ones of each stretch.
    stretches: VecDeque<f64>,
    /// Cached time on the fast processor, because it is read far more often than probes are made.
    fast_ns: Option<f64>,
}

impl Gauge {
    /// Asks these processors how fast they are now.
    pub(super) fn probe(&mut self, processors: &[u32]) -> Moment {
        processors.iter().flat_map(|cpu| self.of(*cpu)).collect()
    }

    /// Returns the relative slowness of the slowest processor at a moment, by present knowledge of
    /// their fast state.
    pub(super) fn slowed(&self, moment: &Moment) -> f64 {
        let slowed = |(of, took_ns): &((u32, Work), f64)| {
            let seen = self.seen.get(of);
            let fast_ns = seen.and_then(|seen| seen.fast_ns);
            fast_ns.map_or(0.0, |fast_ns| took_ns / fast_ns - 1.0)
        };
        moment.iter().map(slowed).fold(0.0, f64::max)
    }

    fn of(&mut self, processor: u32) -> Moment {
        if self.asked.insert(processor) {
            for _ in 0..FIRST {
                std::thread::sleep(PAUSE);
                self.look(processor);
            }
        }
        self.look(processor)
    }

    fn look(&mut self, processor: u32) -> Moment {
        let mut moment = Moment::new();
        for (work, took_ns) in on(processor, || self.loops.probe()).unwrap_or_default() {
            let of = (processor, work);
            self.seen.entry(of).or_default().note(work, took_ns);
            moment.push((of, took_ns));
        }
        moment
    }
}

#[cfg(test)]
impl Gauge {
    /// Creates the gauge of processor 0 after these probes.
    pub(super) fn of_one(probes: impl IntoIterator<Item = f64>) -> Gauge {
        let mut seen = Seen::default();
        let mut note = |took_ns| seen.note(Work::Chains, took_ns);
        probes.into_iter().for_each(&mut note);
        Gauge {
            seen: HashMap::from([(PROCESSOR_0, seen)]),
            ..Gauge::default()
        }
    }
}

/// The only processor of such a gauge.
#[cfg(test)]
pub(super) const PROCESSOR_0: (u32, Work) = (0, Work::Chains);

impl Seen {
    fn note(&mut self, work: Work, took_ns: f64) {
        self.last.push(took_ns);
        if self.last.len() >= STRETCH {
            self.stretches.extend(fast(&self.last, work.fastest()));
            self.last.clear();
            if self.stretches.len() > KEPT {
                self.stretches.pop_front();
            }
        }
        self.fast_ns = self.fastest(work);
    }

    /// Returns the loop's time in the fastest stretch. An unfinished stretch counts if it is half
    /// full.
    fn fastest(&self, work: Work) -> Option<f64> {
        let last = fast(&self.last, work.fastest()).filter(|_| self.last.len() >= STRETCH / 2);
        let known = self.stretches.iter().copied().chain(last);
        known.min_by(f64::total_cmp)
    }
}

/// Returns a quantile of a stretch's probes.
fn fast(probes: &[f64], part: f64) -> Option<f64> {
    let mut all = probes.to_vec();
    let at = (part * all.len().checked_sub(1)? as f64) as usize;
    Some(*all.select_nth_unstable_by(at, f64::total_cmp).1)
}

/// Does something on a processor; `None` where we may not run.
fn on<T>(processor: u32, act: impl FnOnce() -> T) -> Option<T> {
    let own: Option<Pid> = None;
    let before = sched_getaffinity(own).ok()?;
    sched_setaffinity(own, &set_of([processor as usize])?).ok()?;
    let done = act();
    // The former set was permitted before, so it is permitted now.
    let _ = sched_setaffinity(own, &before);
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slowed(gauge: &Gauge, took_ns: f64) -> f64 {
        gauge.slowed(&vec![(PROCESSOR_0, took_ns)])
    }

    #[test]
    fn a_loop_is_held_against_fast_ones() {
        // One was faster than the processor can stay; most were slow.
        let probes = [[50.0].as_slice(), &[100.0; 20], &[180.0; 40]].concat();
        let gauge = Gauge::of_one(probes);
        assert_eq!(slowed(&gauge, 100.0), 0.0);
        assert!((slowed(&gauge, 150.0) - 0.5).abs() < 1e-9);
        assert_eq!(slowed(&gauge, 40.0), 0.0);
        assert_eq!(
            gauge.slowed(&vec![(PROCESSOR_0, 100.0), ((7, Work::Chains), 900.0)]),
            0.0
        );
    }

    #[test]
    fn the_slower_of_both_loops_counts() {
        let mut gauge = Gauge::of_one([100.0; STRETCH]);
        let query = (0, Work::Query);
        let mut seen = Seen::default();
        // Queries differ among themselves, and are held against the ordinary ones.
        (0..STRETCH).for_each(|at| seen.note(Work::Query, 190.0 + 10.0 * (at % 3) as f64));
        gauge.seen.insert(query, seen);
        assert_eq!(
            gauge.slowed(&vec![(PROCESSOR_0, 100.0), (query, 200.0)]),
            0.0
        );
        let slowed = gauge.slowed(&vec![(PROCESSOR_0, 100.0), (query, 300.0)]);
        assert!((slowed - 0.5).abs() < 1e-9);
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
        assert_eq!(gauge.seen[&PROCESSOR_0].stretches.len(), KEPT);
    }

    #[test]
    fn where_we_may_run_is_as_it_was_before() {
        let before = sched_getaffinity(None).unwrap();
        let processors = crate::machine::allowed_processors();
        let first = processors[0] as u32;
        let mut gauge = Gauge::default();
        let moment = gauge.probe(&[first]);
        let of = [(first, Work::Chains), (first, Work::Query)];
        assert_eq!(moment.iter().map(|(of, _)| *of).collect::<Vec<_>>(), of);
        for of in of {
            assert_eq!(gauge.seen[&of].last.len(), FIRST as usize + 1);
        }
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn a_processor_that_we_may_not_run_on_is_asked_for_nothing() {
        let mut gauge = Gauge::default();
        assert_eq!(gauge.probe(&[1000]), []);
        assert!(gauge.asked.contains(&1000) && gauge.seen.is_empty());
    }
}
