//! The cost of the interface, in one run: `cargo bench -p antiphon-panda --bench session`. It
//! compares round trips by explicit receive, by upcall and by remote procedure call, over each
//! platform, with blocking raw sockets and the bare platform.
//!
//! The rows take turns, a short round each, as in the benchmark `platforms`. The table shows
//! medians over rounds, ratios to its first row, and context switches a round trip of all processes
//! together. `ONLY="tcp,udp rpc"` chooses rows, `PLACES="one,across,pairs,four"` placements, and
//! `ROUNDS=n` the rounds of each.
//!
//! `pairs` and `four` are four processes on two processors: first two on each, and then wherever
//! the system puts them. They are compared with two that sleep at once instead of polling: blocking
//! sockets, and the same session without spins (`sleeping`).

mod communicator;
mod process;
mod raw;
mod star;
mod table;

use table::Table;

fn main() {
    if let Some(case) = table::Case::of_this_process() {
        process::run(&case);
        return;
    }
    for placement in ["one", "across"].into_iter().filter(|p| is_wanted(p)) {
        Table::new("local", placement, 2).print(&[
            "local",
            "local upcall",
            "local rpc",
            "local entry",
            "local fiber",
            "local fiber rpc",
            "local fiber entry",
        ]);
        Table::new("shm", placement, 2).print(&[
            "raw unix",
            "shm bare",
            "shm",
            "shm upcall",
            "shm rpc",
            "shm entry",
            "shm fiber",
            "shm fiber rpc",
            "shm fiber entry",
        ]);
        Table::new("tcp", placement, 2).print(&[
            "raw tcp",
            "tcp bare",
            "tcp",
            "tcp upcall",
            "tcp rpc",
            "tcp entry",
            "tcp fiber",
            "tcp fiber rpc",
            "tcp fiber entry",
        ]);
        Table::new("udp", placement, 2).print(&[
            "raw udp",
            "udp bare",
            "udp",
            "udp upcall",
            "udp rpc",
        ]);
    }
    for spread in SPREADS {
        if is_wanted("pairs") {
            pairs(spread);
        }
        if is_wanted("four") {
            four(spread);
        }
    }
}

/// Two processes on each processor, or all wherever the system puts them.
const SPREADS: [&str; 2] = ["across", "free"];

fn pairs(spread: &'static str) {
    let crowd = |name| Table::new(name, spread, 4);
    crowd("two pairs, shm").print(&["raw unix", "shm sleeping", "shm", "shm rpc"]);
    crowd("two pairs, tcp").print(&["raw tcp", "tcp sleeping", "tcp", "tcp rpc"]);
    crowd("two pairs, udp").print(&["raw udp", "udp sleeping", "udp", "udp rpc"]);
}

/// Measures collective work of four members. In a bare star of streams, its centre does the work.
fn four(spread: &'static str) {
    for (platform, raw) in [("shm", "unix"), ("tcp", "tcp"), ("udp", "tcp")] {
        for way in ["barrier", "allreduce", "ordered", "all-ordered"] {
            let raw = match way {
                // A process with more than one peer would have to wait for all of them at once,
                // which bare streams cannot.
                "all-ordered" => None,
                _ => Some(format!("raw {raw} {way}")),
            };
            let own = ["sleeping", ""].map(|mode| format!("{platform} {way} {mode}"));
            let contestants: Vec<String> = raw.into_iter().chain(own).collect();
            let contestants: Vec<&str> = contestants.iter().map(|one| one.trim_end()).collect();
            Table::together(&format!("{way}, {platform}"), spread).print(&contestants);
        }
    }
}

fn is_wanted(placement: &str) -> bool {
    let places = std::env::var("PLACES").ok();
    places.is_none_or(|places| places.split(',').any(|place| place == placement))
}
