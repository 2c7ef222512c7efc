//! The cost of the interface for C, in one run: `cargo bench -p antiphon-panda-c`. It compares
//! round trips of 8 bytes by a program in C, linked statically and dynamically, with the same
//! program in Rust.
//!
//! The programs take turns, a short session each. The table shows medians over rounds, and the
//! median of the ratios to Rust in the same round. `ROUNDS=n` sets the rounds, `OVER="shm,tcp"` the
//! platforms, and `PLACES="one,across"` the placements.

#[path = "../tests/it/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::time::Instant;

use antiphon_launch::Over;
use antiphon_panda::{Error, Session};
use support::{Linked, compiled, session};

/// Round trips of a session. Another tenth before them is not timed.
const TRIPS: u32 = 20_000;
const PAYLOAD: [u8; 8] = [7; 8];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [trips, placement] = &arguments[..] {
        process(trips.parse().expect("a number"), placement).expect("a session");
        return;
    }
    let own = std::env::current_exe().expect("a running program has a path");
    let contestants = [
        ("Rust", own),
        (
            "C, static",
            compiled("benches/round_trip.c", Linked::Statically),
        ),
        (
            "C, shared",
            compiled("benches/round_trip.c", Linked::Dynamically),
        ),
    ];
    for over in [Over::Shm, Over::Tcp]
        .into_iter()
        .filter(|over| is_wanted("OVER", over.name()))
    {
        for placement in ["one", "across"]
            .into_iter()
            .filter(|place| is_wanted("PLACES", place))
        {
            table(over, placement, &contestants);
        }
    }
}

fn is_wanted(variable: &str, name: &str) -> bool {
    let wanted = std::env::var(variable).ok();
    wanted.is_none_or(|wanted| wanted.split(',').any(|one| one == name))
}

fn table(over: Over, placement: &str, contestants: &[(&str, PathBuf)]) {
    let rounds = std::env::var("ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let rounds: usize = rounds.unwrap_or(5);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); contestants.len()];
    for _ in 0..rounds {
        for ((_, program), found) in contestants.iter().zip(&mut found) {
            found.push(round(over, program, placement));
        }
    }
    let where_ = match placement {
        "one" => "both on one processor",
        _ => "each on its own processor",
    };
    println!(
        "\n{}, {where_}: round trip, medians of {rounds} rounds",
        over.name()
    );
    for ((name, _), own) in contestants.iter().zip(&found) {
        let ratios = own.iter().zip(&found[0]).map(|(own, rust)| own / rust);
        let (took_us, ratio) = (median(own.iter().copied()) / 1000.0, median(ratios));
        println!("  {name:12} {took_us:9.3} µs  {ratio:6.3} of Rust");
    }
}

fn round(over: Over, program: &Path, placement: &str) -> f64 {
    let ran =
        session(over, 2, program, &[&TRIPS.to_string(), placement]).expect("it needs nothing");
    assert_eq!(ran.summary, None, "{:?}", ran.said);
    ran.said[0].parse().expect("nanoseconds")
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One process of a session in Rust: the program in C, word for word.
fn process(trips: u32, placement: &str) -> Result<(), Error> {
    let session = Session::join()?;
    pin(if placement == "one" {
        0
    } else {
        session.rank() as usize
    });
    let all = session.everyone()?;
    let port = session.port("ball");
    all.barrier()?;
    let mut began = Instant::now();
    for trip in 0..trips + trips / 10 {
        if trip == trips / 10 {
            began = Instant::now();
        }
        if session.rank() == 0 {
            port.send(1, 0, PAYLOAD.as_slice())?;
            port.receive(Some(1), None)?;
        } else {
            let ball = port.receive(Some(0), None)?;
            port.send(0, 0, ball.payload)?;
        }
    }
    if session.rank() == 0 {
        println!("{}", began.elapsed().as_nanos() as f64 / f64::from(trips));
    }
    all.barrier()
}

fn pin(processor: usize) {
    // SAFETY: the set is zeros, which is an empty one, and outlives the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}
