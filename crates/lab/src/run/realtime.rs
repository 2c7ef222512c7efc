//! Promotion of running threads to real time, at its lowest priority, before all ordinary threads.
//!
//! However low its `nice`, a woken ordinary thread waits for the running one's slice, some 3 ms.
//! Beside counting programs, a commit took 4 ms although its disk answered within 0.3 ms. It also
//! used up to half more of the processor, whose caches had been taken by then.

use rustix::io::Errno;
use rustix::process::{Pid, Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

/// Priorities of measured threads, and of the laboratory's own thread and the keepers. The latter
/// must run even if a subject spins.
const SUBJECT: i32 = 1;
const OWN: i32 = 2;

/// Scheduling policy of promoted threads. Threads of one priority take turns, because a virtual
/// machine's threads may spin for each other. The laboratory uses this policy nowhere else, so it
/// identifies promoted threads. A subject measured under FIFO stays what it is.
const KIND: libc::c_int = libc::SCHED_RR;

/// Promotes an ordinary thread and its future children. A refused thread keeps its low `nice`.
pub(super) fn put_first(thread: Pid) -> Result<(), Refused> {
    put(thread, SUBJECT)
}

/// Promotes a keeper above its child.
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

/// Restores a thread that was promoted here, or inherited it. Returns whether it was.
pub(super) fn put_back(thread: Pid) -> bool {
    kind(Some(thread)) == KIND && set(Some(thread), libc::SCHED_OTHER, 0).is_ok()
}

/// Makes a thread ordinary, however it was promoted.
pub(super) fn make_ordinary(thread: Pid) {
    if kind(Some(thread)) != libc::SCHED_OTHER {
        // If this is refused, the promotion was refused before.
        let _ = set(Some(thread), libc::SCHED_OTHER, 0);
    }
}

/// Our own thread, promoted while this value lives. Its children are ordinary.
pub(crate) struct OwnThread(());

impl OwnThread {
    /// Promotes our own thread; `None` if it is not ordinary. It was then changed on purpose, by
    /// `chrt`, and its children inherit that. The subjects' own reports show it.
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
        // A thread with only a permitted priority (RLIMIT_RTPRIO) may not clear the reset-on-fork
        // flag.
        if set(None, libc::SCHED_OTHER, 0).is_err() {
            let _ = set(None, libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

/// Reason why a thread cannot be real-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    error: Errno,
    /// Whether we have the permission that Linux requires.
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

    /// Returns the reason and advice to the user.
    fn reason(self) -> (String, &'static str) {
        match (self.error, self.may) {
            (Errno::PERM, false) => (
                "it is not permitted".to_owned(),
                "run as root, give this command CAP_SYS_NICE, or put `@USER - rtprio 99` into /etc/security/limits.conf and log in again; in a container, `--cap-add SYS_NICE`",
            ),
            // A control group may have no share of real time. The root of a container has no power
            // over the machine.
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

/// The text is a warning to the user.
impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (why, help) = self.reason();
        write!(
            f,
            "turns are not taken in real time (SCHED_RR), since {why}: on a busy machine whoever wakes up waits for the slice of another program, some 3 ms, \
             and what mostly waits, such as a commit, uses up to half more of the processor ({help})"
        )
    }
}

fn number(thread: Option<Pid>) -> libc::pid_t {
    thread.map_or(0, Pid::as_raw_pid)
}

/// Returns the scheduling policy of a thread, of ours without one; below 0 if it has ended.
fn kind(thread: Option<Pid>) -> libc::c_int {
    // SAFETY: it takes a number and touches no memory of ours.
    let policy = unsafe { libc::sched_getscheduler(number(thread)) };
    policy & !libc::SCHED_RESET_ON_FORK
}

/// Checks whether a thread has any real-time policy.
#[cfg(test)]
pub(super) fn is_so(thread: u32) -> bool {
    let thread = Pid::from_raw(thread as i32);
    matches!(kind(thread), libc::SCHED_FIFO | libc::SCHED_RR)
}

fn set(thread: Option<Pid>, policy: libc::c_int, priority: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the record is plain numbers, for which zero is valid, and outlives the call, which
    // only reads it.
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

/// Returns the error of the last failed call.
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
            let reported = refused.to_string();
            assert!(reported.contains("not permitted"), "{reported}");
            assert!(reported.contains("CAP_SYS_NICE"), "{reported}");
        });
    }

    #[test]
    fn of_who_was_made_real_time_on_purpose_nothing_is_told() {
        // The trial runs in a separate thread, which alone keeps the change.
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
            let reported = Refused { error, may }.to_string();
            assert!(reported.contains(part), "{reported}");
        }
    }
}
