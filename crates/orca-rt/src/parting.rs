//! Reports at the end of a program: counts and the timeline, of all machines.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use antiphon_panda::{Error, Session};
use orca::{MachineStatistics, Orca};

use crate::errors::say;
use crate::settings::{self, Statistics};
use crate::statistics;
use crate::timeline::{self, Clocks, Entry, Reading};

/// The counts in words, until the process ends.
static COUNTS: Mutex<String> = Mutex::new(String::new());

/// Whether a report could not be written.
static IS_LOST: AtomicBool = AtomicBool::new(false);

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
    if !is_wanted() {
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

/// Keeps the reports of this OS process alone, because an error ends it.
pub fn collect_own(orca: &Orca) {
    if is_wanted() {
        let (entries, dropped) = timeline::take(orca.machine());
        let none = || Clocks {
            begin: Vec::new(),
            end: Vec::new(),
        };
        keep(vec![(orca.machine_statistics(), entries, dropped)], &none());
    }
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
