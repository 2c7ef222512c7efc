//! A child in our place: it has our standard streams, our process group and our terminal, and
//! receives our signals.

use crate::{End, Error, Program, start};
use libc::{c_int, siginfo_t, sigset_t};
use std::io;
use std::mem::zeroed;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::ptr::null_mut;

/// Signals with which a person or a system ends a program; the child receives those that we
/// receive.
const PASSED_ON: [c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

pub(crate) fn run(program: &Program) -> Result<End, Error> {
    let io_error = |source| Error::NotStarted {
        program: program.name(),
        source,
    };
    let signals = Signals::held().map_err(io_error)?;
    let mut child = spawn(program, signals.before)?;
    let waited = signals.wait(&mut child);
    let status = waited.map_err(|source| Error::Io {
        program: program.name(),
        doing: "waiting for the end",
        source,
    })?;
    Ok(match status.signal() {
        Some(number) => End::Signalled(number),
        None => End::Exited(status.code().unwrap_or_default()),
    })
}

fn spawn(program: &Program, mask: sigset_t) -> Result<Child, Error> {
    let mut command = start::command(program);
    command
        .stdin(Stdio::inherit())
        .stdout(Stdio::inherit())
        .stderr(Stdio::inherit());
    // SAFETY: `getpid` has no conditions.
    let parent = unsafe { libc::getpid() };
    // SAFETY: the closure only makes system calls, on a mask and a number that it owns.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
            // We may have ended before the system knew that the child is to end with us.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
            check(libc::sigprocmask(libc::SIG_SETMASK, &mask, null_mut()))
        });
    }
    command.spawn().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Missing {
            program: program.own_name(),
        },
        _ => Error::NotStarted {
            program: program.name(),
            source,
        },
    })
}

/// Signals that wait until we take them; let go of when dropped.
struct Signals {
    set: sigset_t,
    /// This thread's mask before.
    before: sigset_t,
}

impl Signals {
    fn held() -> io::Result<Signals> {
        // SAFETY: the sets are written by the system's functions before they are read; zeroes are
        // valid ones.
        unsafe {
            let (mut set, mut before): (sigset_t, sigset_t) = (zeroed(), zeroed());
            libc::sigemptyset(&mut set);
            for number in PASSED_ON.into_iter().chain([libc::SIGCHLD]) {
                libc::sigaddset(&mut set, number);
            }
            check(libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before))?;
            Ok(Signals { set, before })
        }
    }

    /// Waits for the child's end and passes on signals that end programs.
    fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            // SAFETY: the system writes the information before it is read.
            let mut info: siginfo_t = unsafe { zeroed() };
            // SAFETY: set and information are valid for the call.
            let number = unsafe { libc::sigwaitinfo(&self.set, &mut info) };
            // The terminal sends its signals to the child as well.
            let is_terminals = info.si_code == libc::SI_KERNEL;
            if PASSED_ON.contains(&number) && !is_terminals {
                // SAFETY: the child is not waited for yet, so the number is still its own.
                unsafe { libc::kill(child.id() as libc::pid_t, number) };
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Pending signals of the terminal were meant for the child. SAFETY: taking signals that are
        // pending and restoring this thread's mask touch no memory of ours.
        unsafe {
            let now: libc::timespec = zeroed();
            while libc::sigtimedwait(&self.set, null_mut(), &now) > 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, null_mut::<sigset_t>());
        }
    }
}

fn check(result: c_int) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
