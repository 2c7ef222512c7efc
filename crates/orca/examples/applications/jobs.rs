//! Objects that several applications share.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A queue of jobs. A caller gets one job, or nothing once all are done.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct JobQueue {
    jobs: VecDeque<Vec<u32>>,
    is_complete: bool,
}

#[orca::object]
impl JobQueue {
    pub fn add(&mut self, job: Vec<u32>) {
        self.jobs.push_back(job);
    }

    /// Marks the queue as complete: no more jobs will come.
    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    #[operation(next)]
    #[guard(!self.jobs.is_empty())]
    pub fn next_job(&mut self) -> Option<Vec<u32>> {
        self.jobs.pop_front()
    }

    #[operation(next)]
    #[guard(self.is_complete && self.jobs.is_empty())]
    pub fn no_job(&self) -> Option<Vec<u32>> {
        None
    }
}

/// A sum to which processes add, and for whose completion they wait.
#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Tally {
    count: u32,
    sum: u64,
}

#[orca::object]
impl Tally {
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
    }

    /// Waits until `count` processes have added.
    #[guard(self.count >= count)]
    pub fn total(&self, count: u32) -> u64 {
        self.sum
    }
}

/// A minimum, which is read often and improved seldom.
#[orca::object]
#[derive(Clone, Serialize, Deserialize)]
pub struct Bound {
    least: u32,
}

impl Bound {
    pub fn new() -> Self {
        Self { least: u32::MAX }
    }
}

#[orca::object]
impl Bound {
    pub fn least(&self) -> u32 {
        self.least
    }

    pub fn improve(&mut self, value: u32) {
        self.least = self.least.min(value);
    }
}

/// Returns a digest of values. Equal values in the same order give equal digests.
pub fn digest(values: impl IntoIterator<Item = u64>) -> u64 {
    values
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, value| {
            (hash ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(23)
        })
}

/// Returns pseudo-random numbers, the same on all machines.
pub fn drawn(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed * 2 + 1), |state| {
        let mut next = *state;
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        Some(next)
    })
    .map(|state| state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33)
    .skip(1)
}
