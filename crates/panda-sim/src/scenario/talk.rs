//! Messages between processes beside the group. They are drawn from random numbers of their own, so
//! that the rest of a history stays the same.

use std::time::Duration;

use super::CROWD;
use crate::world::Letter;
use crate::{Calls, Chance, Task, World};
use antiphon_panda_core::Rank;
use antiphon_panda_core::protocol::Time;
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;

/// Number of tags.
const TAGS: u64 = 4;

pub(super) struct Talk {
    chance: Chance,
    /// Most messages of a process in a round.
    burst: u64,
    /// Synchronous messages of a thousand.
    synchronous: u64,
    /// Rounds of a thousand in which some processes begin collective operations.
    communicators: u64,
}

impl Talk {
    /// Makes the draws for a seed. Every second seed has none: groups and calls alone.
    pub fn new(seed: u64) -> Option<Self> {
        let mut chance = Chance::new(!seed);
        (seed % 2 == 1).then(|| Self {
            burst: chance.below(5),
            synchronous: chance.below(1000),
            communicators: chance.below(300),
            chance,
        })
    }

    pub fn round<L: Links, O: Order>(&mut self, world: &mut World<L, O>, size: u32) {
        for rank in world.living() {
            // Among many processes only some send.
            let is_sender =
                size <= CROWD || (self.chance).happens(1000 * u64::from(CROWD) / u64::from(size));
            let burst = if is_sender { self.burst } else { 0 };
            for _ in 0..self.chance.below(burst + 1) {
                let letter = self.letter(size);
                world.post(rank, letter);
            }
        }
        if self.chance.happens(self.communicators) {
            let is_everybody = self.chance.happens(400);
            let mut ranks = world.living();
            ranks.retain(|_| is_everybody || self.chance.happens(600));
            let tasks = self.chance.between(1, 4);
            self.communicator(world, ranks, tasks as usize);
        }
    }

    /// Lets some processes call collective operations, most of them soon, some late.
    fn communicator<L: Links, O: Order>(
        &mut self,
        world: &mut World<L, O>,
        mut ranks: Vec<Rank>,
        tasks: usize,
    ) {
        if ranks.is_empty() {
            return;
        }
        for at in (1..ranks.len()).rev() {
            ranks.swap(at, self.chance.below(at as u64 + 1) as usize);
        }
        let tasks = (0..tasks).map(|_| self.task(ranks.len())).collect();
        let begins: Vec<Time> = ranks
            .iter()
            .map(|_| world.medium.now + self.delay())
            .collect();
        world.communicator(ranks, tasks, &begins);
    }

    fn task(&mut self, count: usize) -> Task {
        let length = if self.chance.happens(100) { 2_000 } else { 0 };
        Task {
            calls: Calls::ALL[self.chance.below(Calls::ALL.len() as u64) as usize],
            root: self.chance.below(count as u64) as usize,
            length,
        }
    }

    fn delay(&mut self) -> Duration {
        let most = if self.chance.happens(150) {
            900_000
        } else {
            2_000
        };
        Duration::from_micros(self.chance.below(most))
    }

    fn letter(&mut self, size: u32) -> Letter {
        let length = if self.chance.happens(50) {
            self.chance.between(1300, 6_000)
        } else {
            self.chance.below(100)
        };
        Letter {
            to: self.chance.below(u64::from(size)) as u32,
            tag: self.chance.below(TAGS) as u32,
            length: length as usize,
            is_synchronous: self.chance.happens(self.synchronous),
        }
    }

    /// Ends the talk once the network is whole: each process sends to its neighbour, and all living
    /// ones call a few operations.
    pub fn at_last<L: Links, O: Order>(&mut self, world: &mut World<L, O>, size: u32) {
        for rank in world.living() {
            let letter = Letter {
                to: (rank + 1) % size,
                ..self.letter(size)
            };
            world.post(rank, letter);
        }
        let living = world.living();
        self.communicator(world, living, Calls::ALL.len());
    }
}
