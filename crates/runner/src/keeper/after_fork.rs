//! Code between fork and the child's program: the keeper's whole life, and the child's preparation.
//!
//! Invariant of this module: it runs in a copy of a process that may have had many threads, of
//! which only the forking one was copied. Locks of the others stay locked for ever here. So nothing
//! here allocates, locks, panics or unwinds: it is system calls and arithmetic on the stack only.
//! Indexing is by `get` or iterators, and every function that cannot go on calls `_exit`.

use super::descendants::end_descendants;
use super::wire::{Kind, Order, OrderKind, Report, Step};
use crate::Policy;
use libc::{c_int, c_void, pid_t};
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;

/// The conditions of a child, made ready before the fork.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    /// The keeper's end of the socket.
    pub socket: c_int,
    /// The child's scheduling policy.
    pub policy: Policy,
    /// Whether the child, and thus the keeper, have priority over other work, if that is permitted.
    pub comes_first: bool,
    /// The processors that the child may use, if they are restricted.
    pub affinity: Option<libc::cpu_set_t>,
    /// Limits to set: the resource, its value, and the step to name if that fails.
    pub limits: [Option<(libc::__rlimit_resource_t, libc::rlimit, Step)>; 4],
    /// The first deadline: ns from the start; 0 is none.
    pub limit_ns: u64,
    /// Between SIGTERM and SIGKILL at that deadline, ns.
    pub grace_ns: u64,
}

/// Forks by the system call itself: `fork` of the C library runs handlers and takes its allocator's
/// locks.
///
/// # Safety
/// As for `fork`; besides, the copy may use nothing of the C library's threads until it loads a
/// program.
unsafe fn bare_fork() -> pid_t {
    let none: libc::c_ulong = 0;
    let flags = libc::SIGCHLD as libc::c_ulong;
    // SAFETY: with no stack and no flags, `clone` is a plain fork; the zeros are unused on every
    // architecture.
    unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) as pid_t }
}

/// Forks. The original becomes the keeper and never returns; the copy is prepared and returns, to
/// load the child's program.
///
/// # Errors
/// A refusal of the system, whose step was reported through the socket. Only the copy (or, before
/// there is one, the original) returns it.
///
/// # Safety
/// Only in a freshly forked process that will load a program or exit at once: the original closes
/// every other descriptor.
pub(crate) unsafe fn become_keeper(conditions: &Conditions) -> io::Result<()> {
    // SAFETY: plain system calls on our own process, per the module's invariant.
    unsafe {
        libc::setsid();
        let mut all: libc::sigset_t = zeroed();
        libc::sigfillset(&mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &all, null_mut());
        check(
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
            conditions,
            Step::Keeper,
        )?;
        if conditions.comes_first {
            come_first();
        }
        if let Policy::Fifo { priority } = conditions.policy {
            // Before the fork: afterwards a spinning child might keep us from ever getting here.
            check(set_fifo(priority + 1), conditions, Step::KeeperPriority)?;
        }
        let keeper = libc::getpid();
        match bare_fork() {
            -1 => check(-1, conditions, Step::Keeper),
            0 => prepare_child(conditions, keeper),
            child => keep(conditions, child),
        }
    }
}

/// Gives us, and our future forks, priority over other work, if permitted. It sets our `nice`, and
/// that of the session that we have just begun.
unsafe fn come_first() {
    const MOST_URGENT: c_int = -20;
    // Without CAP_SYS_ADMIN a session's `nice` may be set a tenth of a second after the last such
    // change on the machine.
    const TRIES: u32 = 5;
    const UNTIL_AGAIN: libc::timespec = libc::timespec {
        tv_sec: 0,
        tv_nsec: 110_000_000,
    };
    // SAFETY: plain system calls on our own process and session, with constant strings.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, MOST_URGENT);
        let file = libc::open(
            c"/proc/self/autogroup".as_ptr(),
            libc::O_WRONLY | libc::O_CLOEXEC,
        );
        if file >= 0 {
            let nice = b"-20";
            for _ in 0..TRIES {
                let written = libc::write(file, nice.as_ptr().cast::<c_void>(), nice.len());
                if written >= 0 || errno() != libc::EAGAIN {
                    break;
                }
                libc::nanosleep(&UNTIL_AGAIN, null_mut());
            }
            libc::close(file);
        }
    }
}

