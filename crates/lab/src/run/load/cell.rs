//! One load on one warm server.

use super::processors::Places;
use super::rival;
use super::server::Server;
use crate::machine::stopped_ns;
use crate::record::{Absence, ClosedLoop, Freeze, Generator, LoadRound, LoadTask, is_limited};
use crate::run::busy::busy_ns;
use crate::run::compilers::Compilers;
use crate::run::gate::{ATTEMPTS, Attempt, calmest};
use crate::run::tree::{SwitchesSoFar, Tree};
use antiphon_load::{Expected, Latency, Load, Measured, Schedule, Target, run, run_steady};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Longest wait for an answer. Longer waits count with the time so far.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Longest wait for the last answers.
const DRAIN: Duration = Duration::from_secs(1);

/// Measures a load. With `repeats`, a disturbed measurement is repeated, and the least disturbed
/// attempt is kept.
pub(super) fn measure(
    server: &Server,
    target: &Target,
    task: &LoadTask,
    expected: Expected,
    places: &Places,
    repeats: bool,
) -> Result<LoadRound, Absence> {
    let most = if repeats { ATTEMPTS } else { 1 };
    let in_closed_loop = load_of(target, task, expected, places);
    let attempt = |_| {
        let (schedule, closed) = schedule(server, &in_closed_loop, task)?;
        let load = Load {
            schedule,
            ..in_closed_loop.clone()
        };
        let before_ns = places.core_to_core_ns();
        let mut round = once(server, &load, task, places)?;
        let about = before_ns.zip(places.core_to_core_ns());
        round.core_to_core_ns = about.map(|(before_ns, after_ns)| [before_ns, after_ns]);
        round.closed = closed;
        Ok(Some(Attempt {
            share: round.foreign_share,
            was_disturbed: round.was_disturbed(),
            of: round,
        }))
    };
    let best = calmest(most, attempt)?;
    let (mut round, attempts) =
        best.ok_or_else(|| Absence::new("it was not measured", "measure again"))?;
    round.attempts = attempts;
    Ok(round)
}

/// Returns the load in closed loop.
fn load_of(target: &Target, task: &LoadTask, expected: Expected, places: &Places) -> Load {
    Load {
        connections: task.connections,
        keep_alive: task.keep_alive,
        duration: Duration::from_secs_f64(task.seconds),
        time_limit: TIME_LIMIT,
        drain: DRAIN,
        processor: places.generator,
        busy_poll: polls(task, places),
        first: true,
        ..Load::new(target.clone(), expected)
    }
}

/// Checks whether the generator may poll: the server does not need its processor, and other
/// programs do not come first.
fn polls(task: &LoadTask, places: &Places) -> bool {
    let is_ours = task.by == Generator::Antiphon && !task.sleeps;
    is_ours && places.may_poll()
}

/// Returns the schedule of requests, with the closed loop that it is a part of, if any.
///
/// A closed loop runs before each such schedule, because a shared machine's rate changes from
/// moment to moment.
fn schedule(
    server: &Server,
    in_closed_loop: &Load,
    task: &LoadTask,
) -> Result<(Schedule, Option<ClosedLoop>), Absence> {
    if let Some(per_second) = task.per_second {
        return Ok((Schedule::Open { per_second }, None));
    }
    let Some(percent) = task.percent_of_closed else {
        return Ok((Schedule::Closed, None));
    };
    let measured = run_steady(in_closed_loop, || ());
    let measured = without_failure(server, measured)?;
    let Some(schedule) = measured.part(percent) else {
        let reason = "it answered nothing in closed loop, of which its schedule is a part";
        return Err(server.with_words(Absence::new(reason, "run it by hand to see why")));
    };
    let closed = ClosedLoop {
        per_second: measured.per_second(),
        generator_share: measured.own_share(),
        generator_limited: is_limited(&measured),
    };
    Ok((schedule, Some(closed)))
}

fn once(
    server: &Server,
    load: &Load,
    task: &LoadTask,
    places: &Places,
) -> Result<LoadRound, Absence> {
    let tree = Tree::of(server.process());
    let (mut edges, mut compilers): (Vec<Edge>, _) = (Vec::new(), Compilers::default());
    compilers.used_ns(&tree);
    let watched = places.watched(load.busy_poll);
    let mut edge = || edges.push(Edge::now(&tree, &mut compilers, watched, edges.is_empty()));
    let mut round = match task.by {
        Generator::Antiphon => own(server, load, task, &mut edge)?,
        by => {
            edge();
            let round = rival::measure(by, load, places)?;
            edge();
            round
        }
    };
    if let [from, to] = &edges[..] {
        let wall_ns = (to.at - from.at).as_nanos() as f64 * watched.len() as f64;
        let server_ns = to.cpu_ns.saturating_sub(from.cpu_ns);
        let compiling_ns = to.compiling_ns.saturating_sub(from.compiling_ns);
        round.server_cpu_ns = server_ns.saturating_sub(compiling_ns);
        let generator_ns = match load.busy_poll {
            true => 0, // It has none of the server's processor.
            false => round.generator_cpu_ns,
        };
        let own_ns = (server_ns + generator_ns) as f64;
        let busy_ns = to.busy_ns.saturating_sub(from.busy_ns) as f64;
        // A quota stops the server, and the generator with it.
        let stopped_ns = to.stopped_ns.saturating_sub(from.stopped_ns) as f64;
        let foreign_ns = busy_ns - own_ns + stopped_ns;
        round.foreign_ns = Some(foreign_ns.max(0.0));
        round.foreign_share = (foreign_ns / wall_ns).clamp(0.0, 1.0);
        let switches = to.switches.as_ref().zip(from.switches.as_ref());
        round.switches = switches.and_then(|(to, from)| to.since(from));
    }
    let held = Tree::of(server.process()).held();
    (round.pss_bytes, round.peak_bytes, round.threads) =
        (held.pss_bytes, held.peak_bytes, held.threads);
    if round.answered == 0 {
        return Err(server.with_words(nothing_answered(&round)));
    }
    Ok(round)
}

