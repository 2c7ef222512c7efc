//! The timeline of processes' turns, in the format of Chrome's and Perfetto's trace viewers ("Trace
//! Event Format", complete events).

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use parking_lot::Mutex;

use crate::flavour::Flavour;
use crate::layout::Name;
use crate::process::{Indices, Process, Role};
use crate::{machines, options, report};

/// A turn of a process.
struct Event {
    name: Name,
    role: Role,
    indices: Indices,
    turn: Turn,
}

/// The process, server and times of a turn.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "machines", derive(serde::Serialize, serde::Deserialize))]
pub struct Turn {
    pub process: u64,
    pub server: u32,
    pub began_ns: u64,
    pub ended_ns: u64,
}

// SAFETY: names are static texts.
unsafe impl Send for Event {}

/// The turns that are kept, and how many came before them.
static EVENTS: Mutex<(VecDeque<Event>, u64)> = Mutex::new((VecDeque::new(), 0));

/// Keeps a turn.
pub fn note<S: Flavour>(turn: &antiphon_fiber::Turn) {
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
        turn: Turn {
            process: process.number,
            server: turn.server as u32,
            began_ns: turn.began_ns,
            ended_ns: turn.ended_ns,
        },
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
    let own = EVENTS.lock();
    let dropped = own.1 + machines::turns_dropped();
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"dropped\":{dropped}{}}},\"traceEvents\":[",
        machines::other_data()
    )?;
    let mut list = List {
        out,
        is_begun: false,
    };
    for event in &own.0 {
        // SAFETY: names are static.
        let name = unsafe { report::in_words(event.name, event.role, &event.indices) };
        list.turn(1, &name, &event.turn)?;
    }
    drop(own);
    machines::write_timelines(&mut list)?;
    writeln!(list.out, "\n]}}")?;
    list.out.flush()?;
    Ok(dropped)
}

/// The list of events in a file.
pub struct List<W> {
    out: W,
    is_begun: bool,
}

impl<W: Write> List<W> {
    /// Writes a turn of a process of a machine, which is named by its number in messages. Names
    /// consist of identifiers and points, so nothing needs escaping.
    pub fn turn(&mut self, machine: u32, name: &str, turn: &Turn) -> io::Result<()> {
        let Turn {
            process, server, ..
        } = turn;
        let began = micros(turn.began_ns);
        let lasted = micros(turn.ended_ns.saturating_sub(turn.began_ns));
        self.event(format_args!(
            "\"name\":\"{name}\",\"ph\":\"X\",\"pid\":{machine},\"tid\":{process},\"ts\":{began},\"dur\":{lasted},\"args\":{{\"server\":{server}}}"
        ))
    }

    /// Writes an event, given the members of its object.
    pub fn event(&mut self, members: fmt::Arguments<'_>) -> io::Result<()> {
        let comma = if self.is_begun { "," } else { "" };
        self.is_begun = true;
        write!(self.out, "{comma}\n{{{members}}}")
    }
}

/// Returns a time in microseconds.
pub fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// Returns the turns that were kept, each with its process's name, and how many came before.
#[cfg(feature = "machines")]
pub fn kept() -> (Vec<(String, Turn)>, u64) {
    let events = EVENTS.lock();
    let kept = events.0.iter().map(|event| {
        // SAFETY: names are static.
        let name = unsafe { report::in_words(event.name, event.role, &event.indices) };
        (name, event.turn)
    });
    (kept.collect(), events.1)
}
