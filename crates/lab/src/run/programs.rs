//! Whole programs: those of a group that were given the same arguments take turns, one run each in a round, forth and back (A B B A).
//!
//! So whatever slows the machine for a while slows all that are compared. All must print the same answer: one whose answer is not that of
//! the most has no figure.

use super::account::Account;
use super::budget::nominal;
use super::engine::Engine;
use super::foreign::{Seen, Watch};
use super::seats::program_launch;
use super::{RunError, Task};
use crate::record::{Absence, Outcome, ResultRecord};
use crate::store::Raw;
use antiphon_measure::{RunFigure, WholeRun, run_figure};
use antiphon_runner::{End, Error as RunnerError, Output, Program};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Rounds that are made however long they take: the fewest that tell a stray run from the others.
const ROUNDS_LEAST: u32 = 3;

/// Rounds after which more would not change what is read from them.
const ROUNDS_MOST: u32 = 40;

/// What is known of one program of a set.
struct Member {
    position: usize,
    runs: Vec<WholeRun>,
    answer: Option<String>,
    /// What a run that counts counted.
    counted: BTreeMap<String, u64>,
    /// What others used during its runs, added up.
    seen: Option<Seen>,
    /// Why it takes no more turns.
    absence: Option<Absence>,
}

/// How a run went.
enum Ran {
    Well(Account, WholeRun),
    Badly(Absence),
    Interrupted,
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
    let mut round = 0;
    while round < least || (round < most && begun.elapsed().as_secs_f64() < seconds) {
        if engine.interrupted() || is_done(engine, &members, round) {
            break;
        }
        self::round(engine, &mut members, round)?;
        round += 1;
    }
    for member in &mut members {
        count(engine, member);
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

/// Those that are given the same arguments in the same group: the item at `position` and others like it.
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
            absence: None,
        })
        .collect()
}

/// Whether every figure that is shown is as narrow as was asked for.
fn is_done(engine: &Engine<'_, '_>, members: &[Member], rounds: u32) -> bool {
    let wanted = engine.sizes.relative_half_width;
    let narrow = |member: &Member| {
        let identity = &engine.items[member.position].identity;
        let figures = engine.shown.figures(identity);
        member.absence.is_some() || are_narrow(&member.runs, figures, wanted)
    };
    rounds > ROUNDS_LEAST && members.iter().all(narrow)
}

/// A figure that no run has becomes no narrower by more of them.
fn are_narrow(runs: &[WholeRun], figures: &[RunFigure], wanted: f64) -> bool {
    let mut intervals = figures.iter().filter_map(|figure| run_figure(runs, figure));
    intervals.all(|interval| interval.relative_half_width() <= wanted)
}

/// One run of each, in the order of the plan or, in every second round, against it.
fn round(engine: &mut Engine<'_, '_>, members: &mut [Member], round: u32) -> Result<(), RunError> {
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
        let placement = &engine.items[member.position].identity.placement;
        let watch = Watch::begin(engine.seats.processors.placement(placement));
        let ran = run(engine, member.position, Some(round));
        let seen = watch.end();
        match ran {
            Ran::Interrupted => return Ok(()),
            Ran::Badly(absence) => member.absence = Some(absence),
            Ran::Well(account, run) => {
                let raw = Raw::Note {
                    name: "run".to_owned(),
                    json: serde_json::to_string(&run).unwrap_or_default(),
                };
                engine
                    .lab
                    .store
                    .append(engine.run, member.position, 0, &raw)?;
                member.seen = Some(member.seen.map_or(seen, |before| before.and(seen)));
                took(member, account, run);
            }
        }
    }
    Ok(())
}

/// Notes a run. A program whose answers differ from run to run has no figure.
fn took(member: &mut Member, account: Account, run: WholeRun) {
    match &member.answer {
        Some(before) if *before != account.answer => {
            let reason = format!(
                "its answer changes from run to run: `{}`, then `{}`",
                short(before),
                short(&account.answer)
            );
            member.absence = Some(absence(reason, "mend the program: it has a race", ""));
        }
        _ => {
            member.answer = Some(account.answer);
            member.runs.push(run);
        }
    }
}

/// Runs a program once more where its subject counts only if asked to.
fn count(engine: &Engine<'_, '_>, member: &mut Member) {
    let identity = &engine.items[member.position].identity;
    let build = (identity.subject.clone(), identity.policy.clone());
    let counts = engine.seats.builds.get(&build);
    let counts = counts.is_some_and(|built| !built.counting.is_empty());
    if !counts || member.absence.is_some() || engine.interrupted() {
        return;
    }
    match run(engine, member.position, None) {
        Ran::Well(account, _) if Some(&account.answer) == member.answer.as_ref() => {
            member.counted = account.counters;
        }
        Ran::Well(account, _) => {
            let reason = format!(
                "its answer is another one when it counts: `{}`",
                short(&account.answer)
            );
            member.absence = Some(absence(reason, "mend the program: it has a race", ""));
        }
        Ran::Badly(absence) => member.absence = Some(absence),
        Ran::Interrupted => {}
    }
}

