//! The clocks of the system and of the language, and the one that the subject times with.

use crate::system::clock_ns;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The subject's clock, CLOCK_MONOTONIC, ns.
#[inline(always)]
pub fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// The name of that clock.
pub(crate) const OWN: &str = "CLOCK_MONOTONIC";

/// The most gaps that a loop keeps.
pub(crate) const GAPS_MOST: usize = 200_000;

/// A loop that reads a clock and keeps its gaps alone.
pub(crate) struct GapLoop {
    /// A first difference above this is a gap.
    pub(crate) over: i64,
    pub(crate) time_ns: u64,
    /// The first of them: the reading before each less the first reading, and the difference. Room was touched beforehand.
    pub(crate) kept: Vec<(u64, u64)>,
    pub(crate) readings: u64,
    pub(crate) elapsed: u64,
    pub(crate) gaps: u64,
    pub(crate) lost: u64,
}

impl GapLoop {
    pub(crate) fn new(over: i64, time_ns: u64) -> Self {
        let mut kept = vec![(u64::MAX, u64::MAX); GAPS_MOST];
        kept.clear();
        GapLoop {
            over,
            time_ns,
            kept,
            readings: 0,
            elapsed: 0,
            gaps: 0,
            lost: 0,
        }
    }

    fn keep(&mut self, start: u64, duration: u64) {
        if self.kept.len() < GAPS_MOST {
            self.kept.push((start, duration));
        }
        self.gaps += 1;
        self.lost += duration;
    }
}

/// Between two looks at whether time is up there are so many readings; a look takes no longer than a reading.
const READINGS_A_LOOK: u64 = 1024;

pub(crate) struct Clock {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Successive readings in a tight loop.
    pub(crate) fill: fn(&mut [u64]),
    /// The same for a time, of which only the gaps are kept.
    pub(crate) watch: fn(&mut GapLoop),
}

/// A clock whose reading is compiled into each loop that reads it.
trait Source {
    fn read() -> u64;
}

fn fill<S: Source>(readings: &mut [u64]) {
    for reading in readings {
        *reading = S::read();
    }
}

/// The last readings follow the look that found the time over, so the loop is never shorter than asked for.
fn watch<S: Source>(gap_loop: &mut GapLoop) {
    let first = S::read();
    let mut before = first;
    let end_ns = now_ns() + gap_loop.time_ns;
    gap_loop.readings = 1;
    loop {
        let time_over = now_ns() >= end_ns;
        for _ in 0..READINGS_A_LOOK {
            let now = S::read();
            let difference = now.wrapping_sub(before);
            // A clock that is set back makes no gap.
            if difference as i64 > gap_loop.over {
                gap_loop.keep(before.wrapping_sub(first), difference);
            }
            before = now;
        }
        gap_loop.readings += READINGS_A_LOOK;
        if time_over {
            break;
        }
    }
    gap_loop.elapsed = before.saturating_sub(first);
}

struct Posix<const CLOCK: libc::clockid_t>;

impl<const CLOCK: libc::clockid_t> Source for Posix<CLOCK> {
    #[inline(always)]
    fn read() -> u64 {
        clock_ns(CLOCK)
    }
}

/// `Instant::now`, of which only differences can be had: here, to the first reading of the thread.
struct InstantNow;

impl Source for InstantNow {
    #[inline(always)]
    fn read() -> u64 {
        thread_local!(static FIRST: Instant = Instant::now());
        FIRST.with(|first| first.elapsed().as_nanos() as u64)
    }
}

struct SystemTimeNow;

impl Source for SystemTimeNow {
    #[inline(always)]
    fn read() -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_nanos() as u64)
    }
}

#[cfg(target_arch = "x86_64")]
struct Tsc;

#[cfg(target_arch = "x86_64")]
impl Source for Tsc {
    #[inline(always)]
    fn read() -> u64 {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
}

const fn clock<S: Source>(name: &'static str, unit: &'static str) -> Clock {
    Clock {
        name,
        unit,
        fill: fill::<S>,
        watch: watch::<S>,
    }
}

pub(crate) const CLOCKS: &[Clock] = &[
    clock::<Posix<{ libc::CLOCK_MONOTONIC }>>(OWN, "ns"),
    clock::<Posix<{ libc::CLOCK_REALTIME }>>("CLOCK_REALTIME", "ns"),
    clock::<Posix<{ libc::CLOCK_PROCESS_CPUTIME_ID }>>("CLOCK_PROCESS_CPUTIME_ID", "ns"),
    clock::<Posix<{ libc::CLOCK_THREAD_CPUTIME_ID }>>("CLOCK_THREAD_CPUTIME_ID", "ns"),
    clock::<InstantNow>("std::time::Instant", "ns"),
    clock::<SystemTimeNow>("std::time::SystemTime", "ns"),
    #[cfg(target_arch = "x86_64")]
    clock::<Tsc>("RDTSC", "ticks"),
];
