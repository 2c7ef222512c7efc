//! `main`: the session, data modules, the first process.

use std::ffi::{c_char, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use antiphon_panda::Session;
use antiphon_panda::platform::local::Local;
use orca::Error;

use crate::errors::{FAILED, end, end_by, say};
use crate::layout;
use crate::{arrays, objects, processes};

/// The variable with settings: `machines=4` for machines that are threads of this process,
/// `report=plain` for the original's error messages, without values.
const VARIABLE: &str = "ANTIPHON_ORCA";

/// The variable of a process that a launcher has started.
const LAUNCHED: &str = "ANTIPHON_PLATFORM";

/// The most machines that are threads of one process.
const MOST_MACHINES: u32 = 64;

/// The exit code for wrong settings.
const WRONG_SETTINGS: c_int = 2;

static MACHINES: AtomicU32 = AtomicU32::new(1);
static OWN: AtomicU32 = AtomicU32::new(0);
static IS_LAUNCHED: AtomicBool = AtomicBool::new(false);
static SETTINGS: OnceLock<Settings> = OnceLock::new();

#[derive(Default)]
struct Settings {
    machines: Option<u32>,
    is_plain: bool,
}

/// Returns the number of machines with which the program began.
pub fn machines() -> u32 {
    MACHINES.load(Ordering::Relaxed)
}

/// Returns the machine of this OS process, or one of its machines.
pub fn own_machine() -> u32 {
    OWN.load(Ordering::Relaxed)
}

/// Returns whether a machine is this OS process, or a thread of it.
pub fn is_here(machine: u32) -> bool {
    let is_launched = IS_LAUNCHED.load(Ordering::Relaxed);
    !is_launched || machine == own_machine()
}

/// Returns whether errors are reported in the original's words.
pub fn is_plain() -> bool {
    SETTINGS.get().is_some_and(|settings| settings.is_plain)
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    let given = std::env::var(VARIABLE).unwrap_or_default();
    for setting in given.split(',').filter(|it| !it.is_empty()) {
        match setting.split_once('=') {
            Some(("machines", count)) => match count.parse() {
                Ok(count) if (1..=MOST_MACHINES).contains(&count) => {
                    settings.machines = Some(count);
                }
                _ => refuse(&format!("machines is a number from 1 to {MOST_MACHINES}")),
            },
            Some(("report", "plain")) => settings.is_plain = true,
            Some(("report", "full")) => settings.is_plain = false,
            _ => refuse(&format!(
                "{setting:?} is no setting: there are machines=N, report=full and report=plain"
            )),
        }
    }
    settings
}

fn refuse(why: &str) -> ! {
    say(&format!("{VARIABLE}: {why}"));
    end(WRONG_SETTINGS)
}

unsafe extern "C" {
    static mut orca_argc: c_int;
    static mut orca_argv: *mut *mut c_char;
}

/// # Safety
/// Called by the C library, in a program that generated code defines.
#[unsafe(no_mangle)]
unsafe extern "C" fn main(count: c_int, arguments: *mut *mut c_char) -> c_int {
    // SAFETY: nothing else runs yet.
    unsafe {
        orca_argc = count;
        orca_argv = arguments;
    }
    let machines = SETTINGS.get_or_init(settings).machines.unwrap_or(1);
    objects::register();
    arrays::register();
    processes::register();
    let is_launched = std::env::var(LAUNCHED).is_ok_and(|it| !it.is_empty());
    IS_LAUNCHED.store(is_launched, Ordering::Relaxed);
    let sessions = match is_launched {
        true => Session::join().map(|session| vec![session]),
        false => Local::sessions(machines),
    };
    let mut sessions = match sessions {
        Ok(sessions) => sessions,
        Err(error) => {
            say(&format!("orca: the program did not start: {error}"));
            end(FAILED)
        }
    };
    let first = sessions.remove(0);
    MACHINES.store(first.size(), Ordering::Relaxed);
    OWN.store(first.rank(), Ordering::Relaxed);
    // SAFETY: generated code defines the program, and this runs once.
    unsafe { (layout::orca_program.begin)() };
    let others = sessions.into_iter().map(|session| {
        let run = move || run_on(&session);
        std::thread::spawn(run)
    });
    let others: Vec<_> = others.collect();
    let mut outcome = run_on(&first);
    for other in others {
        // A thread that panics has ended the process.
        if let Ok(Err(error)) = other.join() {
            outcome = outcome.and(Err(error));
        }
    }
    finish(outcome)
}

fn run_on(session: &Session) -> Result<(), Error> {
    let outcome = orca::run(session, |orca| {
        processes::run(orca, || {
            // SAFETY: the main process has no arguments.
            unsafe { (layout::orca_program.main)(std::ptr::null_mut()) };
        });
    });
    outcome.map(|_| ())
}

fn finish(outcome: Result<(), Error>) -> ! {
    match outcome {
        Ok(()) | Err(Error::Finished) => end(0),
        Err(error) => end_by(&error),
    }
}
