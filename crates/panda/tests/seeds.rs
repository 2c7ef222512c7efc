//! The protocols over a simulated network, one history a seed.
//!
//! `PANDA_SEEDS` says how many seeds of each kind of network, `PANDA_SEED` which one alone, `PANDA_KIND` on which kind.

use antiphon_panda::sim::{Kind, Scenario, run};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

fn sail(kind: Kind, seeds: u64) {
    let name = format!("{kind:?}").to_lowercase();
    if std::env::var("PANDA_KIND").is_ok_and(|only| only != name) {
        return;
    }
    let seeds = number("PANDA_SEEDS").unwrap_or(seeds);
    let range = number("PANDA_SEED").map_or(0..seeds, |seed| seed..seed + 1);
    let (mut frames, mut delivered, mut hopeless) = (0, 0, 0);
    let count = range.end - range.start;
    let mut faults = Vec::new();
    for seed in range {
        let outcome = run(Scenario {
            kind,
            seed,
            mutant: None,
            tells: number("PANDA_SEED").is_some(),
        });
        frames += outcome.frames;
        delivered += outcome.delivered;
        hopeless += u64::from(outcome.was_hopeless);
        if let Some(fault) = outcome.fault {
            if faults.is_empty() {
                println!("seed {seed}:\n{}", outcome.story);
            }
            faults.push(format!("PANDA_KIND={name} PANDA_SEED={seed} cargo test -p antiphon-panda --release --test seeds   # {fault}"));
        }
    }
    println!(
        "{name}: {count} seeds, {frames} frames, {delivered} deliveries, {hopeless} without a majority"
    );
    assert!(
        faults.is_empty(),
        "{} of {count} seeds:\n{}",
        faults.len(),
        faults[..faults.len().min(10)].join("\n")
    );
}

#[test]
fn datagrams() {
    sail(Kind::Datagrams, 5000);
}

#[test]
fn streams() {
    sail(Kind::Streams, 4000);
}

#[test]
fn bus() {
    sail(Kind::Bus, 1000);
}
