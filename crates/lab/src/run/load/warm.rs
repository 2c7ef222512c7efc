//! Warm-up of servers: load until the cost a request no longer falls, by one rule for all.
//!
//! The load comes in slices, each of which lasts until the server has used a fixed processor time.
//! A busy machine therefore does not pass for a warm server. A server is warm if the last third of
//! its slices has a median cost at most 3 % below the third before. A longer warm-up compares
//! longer stretches, so it waits for a compiler that works for seconds.
//!
//! A constant cost is not final while the compiler has the processor. Compilers must therefore be
//! almost done, if their threads are known. Slices are kept to show the curve; none of their time
//! is in any figure.

use super::member::Cell;
use super::server::Server;
use crate::record::{WarmSlice, WarmUp};
use crate::run::compilers::Compilers;
use crate::run::tree::Tree;
use antiphon_load::{Error, Expected, Load, Target, run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Connections of the load.
const CONNECTIONS: usize = 16;

/// Fewest slices in each of the three thirds.
const SLICES: usize = 2;

/// A server whose cost falls by no more is warm.
const FALL: f64 = 0.03;

/// Share of processor time below which compilers are almost done. Some functions are compiled again
/// at any time.
const COMPILING: f64 = 0.05;

/// The shortest load of which slices are made.
const LOAD: Duration = Duration::from_millis(40);

/// Length of a server's warm-up.
struct Length {
    /// Its processor time in a slice, ns.
    slice_ns: u64,
    /// Least processor time in all, ns. The cost is constant for a while before a compiler begins.
    least_ns: u64,
    /// Most processor time in all, ns.
    most_ns: u64,
    /// Time on the wall, at most.
    wall: Duration,
}

const QUICK: Length = Length {
    slice_ns: 40_000_000,
    least_ns: 1_000_000_000,
    most_ns: 5_000_000_000,
    wall: Duration::from_secs(8),
};

const FULL: Length = Length {
    slice_ns: 100_000_000,
    least_ns: 3_000_000_000,
    most_ns: 15_000_000_000,
    wall: Duration::from_secs(30),
};

/// Warms a server by the request of its first load, from the processor of that load's generator.
///
/// It ends early if the user stops the run, or if every request fails: the server's loads will then
/// report the reason.
pub(super) fn up(
    server: &Server,
    target: &Target,
    first: &Cell,
    quick: bool,
    round: u32,
    stop: &AtomicBool,
) -> Result<WarmUp, Error> {
    let length = if quick { QUICK } else { FULL };
    let expected = Expected {
        status: 200,
        body: first.task.body.clone().into_bytes(),
    };
    let load = Load {
        connections: CONNECTIONS,
        duration: LOAD,
        processor: first.places.generator,
        busy_poll: first.places.may_poll(),
        first: true,
        ..Load::new(target.clone(), expected)
    };
    let begun = Instant::now();
    let mut slices: Vec<WarmSlice> = Vec::new();
    let (mut all_ns, mut compilers) = (0, Compilers::default());
    let goes_on = |all_ns: u64, slices: &[WarmSlice]| {
        all_ns < length.least_ns || (all_ns < length.most_ns && !is_warm(slices))
    };
    while begun.elapsed() < length.wall && goes_on(all_ns, &slices) {
        let tree = Tree::of(server.process());
        let before_ns = tree.cpu_ns();
        let compiled_ns = compilers.used_ns(&tree);
        let used_ns = || tree.cpu_ns().saturating_sub(before_ns);
        let is_over = |used_ns: u64| used_ns >= length.slice_ns || begun.elapsed() >= length.wall;
        let Some(sent) = send(&load, used_ns, is_over, stop)? else {
            break;
        };
        all_ns += sent.used_ns;
        slices.push(WarmSlice {
            at_ns: begun.elapsed().as_nanos() as u64,
            cpu_ns: sent.used_ns as f64 / (sent.answered as f64).max(1.0),
            per_second: sent.per_second,
            compiling: compilers.part_since(compiled_ns, &tree, sent.used_ns),
        });
    }
    Ok(WarmUp {
        round,
        is_warm: is_warm(&slices),
        slices,
    })
}

/// Result of a slice's loads.
struct Sent {
    used_ns: u64,
    answered: u64,
    per_second: f64,
}

/// Sends one load after the other until the slice is over. Returns nothing if the user stops, or if
/// a load has failures and no answer.
fn send(
    load: &Load,
    used_ns: impl Fn() -> u64,
    is_over: impl Fn(u64) -> bool,
    stop: &AtomicBool,
) -> Result<Option<Sent>, Error> {
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        let measured = run(load)?;
        if measured.answered == 0 && measured.failed() > 0 {
            break;
        }
        answered += measured.answered;
        let used_ns = used_ns();
        if is_over(used_ns) {
            return Ok(Some(Sent {
                used_ns,
                answered,
                per_second: measured.per_second(),
            }));
        }
    }
    Ok(None)
}

