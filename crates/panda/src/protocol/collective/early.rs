//! What comes before this process has begun the operation that it belongs to.

use std::collections::HashMap;

use super::{Key, Step, WINDOW};
use crate::platform::Rank;
use crate::protocol::requests::Failure;

/// Steps that are kept for one peer: as many lists of processes as it may be a whole window ahead on, and more than a correct one needs.
const OF_PEER_MAX: usize = 64 * WINDOW as usize;

#[derive(Debug, Default)]
pub(super) struct Early {
    steps: HashMap<Key, Vec<(Rank, Step)>>,
    of_peer: HashMap<Rank, usize>,
    broken: HashMap<u64, Broken>,
}

/// A list on which operations fail.
#[derive(Debug)]
struct Broken {
    /// From this one on.
    first: u64,
    failure: Failure,
    /// Nothing is kept for it any more.
    is_closed: bool,
}

impl Early {
    /// Keeps a step of an operation that is not among the first `begun`. False if no correct peer sends so many.
    pub fn keep(&mut self, from: Rank, key: Key, begun: u64, step: Step) -> bool {
        let broken = self.broken.get(&key.list);
        if broken.is_some_and(|broken| broken.is_closed) {
            return true;
        }
        let count = self.of_peer.entry(from).or_default();
        if *count >= OF_PEER_MAX {
            return false;
        }
        let last = (begun / WINDOW + 1) * WINDOW;
        if key.number > last {
            // Only who goes on after an operation has failed comes so far ahead.
            let is_known = broken.is_some_and(|broken| broken.first <= key.number);
            if !is_known {
                *count += 1;
                let broken = Broken {
                    first: key.number,
                    failure: broken_by(from, step),
                    is_closed: false,
                };
                self.broken.insert(key.list, broken);
            }
            return true;
        }
        let steps = self.steps.entry(key).or_default();
        // A value, and perhaps a failure.
        if steps.iter().filter(|(by, _)| *by == from).count() < 2 {
            *count += 1;
            steps.push((from, step));
        }
        true
    }

    /// What has come for an operation that begins now.
    pub fn take(&mut self, key: Key) -> Vec<(Rank, Step)> {
        let steps = self.steps.remove(&key).unwrap_or_default();
        for (from, _) in &steps {
            if let Some(count) = self.of_peer.get_mut(from) {
                *count -= 1;
            }
        }
        steps
    }

    /// Drops what has come for a list, and fails its operations from one on; of a list that nobody here knows and nothing has come for, nothing is remembered.
    pub fn close(&mut self, list: u64, first: u64, failure: &Failure, is_known: bool) {
        let keys: Vec<Key> = self
            .steps
            .keys()
            .filter(|key| key.list == list)
            .copied()
            .collect();
        let has_come = !keys.is_empty();
        for key in keys {
            self.take(key);
        }
        if is_known || has_come {
            let broken = Broken {
                first,
                failure: failure.clone(),
                is_closed: true,
            };
            self.broken.insert(list, broken);
        }
    }

    /// Why an operation cannot be begun any more.
    pub fn failure(&self, key: Key) -> Option<Failure> {
        let broken = self.broken.get(&key.list)?;
        (key.number >= broken.first).then(|| broken.failure.clone())
    }
}

fn broken_by(rank: Rank, step: Step) -> Failure {
    match step {
        Step::Failed(failure) => failure,
        _ => Failure::Mismatch {
            rank,
            why: "went on with later operations after one had failed".into(),
        },
    }
}
