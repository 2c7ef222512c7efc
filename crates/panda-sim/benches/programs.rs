//! What it takes to simulate whole programs, a line of JSON each: `cargo bench -p antiphon-panda
//! --bench sim_programs -- [SECONDS]`.
//!
//! `runs_a_second` and `frames_a_second` go by the clock of the machine, `virtual_ms` by that of
//! the network, for one run.

use std::time::{Duration, Instant};

use antiphon_panda::{Error, GroupEvent, Message, Session};
use antiphon_panda_sim::{Kind, Network, Simulation};

fn main() {
    // `cargo bench` adds one of its own.
    let seconds = std::env::args().find_map(|text| text.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    let rough = || Network::new(Kind::Datagrams, 50, 20, 50, 1000);
    let ring = |size| Simulation::of(size).over(rough());
    measure("ring of 4", time, |seed| (ring(4).seed(seed), ring_of));
    measure("group of 5", time, |seed| (ring(5).seed(seed), group_of));
    let crowd = |size| Simulation::of(size).over(Network::new(Kind::Datagrams, 0, 0, 50, 100));
    measure("sum of 1000", time, |seed| (crowd(1000).seed(seed), sum_of));
}

type Program = fn(Session) -> Result<u32, Error>;

/// Runs a program with one seed after another for a time.
fn measure(what: &str, time: Duration, make: impl Fn(u64) -> (Simulation, Program)) {
    let (mut runs, mut frames, mut virtual_time) = (0, 0, Duration::ZERO);
    let began = Instant::now();
    while began.elapsed() < time {
        let (simulation, program) = make(runs);
        let run = simulation.run(program).expect("fibers");
        frames += run.frames;
        virtual_time += run.time;
        let ends = run.values().unwrap_or_else(|failure| panic!("{failure}"));
        assert!(ends.iter().all(Result::is_ok), "{ends:?}");
        runs += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{{\"program\":\"{what}\",\"runs_a_second\":{:.1},\"frames_a_second\":{:.0},\"virtual_ms\":{:.2}}}",
        runs as f64 / seconds,
        frames as f64 / seconds,
        virtual_time.as_secs_f64() * 1e3 / runs as f64,
    );
}

/// A number to the next, and a sum of all.
fn ring_of(session: Session) -> Result<u32, Error> {
    let port = session.port("ring");
    let next = (session.rank() + 1) % session.size();
    port.send(next, 0, Message::of(&session.rank())?)?;
    let from: u32 = port.receive(None, None)?.payload.value()?;
    session.everyone()?.all_reduce(&from, |a, b| a + b)
}

/// Ten messages of each in one order.
fn group_of(session: Session) -> Result<u32, Error> {
    let (count, expected) = (
        std::sync::Arc::new(parking_lot::Mutex::new(0)),
        session.size() * 10,
    );
    let own = count.clone();
    let group = session.join_group("all", move |event| {
        *own.lock() += u32::from(matches!(event, GroupEvent::Message { .. }));
    })?;
    session.everyone()?.barrier()?;
    for _ in 0..10 {
        group.send(Message::new())?;
    }
    session.wait_until(|| *count.lock() == expected, None)?;
    session.everyone()?.barrier()?;
    group.leave()?;
    Ok(expected)
}

/// A sum of all.
fn sum_of(session: Session) -> Result<u32, Error> {
    let sum = session.everyone()?.all_reduce(&1, |a: u32, b| a + b)?;
    assert_eq!(sum, session.size());
    Ok(sum)
}
