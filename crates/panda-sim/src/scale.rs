//! Costs of the protocols by the number of members: messages counted, and time by the simulated
//! network's clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;

use super::world::SILENCE;
use super::{Chance, Kind, Network, World};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::collective::Operation;
use antiphon_panda_core::protocol::group::{Order, Sequencer};
use antiphon_panda_core::protocol::link::{Links, Retransmit, Through};

/// The cost of one operation in a group of so many members.
#[derive(Debug, Clone, Serialize)]
pub struct Cost {
    /// Simulated platform: `streams` (links add nothing), `datagrams` (links acknowledge) or
    /// `multicast` (a frame for several goes once).
    pub network: &'static str,
    /// Members of the group.
    pub members: u32,
    /// Operation; the costs are those of one.
    pub operation: &'static str,
    /// Frames that all processes together sent.
    pub messages: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Frames that the busiest process sent.
    pub busiest: f64,
    /// Duration by the network's clock, in microseconds.
    pub virtual_us: f64,
    /// Duration of the simulation, in milliseconds.
    pub real_ms: f64,
}

/// Delay of every frame. Nothing is lost, so the counts are the protocols'.
const DELAY_US: u64 = 50;
/// Bound on the network's time, which nothing exceeds.
const LIMIT: Duration = Duration::from_secs(120);
/// Time after which no report and no acknowledgement is to come.
const AFTERMATH: Duration = Duration::from_secs(10);
/// Messages of 100 bytes: alone, one after another; and at once, so many by each of so many
/// members.
const ALONE: u32 = 10;
const AT_ONCE: (u32, u32) = (16, 64);
const LENGTH: usize = 100 - 12;

/// Measures a group of so many members on a simulated network whose kind needs a sequencer.
///
/// # Panics
///
/// The protocols do not finish in two minutes of the network's time, which is a fault.
#[must_use]
pub fn costs(kind: Kind, members: u32) -> Vec<Cost> {
    match kind {
        Kind::Datagrams => Scale::<Retransmit, Sequencer>::run("datagrams", kind, members),
        Kind::Multicast => Scale::<Retransmit, Sequencer>::run("multicast", kind, members),
        Kind::Streams | Kind::Bus => {
            Scale::<Through, Sequencer>::run("streams", Kind::Streams, members)
        }
    }
}

struct Scale<L: Links, O> {
    world: World<L, O>,
    network: &'static str,
    members: u32,
    costs: Vec<Cost>,
    /// Whether no process asks for signs of life.
    is_quiet: bool,
}

impl<L: Links, O: Order> Scale<L, O> {
    fn run(network: &'static str, kind: Kind, members: u32) -> Vec<Cost> {
        // There is one process more than members, which joins later. No process asks for signs of
        // life while messages are counted.
        let world = |silence| {
            let medium = Network::new(kind, 0, 0, DELAY_US, 0);
            World::with_silence(members + 1, medium, Chance::new(1), silence)
        };
        let mut scale = Self {
            world: world(LIMIT * 10),
            network,
            members,
            costs: Vec::new(),
            is_quiet: true,
        };
        scale.work();
        let costs = std::mem::take(&mut scale.costs);
        let mut scale = Self {
            world: world(SILENCE),
            costs,
            is_quiet: false,
            ..scale
        };
        scale.live();
        scale.costs
    }

    fn all_join(world: &mut World<L, O>, members: u32) -> bool {
        (0..members).for_each(|rank| world.join(rank));
        world.run_till(world.medium.now + LIMIT, |world| {
            world.are_in(members, members)
        })
    }

    fn work(&mut self) {
        let members = self.members;
        self.measure("all join", 1, |world| Self::all_join(world, members));
        self.measure("ordered broadcast, alone", ALONE, |world| {
            (0..ALONE).all(|number| {
                let sender = number * members / ALONE;
                let expected = world.delivered + u64::from(members);
                world.send(sender, LENGTH);
                world.run_till(world.medium.now + LIMIT, |world| {
                    world.delivered >= expected
                })
            })
        });
        let (senders, each) = (AT_ONCE.0.min(members), AT_ONCE.1);
        self.measure("ordered broadcast, many at once", senders * each, |world| {
            let expected = world.delivered + u64::from(members) * u64::from(senders * each);
            for sender in 0..senders {
                (0..each).for_each(|_| world.send(sender * members / senders, LENGTH));
            }
            world.run_till(world.medium.now + LIMIT, |world| {
                world.delivered >= expected
            })
        });
        self.measure("barrier", 1, |world| {
            let ranks: Arc<[Rank]> = (0..members).collect();
            let done = world.collected.len() + ranks.len();
            for at in 0..ranks.len() {
                world.collect((&ranks, at, 0), Operation::Barrier, Bytes::new());
            }
            world.run_till(world.medium.now + LIMIT, |world| {
                world.collected.len() >= done
            })
        });
        self.measure("one joins", 1, |world| {
            world.join(members);
            let until = world.medium.now + LIMIT;
            world.run_till(until, |world| world.are_in(members + 1, members + 1))
        });
        self.measure("one leaves", 1, |world| {
            world.leave(members);
            world.run_till(world.medium.now + LIMIT, |world| {
                world.are_in(members, members)
            })
        });
    }

    /// Measures operations that take time or signs of life because peers may be lost.
    fn live(&mut self) {
        let members = self.members;
        assert!(
            Self::all_join(&mut self.world, members),
            "they joined before"
        );
        self.measure("a second without work", 10, |world| {
            world.run_until(world.medium.now + Duration::from_secs(10));
            true
        });
        self.measure("the first crashes", 1, |world| {
            world.crash(0);
            world.run_till(world.medium.now + LIMIT, |world| {
                world.are_in(members, members - 1)
            })
        });
    }

    /// Counts the cost of an operation that runs so many times.
    fn measure(
        &mut self,
        operation: &'static str,
        times: u32,
        act: impl FnOnce(&mut World<L, O>) -> bool,
    ) {
        let world = &mut self.world;
        let before = (
            world.medium.frames,
            world.medium.bytes,
            world.medium.now,
            world.medium.sent_by.clone(),
        );
        let began = Instant::now();
        let is_done = act(world);
        assert!(
            is_done,
            "{operation} among {} members over {} did not end",
            self.members, self.network
        );
        let took = world.medium.now - before.2;
        if self.is_quiet {
            // Reports of deliveries and acknowledgements belong to it.
            world.run_until(world.medium.now + AFTERMATH);
        }
        let sent = world
            .medium
            .sent_by
            .iter()
            .zip(&before.3)
            .map(|(a, b)| a - b);
        let busiest = sent.max().unwrap_or(0);
        let per_time = |count: u64| count as f64 / f64::from(times);
        self.costs.push(Cost {
            network: self.network,
            members: self.members,
            operation,
            messages: per_time(world.medium.frames - before.0),
            bytes: per_time(world.medium.bytes - before.1),
            busiest: per_time(busiest),
            virtual_us: took.as_secs_f64() * 1e6 / f64::from(times),
            real_ms: began.elapsed().as_secs_f64() * 1e3 / f64::from(times),
        });
    }
}

impl<L: Links, O: Order> World<L, O> {
    /// Returns whether all living ones among the first `ranks` ranks are in one view of so many
    /// members.
    fn are_in(&self, ranks: u32, members: u32) -> bool {
        (0..ranks).all(|rank| {
            self.view_size(rank)
                .is_none_or(|size| size == members as usize)
        })
    }
}