/// Runs a program in a round, or, in none, to count.
fn run(engine: &Engine<'_, '_>, position: usize, round: Option<u32>) -> Ran {
    let item = &engine.items[position];
    let Task::Program {
        program,
        arguments,
        limit_s,
        ..
    } = &item.task
    else {
        unreachable!("members of a set are programs");
    };
    let identity = &item.identity;
    let build = (identity.subject.clone(), identity.policy.clone());
    let Some(built) = engine.seats.builds.get(&build) else {
        let reason = format!("there is no build of {} for this policy", identity.subject);
        return Ran::Badly(absence(reason, "see why its build failed", ""));
    };
    let placement = engine.seats.processors.placement(&identity.placement);
    let launch = program_launch(built, &identity.policy, placement, program, arguments);
    let mut launch = match launch {
        Ok(launch) => launch,
        Err(path) => return Ran::Badly(lacking(&path)),
    };
    launch.start_limit = Duration::from_secs(*limit_s);
    if round.is_none() {
        launch.env.extend(built.counting.iter().cloned());
    }
    let Some(program) = launch.program() else {
        return Ran::Badly(absence("its subject has no `run`", "give it one", ""));
    };
    finish(&program, engine, round.unwrap_or_default())
}

/// A program that was not built: its subject leaves out what this machine has no toolchain for.
fn lacking(path: &Path) -> Absence {
    let reason = format!("the build left no {}", path.display());
    absence(reason, "see the subject's README for what it needs", "")
}

fn finish(program: &Program, engine: &Engine<'_, '_>, round: u32) -> Ran {
    let output = match program.run_unless(engine.lab.stop) {
        Ok(output) => output,
        Err(RunnerError::Interrupted { .. }) => return Ran::Interrupted,
        Err(error) => return Ran::Badly(Absence::of_message(error)),
    };
    let badly = |reason: String, mend: &str| Ran::Badly(absence(reason, mend, &output.stderr));
    if output.end != End::Exited(0) {
        let reason = format!("it {}", output.end);
        return badly(reason, "run the program by hand to see why");
    }
    let stdout = String::from_utf8_lossy(&output.stdout);
    match Account::read(&stdout, &output.stderr) {
        Ok(account) => {
            let run = whole_run(&output, &account, round);
            Ran::Well(account, run)
        }
        Err(why) => badly(why, "docs/subjects.md says what a whole program prints"),
    }
}

fn whole_run(output: &Output, account: &Account, round: u32) -> WholeRun {
    let usage = &output.usage;
    WholeRun {
        round,
        elapsed_ns: account.elapsed_ns,
        wall_ns: usage.wall.as_nanos() as u64,
        user_ns: usage.user.as_nanos() as u64,
        system_ns: usage.system.as_nanos() as u64,
        peak_rss_bytes: usage.peak_rss_bytes,
        voluntary: usage.voluntary_switches,
        involuntary: usage.involuntary_switches,
        counters: account.counters.clone(),
    }
}

fn absence(reason: impl Into<String>, mend: &str, last_words: &str) -> Absence {
    Absence {
        reason: reason.into(),
        mend: mend.to_owned(),
        last_words: last_words.to_owned(),
        listed: false,
    }
}

/// Takes the figure from each whose answer is not that of the most; from all where two answers have as many.
fn disagreements(members: &mut [Member]) {
    let agreeing = |member: &&mut Member| member.absence.is_none();
    let mut members: Vec<&mut Member> = members.iter_mut().filter(agreeing).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in members.iter().filter_map(|member| member.answer.as_deref()) {
        *counts.entry(answer).or_default() += 1;
    }
    if counts.len() < 2 {
        return;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    let mut with_most = counts.iter().filter(|(_, count)| **count == most);
    let right = match (with_most.next(), with_most.next()) {
        (Some((answer, _)), None) => Some((*answer).to_owned()),
        _ => None,
    };
    for member in &mut members {
        let wrong = member.answer.as_deref() != right.as_deref();
        if let Some(answer) = member.answer.as_deref().filter(|_| wrong) {
            let others = right.as_deref().map_or("others of its group".into(), short);
            let reason = format!("its answer is `{}`, and not `{others}`", short(answer));
            member.absence = Some(absence(reason, "mend the program", ""));
        }
    }
}

/// An answer on one line, cut where it is long.
fn short(answer: &str) -> String {
    const LETTERS: usize = 80;
    let line = answer.trim_end().replace('\n', " / ");
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Stores what came out; nothing of a program that was interrupted before its first run ended.
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
        .extend(member.seen.map(|seen| seen.foreign(1)));
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
