//! Conway's cellular automaton, in several worlds at a time. Each world is one array over all
//! machines with a process of its own. So the program has both task and data parallelism.

use orca::{Distribution, Error, On, Orca, Partitioned, Shared, View};
use serde::{Deserialize, Serialize};

use crate::jobs::{Tally, digest, drawn};

const WORLDS: u64 = 3;
const ROUNDS: usize = 15;

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Cell {
    lives: bool,
}

/// Returns the cells around one, in a world whose opposite edges meet.
fn around([row, column]: [usize; 2], [rows, columns]: [usize; 2]) -> [[usize; 2]; 8] {
    let rows = [(row + rows - 1) % rows, row, (row + 1) % rows];
    let columns = [
        (column + columns - 1) % columns,
        column,
        (column + 1) % columns,
    ];
    let places = [0, 1, 2, 3, 5, 6, 7, 8];
    places.map(|at| [rows[at / 3], columns[at % 3]])
}

fn goes_on(lives: bool, neighbours: usize) -> bool {
    neighbours == 3 || (lives && neighbours == 2)
}

#[orca::elements(2)]
impl Cell {
    #[parallel]
    fn put(&mut self, world: &View<'_, Self, 2>, cells: &[bool]) {
        let ([row, column], [_, columns]) = (world.at(), world.shape());
        self.lives = cells[row * columns + column];
    }

    #[parallel]
    #[reads(declared = around)]
    fn step(&mut self, world: &View<'_, Self, 2>) {
        let around = around(world.at(), world.shape()).into_iter();
        self.lives = goes_on(self.lives, around.filter(|at| world[*at].lives).count());
    }

    #[parallel]
    #[gather]
    fn lives(&self) -> bool {
        self.lives
    }
}

fn world(number: u64, size: usize) -> Vec<bool> {
    drawn(number)
        .take(size * size)
        .map(|it| it % 3 == 0)
        .collect()
}

fn digest_of(cells: &[bool]) -> u64 {
    digest(cells.iter().map(|lives| u64::from(*lives)))
}

pub fn sequential(size: usize) -> u64 {
    let mut sum: u64 = 0;
    for number in 0..WORLDS {
        let mut cells = world(number, size);
        for _ in 0..ROUNDS {
            let next = (0..size * size).map(|at| {
                let around = around([at / size, at % size], [size, size]).into_iter();
                let living = around.filter(|[row, column]| cells[row * size + column]);
                goes_on(cells[at], living.count())
            });
            cells = next.collect();
        }
        sum = sum.wrapping_add(digest_of(&cells));
    }
    sum
}

#[orca::process]
fn keeper(
    cells: Partitioned<Cell, 2>,
    done: Shared<Tally>,
    number: u64,
    size: usize,
) -> Result<(), Error> {
    cells.put(world(number, size))?;
    for _ in 0..ROUNDS {
        cells.step()?;
    }
    done.add(digest_of(cells.lives()?.values()))
}

pub fn parallel(orca: &Orca, size: usize) -> Result<u64, Error> {
    let machines = orca.machines();
    let done = orca.create(Tally::default())?;
    for number in 0..WORLDS {
        let how = Distribution::cyclic(&[size.min(2 * machines.len()), 2], &machines);
        let cells = orca.create_partitioned([size, size], &how)?;
        keeper::fork(orca, On::Any, cells, done.clone(), number, size)?;
    }
    done.total(WORLDS as u32)
}
