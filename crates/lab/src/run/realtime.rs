//! Threads that already run are put before all ordinary ones: real-time, at the least priority of that kind.
//!
//! However nice a thread is, Linux lets an ordinary one that runs go on to the end of its slice, some 3 ms, before one that wakes up: a
//! commit that its disk answers within 0.3 ms took 4 ms beside programs that only count, and used up to half more of the processor, whose caches were the
//! others' by then.

use rustix::io::Errno;
use rustix::process::{Pid, Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

/// Priorities: of what is measured, and of the laboratory's own thread and the keepers, which must come to their turn also where a subject spins.
const SUBJECT: i32 = 1;
const OWN: i32 = 2;

/// Threads of one priority take turns, since a virtual machine has some that wait by spinning for others. The laboratory uses this kind
/// nowhere else, so that it tells who was put first here: a subject that is measured under FIFO stays what it is.
const KIND: libc::c_int = libc::SCHED_RR;

/// Puts an ordinary thread first, with all that it starts. One that is refused is at least as nice as can be.
pub(super) fn put_first(thread: Pid) -> Result<(), Refused> {
    put(thread, SUBJECT)
}

/// Puts a keeper before what it keeps.
pub(super) fn put_keeper_first(keeper: Pid) -> Result<(), Refused> {
    put(keeper, OWN)
}

fn put(thread: Pid, priority: i32) -> Result<(), Refused> {
    if kind(Some(thread)) != libc::SCHED_OTHER {
        return Ok(());
    }
    match set(Some(thread), KIND, priority) {
        // It has ended.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(Refused::new(error)),
    }
}

/// Makes a thread ordinary again that was put first here, or started by one that was; whether it was.
pub(super) fn put_back(thread: Pid) -> bool {
    kind(Some(thread)) == KIND && set(Some(thread), libc::SCHED_OTHER, 0).is_ok()
}

/// Makes a thread ordinary, whoever made it what it is.
pub(super) fn make_ordinary(thread: Pid) {
    if kind(Some(thread)) != libc::SCHED_OTHER {
        // Where that is refused, so was what it is.
        let _ = set(Some(thread), libc::SCHED_OTHER, 0);
    }
}

/// Our own thread, which is first while this value lives. What it starts is ordinary.
pub(crate) struct OwnThread(());

impl OwnThread {
    /// `None` where the thread is no ordinary one: then it was made so on purpose, by `chrt`, and what it starts is of its kind, which the
    /// subjects' own reports tell.
    pub(crate) fn put_first() -> Result<Option<OwnThread>, Refused> {
        if kind(None) != libc::SCHED_OTHER {
            return Ok(None);
        }
        match set(None, KIND | libc::SCHED_RESET_ON_FORK, OWN) {
            Ok(()) => Ok(Some(OwnThread(()))),
            Err(error) => Err(Refused::new(error)),
        }
    }
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        // Who has no more than a permitted priority (RLIMIT_RTPRIO) may not take back that what it starts is ordinary.
        if set(None, libc::SCHED_OTHER, 0).is_err() {
            let _ = set(None, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

/// Why a thread cannot be real-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    error: Errno,
    /// Whether we have what Linux asks for.
    may: bool,
}

impl Refused {
    fn new(error: Errno) -> Refused {
        let limit = getrlimit(Resource::Rtprio).current;
        let powers = capabilities(None).map(|sets| sets.effective);
        let may = limit.is_none_or(|limit| limit >= OWN as u64)
            || powers.is_ok_and(|powers| powers.contains(CapabilitySet::SYS_NICE));
        Refused { error, may }
    }

    /// Why, and what the user can do.
    fn reason(self) -> (String, &'static str) {
        match (self.error, self.may) {
            (Errno::PERM, false) => (
                "it is not permitted".to_owned(),
                "run as root, give this command CAP_SYS_NICE, or put `@USER - rtprio 99` into /etc/security/limits.conf and log in again; in a container, `--cap-add SYS_NICE`",
            ),
            // A control group may have no share of real time, and who is root only within a container has no power over the machine.
            (Errno::PERM, true) => (
                "the container or the control group refuses it, or the subject belongs to another user"
                    .to_owned(),
                "give its control group real time (`cpu.rt_runtime_us`; Docker's `--cpu-rt-runtime`), or measure outside of it, as root",
            ),
            (error, _) => (
                error.to_string(),
                "measure on a Linux that has SCHED_RR and lets it through",
            ),
        }
    }
}

/// As the user is told.
impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (why, mend) = self.reason();
        write!(
            f,
            "turns are not taken in real time (SCHED_RR), since {why}: on a busy machine whoever wakes up waits for the slice of another program, some 3 ms, \
             and what mostly waits, such as a commit, uses up to half more of the processor ({mend})"
        )
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

/// Whether a thread is of any real-time kind.
#[cfg(test)]
pub(super) fn is_so(thread: u32) -> bool {
    let thread = Pid::from_raw(thread as i32);
    matches!(kind(thread), libc::SCHED_FIFO | libc::SCHED_RR)
}

fn set(thread: Option<Pid>, policy: libc::c_int, priority: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the record is plain numbers, for which zero is valid, and outlives the call, which only reads it.
    let set = unsafe {
        let mut parameters: libc::sched_param = std::mem::zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(number(thread), policy, &parameters)
    };
    match set {
        0 => Ok(()),
        _ => Err(last_error()),
    }
}

/// What the last call that failed said.
fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::super::powers::{limit_permits_real_time, without};
    use super::*;
    use rustix::thread::gettid;

    #[test]
    fn threads_are_put_back() {
        let own = match OwnThread::put_first() {
            Ok(own) => own.expect("an ordinary thread"),
            Err(refused) => {
                println!("skipped: {refused}");
                return;
            }
        };
        assert_eq!(kind(None), KIND);
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, libc::SCHED_OTHER);
        drop(own);
        assert_eq!(kind(None), libc::SCHED_OTHER);
        put_first(gettid()).unwrap();
        assert_eq!(kind(None), KIND);
        let of_child = std::thread::spawn(|| kind(None)).join().unwrap();
        assert_eq!(of_child, KIND);
        assert!(put_back(gettid()) && !put_back(gettid()));
        assert_eq!(kind(None), libc::SCHED_OTHER);
    }

    #[test]
    fn who_may_not_is_told_why_and_stays_ordinary() {
        if limit_permits_real_time() {
            return;
        }
        without(CapabilitySet::SYS_NICE, || {
            let refused = OwnThread::put_first().err().expect("it may not");
            assert_eq!(put_first(gettid()), Err(refused));
            assert_eq!(kind(None), libc::SCHED_OTHER);
            let told = refused.to_string();
            assert!(told.contains("not permitted"), "{told}");
            assert!(told.contains("CAP_SYS_NICE"), "{told}");
        });
    }

    #[test]
    fn of_who_was_made_real_time_on_purpose_nothing_is_told() {
        // In a thread of its own, which alone stays what it is made.
        let real_time = std::thread::spawn(|| {
            if set(None, libc::SCHED_FIFO, 1).is_err() {
                println!("skipped: real-time priorities are not permitted");
                return;
            }
            assert!(matches!(OwnThread::put_first(), Ok(None)));
            assert_eq!(kind(None), libc::SCHED_FIFO);
        });
        real_time.join().unwrap();
    }

    #[test]
    fn a_refusal_says_what_mends_it() {
        for (error, may, part) in [
            (Errno::PERM, false, "rtprio 99"),
            (Errno::PERM, true, "cpu.rt_runtime_us"),
            (Errno::NOSYS, true, "has SCHED_RR"),
        ] {
            let told = Refused { error, may }.to_string();
            assert!(told.contains(part), "{told}");
        }
    }
}
