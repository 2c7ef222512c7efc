//! Requests that give a sequence of times: readings of a clock, its gaps, latencies, series.

use crate::answer::{Answer, Refusal};
use crate::batches::argument;
use crate::clocks::{CLOCKS, Clock, GapLoop, now_ns};
use crate::request::{Request, number};
use crate::slices::{Timer, caught};
use crate::system::sleep_until;
use crate::test::{Body, Failure, Operation, Sample, Test, Turn, Turns};
use crate::threads::{ThreadReport, report_thread, start_reporting, stop_reporting, take_reports};

const READINGS_MOST: u64 = 1_000_000;

// --- Clocks ----------------------------------------------------------------------------------------------------------------

fn clock_of(name: &str) -> Result<&'static Clock, Refusal> {
    let found = CLOCKS.iter().find(|clock| clock.name == name);
    found.ok_or_else(|| Refusal {
        code: "unknown-clock",
        text: format!("{name}; `list` names the clocks"),
    })
}

fn report_main() {
    report_thread(ThreadReport::of_this_thread("main"));
}

pub(crate) fn clock(request: &Request<'_>) -> Result<Answer, Refusal> {
    let [name, count] = request.words("clock NAME COUNT")?;
    let clock = clock_of(name)?;
    let count = number("COUNT", count, 1, READINGS_MOST)?;
    let mut readings = vec![u64::MAX; count as usize];
    take_reports();
    report_main();
    (clock.fill)(&mut readings);
    report_main();
    let mut answer = Answer::default();
    answer.readings(&readings);
    answer.threads(&take_reports());
    Ok(answer)
}

pub(crate) fn gaps(request: &Request<'_>, timer: &Timer) -> Result<Answer, Refusal> {
    let [name] = request.words("gaps NAME time=NS over=D")?;
    let clock = clock_of(name)?;
    let time_ns = request.number("time", 1_000_000, 60_000_000_000)?;
    let over = request.number("over", 0, i64::MAX as u64)?;
    let mut gap_loop = GapLoop::new(over as i64, time_ns);
    take_reports();
    report_main();
    let before = timer.wait_ns();
    (clock.watch)(&mut gap_loop);
    let after = timer.wait_ns();
    report_main();
    let mut answer = Answer::default();
    for (start, duration) in &gap_loop.kept {
        answer.line(format_args!("gap {start} {duration}"));
    }
    let wait = after.zip(before);
    let wait = wait.map_or("-".to_owned(), |(after, before)| {
        (after - before).to_string()
    });
    answer.line(format_args!(
        "loop readings={} elapsed={} wait={wait} gaps={} lost={}",
        gap_loop.readings, gap_loop.elapsed, gap_loop.gaps, gap_loop.lost
    ));
    answer.threads(&take_reports());
    Ok(answer)
}

// --- Latency ---------------------------------------------------------------------------------------------------------------

/// Sleep ends late, so the last of the waiting is spent looking at the clock.
const SPIN_NS: u64 = 150_000;

fn wait_until(moment_ns: u64) {
    if moment_ns > now_ns() + SPIN_NS {
        sleep_until(moment_ns - SPIN_NS);
    }
    while now_ns() < moment_ns {
        std::hint::spin_loop();
    }
}

type Operations = Vec<(u64, Sample)>;

fn operate(
    operation: &mut dyn Operation,
    operations: &mut Operations,
    interval_ns: u64,
) -> Result<(), Failure> {
    operation.operate()?;
    operation.report()?.into_iter().for_each(report_thread);
    stop_reporting();
    let first_ns = now_ns();
    for (index, (intended_ns, sample)) in operations.iter_mut().enumerate() {
        if interval_ns > 0 {
            *intended_ns = first_ns + index as u64 * interval_ns;
            wait_until(*intended_ns);
        } else {
            *intended_ns = now_ns();
        }
        *sample = operation.operate()?;
    }
    start_reporting();
    operation.operate()?;
    operation.report()?.into_iter().for_each(report_thread);
    Ok(())
}

pub(crate) fn latency(test: &Test, request: &Request<'_>) -> Result<Answer, Refusal> {
    let Body::Latency(prepare) = &test.body else {
        return Err(other_kind(test, "latency"));
    };
    let [_] = request.words("latency NAME count=C interval=T [arg=A]")?;
    let arg = argument(test, request)?;
    let count = request.number("count", 1, READINGS_MOST)?;
    let interval_ns = request.number("interval", 0, 1_000_000_000_000)?;
    let touched = Sample {
        actual_ns: u64::MAX,
        end_ns: u64::MAX,
    };
    let mut operations = vec![(u64::MAX, touched); count as usize];
    take_reports();
    start_reporting();
    let outcome = caught(|| operate(&mut *prepare(arg)?, &mut operations, interval_ns));
    stop_reporting();
    outcome.map_err(|Failure(why)| Refusal::failed(why))?;
    let mut answer = Answer::default();
    for (intended_ns, sample) in &operations {
        let Sample { actual_ns, end_ns } = sample;
        answer.line(format_args!("sample {intended_ns} {actual_ns} {end_ns}"));
    }
    answer.threads(&take_reports());
    Ok(answer)
}

// --- Series ----------------------------------------------------------------------------------------------------------------

/// Turns until all are done or the system refuses, in which case its words are given; one reading before them and one after each.
fn turns(turns: &mut dyn Turns, readings: &mut [u64]) -> Result<(usize, Option<String>), Failure> {
    let Some((first, after)) = readings.split_first_mut() else {
        return Ok((0, None));
    };
    *first = now_ns();
    for (done, reading) in after.iter_mut().enumerate() {
        match turns.turn(done as u64 + 1)? {
            Turn::Done => *reading = now_ns(),
            Turn::Exhausted(text) => return Ok((done, Some(text))),
        }
    }
    Ok((after.len(), None))
}

pub(crate) fn series(test: &Test, request: &Request<'_>) -> Result<Answer, Refusal> {
    let Body::Series(prepare) = &test.body else {
        return Err(other_kind(test, "series"));
    };
    let [_] = request.words("series NAME count=C [arg=A]")?;
    let arg = argument(test, request)?;
    let count = request.number("count", 1, READINGS_MOST)?;
    let mut readings = vec![u64::MAX; count as usize + 1];
    take_reports();
    report_main();
    let outcome = caught(|| turns(&mut *prepare(arg)?, &mut readings));
    report_main(); // when there is storage again
    let (completed, exhausted) = outcome.map_err(|Failure(why)| Refusal::failed(why))?;
    let mut answer = Answer::default();
    answer.readings(&readings[..=completed]);
    match exhausted {
        None => answer.line(format_args!("outcome completed={completed} end=count")),
        Some(text) => answer.line(format_args!(
            "outcome completed={completed} end=exhausted text={}",
            crate::answer::encode(&text)
        )),
    }
    answer.threads(&take_reports());
    Ok(answer)
}

pub(crate) fn other_kind(test: &Test, wanted: &str) -> Refusal {
    let kind = test.body.kind();
    Refusal::bad_argument(format!(
        "{} is a {kind} test, not a {wanted} test",
        test.name
    ))
}