/// Sets up the child before its program begins.
unsafe fn prepare_child(conditions: &Conditions, keeper: pid_t) -> io::Result<()> {
    // SAFETY: plain system calls on our own process, per the module's invariant.
    unsafe {
        check(libc::setpgid(0, 0), conditions, Step::Group)?;
        check(
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0),
            conditions,
            Step::Keeper,
        )?;
        if libc::getppid() != keeper {
            libc::_exit(1); // it died before it could be watched
        }
        if let Some(set) = &conditions.affinity {
            let size = size_of::<libc::cpu_set_t>();
            check(
                libc::sched_setaffinity(0, size, set),
                conditions,
                Step::Affinity,
            )?;
        }
        let set = match conditions.policy {
            Policy::Other => 0,
            Policy::Fifo { priority } => set_fifo(priority),
            Policy::Idle => set_scheduler(libc::SCHED_IDLE, 0),
        };
        check(set, conditions, Step::Priority)?;
        for (resource, limit, step) in conditions.limits.iter().flatten() {
            check(libc::setrlimit(*resource, limit), conditions, *step)?;
        }
        let mut none: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, null_mut());
        let mut usage: libc::rusage = zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        tell(
            conditions.socket,
            &Report {
                kind: Kind::Started as u32,
                value: libc::getpid(),
                at_ns: now_ns(),
                peak_rss_bytes: (usage.ru_maxrss as u64).saturating_mul(1024),
                ..Report::default()
            },
        );
    }
    Ok(())
}

/// Runs the keeper's life.
unsafe fn keep(conditions: &Conditions, child: pid_t) -> ! {
    // SAFETY: plain system calls on our own process and our own children, per the module's
    // invariant.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"child-keeper".as_ptr(), 0, 0, 0);
        let socket = conditions.socket;
        close_all_but(socket);
        let mut ended_signal: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut ended_signal);
        libc::sigaddset(&mut ended_signal, libc::SIGCHLD);
        let signals = libc::signalfd(-1, &ended_signal, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC);
        let mut watch = Watch {
            child,
            at_ns: match conditions.limit_ns {
                0 => 0,
                limit_ns => now_ns().saturating_add(limit_ns),
            },
            grace_ns: conditions.grace_ns,
            timed_out: false,
        };
        let ended = loop {
            if let Some(ended) = reap(child) {
                break ended;
            }
            let mut waited_for = [poll_in(socket), poll_in(signals)];
            libc::poll(waited_for.as_mut_ptr(), 2, watch.timeout_ms());
            drain_signals(signals);
            if !watch.take_orders(socket) {
                libc::kill(-child, libc::SIGKILL);
                end_descendants();
                libc::_exit(0);
            }
            watch.enforce();
        };
        end_descendants();
        report_end(socket, &ended, watch.timed_out);
        libc::_exit(0)
    }
}

/// The deadline of a child.
struct Watch {
    child: pid_t,
    at_ns: u64,
    grace_ns: u64,
    timed_out: bool,
}

impl Watch {
    /// Returns the longest wait, ms, rounded up; −1 is for ever.
    fn timeout_ms(&self) -> c_int {
        if self.at_ns == 0 {
            return -1;
        }
        let left_ns = self.at_ns.saturating_sub(now_ns());
        c_int::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
    }

