//! A work queue with leases: a job that its worker does not finish goes to another one. Objects
//! have no clocks. So time is an argument of the operations, and one process counts it in ticks.

use std::collections::{BTreeMap, VecDeque};

use orca::{Error, On, Orca, Placement, Shared};
use serde::{Deserialize, Serialize};

const LEASE: u64 = 3;

#[orca::object]
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Queue {
    waiting: VecDeque<u64>,
    /// Jobs in progress, and the ends of their leases.
    leased: BTreeMap<u64, u64>,
    results: BTreeMap<u64, u64>,
    now: u64,
    total: usize,
}

impl Queue {
    fn is_done(&self) -> bool {
        self.results.len() == self.total
    }
}

#[orca::object]
impl Queue {
    #[operation(take)]
    #[guard(!self.waiting.is_empty())]
    pub fn take_waiting(&mut self) -> Option<u64> {
        let job = self.waiting.pop_front()?;
        self.leased.insert(job, self.now + LEASE);
        Some(job)
    }

    #[operation(take)]
    #[guard(self.is_done())]
    pub fn take_none(&self) -> Option<u64> {
        None
    }

    /// Takes the first result of a job. Returns false for a later one.
    pub fn finish(&mut self, job: u64, result: u64) -> bool {
        self.leased.remove(&job);
        self.waiting.retain(|it| *it != job);
        self.results.insert(job, result).is_none()
    }

    /// Advances time: expired leases give their jobs back. Returns whether all jobs are done.
    pub fn tick(&mut self) -> bool {
        self.now += 1;
        let ended: Vec<_> = self
            .leased
            .iter()
            .filter(|(_, end)| **end <= self.now)
            .map(|(job, _)| *job)
            .collect();
        for job in ended {
            self.leased.remove(&job);
            self.waiting.push_back(job);
        }
        self.is_done()
    }

    #[guard(self.is_done())]
    pub fn sum(&self) -> u64 {
        self.results.values().sum()
    }
}

fn result(job: u64) -> u64 {
    job * job + 1
}

pub fn sequential(jobs: usize) -> u64 {
    (0..jobs as u64).map(result).sum()
}

/// Loses every fifth job that it takes, as a crashing worker would.
#[orca::process]
fn worker(queue: Shared<Queue>) -> Result<(), Error> {
    let mut taken = 0_u64;
    while let Some(job) = queue.take()? {
        taken += 1;
        if !taken.is_multiple_of(5) {
            queue.finish(job, result(job))?;
        }
    }
    Ok(())
}

#[orca::process]
fn clock(queue: Shared<Queue>) -> Result<(), Error> {
    while !queue.tick()? {
        antiphon_panda::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(())
}

pub fn parallel(orca: &Orca, jobs: usize) -> Result<u64, Error> {
    let state = Queue {
        waiting: (0..jobs as u64).collect(),
        total: jobs,
        ..Queue::default()
    };
    let queue = orca.create_at(Placement::Replicated, state)?;
    for machine in orca.machines() {
        worker::fork(orca, On::Machine(machine), queue.clone())?;
    }
    clock::fork(orca, On::Any, queue.clone())?;
    queue.sum()
}
