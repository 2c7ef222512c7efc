//! Cost against members in the simulator, as JSON, a line for each operation: `cargo bench -p antiphon-panda --bench sim_scale -- [MEMBERS…]`.
//!
//! Fields: `network`, `members`, `operation`, `messages`, `bytes`, `busiest` (messages of the busiest process), `virtual_us`, `real_ms`; each for one operation.

use antiphon_panda::sim::{Kind, scale};

fn main() {
    let numbers: Vec<u32> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let members = match numbers.is_empty() {
        true => vec![4, 16, 64, 256, 1024, 4096],
        false => numbers,
    };
    for kind in [Kind::Streams, Kind::Datagrams, Kind::Multicast] {
        for cost in members
            .iter()
            .flat_map(|&members| scale::costs(kind, members))
        {
            let line = serde_json::to_string(&cost).expect("numbers and names");
            println!("{line}");
        }
    }
}
