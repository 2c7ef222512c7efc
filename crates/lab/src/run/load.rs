//! Servers under load: all of a placement take turns. In a round each is started afresh, asked for its answer, made warm, and put under all
//! loads of the plan one after the other; then the next one's turn comes, forth and back (A B B A).
//!
//! So a moment that slows the machine hits one cell of one server, and a ratio is taken between cells of one round.

mod cell;
mod leftover;
mod processors;
mod rival;
mod server;
pub(super) mod warm;

use super::budget::nominal;
use super::engine::Engine;
use super::{RunError, Task};
use crate::record::{Absence, LoadOutcome, LoadRound, LoadTask, Outcome, ResultRecord, WarmUp};
use crate::store::Raw;
use antiphon_load::{Error as LoadError, Reach, Target, first_exchange};
use processors::Places;
use server::Server;
use std::time::{Duration, Instant};

/// Rounds that are made unless the run's budget is spent: the fewest that tell a stray one from the others.
const ROUNDS_LEAST: u32 = 3;

/// Rounds that are made even then.
const ROUNDS_EVER: u32 = 2;

/// Rounds after which more would not change what is read from them.
const ROUNDS_MOST: u32 = 25;

/// How long a server that accepts may take to its first right answer.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// One load on one server.
struct Cell {
    position: usize,
    task: LoadTask,
    rounds: Vec<LoadRound>,
    /// Why it is measured no more.
    absence: Option<Absence>,
}

/// A server with its loads.
struct Member {
    subject: String,
    policy: String,
    cells: Vec<Cell>,
    warm_ups: Vec<WarmUp>,
    told: bool,
}

/// Measures the servers of the same policy and placement as the item at `position`, under all their loads.
pub(super) fn take_turns(engine: &mut Engine<'_, '_>, position: usize) -> Result<(), RunError> {
    leftover::sweep(engine.lab.cache.folder());
    let placement = engine.items[position].identity.placement.clone();
    let places = Places::of(engine.seats.processors.placement(&placement));
    let mut members = members(engine, position);
    let share = engine.budget.share();
    let begun = Instant::now();
    let cells: usize = members.iter().map(|member| member.cells.len()).sum();
    let seconds = engine.sizes.seconds_per_row * share * cells as f64;
    let allowance = allowance(engine, &members);
    let mut round = 0;
    while wants_round(round, begun.elapsed().as_secs_f64(), seconds, allowance) {
        for turn in 0..members.len() {
            let index = match round % 2 {
                0 => turn,
                _ => members.len() - 1 - turn,
            };
            if engine.interrupted() {
                break;
            }
            visit(engine, &mut members[index], &places, round)?;
        }
        round += 1;
        if engine.interrupted() || is_done(&members, round, engine.sizes.relative_half_width) {
            break;
        }
    }
    let took = begun.elapsed().as_secs_f64() / cells.max(1) as f64;
    for member in members {
        keep(engine, member, share, took)?;
    }
    Ok(())
}

/// Whether another round is made after these, which took so long, s. What a budget allows is not overdrawn for the third one.
fn wants_round(round: u32, took: f64, seconds: f64, allowance: Option<f64>) -> bool {
    let next = took * f64::from(round + 1) / f64::from(round.max(1));
    let is_allowed = allowance.is_none_or(|allowance| next <= allowance);
    match round {
        0..ROUNDS_EVER => true,
        ROUNDS_EVER..ROUNDS_LEAST => is_allowed,
        _ => round < ROUNDS_MOST && took < seconds && is_allowed,
    }
}

/// What the run's budget allows these servers, s.
fn allowance(engine: &Engine<'_, '_>, members: &[Member]) -> Option<f64> {
    let cells = members.iter().flat_map(|member| &member.cells);
    let nominal = cells.map(|cell| {
        let task = &engine.items[cell.position].task;
        nominal(task, engine.sizes.seconds_per_row)
    });
    engine.budget.allowance(nominal.sum())
}

/// Servers with their loads, in the order of the plan.
fn members(engine: &Engine<'_, '_>, position: usize) -> Vec<Member> {
    let own = &engine.items[position].identity;
    let mut members: Vec<Member> = Vec::new();
    for (position, item) in engine.items.iter().enumerate() {
        let identity = &item.identity;
        let together = identity.policy == own.policy && identity.placement == own.placement;
        let (Task::Load(task), true) = (&item.task, together) else {
            continue;
        };
        if engine.had_turn.contains(&position) {
            continue;
        }
        let cell = Cell {
            position,
            task: task.clone(),
            rounds: Vec::new(),
            absence: None,
        };
        match members
            .iter_mut()
            .find(|member| member.subject == identity.subject)
        {
            Some(member) => member.cells.push(cell),
            None => members.push(Member {
                subject: identity.subject.clone(),
                policy: identity.policy.clone(),
                cells: vec![cell],
                warm_ups: Vec::new(),
                told: false,
            }),
        }
    }
    members
}

/// Whether every server's processor time a request is as narrow as was asked for.
fn is_done(members: &[Member], rounds: u32, wanted: f64) -> bool {
    let narrow = |cell: &Cell| {
        let values: Vec<f64> = cell.rounds.iter().map(LoadRound::cpu_ns).collect();
        cell.absence.is_some()
            || antiphon_measure::median_interval(&values)
                .is_some_and(|of| of.relative_half_width() <= wanted)
    };
    rounds > ROUNDS_LEAST && members.iter().flat_map(|member| &member.cells).all(narrow)
}

