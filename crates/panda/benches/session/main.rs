//! What the interface costs: round trips by explicit receive, by upcall, by remote procedure call, over each platform, beside raw sockets that block and the bare
//! platform, in one run: `cargo bench -p antiphon-panda --bench session`.
//!
//! Contestants take turns, a short round each, as in the benchmark `platforms`. Shown are medians over rounds, ratios to the first of each table, and context switches
//! a round trip, those of all processes together. `ONLY="tcp,udp rpc"` chooses contestants, `PLACES="one,across,pairs"` placements, `ROUNDS=n` how often they have their turn.

mod process;
mod raw;
mod table;

use table::Table;

fn main() {
    if let Some(case) = table::Case::of_this_process() {
        process::run(&case);
        return;
    }
    for placement in ["one", "across"].into_iter().filter(|p| is_wanted(p)) {
        Table::new("local", placement, 2).print(&["local", "local upcall", "local rpc"]);
        Table::new("shm", placement, 2).print(&[
            "raw unix",
            "shm bare",
            "shm",
            "shm upcall",
            "shm rpc",
            "shm fiber",
        ]);
        Table::new("tcp", placement, 2).print(&[
            "raw tcp",
            "tcp bare",
            "tcp",
            "tcp upcall",
            "tcp rpc",
            "tcp fiber",
        ]);
        Table::new("udp", placement, 2).print(&[
            "raw udp",
            "udp bare",
            "udp",
            "udp upcall",
            "udp rpc",
        ]);
    }
    if !is_wanted("pairs") {
        return;
    }
    let crowd = |name| Table::new(name, "across", 4);
    crowd("two pairs, shm").print(&["raw unix", "shm", "shm rpc"]);
    crowd("two pairs, tcp").print(&["raw tcp", "tcp", "tcp rpc"]);
    crowd("two pairs, udp").print(&["raw udp", "udp", "udp rpc"]);
}

fn is_wanted(placement: &str) -> bool {
    let places = std::env::var("PLACES").ok();
    places.is_none_or(|places| places.split(',').any(|place| place == placement))
}
