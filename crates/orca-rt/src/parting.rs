//! Reports at the end of a program: counts and the timeline, of all machines. After an error they
//! are those of the machines that still answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use antiphon_panda::{Error, Message, Session, thread};
use orca::{MachineStatistics, Orca};

use crate::errors::say;
use crate::settings::{self, Statistics};
use crate::start;
use crate::statistics;
use crate::timeline::{self, Clocks, Entry, Reading};

/// The counts in words, until the process ends.
static COUNTS: Mutex<String> = Mutex::new(String::new());

/// Whether a report could not be written.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// The service that gives the events of a machine, after its counts.
const TIMELINE: &str = "orca.timeline";

/// The longest wait for the reports of another machine after an error.
const ANSWER: Duration = Duration::from_secs(1);

/// Whether another machine has asked for the reports of this OS process.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// The reports of a machine.
type Reports = (MachineStatistics, Vec<Entry>, u64);

/// Returns whether anything is reported.
fn is_wanted() -> bool {
    let settings = settings::get();
    settings.statistics.is_some() || settings.trace.is_some()
}

/// Measures the clocks of the machines, if that is wanted and this is the first one.
pub fn clocks(session: &Session) -> Vec<Reading> {
    let is_wanted = settings::get().trace.is_some() && session.rank() == 0;
    let measured = is_wanted.then(|| timeline::clocks(session));
    // Without offsets each machine counts from its own beginning.
    measured.and_then(Result::ok).unwrap_or_default()
}

/// Brings the reports of all machines together at the first one. All machines call it.
pub fn collect(session: &Session, counts: MachineStatistics, begin: Vec<Reading>) {
    if !is_wanted() || are_given() {
        return;
    }
    let end = clocks(session);
    let (entries, dropped) = timeline::take(session.rank());
    let own = (counts, entries, dropped);
    let gather = || {
        let machines = session.everyone()?;
        let all = machines.gather(0, &own)?;
        // A machine that ended its session before the first one gathers would count as lost.
        machines.barrier()?;
        Ok(all)
    };
    match gather() {
        Ok(Some(all)) => keep(all, &Clocks { begin, end }),
        Ok(None) => {}
        Err(error) => {
            say_why(session, &error);
            keep(vec![own], &Clocks { begin, end });
        }
    }
}

fn say_why(session: &Session, error: &Error) {
    let machine = session.rank();
    say(&format!(
        "orca: the reports of machine {machine} are not those of all machines: {error}"
    ));
}

/// Gives the events of this machine to another one, which an error ends.
pub fn serve(session: &Session) {
    if !is_wanted() {
        return;
    }
    let machine = session.rank();
    let served = session.serve(TIMELINE, move |call| {
        if let Ok(events) = Message::of(&timeline::take(machine)) {
            call.reply.send(events);
        }
        IS_ASKED.store(true, Ordering::Release);
    });
    if let Err(error) = served {
        say_why(session, &error);
    }
}

/// Returns whether another machine has the reports of this OS process, and writes them.
fn are_given() -> bool {
    IS_ASKED.load(Ordering::Acquire)
}

/// Waits until another machine, which reports the error, has the reports of this OS process.
pub fn wait_to_be_asked() {
    const STEP: Duration = Duration::from_millis(10);
    let mut left = ANSWER;
    while is_wanted() && !left.is_zero() && !are_given() {
        thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
}

/// Keeps the reports of this machine and of those that answer, because an error ends the program.
pub fn collect_now(orca: &Orca) {
    if !is_wanted() || are_given() {
        return;
    }
    let own = orca.machine();
    let mut end = Vec::new();
    let mut all = Vec::new();
    let mut silent = Vec::new();
    for machine in 0..start::machines() {
        if machine == own {
            let (entries, dropped) = timeline::take(own);
            all.push((orca.machine_statistics(), entries, dropped));
            end.extend(timeline::clock(orca.session(), own));
            continue;
        }
        match reports_of(orca, machine) {
            Ok(reports) => {
                end.extend(timeline::clock(orca.session(), machine));
                all.push(reports);
            }
            Err(_) => silent.push(machine.to_string()),
        }
    }
    if !silent.is_empty() {
        let silent = silent.join(", ");
        say(&format!(
            "orca: the reports lack those of machines {silent}"
        ));
    }
    // Clocks are found by their places.
    let are_known = end.len() == start::machines() as usize;
    let end = if are_known { end } else { Vec::new() };
    let begin = Vec::new();
    keep(all, &Clocks { begin, end });
}

fn reports_of(orca: &Orca, machine: u32) -> Result<Reports, orca::Error> {
    let counts = orca.statistics_of(machine, ANSWER)?;
    let session = orca.session();
    let events = session.call(machine, TIMELINE, Message::new(), Some(ANSWER))?;
    let (entries, dropped) = events.value()?;
    Ok((counts, entries, dropped))
}

fn keep(all: Vec<Reports>, clocks: &Clocks) {
    let (mut machines, mut entries, mut dropped) = (Vec::new(), Vec::new(), 0);
    for (counts, events, lost) in all {
        machines.push(counts);
        entries.extend(events);
        dropped += lost;
    }
    let text = match settings::get().statistics {
        None => String::new(),
        Some(Statistics::Text) => statistics::text(&machines),
        Some(Statistics::Json) => statistics::json(&machines),
    };
    *COUNTS.lock().unwrap_or_else(|it| it.into_inner()) = text;
    let Some(path) = &settings::get().trace else {
        return;
    };
    let shown = path.display();
    if let Err(error) = timeline::write(path, entries, dropped, clocks) {
        say(&format!("{shown}: the timeline was not written: {error}"));
        IS_LOST.store(true, Ordering::Relaxed);
    } else if dropped > 0 {
        say(&format!(
            "{shown}: the timeline has the last events; {dropped} came before"
        ));
    }
}

/// Writes the counts to standard error. Returns whether all reports reached their places.
pub fn say_all() -> bool {
    let counts = std::mem::take(&mut *COUNTS.lock().unwrap_or_else(|it| it.into_inner()));
    if !counts.is_empty() {
        say(counts.trim_end());
    }
    !IS_LOST.load(Ordering::Relaxed)
}
