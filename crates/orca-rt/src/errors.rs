//! Errors that end the program.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use orca::Error;

use crate::layout::{self, At};
use crate::parting;
use crate::processes;
use crate::settings;
use crate::start;

/// The exit code after a run-time error: that of `abort`, as in the original.
const ABORTED: c_int = 134;

/// The exit code of a program that does not finish.
pub const FAILED: c_int = 1;

/// Whether a thread of this process reports the end of the program.
static HAS_REPORTED: AtomicBool = AtomicBool::new(false);

/// The original's prefixes of messages.
pub const INTRODUCTIONS: [&str; 4] = [
    "Run-time error",
    "I/O error",
    "Limit exceeded",
    "System error",
];

/// Writes a line to standard error, in one piece.
pub fn say(line: &str) {
    // An error is ignored: there is nowhere left to report it.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes out what is buffered. Returns why output is lost, if it is.
pub fn flush() -> Option<String> {
    // SAFETY: the library flushes its output, and returns a text or null.
    unsafe {
        let why = layout::orca_flush();
        (!why.is_null()).then(|| CStr::from_ptr(why).to_string_lossy().into_owned())
    }
}

/// Ends this OS process at once.
pub fn end_now(code: c_int) -> ! {
    // SAFETY: nothing of this process runs any more.
    unsafe { libc::_exit(code) }
}

/// Ends this OS process. A program whose output is lost does not end well.
pub fn end(code: c_int) -> ! {
    let lost = flush().filter(|_| code == 0);
    let code = match (parting::say_all(), code) {
        (false, 0) => FAILED,
        _ => code,
    };
    let code = lost.map_or(code, |why| {
        let cpu = start::own_machine();
        say(&format!(
            "{} on CPU {cpu}: output is lost: {why}",
            INTRODUCTIONS[3]
        ));
        ABORTED
    });
    end_now(code)
}

/// Ends the program because of a fault of the run-time or of generated code.
pub fn fail_with(why: &str) -> ! {
    say(&format!("orca: {why}"));
    end(ABORTED)
}

/// Waits until the program has ended.
pub fn wait_for_the_end() -> ! {
    loop {
        antiphon_panda::thread::sleep(Duration::from_secs(3600));
    }
}

/// Ends this OS process because of an error of the whole program. One machine reports it. For a
/// deadlock it is the first one with a blocked process.
pub fn end_by(error: &Error) -> ! {
    let reporter = match error {
        Error::Deadlock(deadlock) => deadlock.blocked.iter().map(|it| it.machine).min(),
        _ => None,
    };
    let is_reporter = reporter.is_none_or(start::is_here);
    flush();
    if is_reporter && !HAS_REPORTED.swap(true, Ordering::AcqRel) {
        say(&format!("orca: {error}"));
        processes::if_here(parting::collect_now);
        end(FAILED);
    }
    match is_reporter {
        // Another thread reports, and then ends this process.
        true => wait_for_the_end(),
        false => {
            parting::wait_to_be_asked();
            end(FAILED)
        }
    }
}

/// Ends the program because an operation or a fork failed.
pub fn give_up(at: At, error: &Error) -> ! {
    match error {
        Error::Deadlock(_) => end_by(error),
        // The program has ended, and `main` ends this process.
        Error::Finished | Error::Over => wait_for_the_end(),
        Error::Layout(why) => report(at, INTRODUCTIONS[0], "illegal distribution", why),
        other => report(at, INTRODUCTIONS[3], &other.to_string(), ""),
    }
}

pub fn report(at: At, introduction: &str, text: &str, values: &str) -> ! {
    let cpu = processes::machine().unwrap_or_else(start::own_machine);
    let mut line = format!("{introduction} on CPU {cpu}");
    // SAFETY: locations are constants of the program, or null.
    if let Some(at) = unsafe { at.as_ref() } {
        // SAFETY: as above.
        let file = unsafe { CStr::from_ptr(at.file) }.to_string_lossy();
        line += &format!(", file \"{file}\", line {}", at.line);
    }
    line += &format!(": {text}");
    if !values.is_empty() && !settings::get().is_plain {
        line += &format!(": {values}");
    }
    // Earlier output must come before the message.
    flush();
    say(&line);
    processes::if_here(parting::collect_now);
    end(ABORTED)
}

#[unsafe(no_mangle)]
extern "C" fn orca_runtime_error(
    at: At,
    kind: c_int,
    text: *const c_char,
    values: *const c_char,
) -> ! {
    // SAFETY: C passes valid texts.
    let of = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let introduction = INTRODUCTIONS.get(kind as usize).copied();
    report(
        at,
        introduction.unwrap_or(INTRODUCTIONS[0]),
        &of(text),
        &of(values),
    )
}
