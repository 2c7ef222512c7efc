//! Core-to-core latency: the time of a cache line from one processor to another and back.
//!
//! A virtual machine's processors are threads of its host, which moves them. They share a level-3
//! cache at one moment, and a second or a minute later they do not. All joint work of the two
//! processors changes its cost with that. On an AMD EPYC a round trip took 0.12 µs or 0.33. A
//! request over a kept connection took 24 µs of the server's processor or 30. The guest cannot see
//! the difference: it reports shared caches throughout.

use super::set_of;
use crate::run::realtime::OwnThread;
use rustix::thread::sched_setaffinity;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Batches of round trips. Each batch is timed as a whole, because the clock takes a good part of
/// one trip. The median ignores interrupted batches.
const BATCHES: u32 = 21;
const TRIPS: u32 = 16;

/// Neither thread waits longer for the other, which may have no turn.
const LIMIT: Duration = Duration::from_millis(20);

/// Turns of a wait between two looks at the clock.
const LOOK: u32 = 4096;

/// A line that no other data shares: processors fetch two neighbours at a time.
#[repr(align(128))]
#[derive(Default)]
struct Line(AtomicU32);

/// Measures the round trip of a cache line between two processors, ns.
///
/// The result is `None` if we may not run on both, or they had no turn at the same time.
pub fn core_to_core_ns(one: usize, other: usize) -> Option<f64> {
    if one == other {
        return None;
    }
    // The calling thread stays where it is.
    std::thread::scope(|scope| {
        let asks = Builder::new().spawn_scoped(scope, || ask(one, other));
        asks.ok()?.join().ok()?
    })
}

/// Asks on the one processor a thread on the other.
fn ask(one: usize, other: usize) -> Option<f64> {
    let line = &Line::default();
    stay_on(one)?;
    let _first = OwnThread::put_first();
    std::thread::scope(|scope| {
        let (ready, is_ready) = channel();
        let answers = Builder::new().spawn_scoped(scope, move || {
            stay_on(other)?;
            let _first = OwnThread::put_first();
            ready.send(()).ok()?;
            (0..BATCHES * TRIPS).try_for_each(|trip| line.pass_on(2 * trip + 1))
        });
        let answers = answers.ok()?;
        // It begins on our processor, where it would have no turn if we spun for it.
        let took_ns = is_ready.recv().ok().and_then(|()| median_trip_ns(line));
        answers.join().ok().flatten().and(took_ns)
    })
}

impl Line {
    /// Waits until it is so, and passes it on; `None` when that is in vain.
    fn pass_on(&self, when: u32) -> Option<()> {
        let begun = Instant::now();
        let mut turn: u32 = 0;
        while self.0.load(Ordering::Acquire) != when {
            std::hint::spin_loop();
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(LOOK) && begun.elapsed() > LIMIT {
                return None;
            }
        }
        self.0.store(when + 1, Ordering::Release);
        Some(())
    }
}

/// Returns the median over the batches.
fn median_trip_ns(line: &Line) -> Option<f64> {
    let mut batches = Vec::with_capacity(BATCHES as usize);
    for batch in 0..BATCHES {
        let begun = Instant::now();
        for trip in batch * TRIPS..(batch + 1) * TRIPS {
            line.pass_on(2 * trip)?;
        }
        batches.push(begun.elapsed().as_nanos() as f64 / f64::from(TRIPS));
    }
    batches.sort_by(f64::total_cmp);
    Some(batches[batches.len() / 2])
}

fn stay_on(processor: usize) -> Option<()> {
    sched_setaffinity(None, &set_of([processor])?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::allowed_processors;
    use rustix::thread::CpuSet;

    #[test]
    fn a_line_takes_some_time_there_and_back() {
        let &[one, other, ..] = allowed_processors().as_slice() else {
            println!("skipped: one processor alone is permitted");
            return;
        };
        // On a machine with much else to do they may miss each other now and then.
        let took_ns = (0..50).find_map(|_| core_to_core_ns(one, other));
        assert!(took_ns.is_some_and(|ns| ns > 1.0), "{took_ns:?}");
    }

    #[test]
    fn what_is_no_pair_of_processors_tells_nothing() {
        let one = allowed_processors()[0];
        assert_eq!(core_to_core_ns(one, one), None);
        assert_eq!(core_to_core_ns(one, CpuSet::MAX_CPU), None);
        assert_eq!(core_to_core_ns(CpuSet::MAX_CPU - 1, one), None);
    }

    #[test]
    fn who_is_alone_gives_up() {
        assert_eq!(Line::default().pass_on(1), None);
    }
}
