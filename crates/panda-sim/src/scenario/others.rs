//! Groups beside the checked one, more than a process follows. Whatever becomes of them, the
//! checked group must go on as without them.

use super::CROWD;
use crate::{Chance, Kind, World};
use antiphon_panda_core::protocol::group::Order;
use antiphon_panda_core::protocol::link::Links;

/// Number of seeds of which one history has other groups, and the same over lossy networks, where
/// these groups cost most.
const ONE_IN: u64 = 128;
const ONE_IN_LOSSY: u64 = 512;
/// Number of other groups, and most new ones in a round.
const GROUPS: u64 = 1200;
const AT_ONCE: u64 = 600;

/// The draws for other groups. They have random numbers of their own, so that the rest of a history
/// stays the same.
pub(super) struct Others {
    chance: Chance,
    joined: u64,
}

impl Others {
    /// Makes the draws for a seed; returns `None` if it has no other groups, as with many
    /// processes.
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

    /// Lets a process join more of them, and leave some that it may be in.
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
