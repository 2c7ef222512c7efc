//! The timeline of processes' turns, in the format of Chrome's and Perfetto's trace viewers ("Trace
//! Event Format", complete events).

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use antiphon_fiber::Turn;
use parking_lot::Mutex;

use crate::flavour::Flavour;
use crate::layout::Name;
use crate::process::{Indices, Process, Role};
use crate::{options, report};

/// A turn of a process.
struct Event {
    name: Name,
    role: Role,
    indices: Indices,
    process: u64,
    server: usize,
    began_ns: u64,
    ended_ns: u64,
}

// SAFETY: names are static texts.
unsafe impl Send for Event {}

/// The turns that are kept, and how many came before them.
static EVENTS: Mutex<(VecDeque<Event>, u64)> = Mutex::new((VecDeque::new(), 0));

/// Keeps a turn.
pub fn note<S: Flavour>(turn: &Turn) {
    let process: *const Process<S> = turn.local.cast();
    if process.is_null() {
        return;
    }
    let mut events = EVENTS.lock();
    if events.0.len() >= options::get().trace_turns {
        events.1 += 1;
        events.0.pop_front();
    }
    // SAFETY: descriptors are never unmapped, and the process has just run here.
    let process = unsafe { &*process };
    events.0.push_back(Event {
        name: process.name,
        role: process.role,
        indices: process.indices,
        process: process.number,
        server: turn.server,
        began_ns: turn.began_ns,
        ended_ns: turn.ended_ns,
    });
}

/// Writes the turns that were kept, and returns how many came before. It writes a temporary file
/// beside `path` and renames it, so that a full disk leaves an older file whole. A path that is no
/// regular file is written directly.
pub fn write(path: &Path) -> io::Result<u64> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return write_to(File::options().write(true).open(path)?);
    }
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut beside = place.clone().into_os_string();
    beside.push(format!(".unfinished-{}", std::process::id()));
    let written = File::create(&beside)
        .and_then(write_to)
        .and_then(|earlier| std::fs::rename(&beside, &place).map(|()| earlier));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_to(file: File) -> io::Result<u64> {
    let mut out = BufWriter::new(file);
    let events = EVENTS.lock();
    writeln!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"dropped\":{}}},\"traceEvents\":[",
        events.1
    )?;
    for (number, event) in events.0.iter().enumerate() {
        let comma = if number + 1 < events.0.len() { "," } else { "" };
        let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
        // SAFETY: names are static. They consist of identifiers and points, so nothing needs
        // escaping.
        let name = unsafe { report::in_words(event.name, event.role, &event.indices) };
        writeln!(
            out,
            "{{\"name\":\"{name}\",\"ph\":\"X\",\"pid\":1,\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{\"server\":{}}}}}{comma}",
            event.process,
            micros(event.began_ns),
            micros(event.ended_ns.saturating_sub(event.began_ns)),
            event.server
        )?;
    }
    writeln!(out, "]}}")?;
    out.flush()?;
    Ok(events.1)
}
