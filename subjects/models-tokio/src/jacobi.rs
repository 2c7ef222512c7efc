//! Jacobi iteration on a square grid, whose outermost rows and columns never change.
//!
//! Each worker owns its rows. After a sweep it publishes them for its neighbours, which read them in the next sweep: the outermost rows of
//! strips are the only data that two workers share.

use crate::Told;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tokio::sync::Barrier;
use tokio::task::{JoinSet, yield_now};

/// The first and last row of each strip, as bits of numbers, for both parities of the iteration.
struct Borders {
    width: usize,
    cells: Vec<AtomicU64>,
}

impl Borders {
    fn new(width: usize, workers: usize) -> Self {
        let cells = (0..width * workers * 4).map(|_| AtomicU64::new(0));
        Borders {
            width,
            cells: cells.collect(),
        }
    }

    fn row(&self, worker: usize, is_last: bool, parity: usize) -> &[AtomicU64] {
        let index = (worker * 2 + usize::from(is_last)) * 2 + parity;
        &self.cells[index * self.width..(index + 1) * self.width]
    }

    fn publish(&self, worker: usize, is_last: bool, parity: usize, row: &[f64]) {
        for (cell, value) in self.row(worker, is_last, parity).iter().zip(row) {
            cell.store(value.to_bits(), Relaxed);
        }
    }

    fn fetch(&self, worker: usize, is_last: bool, parity: usize, row: &mut [f64]) {
        for (value, cell) in row.iter_mut().zip(self.row(worker, is_last, parity)) {
            *value = f64::from_bits(cell.load(Relaxed));
        }
    }
}

/// A worker's rows, with a row more above and below.
struct Strip {
    own: usize,
    workers: usize,
    width: usize,
    grids: [Vec<f64>; 2],
    change: f64,
}

impl Strip {
    fn new(own: usize, size: usize, workers: usize) -> Self {
        let width = size + 2;
        let rows = (own + 1) * size / workers - own * size / workers;
        let mut grid = vec![0.0; (rows + 2) * width];
        if own == 0 {
            grid[..width].fill(1.0);
        }
        Strip {
            own,
            workers,
            width,
            grids: [grid.clone(), grid],
            change: 0.0,
        }
    }

    /// One sweep from the grid of `parity` to the other, with the neighbours' rows before and its own published after.
    fn sweep(&mut self, parity: usize, borders: &Borders) {
        let width = self.width;
        let rows = self.grids[0].len() / width;
        let [even, odd] = &mut self.grids;
        let (from, to) = match parity {
            0 => (even, odd),
            _ => (odd, even),
        };
        if self.own > 0 {
            borders.fetch(self.own - 1, true, parity, &mut from[..width]);
        }
        if self.own + 1 < self.workers {
            borders.fetch(self.own + 1, false, parity, &mut from[(rows - 1) * width..]);
        }
        self.change = 0.0;
        let targets = to.chunks_exact_mut(width).skip(1);
        for (around, target) in from.windows(3 * width).step_by(width).zip(targets) {
            let change = relax(around, target, width);
            self.change = self.change.max(change);
        }
        if rows > 2 {
            borders.publish(self.own, false, 1 - parity, &to[width..2 * width]);
            borders.publish(
                self.own,
                true,
                1 - parity,
                &to[(rows - 2) * width..(rows - 1) * width],
            );
        }
    }

    /// The sum goes on from what the strips above it gave, so that it is added up in the grid's order.
    fn add_to(&self, iterations: usize, sum: f64) -> f64 {
        let grid = &self.grids[iterations % 2];
        let rows = grid.len() / self.width;
        let own = grid[self.width..(rows - 1) * self.width].chunks_exact(self.width);
        own.flat_map(|row| &row[1..self.width - 1])
            .fold(sum, |sum, value| sum + value)
    }
}

/// One row, from the three around it.
fn relax(around: &[f64], target: &mut [f64], width: usize) -> f64 {
    let (above, rest) = around.split_at(width);
    let (own, below) = rest.split_at(width);
    let mut largest = 0.0f64;
    for j in 1..width - 1 {
        target[j] = (above[j] + below[j] + own[j - 1] + own[j + 1]) * 0.25;
        largest = largest.max((target[j] - own[j]).abs());
    }
    largest
}

fn told(mut strips: Vec<Strip>, iterations: usize) -> Told {
    strips.sort_by_key(|strip| strip.own);
    let sum = strips
        .iter()
        .fold(0.0, |sum, strip| strip.add_to(iterations, sum));
    let change = strips.iter().map(|strip| strip.change).fold(0.0, f64::max);
    format!("sum {sum:.6} change {change:.9}").into()
}

async fn all(mut running: JoinSet<Strip>) -> Vec<Strip> {
    let mut strips = Vec::new();
    while let Some(ended) = running.join_next().await {
        strips.push(ended.expect("a worker does not panic"));
    }
    strips
}

/// The library's barrier.
pub async fn concurrent(size: usize, workers: usize, iterations: usize) -> Told {
    let borders = Arc::new(Borders::new(size + 2, workers));
    let barrier = Arc::new(Barrier::new(workers));
    let mut running = JoinSet::new();
    for own in 0..workers {
        let (borders, barrier) = (borders.clone(), barrier.clone());
        running.spawn(async move {
            let mut strip = Strip::new(own, size, workers);
            for i in 0..iterations {
                strip.sweep(i % 2, &borders);
                barrier.wait().await;
            }
            strip
        });
    }
    told(all(running).await, iterations)
}

/// A barrier that counts, and yields until the last has come.
pub async fn cooperative(size: usize, workers: usize, iterations: usize) -> Told {
    let borders = Rc::new(Borders::new(size + 2, workers));
    let barrier: Rc<(Cell<usize>, Cell<usize>)> = Rc::default();
    let mut running = JoinSet::new();
    for own in 0..workers {
        let (borders, barrier) = (borders.clone(), barrier.clone());
        running.spawn_local(async move {
            let (arrived, phase) = &*barrier;
            let mut strip = Strip::new(own, size, workers);
            for i in 0..iterations {
                strip.sweep(i % 2, &borders);
                let own_phase = phase.get();
                arrived.set(arrived.get() + 1);
                if arrived.get() == workers {
                    arrived.set(0);
                    phase.set(own_phase + 1);
                }
                while phase.get() == own_phase {
                    yield_now().await;
                }
            }
            strip
        });
    }
    told(all(running).await, iterations)
}
