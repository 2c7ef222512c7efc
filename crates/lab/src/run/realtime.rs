//! Threads that already run are put before all ordinary ones: real-time, at the least priority of that kind.
//!
//! However nice a thread is, Linux lets an ordinary one that runs go on to the end of its slice, some 3 ms, before one that wakes up: a
//! commit that its disk answers within 0.3 ms took 4 ms beside programs that only count, and used up to half more of the processor, whose caches were the
//! others' by then.

use rustix::process::Pid;

/// Priorities: of what is measured, and of the laboratory's own thread and the keepers, which must come to their turn also where a subject spins.
const SUBJECT: i32 = 1;
const OWN: i32 = 2;

/// Threads of one priority take turns, since a virtual machine has some that wait by spinning for others. The laboratory uses this kind
/// nowhere else, so that it tells who was put first here: a subject that is measured under FIFO stays what it is.
const KIND: libc::c_int = libc::SCHED_RR;

/// Puts an ordinary thread first, with all that it starts.
pub(super) fn put_first(thread: Pid) {
    put(thread, SUBJECT);
}

/// Puts a keeper before what it keeps.
pub(super) fn put_keeper_first(keeper: Pid) {
    put(keeper, OWN);
}

fn put(thread: Pid, priority: i32) {
    if kind(Some(thread)) == libc::SCHED_OTHER {
        // One that is refused is at least as nice as can be.
        set(Some(thread), KIND, priority);
    }
}

/// Makes a thread ordinary again that was put first here, or started by one that was; whether it was.
pub(super) fn put_back(thread: Pid) -> bool {
    kind(Some(thread)) == KIND && set(Some(thread), libc::SCHED_OTHER, 0)
}

/// Our own thread, which is first while this value lives. What it starts is ordinary.
pub(super) struct OwnThread(());

impl OwnThread {
    /// `None` where that is not permitted, or the thread is no ordinary one.
    pub(super) fn put_first() -> Option<OwnThread> {
        let may = kind(None) == libc::SCHED_OTHER;
        (may && set(None, KIND | libc::SCHED_RESET_ON_FORK, OWN)).then_some(OwnThread(()))
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        // Who has no more than a permitted priority (RLIMIT_RTPRIO) may not take back that what it starts is ordinary.
        if !set(None, libc::SCHED_OTHER, 0) {
            set(None, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

fn number(thread: Option<Pid>) -> libc::pid_t {
    thread.map_or(0, Pid::as_raw_pid)
}

/// The scheduling policy of a thread, of ours without one; below 0 if it has ended.
fn kind(thread: Option<Pid>) -> libc::c_int {
    // SAFETY: it takes a number and touches no memory of ours.
    let policy = unsafe { libc::sched_getscheduler(number(thread)) };
    policy & !libc::SCHED_RESET_ON_FORK
}

fn set(thread: Option<Pid>, policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: the record is plain numbers, for which zero is valid, and outlives the call, which only reads it.
    unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(number(thread), policy, &parameters) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::gettid;

    #[test]
    fn threads_are_put_back() {
        let Some(own) = OwnThread::put_first() else {
            println!("skipped: real-time priorities are not permitted");
            return;
        };
        assert_eq!(kind(None), KIND);
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, libc::SCHED_OTHER);
        drop(own);
        assert_eq!(kind(None), libc::SCHED_OTHER);
        put_first(gettid());
        assert_eq!(kind(None), KIND);
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, KIND);
        assert!(put_back(gettid()) && !put_back(gettid()));
        assert_eq!(kind(None), libc::SCHED_OTHER);
    }
}
