//! The end of a program: when nothing can run any more, by `stop`, or by an error.

use antiphon_fiber::{Lock, Threads};
use std::ffi::c_int;
use std::ptr;

use crate::destruction;
use crate::flavour::Flavour;
use crate::layout::At;
use crate::process::{self, Role};
use crate::runtime::Ending;
use crate::{errors, files, machines, options, report, stats, trace};

/// Acts when every process has ended or is blocked for ever: runs the finals, then reports the
/// blocked processes. If this happens again, a final is blocked, too.
pub fn at_rest<S: Flavour>() {
    if machines::is_joined() {
        return machines::at_rest::<S>();
    }
    // SAFETY: a process of no instance.
    unsafe {
        process::start::<S>(
            ptr::null(),
            ptr::null_mut(),
            ptr::null(),
            Role::System,
            |_| conclude::<S>(true),
        );
    }
}

/// Implements stop and stop(code).
pub fn stop<S: Flavour>(at: At, code: i32) -> ! {
    let _entered = <antiphon_fiber::Fibers<S> as Threads>::enter();
    if code != 0 {
        exit(code);
    }
    if machines::is_joined() {
        machines::stop::<S>();
        process::die::<S>();
    }
    // A process of its own runs the finals, because the caller may belong to what they end. SAFETY:
    // a process of no instance.
    unsafe {
        (*S::this()).head.at = at;
        process::start::<S>(at, ptr::null_mut(), ptr::null(), Role::System, |_| {
            conclude::<S>(false)
        });
    }
    process::die::<S>()
}

fn conclude<S: Flavour>(tells_blocked: bool) {
    let before = std::mem::replace(&mut *S::runtime().ending.lock(), Ending::Finals);
    if before == Ending::None {
        run_finals::<S>();
    }
    if !tells_blocked {
        exit(0)
    }
    let at_rest = report::at_rest::<S>();
    // In a program with a final, blocked processes at the end are normal.
    let is_deadlock = at_rest.is_deadlock && !has_final::<S>() && !options::get().is_plain;
    if is_deadlock {
        errors::say("RTS abort: deadlock: no process can go on\n");
    }
    for line in at_rest.lines {
        errors::warn(&line);
    }
    exit(i32::from(is_deadlock))
}

/// Whether the main resource has a final.
pub fn has_final<S: Flavour>() -> bool {
    let main = S::runtime().instances.lock().main;
    // SAFETY: instances are never unmapped.
    main.is_some_and(|(of, _)| unsafe { (*(*of).component).last.is_some() })
}

/// Runs the final of the main resource, if it was not destroyed, then those of the globals. A
/// global that imports another one comes before it.
fn run_finals<S: Flavour>() {
    run_main_final::<S>();
    run_global_finals::<S>();
}

/// Runs the final of the main resource, if it was not destroyed.
pub fn run_main_final<S: Flavour>() {
    let main = S::runtime().instances.lock().main;
    // SAFETY: instances are never unmapped; the serial tells whether it is still the main one.
    unsafe {
        if let Some((main, serial)) = main
            && (*main).serial == serial
        {
            destruction::run_final::<S>(ptr::null(), main);
        }
    }
}

/// Runs the finals of the globals. A global that imports another one comes before it.
pub fn run_global_finals<S: Flavour>() {
    let globals = S::runtime().instances.lock().globals.clone();
    // SAFETY: instances are never unmapped.
    unsafe {
        for global in globals.into_iter().rev() {
            destruction::run_final::<S>(ptr::null(), global);
        }
    }
}

/// The exit code of a program that ended well but whose output, or a virtual machine, was lost.
const LOST: i32 = 1;

/// Writes out buffers and requested reports, and ends the process.
pub fn exit(code: i32) -> ! {
    let is_whole = machines::before_exit() & write_out();
    let code = match code {
        0 if !is_whole => LOST,
        code => code,
    };
    machines::take_leave(code);
    // SAFETY: a plain call; all output is written. Other servers may still run generated code, so
    // nothing of the C library that they use is taken down.
    unsafe { libc::_exit(code) }
}

/// Ends the process by a signal.
pub fn by_signal(signal: c_int) -> ! {
    // SAFETY: the signal's default action ends the process once it is let through.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::raise(signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, ptr::null_mut());
        libc::_exit(128 + signal)
    }
}

/// Writes out buffers and requested reports. Returns whether all output reached its place.
pub fn write_out() -> bool {
    let mut is_whole = true;
    let mut lose = |text: &str| {
        errors::say(text);
        is_whole = false;
    };
    if let Some(error) = files::flush_all() {
        lose(&format!("RTS warning: output was lost: {error}\n"));
    }
    // The first machine reports what the others have sent to it.
    let is_reporter = !machines::is_guest();
    match options::get().stats {
        options::Stats::Text if is_reporter => errors::say(&stats::text()),
        options::Stats::Json if is_reporter => errors::say(&stats::json()),
        _ => {}
    }
    if let Some(path) = options::get().trace.as_deref().filter(|_| is_reporter) {
        let shown = path.display();
        match trace::write(path) {
            Ok(0) => {}
            Ok(earlier) => errors::say(&format!(
                "{shown}: the timeline has the last {} turns; {earlier} came before\n",
                options::get().trace_turns
            )),
            Err(error) => lose(&format!("{shown}: the timeline was not written: {error}\n")),
        }
    }
    // SAFETY: writes out the C library's files; takes nothing of the library down.
    if unsafe { libc::fflush(ptr::null_mut()) } != 0 {
        let error = std::io::Error::last_os_error();
        lose(&format!("RTS warning: output of C was lost: {error}\n"));
    }
    is_whole
}
