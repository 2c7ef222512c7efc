//! The timeline of all machines, in the format of Chrome's and Perfetto's trace viewers ("Trace
//! Event Format"): complete events, and arrows from an invocation to its executions.
//!
//! Each machine keeps its own events, by its own clock. The first machine measures the offsets of
//! the others' clocks at the beginning and at the end, and takes all events at the end.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use antiphon_panda::{Error, Rank, Session};
use orca::{Event, EventKind};
use serde::{Deserialize, Serialize};

use crate::statistics::quoted;

/// The number of events that this OS process keeps: the last ones.
const MOST_EVENTS: usize = 2_000_000;

/// The track of what a machine executes for others.
const EXECUTIONS: u32 = 0;

/// An event on the timeline of its machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    machine: Rank,
    /// The thread of its process, or the track of executions.
    track: u32,
    kind: EventKind,
    name: String,
    /// By the machine's clock.
    began_ns: u64,
    ended_ns: u64,
    invocation: Option<(Rank, u64)>,
}

/// Returns the name of a kind in the timeline.
fn category(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Process => "process",
        EventKind::Invocation => "operation",
        EventKind::Call => "call",
        EventKind::Write => "write",
        EventKind::Execution => "execution",
        EventKind::Move => "move",
    }
}

/// The events that are kept, and how many came before them.
static EVENTS: Mutex<(VecDeque<Entry>, u64)> = Mutex::new((VecDeque::new(), 0));

static TRACKS: AtomicU32 = AtomicU32::new(EXECUTIONS + 1);

thread_local! {
    static TRACK: Cell<u32> = const { Cell::new(EXECUTIONS) };
}

/// Returns the track of this thread.
fn own_track() -> u32 {
    if TRACK.get() == EXECUTIONS {
        TRACK.set(TRACKS.fetch_add(1, Ordering::Relaxed));
    }
    TRACK.get()
}

/// Keeps an event of a machine.
pub fn note(session: &Session, event: Event) {
    let kind = event.kind;
    // All machines know of a move, and the first one reports it.
    if kind == EventKind::Move && event.machine != 0 {
        return;
    }
    let ns = |moment| session.clock_at(moment).as_nanos() as u64;
    let entry = Entry {
        machine: event.machine,
        track: match kind {
            EventKind::Execution | EventKind::Move => EXECUTIONS,
            _ => own_track(),
        },
        kind,
        name: event.name,
        began_ns: ns(event.began),
        ended_ns: ns(event.ended),
        invocation: event.invocation,
    };
    let mut events = EVENTS.lock().unwrap_or_else(|it| it.into_inner());
    if events.0.len() >= MOST_EVENTS {
        events.1 += 1;
        events.0.pop_front();
    }
    events.0.push_back(entry);
}

/// Takes the events of a machine, and how many came before those of this OS process.
pub fn take(machine: Rank) -> (Vec<Entry>, u64) {
    let mut events = EVENTS.lock().unwrap_or_else(|it| it.into_inner());
    let all = std::mem::take(&mut events.0);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.machine == machine);
    events.0 = others.into();
    (own, std::mem::take(&mut events.1))
}

/// How far the clock of a machine is ahead of the first machine's, at a time of the latter.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    at_ns: i128,
    ahead_ns: i128,
}

/// Measures the clocks of all machines. It runs on the first one.
pub fn clocks(session: &Session) -> Result<Vec<Reading>, Error> {
    (0..session.size())
        .map(|rank| clock(session, rank))
        .collect()
}

/// Measures the clock of a machine against that of the caller.
pub fn clock(session: &Session, machine: Rank) -> Result<Reading, Error> {
    let offset = session.clock_offset(machine)?;
    Ok(Reading {
        at_ns: offset.measured_at.as_nanos() as i128,
        ahead_ns: i128::from(offset.offset_ns),
    })
}

/// Converts times by the clocks of machines into those of the first machine.
pub struct Clocks {
    pub begin: Vec<Reading>,
    pub end: Vec<Reading>,
}

impl Clocks {
    fn common(&self, machine: Rank, ns: u64) -> u64 {
        let ns = i128::from(ns);
        let of = |all: &[Reading]| all.get(machine as usize).copied();
        let ahead = match (of(&self.begin), of(&self.end)) {
            (Some(begin), Some(end)) if end.at_ns > begin.at_ns => {
                let (passed, whole) = (ns - begin.ahead_ns - begin.at_ns, end.at_ns - begin.at_ns);
                let change = end.ahead_ns - begin.ahead_ns;
                begin.ahead_ns + change * passed.clamp(0, whole) / whole
            }
            (Some(one), _) | (None, Some(one)) => one.ahead_ns,
            (None, None) => 0,
        };
        (ns - ahead).max(0) as u64
    }
}

