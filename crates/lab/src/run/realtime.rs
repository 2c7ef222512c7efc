//! Threads that already run are put before all ordinary ones: real-time, at the least priority of that kind.
//!
//! However nice a thread is, Linux lets an ordinary one that runs go on to the end of its slice, some 3 ms, before one that wakes up: a
//! commit that its disk answers within 0.3 ms took 4 ms beside programs that only count, and used up to half more of the processor, whose caches were the
//! others' by then.

use rustix::process::Pid;

/// Priorities: of what is measured, and of the laboratory's own thread, which must come to its turn also where a subject spins.
const SUBJECT: i32 = 1;
const OWN: i32 = 2;

/// Threads of one priority take turns, since a virtual machine has some that wait by spinning for others. The laboratory uses this kind
/// nowhere else, so that it tells who was put first here: a subject that is measured under FIFO stays what it is.
const KIND: libc::c_int = libc::SCHED_RR;

/// Puts an ordinary thread first, with all that it starts; whether it is first now or was real-time before.
pub(super) fn put_first(thread: Pid) -> bool {
    kind(Some(thread)) != libc::SCHED_OTHER || set(Some(thread), KIND, SUBJECT)
}

/// Makes a thread ordinary again that was put first here, or started by one that was.
pub(super) fn put_back(thread: Pid) {
    if kind(Some(thread)) == KIND {
        set(Some(thread), libc::SCHED_OTHER, 0);
    }
}

/// Our own thread, which is first while this value lives, if that is permitted. What it starts is ordinary.
pub(super) struct OwnThread(bool);

impl OwnThread {
    pub(super) fn put_first() -> OwnThread {
        let may = kind(None) == libc::SCHED_OTHER;
        OwnThread(may && set(None, KIND | libc::SCHED_RESET_ON_FORK, OWN))
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        if self.0 {
            set(None, libc::SCHED_OTHER, 0);
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
        let own = OwnThread::put_first();
        if !own.0 {
            println!("skipped: real-time priorities are not permitted");
            return;
        }
        assert_eq!(kind(None), KIND);
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, libc::SCHED_OTHER);
        drop(own);
        assert_eq!(kind(None), libc::SCHED_OTHER);
        assert!(put_first(gettid()));
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, KIND);
        put_back(gettid());
        assert_eq!(kind(None), libc::SCHED_OTHER);
    }
}
