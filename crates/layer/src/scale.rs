//! Costs of the protocols against the number of members, counted in the simulator: a program of the
//! suite.

use std::process::ExitCode;
use std::time::Instant;

use antiphon_panda_sim::Kind;
use antiphon_panda_sim::scale::{Cost, costs};

/// The most members: the simulator's worlds hold a few more.
const MOST: u32 = 1 << 14;

/// Runs every operation once in a group of `members` on a simulated network, and prints its costs.
///
/// The network is `streams` or `datagrams`. The counters are `OPERATION_messages`, `_bytes`, and
/// `_busiest` (messages of the busiest process). Both are also given for a hundred operations
/// (`_of_100`). `_virtual_ns` is by the network's clock, whose frames take 50 µs.
#[must_use]
pub fn count(network: &str, members: u32) -> ExitCode {
    let kind = match network {
        "streams" => Kind::Streams,
        "datagrams" => Kind::Datagrams,
        other => {
            return refuse(&format!(
                "there is no simulated network `{other}`: give streams or datagrams"
            ));
        }
    };
    if !(2..=MOST).contains(&members) {
        return refuse(&format!("{members} members: give 2 to {MOST}"));
    }
    let began = Instant::now();
    let costs = costs(kind, members);
    let counters: Vec<String> = costs.iter().flat_map(counters).collect();
    println!("{members} members");
    println!(
        "@@ run elapsed_ns={} {}",
        began.elapsed().as_nanos(),
        counters.join(" ")
    );
    ExitCode::SUCCESS
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(crate::MISUSE)
}

fn counters(cost: &Cost) -> [String; 6] {
    let words = cost.operation.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let operation = words.join("_");
    let figures = [
        ("messages", cost.messages),
        ("bytes", cost.bytes),
        ("busiest", cost.busiest),
        // Many may share one.
        ("messages_of_100", 100.0 * cost.messages),
        ("busiest_of_100", 100.0 * cost.busiest),
        ("virtual_ns", cost.virtual_us * 1e3),
    ];
    figures.map(|(quantity, figure)| format!("{operation}_{quantity}={}", figure.round()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_its_counters() {
        let costs = costs(Kind::Streams, 4);
        let all: Vec<String> = costs.iter().flat_map(counters).collect();
        assert_eq!(all.len(), 6 * costs.len());
        let barrier = all.iter().find_map(|c| c.strip_prefix("barrier_messages="));
        assert_eq!(
            barrier,
            Some("6"),
            "there and back over three edges: {all:?}"
        );
        assert!(all.iter().all(|c| !c.contains(' ') && !c.contains(',')));
    }
}
