//! Groups beside the one that is checked, more than were once remembered: whatever becomes of them, that one must go on as it would without them.

use super::CROWD;
use crate::{Chance, Kind, World};
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;

/// The history of one seed in so many has other groups, and over networks that lose frames, where these cost most.
const ONE_IN: u64 = 128;
const ONE_IN_LOSSY: u64 = 512;
/// How many there are in all, and at most so many more in a round.
const GROUPS: u64 = 1200;
const AT_ONCE: u64 = 600;

/// Drawn from random numbers of their own, so that the rest of a history is drawn as it would be without.
pub(super) struct Others {
    chance: Chance,
    joined: u64,
}

impl Others {
    /// The other groups in the history of a seed, unless there are none, as among many processes.
    pub fn new(seed: u64, size: u32, kind: Kind) -> Option<Self> {
        let one_in = match kind.is_lossy() {
            true => ONE_IN_LOSSY,
            false => ONE_IN,
        };
        let has_others = seed % one_in == 5 && size <= CROWD;
        has_others.then(|| Self {
            chance: Chance::new(seed.rotate_left(32)),
            joined: 0,
        })
    }

    /// Some process joins more of them, and leaves some that it may be in.
    pub fn round<L: Links, O: Order>(&mut self, world: &mut World<L, O>) {
        let living = world.living();
        if living.is_empty() || self.joined == GROUPS {
            return;
        }
        let rank = living[self.chance.below(living.len() as u64) as usize];
        let upto = GROUPS.min(self.joined + self.chance.below(AT_ONCE));
        world.in_others(rank, self.joined..upto, true);
        self.joined = upto;
        let from = self.chance.below(upto + 1);
        world.in_others(rank, from..upto.min(from + AT_ONCE), false);
    }
}
