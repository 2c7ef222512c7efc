//! Ticks: a timer for each job server, whose signal switches fibers inside sliceable code and is noted elsewhere.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::time::Duration;

use crate::counters::Cause;
use crate::fibers::server;
use crate::policy::Policy;
use crate::servers::{Many, One, Servers};

/// A running timer; it stops when dropped.
#[derive(Debug)]
pub(crate) struct Timer(libc::timer_t);

/// A timer that cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("no timer for time slices: {0}; use a cooperative or counted policy")]
pub struct TimerError(std::io::Error);

/// The signal of ticks: a real-time one, which no program expects to get by default.
fn signal() -> c_int {
    libc::SIGRTMIN() + 5
}

impl Timer {
    /// Signals the calling OS thread every so often.
    pub fn start(quantum: Duration) -> Result<Timer, TimerError> {
        install()?;
        // SAFETY: plain system calls on values that live here; `sigevent` and `itimerspec` are plain data for which zero is valid.
        unsafe {
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = signal();
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer: libc::timer_t = std::ptr::null_mut();
            if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) != 0 {
                return Err(TimerError(std::io::Error::last_os_error()));
            }
            let quantum = quantum.max(Duration::from_micros(1));
            let time = libc::timespec {
                tv_sec: quantum.as_secs() as libc::time_t,
                tv_nsec: libc::c_long::from(quantum.subsec_nanos()),
            };
            let every = libc::itimerspec {
                it_interval: time,
                it_value: time,
            };
            let timer = Timer(timer);
            if libc::timer_settime(timer.0, 0, &every, std::ptr::null_mut()) != 0 {
                return Err(TimerError(std::io::Error::last_os_error()));
            }
            Ok(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made by `start`, deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Installs the handler, once for the process.
fn install() -> Result<(), TimerError> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        // SAFETY: `sigaction` is plain data for which zero is valid; the handler has the signature that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_tick as *const () as usize;
            // Not deferred: the handler leaves by switching to another fiber, which must be ticked as well.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER;
            match libc::sigaction(signal(), &action, std::ptr::null_mut()) {
                0 => Ok(()),
                _ => Err(*libc::__errno_location()),
            }
        }
    });
    done.map_err(|errno| TimerError(std::io::Error::from_raw_os_error(errno)))
}

/// Runs on the stack of the fiber that was interrupted, or of the server.
extern "C" fn on_tick(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = errno();
    let is_switched = tick::<One>() || tick::<Many>();
    if is_switched {
        // The fiber may be on another OS thread by now, whose alternate stack the return from here would replace with the old thread's.
        // SAFETY: the kernel gave us the context, which it reads when we return.
        unsafe {
            libc::sigaltstack(
                std::ptr::null(),
                &mut (*context.cast::<libc::ucontext_t>()).uc_stack,
            )
        };
    }
    set_errno(errno);
}

/// Switches, if there is a server of this kind here that may be switched now; whether it did.
fn tick<S: Servers>() -> bool {
    let it = S::server();
    if it.is_null() {
        return false;
    }
    // SAFETY: set for this OS thread as long as its server lives. The handler interrupts only this thread, and the server's parts are cells.
    let it = unsafe { &*it };
    let is_deferred = !matches!(it.shared.policy, Policy::Sliced(_));
    if is_deferred || it.is_busy.get() || it.current.get().is_none() {
        it.tick.set(true);
        if is_deferred {
            // So that who counts polls by itself sees it, too.
            it.budget.set(0);
        }
        return false;
    }
    it.is_busy.set(true);
    // SAFETY: on a fiber that said it may be switched anywhere; its server is looked up anew below.
    unsafe { it.reschedule(Cause::Tick) };
    server::<S>().is_busy.set(false);
    true
}

// Not inlined: the address of `errno` belongs to the OS thread, which changes over a switch.
#[inline(never)]
fn errno() -> c_int {
    // SAFETY: always a valid address.
    unsafe { *libc::__errno_location() }
}

#[inline(never)]
fn set_errno(errno: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}
