//! Successive over-relaxation and Jacobi's method on a grid. Each process has some rows, and sends
//! its first and last one to its neighbours through buffers, which are an array of shared objects.

use std::collections::VecDeque;
use std::ops::Range;

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

use crate::jobs::{Tally, digest};

pub const ROUNDS: usize = 20;
const OMEGA: f64 = 1.5;

/// A row on its way from one process to the next.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Border {
    rows: VecDeque<Vec<f64>>,
}

#[orca::object]
impl Border {
    pub fn put(&mut self, row: Vec<f64>) {
        self.rows.push_back(row);
    }

    #[guard(!self.rows.is_empty())]
    pub fn take(&mut self) -> Vec<f64> {
        self.rows.pop_front().unwrap_or_default()
    }
}

type Grid = Vec<Vec<f64>>;

/// Returns the initial heat of a point: the edges are warm, and the inside is cold.
pub fn heat_at(row: usize, column: usize, size: usize) -> f64 {
    let is_edge = |at: usize| at == 0 || at == size - 1;
    match is_edge(row) || is_edge(column) {
        true => (row * 7 + column * 3) as f64,
        false => 0.0,
    }
}

fn grid(size: usize) -> Grid {
    let row = |row| (0..size).map(move |column| heat_at(row, column, size));
    (0..size).map(|at| row(at).collect()).collect()
}

/// Returns the new value of a point from the points around it, and from its own value unless
/// `omega` is 1.
pub fn relaxed(own: f64, around: [f64; 4], omega: f64) -> f64 {
    own + omega * (around.iter().sum::<f64>() / 4.0 - own)
}

/// Relaxes the points of one colour in row `number`. Their neighbours have the other colour.
pub fn relax_row(row: &mut [f64], [above, below]: [&[f64]; 2], number: usize, colour: usize) {
    for column in 1..row.len() - 1 {
        if (number + column) % 2 == colour {
            let around = [
                above[column],
                below[column],
                row[column - 1],
                row[column + 1],
            ];
            row[column] = relaxed(row[column], around, OMEGA);
        }
    }
}

fn averaged(grid: &Grid, at: usize) -> Vec<f64> {
    let (above, row, below) = (&grid[at - 1], &grid[at], &grid[at + 1]);
    let mut next = row.clone();
    for column in 1..row.len() - 1 {
        let around = [
            above[column],
            below[column],
            row[column - 1],
            row[column + 1],
        ];
        next[column] = relaxed(row[column], around, 1.0);
    }
    next
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Method {
    /// One colour after the other.
    Sor,
    /// All points at once.
    Jacobi,
}

impl Method {
    /// Returns the number of steps of a round. After each step neighbours exchange rows.
    fn steps(self) -> usize {
        match self {
            Self::Sor => 2,
            Self::Jacobi => 1,
        }
    }

    /// Runs a step on some rows, the first of which has the number `first`.
    fn step(self, grid: &mut Grid, rows: Range<usize>, first: usize, step: usize) {
        match self {
            Self::Sor => {
                for at in rows {
                    let mut row = std::mem::take(&mut grid[at]);
                    relax_row(&mut row, [&grid[at - 1], &grid[at + 1]], first + at, step);
                    grid[at] = row;
                }
            }
            Self::Jacobi => {
                let next: Vec<_> = rows.clone().map(|at| averaged(grid, at)).collect();
                grid.splice(rows, next);
            }
        }
    }

    fn sequential(self, size: usize) -> u64 {
        let mut grid = grid(size);
        for _ in 0..ROUNDS {
            for step in 0..self.steps() {
                self.step(&mut grid, 1..size - 1, 0, step);
            }
        }
        digest_of(&grid[1..size - 1])
    }
}

/// Returns a digest of rows that does not depend on their order.
pub fn digest_of(rows: &[Vec<f64>]) -> u64 {
    let row = |row: &Vec<f64>| digest(row.iter().map(|it| it.to_bits()));
    rows.iter().map(row).fold(0, u64::wrapping_add)
}

pub fn sequential_sor(size: usize) -> u64 {
    Method::Sor.sequential(size)
}

pub fn sequential_jacobi(size: usize) -> u64 {
    Method::Jacobi.sequential(size)
}

/// The buffers to a neighbour and from it.
type Neighbour = (Shared<Border>, Shared<Border>);

/// The rows of a process, with a neighbour's row at either end, and the buffers for those.
struct Part {
    rows: Grid,
    /// The number of the first row.
    first: usize,
    before: Option<Neighbour>,
    behind: Option<Neighbour>,
}

impl Part {
    /// Between two neighbouring processes lie two borders, down and up.
    fn of(borders: &[Shared<Border>], size: usize, part: usize, parts: usize) -> Self {
        let inner = size - 2;
        let (from, to) = (1 + part * inner / parts, 1 + (part + 1) * inner / parts);
        let border = |at: usize| borders[at].clone();
        Self {
            rows: grid(size)[from - 1..=to].to_vec(),
            first: from - 1,
            before: (part > 0).then(|| (border(2 * part - 1), border(2 * part - 2))),
            behind: (part + 1 < parts).then(|| (border(2 * part), border(2 * part + 1))),
        }
    }

    fn own(&self) -> Range<usize> {
        1..self.rows.len() - 1
    }

    fn exchange(&mut self) -> Result<(), Error> {
        let last = self.rows.len() - 1;
        let ends = [(&self.before, 1, 0), (&self.behind, last - 1, last)];
        for (neighbour, own, _) in &ends {
            if let Some((to, _)) = neighbour {
                to.put(self.rows[*own].clone())?;
            }
        }
        for (neighbour, _, other) in ends {
            if let Some((_, from)) = neighbour {
                self.rows[other] = from.take()?;
            }
        }
        Ok(())
    }
}

#[orca::process]
fn worker(
    method: Method,
    borders: Vec<Shared<Border>>,
    done: Shared<Tally>,
    size: usize,
    part: usize,
    parts: usize,
) -> Result<(), Error> {
    let mut part = Part::of(&borders, size, part, parts);
    for _ in 0..ROUNDS {
        for step in 0..method.steps() {
            let own = part.own();
            method.step(&mut part.rows, own, part.first, step);
            part.exchange()?;
        }
    }
    done.add(digest_of(&part.rows[part.own()]))
}

fn parallel(orca: &Orca, size: usize, method: Method) -> Result<u64, Error> {
    let machines = orca.machines();
    let parts = machines.len().min(size - 2);
    // Each border lives on the machine that takes from it.
    let place = |at: usize| Placement::Owned(machines[at / 2 + usize::from(at.is_multiple_of(2))]);
    let borders = (0..2 * (parts - 1)).map(|at| orca.create_at(place(at), Border::default()));
    let borders = borders.collect::<Result<Vec<_>, _>>()?;
    let done = orca.create(Tally::default())?;
    for (part, machine) in machines.iter().enumerate().take(parts) {
        let (on, borders) = (On::Machine(*machine), borders.clone());
        worker::fork(orca, on, method, borders, done.clone(), size, part, parts)?;
    }
    done.total(parts as u32)
}

pub fn parallel_sor(orca: &Orca, size: usize) -> Result<u64, Error> {
    parallel(orca, size, Method::Sor)
}

pub fn parallel_jacobi(orca: &Orca, size: usize) -> Result<u64, Error> {
    parallel(orca, size, Method::Jacobi)
}
