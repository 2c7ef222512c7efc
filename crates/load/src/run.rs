//! A run: its connections are opened, its threads each do their part, and their results are joined.

use crate::connection::Connection;
use crate::engine::{self, Ends, Part};
use crate::measured::Measured;
use crate::pace::{Slots, dealt};
use crate::{Error, Load, Schedule, cpu};
use rustix::fd::OwnedFd;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Barrier, OnceLock};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Instant;

/// Sends the load, and returns the measurement.
///
/// It takes at most `duration` and `drain`, and the time to open the connections, which
/// `time_limit` bounds.
///
/// # Errors
/// A setting is out of its range, a connection cannot be opened, or the system refuses the
/// generator a resource. Failed requests are counted in the result.
pub fn run(load: &Load) -> Result<Measured, Error> {
    run_unless(load, &AtomicBool::new(false))
}

/// Sends the load, but ends early once `stop` is set, with the measurement until then.
///
/// # Errors
/// As for [`run`].
pub fn run_unless(load: &Load, stop: &AtomicBool) -> Result<Measured, Error> {
    load.check()?;
    let (connections, longest_connect_ns) = open(load)?;
    let (mut measured, _) = on(Builder::new, load, connections, stop)?;
    measured.longest_connect_ns = longest_connect_ns;
    Ok(measured)
}

/// Sends the load on connections that the server already serves. Each kept one has carried a
/// request before, which counts nowhere.
///
/// `edge` is called before the first counted request, and after the last answer before the
/// connections are closed. The server's use between both is therefore for these requests alone. (If
/// the last answers take long, idle connections are closed meanwhile.) Without an earlier answer on
/// a connection, `edge` is not called, and the result tells that failure.
///
/// # Errors
/// As for [`run`].
pub fn run_steady(load: &Load, mut edge: impl FnMut()) -> Result<Measured, Error> {
    load.check()?;
    let (mut connections, longest_connect_ns) = open(load)?;
    if load.keep_alive {
        let (first, answered) = all(&once_over_each(load), connections)?;
        if first.failed() + first.unanswered > 0 {
            return Ok(first);
        }
        connections = answered;
    }
    edge();
    let (mut measured, _open) = all(load, connections)?;
    edge();
    measured.longest_connect_ns = longest_connect_ns;
    Ok(measured)
}

/// Returns a load of one request over each connection.
fn once_over_each(load: &Load) -> Load {
    Load {
        schedule: Schedule::Closed,
        requests_max: load.connections as u64,
        duration: load.time_limit,
        // They count nowhere, and the time limit may be long.
        busy_poll: false,
        ..load.clone()
    }
}

/// Measurement of a thread, with its connections.
type Done = (Measured, Vec<Connection>);

/// Has each thread do its part over these connections, and gives them back.
fn all(load: &Load, connections: Vec<Connection>) -> Result<Done, Error> {
    on(Builder::new, load, connections, &AtomicBool::new(false))
}

fn on(
    thread: impl Fn() -> Builder,
    load: &Load,
    connections: Vec<Connection>,
    stop: &AtomicBool,
) -> Result<Done, Error> {
    let parts = divide(load, connections);
    let together = &Together {
        barrier: Barrier::new(parts.len()),
        begun: OnceLock::new(),
        given_up: AtomicBool::new(false),
        stop,
    };
    std::thread::scope(|scope| {
        let (mut threads, mut signals) = (Vec::new(), Vec::new());
        for part in parts {
            // At the barrier, started threads would wait for ever for one that the system refuses.
            // So each waits for a signal first, and does nothing if none can come any more.
            let (signal, all_are_there) = channel();
            let work = move || match all_are_there.recv() {
                Ok(()) => one(load, part, together).map(Some),
                Err(_) => Ok(None),
            };
            let started = thread().spawn_scoped(scope, work);
            threads.push(started.map_err(Error::system("starting a thread of the generator"))?);
            signals.push(signal);
        }
        for signal in signals {
            // The receiving thread waits for nothing else.
            let _ = signal.send(());
        }
        join(threads)
    })
}

/// Joins the results of a run's threads.
fn join(threads: Vec<ScopedJoinHandle<Result<Option<Done>, Error>>>) -> Result<Done, Error> {
    let mut all: Option<Done> = None;
    for thread in threads {
        let done = thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        all = match (all, done) {
            (Some((measured, mut connections)), Some((more, had))) => {
                connections.extend(had);
                Some((measured.join(more), connections))
            }
            (all, done) => all.or(done),
        };
    }
    Ok(all.expect("a run has at least one thread, and each had its signal"))
}

/// Common state of a run's threads.
struct Together<'l> {
    barrier: Barrier,
    /// Begin of the run, equal for all threads, because their requests are parts of one schedule.
    begun: OnceLock<Instant>,
    given_up: AtomicBool,
    /// Flag set from outside.
    stop: &'l AtomicBool,
}

/// Runs one thread. All begin together, also those that cannot go on; the others end with the first
/// that has an error.
fn one(load: &Load, part: Part, together: &Together<'_>) -> Result<Done, Error> {
    let placed = load.processor.map_or(Ok(()), cpu::stay_on);
    if load.first {
        cpu::come_first();
    }
    together.barrier.wait();
    let begun = *together.begun.get_or_init(Instant::now);
    let ends = Ends {
        given_up: &together.given_up,
        stop: together.stop,
    };
    let done = placed.and_then(|()| engine::run(load, part, begun, &ends));
    if done.is_err() {
        together.given_up.store(true, Ordering::Relaxed);
    }
    done
}

/// Opens the kept connections, one after the other, and returns the longest time of one, ns.
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
        let stream = connect(address, until).map_err(|source| Error::Connect {
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

/// Opens a connection before this moment.
fn connect(address: SocketAddr, until: Instant) -> io::Result<TcpStream> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let stream = TcpStream::connect_timeout(&address, left)?;
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Shares connections, schedule and bounds among the threads.
fn divide(load: &Load, connections: Vec<Connection>) -> Vec<Part> {
    let count = connections.len();
    let mut rest = connections.into_iter();
    let part = |thread: usize| {
        let slots = Slots::new(thread, load.threads, count);
        Part {
            connections: rest.by_ref().take(slots.connections()).collect(),
            slots,
            requests_max: slots.of_first(load.requests_max),
            failures_max: dealt(load.failures_max, thread, load.threads).max(1),
        }
    };
    (0..load.threads).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expected, Reach, Target};
    use std::cell::Cell;
    use std::net::TcpListener;

    #[test]
    fn no_connection_is_opened_when_the_time_for_it_is_over() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        let error = connect(address, Instant::now()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        connect(address, Instant::now() + Load::LONGEST).unwrap();
    }

    #[test]
    fn a_thread_that_the_system_refuses_is_an_error_and_nobody_waits_for_it() {
        let target = Target::parse("http://127.0.0.1:9/", Reach::Loopback).unwrap();
        let expected = Expected {
            status: 200,
            body: Vec::new(),
        };
        let load = Load {
            threads: 3,
            keep_alive: false,
            ..Load::new(target, expected)
        };
        let asked = Cell::new(0);
        let thread = || {
            asked.set(asked.get() + 1);
            // No address space holds such a stack.
            let bytes = if asked.get() == 3 { 1 << 60 } else { 1 << 20 };
            Builder::new().stack_size(bytes)
        };
        let (connections, _) = open(&load).unwrap();
        let stop = AtomicBool::new(false);
        let error = on(thread, &load, connections, &stop)
            .map(|_| ())
            .unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("starting a thread of the generator: "),
            "{error}"
        );
        assert_eq!(asked.get(), 3);
    }
}
