//! Leaving a session of MPI, which ends for all of its processes or for none: who leaves waits for the others to leave, however long they compute, and asks them meanwhile whether they still live.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::platform::{Rank, Transfer};
use crate::protocol::Time;
use crate::protocol::failure_detector::FailureDetector;

/// How much longer a peer may be silent that nothing had waited for: it may be amid an upcall, and its work would end with it.
const PATIENCE: u32 = 10;

/// The peers that have not left.
pub struct Leaving {
    began: Instant,
    /// Those that were taken for lost before.
    given_up: FailureDetector,
    all: FailureDetector,
}

/// What a look found.
pub struct Looked {
    /// To be asked.
    pub ask: BTreeSet<Rank>,
    /// One that does not answer.
    pub lost: Option<Rank>,
}

impl Leaving {
    /// Peers that may be silent for so long, and some that were silent for as long already.
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

    /// A peer gave a sign of life, perhaps as it left.
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