/// Applies the rule: the last third of the slices costs hardly less than the third before, with
/// idle compilers.
pub(in crate::run) fn is_warm(slices: &[WarmSlice]) -> bool {
    let third = slices.len() / 3;
    if third < SLICES {
        return false;
    }
    let (_, both) = slices.split_at(slices.len() - 2 * third);
    let (before, last) = both.split_at(third);
    let compiling = last.iter().map(|slice| slice.compiling).sum::<f64>() / last.len() as f64;
    median(last) >= (1.0 - FALL) * median(before) && compiling <= COMPILING
}

fn median(slices: &[WarmSlice]) -> f64 {
    let mut costs: Vec<f64> = slices.iter().map(|slice| slice.cpu_ns).collect();
    costs.sort_by(f64::total_cmp);
    (costs[(costs.len() - 1) / 2] + costs[costs.len() / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use antiphon_load::Reach;
    use std::cell::Cell;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    /// Starts a server that answers every request with this body until the test's process ends.
    fn serve(body: &'static str) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let answer = move |mut stream: TcpStream| {
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut piece = [0; 2048];
            while stream.read(&mut piece).is_ok_and(|size| size > 0) {
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        address
    }

    fn load(address: SocketAddr) -> Load {
        let expected = Expected {
            status: 200,
            body: b"hello".to_vec(),
        };
        let target = Target::parse(&format!("http://{address}/"), Reach::Loopback).unwrap();
        Load {
            connections: 1,
            duration: LOAD,
            ..Load::new(target, expected)
        }
    }

    #[test]
    fn who_only_fails_or_is_stopped_is_warmed_no_longer() {
        let sent = |body, stop| {
            let (load, stop) = (load(serve(body)), AtomicBool::new(stop));
            let loads = Cell::new(0);
            let is_over = |_| {
                loads.set(loads.get() + 1);
                loads.get() == 2
            };
            send(&load, || 7, is_over, &stop).unwrap()
        };
        let well = sent("hello", false).unwrap();
        assert!(well.used_ns == 7 && well.answered > 0);
        assert!(sent("hello", true).is_none());
        assert!(sent("howdy", false).is_none());
    }

    fn slices(costs: &[f64]) -> Vec<WarmSlice> {
        let slice = |cost: &f64| WarmSlice {
            at_ns: 0,
            cpu_ns: *cost,
            per_second: 0.0,
            compiling: 0.0,
        };
        costs.iter().map(slice).collect()
    }

    #[test]
    fn a_cost_that_falls_is_waited_for() {
        assert!(!is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 9.0])));
        assert!(is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 9.0, 9.0])));
        assert!(!is_warm(&slices(&[90.0, 70.0, 50.0, 40.0, 30.0, 20.0])));
        // Others may slow a slice: a cost that rises is no reason to wait.
        assert!(is_warm(&slices(&[9.0, 9.0, 9.0, 9.0, 30.0, 9.0])));
    }

    #[test]
    fn a_slow_fall_is_seen_over_longer_stretches() {
        // The cost falls by less than 3 % from slice to slice, and between six neighbours, but it
        // keeps falling.
        let slow: Vec<f64> = (0..30)
            .map(|slice| 100.0 - 0.5 * f64::from(slice))
            .collect();
        assert!(is_warm(&slices(&slow[..6])));
        assert!(!is_warm(&slices(&slow)));
    }

    #[test]
    fn a_compiler_at_work_is_waited_for() {
        // A server in Java behaves so: its cost is three times the final one while its compiler has
        // most of it.
        let mut seen = slices(&[60.0, 58.0, 60.0, 59.0, 60.0, 59.0]);
        seen.iter_mut().for_each(|slice| slice.compiling = 0.6);
        assert!(!is_warm(&seen));
        seen.extend(slices(&[18.0; 3]));
        assert!(!is_warm(&seen), "the last third is too far below");
        seen.extend(slices(&[18.0; 12]));
        assert!(is_warm(&seen));
        // A function that is compiled once more is no reason to wait.
        seen.last_mut().unwrap().compiling = 0.2;
        assert!(is_warm(&seen));
    }
}
