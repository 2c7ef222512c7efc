//! Messages to a group, which all members see in one order.

use std::sync::Arc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use antiphon_panda::{Circle, Group, GroupEvent, Session};
use bytes::Bytes;

use super::payload;
use crate::failure::Failed;
use crate::stage::Stage;
use crate::tests::Part;

/// A member's place in the group, and how much it has delivered.
#[derive(Clone)]
pub struct Ordered {
    group: Group,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    delivered: u64,
    /// Nobody is to be woken before so many are.
    wanted: u64,
    expelled: Option<String>,
}

impl Seen {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: &GroupEvent) {
        let mut state = self.state();
        match event {
            GroupEvent::Message { .. } => state.delivered += 1,
            GroupEvent::Expelled { why } => state.expelled = Some(why.clone()),
            GroupEvent::View { .. } | GroupEvent::Left => {}
        }
        if state.delivered >= state.wanted || state.expelled.is_some() {
            drop(state);
            self.changed.notify_all();
        }
    }
}

impl Ordered {
    /// Joins.
    pub fn join(session: &Session) -> Result<Self, Failed> {
        let seen = Arc::<Seen>::default();
        let own = seen.clone();
        let group = session.join_group("ordered", move |event| own.event(&event))?;
        Ok(Self { group, seen })
    }

    /// Says that so many more messages are to come, of all members together; how many there will then have been.
    fn expect(&self, more: u64) -> u64 {
        let mut state = self.seen.state();
        state.wanted += more;
        state.wanted
    }

    /// Waits until all that is to come has been delivered here.
    fn wait(&self) -> Result<u64, Failed> {
        let is_waiting =
            |state: &mut State| state.delivered < state.wanted && state.expelled.is_none();
        let state = self.seen.state();
        let state = self
            .seen
            .changed
            .wait_while(state, is_waiting)
            .unwrap_or_else(PoisonError::into_inner);
        match &state.expelled {
            Some(why) => Err(Failed(format!("expelled from the group: {why}"))),
            None => Ok(state.delivered),
        }
    }
}

/// The leader sends one and waits for it; then the next.
struct Own {
    ordered: Ordered,
    is_leader: bool,
    payload: Bytes,
}

impl Part for Own {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        if !self.is_leader {
            self.ordered.expect(iterations);
            return Ok(0);
        }
        for _ in 0..iterations {
            self.ordered.expect(1);
            self.ordered.group.send(self.payload.clone())?;
            self.ordered.wait()?;
        }
        Ok(iterations)
    }
}

/// A message that its sender waits for itself.
pub fn group_own(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(Own {
        ordered: stage.ordered()?,
        is_leader: stage.rank == 0,
        payload: payload(bytes),
    }))
}

/// Everybody sends its share as fast as the group takes it.
struct All {
    ordered: Ordered,
    everyone: Circle,
    rank: u64,
    size: u64,
    payload: Bytes,
}

impl Part for All {
    fn run(&mut self, iterations: u64) -> Result<u64, Failed> {
        self.ordered.expect(iterations);
        let mut own = self.rank;
        while own < iterations {
            self.ordered.group.send(self.payload.clone())?;
            own += self.size;
        }
        self.ordered.wait()?;
        Ok(iterations)
    }

    fn confirms(&self) -> bool {
        true
    }

    fn confirm(&mut self) -> Result<(), Failed> {
        Ok(self.everyone.barrier()?)
    }
}

/// Messages of all members; all of them have delivered all in the end.
pub fn group_all(stage: &mut Stage, bytes: usize) -> Result<Box<dyn Part>, Failed> {
    Ok(Box::new(All {
        ordered: stage.ordered()?,
        everyone: stage.everyone()?,
        rank: stage.rank as u64,
        size: stage.size as u64,
        payload: payload(bytes),
    }))
}
