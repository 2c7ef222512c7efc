//! The timeline of processes' turns, in the format of Chrome's and Perfetto's trace viewers ("Trace Event Format", complete events).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use antiphon_fiber::Turn;
use parking_lot::Mutex;

use crate::flavour::Flavour;
use crate::layout::{Name, name_of};
use crate::process::{Process, Role};

/// A turn of a process.
struct Event {
    name: Name,
    role: Role,
    process: u64,
    server: usize,
    began_ns: u64,
    ended_ns: u64,
}

// SAFETY: names are static texts.
unsafe impl Send for Event {}

/// Turns that are kept at most; further ones are counted. Viewers are slow beyond that.
const MOST: usize = 2_000_000;

/// The turns that were kept, and how many were not.
static EVENTS: Mutex<(Vec<Event>, u64)> = Mutex::new((Vec::new(), 0));

/// Keeps a turn.
pub fn note<S: Flavour>(turn: &Turn) {
    let process: *const Process<S> = turn.local.cast();
    if process.is_null() {
        return;
    }
    let mut events = EVENTS.lock();
    if events.0.len() >= MOST {
        events.1 += 1;
        return;
    }
    // SAFETY: the descriptor is not unmapped, and its process has just run here.
    let (name, role, number) = unsafe { ((*process).name, (*process).role, (*process).number) };
    events.0.push(Event {
        name,
        role,
        process: number,
        server: turn.server,
        began_ns: turn.began_ns,
        ended_ns: turn.ended_ns,
    });
}

/// Writes what was kept.
pub fn write(path: &Path) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let events = EVENTS.lock();
    writeln!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"dropped\":{}}},\"traceEvents\":[",
        events.1
    )?;
    for (number, event) in events.0.iter().enumerate() {
        let comma = if number + 1 < events.0.len() { "," } else { "" };
        let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
        // SAFETY: names are static. They are identifiers and points: nothing needs to be escaped.
        let name = unsafe { name_of(event.name) };
        let role = match event.role {
            Role::System => "run-time",
            Role::Proc => "",
            Role::Body => ".body",
            Role::Final => ".final",
        };
        writeln!(
            out,
            "{{\"name\":\"{name}{role}\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"server\":{}}}}}{comma}",
            event.process,
            micros(event.began_ns),
            micros(event.ended_ns.saturating_sub(event.began_ns)),
            event.server
        )?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}
