//! The protocols over a simulated network, one history a seed.
//!
//! `PANDA_SEEDS` says how many seeds of each kind of network, `PANDA_SEED` which one alone,
//! `PANDA_KIND` on which kind, `PANDA_MEMBERS` among how many processes; each has its own number of
//! seeds where nothing is said.

use antiphon_panda_sim::{Kind, Scenario, run};

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Tries `seeds` histories, or one for every `share` of `PANDA_SEEDS`.
fn sail(kind: Kind, members: Option<u32>, seeds: u64, share: u64) {
    let name = format!("{kind:?}").to_lowercase();
    let among = members.map_or(String::new(), |members| format!(" PANDA_MEMBERS={members}"));
    if std::env::var("PANDA_KIND").is_ok_and(|only| only != name)
        || number("PANDA_MEMBERS") != members.map(u64::from) && is_one()
    {
        return;
    }
    let seeds = number("PANDA_SEEDS").map_or(seeds, |all| all.div_ceil(share));
    let range = number("PANDA_SEED").map_or(0..seeds, |seed| seed..seed + 1);
    let (mut frames, mut delivered, mut hopeless) = (0, 0, 0);
    let count = range.end - range.start;
    let mut faults = Vec::new();
    for seed in range {
        let outcome = run(Scenario {
            kind,
            seed,
            members,
            tells: is_one(),
        });
        frames += outcome.frames;
        delivered += outcome.delivered;
        hopeless += u64::from(outcome.was_hopeless);
        if let Some(fault) = outcome.fault {
            if faults.is_empty() {
                println!("seed {seed}:\n{}", outcome.story);
            }
            faults.push(format!(
                "PANDA_KIND={name}{among} PANDA_SEED={seed} cargo test -p {} --test it seeds::   # {fault}",
                env!("CARGO_PKG_NAME")
            ));
        }
    }
    println!(
        "{name}{among}: {count} seeds, {frames} frames, {delivered} deliveries, {hopeless} without a majority"
    );
    assert!(
        faults.is_empty(),
        "{} of {count} seeds:\n{}",
        faults.len(),
        faults[..faults.len().min(10)].join("\n")
    );
}

/// Whether one seed alone is asked for.
fn is_one() -> bool {
    number("PANDA_SEED").is_some()
}

#[test]
fn datagrams() {
    sail(Kind::Datagrams, None, 1000, 1);
}

#[test]
fn multicast() {
    sail(Kind::Multicast, None, 600, 1);
}

#[test]
fn streams() {
    sail(Kind::Streams, None, 800, 1);
}

#[test]
fn bus() {
    sail(Kind::Bus, None, 600, 1);
}

#[test]
fn crowds() {
    for (members, seeds, share) in [(16, 20, 40), (64, 4, 200), (256, 1, 2000)] {
        for kind in [Kind::Datagrams, Kind::Multicast, Kind::Streams, Kind::Bus] {
            sail(kind, Some(members), seeds, share);
        }
    }
}

/// Found faults once. The first member, cut off with messages that only it had delivered, came back
/// and decided on the view that went on without it. One who had lost touch with the others, heard
/// of them again as they were started anew, and took itself for all that was left, though they had
/// gone on without it before. Coordinators waited in vain for the answers of members that had been
/// started anew, and ended each other's attempts. What was for all waited in one queue, and so for
/// whoever was slowest. A receipt for a message of a process that had crashed was taken for one of
/// its successor's. An attempt to change the view began again whenever it found someone lost that
/// it did not wait for, and found them lost by asking them.
#[test]
fn seeds_that_found_something() {
    const FOUND: &[(Kind, Option<u32>, u64)] = &[
        (Kind::Datagrams, None, 14298),
        (Kind::Datagrams, None, 731),
        (Kind::Streams, None, 733),
        (Kind::Multicast, Some(256), 6),
        (Kind::Multicast, Some(256), 9),
        (Kind::Multicast, Some(64), 149),
        (Kind::Streams, Some(64), 159),
    ];
    for &(kind, members, seed) in FOUND {
        let scenario = Scenario {
            kind,
            seed,
            members,
            tells: false,
        };
        assert_eq!(run(scenario).fault, None, "{kind:?}, seed {seed}");
    }
}
