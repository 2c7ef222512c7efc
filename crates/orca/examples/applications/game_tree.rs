//! A game tree with a shared table of positions. Players take 1 to 3 sticks from one of three
//! heaps, and the player who takes the last one wins. Few positions are searched on more than one
//! machine, because all machines look them up in a replicated table.

use std::collections::BTreeMap;

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::{JobQueue, Tally};

type Position = [u8; 3];

/// Positions with a known outcome: whether the player to move wins.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Table {
    known: BTreeMap<Position, bool>,
}

#[orca::object]
impl Table {
    pub fn outcome(&self, position: Position) -> Option<bool> {
        self.known.get(&position).copied()
    }

    pub fn learn(&mut self, outcomes: Vec<(Position, bool)>) {
        self.known.extend(outcomes);
    }
}

fn moves(position: Position) -> impl Iterator<Item = Position> {
    (0..3)
        .flat_map(move |heap| (1..=3).map(move |count| (heap, count)))
        .filter_map(move |(heap, count)| {
            let mut next = position;
            next[heap] = next[heap].checked_sub(count)?;
            next.sort_unstable();
            Some(next)
        })
}

/// Returns whether the player to move wins. Looks it up in the table, and adds a new result to it.
fn wins(
    position: Position,
    own: &mut BTreeMap<Position, bool>,
    shared: &mut impl FnMut(Position) -> Result<Option<bool>, Error>,
) -> Result<bool, Error> {
    if let Some(known) = own.get(&position) {
        return Ok(*known);
    }
    let outcome = match shared(position)? {
        Some(known) => known,
        None => {
            let mut outcome = false;
            for next in moves(position) {
                if !wins(next, own, shared)? {
                    outcome = true;
                    break;
                }
            }
            outcome
        }
    };
    own.insert(position, outcome);
    Ok(outcome)
}

fn positions(size: usize) -> impl Iterator<Item = Position> {
    let size = size as u8;
    (0..=size).flat_map(move |a| (a..=size).flat_map(move |b| (b..=size).map(move |c| [a, b, c])))
}

pub fn sequential(size: usize) -> u64 {
    let mut own = BTreeMap::new();
    let mut none = |_| Ok(None);
    let all =
        positions(size).filter(|it| wins(*it, &mut own, &mut none).expect("nothing fails here"));
    all.count() as u64
}

#[orca::process]
fn searcher(
    queue: Shared<JobQueue>,
    table: Shared<Table>,
    won: Shared<Tally>,
) -> Result<(), Error> {
    let mut count = 0;
    while let Some(job) = queue.next()? {
        let mut own = BTreeMap::new();
        for first in job.chunks_exact(3) {
            let position = [first[0] as u8, first[1] as u8, first[2] as u8];
            count += u64::from(wins(position, &mut own, &mut |it| table.outcome(it))?);
        }
        table.learn(own.into_iter().collect())?;
    }
    won.add(count)
}

pub fn parallel(orca: &Orca, size: usize) -> Result<u64, Error> {
    let queue = orca.create(JobQueue::default())?;
    let table = orca.create_at(Placement::Replicated, Table::default())?;
    let won = orca.create(Tally::default())?;
    let machines = orca.machines();
    for machine in &machines {
        let on = On::Machine(*machine);
        searcher::fork(orca, on, queue.clone(), table.clone(), won.clone())?;
    }
    let all: Vec<_> = positions(size).collect();
    for job in all.chunks(8) {
        queue.add(job.iter().flatten().map(|it| u32::from(*it)).collect())?;
    }
    queue.complete()?;
    won.total(machines.len() as u32)
}
