//! The generator's own processor: its placement, and its use.

use crate::Error;
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;
use std::thread::Builder;

/// Keeps the calling thread on one processor.
pub(crate) fn stay_on(processor: usize) -> Result<(), Error> {
    match move_to(processor..processor.saturating_add(1)) {
        // The system means by this that none of the processors is permitted.
        Err(Errno::INVAL) => Err(not_permitted(processor)),
        moved => moved.map_err(Error::system(CHOOSING)),
    }
}

/// Checks that a thread may stay on this processor.
pub(crate) fn check(processor: usize) -> Result<(), Error> {
    if here().is_ok_and(|processors| processors.contains(&processor)) {
        return Ok(());
    }
    // More processors may be permitted than those that we run on now (`taskset`). A separate thread
    // makes the trial, so that the caller stays in place.
    let tries = Builder::new().spawn(move || stay_on(processor));
    let tries = tries.map_err(Error::system("starting a thread of the generator"))?;
    tries
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

const CHOOSING: &str = "choosing the generator's processor";

/// Returns an error with the permitted processors. The calling thread asks for all, reads those
/// that it gets, and is then restored.
fn not_permitted(processor: usize) -> Error {
    let all = || {
        let before = sched_getaffinity(None)?;
        move_to(0..CpuSet::MAX_CPU)?;
        let permitted = here()?;
        sched_setaffinity(None, &before)?;
        Ok::<_, Errno>(permitted)
    };
    match all() {
        Ok(permitted) => {
            let range = format!("one that is permitted ({})", ranges(&permitted));
            Error::setting("the processor", processor, range)
        }
        Err(why) => Error::system(CHOOSING)(why),
    }
}

/// Moves the calling thread to the permitted ones of these processors.
fn move_to(processors: std::ops::Range<usize>) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for processor in processors.start..processors.end.min(CpuSet::MAX_CPU) {
        set.set(processor);
    }
    sched_setaffinity(None, &set)
}

/// Returns the processors that the calling thread may run on now.
fn here() -> Result<Vec<usize>, Errno> {
    let set = sched_getaffinity(None)?;
    let all = 0..CpuSet::MAX_CPU;
    Ok(all.filter(|processor| set.is_set(*processor)).collect())
}

/// Numbers in rising order as people write them: `0-3, 6`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|number, next| number + 1 == *next);
    let runs = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run[0].to_string(), // a run has at least one
    });
    runs.collect::<Vec<_>>().join(", ")
}

/// Lets the calling thread wake in time. By default the system may be 50 µs late, to save
/// wake-ups.
pub(crate) fn wake_in_time() {
    // A failure is harmless: the slack only makes waits more exact, and the measured lag shows its
    // absence.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Lets the calling thread come before other work, if the system permits it.
pub(crate) fn come_first() {
    // Without it the generator only waits longer.
    let _ = try_to_come_first();
}

/// Checks whether threads of the generator may have priority over other work
/// ([`Load::first`](crate::Load::first)).
///
/// A thread that may not, and never sleeps, keeps waiting for the slices of others. It should then
/// not poll.
pub fn may_come_first() -> bool {
    static MAY: OnceLock<bool> = OnceLock::new();
    *MAY.get_or_init(|| {
        // Another thread tries, so that the calling one stays as it is.
        let tries = Builder::new().spawn(|| try_to_come_first().is_ok());
        tries.is_ok_and(|thread| thread.join().unwrap_or(false))
    })
}

fn try_to_come_first() -> Result<(), Errno> {
    // A thread has a priority of its own on Linux.
    rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20)
}

/// Returns the processor time of the calling thread so far, ns.
pub(crate) fn used_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the time that the calling thread was ready without a processor so far, ns; 0 if the
/// kernel does not tell.
pub(crate) fn waited_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1);
    waited.and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_told_in_runs() {
        assert_eq!(ranges(&[0]), "0");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
    }

    #[test]
    fn a_processor_that_is_not_permitted_is_refused_with_those_that_are() {
        let before = here().unwrap();
        for wrong in [CpuSet::MAX_CPU - 1, CpuSet::MAX_CPU, usize::MAX] {
            let refused = check(wrong).unwrap_err().to_string();
            let says = format!("the processor is {wrong}; give one that is permitted (");
            assert!(refused.starts_with(&says), "{refused}");
        }
        assert_eq!(here().unwrap(), before);
        check(before[0]).unwrap();
    }
}