    /// Executes our orders. Returns false when no process is left to give any.
    unsafe fn take_orders(&mut self, socket: c_int) -> bool {
        loop {
            let mut order = Order::default();
            let bytes = order.as_bytes_mut();
            // SAFETY: the buffer is ours and as long as we say.
            let size = unsafe {
                libc::recv(
                    socket,
                    bytes.as_mut_ptr().cast::<c_void>(),
                    bytes.len(),
                    libc::MSG_DONTWAIT,
                )
            };
            match size {
                -1 => match errno() {
                    libc::EAGAIN => return true,
                    libc::EINTR => {}
                    _ => return false,
                },
                0 => return false,
                _ if order.kind == OrderKind::Deadline as u32 && !self.timed_out => {
                    self.at_ns = order.at_ns;
                    self.grace_ns = order.grace_ns;
                }
                _ if order.kind == OrderKind::Signal as u32 => {
                    // SAFETY: the group is our unreaped child's, so its number is not anybody
                    // else's.
                    unsafe { libc::kill(-self.child, order.signal) };
                }
                _ => {}
            }
        }
    }

    /// Sends SIGTERM at the deadline and then, after the grace, SIGKILL.
    unsafe fn enforce(&mut self) {
        if self.at_ns == 0 || now_ns() < self.at_ns {
            return;
        }
        let politely = !self.timed_out && self.grace_ns > 0;
        self.timed_out = true;
        self.at_ns = if politely {
            now_ns().saturating_add(self.grace_ns)
        } else {
            0
        };
        let signal = if politely {
            libc::SIGTERM
        } else {
            libc::SIGKILL
        };
        // SAFETY: the group is our unreaped child's, so its number is not anybody else's.
        unsafe { libc::kill(-self.child, signal) };
    }
}

/// End of the child.
struct Ended {
    status: c_int,
    at_ns: u64,
}

/// Reaps ended children. Returns the end of *the* child, whose group is killed while the child
/// still holds its number.
unsafe fn reap(child: pid_t) -> Option<Ended> {
    // SAFETY: plain system calls on our own children, with a buffer of our own.
    unsafe {
        loop {
            if ended_among(libc::P_PID, child).is_some() {
                let at_ns = now_ns();
                libc::kill(-child, libc::SIGKILL);
                leave_real_time();
                let mut status = 0;
                libc::waitpid(child, &mut status, 0);
                return Some(Ended { status, at_ns });
            }
            // While we are real-time, others have to stay until the end: see `leave_real_time`.
            let policy = libc::sched_getscheduler(0) & !libc::SCHED_RESET_ON_FORK;
            if policy == libc::SCHED_FIFO || policy == libc::SCHED_RR {
                return None;
            }
            let ended = ended_among(libc::P_ALL, 0)?;
            if ended != child {
                libc::waitpid(ended, null_mut(), 0);
            }
        }
    }
}

/// Returns one of these children that has ended but is not reaped yet.
unsafe fn ended_among(kind: libc::idtype_t, child: pid_t) -> Option<pid_t> {
    // SAFETY: the buffer is our own.
    unsafe {
        let mut info: libc::siginfo_t = zeroed();
        let peek = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let found = libc::waitid(kind, child.unsigned_abs(), &mut info, peek) == 0;
        (found && info.si_pid() != 0).then(|| info.si_pid())
    }
}

