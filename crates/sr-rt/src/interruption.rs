//! Ctrl-C, SIGTERM and similar signals: the program prints where each process was, and ends by the
//! signal.
//!
//! A report takes locks and memory, so it is made only where the interrupted thread holds neither:
//! in generated code, or where a server waits for work. Elsewhere a timer calls the handler again.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use antiphon_fiber::{Fibers, Many, One};

use crate::flavour::{self, Flavour};
use crate::{crash, ending, errors, options, report};

/// The time from one try to the next.
const AGAIN_US: libc::suseconds_t = 1000;

/// Tries before the program writes out its buffers and ends without a report: half a second in a
/// function that does not return.
const TRIES: u32 = 500;

/// The signal that came; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static TRIED: AtomicU32 = AtomicU32::new(0);

/// The signals, and their names.
const SIGNALS: [(c_int, &str); 4] = [
    (libc::SIGINT, "SIGINT"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGQUIT, "SIGQUIT"),
];

/// Installs handlers for those of these signals that still have the default action.
pub fn install() {
    for (signal, _) in SIGNALS {
        // SAFETY: `sigaction` is plain data for which zero is valid.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction == libc::SIG_DFL {
                handle(signal);
            }
        }
    }
}

/// # Safety
/// The signal's present handler is not needed any more.
unsafe fn handle(signal: c_int) {
    // SAFETY: as above; the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // A tick must not switch in the middle of a report.
        libc::sigfillset(&mut action.sa_mask);
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

extern "C" fn on_signal(signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    if signal != libc::SIGALRM {
        SIGNAL.store(signal, Ordering::Relaxed);
    }
    // SAFETY: the kernel's context of this signal.
    let instruction = unsafe { antiphon_fiber::interrupted_at(context) };
    let is_generated = report::is_generated(instruction);
    if flavour::has_begun() && (is_generated || is_resting()) {
        tell(instruction);
        end();
    }
    if TRIED.fetch_add(1, Ordering::Relaxed) >= TRIES {
        crash::write_and_end(SIGNAL.load(Ordering::Relaxed));
    }
    // SAFETY: a timer that signals once.
    unsafe {
        handle(libc::SIGALRM);
        let mut timer: libc::itimerval = std::mem::zeroed();
        timer.it_value.tv_usec = AGAIN_US;
        libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut());
    }
}

/// Whether the interrupted thread is a server that waits for work.
fn is_resting() -> bool {
    match options::is_many() {
        true => Fibers::<Many>::is_resting(),
        false => Fibers::<One>::is_resting(),
    }
}

fn name(signal: c_int) -> &'static str {
    let known = SIGNALS.iter().find(|(number, _)| *number == signal);
    known.map_or("a signal", |(_, name)| name)
}

fn tell(instruction: usize) {
    fn lines<S: Flavour>(instruction: usize) -> Vec<String> {
        report::everywhere::<S>(report::function_at(instruction))
    }
    let lines = match options::is_many() {
        true => lines::<Many>(instruction),
        false => lines::<One>(instruction),
    };
    let signal = name(SIGNAL.load(Ordering::Relaxed));
    let mut text = format!("RTS interrupt: {signal}; the processes are\n");
    for line in lines {
        text.push_str(&format!("   {line}\n"));
    }
    errors::say(&text);
    ending::write_out();
}

/// Ends the program by the signal.
fn end() -> ! {
    ending::by_signal(SIGNAL.load(Ordering::Relaxed))
}
