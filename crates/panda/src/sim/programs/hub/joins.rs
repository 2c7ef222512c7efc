//! Who comes while others are there: those that are spawned, and those that crashed and come back.

use std::sync::Arc;
use std::time::Duration;

use super::{Hub, State, What};
use crate::platform::Rank;
use crate::sim::air::Travel;
use crate::sim::programs::host::{Errand, Host, Phase};

/// How often a process that joins over datagrams tells those that have not heard it, at first and at last.
const KNOCKS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

impl Hub {
    /// More processes come, under the next ranks.
    pub fn spawn(&self, by: &Host, errand: Errand, count: u32) -> Vec<Arc<Host>> {
        let (errand, mut state) = (Arc::new(errand), self.state.lock());
        let mut come = || {
            let host = by.child(state.hosts.len() as Rank, state.lives(), errand.clone());
            state.hosts.push(host.clone());
            state.air.network.put_beside(host.rank, by.rank);
            state.come(host.clone());
            host
        };
        (0..count).map(|_| come()).collect()
    }

    /// A process that was crashed begins anew, as the next incarnation of its rank.
    pub(super) fn restart(&self, rank: Rank) {
        let mut state = self.state.lock();
        if let Some(at) = state.restarts.iter().position(|of| *of == rank) {
            state.restarts.swap_remove(at);
        }
        let before = state.hosts.get(rank as usize).cloned();
        let Some(before) = before.filter(|host| host.phase() == Phase::Crashed) else {
            return;
        };
        let host = before.reborn(state.lives());
        state.hosts[rank as usize] = host.clone();
        state.past.push(before);
        state.come(host);
    }

    /// Tells of a process those that have not heard of it.
    pub(super) fn knock(&self, host: &Arc<Host>, pause: Duration) {
        let mut state = self.state.lock();
        let strangers = state.strangers_of(host.rank);
        if !host.is_there() || state.air.life_of(host.rank) != host.life {
            return;
        }
        for &by in &strangers {
            state.air.knock(host.rank, by);
        }
        let at = state.air.now + pause;
        match strangers.is_empty() {
            true => drop(state),
            false => {
                let pause = (pause * 2).min(KNOCKS[1]);
                return state.air.add(at, What::Knock(host.clone(), pause));
            }
        }
        self.let_in(host);
    }

    /// A process runs, if it has not before: it takes what has come for it.
    pub(super) fn let_in(&self, host: &Arc<Host>) {
        if !host.let_in() {
            return;
        }
        let starter = self.state.lock().starter.clone();
        let started = starter.map_or(Ok(()), |starter| starter.start(host));
        if let Err(error) = started {
            host.fail(error.to_string());
        }
        self.stirred();
        let kept = host.take_kept();
        kept.into_iter().for_each(|what| self.happen(what));
    }
}

impl State {
    /// Whether a process that was crashed will come back.
    pub(super) fn awaits_restart(&self) -> bool {
        let host = |rank: &Rank| self.hosts.get(*rank as usize);
        let mut hosts = self.restarts.iter().filter_map(host);
        hosts.any(|host| host.phase() == Phase::Crashed)
    }

    /// How many processes there have been, each incarnation by itself.
    fn lives(&self) -> usize {
        self.hosts.len() + self.past.len()
    }

    /// A process comes while others are there. Those that are told by the platform let it in at once; over datagrams it tells each until it is heard, and waits for them for a silence at most.
    fn come(&mut self, host: Arc<Host>) {
        self.left += 1;
        let (rank, now) = (host.rank, self.air.now);
        self.strangers.retain(|(by, of)| *by != rank && *of != rank);
        let known = self.air.start(rank, host.life, false);
        if !self.air.network.kind.is_lossy() {
            return self.air.add(known, What::LetIn(host));
        }
        let others = self.air.living().into_iter().filter(|by| *by != rank);
        self.strangers.extend(others.map(|by| (by, rank)));
        self.air.add(now, What::Knock(host.clone(), KNOCKS[0]));
        self.air.add(now + self.silence, What::LetIn(host));
    }

    /// Those that live and have not heard of a process.
    fn strangers_of(&self, rank: Rank) -> Vec<Rank> {
        let strangers = self.strangers.iter();
        let of = strangers.filter(|(by, of)| *of == rank && self.air.lives(*by));
        of.map(|(by, _)| *by).collect()
    }

    /// Whether what is under way comes from somebody that its receiver knows, or lets it know.
    pub(super) fn admits(&mut self, travel: &Travel) -> bool {
        match travel {
            Travel::Back { rank, by, life, .. } if self.air.network.kind.is_lossy() => {
                let is_news =
                    self.air.life_of(*rank) == *life && self.strangers.remove(&(*by, *rank));
                if is_news && self.strangers_of(*rank).is_empty() {
                    // When the last of them has answered.
                    let answered = self.air.now + Duration::from_micros(self.air.network.delay_us);
                    let host = self.hosts[*rank as usize].clone();
                    self.air.add(answered, What::LetIn(host));
                }
                is_news
            }
            Travel::Frame { from, to, .. } | Travel::Together { from, to, .. } => {
                self.strangers.is_empty() || !self.strangers.contains(&(*to, *from))
            }
            _ => true,
        }
    }
}
