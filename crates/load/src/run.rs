//! A run: its connections are opened, its threads each do their part, and what they measured is joined.

use crate::connection::Connection;
use crate::engine::{self, Part};
use crate::measured::Measured;
use crate::{Error, Load, cpu};
use rustix::fd::OwnedFd;
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Sends the load, and gives what was measured. It takes at most `duration` and `drain`, and the time in which the connections are opened,
/// which is bounded by `time_limit`.
///
/// # Errors
/// A setting is out of its range, a connection cannot be opened, or the system refuses the generator something. Requests that fail are
/// counted in the result.
pub fn run(load: &Load) -> Result<Measured, Error> {
    load.check()?;
    let (connections, longest_connect_ns) = open(load)?;
    let parts = divide(load, connections);
    let barrier = Barrier::new(parts.len());
    let measured = std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(|| one(load, part, &barrier)))
            .collect();
        let mut joined: Option<Measured> = None;
        for thread in threads {
            let measured = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            joined = Some(match joined {
                Some(before) => before.join(measured),
                None => measured,
            });
        }
        Ok::<_, Error>(joined)
    })?;
    let mut measured = measured.expect("a run has at least one thread");
    measured.longest_connect_ns = longest_connect_ns;
    Ok(measured)
}

/// One thread. All begin together, also those that cannot go on.
fn one(load: &Load, part: Part, barrier: &Barrier) -> Result<Measured, Error> {
    let placed = load.processor.map_or(Ok(()), cpu::stay_on);
    barrier.wait();
    placed?;
    engine::run(load, part, Instant::now())
}

/// Opens the connections that are kept, one after the other, and gives the longest time that one took, ns.
fn open(load: &Load) -> Result<(Vec<Connection>, u64), Error> {
    if !load.keep_alive {
        let closed = (0..load.connections).map(|_| Connection::closed());
        return Ok((closed.collect(), 0));
    }
    let until = Instant::now() + load.time_limit;
    let address = load.target.address();
    let mut connections = Vec::with_capacity(load.connections);
    let mut longest_ns = 0;
    for number in 1..=load.connections {
        let begun = Instant::now();
        let left = until
            .saturating_duration_since(begun)
            .max(Duration::from_millis(1));
        let opened = TcpStream::connect_timeout(&address, left).and_then(|stream| {
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        let stream = opened.map_err(|source| Error::Connect {
            number,
            of: load.connections,
            address,
            source,
        })?;
        longest_ns = longest_ns.max(begun.elapsed().as_nanos() as u64);
        connections.push(Connection::open(OwnedFd::from(stream)));
    }
    Ok((connections, longest_ns))
}

/// Shares connections, rate and bounds among the threads.
fn divide(load: &Load, connections: Vec<Connection>) -> Vec<Part> {
    let count = connections.len();
    let mut rest = connections.into_iter();
    let bound = |all: u64, thread: usize| {
        let threads = load.threads as u64;
        all / threads + u64::from((thread as u64) < all % threads)
    };
    let part = |thread: usize| {
        let own = count / load.threads + usize::from(thread < count % load.threads);
        Part {
            connections: rest.by_ref().take(own).collect(),
            share: own as f64 / count as f64,
            requests_max: bound(load.requests_max, thread),
            failures_max: bound(load.failures_max, thread).max(1),
        }
    };
    (0..load.threads).map(part).collect()
}
