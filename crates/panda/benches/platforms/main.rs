//! Compares round trips of the platforms with the operations below them and with other libraries,
//! in one run: `cargo bench -p antiphon-panda --bench platforms`.
//!
//! Each row is a pair of processes, pinned to one processor or to two. They take turns, a short
//! round each, so that a noisy machine hits all alike. The table shows medians over rounds, and
//! ratios to its first row, taken within rounds. `mpi` runs under `mpirun --bind-to none`, and is
//! pinned like the others.
//!
//! Variables choose: `ONLY="open mpi,shm"` rows, `PLACES="one,across"` placements,
//! `BYTES="65536,1048576"` lengths, and `ROUNDS=n` the rounds of each row. `BURST="0"` chooses
//! round trips, and `BURST="1,16"` messages in one direction, with so many to a confirmation.

mod bare;
mod contest;
mod mpi;
mod pair;

use contest::{Case, Table};

/// Rounds of each row.
const ROUNDS: usize = 7;

fn main() {
    if let Some(case) = Case::of_this_process() {
        pair::run(&case);
        return;
    }
    let rounds = std::env::var("ROUNDS").ok();
    let rounds = rounds.and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    for placement in ["one", "across"] {
        Table::new("8 bytes, blocking or adaptive", placement, 8, 20_000)
            .of(&["bare futex", "shm", "raw udp", "udp", "raw tcp", "tcp"])
            .print(rounds);
    }
    Table::new("8 bytes, polling", "across", 8, 100_000)
        .of(&["open mpi", "bare ring", "shm", "shm session"])
        .print(rounds);
    for (name, bytes, trips) in [
        ("8 KiB", 8 << 10, 20_000),
        ("64 KiB", 64 << 10, 4_000),
        ("1 MiB", 1 << 20, 300),
    ] {
        for placement in ["one", "across"] {
            Table::new(name, placement, bytes, trips)
                .of(&[
                    "open mpi",
                    "bare read",
                    "shm",
                    "shm session",
                    "mpi",
                    "raw tcp",
                    "tcp",
                    "udp session",
                ])
                .print(rounds);
        }
    }
    one_way(rounds);
}

/// Measures bandwidth: messages in one direction. Either each is confirmed, as the suite `layer`
/// does with its slices, or several are in flight.
fn one_way(rounds: usize) {
    let lengths = [
        ("64 KiB", 64 << 10, 4_000),
        ("1 MiB", 1 << 20, 400),
        ("16 MiB", 16 << 20, 30),
    ];
    for (name, bytes, trips) in lengths {
        for (placement, burst) in [("one", 1), ("across", 1), ("one", 16), ("across", 16)] {
            Table::new(name, placement, bytes, (trips / burst).max(5))
                .one_way(burst)
                .of(&[
                    "open mpi",
                    "shm session",
                    "open mpi tcp",
                    "tcp session",
                    "udp session",
                ])
                .print(rounds);
        }
    }
}
