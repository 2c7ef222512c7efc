//! Servers under load: all of a placement run side by side, and take turns. In an epoch each is started afresh, asked for its answer, and made
//! warm; then, round by round, each load is put on one after the other for a moment, forth and back (A B B A), while the others wait.
//!
//! So a moment that slows the machine hits all servers' figures for that load alike, and a ratio is taken between moments that follow each other.
//! What differs from start to start shows between epochs; servers that are started twice show it within one, as do all chances of the method.

mod cell;
mod leftover;
mod processors;
mod rival;
mod rounds;
mod server;
pub(super) mod warm;

use super::budget::nominal;
use super::engine::Engine;
use super::first::OwnSession;
use super::{Item, RunError, Task};
use crate::record::{
    Absence, Generator, Identity, LoadOutcome, LoadRound, LoadTask, Outcome, ResultRecord, WarmUp,
};
use crate::store::Raw;
use antiphon_load::{Error as LoadError, Reach, Target, first_exchange};
use processors::Places;
use rounds::{ROUNDS_LEAST, Time, wants_round};
use server::Server;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// Rounds of an epoch, in a quick and a full run.
const ROUNDS_QUICK: u32 = 8;
const ROUNDS_FULL: u32 = 12;

/// How long a server that accepts may take to its first right answer.
const FIRST_ANSWER: Duration = Duration::from_secs(5);

/// One load on one server.
struct Cell {
    position: usize,
    /// The position of the first item of the plan that has this load: the same for all servers.
    load: usize,
    task: LoadTask,
    rounds: Vec<LoadRound>,
    /// Why it is measured no more.
    absence: Option<Absence>,
}

/// A server with its loads.
struct Member {
    subject: String,
    policy: String,
    /// The same server once more: what it shows beside its twin is noise.
    is_again: bool,
    cells: Vec<Cell>,
    warm_ups: Vec<WarmUp>,
    running: Option<(Server, Target)>,
    told: bool,
}

/// Measures the servers of the same policy and placement as the item at `position`, under all their loads.
pub(super) fn take_turns(engine: &mut Engine<'_, '_>, position: usize) -> Result<(), RunError> {
    leftover::sweep(engine.lab.cache.folder());
    let placement = engine.items[position].identity.placement.clone();
    let places = Places::of(engine.seats.processors.placement(&placement));
    let _first = OwnSession::put_first();
    let mut members = members(engine, position);
    let loads: BTreeSet<usize> = members.iter().flat_map(Member::loads).collect();
    let share = engine.budget.share();
    let begun = Instant::now();
    let cells = members
        .iter()
        .map(|member| member.cells.len())
        .sum::<usize>();
    let seconds = engine.sizes.seconds_per_row * share * cells as f64;
    let allowance = allowance(engine, &members);
    let of_epoch = match engine.quick {
        true => ROUNDS_QUICK,
        false => ROUNDS_FULL,
    };
    let mut time = Time::default();
    let mut round = 0;
    while wants_round(round, of_epoch, &time, seconds, allowance) {
        if round % of_epoch == 0 {
            // Those of the epoch before end.
            members.iter_mut().for_each(|member| member.running = None);
        }
        let from = Instant::now();
        start_all(engine, &mut members, &places, round)?;
        time.started(from.elapsed().as_secs_f64(), round % of_epoch == 0);
        let from = Instant::now();
        for load in &loads {
            take_round(engine, &mut members, *load, &places, round)?;
        }
        round += 1;
        time.measured(from.elapsed().as_secs_f64());
        if engine.interrupted() || is_done(&members, round, engine.sizes.relative_half_width) {
            break;
        }
    }
    let took = begun.elapsed().as_secs_f64() / cells.max(1) as f64;
    keep(engine, members, share, took)
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
        let same = |other: &Item| other.identity.test == identity.test;
        let cell = Cell {
            position,
            load: engine.items.iter().position(same).unwrap_or(position),
            task: task.clone(),
            rounds: Vec::new(),
            absence: None,
        };
        match members
            .iter_mut()
            .find(|member| member.subject == identity.subject)
        {
            Some(member) => member.cells.push(cell),
            None => members.push(Member::of(identity, cell)),
        }
    }
    let twins = &engine.twins;
    let again: Vec<Member> = members
        .iter()
        .filter(|member| twins.contains(&member.subject))
        .map(Member::again)
        .collect();
    members.extend(again);
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

