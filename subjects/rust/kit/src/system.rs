//! The system calls that the standard library does not have. The unsafe code of the kit is here, in `enter` and in `frame`.

use std::io;

/// A clock of the system, ns.
#[inline(always)]
pub(crate) fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is ours to write. The clocks that are named in this crate exist, so the call does not fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until a moment of CLOCK_MONOTONIC; may end early by a signal.
pub(crate) fn sleep_until(moment_ns: u64) {
    let time = libc::timespec {
        tv_sec: (moment_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (moment_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: `time` is read only; nothing is written back for an absolute time.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &time,
            std::ptr::null_mut(),
        )
    };
}

/// Resource use of the whole process.
pub(crate) fn usage() -> libc::rusage {
    // SAFETY: all zeros is a value of this struct of numbers, and it is ours to write.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    }
}

/// The processor that the calling thread is on.
pub(crate) fn processor() -> Option<u32> {
    // SAFETY: takes nothing.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Policy and priority of the calling thread.
pub(crate) fn scheduling() -> (i32, i32) {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread; `parameters` is ours to write.
    let policy = unsafe {
        libc::sched_getparam(0, &mut parameters);
        libc::sched_getscheduler(0)
    };
    (
        policy & !libc::SCHED_RESET_ON_FORK,
        parameters.sched_priority,
    )
}

/// Words of a set of processors: room for 8192.
const SET_WORDS: usize = 128;

/// Where a thread may run; 0 is the calling one. The processors in order.
pub(crate) fn allowed(thread: i32) -> Vec<u32> {
    let mut words = [0u64; SET_WORDS];
    // SAFETY: the set is as long as is said, and ours to write.
    let failed =
        unsafe { libc::sched_getaffinity(thread, size_of_val(&words), words.as_mut_ptr().cast()) };
    if failed != 0 {
        return Vec::new();
    }
    let bits =
        (0..SET_WORDS as u32 * 64).filter(|bit| words[(bit / 64) as usize] >> (bit % 64) & 1 == 1);
    bits.collect()
}

/// Lets a thread run on one processor alone; 0 is the calling one.
pub(crate) fn pin(thread: i32, processor: u32) -> io::Result<()> {
    let mut words = [0u64; SET_WORDS];
    let Some(word) = words.get_mut((processor / 64) as usize) else {
        return Err(io::Error::other("the processor's number is too high"));
    };
    *word = 1 << (processor % 64);
    // SAFETY: the set is as long as is said, and read only.
    match unsafe { libc::sched_setaffinity(thread, size_of_val(&words), words.as_ptr().cast()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
