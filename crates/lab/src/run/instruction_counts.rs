//! Instruction counts by callgrind, as far as their time reaches. They serve as second measure of
//! costs that controls hide, or of all costs at the user's request.
//!
//! Nothing is timed at this stage, so each processor may have a subject under callgrind.

mod callgrind;

use super::engine::Engine;
use super::process_pool::launch;
use super::{Event, Options, RunError};
use crate::instructions::NoCount;
use crate::record::{Identity, Outcome, ResultRecord};
use crate::session::SessionError;
use antiphon_measure::{CountedBy, InstructionCount};
use callgrind::{Job, Jobs};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Time for all counts of a quick and of a full run. Under callgrind a subject takes a second or
/// two to start, and a count some tenths of one.
const QUICK_LIMIT: Duration = Duration::from_secs(20);
const FULL_LIMIT: Duration = Duration::from_secs(240);

/// The same limit if the user requested counts of all frames, and with them a long wait.
const ALL_LIMIT: Duration = Duration::from_secs(3600);

/// Counts the instructions of every frame that its control hides, or of all frames, and adds them
/// to its result.
pub(super) fn ask(engine: &mut Engine<'_, '_>, options: &Options) -> Result<(), RunError> {
    let mut limit = match (options.instructions_of_all, options.quick) {
        (true, _) => ALL_LIMIT,
        (false, true) => QUICK_LIMIT,
        (false, false) => FULL_LIMIT,
    };
    // The suite's own budget leaves room for the counts, part of which a late run has used. A
    // user's budget is the limit.
    let room = match options.time_budget_s {
        Some(_) => 0.0,
        None => limit.as_secs_f64(),
    };
    if let Some(left) = engine.budget.left_of(room) {
        limit = limit.min(Duration::from_secs_f64(left));
    }
    let (jobs, warnings) = jobs(engine, options.instructions_of_all);
    for text in warnings {
        engine.tell(Event::Warning(&text));
    }
    let of = jobs.len();
    if of == 0 || engine.interrupted() {
        return Ok(());
    }
    let positions: Vec<Vec<usize>> = jobs.iter().map(|job| job.positions.clone()).collect();
    let stop = engine.lab.stop;
    let mut done = 0;
    engine.tell(Event::Counting { done, of });
    let mut missing = false;
    let jobs = Jobs::new(jobs, limit, stop);
    jobs.run(|job, counted| {
        done += 1;
        match counted {
            Ok(count) => {
                for position in &positions[job] {
                    add(engine, *position, count)?;
                }
            }
            Err(NoCount::Missing) if missing => {}
            Err(error) => {
                missing |= matches!(error, NoCount::Missing);
                engine.tell(Event::Warning(&error.to_string()));
            }
        }
        engine.tell(Event::Counting { done, of });
        Ok(())
    })?;
    let left_out = jobs.left_out();
    if left_out > 0 && !engine.interrupted() {
        let text = format!(
            "{} not checked by instruction counts: {left_out}, as {}; {}",
            match options.instructions_of_all {
                true => "costs",
                false => "costs that cannot be told from their control's and were",
            },
            match limit.as_secs_f64() {
                none if none < 0.1 => "no time was left for that".to_owned(),
                seconds => format!("the {seconds:.1} s for that were over"),
            },
            match options.quick && !options.instructions_of_all {
                true => "measure without --quick, or fewer rows with --only, to have them all",
                false => "measure fewer rows at a time with --only to have them all",
            }
        );
        engine.tell(Event::Warning(&text));
    }
    Ok(())
}

/// Returns the counts to make, and the reasons why others are impossible. Callgrind ignores policy
/// and placement, so one count serves all of a test's results.
fn jobs(engine: &Engine<'_, '_>, of_all: bool) -> (Vec<Job>, BTreeSet<String>) {
    let (mut jobs, mut warnings): (Vec<Job>, _) = (Vec::new(), BTreeSet::new());
    let mut known: HashMap<Identity, usize> = HashMap::new();
    for position in 0..engine.items.len() {
        let Some(result) = engine
            .result(position)
            .filter(|result| is_asked(result, of_all))
        else {
            continue;
        };
        let unplaced = Identity {
            policy: String::new(),
            placement: String::new(),
            ..result.identity.clone()
        };
        if let Some(index) = known.get(&unplaced) {
            jobs[*index].positions.push(position);
            continue;
        }
        match job(engine, result, position) {
            Ok(None) => {}
            Ok(Some(job)) => {
                known.insert(unplaced, jobs.len());
                jobs.push(job);
            }
            // All frames of a subject lack the same.
            Err(error) => {
                warnings.insert(format!("instructions cannot be counted: {error}"));
            }
        }
    }
    (jobs, warnings)
}

/// Checks whether a result lacks a count that it needs or that the user requests.
fn is_asked(result: &ResultRecord, of_all: bool) -> bool {
    let Outcome::Frame(estimate) = &result.outcome else {
        return false;
    };
    estimate.resources.instructions.is_none() && (of_all || estimate.is_like_control())
}

/// Returns the job for a result, or `None` if a count is impossible.
///
/// That is so without a build, and in a quick run of a subject that compiles at run time. It is
/// also so if the test has too few iterations, or other processes may do the work.
///
/// # Errors
/// There is no database for it.
fn job(
    engine: &Engine<'_, '_>,
    result: &ResultRecord,
    position: usize,
) -> Result<Option<Job>, SessionError> {
    let identity = &result.identity;
    let build = (identity.subject.clone(), identity.policy.clone());
    let built = engine.processes.builds.get(&build);
    let (Outcome::Frame(estimate), Some(built)) = (&result.outcome, built) else {
        return Ok(None);
    };
    // A virtual machine takes up to a minute to start under callgrind, which is all the time of a
    // quick run's counts.
    let takes_long = engine.quick && built.warms;
    if takes_long || engine.processes.counts_switches(&identity.subject) {
        return Ok(None);
    }
    let name = (identity.subject.clone(), identity.test.clone());
    let most = engine.tests.get(&name).and_then(|test| test.most);
    let frame_ns = estimate.frames.test_ns.max(estimate.frames.control_ns);
    let iterations = InstructionCount::iterations(CountedBy::Callgrind, frame_ns, most);
    let Some(iterations) = iterations else {
        return Ok(None);
    };
    let mut launch = launch(
        built,
        "other",
        engine.processes.processors.placement("free"),
    );
    let environment = engine.processes.services.environment(built)?;
    launch.env.extend(environment);
    Ok(Some(Job {
        launch,
        test: identity.test.clone(),
        arg: identity.arg,
        iterations,
        positions: vec![position],
    }))
}

fn add(
    engine: &mut Engine<'_, '_>,
    position: usize,
    count: InstructionCount,
) -> Result<(), RunError> {
    let Some(mut result) = engine.result(position).cloned() else {
        return Ok(());
    };
    if let Outcome::Frame(estimate) = &mut result.outcome {
        estimate.resources.instructions = Some(count);
        estimate.tell_instructions();
    }
    engine.replace(position, result)
}