/// Writes a timeline. A file beside `path` is renamed, so that a full disk leaves an older file
/// whole. A path that is no regular file is written directly.
pub fn write(path: &Path, entries: Vec<Entry>, dropped: u64, clocks: &Clocks) -> io::Result<()> {
    let mut entries = entries;
    for entry in &mut entries {
        entry.began_ns = clocks.common(entry.machine, entry.began_ns);
        entry.ended_ns = clocks.common(entry.machine, entry.ended_ns);
    }
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return write_to(File::options().write(true).open(path)?, &entries, dropped);
    }
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut beside = place.clone().into_os_string();
    beside.push(format!(".unfinished-{}", std::process::id()));
    let written = File::create(&beside)
        .and_then(|file| write_to(file, &entries, dropped))
        .and_then(|()| std::fs::rename(&beside, &place));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

fn write_to(file: File, entries: &[Entry], dropped: u64) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    let head = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":";
    write!(out, "{head}{dropped}}},\"traceEvents\":[")?;
    let mut comma = "";
    for line in names(entries)
        .iter()
        .chain(&slices(entries))
        .chain(&arrows(entries))
    {
        write!(out, "{comma}\n{line}")?;
        comma = ",";
    }
    writeln!(out, "\n]}}")?;
    out.flush()
}

fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// Returns the names of machines and tracks.
fn names(entries: &[Entry]) -> Vec<String> {
    let mut found: BTreeMap<(Rank, u32), &str> = BTreeMap::new();
    for entry in entries {
        let place = (entry.machine, entry.track);
        let name = match entry.kind {
            EventKind::Execution | EventKind::Move => "copies of objects",
            EventKind::Process => &entry.name,
            _ => continue,
        };
        found.insert(place, name);
    }
    let mut lines = Vec::new();
    let line = |what: &str, pid, tid, name: &str| {
        let name = quoted(name);
        format!(
            "{{\"name\":\"{what}\",\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":{name}}}}}"
        )
    };
    let mut machines: Vec<Rank> = found.keys().map(|(machine, _)| *machine).collect();
    machines.dedup();
    for machine in machines {
        let name = format!("machine {machine}");
        lines.push(line("process_name", machine + 1, 0, &name));
    }
    for ((machine, track), name) in found {
        lines.push(line("thread_name", machine + 1, track, name));
    }
    lines
}

fn slices(entries: &[Entry]) -> Vec<String> {
    let line = |entry: &Entry| {
        let (name, category) = (quoted(&entry.name), category(entry.kind));
        let (pid, tid, at) = (entry.machine + 1, entry.track, micros(entry.began_ns));
        let rest = match entry.kind {
            EventKind::Move => "\"ph\":\"i\",\"s\":\"g\"".to_owned(),
            _ => {
                let took = entry.ended_ns.saturating_sub(entry.began_ns);
                format!("\"ph\":\"X\",\"dur\":{}", micros(took))
            }
        };
        format!(
            "{{\"name\":{name},\"cat\":\"{category}\",\"pid\":{pid},\"tid\":{tid},\"ts\":{at},{rest}}}"
        )
    };
    entries.iter().map(line).collect()
}

/// Returns an arrow from each call or write to each of its executions.
fn arrows(entries: &[Entry]) -> Vec<String> {
    let sent = entries
        .iter()
        .filter(|it| matches!(it.kind, EventKind::Call | EventKind::Write));
    let sent: BTreeMap<_, &Entry> = sent.filter_map(|it| Some((it.invocation?, it))).collect();
    let mut lines = Vec::new();
    for execution in entries.iter().filter(|it| it.kind == EventKind::Execution) {
        let Some(from) = execution.invocation.and_then(|it| sent.get(&it)) else {
            continue;
        };
        let id = lines.len() / 2;
        let category = category(from.kind);
        let end = |phase: &str, at: &Entry| {
            let (pid, tid, ts) = (at.machine + 1, at.track, micros(at.began_ns));
            format!(
                "{{\"name\":\"{category}\",\"cat\":\"{category}\",{phase},\"id\":{id},\"pid\":{pid},\"tid\":{tid},\"ts\":{ts}}}"
            )
        };
        lines.push(end("\"ph\":\"s\"", from));
        lines.push(end("\"ph\":\"f\",\"bp\":\"e\"", execution));
    }
    lines
}
