//! Processes that come while others are there: spawned ones, and crashed ones that come back.

use std::sync::Arc;
use std::time::Duration;

use super::{State, Switch, What};
use crate::medium::Travel;
use crate::programs::node::{Command, Node, Phase};
use antiphon_panda_core::Rank;

/// First and last pause of a joining process, over datagrams, between its knocks at those that have
/// not heard it.
const KNOCKS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

impl Switch {
    /// Adds more processes, under the next ranks.
    pub fn spawn(&self, by: &Node, command: Command, count: u32) -> Vec<Arc<Node>> {
        let (command, mut state) = (Arc::new(command), self.state.lock());
        let mut come = || {
            let node = by.child(state.nodes.len() as Rank, state.lives(), command.clone());
            state.nodes.push(node.clone());
            state.medium.network.put_beside(node.rank, by.rank);
            state.come(node.clone());
            node
        };
        (0..count).map(|_| come()).collect()
    }

    /// Restarts a crashed process, as the next incarnation of its rank.
    pub(super) fn restart(&self, rank: Rank) {
        let mut state = self.state.lock();
        if let Some(at) = state.restarts.iter().position(|of| *of == rank) {
            state.restarts.swap_remove(at);
        }
        let before = state.nodes.get(rank as usize).cloned();
        let Some(before) = before.filter(|node| node.phase() == Phase::Crashed) else {
            return;
        };
        let node = before.reborn(state.lives());
        state.nodes[rank as usize] = node.clone();
        state.past.push(before);
        state.come(node);
    }

    /// Knocks for a process at those that have not heard of it.
    pub(super) fn knock(&self, node: &Arc<Node>, pause: Duration) {
        let mut state = self.state.lock();
        let strangers = state.strangers_of(node.rank);
        if !node.is_there() || state.medium.life_of(node.rank) != node.life {
            return;
        }
        for &by in &strangers {
            state.medium.knock(node.rank, by);
        }
        let at = state.medium.now + pause;
        match strangers.is_empty() {
            true => drop(state),
            false => {
                let pause = (pause * 2).min(KNOCKS[1]);
                return state.medium.add(at, What::Knock(node.clone(), pause));
            }
        }
        self.let_in(node);
    }

    /// Runs a process, if it has not run before: it takes the messages that have come for it.
    pub(super) fn let_in(&self, node: &Arc<Node>) {
        if !node.let_in() {
            return;
        }
        let starter = self.state.lock().starter.clone();
        let started = starter.map_or(Ok(()), |starter| starter.start(node));
        if let Err(error) = started {
            node.fail(error.to_string());
        }
        self.stirred();
        let kept = node.take_kept();
        kept.into_iter().for_each(|what| self.happen(what));
    }
}

impl State {
    /// Returns whether a crashed process will come back.
    pub(super) fn awaits_restart(&self) -> bool {
        let node = |rank: &Rank| self.nodes.get(*rank as usize);
        let mut nodes = self.restarts.iter().filter_map(node);
        nodes.any(|node| node.phase() == Phase::Crashed)
    }

    /// Returns how many lives there have been, each incarnation counted.
    fn lives(&self) -> usize {
        self.nodes.len() + self.past.len()
    }

    /// Brings a process while others are there. Where the platform tells them, they let it in at
    /// once. Over datagrams it knocks at each until it is heard, and waits for them for a silence
    /// at most.
    fn come(&mut self, node: Arc<Node>) {
        self.left += 1;
        let (rank, now) = (node.rank, self.medium.now);
        self.strangers.retain(|(by, of)| *by != rank && *of != rank);
        let known = self.medium.start(rank, node.life, false);
        if !self.medium.network.kind.is_lossy() {
            return self.medium.add(known, What::LetIn(node));
        }
        let others = self.medium.living().into_iter().filter(|by| *by != rank);
        self.strangers.extend(others.map(|by| (by, rank)));
        self.medium.add(now, What::Knock(node.clone(), KNOCKS[0]));
        self.medium.add(now + self.silence, What::LetIn(node));
    }

    /// Returns the living processes that have not heard of a process.
    fn strangers_of(&self, rank: Rank) -> Vec<Rank> {
        let strangers = self.strangers.iter();
        let of = strangers.filter(|(by, of)| *of == rank && self.medium.lives(*by));
        of.map(|(by, _)| *by).collect()
    }

    /// Returns whether a message comes from a process that its receiver knows, or makes it known.
    pub(super) fn admits(&mut self, travel: &Travel) -> bool {
        match travel {
            Travel::Back { rank, by, life, .. } if self.medium.network.kind.is_lossy() => {
                let is_news =
                    self.medium.life_of(*rank) == *life && self.strangers.remove(&(*by, *rank));
                if is_news && self.strangers_of(*rank).is_empty() {
                    // The time when the last of them has answered.
                    let answered =
                        self.medium.now + Duration::from_micros(self.medium.network.delay_us);
                    let node = self.nodes[*rank as usize].clone();
                    self.medium.add(answered, What::LetIn(node));
                }
                is_news
            }
            Travel::Frame { from, to, .. } | Travel::Multicast { from, to, .. } => {
                self.strangers.is_empty() || !self.strangers.contains(&(*to, *from))
            }
            _ => true,
        }
    }
}
