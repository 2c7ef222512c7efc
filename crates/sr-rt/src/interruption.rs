//! Ctrl-C, SIGTERM and similar signals: the program prints where each process was, and ends by the
//! signal.
//!
//! A report takes locks and memory, so it is made only where the interrupted thread holds neither:
//! in generated code, or where a server waits for work. Elsewhere a timer calls the handler again.
//! The first of several machines may instead take messages on that thread. So its serving process
//! is woken, too, and makes the report if it comes first.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use antiphon_fiber::{Fibers, Many, One};

use crate::flavour;
use crate::layout::Function;
use crate::{crash, ending, errors, machines, options, report};

/// The time from one try to the next.
const AGAIN_US: libc::suseconds_t = 1000;

/// Tries before the program writes out its buffers and ends without a report: half a second in a
/// function that does not return.
const TRIES: u32 = 500;

/// The signal that came; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static TRIED: AtomicU32 = AtomicU32::new(0);
/// Whether the report is being made.
static IS_TELLING: AtomicBool = AtomicBool::new(false);

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
    let is_telling = IS_TELLING.load(Ordering::SeqCst);
    match signal {
        libc::SIGALRM if is_telling => return,
        libc::SIGALRM => {}
        // The user does not want to wait for the report.
        _ if is_telling => end(),
        _ => {
            SIGNAL.store(signal, Ordering::Relaxed);
            machines::wake_at_signal();
        }
    }
    // SAFETY: the kernel's context of this signal.
    let instruction = unsafe { antiphon_fiber::interrupted_at(context) };
    let is_generated = report::is_generated(instruction);
    if flavour::has_begun() && (is_generated || is_resting()) {
        return tell_and_end(report::function_at(instruction));
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

/// Prints where each process of each machine is, and ends the program by the signal. `running` is
/// the innermost generated function of the caller's process, or none if the caller is no process of
/// the program. Returns only if another thread makes the report.
pub fn tell_and_end(running: Option<&'static Function>) {
    if IS_TELLING.swap(true, Ordering::SeqCst) {
        return;
    }
    match running {
        Some(_) => tell(running),
        // The signal may have interrupted a wait for a lock of `parking_lot`, which knows each
        // thread only once. So another thread takes the locks of the report.
        None => {
            let telling = std::thread::Builder::new().spawn(|| tell(None));
            let _ = telling.map(std::thread::JoinHandle::join);
        }
    }
    ending::write_out();
    end()
}

fn tell(running: Option<&'static Function>) {
    let lines = match options::is_many() {
        true => report::everywhere::<Many>(running),
        false => report::everywhere::<One>(running),
    };
    let signal = name(SIGNAL.load(Ordering::Relaxed));
    let mut text = format!("RTS interrupt: {signal}; the processes are\n");
    let own = machines::prefix();
    for line in lines {
        text.push_str(&format!("   {own}{line}\n"));
    }
    for line in machines::everywhere_else() {
        text.push_str(&format!("   {line}\n"));
    }
    errors::say(&text);
}

/// Ends the program by the signal.
fn end() -> ! {
    ending::by_signal(SIGNAL.load(Ordering::Relaxed))
}
