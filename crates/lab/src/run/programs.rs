//! Whole programs: those of a group with the same arguments take turns, one run each in a round,
//! forth and back (A B B A).
//!
//! A slow phase of the machine thus slows all compared programs. All must print the same answer; a
//! program that differs from the majority has no figure. In a full run a disturbed run is repeated
//! at once, within its round.

mod answers;
mod one;

use super::budget::nominal;
use super::engine::{Engine, Failure};
use super::foreign::{Seen, Watch};
use super::gate::{ATTEMPTS, Attempt, calmest};
use super::{RunError, Task};
use crate::record::{Absence, Outcome, ResultRecord};
use crate::store::Raw;
use answers::{agrees, disagreements, short};
use antiphon_measure::{RunFigure, WholeRun, run_figure};
use one::run;
use std::collections::BTreeMap;
use std::time::Instant;

/// Rounds made however long they take: the fewest that expose a stray run.
const ROUNDS_LEAST: u32 = 3;

/// Rounds beyond which figures no longer change.
const ROUNDS_MOST: u32 = 40;

/// State of one program of a set.
struct Member {
    position: usize,
    runs: Vec<WholeRun>,
    answer: Option<String>,
    /// Counters of a counting run.
    counted: BTreeMap<String, u64>,
    /// Sum of others' use during its runs.
    seen: Option<Seen>,
    /// Number of runs repeated because others disturbed them.
    again: u32,
    /// Whether others disturbed its last run all the same.
    was_disturbed: bool,
    /// Reason why it takes no more turns.
    absence: Option<Absence>,
}

/// Measures the programs that take turns with the one at `position`.
pub(super) fn take_turns(engine: &mut Engine<'_, '_>, position: usize) -> Result<(), RunError> {
    let mut members = members(engine, position);
    let share = engine.budget.share();
    let begun = Instant::now();
    let seconds = engine.sizes.seconds_per_row * share * members.len() as f64;
    let (least, most) = match &engine.items[position].task {
        Task::Program {
            rounds: Some(rounds),
            ..
        } => (*rounds as u32, *rounds as u32),
        _ => (ROUNDS_LEAST, ROUNDS_MOST),
    };
    // In a short run each program's share of the time is used for single attempts.
    let repeats = !engine.quick && share >= 1.0;
    let mut round = 0;
    while round < least || (round < most && begun.elapsed().as_secs_f64() < seconds) {
        if engine.interrupted() || is_done(engine, &members, round) {
            break;
        }
        self::round(engine, &mut members, round, repeats)?;
        round += 1;
    }
    for member in &mut members {
        count(engine, member)?;
    }
    disagreements(&mut members);
    let took = begun.elapsed().as_secs_f64() / members.len() as f64;
    for member in members {
        let task = &engine.items[member.position].task;
        let nominal = nominal(task, engine.sizes.seconds_per_row);
        engine.budget.spent(nominal, share, took);
        engine.had_turn.insert(member.position);
        keep(engine, member)?;
    }
    Ok(())
}

/// Returns the programs of one group with the same arguments as the item at `position`.
fn members(engine: &Engine<'_, '_>, position: usize) -> Vec<Member> {
    let key = |position: usize| match &engine.items[position].task {
        Task::Program { arguments, .. } => Some((&engine.items[position].group, arguments)),
        _ => None,
    };
    let own = key(position);
    (0..engine.items.len())
        .filter(|other| key(*other) == own && !engine.had_turn.contains(other))
        .map(|position| Member {
            position,
            runs: Vec::new(),
            answer: None,
            counted: BTreeMap::new(),
            seen: None,
            again: 0,
            was_disturbed: false,
            absence: None,
        })
        .collect()
}

/// Checks whether every shown figure is as narrow as wanted.
fn is_done(engine: &Engine<'_, '_>, members: &[Member], rounds: u32) -> bool {
    let wanted = engine.sizes.relative_half_width;
    let narrow = |member: &Member| {
        let identity = &engine.items[member.position].identity;
        let figures = engine.shown.figures(identity);
        member.absence.is_some() || are_narrow(&member.runs, figures, wanted)
    };
    rounds > ROUNDS_LEAST && members.iter().all(narrow)
}

/// Checks whether figures are narrow. A figure that no run has counts as narrow, because more runs
/// would not help.
fn are_narrow(runs: &[WholeRun], figures: &[RunFigure], wanted: f64) -> bool {
    let mut intervals = figures.iter().filter_map(|figure| run_figure(runs, figure));
    intervals.all(|interval| interval.relative_half_width() <= wanted)
}

