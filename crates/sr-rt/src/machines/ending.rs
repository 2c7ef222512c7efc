//! The end of a program of several machines.
//!
//! The first machine ends the program: when panda finds all machines at rest, when one of them
//! stops, or when one ends by an error. It makes the others end and waits until they have left the
//! session. Destroyed machines are not asked.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use antiphon_fiber::{Fibers, Lock, Many, One};

use super::letters::{Blocked, Letter};
use super::session::{self, Link, link};
use super::{counts, own, relay, serve, timeline, vms, waits};
use crate::ending::{self, has_final, run_global_finals, run_main_final};
use crate::flavour::Flavour;
use crate::process::{self, Role};
use crate::runtime::Ending;
use crate::{errors, files, options};

/// How long other machines may take to end.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// How long processes of a machine that must end may continue.
const INSISTENCE: Duration = Duration::from_secs(2);

/// Whether this machine has begun to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// How long a machine of one server waits for messages before it counts as being at rest. Most
/// rests are waits for an answer, and end sooner.
const BRIEFLY: Duration = Duration::from_millis(1);

/// Acts when no process of this machine can go on.
pub fn at_rest<S: Flavour>() {
    match link() {
        Some(link) if !options::is_many() => rest::<S>(link),
        _ => rest_beside_others::<S>(),
    }
}

/// Rests as the only server. It takes messages itself, so that no thread of panda's need wake it.
fn rest<S: Flavour>(link: &'static session::Link) {
    let rests = || link.protocol.is_resting() || link.protocol.rests();
    if rests() || session::drive::<S>(link, Some(BRIEFLY)) && rests() {
        session::drive::<S>(link, None);
    }
}

/// Rests as one of several servers.
fn rest_beside_others<S: Flavour>() {
    // SAFETY: a process of no instance.
    unsafe {
        process::start::<S>(
            ptr::null(),
            ptr::null_mut(),
            ptr::null(),
            Role::System,
            |_| {
                if let Some(link) = link().filter(|link| link.protocol.rests()) {
                    Fibers::<S>::wait_for(link.protocol.resumes.taken());
                }
            },
        );
    }
}

/// Implements stop, with finals.
pub fn stop<S: Flavour>() {
    match (own(), link()) {
        (0, _) => serve::start::<S>(0, || conclude::<S>(false)),
        (_, Some(link)) => drop(link.post(0, &Letter::Stop, Vec::new())),
        (_, None) => {}
    }
}

/// Runs finals, reports blocked processes if wanted, and ends the program. Called on the first
/// machine.
pub fn conclude<S: Flavour>(tells_blocked: bool) {
    let before = std::mem::replace(&mut *S::runtime().ending.lock(), Ending::Finals);
    if before == Ending::None {
        run_main_final::<S>();
        for machine in vms::live() {
            let finals = |token| Letter::Finals { token, all: false };
            // Losses are reported below. SAFETY: this is a process.
            let _ = unsafe { waits::try_ask::<S>(ptr::null(), machine, finals, Vec::new()) };
        }
        run_global_finals::<S>();
    }
    if !tells_blocked {
        ending::exit(0)
    }
    let reports = reports::<S>();
    let is_whole = link().is_none_or(tell_of_lost);
    let are_stuck = reports.iter().any(|(_, blocked)| blocked.is_deadlock);
    // In a program with a final, blocked processes at the end are normal.
    let is_deadlock = are_stuck && !has_final::<S>() && !options::get().is_plain;
    if is_deadlock {
        errors::say("RTS abort: deadlock: no process can go on\n");
    }
    for (machine, blocked) in reports {
        for line in blocked.lines {
            errors::say(&format!("[vm {}] RTS warning: {line}\n", machine + 1));
        }
    }
    ending::exit(i32::from(is_deadlock || !is_whole))
}

/// Tells of the machines that were lost, unless an error message has named them. Returns whether
/// there are none.
fn tell_of_lost(link: &Link) -> bool {
    let (lost, told) = (link.protocol.lost(), link.told());
    for (machine, why) in &lost {
        if !told.contains(machine) {
            let number = machine + 1;
            errors::say(&format!(
                "RTS abort: virtual machine {number} has died: it {why}\n"
            ));
            link.note_told(*machine);
        }
    }
    lost.is_empty()
}

