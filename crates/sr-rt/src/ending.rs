//! The end of a program: when nothing can run any more, by `stop`, or by an error.

use antiphon_fiber::{Lock, Threads};
use std::ptr;

use crate::destruction;
use crate::flavour::Flavour;
use crate::layout::At;
use crate::process::{self, Role};
use crate::runtime::Ending;
use crate::{errors, files, options, report, stats, trace};

/// Every process has ended or is blocked for ever: finals run, then what is blocked is told. When that is so again, a final is blocked, too.
pub fn at_rest<S: Flavour>() {
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

/// stop and stop(code).
pub fn stop<S: Flavour>(at: At, code: i32) -> ! {
    let _entered = <antiphon_fiber::Fibers<S> as Threads>::enter();
    if code != 0 {
        exit(code);
    }
    // A process of its own runs the finals: the caller may belong to what they end.
    // SAFETY: a process of no instance.
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
    if tells_blocked {
        for line in report::blocked::<S>() {
            errors::warn(&line);
        }
    }
    exit(0)
}

/// The main resource's, if it was not destroyed, then the globals', who imports before what it imports.
fn run_finals<S: Flavour>() {
    let (main, globals) = {
        let instances = S::runtime().instances.lock();
        (instances.main, instances.globals.clone())
    };
    // SAFETY: instances are never unmapped; the serial tells whether it is still the main one.
    unsafe {
        if let Some((main, serial)) = main
            && (*main).serial == serial
        {
            destruction::run_final::<S>(ptr::null(), main);
        }
        for global in globals.into_iter().rev() {
            destruction::run_final::<S>(ptr::null(), global);
        }
    }
}

/// Writes out what is buffered and what was asked for, and ends the process.
pub fn exit(code: i32) -> ! {
    files::flush_all();
    match options::get().stats {
        options::Stats::None => {}
        options::Stats::Text => errors::say(&stats::text()),
        options::Stats::Json => errors::say(&stats::json()),
    }
    if let Some(path) = &options::get().trace
        && let Err(error) = trace::write(path)
    {
        errors::say(&format!(
            "{}: the timeline was not written: {error}\n",
            path.display()
        ));
    }
    // SAFETY: other servers may be running generated code: nothing of the C library that they use is taken down. Its files are written out.
    unsafe {
        libc::fflush(ptr::null_mut());
        libc::_exit(code)
    }
}
