//! Data-parallel versions of SOR and Jacobi's method. Their grid is one array over all machines.

use orca::{Distribution, Error, Orca, Partitioned, View};
use serde::{Deserialize, Serialize};

use crate::sor::{ROUNDS, digest_of, heat_at, relax_row, relaxed};

/// An element is a row, and a part has one element, because neighbours exchange single rows.
#[derive(Clone, Serialize, Deserialize)]
pub struct Row {
    heat: Vec<f64>,
}

fn beside([at]: [usize; 1], _: [usize; 1]) -> [[usize; 1]; 2] {
    [[at.wrapping_sub(1)], [at + 1]]
}

#[orca::elements(1)]
impl Row {
    #[initial]
    fn initial([row]: [usize; 1], [size]: [usize; 1]) -> Self {
        Self {
            heat: (0..size).map(|column| heat_at(row, column, size)).collect(),
        }
    }

    #[parallel]
    #[reads(declared = beside)]
    fn relax(&mut self, rows: &View<'_, Self, 1>, colour: usize) {
        let [at] = rows.at();
        if let (Some(above), Some(below)) = (rows.get([at.wrapping_sub(1)]), rows.get([at + 1])) {
            relax_row(&mut self.heat, [&above.heat, &below.heat], at, colour);
        }
    }

    #[parallel]
    #[reads(own)]
    #[reduce(u64::wrapping_add)]
    fn digest(&self, rows: &View<'_, Self, 1>) -> u64 {
        let ([at], [size]) = (rows.at(), rows.shape());
        match at == 0 || at == size - 1 {
            true => 0,
            false => digest_of(std::slice::from_ref(&self.heat)),
        }
    }
}

pub fn parallel_sor(orca: &Orca, size: usize) -> Result<u64, Error> {
    let how = Distribution::block(&[size], &orca.machines());
    let rows: Partitioned<Row, 1> = orca.create_partitioned([size], &how)?;
    for _ in 0..ROUNDS {
        for colour in [0, 1] {
            rows.relax(colour)?;
        }
    }
    rows.digest()
}

/// An element is a point.
#[derive(Clone, Serialize, Deserialize)]
pub struct Point {
    heat: f64,
}

#[orca::elements(2)]
impl Point {
    #[initial]
    fn initial([row, column]: [usize; 2], [size, _]: [usize; 2]) -> Self {
        Self {
            heat: heat_at(row, column, size),
        }
    }

    /// The first run records which parts are read.
    #[parallel]
    #[reads(recorded)]
    fn average(&mut self, points: &View<'_, Self, 2>) {
        let ([row, column], [rows, columns]) = (points.at(), points.shape());
        if row == 0 || column == 0 || row == rows - 1 || column == columns - 1 {
            return;
        }
        let around = [
            [row - 1, column],
            [row + 1, column],
            [row, column - 1],
            [row, column + 1],
        ];
        self.heat = relaxed(self.heat, around.map(|at| points[at].heat), 1.0);
    }

    #[parallel]
    #[gather]
    fn heat(&self) -> f64 {
        self.heat
    }
}

pub fn parallel_jacobi(orca: &Orca, size: usize) -> Result<u64, Error> {
    let machines = orca.machines();
    let how = Distribution::block(&[machines.len().min(size), 2], &machines);
    let points: Partitioned<Point, 2> = orca.create_partitioned([size, size], &how)?;
    for _ in 0..ROUNDS {
        points.average()?;
    }
    let heat = points.heat()?;
    let rows: Vec<_> = heat.values().chunks(size).map(<[f64]>::to_vec).collect();
    Ok(digest_of(&rows[1..size - 1]))
}