/// Starts and warms the servers that do not run and have a load to be measured under.
fn start_all(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    places: &Places,
    round: u32,
) -> Result<(), RunError> {
    for member in members {
        let is_wanted = member.cells.iter().any(|cell| cell.absence.is_none());
        if engine.interrupted() || member.running.is_some() || !is_wanted {
            continue;
        }
        if !member.told {
            member.told = true;
            for cell in &member.cells {
                let item = engine.items[cell.position].clone();
                engine.tell_started(&item);
            }
        }
        let warmed = start(engine, member, places).and_then(|(server, target)| {
            let task = &member.cells[0].task;
            match warm::up(&server, &target, task, places, engine.quick, round) {
                Ok(warm_up) => Ok((server, target, warm_up)),
                Err(error) => Err(server.absence(&error)),
            }
        });
        match warmed {
            Err(absence) => member.fail_all(&absence),
            Ok((server, target, warm_up)) => {
                note(engine, member.cells[0].position, "warm-up", &warm_up)?;
                member.warm_ups.push(warm_up);
                member.running = Some((server, target));
            }
        }
    }
    Ok(())
}

/// One round of one load: a moment of each server that has it.
fn take_round(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    load: usize,
    places: &Places,
    round: u32,
) -> Result<(), RunError> {
    for turn in 0..members.len() {
        let index = match round % 2 {
            0 => turn,
            _ => members.len() - 1 - turn,
        };
        if engine.interrupted() {
            break;
        }
        visit(engine, &mut members[index], load, places, round)?;
    }
    Ok(())
}

/// The moment of one server.
fn visit(
    engine: &mut Engine<'_, '_>,
    member: &mut Member,
    load: usize,
    places: &Places,
    round: u32,
) -> Result<(), RunError> {
    let Some((server, target)) = &member.running else {
        return Ok(());
    };
    let of_load = |cell: &&mut Cell| cell.load == load && cell.absence.is_none();
    let Some(cell) = member.cells.iter_mut().find(of_load) else {
        return Ok(());
    };
    let is_trial = cell.task.by != Generator::Antiphon || cell.task.freeze_ms.is_some();
    if is_trial && round >= ROUNDS_LEAST {
        return Ok(()); // It says whether to trust the others, and costs much more time than they.
    }
    let expected = cell.expected();
    match cell::measure(server, target, &cell.task, expected, places, engine.quick) {
        Ok((mut measured, histogram)) => {
            measured.round = round;
            let name = if member.is_again {
                "load again"
            } else {
                "load"
            };
            note(engine, cell.position, name, &(&measured, histogram))?;
            cell.rounds.push(measured);
        }
        Err(absence) => {
            cell.absence = Some(absence);
            if server.has_ended() {
                // The next round starts it again, for its other loads.
                member.running = None;
            }
        }
    }
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
    members: Vec<Member>,
    share: f64,
    took: f64,
) -> Result<(), RunError> {
    let (again, members): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| member.is_again);
    let mut twins: HashMap<usize, Vec<LoadRound>> = HashMap::new();
    for cell in again.into_iter().flat_map(|member| member.cells) {
        twins.insert(cell.position, cell.rounds);
    }
    for member in members {
        drop(member.running);
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
                    again: twins.remove(&cell.position).unwrap_or_default(),
                    warm_ups: std::mem::take(&mut warm_ups),
                })),
            };
            let identity = engine.items[cell.position].identity.clone();
            engine.replace(cell.position, ResultRecord::new(identity, outcome))?;
        }
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
    fn of(identity: &Identity, cell: Cell) -> Member {
        Member {
            subject: identity.subject.clone(),
            policy: identity.policy.clone(),
            is_again: false,
            cells: vec![cell],
            warm_ups: Vec::new(),
            running: None,
            told: false,
        }
    }

    /// The same server once more. Of loads by other generators, and of freezes, there is one only.
    fn again(&self) -> Member {
        let by_ours =
            |cell: &&Cell| cell.task.by == Generator::Antiphon && cell.task.freeze_ms.is_none();
        let cells = self.cells.iter().filter(by_ours).map(|cell| Cell {
            position: cell.position,
            load: cell.load,
            task: cell.task.clone(),
            rounds: Vec::new(),
            absence: None,
        });
        Member {
            subject: self.subject.clone(),
            policy: self.policy.clone(),
            is_again: true,
            cells: cells.collect(),
            warm_ups: Vec::new(),
            running: None,
            told: true,
        }
    }

    /// Its loads, as positions of the plan's first items of each.
    fn loads(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|cell| cell.load)
    }

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
