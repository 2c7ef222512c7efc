//! A scenario: a whole history drawn from a seed. Processes join, send, call and leave. The network
//! splits and heals. Processes crash and start again.

use std::time::Duration;

use super::check::{can_go_on, check, check_lively, latest_view};
use super::world::SILENCE;
use super::{Chance, Kind, Network, World};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::fault::Fault;
use antiphon_panda_core::protocol::group::{Bus, Order, Sequencer};
use antiphon_panda_core::protocol::link::{Links, Retransmit, Through};
use others::Others;
use talk::Talk;

mod others;
mod talk;

/// The kind and the seed of a history.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The platform that is simulated.
    pub kind: Kind,
    /// The seed.
    pub seed: u64,
    /// Number of processes; by the seed, two to six, if it is `None`.
    pub members: Option<u32>,
    /// Whether to print views, losses, and in the end each process's state.
    pub tells: bool,
}

/// The outcome of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The fault found, if any.
    pub fault: Option<String>,
    /// Events of each process, a line for each life, if there is a fault.
    pub story: String,
    /// Frames that were carried.
    pub frames: u64,
    /// Whether the group had lost its necessary majority, so that only safety could be checked.
    pub was_hopeless: bool,
    /// Messages delivered, over all processes.
    pub delivered: usize,
}

/// Runs a scenario.
#[must_use]
pub fn run(scenario: Scenario) -> Outcome {
    run_with(scenario, Fault::default())
}

/// Runs a scenario with a fault in the protocols.
pub(super) fn run_with(scenario: Scenario, fault: Fault) -> Outcome {
    match scenario.kind {
        Kind::Datagrams | Kind::Multicast => play::<Retransmit, Sequencer>(scenario, fault),
        Kind::Streams => play::<Through, Sequencer>(scenario, fault),
        Kind::Bus => play::<Through, Bus>(scenario, fault),
    }
}

/// Number of processes beyond which they are a crowd, of which about so many send and call at a
/// time.
const CROWD: u32 = 8;

/// Number of seeds of which one history keeps a state in the group, with so many additional bytes.
const STATE_IN: u64 = 4;
const BALLAST: [usize; 4] = [0, 100, 20_000, 150_000];

struct Weather {
    rounds: u64,
    crashes: u64,
    splits: u64,
    leaves: u64,
    burst: u64,
    is_split: bool,
    crashes_left: u64,
}

fn play<L: Links, O: Order + std::fmt::Debug>(scenario: Scenario, fault: Fault) -> Outcome {
    let mut chance = Chance::new(scenario.seed);
    let few = chance.between(2, 6) as u32;
    let size = scenario.members.unwrap_or(few);
    let loss = if chance.happens(500) {
        chance.below(150)
    } else {
        0
    };
    let double = if chance.happens(500) {
        chance.below(100)
    } else {
        0
    };
    let jitter = if chance.happens(700) {
        chance.below(5_000)
    } else {
        0
    };
    let network = Network::new(scenario.kind, loss, double, chance.between(20, 500), jitter);
    let mut weather = Weather {
        rounds: chance.between(10, 40),
        crashes: if chance.happens(600) {
            chance.below(100)
        } else {
            0
        },
        splits: if chance.happens(500) && scenario.kind != Kind::Bus {
            chance.below(150)
        } else {
            0
        },
        leaves: if chance.happens(400) {
            chance.below(60)
        } else {
            0
        },
        burst: chance.between(1, 12),
        is_split: false,
        crashes_left: u64::from(size - 1) / 2,
    };
    let mut network = network;
    let is_multicast = scenario.kind == Kind::Multicast;
    if is_multicast && chance.happens(300) {
        network.deaf = (0..size).filter(|_| chance.happens(300)).collect();
    }
    let mut world: World<L, O> = World::with_fault(size, network, chance, SILENCE, fault);
    world.tells = scenario.tells;
    world.history.has_state = scenario.seed.is_multiple_of(STATE_IN);
    world.ballast = BALLAST[(scenario.seed / STATE_IN) as usize % BALLAST.len()];
    let mut talk = Talk::new(scenario.seed);
    let mut others = Others::new(scenario.seed, size, scenario.kind);
    for _ in 0..weather.rounds {
        if let Some(talk) = &mut talk {
            talk.round(&mut world, size);
        }
        if let Some(others) = &mut others {
            others.round(&mut world);
        }
        round(&mut world, &mut weather, size, scenario.kind);
    }
    calm_down(&mut world, size, talk);
    let was_hopeless =
        scenario.kind != Kind::Bus && !(can_go_on(&world.history) && world.has_majority());
    let fault = check(&world.history, world.medium.now)
        .and_then(|()| {
            if was_hopeless {
                Ok(())
            } else {
                check_lively(&world.history)
            }
        })
        .err();
    if scenario.tells {
        for rank in world.living() {
            eprintln!("{rank}: {}", world.inside(rank));
        }
    }
    let delivered = world
        .history
        .lives
        .iter()
        .flat_map(|life| &life.memberships)
        .map(|member| member.places.len())
        .sum();
    let story = if fault.is_some() {
        world.history.to_string()
    } else {
        String::new()
    };
    Outcome {
        fault,
        story,
        frames: world.medium.frames,
        was_hopeless,
        delivered,
    }
}

