//! `main`: options, servers, the main resource.

use std::ffi::{c_char, c_int};
use std::num::NonZeroUsize;
use std::ptr;
use std::time::Duration;

use antiphon_fiber::{Many, One, Policy, Run, RunError, Schedule};

use crate::flavour::{self, Flavour};
use crate::instance;
use crate::layout::{At, Program, VERSION, name_of};
use crate::options::{Options, Stats, VARIABLE};
use crate::process::{self, Role};
use crate::{crash, ending, errors, interruption, machines, numbers, options, report, scan, trace};

unsafe extern "C" {
    static sr_the_program: Program;
}

/// The exit code for wrong options.
const WRONG_OPTIONS: c_int = 2;

/// Virtual time of a turn that ends by a tick or a yield, under a seeded schedule.
const TURN: Duration = Duration::from_micros(100);

fn refuse(message: &str) -> ! {
    errors::say(&format!("{message}\n"));
    ending::exit(WRONG_OPTIONS)
}

/// # Safety
/// Called by the C library, with the command line, in a program that the contract's `SR_PROGRAM`
/// defines.
#[unsafe(no_mangle)]
unsafe extern "C" fn main(count: c_int, arguments: *mut *mut c_char) -> c_int {
    scan::keep_arguments(count, arguments);
    // SAFETY: defined by generated code.
    let program = unsafe { &sr_the_program };
    if program.version != VERSION {
        refuse("this program was compiled with another version of sr.h: compile it again");
    }
    let options = read_options(program);
    let (stats, has_trace) = (options.stats, options.trace.is_some());
    options::set(options, program.is_many);
    numbers::begin();
    check_machines(program);
    let is_guest = machines::become_guest();
    interruption::install();
    crash::install();
    let (one, many) = match is_guest {
        true => (
            machines::begin_joined::<One> as fn(),
            machines::begin_joined::<Many> as fn(),
        ),
        false => (begin::<One> as fn(), begin::<Many> as fn()),
    };
    let result = if program.is_many {
        flavour::prepare_many();
        let servers = NonZeroUsize::new(options::get().servers).unwrap_or(NonZeroUsize::MIN);
        let run = settings::<Many>(Run::many(servers), stats, has_trace);
        // SAFETY: neither generated code nor the run-time keeps an address of a thread-local across
        // a switch.
        unsafe { run.start(many) }.map(|_| ())
    } else {
        flavour::prepare_one();
        let run = settings::<One>(Run::one(), stats, has_trace);
        let run = match options::get().schedule {
            Some(seed) => run.schedule(Schedule::Seeded(seed)).turn_time(TURN),
            None => run,
        };
        run.start(one).map(|_| ())
    };
    end(result)
}

/// Checks that the program and the run-time were compiled alike.
fn check_machines(program: &Program) {
    match (program.has_machines, cfg!(feature = "machines")) {
        (true, false) => refuse(
            "this program creates virtual machines: link it with the run-time that has them (libantiphon_sr_machines.a)",
        ),
        (false, true) => refuse(
            "this program was compiled without virtual machines: compile it with -DSR_MACHINES",
        ),
        _ => {}
    }
}

/// Returns the program's own options, changed by those of the environment.
fn read_options(program: &Program) -> Options {
    let mut options = Options::default();
    if program.has_loops {
        let _ = options.read("model=counted");
    }
    // SAFETY: a static text.
    let own = unsafe { name_of(program.options) };
    let given = std::env::var(VARIABLE).unwrap_or_default();
    for text in [own, &given] {
        if let Err(error) = options.read(text) {
            refuse(&error.to_string());
        }
    }
    let is_scheduled = options.schedule.is_some() && options.model != Policy::Cooperative;
    let needs_loops = matches!(options.model, Policy::Counted(n) if n > 0)
        || matches!(options.model, Policy::SlicedDeferred(_))
        || is_scheduled;
    if is_scheduled && !program.has_points {
        refuse(&format!(
            "{VARIABLE}: this program was compiled without the points at which a schedule may switch: compile it with -DSR_POINTS (antiphon sr build --schedule)"
        ));
    }
    if needs_loops && !program.has_loops {
        refuse(&format!(
            "{VARIABLE}: this program was compiled without checks in loops, which its model needs: compile it with -DSR_LOOPS"
        ));
    }
    if options.servers > 1 && !program.is_many {
        refuse(&format!(
            "{VARIABLE}: this program was compiled for one server: compile it with -DSR_MANY, or ask for servers=1"
        ));
    }
    if options.schedule.is_some() && program.is_many {
        refuse(&format!(
            "{VARIABLE}: schedules can be drawn for one server only: compile it without -DSR_MANY"
        ));
    }
    options
}

fn settings<S: Flavour>(run: Run<S>, stats: Stats, has_trace: bool) -> Run<S> {
    let run = run
        .policy(options::get().model)
        .stack_bytes(options::get().stack_bytes)
        .at_rest(ending::at_rest::<S>)
        .on_overflow(report::overflow::<S>)
        .on_discard(process::discarded::<S>)
        .on_server(S::settle);
    let run = if has_trace {
        run.on_turn(trace::note::<S>)
    } else {
        run
    };
    if stats == Stats::None {
        run
    } else {
        run.histograms()
    }
}

/// Runs as the first fiber. It has no descriptor, so it starts a process that has one.
fn begin<S: Flavour>() {
    machines::begin_joined::<S>();
    let at: At = ptr::null();
    // SAFETY: a process of no instance; the main component is static.
    unsafe {
        process::start::<S>(at, ptr::null_mut(), ptr::null(), Role::System, move |_| {
            instance::create::<S>(at, sr_the_program.main, ptr::null(), 0);
        });
    }
}

/// Handles a run that ends before its last words, which means that it could not begin.
fn end(result: Result<(), RunError>) -> c_int {
    match result {
        Ok(()) => errors::abort(ptr::null(), "no memory for the last process"),
        Err(error) => errors::abort(ptr::null(), &error.to_string()),
    }
}
