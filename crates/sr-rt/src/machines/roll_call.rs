//! The places of all machines' processes, when a signal ends the program.
//!
//! The first machine gets the signal, and asks the others. A machine that is stopped, or whose
//! processes never let the serving process run, does not answer. So the first one waits only for a
//! limited time.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use super::inbox::Event;
use super::letters::Letter;
use super::session::{Link, link};
use super::{own, vms};

/// The time limit for answers.
const PATIENCE: Duration = Duration::from_secs(1);

/// A counter of the kernel's that the signal handler raises; -1 while there is only one machine.
static ALARM: AtomicI32 = AtomicI32::new(-1);

/// Starts a thread that wakes the serving process when a signal comes.
///
/// # Errors
/// The system refuses a descriptor or a thread.
pub fn begin_to_watch(link: &'static Link) -> std::io::Result<()> {
    // SAFETY: makes a descriptor.
    let alarm = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if alarm < 0 {
        return Err(std::io::Error::last_os_error());
    }
    ALARM.store(alarm, Ordering::Release);
    let watch = move || {
        while wait_for(alarm) {
            link.protocol.happens(Event::Signal);
        }
    };
    std::thread::Builder::new().spawn(watch).map(drop)
}

/// Waits until a counter is raised, and resets it. Returns false if it cannot be read.
fn wait_for(alarm: RawFd) -> bool {
    let mut count = [0_u8; 8];
    // SAFETY: reads into a buffer of that size.
    let read = unsafe { libc::read(alarm, count.as_mut_ptr().cast(), count.len()) };
    read == count.len() as isize
}

/// Wakes the serving process of the first machine, from a signal handler.
pub fn wake_at_signal() {
    let alarm = ALARM.load(Ordering::Acquire);
    let one = 1_u64.to_ne_bytes();
    if alarm >= 0 {
        // SAFETY: writes a buffer of that size; a signal handler may do so.
        unsafe { libc::write(alarm, one.as_ptr().cast(), one.len()) };
    }
}

/// Returns a line for each process of the other machines, if this is the first one.
pub fn everywhere_else() -> Vec<String> {
    let Some(link) = link().filter(|_| own() == 0) else {
        return Vec::new();
    };
    let machines = vms::live();
    for &machine in &machines {
        // A letter to a stopped machine may have to wait for room. A machine without a thread that
        // asks it does not answer.
        let ask = move || drop(link.post(machine, &Letter::Where, Vec::new()));
        let _ = std::thread::Builder::new().spawn(ask);
    }
    let mut places = link.places_of(&machines, PATIENCE);
    let mut lines = Vec::new();
    for machine in machines {
        let number = machine + 1;
        match places.remove(&machine) {
            Some(known) => lines.extend(known.iter().map(|line| format!("[vm {number}] {line}"))),
            None => lines.push(format!("[vm {number}] does not answer")),
        }
    }
    lines
}
