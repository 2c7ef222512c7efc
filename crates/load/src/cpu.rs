//! The generator's own processor: where it runs, and what it uses of it.

use crate::Error;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Keeps the calling thread on one processor.
pub(crate) fn stay_on(processor: usize) -> Result<(), Error> {
    if processor >= CpuSet::MAX_CPU {
        return Err(Error::Setting {
            what: "the processor",
            is: processor.to_string(),
            range: "a number that /proc/cpuinfo lists",
        });
    }
    let mut set = CpuSet::new();
    set.set(processor);
    sched_setaffinity(None, &set).map_err(Error::system("choosing the generator's processor"))
}

/// Lets the calling thread wake when it asked to: by default the system may be 50 µs late, to save wake-ups.
pub(crate) fn wake_in_time() {
    // It only makes waits more exact: without it, the lag that is measured tells.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

/// Lets the calling thread come before other work, if the system permits it.
pub(crate) fn come_first() {
    // A thread has a priority of its own on Linux; without it the generator only waits longer.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
}

/// Processor time that the calling thread used so far, ns.
pub(crate) fn used_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
