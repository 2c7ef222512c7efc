//! Steps that come before this process has begun their operation.

use std::collections::HashMap;

use super::{Key, Step, WINDOW};
use crate::Rank;
use crate::protocol::requests::Failure;

/// Most steps that are kept for one peer: a whole window on 64 lists. No correct peer needs more.
const OF_PEER_MAX: usize = 64 * WINDOW as usize;

#[derive(Debug, Default)]
pub(super) struct Early {
    steps: HashMap<Key, Vec<(Rank, Step)>>,
    of_peer: HashMap<Rank, usize>,
    broken: HashMap<u64, Broken>,
    /// Families on whose lists all operations fail. Nothing is kept for them any more.
    closed: HashMap<u64, Failure>,
}

/// A list on which operations fail.
#[derive(Debug)]
struct Broken {
    /// Number of the first operation that fails.
    first: u64,
    failure: Failure,
}

impl Early {
    /// Keeps a step of an operation that is not among the first `begun`. Returns false if no
    /// correct peer sends so many.
    pub fn keep(&mut self, from: Rank, key: Key, begun: u64, step: Step) -> bool {
        if self.closed.contains_key(&key.family) {
            return true;
        }
        let broken = self.broken.get(&key.list);
        let count = self.of_peer.entry(from).or_default();
        if *count >= OF_PEER_MAX {
            return false;
        }
        let last = (begun / WINDOW + 1) * WINDOW;
        if key.number > last {
            // Only a peer that goes on after a failed operation is so far ahead.
            let is_known = broken.is_some_and(|broken| broken.first <= key.number);
            if !is_known {
                *count += 1;
                let broken = Broken {
                    first: key.number,
                    failure: broken_by(from, step),
                };
                self.broken.insert(key.list, broken);
            }
            return true;
        }
        let steps = self.steps.entry(key).or_default();
        // A correct peer sends a value, which may be in parts, and perhaps a failure.
        let is_more = |step: &Step| matches!(step, Step::More(..));
        let others = (steps.iter()).filter(|(by, step)| *by == from && !is_more(step));
        if is_more(&step) || others.count() < 2 {
            *count += 1;
            steps.push((from, step));
        }
        true
    }

    /// Takes the steps that have come for an operation that begins now.
    pub fn take(&mut self, key: Key) -> Vec<(Rank, Step)> {
        let steps = self.steps.remove(&key).unwrap_or_default();
        for (from, _) in &steps {
            if let Some(count) = self.of_peer.get_mut(from) {
                *count -= 1;
            }
        }
        steps
    }

    /// Drops the steps for a family's lists, and makes their operations fail. If the family is
    /// unknown and nothing has come for it, nothing is remembered.
    pub fn close(&mut self, family: u64, failure: &Failure, is_known: bool) {
        let keys: Vec<Key> = self
            .steps
            .keys()
            .filter(|key| key.family == family)
            .copied()
            .collect();
        let has_come = !keys.is_empty();
        for key in keys {
            self.take(key);
        }
        if is_known || has_come {
            self.closed.insert(family, failure.clone());
        }
    }

    /// Returns why an operation cannot begin any more.
    pub fn failure(&self, key: Key) -> Option<Failure> {
        if let Some(failure) = self.closed.get(&key.family) {
            return Some(failure.clone());
        }
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