/// Runs each program once, in the order of the plan, or against it in every second round.
fn round(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    round: u32,
    repeats: bool,
) -> Result<(), RunError> {
    let count = members.len();
    for turn in 0..count {
        let index = if round.is_multiple_of(2) {
            turn
        } else {
            count - 1 - turn
        };
        let member = &mut members[index];
        if member.absence.is_some() {
            continue;
        }
        if round == 0 {
            let item = engine.items[member.position].clone();
            engine.tell_started(&item);
        }
        // A disturbed machine may never be quiet, so the wait for that stops: more rounds then tell
        // more.
        let most = match repeats && !member.was_disturbed {
            true => ATTEMPTS,
            false => 1,
        };
        match calmest(most, |_| attempt(engine, member, round)) {
            Err(Failure::Absent(absence)) => member.absence = Some(absence),
            Err(Failure::Interrupted) => return Ok(()),
            Err(Failure::Fatal(error)) => return Err(*error),
            Ok(None) => {}
            Ok(Some(((run, seen), attempts))) => {
                keep_run(engine, member, run, seen)?;
                member.again += attempts - 1;
            }
        }
    }
    Ok(())
}

/// Makes one run, with the use by others meanwhile. Returns `None` if its answer differs from
/// earlier ones.
fn attempt(
    engine: &Engine<'_, '_>,
    member: &mut Member,
    round: u32,
) -> Result<Option<Attempt<(WholeRun, Seen)>>, Failure> {
    let placement = &engine.items[member.position].identity.placement;
    let watch = Watch::begin(engine.processes.processors.placement(placement));
    let (account, run) = run(engine, member.position, Some(round))?;
    let seen = watch.end();
    let foreign = seen.foreign(1);
    Ok(agrees(member, account.answer).then_some(Attempt {
        of: (run, seen),
        share: foreign.share,
        was_disturbed: foreign.was_disturbed(),
    }))
}

/// Stores a run as it was made, and notes it.
fn keep_run(
    engine: &mut Engine<'_, '_>,
    member: &mut Member,
    run: WholeRun,
    seen: Seen,
) -> Result<(), RunError> {
    let raw = Raw::Note {
        name: "run".to_owned(),
        json: serde_json::to_string(&run).expect("a run is always writable as JSON"),
    };
    let store = &mut engine.lab.store;
    store.append(engine.run, member.position, 0, &raw)?;
    member.was_disturbed = seen.foreign(1).was_disturbed();
    member.seen = Some(member.seen.map_or(seen, |before| before.and(seen)));
    member.runs.push(run);
    Ok(())
}

/// Runs a program once more where its subject counts only if asked to.
fn count(engine: &Engine<'_, '_>, member: &mut Member) -> Result<(), RunError> {
    let identity = &engine.items[member.position].identity;
    let build = (identity.subject.clone(), identity.policy.clone());
    let counts = engine.processes.builds.get(&build);
    let counts = counts.is_some_and(|built| !built.counting.is_empty());
    if !counts || member.absence.is_some() || engine.interrupted() {
        return Ok(());
    }
    match run(engine, member.position, None) {
        Ok((account, _)) if Some(&account.answer) == member.answer.as_ref() => {
            member.counted = account.counters;
        }
        Ok((account, _)) => {
            let reason = format!(
                "its answer is another one when it counts: `{}`",
                short(&account.answer)
            );
            member.absence = Some(Absence::new(reason, "mend the program: it has a race"));
        }
        Err(Failure::Absent(absence)) => member.absence = Some(absence),
        Err(Failure::Interrupted) => {}
        Err(Failure::Fatal(error)) => return Err(*error),
    }
    Ok(())
}

/// Stores the result; nothing of a program that was interrupted before its first run ended.
fn keep(engine: &mut Engine<'_, '_>, member: Member) -> Result<(), RunError> {
    let outcome = match (member.absence, member.answer) {
        (Some(absence), _) => absence.into(),
        (None, Some(answer)) => Outcome::Program {
            answer,
            runs: member.runs,
            counted: member.counted,
        },
        (None, None) => return Ok(()),
    };
    let identity = engine.items[member.position].identity.clone();
    let mut result = ResultRecord::new(identity, outcome);
    result
        .foreign
        .extend(member.seen.map(|seen| seen.foreign(1 + member.again)));
    engine.replace(member.position, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_fixed_time_are_done_by_what_they_did_in_it() {
        let run = |operations: u64| WholeRun {
            elapsed_ns: 100_000_000,
            counters: BTreeMap::from([("operations".to_owned(), operations)]),
            ..WholeRun::default()
        };
        let wide = [run(1_000_000), run(2_000_000), run(1_500_000)];
        let even = [run(1_000_000), run(1_000_100), run(1_000_000)];
        assert!(are_narrow(&wide, &[RunFigure::Time], 0.02));
        assert!(!are_narrow(&wide, &[RunFigure::TimePerOperation], 0.02));
        assert!(are_narrow(
            &even,
            &[RunFigure::TimePerOperation, RunFigure::CpuPerOperation],
            0.02
        ));
    }
}
