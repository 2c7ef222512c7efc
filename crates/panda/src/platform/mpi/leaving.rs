//! The end of an MPI session, which ends for all of its processes or for none. A leaving process
//! waits for the others, however long they compute, and asks them meanwhile for signs of life.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::platform::{Rank, Transfer};
use crate::protocol::Time;
use crate::protocol::failure_detector::FailureDetector;

/// Factor by which a peer may be silent for longer if no operation had waited for it. It may be in
/// an upcall, and its work would end with it.
const PATIENCE: u32 = 10;

/// The peers that have not left.
pub struct Leaving {
    began: Instant,
    /// Peers that were taken for lost before.
    given_up: FailureDetector,
    all: FailureDetector,
}

/// The result of a look.
pub struct Looked {
    /// Peers to ask for a sign of life.
    pub ask: BTreeSet<Rank>,
    /// A peer that does not answer.
    pub lost: Option<Rank>,
}

impl Leaving {
    /// Begins with peers that may be silent for so long, and some that were silent for as long
    /// already.
    pub fn new(silence: Duration, peers: BTreeSet<Rank>, given_up: &BTreeSet<Rank>) -> Self {
        let mut leaving = Self {
            began: Instant::now(),
            given_up: FailureDetector::new(silence),
            all: FailureDetector::new(silence * PATIENCE),
        };
        for rank in peers {
            leaving.all.watch(rank, Time::ZERO);
            if given_up.contains(&rank) {
                leaving.given_up.watch(rank, Time::ZERO);
            }
        }
        leaving
    }

    /// Notes a sign of life of a peer, perhaps as it left.
    pub fn heard(&mut self, rank: Rank, has_left: bool) {
        let now = self.began.elapsed();
        for detector in [&mut self.given_up, &mut self.all] {
            match has_left {
                true => detector.unwatch(rank),
                false => detector.heard(rank, now),
            }
        }
    }

    pub fn look(&mut self, transfer: impl Fn(Rank) -> Transfer) -> Looked {
        let now = self.began.elapsed();
        let [given_up, all] =
            [&mut self.given_up, &mut self.all].map(|detector| detector.tick(now, &transfer));
        Looked {
            ask: given_up.ask.into_iter().chain(all.ask).collect(),
            lost: given_up.lost.into_iter().chain(all.lost).next(),
        }
    }
}
