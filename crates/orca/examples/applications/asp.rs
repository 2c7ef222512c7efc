//! All shortest paths. Each process has some rows, and the row of each step goes to all of them
//! through a replicated object.

use std::collections::BTreeMap;

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::{Tally, digest, drawn};

/// Finished rows, by number. All processes read each of them once.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Rows {
    rows: BTreeMap<u32, Vec<u32>>,
}

#[orca::object]
impl Rows {
    pub fn put(&mut self, number: u32, row: Vec<u32>) {
        self.rows.insert(number, row);
    }

    #[guard(self.rows.contains_key(&number))]
    pub fn row(&self, number: u32) -> Vec<u32> {
        self.rows[&number].clone()
    }
}

fn matrix(nodes: usize) -> Vec<Vec<u32>> {
    let mut numbers = drawn(nodes as u64);
    let mut next = || numbers.next().unwrap_or(0) % 1000 + 1;
    (0..nodes)
        .map(|_| (0..nodes).map(|_| next() as u32).collect())
        .collect()
}

/// Shortens the paths of a row by those through the node of a step.
fn shorten(row: &mut [u32], by: &[u32], at: usize) {
    let first = row[at];
    for (path, rest) in row.iter_mut().zip(by) {
        *path = (*path).min(first + rest);
    }
}

fn digest_of(row: &[u32]) -> u64 {
    digest(row.iter().map(|it| (*it).into()))
}

pub fn sequential(nodes: usize) -> u64 {
    let mut rows = matrix(nodes);
    for step in 0..nodes {
        let by = rows[step].clone();
        rows.iter_mut().for_each(|row| shorten(row, &by, step));
    }
    rows.iter()
        .map(|row| digest_of(row))
        .fold(0, u64::wrapping_add)
}

#[orca::process]
fn worker(
    rows: Shared<Rows>,
    done: Shared<Tally>,
    nodes: usize,
    part: usize,
    parts: usize,
) -> Result<(), Error> {
    let all = matrix(nodes);
    let (from, to) = (part * nodes / parts, (part + 1) * nodes / parts);
    let mut own = all[from..to].to_vec();
    for step in 0..nodes {
        if (from..to).contains(&step) {
            rows.put(step as u32, own[step - from].clone())?;
        }
        let by = rows.row(step as u32)?;
        own.iter_mut().for_each(|row| shorten(row, &by, step));
    }
    done.add(
        own.iter()
            .map(|row| digest_of(row))
            .fold(0, u64::wrapping_add),
    )
}

pub fn parallel(orca: &Orca, nodes: usize) -> Result<u64, Error> {
    let rows = orca.create_at(Placement::Replicated, Rows::default())?;
    let done = orca.create(Tally::default())?;
    let machines = orca.machines();
    for (part, machine) in machines.iter().enumerate() {
        let on = On::Machine(*machine);
        worker::fork(
            orca,
            on,
            rows.clone(),
            done.clone(),
            nodes,
            part,
            machines.len(),
        )?;
    }
    done.total(machines.len() as u32)
}