/// Makes us ordinary, whether we were raised over the child or started by a real-time process.
///
/// No process may wait in real time for a process of several threads that were real-time, too. With
/// autogroups Linux (seen in 6.18) puts an ending thread behind its equals, which run while it
/// removes the thread's entries from `/proc`. A waiter of the same priority or a higher one spins
/// in the kernel (`shrink_dcache_parent`) until they are gone. It thus keeps the ending thread from
/// the processor for ever.
pub(super) unsafe fn leave_real_time() {
    // SAFETY: they concern ourselves.
    unsafe {
        if set_scheduler(libc::SCHED_OTHER, 0) != 0 {
            // A thread with only a permitted priority may not clear the reset-on-fork flag.
            set_scheduler(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        }
    }
}

unsafe fn report_end(socket: c_int, ended: &Ended, timed_out: bool) {
    // SAFETY: the buffer is our own.
    unsafe {
        let mut usage: libc::rusage = zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        tell(
            socket,
            &Report {
                kind: Kind::Ended as u32,
                value: ended.status,
                timed_out: timed_out.into(),
                at_ns: ended.at_ns,
                peak_rss_bytes: (usage.ru_maxrss as u64).saturating_mul(1024),
                user_ns: time_ns(usage.ru_utime),
                system_ns: time_ns(usage.ru_stime),
                minor_faults: usage.ru_minflt as u64,
                major_faults: usage.ru_majflt as u64,
                voluntary: usage.ru_nvcsw as u64,
                involuntary: usage.ru_nivcsw as u64,
                ..Report::default()
            },
        );
    }
}

/// Checks the result of a system call; a failure is reported through the socket, with its step.
unsafe fn check(result: c_int, conditions: &Conditions, step: Step) -> io::Result<()> {
    if result >= 0 {
        return Ok(());
    }
    let errno = errno();
    let report = Report {
        kind: Kind::SetupFailed as u32,
        step: step as u32,
        errno,
        ..Report::default()
    };
    // SAFETY: the socket is open in both processes.
    unsafe { tell(conditions.socket, &report) };
    Err(io::Error::from_raw_os_error(errno))
}

unsafe fn tell(socket: c_int, report: &Report) {
    let bytes = report.as_bytes();
    // SAFETY: the buffer is ours and as long as we say. MSG_DONTWAIT: a keeper never waits for the
    // one it may have to outlive.
    unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast::<c_void>(),
            bytes.len(),
            libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT,
        );
    }
}

/// Makes the calling thread FIFO.
pub(crate) unsafe fn set_fifo(priority: c_int) -> c_int {
    // SAFETY: it concerns ourselves.
    unsafe { set_scheduler(libc::SCHED_FIFO, priority) }
}

unsafe fn set_scheduler(policy: c_int, priority: c_int) -> c_int {
    // SAFETY: the record is initialised whole; 0 means ourselves.
    unsafe {
        let mut parameters: libc::sched_param = zeroed();
        parameters.sched_priority = priority;
        libc::sched_setscheduler(0, policy, &parameters)
    }
}

/// Closes all descriptors but one. The keeper must hold none of the child's pipes open, nor
/// anything else of ours.
unsafe fn close_all_but(kept: c_int) {
    // SAFETY: nothing in this process uses any other descriptor from here on.
    unsafe {
        let last = libc::c_uint::MAX;
        let kept_number = kept.unsigned_abs();
        let below = kept > 0
            && libc::syscall(libc::SYS_close_range, 0, kept_number.wrapping_sub(1), 0) != 0;
        let above = libc::syscall(libc::SYS_close_range, kept_number + 1, last, 0) != 0;
        if below || above {
            // Before Linux 5.9.
            for descriptor in (0..65_536).filter(|descriptor| *descriptor != kept) {
                libc::close(descriptor);
            }
        }
    }
}

unsafe fn drain_signals(signals: c_int) {
    let mut buffer = [0_u8; 1024];
    // SAFETY: the kernel fills at most the length of the buffer.
    while unsafe { libc::read(signals, buffer.as_mut_ptr().cast(), buffer.len()) } > 0 {}
}

fn poll_in(descriptor: c_int) -> libc::pollfd {
    libc::pollfd {
        fd: descriptor,
        events: libc::POLLIN,
        revents: 0,
    }
}

pub(super) fn errno() -> c_int {
    // SAFETY: the address of this thread's own error number.
    unsafe { *libc::__errno_location() }
}

/// Reads CLOCK_MONOTONIC, ns.
pub(crate) fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the record is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    (now.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add(now.tv_nsec as u64)
}

fn time_ns(time: libc::timeval) -> u64 {
    (time.tv_sec as u64)
        .saturating_mul(1_000_000_000)
        .saturating_add((time.tv_usec as u64).saturating_mul(1000))
}
