//! The timeline over all machines: turns of processes, and an arrow for each message of work.
//!
//! Each machine notes its turns and the ends of messages by the clock of its own run. At its end it
//! sends them to the first machine. That one has measured how far the other clocks are ahead, at the
//! beginning and at the end of each machine, and writes all by its own clock.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use antiphon_fiber::{Fibers, Many, One, Threads};
use antiphon_panda::ClockOffset;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::letters::Letter;
use super::own;
use super::session::Link;
use crate::flavour::Flavour;
use crate::options;
use crate::trace::{self, List, Turn, micros};

/// Turns in one message.
const TURNS: usize = 4096;

/// How long measurements of clocks may take at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// An end of a message, at its sender or at its receiver.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct End {
    /// The message: its sender, and its number there.
    from: u32,
    number: u32,
    is_receipt: bool,
    /// The place of the message's kind among the names.
    name: u32,
    process: u64,
    at_ns: u64,
}

/// A part of a machine's timeline.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Piece {
    names: Vec<String>,
    /// Turns, each with the place of its name.
    turns: Vec<(u32, Turn)>,
    ends: Vec<End>,
    /// How far the session's clock is ahead of the run's.
    ahead_ns: i64,
    /// Turns before the first that was kept.
    dropped: u64,
}

/// The ends of messages at this machine that are kept.
static ENDS: Mutex<VecDeque<(&'static str, End)>> = Mutex::new(VecDeque::new());

/// Pieces of other machines, and the turns in them.
static PIECES: Mutex<(VecDeque<(u32, Piece)>, usize)> = Mutex::new((VecDeque::new(), 0));

/// Turns of other machines that were not kept.
static DROPPED: Mutex<u64> = Mutex::new(0);

/// The offsets of other machines' clocks, as they were measured.
static OFFSETS: Mutex<BTreeMap<u32, Vec<ClockOffset>>> = Mutex::new(BTreeMap::new());

/// How far the session's clock is ahead of the run's, in nanoseconds.
static AHEAD: OnceLock<i64> = OnceLock::new();

/// Returns whether the program has a timeline.
pub fn is_wanted() -> bool {
    options::get().trace.is_some()
}

/// Compares the clocks of the run and of the session. Called by a process.
pub fn begin<S: Flavour>(link: &Link) {
    let before = Fibers::<S>::now();
    let clock = link.session.clock();
    let middle = before + (Fibers::<S>::now() - before) / 2;
    let _ = AHEAD.set(clock.as_nanos() as i64 - middle.as_nanos() as i64);
}

/// Notes that a process sends a message of a kind, and returns the message's number: 0 if there is
/// no timeline.
pub fn note_sent(kind: &'static str) -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    if !is_wanted() {
        return 0;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    note(kind, own(), number, false);
    number
}

/// Notes that the calling process handles a message.
pub fn note_handled(kind: &'static str, from: u32, number: u32) {
    if is_wanted() {
        note(kind, from, number, true);
    }
}

fn note(kind: &'static str, from: u32, number: u32, is_receipt: bool) {
    fn now<S: Flavour>() -> Option<(u64, u64)> {
        if !Fibers::<S>::is_caller() {
            return None;
        }
        let this = S::this();
        if this.is_null() {
            return None;
        }
        // SAFETY: the caller's own descriptor.
        let process = unsafe { (*this).number };
        Some((process, Fibers::<S>::now().as_nanos() as u64))
    }
    let now = match options::is_many() {
        true => now::<Many>(),
        false => now::<One>(),
    };
    let Some((process, at_ns)) = now else { return };
    let end = End {
        from,
        number,
        is_receipt,
        name: 0,
        process,
        at_ns,
    };
    let mut ends = ENDS.lock();
    if ends.len() >= options::get().trace_turns {
        ends.pop_front();
    }
    ends.push_back((kind, end));
}

/// Measures the clocks of machines, on an OS thread that may wait.
pub fn measure(link: &Link, machines: &[u32]) {
    for &machine in machines.iter().filter(|_| is_wanted()) {
        if let Ok(offset) = link.session.clock_offset(machine) {
            OFFSETS.lock().entry(machine).or_default().push(offset);
        }
    }
}

/// Measures the clocks of machines that are about to end, for a limited time. One that is stopped
/// does not answer.
pub fn measure_last(link: &'static Link, machines: &[u32]) {
    if !is_wanted() || machines.is_empty() {
        return;
    }
    let machines = machines.to_vec();
    let (done, is_done) = std::sync::mpsc::channel();
    let measuring = std::thread::Builder::new().spawn(move || {
        measure(link, &machines);
        let _ = done.send(());
    });
    if measuring.is_ok() {
        let _ = is_done.recv_timeout(PATIENCE);
    }
}

/// Numbers names.
#[derive(Default)]
struct Names {
    list: Vec<String>,
    places: HashMap<String, u32>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.list.len() as u32;
        self.list.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

/// Returns this machine's timeline, in pieces.
fn pieces() -> Vec<Piece> {
    let (turns, dropped) = trace::kept();
    let ends: Vec<_> = ENDS.lock().iter().copied().collect();
    let mut pieces = Vec::new();
    let piece = |names: Names, turns: Vec<(u32, Turn)>, ends: Vec<End>| Piece {
        names: names.list,
        turns,
        ends,
        ahead_ns: AHEAD.get().copied().unwrap_or_default(),
        dropped: 0,
    };
    for some in turns.chunks(TURNS) {
        let mut names = Names::default();
        let turns = some.iter().map(|(name, turn)| (names.place(name), *turn));
        let turns = turns.collect();
        pieces.push(piece(names, turns, Vec::new()));
    }
    for some in ends.chunks(TURNS) {
        let mut names = Names::default();
        let named = |(kind, end): &(&str, End)| End {
            name: names.place(kind),
            ..*end
        };
        let ends = some.iter().map(named).collect();
        pieces.push(piece(names, Vec::new(), ends));
    }
    if let Some(first) = pieces.first_mut() {
        first.dropped = dropped;
    }
    pieces
}

/// Sends this machine's timeline to the first machine.
pub fn send(link: &Link) {
    if !is_wanted() {
        return;
    }
    for piece in pieces() {
        let body = postcard::to_stdvec(&piece).unwrap_or_default();
        let _ = link.post(0, &Letter::Timeline, body);
    }
}

/// Takes a piece of another machine's timeline. The last turns of all other machines are kept, as
/// many as of this one.
pub fn take(from: u32, body: &[u8]) {
    let Ok(piece) = postcard::from_bytes::<Piece>(body) else {
        return;
    };
    *DROPPED.lock() += piece.dropped;
    let mut pieces = PIECES.lock();
    pieces.1 += piece.turns.len();
    pieces.0.push_back((from, piece));
    while pieces.1 > options::get().trace_turns {
        let has_turns = |(_, piece): &(u32, Piece)| !piece.turns.is_empty();
        let Some(first) = pieces.0.iter().position(has_turns) else {
            break;
        };
        let count = pieces.0.remove(first).map_or(0, |it| it.1.turns.len());
        pieces.1 -= count;
        *DROPPED.lock() += count as u64;
    }
}

/// Returns how many turns of other machines were not kept.
pub fn turns_dropped() -> u64 {
    *DROPPED.lock()
}

/// Returns the members of the file's `otherData` about other machines.
pub fn other_data() -> String {
    let offsets = OFFSETS.lock();
    if offsets.is_empty() {
        return String::new();
    }
    let of_machine = |(machine, measured): (&u32, &Vec<ClockOffset>)| {
        let uncertainty_ns = measured.iter().map(|it| it.uncertainty_ns).max();
        let offset_ns = measured.first().map_or(0, |it| it.offset_ns);
        format!(
            "{{\"machine\":{},\"clock_offset_ns\":{offset_ns},\"uncertainty_ns\":{}}}",
            machine + 1,
            uncertainty_ns.unwrap_or_default()
        )
    };
    let machines: Vec<String> = offsets.iter().map(of_machine).collect();
    format!(",\"machines\":[{}]", machines.join(","))
}

/// Returns how far a clock is ahead when it shows a time, from its measured offsets. Between two
/// measurements it drifts evenly.
fn offset_at(measured: &[ClockOffset], shown_ns: i64) -> Option<i64> {
    let (first, last) = (measured.first()?, measured.last()?);
    let (begin, end) = (nanos(first.measured_at), nanos(last.measured_at));
    let at = (shown_ns - first.offset_ns).clamp(begin, end.max(begin));
    let drift = i128::from(last.offset_ns - first.offset_ns);
    let drifted = match end - begin {
        0 => 0,
        time => drift * i128::from(at - begin) / i128::from(time),
    };
    Some(first.offset_ns + drifted as i64)
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// Converts a time of another machine's run into one of this machine's run.
fn here(measured: &[ClockOffset], ahead_ns: i64, time_ns: u64) -> Option<u64> {
    let shown_ns = ahead_ns + time_ns as i64;
    let by_this_ns = shown_ns - offset_at(measured, shown_ns)?;
    let time_ns = by_this_ns - AHEAD.get()?;
    Some(time_ns.max(0) as u64)
}

/// An end of a message by this machine's clock.
struct Placed {
    machine: u32,
    process: u64,
    at_ns: u64,
}

/// Ends of a message: those at its sender and at its receiver.
#[derive(Default)]
struct Arrow {
    kind: String,
    sent: Option<Placed>,
    handled: Option<Placed>,
}

/// Writes the turns of other machines, the machines' names, and the arrows of which both ends were
/// kept.
pub fn write_timelines<W: Write>(list: &mut List<W>) -> io::Result<()> {
    if !super::is_joined() {
        return Ok(());
    }
    let pieces = PIECES.lock();
    let offsets = OFFSETS.lock();
    let mut arrows: BTreeMap<(u32, u32), Arrow> = BTreeMap::new();
    for (kind, end) in ENDS.lock().iter() {
        let placed = Placed {
            machine: own(),
            process: end.process,
            at_ns: end.at_ns,
        };
        add(&mut arrows, kind, end, placed);
    }
    for (machine, piece) in &pieces.0 {
        let Some(measured) = offsets.get(machine) else {
            continue;
        };
        let here = |time_ns| here(measured, piece.ahead_ns, time_ns).unwrap_or_default();
        let name = |place: u32| piece.names.get(place as usize).map_or("", String::as_str);
        for (place, turn) in &piece.turns {
            let turn = Turn {
                began_ns: here(turn.began_ns),
                ended_ns: here(turn.ended_ns),
                ..*turn
            };
            list.turn(machine + 1, name(*place), &turn)?;
        }
        for end in &piece.ends {
            let placed = Placed {
                machine: *machine,
                process: end.process,
                at_ns: here(end.at_ns),
            };
            add(&mut arrows, name(end.name), end, placed);
        }
    }
    for machine in std::iter::once(0).chain(offsets.keys().copied()) {
        let number = machine + 1;
        list.event(format_args!(
            "\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{number},\"args\":{{\"name\":\"virtual machine {number}\"}}"
        ))?;
    }
    for ((from, number), arrow) in &arrows {
        if let (Some(sent), Some(handled)) = (&arrow.sent, &arrow.handled) {
            let id = format!("{}.{number}", from + 1);
            write_end(list, &arrow.kind, "\"ph\":\"s\"", &id, sent)?;
            write_end(list, &arrow.kind, "\"ph\":\"f\",\"bp\":\"e\"", &id, handled)?;
        }
    }
    Ok(())
}

fn add(arrows: &mut BTreeMap<(u32, u32), Arrow>, kind: &str, end: &End, placed: Placed) {
    let arrow = arrows.entry((end.from, end.number)).or_default();
    match end.is_receipt {
        true => arrow.handled = Some(placed),
        false => {
            arrow.kind = kind.to_owned();
            arrow.sent = Some(placed);
        }
    }
}

fn write_end<W: Write>(
    list: &mut List<W>,
    kind: &str,
    phase: &str,
    id: &str,
    end: &Placed,
) -> io::Result<()> {
    let (machine, process, at) = (end.machine + 1, end.process, micros(end.at_ns));
    list.event(format_args!(
        "\"name\":\"{kind}\",\"cat\":\"message\",{phase},\"id\":\"{id}\",\"pid\":{machine},\"tid\":{process},\"ts\":{at}"
    ))
}
