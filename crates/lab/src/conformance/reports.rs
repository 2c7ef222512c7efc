//! Thread reports: their threads, their number, and the placement of every thread.

use super::frames::{batch, wanted};
use super::probe::{Probe, arg};
use crate::machine::allowed_processors;
use crate::protocol::{Data, TestInfo, TestKind, encode};
use crate::session::Answer;
use antiphon_measure::{Placement, ThreadReport};

type Seen = Result<String, String>;

/// The operations of a latency request here.
const OPERATIONS: usize = 3;

/// Returns the thread reports of an answer.
pub(super) fn of(answer: &Answer) -> Vec<ThreadReport> {
    let reports = answer.data.iter().filter_map(|data| match data {
        Data::Thread(report) => Some(report.clone()),
        _ => None,
    });
    reports.collect()
}

/// Counts the reports of the main thread, or of its partners.
fn count(threads: &[ThreadReport], main: bool) -> u64 {
    let wanted = threads
        .iter()
        .filter(|thread| (thread.role == "main") == main);
    wanted.map(|thread| thread.count).sum()
}

/// Checks that threads report before and after the timed part: the main thread, and a partner if
/// there are any.
fn twice(what: &str, threads: &[ThreadReport], with_partner: bool) -> Seen {
    let times = |main: bool| match count(threads, main) {
        few @ 0..2 => Err(format!(
            "{what}: {} reports {few} times; it is due before what is timed and after it",
            if main { "role=main" } else { "a partner" },
        )),
        enough => Ok(enough),
    };
    let main = times(true)?;
    if !with_partner {
        return Ok(format!("{what}: main {main} times"));
    }
    let partner = times(false)?;
    Ok(format!(
        "{what}: main {main} times, partner {partner} times"
    ))
}

/// Checks that every thread of a test has reported.
pub(super) fn all(test: &TestInfo, threads: &[ThreadReport]) -> Result<(), String> {
    match (count(threads, true), count(threads, false)) {
        (0, _) => Err("the main thread does not report".into()),
        (_, 0) if test.threads > 1 => Err("no partner thread reports".into()),
        _ => Ok(()),
    }
}

pub(super) fn batches(probe: &mut Probe<'_>) -> Seen {
    let (_, alone) = batch(probe, "self.same", &wanted(10, 1, 0), "")?;
    twice("self.same", &alone, false)?;
    let (_, both) = batch(probe, "self.handoff", &wanted(10, 1, 0), "")?;
    twice("self.handoff", &both, true)
}

pub(super) fn clocks(probe: &mut Probe<'_>) -> Seen {
    let clock = encode(&probe.hello()?.clock);
    let requests = [
        format!("clock {clock} 10"),
        format!("gaps {clock} time=1000000 over=1000000"),
    ];
    for request in &requests {
        twice(&format!("`{request}`"), &of(&probe.ask(request)?), false)?;
    }
    Ok(format!(
        "the main thread, in `{}`",
        requests.join("` and `")
    ))
}

pub(super) fn latencies(probe: &mut Probe<'_>) -> Seen {
    let Some(test) = partnered(probe)? else {
        return Ok("it lists no latency test".into());
    };
    let answer = probe.ask(&latency(&test))?;
    twice(&test.name, &of(&answer), test.threads > 1)
}

pub(super) fn series(probe: &mut Probe<'_>) -> Seen {
    let Some(test) = probe.first_of(TestKind::Series)? else {
        return Ok("it lists no series".into());
    };
    let answer = probe.ask(&format!("series {} count=5{}", test.name, arg(&test)))?;
    twice(&test.name, &of(&answer), test.threads > 1)
}

fn latency(test: &TestInfo) -> String {
    let arg = arg(test);
    format!("latency {} count={OPERATIONS} interval=0{arg}", test.name)
}

/// Returns a latency test, preferably one with partner threads.
fn partnered(probe: &mut Probe<'_>) -> Result<Option<TestInfo>, String> {
    let mut tests = probe.list()?.tests;
    tests.retain(|test| test.kind == TestKind::Latency && test.absent.is_none());
    let partnered = tests.iter().position(|test| test.threads > 1);
    Ok(match tests.is_empty() {
        true => None,
        false => Some(tests.swap_remove(partnered.unwrap_or(0))),
    })
}

// --- Placement -----------------------------------------------------------------------------------

pub(super) fn placement_same(probe: &mut Probe<'_>) -> Seen {
    let processors = allowed_processors();
    let Some(&processor) = processors.last() else {
        return Ok("the system does not tell which processors may be used".into());
    };
    let tests = placed(
        probe,
        Placement::Same {
            processor: processor as u32,
        },
    )?;
    Ok(format!(
        "every thread of {tests} kept to processor {processor}"
    ))
}

pub(super) fn placement_across(probe: &mut Probe<'_>) -> Seen {
    let processors = allowed_processors();
    let [partner, .., main] = processors.as_slice() else {
        return Ok("not checked: there is only one processor".into());
    };
    // The main thread not on the first one, where it may be by chance.
    let placement = Placement::Across {
        main: *main as u32,
        partner: *partner as u32,
    };
    let tests = placed(probe, placement)?;
    Ok(format!(
        "the main thread of {tests} kept to processor {main}, its partners to {partner}"
    ))
}

/// Checks that the threads of each test kept to a placement.
fn placed(probe: &mut Probe<'_>, placement: Placement) -> Seen {
    probe.restart_placed(placement)?;
    let kept = in_place(probe, placement);
    probe.restart()?; // the rules that follow are checked under the caller's placement
    kept
}

fn in_place(probe: &mut Probe<'_>, placement: Placement) -> Seen {
    let main = placement.processor("main");
    let (slices, threads) = batch(probe, "self.handoff", &wanted(20, 3, 0), "")?;
    let astray = slices
        .iter()
        .find_map(|slice| slice.processor.filter(|own| Some(*own) != main));
    if let (Some(own), Some(main)) = (astray, main) {
        return Err(format!(
            "a slice of self.handoff ended on processor {own}, where {main} was due"
        ));
    }
    if count(&threads, false) == 0 {
        return Err("self.handoff: no partner reports where it is".into());
    }
    each("self.handoff", &threads, placement)?;
    let Some(test) = partnered(probe)? else {
        return Ok("self.handoff".into());
    };
    each(&test.name, &of(&probe.ask(&latency(&test))?), placement)?;
    Ok(format!("self.handoff and {}", test.name))
}

/// Checks that each reporting thread ran on the processor of its role.
fn each(test: &str, threads: &[ThreadReport], placement: Placement) -> Result<(), String> {
    for thread in threads {
        let Some(due) = placement.processor(&thread.role) else {
            continue;
        };
        if thread.processor != due || thread.allowed != due.to_string() {
            return Err(format!(
                "{test}: role={} is on processor {} and allowed on {}, where {due} was due",
                thread.role, thread.processor, thread.allowed
            ));
        }
    }
    Ok(())
}