/// Kills the machines that have not left the session, and tells of them. Returns whether there are
/// none.
fn end_the_rest(link: &'static Link, machines: &[u32]) -> bool {
    let present = link.present(machines);
    for &machine in &present {
        let number = machine + 1;
        errors::say(&format!(
            "RTS abort: virtual machine {number} did not end by itself and was killed\n"
        ));
        if let Ok(killing) = link.kill(machine) {
            let _ = killing.join();
        }
    }
    present.is_empty()
}

/// Returns the blocked processes of each machine.
fn reports<S: Flavour>() -> Vec<(u32, Blocked)> {
    let mut reports = vec![(0, serve::blocked::<S>())];
    for machine in vms::live() {
        let report = |token| Letter::Report { token };
        // SAFETY: the caller is a process.
        let reply = unsafe { waits::try_ask::<S>(ptr::null(), machine, report, Vec::new()) };
        if let Ok((Letter::Reported { blocked, .. }, _)) = reply {
            reports.push((machine, blocked));
        }
    }
    reports
}

/// Makes the other machines end, if this is the first. Returns whether none of them was lost.
pub fn before_exit() -> bool {
    IS_ENDING.store(true, Ordering::Release);
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some(link) = link().filter(|_| own() == 0) else {
        return true;
    };
    if TOLD.swap(true, Ordering::AcqRel) {
        return true;
    }
    let mut live = vms::live();
    timeline::measure_last(link, &live);
    live.extend(vms::idle(link));
    for &machine in &live {
        let _ = link.post(machine, &Letter::Quit, Vec::new());
    }
    link.wait_for_leave(&live, LAST_WAIT);
    // A machine whose output had no reader until now leaves only after that.
    relay::finish();
    link.wait_for_leave(&live, LAST_WAIT);
    relay::finish();
    end_the_rest(link, &live) & tell_of_lost(link)
}

/// Leaves the session. Before that a machine makes the first one end the program, unless the first
/// one has made this machine end.
pub fn take_leave(code: i32) {
    // The end of the first machine is the end of the session. Open MPI alone takes a process that
    // exits before it has left for failed.
    let leaves = |link: &&session::Link| own() != 0 || link.session.platform() == session::MPI;
    let Some(link) = link().filter(leaves) else {
        return;
    };
    static LEAVES: AtomicBool = AtomicBool::new(false);
    if LEAVES.swap(true, Ordering::AcqRel) {
        // A process on another server leaves, and then ends this machine.
        loop {
            std::thread::park();
        }
    }
    if own() == 0 {
        // A process's stack may be too small for this call.
        let _ = std::thread::spawn(|| link.session.end_for_all()).join();
        return;
    }
    if !link.is_over() {
        let _ = link.post(
            0,
            &Letter::Exit {
                code,
                told: link.told(),
            },
            Vec::new(),
        );
        link.wait_for_end(LAST_WAIT);
    }
    let counts = is_on_server().then(counts::own).flatten();
    // A process's stack may be too small for these calls.
    let leave = std::thread::spawn(move || {
        timeline::send(link);
        if let Some(counts) = counts {
            counts::send(link, &counts);
        }
        link.close(LAST_WAIT);
        link.session.end_for_all()
    });
    let _ = leave.join();
}

/// Whether the caller is on a server's OS thread.
fn is_on_server() -> bool {
    match options::is_many() {
        true => Fibers::<Many>::is_caller(),
        false => Fibers::<One>::is_caller(),
    }
}

/// Ends this machine because another one says so.
pub fn obey(code: i32) -> ! {
    IS_ENDING.store(true, Ordering::Release);
    ending::exit(code)
}

/// Ends this machine after some time, even if its processes never let the serving process run.
pub fn insist(code: i32) {
    std::thread::spawn(move || {
        std::thread::sleep(INSISTENCE);
        if IS_ENDING.load(Ordering::Acquire) {
            return;
        }
        before_exit();
        files::flush_all();
        take_leave(code);
        // SAFETY: ends the process; all output is written.
        unsafe { libc::_exit(code) };
    });
}
