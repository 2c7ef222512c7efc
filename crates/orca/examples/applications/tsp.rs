//! The travelling salesman: branch and bound with a queue of jobs and a replicated bound.
//!
//! The master puts all routes of a few cities into a queue. Each worker takes a route and searches
//! its continuations, unless it is already longer than the bound. The bound is read at every city
//! and written seldom, so it is replicated.

use orca::{Error, On, Orca, Placement, Shared};

use crate::jobs::{Bound, JobQueue, Tally, drawn};

/// Cities of the routes in the queue.
const PREFIX: usize = 3;

fn distances(cities: usize) -> Vec<Vec<u32>> {
    let mut numbers = drawn(cities as u64);
    let mut point = || {
        let mut next = || numbers.next().unwrap_or(0) % 1000;
        (next() as f64, next() as f64)
    };
    let points: Vec<_> = (0..cities).map(|_| point()).collect();
    let far = |a: &(f64, f64), b: &(f64, f64)| (a.0 - b.0).hypot(a.1 - b.1) as u32;
    points
        .iter()
        .map(|a| points.iter().map(|b| far(a, b)).collect())
        .collect()
}

/// Searches all routes that begin with `route`, and writes each that is shorter than the bound.
fn search(
    distances: &[Vec<u32>],
    route: &mut Vec<u32>,
    length: u32,
    bound: &mut impl FnMut(Option<u32>) -> Result<u32, Error>,
) -> Result<(), Error> {
    if length >= bound(None)? {
        return Ok(());
    }
    let last = route[route.len() - 1] as usize;
    if route.len() == distances.len() {
        return bound(Some(length + distances[last][0])).map(drop);
    }
    for city in 0..distances.len() as u32 {
        if !route.contains(&city) {
            route.push(city);
            search(
                distances,
                route,
                length + distances[last][city as usize],
                bound,
            )?;
            route.pop();
        }
    }
    Ok(())
}

pub fn sequential(cities: usize) -> u64 {
    let mut least = u32::MAX;
    let mut bound = |found: Option<u32>| {
        least = least.min(found.unwrap_or(u32::MAX));
        Ok(least)
    };
    search(&distances(cities), &mut vec![0], 0, &mut bound).expect("nothing fails here");
    least.into()
}

#[orca::process]
fn worker(
    queue: Shared<JobQueue>,
    bound: Shared<Bound>,
    done: Shared<Tally>,
    cities: usize,
) -> Result<(), Error> {
    let distances = distances(cities);
    while let Some(mut route) = queue.next()? {
        let legs = route
            .windows(2)
            .map(|leg| distances[leg[0] as usize][leg[1] as usize]);
        let length = legs.sum();
        search(&distances, &mut route, length, &mut |found| {
            if let Some(length) = found
                && length < bound.least()?
            {
                bound.improve(length)?;
            }
            bound.least()
        })?;
    }
    done.add(0)
}

fn add_jobs(queue: &Shared<JobQueue>, cities: usize, route: &mut Vec<u32>) -> Result<(), Error> {
    if route.len() == PREFIX.min(cities) {
        return queue.add(route.clone());
    }
    for city in 0..cities as u32 {
        if !route.contains(&city) {
            route.push(city);
            add_jobs(queue, cities, route)?;
            route.pop();
        }
    }
    Ok(())
}

pub fn parallel(orca: &Orca, cities: usize) -> Result<u64, Error> {
    let queue = orca.create_at(Placement::Owned(orca.machine()), JobQueue::default())?;
    let bound = orca.create_at(Placement::Replicated, Bound::new())?;
    let done = orca.create(Tally::default())?;
    let machines = orca.machines();
    for machine in &machines {
        let shared = (queue.clone(), bound.clone(), done.clone());
        worker::fork(
            orca,
            On::Machine(*machine),
            shared.0,
            shared.1,
            shared.2,
            cities,
        )?;
    }
    add_jobs(&queue, cities, &mut vec![0])?;
    queue.complete()?;
    done.total(machines.len() as u32)?;
    Ok(bound.least()?.into())
}
