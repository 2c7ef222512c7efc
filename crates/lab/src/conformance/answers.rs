//! Greeting, listing, clocks, latency, series, usage; and that every listed test runs.

use super::probe::{Probe, arg, shown};
use super::{frames, reports};
use crate::protocol::{ClockUnit, Data, TestInfo, TestKind, VERSION, encode};
use antiphon_measure::{LatencySample, ThreadReport};
use std::collections::HashSet;

type Seen = Result<String, String>;

pub(super) fn hello(probe: &mut Probe<'_>) -> Seen {
    let hello = probe.hello()?;
    if hello.protocol != VERSION {
        return Err(format!("it says protocol={}", hello.protocol));
    }
    Ok(format!(
        "language {}, kit {}, clock {}",
        hello.language, hello.kit, hello.clock
    ))
}

pub(super) fn list(probe: &mut Probe<'_>) -> Seen {
    let listed = probe.list()?;
    let mut seen = HashSet::new();
    let tests = listed.tests.iter().map(|test| ("test", test.name.as_str()));
    let clocks = listed
        .clocks
        .iter()
        .map(|clock| ("clock", clock.name.as_str()));
    for (kind, name) in tests.chain(clocks) {
        if !seen.insert((kind, name)) {
            return Err(format!("the {kind} `{name}` is listed twice"));
        }
    }
    if listed.tests.is_empty() {
        return Err("it lists no test".into());
    }
    Ok(format!(
        "{} tests, {} clocks",
        listed.tests.len(),
        listed.clocks.len()
    ))
}

pub(super) fn own_tests(probe: &mut Probe<'_>) -> Seen {
    let listed = probe.list()?;
    for name in ["self.same", "self.dearer", "self.handoff"] {
        let Some(test) = listed.tests.iter().find(|test| test.name == name) else {
            return Err(format!("`{name}` is not listed"));
        };
        if test.kind != TestKind::Frame || test.absent.is_some() {
            return Err(match &test.absent {
                Some(why) => format!("`{name}` is listed as absent: {why}"),
                None => format!("`{name}` is listed as another kind than frame"),
            });
        }
    }
    Ok("self.same, self.dearer and self.handoff are listed".into())
}

pub(super) fn own_clock(probe: &mut Probe<'_>) -> Seen {
    let name = probe.hello()?.clock;
    let clocks = probe.list()?.clocks;
    match clocks.iter().find(|clock| clock.name == name) {
        Some(clock) if clock.unit == ClockUnit::Nanoseconds => Ok(format!("`{name}` is listed")),
        Some(_) => Err(format!("`{name}` is listed with another unit than ns")),
        None => Err(format!(
            "`hello` names the clock `{name}`, which is not listed"
        )),
    }
}

fn readings(probe: &mut Probe<'_>, name: &str, count: usize) -> Result<Vec<i64>, String> {
    let answer = probe.ask(&format!("clock {} {count}", encode(name)))?;
    let mut readings = Vec::new();
    for (index, data) in answer.data.iter().enumerate() {
        match data {
            Data::Readings(line) => readings.extend_from_slice(line),
            Data::Thread(_) => {}
            _ => {
                return Err(format!(
                    "`{}` does not belong here",
                    answer.data_line(index)
                ));
            }
        }
    }
    if readings.len() != count {
        return Err(format!(
            "{} readings of `{name}` instead of {count}",
            readings.len()
        ));
    }
    Ok(readings)
}

pub(super) fn clock(probe: &mut Probe<'_>) -> Seen {
    let listed = probe.list()?;
    let mut seen = Vec::new();
    for clock in &listed.clocks {
        for count in [1, 10_000] {
            readings(probe, &clock.name, count)?;
        }
        seen.push(format!("`{}`", clock.name));
    }
    Ok(match seen.as_slice() {
        [] => "it lists no clock".into(),
        _ => format!("1 and 10000 readings each of {}", seen.join(", ")),
    })
}

pub(super) fn monotonic(probe: &mut Probe<'_>) -> Seen {
    let (slices, _) =
        probe.batch("batch self.same iterations=100 blocks=20 reference=100 warmup=10")?;
    for pair in slices.windows(2) {
        let end = pair[0].start_ns.saturating_add(pair[0].elapsed_ns);
        if pair[1].start_ns < end {
            return Err(format!(
                "a slice starts at {} ns, before the one before it ended at {end} ns",
                pair[1].start_ns
            ));
        }
    }
    let clock = probe.hello()?.clock;
    if probe.list()?.clocks.iter().any(|known| known.name == clock) {
        let readings = readings(probe, &clock, 100_000)?;
        if let Some(pair) = readings.windows(2).find(|pair| pair[1] < pair[0]) {
            return Err(format!(
                "`{clock}` goes back from {} to {}",
                pair[0], pair[1]
            ));
        }
    }
    Ok(format!("`{clock}` never went back"))
}

