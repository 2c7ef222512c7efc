//! Compares totally ordered broadcast with other implementations, in one run:
//! `cargo bench -p antiphon-panda --bench ordered`.
//!
//! Members are processes of this host (threads for `local`), free to run on all processors. All
//! groups of a size exist at once and take turns, a short round each, so that a noisy machine hits
//! all alike. Messages have 100 bytes.
//!
//! *Rate*: all members send as fast as they can. It is the messages a second until each member has
//! delivered all of them, as a median of rounds. *Own delivery*: a member sends a message, waits
//! until it has delivered it itself, and repeats. Quantiles are over all rounds.
//!
//! `MEMBERS=3,4`, `ROUNDS=5` and `ONLY=shm,nats` choose. A missing implementation is named with the
//! command that installs it.

mod contestant;
mod member;
mod rivals;
mod table;

use contestant::Contestant;
use table::Row;

/// Messages that each member sends in a round of the rate, and in a round of latencies.
const SENT: u32 = 10_000;
const TRIPS: u32 = 1_000;
/// The order of the table. Ratios are to the last one that is there.
const CONTESTANTS: [&str; 6] = ["shm", "tcp", "udp", "local", "nats", "jgroups"];

fn main() {
    if member::is_one() {
        member::run();
        return;
    }
    let text = |name: &str| std::env::var(name).ok();
    let rounds = text("ROUNDS").and_then(|text| text.parse().ok());
    let members = text("MEMBERS").unwrap_or_else(|| "3,4".into());
    let only = text("ONLY");
    let is_wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|only| only.split(',').any(|wanted| wanted == name))
    };
    for members in members.split(',').filter_map(|text| text.parse().ok()) {
        let mut contestants: Vec<(Contestant, Row)> = Vec::new();
        for name in CONTESTANTS.into_iter().filter(|name| is_wanted(name)) {
            match Contestant::start(name, members) {
                Ok(contestant) => contestants.push((contestant, Row::new(name))),
                Err(why) => println!("{name}: skipped: {why}"),
            }
        }
        for round in 0..=rounds.unwrap_or(5) {
            for (contestant, row) in &mut contestants {
                let played = play(contestant, members, row);
                if let Err(why) = played {
                    println!("{}: round {round}: {why}", row.name);
                }
                if round == 0 {
                    // The first round only warms compilers and caches.
                    row.forget();
                }
            }
        }
        let rows: Vec<&Row> = contestants.iter().map(|(_, row)| row).collect();
        table::print(members, &rows);
    }
}

fn play(contestant: &mut Contestant, members: u32, row: &mut Row) -> Result<(), String> {
    let times = contestant.round(&format!("rate {SENT}"))?;
    let slowest = times.iter().flatten().max().copied().unwrap_or(1);
    let sent = f64::from(SENT) * f64::from(members);
    row.rates.push(sent / (slowest as f64 / 1e9));
    for (rank, own) in [(0, &mut row.first), (1, &mut row.other)] {
        let times = contestant.round(&format!("alone {rank} {TRIPS}"))?;
        own.extend(times.into_iter().flatten());
    }
    let times = contestant.round(&format!("together {TRIPS}"))?;
    let mut times = times.into_iter();
    row.first_among_all.extend(times.next().unwrap_or_default());
    row.other_among_all.extend(times.flatten());
    Ok(())
}
