//! Signals of faults other than stack overflows, such as SIGSEGV in a C function. The program
//! prints where it was, writes out its buffers, and ends by the signal.
//!
//! The interrupted thread may hold a lock, or be inside an allocation. So a timer ends the program
//! after half a second, even if output is not complete.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::line::Line;
use crate::report::{self, Running};
use crate::{ending, files, options};

/// The time limit for writing.
const LIMIT_US: libc::suseconds_t = 500_000;

/// The signal that came first; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// The signals and their meanings.
const FAULTS: [(c_int, &str); 5] = [
    (libc::SIGSEGV, "SIGSEGV: an invalid address was used"),
    (libc::SIGBUS, "SIGBUS: memory could not be reached"),
    (libc::SIGILL, "SIGILL: an invalid instruction"),
    (libc::SIGFPE, "SIGFPE: an arithmetic fault"),
    (libc::SIGABRT, "SIGABRT: a library or the run-time gave up"),
];

/// Handles each of these signals that has no handler yet. To be called before the run, whose stack
/// guard passes on signals that are no overflow.
pub fn install() {
    for (signal, _) in FAULTS {
        // SAFETY: `sigaction` is plain data for which zero is valid.
        let is_unhandled = unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, ptr::null(), &mut before);
            before.sa_sigaction == libc::SIG_DFL
        };
        if is_unhandled {
            handle(signal, on_fault as *const () as usize);
        }
    }
}

fn handle(signal: c_int, handler: usize) {
    // SAFETY: as above; the handlers have the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigfillset(&mut action.sa_mask);
        libc::sigaction(signal, &action, ptr::null_mut());
    }
}

extern "C" fn on_fault(signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    begin(signal);
    // SAFETY: the kernel's context of this signal.
    tell(signal, unsafe { antiphon_fiber::interrupted_at(context) });
    ending::write_out();
    end();
}

/// Writes out the program's buffers, wherever the interrupted thread is, and ends the program by a
/// signal.
pub fn write_and_end(signal: c_int) -> ! {
    begin(signal);
    ending::write_out();
    end();
}

/// Makes the program end by a signal, within a time limit. Returns only to the first thread that
/// calls it.
fn begin(signal: c_int) {
    let first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    while first.is_err() {
        // SAFETY: a plain call. The first thread ends the program.
        unsafe { libc::pause() };
    }
    limit_time();
}

/// Sets a timer that ends the program if it hangs from here on.
fn limit_time() {
    handle(libc::SIGALRM, on_limit as *const () as usize);
    // SAFETY: a timer that signals once; sets of signals are plain data. A tick must not switch
    // now.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut set);
        libc::sigdelset(&mut set, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_SETMASK, &set, ptr::null_mut());
        let mut timer: libc::itimerval = std::mem::zeroed();
        timer.it_value.tv_usec = LIMIT_US;
        libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut());
    }
}

extern "C" fn on_limit(_: c_int, _info: *mut libc::siginfo_t, _context: *mut c_void) {
    end();
}

/// Prints the signal, the place and the process, without allocating memory.
fn tell(signal: c_int, instruction: usize) {
    files::flush_standard_output_if_free();
    let running = Running::at_instruction(instruction);
    let meaning = FAULTS.iter().find(|(number, _)| *number == signal);
    let mut line = Line::default();
    // SAFETY: places are static locations of the generated program.
    unsafe { line.add_abort(running.at()) };
    line.add(meaning.map_or("a signal", |(_, words)| words));
    line.add("\n");
    if !options::get().is_plain {
        report::add_process(&mut line, &running);
    }
    line.write();
}

/// Ends the program by the signal.
fn end() -> ! {
    ending::by_signal(SIGNAL.load(Ordering::SeqCst))
}
