//! Servers under load. All servers of one processor run side by side and take turns.
//!
//! In an epoch each is started afresh, checked for its answer, and warmed. Then, round by round,
//! each load runs on one server after the other, forth and back (A B B A). Each has a moment while
//! the others wait.
//!
//! A slow moment of the machine thus hits all servers' figures for that load alike, and ratios are
//! of neighbouring moments. Differences between starts show between epochs. A server that is
//! started twice shows them within one, with all random errors of the method.

mod cell;
mod member;
mod orphan_server;
mod processors;
mod rival;
mod rounds;
mod server;
mod starting;
pub(super) mod warm;

pub(crate) use orphan_server::sweep as sweep_servers;

use super::RunError;
use super::budget::nominal;
use super::engine::Engine;
use super::first::OwnSession;
use crate::record::{Absence, LoadOutcome, LoadRound, Outcome, ResultRecord};
use crate::store::Raw;
use antiphon_load::Error as LoadError;
use member::{Cell, Member, members};
use rounds::{Next, ROUNDS_LEAST, Time};
use starting::start_all;
use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// Rounds of an epoch at least, if there is time for another one, in a quick and a full run.
const OF_EPOCH_QUICK: u32 = 8;
const OF_EPOCH_FULL: u32 = 3;

/// Measures the servers with the policy and processor of the item at `position`, under all their
/// loads.
pub(super) fn take_turns(engine: &mut Engine<'_, '_>, position: usize) -> Result<(), RunError> {
    orphan_server::sweep(engine.lab.cache.folder());
    let _first = OwnSession::put_first();
    let mut members = members(engine, position);
    let loads: BTreeSet<usize> = members.iter().flat_map(Member::loads).collect();
    let share = engine.budget.share();
    let begun = Instant::now();
    let cells = members
        .iter()
        .map(|member| member.cells.len())
        .sum::<usize>();
    let allowance = allowance(engine, &members);
    let nominal = engine.sizes.seconds_per_row * share * cells as f64;
    // More rounds and more starts bring two runs nearer to each other, so all of the user's time is
    // used.
    let seconds = match allowance {
        Some(allowed) if engine.budget.is_filled() => nominal.max(allowed),
        _ => nominal,
    };
    let of_epoch = match engine.quick {
        true => OF_EPOCH_QUICK,
        false => OF_EPOCH_FULL,
    };
    let (mut time, mut now) = (Time::default(), Now::default());
    loop {
        let next = time.next(seconds, allowance, of_epoch);
        match next {
            Next::End => break,
            Next::Epoch => {
                // The servers of the last epoch end.
                members.iter_mut().for_each(|member| member.running = None);
                now.begin_epoch();
            }
            Next::Round => {}
        }
        let from = Instant::now();
        start_all(engine, &mut members, now.round)?;
        time.started(from.elapsed().as_secs_f64(), next);
        let from = Instant::now();
        for load in &loads {
            take_round(engine, &mut members, *load, now)?;
        }
        now.round += 1;
        time.measured(from.elapsed().as_secs_f64());
        if engine.interrupted() || is_done(&members, now.round, engine.sizes.relative_half_width) {
            break;
        }
    }
    let took = begun.elapsed().as_secs_f64() / cells.max(1) as f64;
    keep(engine, members, share, took)
}

/// The round that is made, and the epoch that it is of, both from 0.
#[derive(Clone, Copy, Default)]
struct Now {
    round: u32,
    epoch: u32,
}

impl Now {
    fn begin_epoch(&mut self) {
        self.epoch += u32::from(self.round > 0);
    }
}

/// Returns the run's budget for these servers, s.
fn allowance(engine: &Engine<'_, '_>, members: &[Member]) -> Option<f64> {
    let cells = members.iter().flat_map(|member| &member.cells);
    let nominal = cells.map(|cell| {
        let task = &engine.items[cell.position].task;
        nominal(task, engine.sizes.seconds_per_row)
    });
    engine.budget.allowance(nominal.sum())
}

/// Checks whether every server's processor time a request is as narrow as wanted. Trials are
/// exempt: they have too few rounds.
fn is_done(members: &[Member], rounds: u32, wanted: f64) -> bool {
    let narrow = |cell: &Cell| {
        let values: Vec<f64> = cell.rounds.iter().map(LoadRound::cpu_ns).collect();
        cell.absence.is_some()
            || antiphon_measure::median_interval(&values)
                .is_some_and(|of| of.relative_half_width() <= wanted)
    };
    let cells = members.iter().flat_map(|member| &member.cells);
    let mut measured = cells.filter(|cell| !cell.is_trial());
    rounds > ROUNDS_LEAST && measured.all(narrow)
}