pub(super) fn latency(probe: &mut Probe<'_>) -> Seen {
    const COUNT: usize = 20;
    const INTERVAL_NS: u64 = 100_000;
    let Some(test) = probe.first_of(TestKind::Latency)? else {
        return Ok("it lists no latency test".into());
    };
    for interval_ns in [0, INTERVAL_NS] {
        let name = &test.name;
        let arg = arg(&test);
        let request = format!("latency {name} count={COUNT} interval={interval_ns}{arg}");
        let (samples, _) = samples(probe, &request, COUNT)?;
        let spaced = |pair: &[LatencySample]| {
            pair[1].intended_ns == pair[0].intended_ns.saturating_add(interval_ns)
        };
        if interval_ns > 0 && !samples.windows(2).all(spaced) {
            return Err(format!(
                "`{request}`: intended starts are not {interval_ns} ns apart"
            ));
        }
        if let Some(early) = samples
            .iter()
            .find(|sample| sample.actual_ns < sample.intended_ns)
        {
            return Err(format!(
                "`{request}`: it started before it was meant to: {}",
                in_words(early)
            ));
        }
    }
    Ok(format!(
        "`{}`: {COUNT} samples back to back, and as many {} µs apart",
        test.name,
        INTERVAL_NS / 1000
    ))
}

fn samples(
    probe: &mut Probe<'_>,
    request: &str,
    count: usize,
) -> Result<(Vec<LatencySample>, Vec<ThreadReport>), String> {
    let answer = probe.ask(request)?;
    let threads = reports::of(&answer);
    let samples: Vec<LatencySample> = answer
        .data
        .iter()
        .filter_map(|data| match data {
            Data::Sample(sample) => Some(*sample),
            _ => None,
        })
        .collect();
    if samples.len() != count || answer.data.len() != count + threads.len() {
        return Err(format!("`{request}` is answered with {}", shown(&answer)));
    }
    match samples
        .iter()
        .find(|sample| sample.end_ns < sample.actual_ns)
    {
        Some(sample) => Err(format!(
            "`{request}`: an operation ended before it started: {}",
            in_words(sample)
        )),
        None => Ok((samples, threads)),
    }
}

fn in_words(sample: &LatencySample) -> String {
    let LatencySample {
        intended_ns,
        actual_ns,
        end_ns,
    } = sample;
    format!("meant for {intended_ns} ns, started at {actual_ns} ns, ended at {end_ns} ns")
}

pub(super) fn series(probe: &mut Probe<'_>) -> Seen {
    match probe.first_of(TestKind::Series)? {
        None => Ok("it lists no series".into()),
        Some(test) => series_of(probe, &test).map(|(seen, _)| seen),
    }
}

fn series_of(
    probe: &mut Probe<'_>,
    test: &TestInfo,
) -> Result<(String, Vec<ThreadReport>), String> {
    const COUNT: u64 = 50;
    let request = format!("series {} count={COUNT}{}", test.name, arg(test));
    let answer = probe.ask(&request)?;
    let (mut readings, mut outcomes) = (0, Vec::new());
    for (index, data) in answer.data.iter().enumerate() {
        match data {
            Data::Readings(line) => readings += line.len() as u64,
            Data::Outcome(outcome) => outcomes.push(outcome),
            Data::Thread(_) => {}
            _ => {
                return Err(format!(
                    "`{}` does not belong here",
                    answer.data_line(index)
                ));
            }
        }
    }
    let [outcome] = outcomes.as_slice() else {
        return Err(format!(
            "`{request}`: {} `@@ outcome` lines instead of one",
            outcomes.len()
        ));
    };
    let completed = outcome.completed;
    if readings != completed + 1 || completed > COUNT {
        return Err(format!(
            "`{request}`: {readings} readings with completed={completed}"
        ));
    }
    if outcome.exhausted.is_none() && completed != COUNT {
        return Err(format!("`{request}`: end=count with completed={completed}"));
    }
    let seen = format!(
        "`{}`: {readings} readings, {completed} completed",
        test.name
    );
    Ok((seen, reports::of(&answer)))
}

pub(super) fn usage(probe: &mut Probe<'_>) -> Seen {
    let answer = probe.ask("usage")?;
    match answer.data.as_slice() {
        [Data::Usage(usage)] if usage.threads > 0 && usage.peak_rss_bytes > 0 => Ok(format!(
            "{:.1} MiB of memory at most, threads now: {}",
            usage.peak_rss_bytes as f64 / f64::from(1 << 20),
            usage.threads
        )),
        _ => Err(format!("it is answered with {}", shown(&answer))),
    }
}

/// Runs each listed test as little as possible.
pub(super) fn every_test(probe: &mut Probe<'_>) -> Seen {
    let tests = probe.list()?.tests;
    let (mut ran, mut absent, mut broken) = (0, 0, Vec::new());
    for test in &tests {
        if test.absent.is_some() {
            absent += 1;
            continue;
        }
        let name = &test.name;
        let arg = arg(test);
        let seen = match test.kind {
            TestKind::Frame => frames::runs(probe, test),
            TestKind::Series => series_of(probe, test).map(|(_, threads)| threads),
            TestKind::Latency => {
                let request = format!("latency {name} count=2 interval=0{arg}");
                samples(probe, &request, 2).map(|(_, threads)| threads)
            }
        };
        match seen.and_then(|threads| reports::all(test, &threads)) {
            Ok(()) => ran += 1,
            Err(why) => broken.push(format!("{name}: {why}")),
        }
    }
    match broken.as_slice() {
        [] => Ok(format!("{ran} ran, {absent} are absent and say why")),
        _ => Err(format!(
            "{} of {} do not run:\n{}",
            broken.len(),
            tests.len(),
            broken.join("\n")
        )),
    }
}