fn round<L: Links, O: Order>(
    world: &mut World<L, O>,
    weather: &mut Weather,
    size: u32,
    kind: Kind,
) {
    for rank in world.living() {
        if world.is_outside(rank) && world.medium.chance.happens(300) {
            world.join(rank);
        }
        // Among many processes only some send.
        let is_sender = size <= CROWD
            || world
                .medium
                .chance
                .happens(1000 * u64::from(CROWD) / u64::from(size));
        let burst = if is_sender { weather.burst } else { 0 };
        for _ in 0..world.medium.chance.below(burst + 1) {
            let length = if world.medium.chance.happens(50) {
                world.medium.chance.between(1251, 6_000)
            } else {
                world.medium.chance.below(100)
            };
            world.send(rank, length as usize);
        }
        let to = world.medium.chance.below(u64::from(size)) as Rank;
        if is_sender && world.medium.chance.happens(200) && to != rank {
            world.call(rank, to);
        }
        if world.medium.chance.happens(weather.leaves) {
            world.leave(rank);
        }
        if world.medium.chance.happens(weather.crashes) && weather.crashes_left > 0 {
            weather.crashes_left -= 1;
            world.crash(rank);
        }
    }
    for rank in 0..size {
        if !world.living().contains(&rank) && world.medium.chance.happens(150) {
            world.start(rank, false);
        }
    }
    if weather.is_split && world.medium.chance.happens(300) {
        weather.is_split = false;
        world.medium.heal();
    } else if !weather.is_split && world.medium.chance.happens(weather.splits) {
        weather.is_split = true;
        let part: Vec<Rank> = (0..size)
            .filter(|_| world.medium.chance.happens(400))
            .collect();
        world.medium.network.split(1, &part);
    }
    if kind == Kind::Multicast && world.medium.chance.happens(20) {
        // A process becomes deaf, or hears again.
        let rank = world.medium.chance.below(u64::from(size)) as Rank;
        let deaf = &mut world.medium.network.deaf;
        if !deaf.remove(&rank) {
            deaf.insert(rank);
        }
    }
    // The pause is from less than a delay to more than a silence.
    let pause = match world.medium.chance.below(10) {
        0 => world.medium.chance.between(100_000, 900_000),
        1..=4 => world.medium.chance.between(1_000, 40_000),
        _ => world.medium.chance.below(1_000),
    };
    world.run_until(world.medium.now + Duration::from_micros(pause));
}

/// Heals the network; all living processes join, send once more, and wait.
fn calm_down<L: Links, O: Order>(world: &mut World<L, O>, size: u32, talk: Option<Talk>) {
    world.medium.heal();
    for _ in 0..40 {
        for rank in 0..size {
            if world.is_outside(rank) {
                world.join(rank);
            }
        }
        world.run_until(world.medium.now + Duration::from_millis(500));
    }
    for rank in 0..size {
        world.send(rank, 20);
    }
    if let Some(mut talk) = talk {
        talk.at_last(world, size);
    }
    // With many lost frames, one of many processes may be taken for lost even in calm, and just
    // before the end.
    for _ in 0..10 {
        let view = latest_view(&world.history).map(|(number, _)| number);
        world.run_until(world.medium.now + Duration::from_secs(5));
        if latest_view(&world.history).map(|(number, _)| number) == view {
            break;
        }
    }
}