/// One round of one server.
fn visit(
    engine: &mut Engine<'_, '_>,
    member: &mut Member,
    places: &Places,
    round: u32,
) -> Result<(), RunError> {
    if !member.told {
        member.told = true;
        for cell in &member.cells {
            let item = engine.items[cell.position].clone();
            engine.tell_started(&item);
        }
    }
    if member.cells.iter().all(|cell| cell.absence.is_some()) {
        return Ok(());
    }
    let started = start(engine, member, places);
    let (server, target) = match started {
        Ok(started) => started,
        Err(absence) => {
            member.fail_all(&absence);
            return Ok(());
        }
    };
    match warm::up(
        &server,
        &target,
        &member.cells[0].task,
        places,
        engine.quick,
        round,
    ) {
        Ok(warm_up) => {
            note(engine, member.cells[0].position, "warm-up", &warm_up)?;
            member.warm_ups.push(warm_up);
        }
        Err(error) => {
            member.fail_all(&server.absence(&error));
            return Ok(());
        }
    }
    for cell in &mut member.cells {
        if engine.interrupted() {
            break;
        }
        if cell.absence.is_some() {
            continue;
        }
        let expected = cell.expected();
        match cell::measure(&server, &target, &cell.task, expected, places, engine.quick) {
            Ok((mut measured, histogram)) => {
                measured.round = round;
                note(engine, cell.position, "load", &(&measured, histogram))?;
                cell.rounds.push(measured);
            }
            Err(absence) => {
                cell.absence = Some(absence);
                if server.has_ended() {
                    // The next round starts it again, for its other loads.
                    break;
                }
            }
        }
    }
    server.stop();
    Ok(())
}

/// Starts a server, and holds its first answer against what the suite expects.
fn start(
    engine: &Engine<'_, '_>,
    member: &Member,
    places: &Places,
) -> Result<(Server, Target), Absence> {
    let build = (member.subject.clone(), member.policy.clone());
    let Some(built) = engine.seats.builds.get(&build) else {
        let reason = format!("there is no build of {} for this policy", member.subject);
        return Err(absence(reason, "see why its build failed"));
    };
    let server = Server::start(built, &member.policy, places, engine.lab.cache.folder())?;
    let task = &member.cells[0].task;
    let expected = member.cells[0].expected();
    let target = Target::parse(&server.url(&task.path), Reach::Loopback)
        .map_err(|error| of_generator(&error))?;
    let until = Instant::now() + FIRST_ANSWER;
    loop {
        let answer =
            first_exchange(&target, FIRST_ANSWER).map_err(|error| server.absence(&error))?;
        if answer == expected {
            return Ok((server, target));
        }
        if Instant::now() >= until {
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            let reason = format!(
                "it answers {} with status {} and `{}`, and not with status 200 and `{}`",
                task.path,
                answer.status,
                short(&body),
                task.body
            );
            return Err(server.with_words(absence(reason, "mend the server")));
        }
        // Some accept before they have all that they answer with.
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Keeps what was read of a cell, as it was read.
fn note<T: serde::Serialize>(
    engine: &mut Engine<'_, '_>,
    position: usize,
    name: &str,
    what: &T,
) -> Result<(), RunError> {
    let raw = Raw::Note {
        name: name.to_owned(),
        json: serde_json::to_string(what).unwrap_or_default(),
    };
    engine.lab.store.append(engine.run, position, 0, &raw)?;
    Ok(())
}

/// Stores what came out; nothing of a load that was interrupted before its first round ended.
fn keep(
    engine: &mut Engine<'_, '_>,
    member: Member,
    share: f64,
    took: f64,
) -> Result<(), RunError> {
    let mut warm_ups = member.warm_ups;
    for cell in member.cells {
        let task = &engine.items[cell.position].task;
        let nominal = nominal(task, engine.sizes.seconds_per_row);
        engine.budget.spent(nominal, share, took);
        engine.had_turn.insert(cell.position);
        let outcome = match cell.absence {
            Some(absence) => absence.into(),
            None if cell.rounds.is_empty() => continue,
            None => Outcome::Load(Box::new(LoadOutcome {
                task: cell.task,
                rounds: cell.rounds,
                warm_ups: std::mem::take(&mut warm_ups),
            })),
        };
        let identity = engine.items[cell.position].identity.clone();
        engine.replace(cell.position, ResultRecord::new(identity, outcome))?;
    }
    Ok(())
}

impl Cell {
    fn expected(&self) -> antiphon_load::Expected {
        antiphon_load::Expected {
            status: 200,
            body: self.task.body.clone().into_bytes(),
        }
    }
}

impl Member {
    /// Leaves the figures that there are: a server that fails in a later round has none all the same.
    fn fail_all(&mut self, absence: &Absence) {
        for cell in &mut self.cells {
            cell.absence.get_or_insert_with(|| absence.clone());
        }
    }
}

fn absence(reason: impl Into<String>, mend: &str) -> Absence {
    Absence {
        reason: reason.into(),
        mend: mend.to_owned(),
        last_words: String::new(),
        listed: false,
    }
}

/// The beginning of an answer, on one line.
fn short(text: &str) -> String {
    const LETTERS: usize = 80;
    let line = text.escape_debug().to_string();
    match line.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What the generator says was wrong, in the words of an absence.
fn of_generator(error: &LoadError) -> Absence {
    Absence::of_message(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_is_spent_ends_the_rounds_early() {
        let rounds = |took_each: f64, allowance| {
            let wants =
                |round: &u32| wants_round(*round, took_each * f64::from(*round), 100.0, allowance);
            (0..).take_while(wants).count()
        };
        assert_eq!(rounds(1.0, None), 25);
        assert_eq!(rounds(60.0, None), 3);
        assert_eq!(rounds(60.0, Some(170.0)), 2);
        assert_eq!(rounds(600.0, Some(1.0)), 2);
        assert_eq!(rounds(10.0, Some(55.0)), 5);
    }
}
