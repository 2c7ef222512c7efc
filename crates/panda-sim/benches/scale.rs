//! Cost against members in the simulator, as JSON, a line for each operation: `cargo bench -p
//! antiphon-panda --bench sim_scale -- [MEMBERS…]`.
//!
//! Fields: `network`, `members`, `operation`, `messages`, `bytes`, `busiest` (messages of the
//! busiest process), `virtual_us`, `real_ms`; each for one operation.

use antiphon_panda_sim::{Kind, scale};

fn main() {
    let numbers: Vec<u32> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    for kind in [Kind::Streams, Kind::Datagrams, Kind::Multicast] {
        let members = match numbers.as_slice() {
            [] => usual(kind),
            said => said,
        };
        for cost in members
            .iter()
            .flat_map(|&members| scale::costs(kind, members))
        {
            let line = serde_json::to_string(&cost).expect("numbers and names");
            println!("{line}");
        }
    }
}

/// Numbers of members where none are said. What goes to all at once has each process keep a link to
/// each other: 1.5 GB of 1024, and more than 24 of 4096.
fn usual(kind: Kind) -> &'static [u32] {
    match kind {
        Kind::Multicast => &[4, 16, 64, 256, 1024],
        _ => &[4, 16, 64, 256, 1024, 4096],
    }
}
