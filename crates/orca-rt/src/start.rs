//! `main`: the session, data modules, the first process.

use std::ffi::{c_char, c_int};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use antiphon_fiber::Run;
use antiphon_panda::platform::local::Local;
use antiphon_panda::{Session, thread};
use orca::{Error, MachineStatistics, Program};

use crate::errors::{FAILED, end, end_by, say};
use crate::settings::{self, Model};
use crate::{arrays, layout, objects, parting, processes, timeline};

/// The variable of a process that a launcher has started.
const LAUNCHED: &str = "ANTIPHON_PLATFORM";

/// The size of a fiber's stack in bytes, that of a thread. Only touched pages take memory.
const STACK_BYTES: usize = 2 << 20;

static MACHINES: AtomicU32 = AtomicU32::new(1);
static OWN: AtomicU32 = AtomicU32::new(0);
static IS_LAUNCHED: AtomicBool = AtomicBool::new(false);

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
    let settings = settings::get();
    objects::register();
    arrays::register();
    processes::register();
    if settings.model == Model::Threads {
        program();
    }
    let servers = settings.servers.unwrap_or(NonZeroUsize::MIN);
    let run = Run::many(servers).stack_bytes(STACK_BYTES);
    let run = run.on_overflow(|_| say("Limit exceeded: the stack of a process is full"));
    // SAFETY: no code keeps the address of a thread-local over a wait.
    let Err(error) = (unsafe { run.start::<()>(|| program()) }) else {
        end(FAILED)
    };
    say(&format!("orca: the program did not start: {error}"));
    end(FAILED)
}

/// Runs the program, and ends the process.
fn program() -> ! {
    let is_launched = std::env::var(LAUNCHED).is_ok_and(|it| !it.is_empty());
    IS_LAUNCHED.store(is_launched, Ordering::Relaxed);
    let sessions = match is_launched {
        true => Session::join().map(|session| vec![session]),
        false => Local::sessions(settings::get().machines.unwrap_or(1)),
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
        thread::spawn(run).unwrap_or_else(|error| {
            say(&format!("orca: the program did not start: {error}"));
            end(FAILED)
        })
    });
    let others: Vec<_> = others.collect();
    let mut outcome = run_on(&first);
    for other in others {
        // A thread that panics has ended the process.
        if let Ok(Err(error)) = other.join() {
            outcome = outcome.and(Err(error));
        }
    }
    match outcome {
        Ok(()) | Err(Error::Finished) => end(0),
        Err(error) => end_by(&error),
    }
}

fn run_on(session: &Session) -> Result<(), Error> {
    parting::serve(session);
    let clocks = parting::clocks(session);
    let counts = Arc::new(Mutex::new(MachineStatistics::default()));
    let kept = counts.clone();
    let mut program = Program::default().statistics(move |it| {
        *kept.lock().unwrap_or_else(|it| it.into_inner()) = it;
    });
    if let Some(sequencer) = settings::get().sequencer {
        program = program.ordered_by(sequencer);
    }
    if settings::get().trace.is_some() {
        let own = session.clone();
        program = program.observed_by(Arc::new(move |event| timeline::note(&own, event)));
    }
    let outcome = program.run(session, |orca| {
        processes::run(orca, Default::default(), || {
            // SAFETY: the main process has no arguments.
            unsafe { (layout::orca_program.main)(std::ptr::null_mut()) };
        });
    });
    let counts = std::mem::take(&mut *counts.lock().unwrap_or_else(|it| it.into_inner()));
    parting::collect(session, counts, clocks);
    outcome.map(|_| ())
}