/// Takes one round of one load: a moment of each server that has it.
fn take_round(
    engine: &mut Engine<'_, '_>,
    members: &mut [Member],
    load: usize,
    now: Now,
) -> Result<(), RunError> {
    for turn in 0..members.len() {
        let index = match now.round % 2 {
            0 => turn,
            _ => members.len() - 1 - turn,
        };
        if engine.interrupted() {
            break;
        }
        visit(engine, &mut members[index], load, now)?;
    }
    Ok(())
}

/// Takes the moment of one server.
fn visit(
    engine: &mut Engine<'_, '_>,
    member: &mut Member,
    load: usize,
    now: Now,
) -> Result<(), RunError> {
    let Some((server, target)) = &member.running else {
        return Ok(());
    };
    let of_load = |cell: &&mut Cell| cell.load == load && cell.absence.is_none();
    let Some(cell) = member.cells.iter_mut().find(of_load) else {
        return Ok(());
    };
    if cell.is_trial() && now.round >= ROUNDS_LEAST {
        return Ok(()); // It costs much more time than the others.
    }
    let expected = cell.expected();
    // A disturbed machine may never be quiet, so the wait for that stops: more rounds then tell
    // more.
    let was_disturbed = cell.rounds.last().is_some_and(LoadRound::was_disturbed);
    let repeats = !engine.quick && !was_disturbed;
    match cell::measure(server, target, &cell.task, expected, &cell.places, repeats) {
        Ok(mut measured) => {
            (measured.round, measured.epoch) = (now.round, now.epoch);
            let name = if member.is_again {
                "load again"
            } else {
                "load"
            };
            note(engine, cell.position, name, &measured)?;
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

/// Stores a reading of a cell unchanged.
fn note<T: serde::Serialize>(
    engine: &mut Engine<'_, '_>,
    position: usize,
    name: &str,
    what: &T,
) -> Result<(), RunError> {
    let raw = Raw::Note {
        name: name.to_owned(),
        json: serde_json::to_string(what).expect("what was read is always writable as JSON"),
    };
    engine.lab.store.append(engine.run, position, 0, &raw)?;
    Ok(())
}

/// Stores the result; nothing of a load that was interrupted before its first round ended.
fn keep(
    engine: &mut Engine<'_, '_>,
    members: Vec<Member>,
    share: f64,
    took: f64,
) -> Result<(), RunError> {
    let (again, members): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| member.is_again);
    let again = again.into_iter().flat_map(|member| member.cells);
    let mut twins: HashMap<usize, Cell> = again.map(|cell| (cell.position, cell)).collect();
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
                None => {
                    let twin = twins.remove(&cell.position);
                    let (again, again_failed) =
                        twin.map_or_else(Default::default, |twin| (twin.rounds, twin.absence));
                    Outcome::Load(Box::new(LoadOutcome {
                        task: cell.task,
                        rounds: cell.rounds,
                        again,
                        again_failed,
                        warm_ups: std::mem::take(&mut warm_ups),
                    }))
                }
            };
            let identity = engine.items[cell.position].identity.clone();
            engine.replace(cell.position, ResultRecord::new(identity, outcome))?;
        }
    }
    Ok(())
}

/// Turns a generator's error into an absence.
fn of_generator(error: &LoadError) -> Absence {
    Absence::of_message(error)
}

#[cfg(test)]
mod tests {
    use super::processors::Places;
    use super::*;
    use crate::record::{Generator, LoadTask};
    use antiphon_measure::Placement;

    /// Creates a load whose rounds took this processor time a request.
    fn cell(freeze_ms: Option<u64>, by: Generator, cpu_ns: &[u64]) -> Cell {
        let round = |cpu_ns: &u64| LoadRound {
            answered: 1,
            server_cpu_ns: *cpu_ns,
            ..LoadRound::default()
        };
        Cell {
            position: 0,
            load: 0,
            task: LoadTask {
                path: "/".to_owned(),
                body: "hello".to_owned(),
                connections: 1,
                keep_alive: true,
                per_second: None,
                percent_of_closed: None,
                freeze_ms,
                by,
                sleeps: false,
                seconds: 1.0,
            },
            places: Places::of(Placement::Same { processor: 0 }),
            rounds: cpu_ns.iter().map(round).collect(),
            absence: None,
        }
    }

    fn member(cells: Vec<Cell>) -> Member {
        Member {
            subject: "a/b".to_owned(),
            policy: "other".to_owned(),
            is_again: false,
            cells,
            warm_ups: Vec::new(),
            running: None,
            reported: true,
        }
    }

    #[test]
    fn trials_do_not_keep_the_others_from_being_done() {
        let narrow = || cell(None, Generator::Antiphon, &[1000; 12]);
        let wide = [900, 1000, 1100];
        let frozen = cell(Some(100), Generator::Antiphon, &wide);
        let by_wrk = cell(None, Generator::Wrk, &wide);
        assert!(is_done(&[member(vec![narrow(), frozen, by_wrk])], 12, 0.01));
        let few = cell(None, Generator::Antiphon, &wide);
        assert!(!is_done(&[member(vec![narrow(), few])], 12, 0.01));
    }
}