/// Returns the reason for a round without an answer, which may not be the server's fault.
fn nothing_answered(round: &LoadRound) -> Absence {
    let reason = "it answered nothing under this load";
    match round.was_disturbed() {
        true => Absence::new(
            format!(
                "{reason}, while other programs had {:.0} % of the processors in use",
                100.0 * round.foreign_share
            ),
            "end them, and measure again",
        ),
        false => Absence::new(reason, "run it by hand to see why"),
    }
}

/// A moment between which and another a server's use counts.
struct Edge {
    at: Instant,
    cpu_ns: u64,
    compiling_ns: u64,
    busy_ns: u64,
    stopped_ns: u64,
    switches: Option<SwitchesSoFar>,
}

impl Edge {
    /// Reads the clocks closest to the load: a pass over hundreds of threads takes a while, in
    /// which others go on.
    fn now(tree: &Tree, compilers: &mut Compilers, processors: &[usize], is_first: bool) -> Edge {
        let switches = |compilers: &Compilers| tree.switches(|thread| compilers.knows(thread));
        let before = is_first.then(|| switches(compilers)).flatten();
        let mut edge = Edge {
            at: Instant::now(),
            cpu_ns: tree.cpu_ns(),
            compiling_ns: compilers.known_used_ns(),
            busy_ns: busy_ns(processors),
            stopped_ns: stopped_ns(),
            switches: before,
        };
        if !is_first {
            edge.switches = switches(compilers);
        }
        edge
    }
}

/// Runs a load by the laboratory's own generator. A failed request is a failure, never a time.
fn own(
    server: &Server,
    load: &Load,
    task: &LoadTask,
    edge: &mut impl FnMut(),
) -> Result<LoadRound, Absence> {
    let (measured, frozen_ns) = match task.freeze_ms {
        None => (run_steady(load, edge), 0),
        Some(ms) => {
            edge();
            let frozen = frozen(server, load, Duration::from_millis(ms));
            edge();
            frozen
        }
    };
    let measured = without_failure(server, measured)?;
    let mut round = LoadRound::of(&measured);
    round.empty_polls_ns = load.busy_poll.then_some(measured.empty_polls_ns);
    round.freeze = task.freeze_ms.map(|_| seen(&measured, frozen_ns, task));
    Ok(round)
}

/// Returns the measurement, or an absence if a request failed.
fn without_failure(
    server: &Server,
    measured: Result<Measured, antiphon_load::Error>,
) -> Result<Measured, Absence> {
    let measured = measured.map_err(|error| server.absence(&error))?;
    let Some(first) = &measured.first_failure else {
        return Ok(measured);
    };
    let of = measured.answered + measured.failed();
    let whether = match server.ends_now() {
        true => "the server ended under load: ",
        false => "",
    };
    let reason = format!(
        "{whether}{} of {of} requests failed; the first: {first}",
        measured.failed()
    );
    Err(server.with_words(Absence::new(reason, "mend the server")))
}

/// Runs a load, stops the server in its middle, and gives for how long, ns.
fn frozen(
    server: &Server,
    load: &Load,
    length: Duration,
) -> (Result<Measured, antiphon_load::Error>, u64) {
    let load = Load {
        // Every request that was due is answered after all, so that each wait is known whole.
        drain: TIME_LIMIT,
        ..load.clone()
    };
    std::thread::scope(|scope| {
        let running = match Builder::new().spawn_scoped(scope, || run(&load)) {
            Ok(running) => running,
            Err(source) => {
                let doing = "starting a thread for the load";
                return (Err(antiphon_load::Error::System { doing, source }), 0);
            }
        };
        std::thread::sleep(load.duration.saturating_sub(length) / 2);
        let begun = Instant::now();
        server.freeze();
        std::thread::sleep(length);
        // The time is read before the thaw, because the server then takes the processor. A time
        // that is too short only expects fewer long waits.
        let frozen_ns = begun.elapsed().as_nanos() as u64;
        server.thaw();
        let measured = running
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (measured, frozen_ns)
    })
}

fn seen(measured: &Measured, frozen_ns: u64, task: &LoadTask) -> Freeze {
    let latency: &Latency = &measured.latency;
    let per_ns = task.per_second.unwrap_or(0.0) / 1e9;
    Freeze {
        frozen_ns,
        longest_ns: latency.longest(),
        long: latency.above(frozen_ns / 2),
        owed: (per_ns * frozen_ns as f64 / 2.0) as u64,
    }
}
