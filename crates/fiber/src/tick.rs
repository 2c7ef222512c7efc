//! Ticks: a timer for each job server. Its signal switches fibers inside sliceable code, and is
//! noted elsewhere.

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

/// Error of a timer that cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("no timer for time slices: {0}; use a cooperative or counted policy")]
pub struct TimerError(std::io::Error);

/// Returns the signal of ticks: a real-time one, which no program expects by default.
fn signal() -> c_int {
    libc::SIGRTMIN() + 5
}

impl Timer {
    /// Signals the calling OS thread at each quantum.
    pub fn start(quantum: Duration) -> Result<Timer, TimerError> {
        install()?;
        // SAFETY: plain system calls on local values, which live during the calls. `sigevent` and
        // `itimerspec` are plain data for which zero is valid.
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
        // SAFETY: `start` made the timer, and it is deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Installs the handler, once for the process.
fn install() -> Result<(), TimerError> {
    static DONE: OnceLock<Result<(), i32>> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        // SAFETY: `sigaction` is plain data for which zero is valid. The handler has the signature
        // that SA_SIGINFO asks for.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_tick as *const () as usize;
            // The signal is not deferred: the handler leaves by switching to another fiber, which
            // must get ticks as well.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_NODEFER;
            match libc::sigaction(signal(), &action, std::ptr::null_mut()) {
                0 => Ok(()),
                _ => Err(*libc::__errno_location()),
            }
        }
    });
    done.map_err(|errno| TimerError(std::io::Error::from_raw_os_error(errno)))
}

/// Handles a tick, on the stack of the interrupted fiber or of the server.
extern "C" fn on_tick(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = errno();
    let is_switched = tick::<One>() || tick::<Many>();
    if is_switched {
        // The fiber may be on another OS thread by now. The return from here would replace that
        // thread's alternate stack by the old one's. SAFETY: the kernel passed the context, and
        // reads it when the handler returns.
        unsafe {
            libc::sigaltstack(
                std::ptr::null(),
                &mut (*context.cast::<libc::ucontext_t>()).uc_stack,
            )
        };
    }
    set_errno(errno);
}

/// Switches, if there is a server of this kind here that may be switched now. Returns whether it
/// did.
fn tick<S: Servers>() -> bool {
    let it = S::server();
    if it.is_null() {
        return false;
    }
    // SAFETY: the pointer is set for this OS thread while its server lives. The handler interrupts
    // only this thread, and the server's parts are cells.
    let it = unsafe { &*it };
    let is_deferred = !matches!(it.shared.policy, Policy::Sliced(_));
    if is_deferred || it.is_busy.get() || it.current.get().is_none() {
        it.tick.set(true);
        if is_deferred {
            // Code that counts polls by itself then sees the tick, too.
            it.budget.set(0);
        }
        return false;
    }
    it.is_busy.set(true);
    // SAFETY: the fiber declared itself switchable anywhere, and its server is looked up anew
    // below.
    unsafe { it.reschedule(Cause::Tick) };
    server::<S>().is_busy.set(false);
    true
}

// Not inlined: the address of `errno` belongs to the OS thread, which changes over a switch.
#[inline(never)]
fn errno() -> c_int {
    // SAFETY: `__errno_location` always returns a valid address.
    unsafe { *libc::__errno_location() }
}

#[inline(never)]
fn set_errno(errno: c_int) {
    // SAFETY: `__errno_location` always returns a valid address.
    unsafe { *libc::__errno_location() = errno };
}
